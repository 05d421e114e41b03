#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# replay-partial - traces of runs that did not end as they should are refused with the reason; with --partial they are replayed up to their end
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402
from replaying import LAUNCHER, SPOOR, refused, run, trace  # noqa: E402

ENDS = os.path.join(tap.BUILD, "tests/programs/ends")
HALO = os.path.join(tap.BUILD, "bench/apps/halo3d")
SORT = os.path.join(tap.BUILD, "bench/apps/sort")


def some(condition, *program):
    """What ranks run that are not all alike."""
    return ["sh", "-c", condition + '; exec "$@"', "sh", *program]


def looked_at(name, path, *words, least=None):
    """least: so many events may be missing at most, if all ranks left some; what a killed rank did and did not record may be needed by the others."""
    refused(f"{name}: refused", [path], "this is no whole run: ", "--partial", *words)
    status, said = run([SPOOR, "replay", "--check", "--partial", path, *LAUNCHER])
    found = next((line.split() for line in said.splitlines() if line.startswith("equal: ")), None)
    whole = status == 0 and found is not None
    if whole and least is not None and found[1] == "4":
        whole = int(found[3]) >= int(found[5]) - least
    tap.ok(whole, f"{name}: replayed up to its end, with --partial", f"status {status}", said[-2000:])


def wait(condition):
    """Until it is true. False: it never was."""
    end = time.monotonic() + 100
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def exchanging(spool):
    """Are all ranks past MPI_Init and all that is called once?"""
    status, said = run([SPOOR, "where", "--json", *glob.glob(os.path.join(spool, "spoor-run.*"))])
    groups = json.loads(said)[0]["last"] if status == 0 and said.startswith("[") else []
    return sorted(r for g in groups if g["function"] in ("MPI_Irecv", "MPI_Isend", "MPI_Waitall") for r in g["ranks"]) == [0, 1, 2, 3]


def lives(spool):
    """Is there a process that writes there?"""
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as f:
                if f"TMPDIR={spool}".encode() in f.read().split(b"\0"):
                    return True
        except OSError:  # it has ended, or is another user's
            continue
    return False


def killed_arenas(folder):
    """spoor run is killed as well: the arenas of its ranks stay, and one of them is cut off."""
    spool = os.path.join(folder, "spool")
    os.mkdir(spool)
    process = subprocess.Popen([SPOOR, "run", "-f", "-o", os.path.join(folder, "none.spoor"), "--", *launch.command(4, [HALO, "1000000"])],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               env=dict(os.environ, TMPDIR=spool))
    tap.ok(wait(lambda: exchanging(spool)), "the ranks exchange their borders")
    process.kill()
    os.killpg(process.pid, signal.SIGTERM)
    process.wait()
    tap.ok(wait(lambda: not lives(spool)), "they have ended")
    return sorted(f for f in glob.glob(os.path.join(spool, "**"), recursive=True) if f.endswith(".arena"))


def main():
    folder = tempfile.mkdtemp(prefix="replay-partial-t-")
    rank = '[ "$OMPI_COMM_WORLD_RANK" = 1 ] && '
    try:
        aborted = trace(folder, "abort", [ENDS, "abort"])
        looked_at("abort", aborted, "did not come to MPI_Finalize", least=8)
        tap.ok("\nPartial      a rank called MPI_Abort; 4 ranks did not come to MPI_Finalize" in run([SPOOR, "show", aborted])[1],
               "abort: show says why it is partial", run([SPOOR, "show", aborted])[1])
        looked_at("a segmentation fault", trace(folder, "segv", [ENDS, "segv"]), "did not come to MPI_Finalize", least=8)
        # mpirun ends the other ranks of the replay, too, when the first one is through: they may miss their last calls
        looked_at("exit without MPI_Finalize", trace(folder, "nofinalize", [ENDS, "nofinalize"]), "did not come to MPI_Finalize", least=9)
        looked_at("one rank ends early, the others are in MPI_Finalize",
                  trace(folder, "finalize", some(f'[ "$OMPI_COMM_WORLD_RANK" = 3 ] && exec "{ENDS}" segv', ENDS, "normal")), least=8)  # 3: who crashes
        looked_at("one rank is killed anywhere, as for its memory", trace(folder, "one", some(rank + 'exec timeout -s KILL 1 "$@"', HALO, "1000000")), least=8)
        looked_at("all are killed", trace(folder, "all", ["timeout", "-s", "KILL", "1", HALO, "1000000"]), least=64)
        looked_at("the time limit", trace(folder, "limit", ["timeout", "-s", "TERM", "1", HALO, "1000000"]), least=64)
        for how in ("post", "lock", "file"):
            looked_at(f"killed in a call that waits, {how}", trace(folder, "kill-" + how, [ENDS, "kill", how, os.path.join(folder, "written")]))
        looked_at("a rank without a trace, as with a full spool",
                  trace(folder, "without", some('[ "$OMPI_COMM_WORLD_RANK" = 2 ] && unset LD_PRELOAD', SORT, "3")), "events of only 3 of 4 ranks")
        arenas = killed_arenas(folder)
        if len(arenas) == 4:
            out = os.path.join(folder, "merged.spoor")
            status, said = run([SPOOR, "merge", "-q", "-o", out, *arenas])
            tap.ok(status == 0, "arenas are merged", said[-1000:])
            looked_at("all that is left are arenas", out, least=64)
            with open(arenas[1], "r+b") as f:
                f.truncate(os.path.getsize(arenas[1]) // 2)
            status, said = run([SPOOR, "merge", "-q", "-f", "-o", out, *arenas])
            if status == 0:
                looked_at("an arena is cut off", out)
            else:
                tap.ok(os.path.basename(arenas[1]) in said, "an arena that is cut off is named", said[-1000:])
                status, said = run([SPOOR, "merge", "-q", "-f", "-o", out, arenas[0], *arenas[2:]])
                looked_at("without the arena that is cut off", out, "events of only 3 of 4 ranks")
        else:
            tap.ok(False, "four ranks have arenas", str(os.listdir(folder)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
