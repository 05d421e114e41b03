#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""site-names - tables name call sites by the frames in which they differ, and functions as their source does"""
import json
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402
from replaying import SPOOR, run  # noqa: E402

NAMES = ("parallel::pool::sum < solver::residual", "parallel::pool::sum < solver::correction",
         "parallel::pool::sum < solver::smoother::operator()")


def told_apart(title, said, names=NAMES):
    tap.ok(all(name + " " in said for name in names), title, said)


def check(folder, kind, options):
    program = launch.compiled(folder, "mpicxx", "wrapped.cc", *options)
    path = os.path.join(folder, kind + ".spoor")
    done = launch.mpirun(2, [program], before=[SPOOR, "run", "-f", "-o", path, "--"])
    tap.ok(os.path.exists(path), f"{kind}: a trace", done.stderr)
    shown = run([SPOOR, "show", path])[1]
    rows = re.findall(r"^MPI_Allreduce .* (parallel::pool::sum < .*)$", shown, re.M)  # those that took long enough
    tap.ok(rows and len(set(rows)) == len(rows), f"{kind}: show", shown)
    told_apart(f"{kind}: show --loops", run([SPOOR, "show", "--loops", path])[1])
    _, said = run([SPOOR, "show", "--sites", "--json", path])
    every = [s for s in json.loads(said)["sites"] if s["function"] == "MPI_Allreduce"]
    sites = {s["name"]: s for s in every}
    tap.ok(len(every) == len(sites) == 7, f"{kind}: no two sites have one name", sorted(s["name"] for s in every))
    tap.ok(any(re.match(r"parallel::pool::sum < solver::dot .* < solver::first ", name) for name in sites),
           f"{kind}: a site that differs from others in two frames has both in its name", list(sites))
    told_apart(f"{kind}: show --sites --json", " ".join(name + " " for name in sites))
    paths = [" ".join(s["path"]) for s in sites.values()]
    tap.ok(any("(anonymous namespace)::norm" in p for p in paths), f"{kind}: a function in a namespace without name", paths)
    tap.ok("_ZN" not in said and "<" not in re.sub(r" < ", "", "".join(sites)), f"{kind}: no linker's names", said)
    page = os.path.join(folder, kind + ".html")
    run([SPOOR, "report", "-o", page, path])
    with open(page, encoding="utf-8") as f:
        told_apart(f"{kind}: report", f.read().replace("&lt;", "<"))


def main():
    folder = tempfile.mkdtemp(prefix="site-names-t-")
    try:
        check(folder, "with lines", [])
        check(folder, "with symbols only", ["-g0"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
