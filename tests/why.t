#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""why - programs that each lose time for one known cause: spoor why names it, with its place, and tells no loss twice"""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import meta  # noqa: E402
import planted  # noqa: E402
import tap  # noqa: E402

# kind of program -> which findings name it, and what they say of its place; the machine may add what it takes away from ranks
PLANTED = {"imbalance": (("imbalance",), r"Rank 2 .* MPI_Sendrecv in ring at planted\.c:\d+"),
           "serial": (("serial",), r"Rank 0 .* MPI_Send in serial at planted\.c:\d+"),
           "small": (("small-messages",), r"smaller than 1 KiB.*Most of it is in MPI_Sendrecv in ring at planted\.c:\d+"),
           "pipeline": (("serialised",), r"On average (0\.9|1\.[0-3]) of 4 ranks compute at a time.* before MPI_Send in pipeline at planted\.c:\d+"),
           "moving": (("imbalance-moving",), r"most of it before MPI_Allreduce in reduce at planted\.c:\d+")}
# how a run ends -> the finding that comes first, and what it says
ENDED = {"signal": ("crashed", r"Rank 2 ended after MPI_Allreduce, and 3 waited for it\. The run ended with signal 11 \(SIGSEGV\)\. .*ending\.c:\d+"),
         "leave": ("left", r"Rank 1 ended after MPI_Allreduce, and 3 waited for it\. The run ended with exit status 3\. .*ending\.c:\d+"),
         "exit": ("left", r"Rank 3 ended after MPI_Allreduce, and 3 waited for it\. The run ended with exit status 4\. .*ending\.c:\d+"),
         "abort": ("aborted", r"Rank 3 called MPI_Abort with code 7\. That was at .*ending\.c:\d+"),
         "truncate": ("mpi-error", r"Rank 1 did not come back from MPI_Recv source=0 tag=5, .* with exit status \d+\. .*ending\.c:\d+"),
         "returned": ("mpi-error", r"MPI_Send in .*ending\.c:\d+.* returned MPI_ERR_RANK on rank 2, and the run failed")}
# those that an alarm ends after some seconds
HANGING = {"sends": ("deadlock", r"Rank 0 waits for rank 1 in MPI_Send dest=1 tag=1, rank 1 for rank 0 in MPI_Send dest=0 tag=1"),
           "receives": ("deadlock", r"Rank 0 waits for rank 1 in MPI_Recv source=1 tag=1, rank 1 for rank 0 in MPI_Recv source=0 tag=1"),
           "different": ("mismatch", r"[Rr]ank 0 called MPI_Allreduce, and rank 1 MPI_Bcast root=0"),
           "missing": (None, r"MPI_Allreduce did not end: 3 ranks \(0-2\) .* Rank 3 did not come: it computed for .* after MPI_Allreduce"),
           "steps": (None, "")}
# what Slurm may say of them then -> the finding that comes first where nothing is proved
REASONS = {"time-limit": "time-limit", "cancelled": "cancelled", "preempted": "preempted", "oom": "memory", "node-lost": "node-failed", "signal": "killed"}
FIRST = ("small", "pipeline")  # whatever else the machine does
FRESH = 3  # programs with amounts that nobody has seen before


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)




def ended(mpi, kind, program, path):
    """Whether a run failed, and left a trace."""
    os.environ["SPOOR_TEST_MPI"] = mpi
    done = launch.mpirun(4, [program, kind], before=[launch.spoor(), "run", "-o", path, "--"], folder=os.path.dirname(path))
    return tap.ok(done.returncode and os.path.exists(path), f"{mpi} {kind}: the program ended with a failure", done.returncode, done.stderr)


def findings(path):
    """What spoor why tells: (finding, text) each."""
    return [(f["finding"], f["text"]) for f in json.loads(spoor("why", "--json", path).stdout)["steps"][0]["findings"]]


def endings(mpi, program, folder):
    """What ended a run is told first, and is what show says. MPICH's launcher ends with the number of a signal as its own exit status, and ends the other
    ranks by it: what was first is not known there."""
    for kind, (finding, text) in ENDED.items() if mpi == "openmpi" else ():
        path = os.path.join(folder, kind + ".spoor")
        if not ended(mpi, kind, program, path):
            continue
        found = findings(path)
        tap.ok(found and found[0][0] == finding and re.search(text, found[0][1]), f"{mpi} {kind}: what ended it comes first", *found)
        hang = json.loads(spoor("show", "--json", path).stdout)["hang"]
        tap.ok(hang["verdict"] == "ended" and (hang["way"] == finding or kind == "returned"), f"{mpi} {kind}: and is the verdict of the trace", hang)
    for kind in (k for k in HANGING if mpi == "openmpi" or HANGING[k][0]):
        path = os.path.join(folder, kind + ".spoor")
        if ended(mpi, kind, program, path):
            limits(mpi, kind, path, folder)


