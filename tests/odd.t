#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# odd - calls from where nobody expects them: the program runs as ever, the trace is exact, and a call path that is cut says so
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

PROGRAMS = os.path.join(tap.BUILD, "tests/programs")
RANKS = 2


class Run:
    """One run of `odd`, or of another program, under the tracer, and what spoor says of it."""

    def __init__(self, folder, *arguments, options=(), program="odd"):
        self.trace = os.path.join(folder, "-".join([arguments[0], *(o.strip("-") for o in options)]) + ".spoor")
        done = launch.mpirun(RANKS, [os.path.join(PROGRAMS, program), *arguments],
                             before=[launch.spoor(), "run", *options, "-o", self.trace, "--"], timeout=200)
        self.title, self.said, self.error = arguments[0], done.stdout.decode(), done.stderr.decode(errors="replace")
        tap.ok(done.returncode == 0 and os.path.exists(self.trace), f"{self.title}: the program runs, and is traced", self.error)

    def spoor(self, *arguments):
        return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout

    def calls(self, rank=0):
        return [line.split()[1] for line in self.spoor("dump", "--rank", str(rank), self.trace).splitlines()]

    def sites(self):
        return json.loads(self.spoor("show", "--sites", "--json", self.trace) or "{}").get("sites", [])

    def paths(self, function):
        return [" < ".join(frame if isinstance(frame, str) else json.dumps(frame) for frame in s["path"])
                for s in self.sites() if s["function"] == function]

    def count(self, function, expected):
        for rank in range(RANKS):
            tap.equal(collections.Counter(self.calls(rank))[function], expected, f"{self.title}: every {function} of rank {rank} is there")


def exact(title, *arguments):
    done = subprocess.run([sys.executable, os.path.join(tap.SOURCE, "tests/exact"), "-n", str(RANKS), "--",
                           os.path.join(PROGRAMS, "odd"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tap.ok(done.returncode == 0, f"{title}: exactly what the flat logger saw", done.stdout.decode(errors="replace"))


def main():
    plugins = [os.path.join(PROGRAMS, f"plugin{i}.so") for i in (1, 2)]
    with tempfile.TemporaryDirectory(prefix="odd-t-") as folder:
        run = Run(folder, "own malloc", program="allocator")
        tap.equal(run.said, "all blocks are whole\n", "own malloc: nothing is written behind a block")
        run.count("MPI_Sendrecv", 40)
        run = Run(folder, "deep")
        run.count("MPI_Allreduce", 10)
        paths = run.paths("MPI_Allreduce")
        tap.ok(paths and any("deeper than is recorded" in p for p in paths), "deep: the path is cut, and says so", *paths)
        exact("deep", "deep")

        run = Run(folder, "nounwind")
        run.count("MPI_Allreduce", 5)
        paths = run.paths("MPI_Allreduce")
        tap.ok(len(paths) == 1 and "no unwind information" in paths[0], "nounwind: the path is cut, and says so", *paths)

        run = Run(folder, "jit")
        run.count("MPI_Barrier", 5)
        run.count("MPI_Allreduce", 6)
        paths = run.paths("MPI_Barrier") + run.paths("MPI_Allreduce")
        tap.ok(len(paths) >= 2 and all("made at run time" in p or "no unwind information" in p for p in paths), "jit: paths say so", *paths)
        exact("jit", "jit")

        run = Run(folder, "dl", *plugins)
        run.count("MPI_Barrier", 12)
        paths = run.paths("MPI_Barrier")
        tap.ok(len(paths) == 2 and sum("plugin1" in p for p in paths) == 1 and sum("plugin2" in p for p in paths) == 1,
               f"dl: two libraries are two sites ({run.said.strip()})", *paths)

        run = Run(folder, "signal")
        tap.ok(int(run.said or 0) > 0, f"signal: the handler ran ({run.said.strip()} times on rank 0)")
        tap.ok(run.calls()[-1:] == ["MPI_Finalize"], "signal: the trace goes on to the end")

        run = Run(folder, "longjmp")
        run.count("MPI_Allreduce", 20)
        run.count("MPI_Barrier", sum(i % 5 + 1 for i in range(20)) + 1)
        left = "MPI_Send count=- datatype=- dest=- tag=- comm=- error=left"
        tap.equal(run.spoor("dump", "--rank", "0", run.trace).count(left), 20, "longjmp: a call that did not come back is an event, marked as left")
        exact("longjmp", "longjmp")

        run = Run(folder, "alloca")
        run.count("MPI_Allreduce", 50)
        tap.equal(len(run.paths("MPI_Allreduce")), 1, "alloca: one place in the program is one site")
        exact("alloca", "alloca")

        run = Run(folder, "places")
        tap.equal(len(run.paths("MPI_Allreduce")), 10, "without tolerance: a site for each path")
        size = os.path.getsize(run.trace)
        near = Run(folder, "places", options=["--site_tolerance=2"])
        near.count("MPI_Allreduce", 200)
        tap.equal(len(near.paths("MPI_Allreduce")), 1, "paths that differ in no more frames than tolerated are one site")
        tap.ok(os.path.getsize(near.trace) < size, f"and the trace is smaller ({os.path.getsize(near.trace)} instead of {size} bytes)")
        other = Run(folder, "places", options=["--site_tolerance=1"])
        tap.equal(len(other.paths("MPI_Allreduce")), 10, "paths that differ in more frames are not")
    tap.done()


main()
