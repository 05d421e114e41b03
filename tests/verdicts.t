#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""verdicts - programs that can never end, and programs that only seem so: the verdict is right of all, and of none of the healthy ones a deadlock

Each is killed by its own alarm; its partial trace is looked at. SPOOR_RANKS=16 takes more ranks.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

RANKS = int(os.environ.get("SPOOR_RANKS", "4"))
SECONDS = int(os.environ.get("SPOOR_SECONDS", "2"))
TOGETHER = 12 if RANKS == 4 else 2
LAST = RANKS - 1

# By case of programs/hung: the verdict, and what it must say.
HUNG = {
    "cycle": ("deadlock", f"rank 0 waits for rank {LAST} in MPI_Recv source={LAST} tag=3"),
    "pair": ("deadlock", "rank 0 waits for rank 1 in MPI_Recv source=1 tag=3, rank 1 for rank 0 in MPI_Recv source=0 tag=3"),
    "hours": ("deadlock", "rank 0 waits for rank 1 in MPI_Recv source=1 tag=3"),
    "wrong_tag": ("mismatch", "rank 0 waits in MPI_Recv source=1 tag=7, and rank 1 sent it 1 message with tag 8"),
    "wrong_comm": ("mismatch", "rank 1 sent it 1 message with tag 7 of another communicator"),
    "ssend": ("deadlock", "MPI_Ssend dest=1 tag=3"),
    "large_send": ("deadlock", "MPI_Send dest=1 tag=3"),
    "to_itself": ("deadlock", "rank 0 waits for itself in MPI_Ssend dest=0"),
    "sendrecv_ring": ("deadlock", f"rank 0 waits for rank {LAST} in MPI_Sendrecv"),
    "any_source": ("deadlock", f"rank 0 waits for rank 1, or {RANKS - 2} others, in MPI_Recv source=MPI_ANY_SOURCE tag=5, rank 1 for rank 0 in MPI_Barrier"),
    "probe": ("mismatch", "rank 0 waits in MPI_Probe source=1 tag=6, and rank 1 sent it 1 message with tag 5"),
    "mprobe": ("deadlock", "rank 0 waits for rank 1 in MPI_Mprobe source=1 tag=6"),
    "one_stop_less": ("deadlock", f"rank {LAST} for rank 0 in MPI_Recv source=0 tag=9"),
    "waitall": ("deadlock", "rank 0 waits for rank 2 in MPI_Waitall of, among others, MPI_Irecv source=2 tag=3"),
    "waitany": ("deadlock", "rank 0 waits for rank 1, or 1 other, in MPI_Waitany"),
    "waitsome": ("deadlock", "rank 0 waits for rank 1, or 1 other, in MPI_Waitsome"),
    "test_loop": ("unknown", "It is a deadlock, if rank 0 does nothing else than call MPI_Test"),
    "persistent": ("deadlock", "rank 0 waits for rank 1 in MPI_Wait of MPI_Recv_init source=1 tag=3"),
    "isend_wait": ("deadlock", "MPI_Wait of MPI_Issend dest=1 tag=3"),
    "partitioned": ("deadlock", "rank 1 waits for rank 0 in MPI_Wait of MPI_Precv_init source=0"),
    "missing": ("deadlock", f"rank 0 waits for rank {LAST} in MPI_Bcast root={LAST}, rank {LAST} for rank 0 in MPI_Recv source=0 tag=3"),
    "ibarrier": ("deadlock", f"rank 0 waits for rank {LAST} in MPI_Wait of MPI_Ibarrier"),
    "different": ("mismatch", "rank 0 called MPI_Gather root=0, and rank 1 MPI_Allreduce"),
    "roots": ("mismatch", "rank 0 called MPI_Reduce root=0, and rank 1 MPI_Reduce root=1"),
    "sub_barrier": ("deadlock", r"for rank 1 in MPI_Barrier on a communicator of \d+, rank 1 for"),
    "two_comms": ("deadlock", "rank 0 waits for rank 1 in MPI_Barrier on a communicator"),
    "split": ("deadlock", f"rank 0 waits for rank {LAST} in MPI_Comm_split"),
    "intercomm": ("unknown", "rank 0 is in MPI_Recv tag=3, and it is not known who is in its communicator"),
    "finalize": ("deadlock", f"rank 0 waits for rank {LAST} in MPI_Finalize, rank {LAST} for rank 0 in MPI_Recv"),
    "lock": ("deadlock", "rank 2 waits for rank 1 in MPI_Win_lock rank=0 lock_type=MPI_LOCK_EXCLUSIVE, rank 1 for rank 2 in MPI_Barrier"),
    "fence": ("deadlock", f"rank 0 waits for rank {LAST} in MPI_Win_fence"),
    "start_alone": ("deadlock", "rank 0 waits for rank 1 in MPI_Win_(start|complete)"),
    "post_alone": ("deadlock", "rank 0 waits for rank 1 in MPI_Win_wait"),
    "endless": ("gone", f"rank {LAST} has computed for .* after MPI_Allreduce, or has ended, and {LAST} wait for it"),
    "stopped": ("gone", f"rank {LAST} has computed for .* after MPI_Allreduce"),
    "replaced": ("gone", f"rank {LAST} has computed for .* after MPI_Allreduce"),
    "exited": ("ended", f"rank {LAST} ended after MPI_Allreduce, and {LAST} waited for it. The run ended with exit status 1"),
    "threads": ("deadlock", r"rank 0 waits for itself in MPI_Recv source=0 tag=1"),
    "spawned": ("unknown|slow", ""),  # another world: nothing can be proved
}


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)


