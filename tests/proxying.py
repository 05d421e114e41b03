# SPDX-License-Identifier: BSD-3-Clause
"""proxying - for tests: a trace's program, compiled, and whether it makes the calls of the trace"""
import os
import re

import tap
from replaying import LAUNCHER, SPOOR, run, trace

WARNINGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror"]


def without_tables(source):
    """What a person reads: no tables of numbers, and not the part at the end that unpacks the long ones."""
    return re.sub(r"^static (const )?long (table|list|runs)_\d+\[[^;]*;\n", "", source.split("/* ---- what has no rule")[0], flags=re.M)


def masked(source):
    """Without numbers, how many there are in a table, and what ranks computed: that is not the same from run to run. Whether tables are packed,
    and which there are, stays."""
    source = re.sub(r"^/\* ---- computation.*?^static void compute\(", "", source.split("/* ---- what has no rule")[0], flags=re.M | re.S)
    source = re.sub(r"(\w+\[[^=;]*\] = \{)[^;]*;", r"\1};", source)
    return re.sub(r"\d+(\.\d+)?(e[+-]\d+)?", "0", source)


def written(folder, path, name):
    """The text of the program of a trace, and its file; compiled as `name`."""
    out = os.path.join(folder, name + ".proxy")
    status, said = run([SPOOR, "proxy", "--no-run", path, "-o", out])
    files = sorted(os.listdir(out)) if status == 0 else []
    source = [f for f in files if f.endswith(".c")]
    if not tap.ok(files[:2] == ["Makefile", "README"] and len(source) == 1 and len(files) == 3, f"{name}: a program, a Makefile, a README", said, files):
        return "", None
    source = os.path.join(out, source[0])
    status, said = run(["mpicc", *WARNINGS, "-o", os.path.join(folder, name + ".program"), source])
    tap.ok(status == 0, f"{name}: it compiles without a warning", said[-2000:])
    with open(source, encoding="utf-8") as f:
        return f.read(), source


def same(folder, name, program, ranks=4, differ="ranks that differ"):
    path = trace(folder, name, program, ranks)
    text, source = written(folder, path, name)
    status, said = run([SPOOR, "proxy", path, "--check", os.path.dirname(source), *LAUNCHER])
    tap.ok(status == 0 and re.search(differ + " +0\n", said), f"{name}, {ranks} ranks: the program's events are those of the trace", said[-2000:])
    tap.ok(len(text) <= 65536, f"{name}: at most 64 KiB", len(text))
    return path, text, source
