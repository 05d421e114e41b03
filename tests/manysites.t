#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""manysites - a program with very many call paths: exact as long as memory lasts, then its paths are cut, and nothing else

bench/manysites makes the calls of a chemistry code: most call paths are visited once or twice. Merging takes little of the job's memory, and where
there is not enough of it, nothing is lost.

    tests/manysites.t --rank FILE PROGRAM...    runs the program, and adds its largest resident set to the file, in KiB"""
import collections
import json
import os
import resource
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

    def __init__(self, folder, sites, *options, ranks=RANKS):
        self.trace = os.path.join(folder, "-".join(["trace", str(sites), *(o.strip("-") for o in options)]) + ".spoor")
        done = launch.mpirun(ranks, [PROGRAM, str(sites)], before=[launch.spoor(), "run", *options, "-o", self.trace, "--"], timeout=200)
        self.said = done.stderr.decode(errors="replace")
        tap.ok(done.returncode == 0 and os.path.exists(self.trace), f"{sites} call paths{''.join(' ' + o for o in options)}: the program runs, and is traced", self.said)
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


def run_rank(out, *program):
    status = subprocess.run(program).returncode
    with open(out, "a") as file:
        file.write(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\n")
    sys.exit(status)


def peak(folder, ranks, sites, memory=None):
    """The largest resident set of a rank, in MiB."""
    out, trace = os.path.join(folder, "peaks"), os.path.join(folder, "peak.spoor")
    before = [launch.spoor(), "run", "--memory", f"{memory}MiB", "--deadline", "100", "-o", trace, "--"] if memory else []
    for path in (out, trace):
        if os.path.exists(path):
            os.unlink(path)
    launch.mpirun(ranks, [sys.executable, os.path.abspath(__file__), "--rank", out, PROGRAM, str(sites)], before=before, timeout=300)
    tap.ok(not memory or os.path.exists(trace), f"{ranks} ranks, {sites} call paths: there is a trace")
    with open(out) as file:
        return max(map(int, file)) / 1024


def peaks(folder):
    """The arena, and as much as that for all else."""
    for sites in (2000, 16000):
        for ranks in (2, 4):
            alone, traced = peak(folder, ranks, sites), peak(folder, ranks, sites, 8)
            tap.ok(traced - alone <= 16, f"{ranks} ranks, {sites} call paths: at most 8 MiB above the arena", f"{alone:.1f} MiB alone, {traced:.1f} traced")


def shortages(folder, whole):
    """MPI_Finalize without the memory to read the arena, or to merge: the step's arenas are merged when it has ended."""
    for leave in (4, 80, 83):
        trace = os.path.join(folder, f"short-{leave}.spoor")
        done = launch.mpirun(RANKS, [PROGRAM, "3000", "64", str(leave * 256)], before=[launch.spoor(), "run", "-o", trace, "--"], timeout=200)
        said = done.stderr.decode(errors="replace")
        tap.ok(done.returncode == 0, f"{leave / 4} MiB are left: the program ends as it would", said)
        tap.ok("no memory" in said or leave == 83, "and it is said that there was no memory", said)
        shown = json.loads(subprocess.run([launch.spoor(), "show", "--json", trace], stdout=subprocess.PIPE).stdout or b"{}")
        tap.equal({f["function"]: f["calls"] for f in shown.get("functions", [])}, whole.functions(), "and nothing is lost")


def main():
    if sys.argv[1:2] == ["--rank"]:
        run_rank(*sys.argv[2:])
    with tempfile.TemporaryDirectory(prefix="manysites-t-") as folder:
        whole = Run(folder, 16000, "--memory", "8MiB")
        tap.equal(whole.given_up(), set(), "nothing is given up")
        tap.equal(sum(whole.functions().values()), RANKS * whole.events, "all calls are there")
        paths = [s["path"] for s in whole.show("--sites")["sites"]]
        tap.ok(len(paths) > 15900, "each call path is a site", str(len(paths)))
        tap.ok(all(len(p) >= 6 and not any("..." in str(f) for f in p) for p in paths if len(p) > 4), "with all its frames")
        tap.equal(Run(folder, 1747, "--memory", "1MiB").given_up(), set(), "nor of those that 1 MiB is to hold")

        whole = Run(folder, 3000, "--memory", "16MiB")
        cut = Run(folder, 3000, "--memory", "1MiB")
        tap.ok("paths" in cut.given_up(), "in little memory paths are cut, and it says so", str(cut.given_up()))
        tap.equal(cut.functions(), whole.functions(), "the same calls of each function")
        sites = cut.show("--sites")["sites"]
        short = [s["path"] for s in sites if any("cut: memory was short" in str(f) for f in s["path"])]
        lengths = collections.Counter(len(p) - 1 for p in short)
        tap.ok(short and 3 <= max(lengths) <= 8, "paths that are cut keep their innermost frames, and say so", str(lengths))
        tap.ok(not any("deeper" in str(f) for s in sites for f in s["path"]), "and do not say that they are deep")

        cut = Run(folder, 16000, "--memory", "1MiB", ranks=4)
        tap.equal(sum(cut.functions().values()), 4 * cut.events, "all calls are there")
        tap.equal(cut.said, "", "and there is memory to merge")

        shortages(folder, whole)
        peaks(folder)
    tap.done()


main()