def limits(mpi, kind, path, folder):
    """At a limit nothing is slow that could still go on: what is proved comes first, else what ended the job, with who did not come."""
    finding, text = HANGING[kind]
    for reason, first in REASONS.items():
        other = os.path.join(folder, f"{kind}-{reason}.spoor")
        meta.replace(path, other, lambda facts, reason=reason: facts.update(reason=reason))
        found = findings(other)
        tap.ok(found and found[0][0] == (finding or first) and re.search(text, found[0][1]), f"{mpi} {kind}, {reason}: what ended it comes first", *found)
        kinds = [f[0] for f in found]
        tap.ok(len(set(kinds)) == len(kinds) and not {"unended", "gone"} & set(kinds) and "Slow, not stuck" not in str(found), f"{mpi} {kind}, {reason}: once", *found)
        line = spoor("why", "--line", other).stdout
        tap.ok(not finding or line.startswith({"deadlock": "Deadlock: ", "mismatch": "Calls that do not match: "}[finding]), f"{mpi} {kind}, {reason}: and its line", line)


with tempfile.TemporaryDirectory() as folder:
    program = launch.compiled(folder, "mpicc", "planted.c")
    for kind in [*PLANTED, "efficient"]:
        path = os.path.join(folder, kind + ".spoor")
        done = launch.mpirun(4, [program, "20" if kind == "small" else "60", kind], before=[launch.spoor(), "run", "-o", path, "--"], folder=folder)
        if not tap.ok(done.returncode == 0 and os.path.exists(path), f"{kind}: the program ran", done.stderr):
            continue
        told = spoor("why", "--json", path)
        step = json.loads(told.stdout)["steps"][0] if told.returncode == 0 else {"findings": [], "verdict": ""}
        found, summary = step["findings"], json.loads(spoor("show", "--json", path).stdout)["summary"]
        lost = [f for f in found if "lost_ns" in f]
        said = [(f["finding"], round(f["share"], 3), f["text"]) for f in found]
        sum_lost, known = sum(f["share"] for f in lost), 1 - summary["parallel_efficiency"]
        # each of the three parts that it has is told from 5 % of the time on
        tap.ok(known - 0.15 <= sum_lost <= known + 0.005, f"{kind}: what is told adds up to what was lost", sum_lost, known, said)
        times = collections.Counter(f["finding"] for f in found)
        tap.ok(max(times.values(), default=0) <= 1 and not any(k in times for k in planted.WRONG), f"{kind}: nothing is told twice, and no consequence of it", said)
        if sum(f["share"] for f in lost if f["finding"] == "busy-cores") > planted.BUSY:
            tap.skip(f"{kind}: what is told", "the machine is too busy")
            continue
        if kind in PLANTED:
            names, place = PLANTED[kind]
            tap.ok(any(f["finding"] in names and re.search(place, f["text"]) for f in found), f"{kind}: named, with its place", said)
        if kind in FIRST:
            first = [f for f in lost if f["finding"] != "busy-cores"]  # that is the machine's
            tap.ok(first and first[0]["finding"] in PLANTED[kind][0], f"{kind}: first", said)
    seed = random.randrange(10**6)
    for case in planted.sample(FRESH, seed):
        outcome = planted.run(program, case, 4, folder)
        if not tap.ok(not isinstance(outcome, str), f"{case.text}, of seed {seed}: ran", outcome):
            continue
        if outcome.busy():
            tap.skip(f"{case.text}: what is told", "the machine is too busy")
            continue
        tap.ok(outcome.first(), f"{case.text}: its cause is told first", outcome.row(), outcome.verdict, *outcome.found)
        tap.ok(outcome.place() and not outcome.twice(), f"{case.text}: with its place, once", outcome.row(), *outcome.found)
    endings("openmpi", launch.compiled(folder, "mpicc", "ending.c"), folder)
    if shutil.which("mpicc.mpich") and shutil.which("mpiexec.hydra"):
        os.makedirs(folder + "/mpich")
        endings("mpich", launch.compiled(folder + "/mpich", "mpicc.mpich", "ending.c"), folder + "/mpich")
    else:
        tap.skip("endings: MPICH", "there is none")
tap.done()
