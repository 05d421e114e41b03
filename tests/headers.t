#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# headers - each function that a library's mpi.h declares is in preload/mpi.table, and in the flat log if it is an event
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mpich_programs  # noqa: E402
import tap  # noqa: E402

sys.path.insert(0, os.path.join(tap.SOURCE, "preload"))
from generator import table  # noqa: E402
sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "flatlog"))
import generate  # noqa: E402

FLATLOG = os.path.join(tap.SOURCE, "tests/flatlog")
DECLARED = re.compile(r"\bint\s+(MPIX?_[A-Z]\w+)\s*\(")
# Types of functions, and functions that libraries pass as arguments.
NO_FUNCTIONS = re.compile(r"MPIX?_(\w+_function(_c)?|[A-Z0-9_]+|Grequest_\w+_function)$")

t = table.Table(os.path.join(tap.SOURCE, "preload", "mpi.table"))
rows = {f.name for f in t.functions}
with open(os.path.join(FLATLOG, "calls.table"), encoding="ascii") as f:
    old = {n for line in re.findall(r"^old (\S+)", f.read(), re.M) for n in generate.spread(line)}
by_hand = set()
for path in glob.glob(os.path.join(FLATLOG, "*.c")):
    with open(path, encoding="utf-8") as f:
        by_hand |= set(re.findall(r"^(?:int |SOME\()(MPIX?_\w+)[(),]", f.read(), re.M))


def declared(compiler):
    include = "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"
    text = subprocess.run([compiler, "-E", "-x", "c", "-"], input=include, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {n for n in DECLARED.findall(text) if not NO_FUNCTIONS.match(n)}


def logged(compiler):
    """Those that the library no longer has in its header, it may have all the same (`old`)."""
    text = subprocess.run([sys.executable, os.path.join(FLATLOG, "generate.py"), os.path.join(FLATLOG, "calls.table"), compiler],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    return set(re.findall(r"^int (MPIX?_\w+)\(", text, re.M)) | by_hand


for library, variable in (("Open MPI", "MPICC"), ("MPICH", "MPICH_CC")):
    compiler = mpich_programs.made(variable)
    if not compiler:
        tap.skip(f"{library}: its functions", "spoor was built without it")
        continue
    there, known = declared(compiler), logged(compiler)
    tap.ok(len(there) > 400, f"{library}: {len(there)} functions are declared")
    tap.equal(sorted(n for n in there if n not in rows and not t.excluded_because(n)), [], f"{library}: each is in preload/mpi.table, or left out there")
    tap.equal(sorted(n for n in there if n in rows and n not in known), [], f"{library}: the flat log knows each that is an event")
    tap.equal(sorted(n for n in known - there - by_hand - old), [], f"{library}: and no other")
tap.done()
