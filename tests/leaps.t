#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# leaps - who sent how much to whom is the same, whether each event is looked at or turns of loops are left out; and of a long loop, few are looked at
#
# Random programs of loops in loops (programs/loops.c), traces of runs that never were (unseen.py), and lossy ones. By hand: SPOOR_LEAPS=200 tests/leaps.t;
# SPOOR_SEED is the first one's seed, and in the name of each case.
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
import tap  # noqa: E402
import unseen  # noqa: E402

COUNT = int(os.environ.get("SPOOR_LEAPS", "6"))
FIRST = int(os.environ.get("SPOOR_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
PROGRAM = os.path.join(tap.BUILD, "tests/programs/loops")
MODES = ([], ["--structure", "lossy"], ["--mode", "lossy:30"])


def compared(traces):
    done = subprocess.run([os.path.join(tap.BUILD, "tests/leaps"), *traces], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    counts = [tuple(map(int, m)) for m in re.findall(r": (\d+) events, (\d+) walked", done.stdout)]
    return done, counts


def real(folder):
    events = walked = 0
    for seed in range(FIRST, FIRST + COUNT):
        trace, mode = os.path.join(folder, f"{seed}.spoor"), MODES[seed % 6 % 3]
        ran = launch.mpirun(2 + seed % 3, [PROGRAM, str(seed), os.path.join(folder, "file")], before=[launch.spoor(), "run", *mode, "-o", trace, "--"])
        done, counts = compared([trace])
        tap.ok(ran.returncode == 0 and done.returncode == 0 and len(counts) == 1, f"seed {seed}, {2 + seed % 3} ranks {' '.join(mode)}: the same in both ways",
               done.stdout, ran.stderr[-500:])
        events, walked = events + sum(c[0] for c in counts), walked + sum(c[1] for c in counts)
        os.path.exists(trace) and os.unlink(trace)
    tap.ok(0 < walked < events, "turns were left out", f"{walked} of {events} events were looked at")


def virtual(folder):
    traces = []
    for seed in range(FIRST, FIRST + 4 * COUNT):
        lines, _, _ = unseen.Program(seed, 4).virtual(False)
        traces.append(os.path.join(folder, f"virtual-{seed}.spoor"))
        subprocess.run([os.path.join(tap.BUILD, "tests/virtual"), traces[-1]], input=lines, text=True, check=True)
    done, counts = compared(traces)
    tap.ok(done.returncode == 0 and len(counts) == len(traces), f"seeds {FIRST} to {FIRST + 4 * COUNT - 1}, runs that never were: the same in both ways", done.stdout)


def long(folder):
    """Ten times as many turns: hardly more events are looked at."""
    looked = []
    for turns in ("2000", "20000"):
        trace = os.path.join(folder, f"halo-{turns}.spoor")
        launch.mpirun(2, [os.path.join(tap.BUILD, "bench/apps/halo3d"), turns], before=[launch.spoor(), "run", "-o", trace, "--"])
        done, counts = compared([trace])
        looked += counts
    tap.ok(done.returncode == 0 and len(looked) == 2 and looked[1][0] > 5 * looked[0][0] and looked[1][1] < 2 * looked[0][1],
           "a long loop costs what a short one does", *looked)


def main():
    folder = tempfile.mkdtemp(prefix="leaps-t-")
    try:
        real(folder)
        virtual(folder)
        long(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
