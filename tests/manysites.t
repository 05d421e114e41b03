#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""manysites - a program with very many call paths: exact as long as memory lasts, then its paths are cut, and nothing else

bench/manysites makes the calls of a chemistry code: most call paths are visited once or twice."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

PROGRAM = os.path.join(tap.BUILD, "bench/manysites")
RANKS = 2


class Run:
    """One run under the tracer, and what spoor says of it."""

    def __init__(self, folder, sites, *options):
        self.trace = os.path.join(folder, "-".join(["trace", str(sites), *(o.strip("-") for o in options)]) + ".spoor")
        done = launch.mpirun(RANKS, [PROGRAM, str(sites)], before=[launch.spoor(), "run", *options, "-o", self.trace, "--"], timeout=200)
        tap.ok(done.returncode == 0 and os.path.exists(self.trace), f"{sites} call paths{''.join(' ' + o for o in options)}: the program runs, and is traced",
               done.stderr.decode(errors="replace"))
        self.events = int(done.stdout.split()[1]) if done.stdout else 0

    def show(self, *options):
        return json.loads(subprocess.run([launch.spoor(), "show", "--json", *options, self.trace], stdout=subprocess.PIPE).stdout or b"{}")

    def functions(self):
        return {f["function"]: f["calls"] for f in self.show()["functions"]}

    def given_up(self):
        return {g["stage"] for g in self.show()["loss"].get("given_up", [])}

    def dumped(self, rank):
        out = subprocess.run([launch.spoor(), "dump", "--rank", str(rank), self.trace], stdout=subprocess.PIPE, text=True).stdout
        return [line.split(" ", 1)[1] for line in out.splitlines()]


def main():
    with tempfile.TemporaryDirectory(prefix="manysites-t-") as folder:
        whole = Run(folder, 3000, "--memory", "8MiB")
        tap.equal(whole.given_up(), set(), "nothing is given up")
        tap.equal(sum(whole.functions().values()), RANKS * whole.events, "all calls are there")
        paths = [s["path"] for s in whole.show("--sites")["sites"]]
        tap.ok(len(paths) > 2950, "each call path is a site", str(len(paths)))
        tap.ok(all(len(p) >= 6 and not any("..." in str(f) for f in p) for p in paths if len(p) > 4), "with all its frames")

        cut = Run(folder, 3000, "--memory", "1MiB")
        tap.ok("paths" in cut.given_up(), "in little memory paths are cut, and it says so", str(cut.given_up()))
        tap.equal(cut.functions(), whole.functions(), "the same calls of each function")
        sites = cut.show("--sites")["sites"]
        short = [s["path"] for s in sites if any("cut: memory was short" in str(f) for f in s["path"])]
        lengths = collections.Counter(len(p) - 1 for p in short)
        tap.ok(short and 3 <= max(lengths) <= 8, "paths that are cut keep their innermost frames, and say so", str(lengths))
        tap.ok(not any("deeper" in str(f) for s in sites for f in s["path"]), "and do not say that they are deep")
    tap.done()


main()
