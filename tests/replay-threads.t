#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# replay-threads - traces of programs whose ranks call MPI in several threads are replayed by as many threads, or refused with the reason
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from replaying import LAUNCHER, SPOOR, check, refused, run, trace  # noqa: E402


def program(name, *arguments):
    return [os.path.join(tap.BUILD, "tests/programs", name), *arguments]


def main():
    folder = tempfile.mkdtemp(prefix="replay-threads-t-")
    try:
        path = check(folder, "threads", program("threads"))
        status, said = run([SPOOR, "replay", "--check", path, *LAUNCHER])
        tap.ok(status == 0 and "equal: 4 ranks and 12 further threads of theirs, " in said, "each thread is compared", said[-2000:])
        status, said = run([SPOOR, "replay", "--compute", "sleep", "--scale", "0.5", path, *LAUNCHER])
        tap.ok(status == 0, "with computation", said[-2000:])
        refused("threads, as far as it goes", [path, "--partial"], "several threads", "--partial")
        check(folder, "generalised requests that another thread completes", program("helper"))
        path = trace(folder, "crew", program("crew", "30"))
        refused("threads that share a communicator's collective calls", [path], "threads ", " of rank 0 made collective calls on the same communicator",
                "timing: full")
        path = trace(folder, "turns", program("turns", "100"))
        refused("threads that pass on objects", [path], "made, passed on and ended objects of the same number", "timing: full")
        path = trace(folder, "lossy", program("threads"), options=("--mode", "lossy:0"))
        refused("threads without order", [path], "several threads", "no order")
        for name, arguments in (("crew", ["30"]), ("turns", ["100"]), ("threads", [])):
            check(folder, name + " with the times of all events", program(name, *arguments), options=("--timing", "full"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