def cases(family):
    program = os.path.join(tap.BUILD, "tests/programs", family)
    return subprocess.run([program, "list"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()


def looked_at(folder, family, case):
    """The verdicts with a patience of a second, and of a minute: (kind, text, proof) each."""
    own = os.path.join(folder, f"{family}-{case}")
    os.mkdir(own)
    path = os.path.join(own, "x.spoor")
    program = os.path.join(tap.BUILD, "tests/programs", family)
    done = launch.mpirun(RANKS, [program, case, str(SECONDS)], before=[launch.spoor(), "run", "-o", path, "--"], cwd=own)
    if not os.path.exists(path):
        return [("no trace", done.stderr.decode(errors="replace"), [])] * 2
    out = []
    for options in (["--hung", "1s"], []):
        shown = json.loads(spoor("show", "--json", *options, path).stdout or "{}")
        found = shown.get("hang", {})
        out.append((found.get("verdict", "none"), shown.get("verdict", ""), found.get("steps", [])))
    return out


def check_hung(case, soon):
    kind, said = HUNG[case]
    found, text, steps = soon
    tap.ok(re.fullmatch(kind, found) and re.search(said, text), f"hung {case}: {kind}", found, text)
    if found == "deadlock":
        whole = all(s["call"].startswith("MPI_") and s["waits_for"] is not None for s in steps) and steps[-1]["waits_for"] == steps[0]["ranks"]
        follows = all(a["waits_for"] == b["ranks"] for a, b in zip(steps, steps[1:]))
        tap.ok(steps and (len(steps) == 16 or (whole and follows)), f"hung {case}: its proof", *steps)


def main():
    with tempfile.TemporaryDirectory(prefix="verdicts-t-") as folder:
        os.chmod(folder, 0o711)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        jobs = [(family, case) for family in ("hung", "busy") for case in cases(family)]
        with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
            results = dict(zip(jobs, pool.map(lambda job: looked_at(folder, *job), jobs)))
        for (family, case), (soon, late) in results.items():
            if family == "hung":
                check_hung(case, soon)
            else:
                tap.ok(soon[0] not in ("deadlock", "mismatch") and late[0] in ("none", "slow", "unknown"), f"busy {case}: no alarm", soon, late)
    tap.done()


if __name__ == "__main__":
    main()
