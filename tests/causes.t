#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""causes - of traces of runs that never were (tests/unseen.py): their causes are found, and those of a difference between two runs"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402
import unseen  # noqa: E402

SEEDS, RANKS = range(1, 13), (2, 4, 16)
RIGHT = 0.9  # of the programs, each of kind, place and share; none is told twice


def write(path, size, slow, steps=40):
    """A ring in which rank 1 computes for so long, the others for 4 ms."""
    v = unseen.Virtual(size, 7)
    v.part = "ring"
    for _ in range(steps):
        for r in range(size):
            v.compute(r, slow if r == 1 else 4)
        v.exchange(v.ring(), "Sendrecv")
    v.meet("Barrier")
    lines = f"size {size}\n" + "\n".join(v.lines + [f"{r} 1 1000 100000" for r in range(size)]) + "\n"
    return subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), path], input=lines, text=True, check=False).returncode == 0


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


with tempfile.TemporaryDirectory() as folder:
    for options, how in (((), "lossless"), (("--mode", "lossy:0"), "lossy")):
        for size in RANKS:
            outcomes = [unseen.run(unseen.Program(seed, size), folder, "virtual", options) for seed in SEEDS]
            wrong = [o for o in outcomes if isinstance(o, str)]
            tap.equal(wrong, [], f"{how}, {size} ranks: traces are made and read")
            outcomes = [o for o in outcomes if not isinstance(o, str)]
            for what in ("first", "place", "share"):
                bad = [(o.program.seed, *o.row()) for o in outcomes if not o.right()[what]]
                tap.ok(len(bad) <= (1 - RIGHT) * len(outcomes), f"{how}, {size} ranks: {what}", *bad)
            tap.equal([o.row() for o in outcomes if not o.once()], [], f"{how}, {size} ranks: nothing is told twice")
    a, b, c = (os.path.join(folder, n) for n in ("a.spoor", "b.spoor", "c.spoor"))
    tap.ok(write(a, 4, 4) and write(b, 4, 8) and write(c, 8, 4), "two runs")
    said = spoor("diff", a, b).stdout
    tap.ok(re.match(rf".*b\.spoor took 9\d % longer than .*a\.spoor: \d+ ms, not \d+ ms\.\n  7\d of it from: Uneven work \(rank 1 on \w+, before MPI_Sendrecv in .*\)\n"
                    r"  2\d of it from: Computation \(before MPI_Sendrecv in .*\)\n  With 4 ranks, 2 nodes, \d+ events\.\n", said), "diff says by how much, and why", said[:600])
    found = json.loads(spoor("diff", "--json", a, b).stdout)["causes"]
    sum_ = sum(r["ns"] for r in found["reasons"])
    tap.ok(abs(sum_ - (found["run_ns"][1] - found["run_ns"][0])) < 100, "what it says adds up to the difference", sum_, found["run_ns"])
    said = spoor("diff", a, c).stdout
    tap.ok(re.match(r"Both took about as long: .*\n(?!.*of it from).*  With 8 ranks instead of 4, 4 nodes instead of 2, \d+ events instead of \d+\.", said, re.S),
           "two that took about as long", said[:400])
tap.done()
