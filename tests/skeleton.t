#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# skeleton - show --loops of programs whose turns differ: few lines, the counts of each call as the events have them, exact ranges
import collections
import itertools
import json
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402
from replaying import SPOOR, run  # noqa: E402


def trace(folder, program, *arguments, ranks=4, options=()):
    path = os.path.join(folder, os.path.basename(program) + "-".join(options) + ".spoor")
    launch.mpirun(ranks, [program, *arguments], before=[SPOOR, "run", "-f", "-o", path, *options, "--"], timeout=300)
    return path


def shown(path, *options):
    return run([SPOOR, "show", "--loops", *options, path])[1]


def calls_of(items):
    """(site, call) of all calls of a skeleton"""
    for item in items:
        if "site" in item:
            yield item["site"], item
        else:
            yield from calls_of(item["body"])


def check(name, path, ranks=4):
    read = reader.Trace(path)
    for rank in range(ranks):
        title = f"{name}, rank {rank}"
        sites = list(read.walk(rank))
        folded = list(calls_of(json.loads(shown(path, "--json", "--rank", str(rank)))["loops"]))
        runs = collections.defaultdict(list)
        for site, run_ in itertools.groupby(sites):
            runs[site].append(len(list(run_)))
        expected = {site: (sum(n), min(n), max(n), len(n)) for site, n in runs.items()}
        got = {site: (c["total"], c["least"], c["most"], c["runs"]) for site, c in folded}
        tap.equal(got, expected, f"{title}: the counts of each call, and their ranges")
        tap.ok(len(folded) == len(got), f"{title}: each site is there once")
        text, short = shown(path, "--rank", str(rank)), shown(path, "--rank", str(rank), "--lines", "7")
        tap.ok(text.count("\n") <= 201, f"{title}: {text.count(chr(10))} lines; each difference: {shown(path, '--exact', '--rank', str(rank)).count(chr(10))}")
        tap.ok(short.count("\n") <= 9 and "more site" in short, f"{title}: in 7 lines", short)


def irregular(folder):
    program = launch.compiled(folder, "mpicc", "irregular.c")
    path = trace(folder, program)
    check("irregular", path)
    text = shown(path)
    for what in ("loop 200 times", "MPI_Irecv x 3..16 ", "MPI_Isend x 3..16 ", " times, in any order", "MPI_Allreduce [in "):
        tap.ok(what in text, f"irregular: {what}", text)
    tap.ok(shown(path, "--exact").count("\n") > 1000 > 40 > text.count("\n"), "irregular: --exact has each difference")
    page = os.path.join(folder, "page.html")
    run([SPOOR, "report", "-o", page, path])
    with open(page, encoding="utf-8") as f:
        html = f.read()
    tap.ok("loop × 200<" in html and "MPI_Irecv × 3..16" in html, "irregular: the report folds in the same way")


def bad_options(path):
    for option in ("--lines=-1", "--lines=x", "--lines=4294967296"):
        tap.ok(run([SPOOR, "show", "--loops", option, path])[0] != 0, f"{option} is refused")
    tap.equal(shown(path, "--lines", "0"), shown(path, "--lines", "2147483647"), "--lines 0: no limit")


def unordered(folder):
    path = trace(folder, os.path.join(folder, "irregular"), options=("--mode", "lossy:30", "--structure", "lossy"))
    text = shown(path)
    tap.ok("The order of the last " in text, "without structure: says how many calls are missing", text)
    tap.ok(json.loads(shown(path, "--json"))["unordered"] > 100, "without structure: also in JSON")


def main():
    if not shutil.which("mpirun") or not shutil.which("mpicc"):
        tap.skip_all("there is no MPI")
    with tempfile.TemporaryDirectory(prefix="skeleton-t-") as folder:
        irregular(folder)
        bad_options(os.path.join(folder, "irregular.spoor"))
        unordered(folder)
        for app in ("amr", "farm", "multigrid"):
            check(app, trace(folder, os.path.join(tap.BUILD, "bench/apps", app), "8"))
    tap.done()


if __name__ == "__main__":
    main()
