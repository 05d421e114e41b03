#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# acts - what the readers of a trace say MPI did is what a second reader, written from the standard (standard.py), finds: every message of
# random programs, and of those of tests/programs, which send is whose receive, on intra- and intercommunicators
#
# 200 fresh programs, 10 in each run. By hand: SPOOR_ACTS=10000 tests/acts.t; SPOOR_SEED is the first one's seed, and in the name of each case.
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import mpich_programs  # noqa: E402
import reader  # noqa: E402
import standard  # noqa: E402
import tap  # noqa: E402

SPOOR = launch.spoor(tap.BUILD)
PROGRAM = os.path.join(tap.BUILD, "tests/programs/messages")
COUNT = int(os.environ.get("SPOOR_ACTS", "200"))
FIRST = int(os.environ.get("SPOOR_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
RUN, ROUNDS = 10 if COUNT <= 1000 else 100, "3"  # programs of a run


# Not here: ranks of a communicator that were put in another order (halo, comms) are the library's choice, what failed (errors) is nobody's message, and
# 100,000 events (many) take long. The status of MPI_Isendrecv (four, with MPICH and Open MPI 5) is not that of the message.
NOT = ("halo", "comms", "errors", "many", "four")
FIXED = [name for name in (*mpich_programs.C, "persistent", "pcoll", "started", "nulls", "foreman", "late", "polls") if name not in NOT]


def spoor(*arguments):
    return subprocess.run([SPOOR, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)


def shown(trace, folder):
    """The messages that the Chrome trace draws: as standard.messages has them."""
    out = os.path.join(folder, "out.json")
    done = spoor("export", trace, "--chrome", out)
    if done.returncode:
        return done.stdout
    with open(out, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    at, ends = {}, collections.defaultdict(dict)
    for e in events:
        if e["ph"] == "X":
            at[e["pid"]] = e["args"]["event"]
        elif e["ph"] in "sf":
            ends[e["id"]].setdefault(e["ph"], []).append((e["pid"], at[e["pid"]]))
    return sorted((a, b) for both in ends.values() for a in both.get("s", [(-1, -1)]) for b in both.get("f", [(-1, -1)]))


def cells(pairs):
    return collections.Counter((a[0], b[0]) for a, b in pairs)


def check(seed, ranks, folder, program=None):
    """What is wrong with a run of random programs of these seeds, or of a program of tests/programs; None: nothing."""
    trace = os.path.join(folder, f"{seed}.spoor")
    done = launch.mpirun(ranks, program or [PROGRAM, str(seed), ROUNDS, str(RUN)], before=[SPOOR, "run", "-o", trace, "--"], timeout=60 * RUN)
    if done.returncode != 0 or not os.path.exists(trace):
        return f"no trace: {done.stderr.decode(errors='replace')[-500:]}"
    events = [list(reader.Trace(trace).dump(rank)) for rank in range(ranks)]
    expected, left = standard.messages(events, ranks)
    if left:
        return f"{left} messages were never received"
    got = shown(trace, folder)
    if got != expected:
        return f"seed {seed}: expected {[p for p in expected if p not in got][:4]}, got {[p for p in got if p not in expected][:4]}"
    matrix = json.loads(spoor("show", "--matrix", "--json", trace).stdout)["matrix"]
    drawn = {(source, dest): messages for source, dest, messages, _ in matrix}
    if drawn != dict(cells(expected)):
        return f"seed {seed}: the matrix is {drawn}, expected {dict(cells(expected))}"
    out = os.path.join(folder, f"{seed}.otf2")
    if shutil.which("otf2-print") and spoor("export", trace, "--otf2", out).returncode == 0:
        done = subprocess.run(["otf2-print", out + "/traces.otf2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=False)
        kinds = collections.Counter(re.findall(r"^(MPI_I?SEND|MPI_I?RECV) ", done.stdout.decode(errors="replace"), re.MULTILINE))
        if done.stderr or not kinds["MPI_SEND"] + kinds["MPI_ISEND"] == kinds["MPI_RECV"] + kinds["MPI_IRECV"] == len(expected):
            return f"seed {seed}: otf2: {dict(kinds)} for {len(expected)} messages {done.stderr}"
    return None


def fixed(folder):
    """The programs of tests/programs, with both libraries."""
    for name in FIXED:
        wrong = check(name, 4, folder, [os.path.join(tap.BUILD, "tests/programs", name)])
        tap.ok(not wrong, f"{name}: each message, who sent and who received it", wrong)
    cc = mpich_programs.made("MPICH_CC")
    for name in (n for n in mpich_programs.C if cc and n not in NOT):
        program = os.path.join(folder, name)
        done = subprocess.run([cc, "-std=gnu11", "-O1", "-g", "-w", "-o", program, os.path.join(launch.PROGRAMS, name + ".c")], check=False)
        os.environ["SPOOR_TEST_MPI"] = "mpich"
        wrong = "not compiled" if done.returncode else check(name + "-mpich", 4, folder, [program])
        del os.environ["SPOOR_TEST_MPI"]
        tap.ok(not wrong, f"{name}, MPICH: each message, who sent and who received it", wrong)


def main():
    folder = tempfile.mkdtemp(prefix="acts-t-")
    try:
        fixed(folder)
        for run in range((COUNT + RUN - 1) // RUN):
            seed, own = FIRST + run * RUN, os.path.join(folder, str(run))
            os.mkdir(own)
            wrong = check(seed, 2 + run % 3, own)
            tap.ok(not wrong, f"seeds {seed} to {seed + RUN - 1}, {2 + run % 3} ranks: each message, who sent and who received it", wrong)
            shutil.rmtree(own, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
