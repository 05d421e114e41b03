#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""away - ranks that are off the processor between two calls: the trace knows for how long, and spoor why says it; a rank that computes, or waits for its own
threads, is not away"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

STEPS, MS = 20, 20
ASLEEP = STEPS * MS * 1000  # us


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def run(mpi, what, program, folder, *options):
    """The trace of two ranks; None."""
    os.environ["SPOOR_TEST_MPI"] = mpi
    path = os.path.join(folder, f"{mpi}-{what}{len(options)}.spoor")
    done = launch.mpirun(2, [program, what], before=[launch.spoor(), "run", *options, "-o", path, "--"], cwd=folder)
    return path if tap.ok(done.returncode == 0 and os.path.exists(path), f"{mpi} {what}: ran", done.stderr) else None


def away_of(path, rank):
    """us off the processor before MPI_Comm_rank, and in all."""
    t = reader.Trace(path)
    names = [t.sites[to][0] for _, to in t.away]
    sums = [by_rank.get(rank, 0) for by_rank in t.away.values()]
    return sum(us for us, name in zip(sums, names) if name == "MPI_Comm_rank"), sum(sums)


def findings(path):
    return json.loads(spoor("why", "--json", path).stdout)["steps"][0]["findings"]


def check(mpi, program, folder):
    path = run(mpi, "sleep", program, folder)
    if path:
        here, everywhere = away_of(path, 1)
        tap.ok(0.9 * ASLEEP < here, f"{mpi}: the trace has what a rank slept, where it did", here, everywhere)
        shown = json.loads(spoor("show", "--json", path).stdout)
        said = sum(e["us"] for e in shown["away"]["edges"] if e["rank"] == 1)
        tap.ok(said == everywhere and shown["summary"]["away_ns"] >= 1000 * everywhere, f"{mpi}: and spoor show says so", said, everywhere)
        found = [f for f in findings(path) if f.get("ranks") == [1]]
        tap.ok(found and found[0]["away"] > 0.8 and "MPI_Comm_rank" in found[0]["text"], f"{mpi}: spoor why names the rank, and that it did not compute", found)
        tap.ok(found and ("did not compute: it slept" in found[0]["text"] or "had no processor" in found[0]["text"]), f"{mpi}: in words", found)
    path = run(mpi, "sleep", program, folder, "--mode", "lossy:0", "--structure", "lossy")
    if path:
        tap.ok(0.9 * ASLEEP < away_of(path, 1)[0], f"{mpi}, lossy: the trace has it, too", away_of(path, 1))
    for what in ("work", "workers"):
        path = run(mpi, what, program, folder)
        if not path:
            continue
        t, (here, _) = reader.Trace(path), away_of(path, 1)
        # what the machine takes from it is no fault of the reading: the kernel says how much that was, of the first thread
        tap.ok(what == "workers" or here < 0.1 * ASLEEP + 1000 * t.queued.get(1, 0), f"{mpi} {what}: who computes is not away", here, t.queued)
        edge = max((sum(by_rank.values()) for by_rank in t.away.values()), default=0)
        gap = json.loads(spoor("show", "--json", path).stdout)["summary"]["compute_max_ns"] / 1000
        tap.ok(edge <= gap, f"{mpi} {what}: nobody is away for longer than between its calls", edge, gap)
        tap.ok(here <= max(0, gap - ASLEEP) + 0.1 * ASLEEP, f"{mpi} {what}: nor for what was used", here, gap)
    path = run(mpi, "late", program, folder)
    if path:
        before = reader.Trace(path).before
        tap.ok(before.get(1, 0) >= 1440 and before.get(1, 0) - before.get(0, 0) > 1000, f"{mpi}: how long a rank took to come to MPI_Init", before)
        found = findings(path)
        tap.ok(any(f["finding"] == "start" and f["text"].startswith("Rank 1 came to MPI_Init ") for f in found), f"{mpi}: spoor why says that it came late", found)


with tempfile.TemporaryDirectory() as folder:
    check("openmpi", launch.compiled(folder, "mpicc", "away.c", "-lpthread"), folder)
    if shutil.which("mpicc.mpich") and shutil.which("mpiexec.hydra"):
        os.makedirs(folder + "/mpich")
        check("mpich", launch.compiled(folder + "/mpich", "mpicc.mpich", "away.c", "-lpthread"), folder)
    else:
        tap.skip("MPICH", "there is none")
tap.done()
