#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""planted - programs that lose time for known causes (tests/programs/planted.c), and what spoor why says of them

    tests/planted.py                                  all cases at 2, 4 and 8 ranks, with Open MPI; a table, then the sums
    tests/planted.py --mpi mpich --ranks 4 --lossy    the same elsewhere
    tests/planted.py --only 'small|transfer' --verbose

How much a cause costs is what the program measures of itself.
"""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402

LOST = ("imbalance", "serial", "serialised", "imbalance-moving", "late-receiver", "transfer", "small-messages", "synchronisation")
WRONG = ("site", "late", "late-sender")  # consequences of a cause
NEAR = 0.10  # of the time, by which a share may be wrong
WORTH = 0.05  # what costs less need not be told
BUSY = 0.2  # of the time, that ranks without cores lose

# of a kind: what names it, the call of its place, and the rank
Expected = collections.namedtuple("Expected", "names call rank")
KINDS = {"efficient": None, "together": None,
         "imbalance": Expected({"imbalance"}, "MPI_Sendrecv", "given"),
         "half": Expected({"imbalance"}, "MPI_Allreduce", "upper"),
         "slow": Expected({"imbalance"}, "MPI_(Sendrecv|Bcast|Allreduce)", "given"),
         "receiver": Expected({"imbalance", "serial", "late-receiver"}, "MPI_Recv", 0),
         "serial": Expected({"serial"}, "MPI_Send", 0),
         "writer": Expected({"serial"}, "MPI_Barrier", 0),
         "decide": Expected({"serial", "imbalance"}, "MPI_Bcast", 0),  # it computes more between the same two calls
         "master": Expected({"serial"}, "MPI_Send", 0),
         "small": Expected({"small-messages"}, "MPI_Sendrecv", None),
         "requests": Expected({"small-messages"}, "MPI_(Waitall|Isend|Irecv)", None),
         "pipeline": Expected({"serialised"}, "MPI_(Recv|Send)", None),
         "sweep": Expected({"serialised"}, "MPI_(Recv|Send)", None),
         "turns": Expected({"serialised"}, "MPI_Bcast", None),
         "moving": Expected({"imbalance-moving"}, "MPI_Allreduce", None),
         "noise": Expected({"imbalance-moving"}, "MPI_Allreduce", None),
         "transfer": Expected({"transfer"}, "MPI_Sendrecv", None),
         "transpose": Expected({"transfer"}, "MPI_Alltoall", None),
         "barriers": Expected({"synchronisation"}, "MPI_Barrier", None),
         "reductions": Expected({"synchronisation"}, "MPI_Allreduce", None)}

# steps, kinds with their amounts
CASES = (
    "100 efficient", "100 efficient:slow=8", "40 efficient:slow=20", "60 together", "60 together:slow=20:fast=3:count=5", "100 together:slow=12:fast=6:count=4",
    "60 imbalance", "60 imbalance:rank=1:slow=12:fast=8", "40 imbalance:rank=0:slow=20:fast=5", "30 imbalance:slow=30:fast=20:bytes=65536",
    "60 half", "40 half:slow=20:fast=12",
    "40 slow", "40 slow:rank=0:slow=5:fast=3", "20 slow:slow=40:fast=2",
    "60 receiver", "60 receiver:slow=6:fast=1:bytes=100000",
    "60 serial", "60 serial:slow=5:fast=3", "40 serial:slow=20:fast=2:bytes=100000",
    "60 writer", "40 writer:slow=20:fast=10", "60 writer:slow=4:fast=8:bytes=16",
    "60 decide", "60 decide:slow=3:fast=6",
    "30 master", "20 master:slow=1:fast=0.5:count=10",
    "60 small", "30 small:bytes=512:count=400", "60 requests", "60 requests:bytes=200:count=100",
    "80 pipeline", "40 pipeline:slow=8:bytes=4096",
    "40 sweep", "30 sweep:slow=5:count=6",
    "30 turns", "20 turns:slow=6:bytes=4096",
    "80 moving", "60 moving:slow=20:fast=10", "80 noise", "60 noise:slow=20:fast=10",
    "60 transfer", "100 transfer:bytes=1000000:fast=0.5", "40 transpose", "60 transpose:bytes=300000:fast=0.3",
    "40 barriers", "40 reductions",
    # two at a time
    "60 imbalance small:count=20", "60 writer small:count=30", "40 moving transfer:bytes=2000000", "40 imbalance:rank=1 writer:slow=12:fast=2",
    "40 imbalance:rank=1:slow=12 half:slow=3:fast=1", "40 pipeline transfer:bytes=2000000", "40 serial moving:slow=6:fast=2", "30 sweep imbalance:rank=0:slow=12",
    "40 barriers:count=40 imbalance:rank=1:slow=9", "40 imbalance:rank=0:slow=12:fast=4 slow:rank=1:slow=5:fast=2")


class Case:
    def __init__(self, text):
        words = text.split()
        self.text, self.steps = text, int(words[0])
        self.kinds = [(w.split(":")[0], dict(x.split("=") for x in w.split(":")[1:])) for w in words[1:]]

    def arguments(self):
        return self.text.split()

    def ranks_of(self, i, size):
        """Those that the cause is of; None: no single ones."""
        kind, amounts = self.kinds[i]
        rank = KINDS[kind].rank
        if rank == "given":
            return {int(amounts.get("rank", 1 if kind == "slow" else -2)) % size}
        return set(range(size // 2, size)) if rank == "upper" else None if rank is None else {rank}


class Outcome:
    """What spoor why says of a case, and what the program says of itself."""

    def __init__(self, case, size, trace, printed):
        self.case, self.size = case, size
        lines = [line.split() for line in printed.splitlines() if len(line.split()) == 3]
        self.planted = [(float(lost) / float(of)) for _, lost, of in lines] if len(lines) == len(case.kinds) else None
        done = subprocess.run([launch.spoor(), "why", "--json", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        step = json.loads(done.stdout)["steps"][0] if done.returncode == 0 else {"findings": [], "verdict": done.stderr}
        self.verdict, self.found = step["verdict"], step["findings"]
        self.lost = [f for f in self.found if f["finding"] in LOST]

    def most(self):
        return max(range(len(self.planted)), key=lambda i: self.planted[i])

    def of(self, i):
        """The finding of the i-th kind; None."""
        expected = KINDS[self.case.kinds[i][0]]
        named = [f for f in self.lost if f["finding"] in expected.names]
        at = [f for f in named if self.placed(f, i)]
        return (at or named or [None])[0]

    def placed(self, f, i):
        ranks = self.case.ranks_of(i, self.size)
        return bool(re.search(KINDS[self.case.kinds[i][0]].call + " in .*planted", f["text"])) and (ranks is None or ranks == set(f.get("ranks") or []))

    def silent(self):
        return all(KINDS[kind] is None for kind, _ in self.case.kinds)

    def first(self):
        """The right kind first?"""
        if self.silent():  # a busy machine may take more from it than is planted
            return not self.lost and self.verdict.startswith("Efficient") if self.planted[0] < WORTH + NEAR else not self.twice()
        return bool(self.lost) and self.lost[0]["finding"] in KINDS[self.case.kinds[self.most()][0]].names

    def place(self):
        return self.silent() or bool(self.of(self.most()) and self.placed(self.of(self.most()), self.most()))

    def shares(self):
        """Is each that is worth it told, and its share near what it costs?"""
        together = collections.Counter()
        for i, share in enumerate(self.planted):
            f = None if self.silent() else self.of(i)
            if f is None and not self.silent() and share > WORTH + NEAR:
                return False
            if f is not None:
                together[id(f)] += share
        cores = sum(f["share"] for f in self.found if f["finding"] == "busy-cores")  # the machine's, which the program takes for planted
        return all(-NEAR <= together[id(f)] - f["share"] <= NEAR + cores for f in self.lost if id(f) in together)

    def twice(self):
        """Is something told twice, or a consequence?"""
        sums = sum(f["share"] for f in self.lost)
        return sums > sum(self.planted) + NEAR or any(f["finding"] in WRONG for f in self.found)

    def busy(self):
        """Had the machine so much else to do that one cannot tell?"""
        return sum(f["share"] for f in self.found if f["finding"] == "busy-cores") > BUSY

    def row(self):
        said = ", ".join(f"{f['finding']} {100 * f['share']:.0f}" for f in self.found) or "-"
        return " ".join(f"{100 * p:.0f}" for p in self.planted), said

    def right(self):
        return {"first": self.first(), "place": self.place(), "share": self.shares(), "once": not self.twice()}


def compile_program(folder, mpi):
    return launch.compiled(folder, "mpicc.mpich" if mpi == "mpich" else "mpicc", "planted.c")


def run(program, case, size, folder, options=(), keep=None):
    """The outcome; a text if it did not run."""
    trace = os.path.join(keep or folder, re.sub(r"[^\w=.]+", "_", f"{case.text}-{size}") + ".spoor")
    printed = trace + ".txt"
    if not keep or not os.path.exists(printed):
        if os.path.exists(trace):
            os.unlink(trace)
        done = launch.mpirun(size, [program, *case.arguments()], before=[launch.spoor(), "run", *options, "-o", trace, "--"], cwd=folder)
        if done.returncode != 0 or not os.path.exists(trace):
            return done.stderr.decode(errors="replace").strip()[-200:]
        with open(printed, "wb") as f:
            f.write(done.stdout)
    with open(printed, encoding="utf-8") as f:
        outcome = Outcome(case, size, trace, f.read())
    if not keep:
        os.unlink(trace)
        os.unlink(printed)
    return outcome if outcome.planted else "it printed nothing"


def sample(count, seed):
    """Some cases, with amounts that nobody has seen before."""
    draw, cases = random.Random(seed), []
    kinds = [k for k in KINDS if k not in ("transfer", "transpose", "barriers", "reductions", "together")]
    for kind in draw.sample(kinds, count):
        fast = draw.choice((3, 4, 5, 6))
        slow = round(fast * draw.uniform(2, 4), 1)
        given = {"imbalance": f":slow={slow}:fast={fast}:rank={draw.randrange(4)}", "slow": f":slow={slow}:fast={fast}:rank={draw.randrange(4)}",
                 "small": f":bytes={draw.choice((1, 16, 128, 512))}", "requests": f":bytes={draw.choice((1, 16, 128, 512))}",
                 "efficient": f":slow={draw.randrange(6, 15)}"}
        cases.append(Case(f"{30 if kind in ('slow', 'sweep', 'turns', 'master') else 50} {kind}{given.get(kind, f':slow={slow}')}"))
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--lossy", action="store_true", help="neither values nor the order of calls")
    parser.add_argument("--only", default="", help="cases that have this (a regular expression)")
    parser.add_argument("--keep", help="the traces stay in this folder; those that are there are looked at again")
    parser.add_argument("--fresh", type=int, help="so many new ones instead")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    os.environ["SPOOR_TEST_MPI"] = args.mpi
    args.keep = args.keep and os.path.abspath(args.keep)
    options = ["--mode", "lossy:0", "--structure", "lossy"] if args.lossy else []
    cases = [Case(c) for c in CASES] if args.fresh is None else sample(args.fresh, args.seed)
    count, right = 0, collections.Counter()
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        program = compile_program(args.keep or folder, args.mpi)
        for case in (c for c in cases if re.search(args.only, c.text)):
            for size in (int(r) for r in args.ranks.split(",")):
                outcome = run(program, case, size, folder, options, args.keep)
                if isinstance(outcome, str):
                    print(f"{case.text:48} {size:2}  did not run: {outcome}", flush=True)
                    continue
                marks, (planted, said) = outcome.right(), outcome.row()
                count += 1
                right.update(k for k, v in marks.items() if v)
                print(f"{case.text:48} {size:2}  {planted:8} {said:60} {' '.join('no ' + k for k, v in marks.items() if not v)}", flush=True)
                if args.verbose:
                    print(f"    {outcome.verdict}", *(f"    {f['share']:.3f} {f['finding']}: {f['text']}" for f in outcome.found), sep="\n", flush=True)
    print(f"{count} runs, seed {args.seed}: " + ", ".join(f"{k} {right[k]} ({100 * right[k] / max(1, count):.0f} %)" for k in ("first", "place", "share", "once")))


if __name__ == "__main__":
    main()
