#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tolerate - call paths that differ a little become one site: across ranks, and where they run through ignored modules and functions"""
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
LIBRARY = os.path.join(PROGRAMS, "layers.so")
RANKS = 4


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)


class Run:
    """A traced run: its sites by function, and the events of its ranks."""

    def __init__(self, folder, *options, library=True):
        self.path = os.path.join(folder, "x.spoor")
        if os.path.exists(self.path):
            os.unlink(self.path)
        done = launch.mpirun(RANKS, [os.path.join(PROGRAMS, "ranked"), *([LIBRARY] if library else [])],
                             before=[launch.spoor(), "run", *options, "-o", self.path, "--"], cwd=folder)
        shown = spoor("show", "--json", "--sites", self.path)
        tap.ok(done.returncode == 0 and shown.returncode == 0 and spoor("verify", self.path).returncode == 0, f"{' '.join(options) or 'as it is'}: is traced",
               done.stderr, shown.stderr)
        self.meta = json.loads(shown.stdout or "{}").get("meta") or {}
        self.sites = json.loads(shown.stdout or "{}").get("sites", [])
        self.events = [spoor("dump", "--rank", str(r), self.path).stdout for r in range(RANKS)]

    def of(self, function):
        return [s for s in self.sites if s["function"] == function]


def main():
    with tempfile.TemporaryDirectory(prefix="tolerate-t-") as folder:
        os.chmod(folder, 0o711)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        plain = Run(folder)
        tap.equal(len(plain.of("MPI_Sendrecv")), 2, "ranks that come by two ways have two sites")
        ways = len(plain.of("MPI_Allreduce"))
        tap.ok(ways >= 4, f"and the library's {ways} ways are as many sites", plain.of("MPI_Allreduce"))
        size = os.path.getsize(plain.path)

        near = Run(folder, "--site_tolerance=2")
        sites = near.of("MPI_Sendrecv")
        tap.equal([(s["ranks"], s["calls"]) for s in sites], [(RANKS, 40 * RANKS)], "with tolerance, ranks by two ways have one site")
        tap.ok(near.events == plain.events and all(near.events), "the events are the same")
        tap.ok(os.path.getsize(near.path) < size, f"the trace is smaller ({os.path.getsize(near.path)} instead of {size} bytes)")
        strict = Run(folder, "--site_tolerance=1", library=False)
        tap.equal(len(strict.of("MPI_Sendrecv")), 2, "not if they differ in more frames")

        for names in ("layers.so", "no_such_*,layers_*", "layer?.so"):
            ignored = Run(folder, f"--site_ignore={names}")
            sites = ignored.of("MPI_Allreduce")
            tap.equal([(s["ranks"], s["calls"]) for s in sites], [(RANKS, 40 * RANKS)], f"{names}: frames that count as one leave one site")
            tap.ok(sites and any("layers_reduce" in f for f in sites[0]["path"]), "its frame is the function by which they were entered", sites)
            tap.ok(len(ignored.of("MPI_Sendrecv")) == 2 and ignored.events == plain.events, "all else is as it was")
        tap.equal(ignored.meta.get("site_ignore"), "layer?.so", "the metadata say it")
        some = Run(folder, "--site_ignore=*wrap_b")
        tap.ok(1 < len(some.of("MPI_Allreduce")) < ways, "of functions alone: fewer sites", [s["path"] for s in some.of("MPI_Allreduce")])
        tap.ok(spoor("run", "--site_ignore=a b", "-o", os.path.join(folder, "y.spoor"), "--", "true").returncode == 2, "a name that is none")
    tap.done()


if __name__ == "__main__":
    main()
