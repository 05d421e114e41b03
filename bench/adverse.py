#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# adverse - what programs cost that a tracer has a hard time with: adverse.py [--instructions] [EVENTS [KIND...]]
#
# Base and traced in turn, in one run. CPU ns a call, their ratio, bytes of the arena and of the trace a call, and the first event that is not
# known in order. --instructions: what tracing adds to a call, counted by callgrind over the second half of the calls.
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests"))
import launch  # noqa: E402

MCA = ["--mca", "mpi_yield_when_idle", "0", "--mca", "btl", "self,vader", "--mca", "pml", "ob1"]
KINDS = (("any", 32), ("any", 256), ("any-random", 8), ("any-random", 32), ("any-random", 256), ("any-drain", 256), ("any-drain-random", 256),
         ("waitsome", 32), ("waitsome-random", 32), ("testsome", 32), ("testsome-random", 32), ("testsome-random", 256),
         ("tags", 4), ("tags-random", 26), ("put", 1 << 20), ("types", 100), ("types", 100000), ("comms", 2000), ("many", 20000), ("farm", 1))


def run(ranks, kind, before=()):
    """Returns (calls, CPU s, checksum)."""
    done = launch.mpirun(ranks, [os.path.join(launch.BUILD, "bench/adverse"), *map(str, kind)], before=before, timeout=1800, mca=MCA)
    m = re.search(r"(\d+) calls, ([\d.]+) s, checksum (\w+)", done.stdout.decode())
    if done.returncode or not m:
        sys.exit(f"adverse.py: {' '.join(map(str, kind))} failed: {done.stderr.decode(errors='replace')[-500:]}")
    return int(m[1]), float(m[2]), m[3]


def instructions(kind, events, folder, traced):
    """Of all processes of a run, in millions."""
    before = [launch.spoor(), "run", "-f", "-o", os.path.join(folder, "i.spoor"), "--"] if traced else []
    program = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind", os.path.join(launch.BUILD, "bench/adverse"), kind[0], str(events),
               str(kind[1])]
    done = launch.mpirun(1, program, before=before, timeout=3600, mca=MCA)
    m = re.search(rb"Collected : (\d+)", done.stderr)
    if done.returncode or not m:
        sys.exit(f"adverse.py: valgrind failed: {done.stderr.decode(errors='replace')[-500:]}")
    return int(m[1])


def known(trace):
    """How far the order of all columns is known."""
    stat = json.loads(subprocess.run([launch.spoor(), "stat", "--json", trace], stdout=subprocess.PIPE, check=True).stdout)
    given_up = stat["loss"].get("given_up")
    return f"to event {min(g['since'] for g in given_up)}" if given_up else "all"


def main():
    counted = "--instructions" in sys.argv
    arguments = [a for a in sys.argv[1:] if a != "--instructions"]
    events = int(arguments[0]) if arguments else 10**6
    path = launch.preload()
    if os.path.exists(path):
        os.environ.setdefault("SPOOR_PRELOAD", path)
    print(f"{'PROGRAM':<24}{'BASE ns':>9}{'TRACED ns':>11}{'RATIO':>7}{'TRACE':>9}{'BYTES/CALL':>12}  ORDER" + "  INSTRUCTIONS" * counted)
    with tempfile.TemporaryDirectory(prefix="spoor-adverse-") as folder:
        trace = os.path.join(folder, "t.spoor")
        for name, n in KINDS:
            if arguments[1:] and name not in arguments[1:]:
                continue
            ranks, kind = (4 if name == "farm" else 1), (name, events, n)
            base, traced = run(ranks, kind), run(ranks, kind, [launch.spoor(), "run", "-f", "-o", trace, "--"])
            if base[0] != traced[0] or (ranks == 1 and base[2] != traced[2]):
                sys.exit(f"adverse.py: traced, {name} comes to another result")
            each = [1e9 * r[1] / r[0] for r in (base, traced)]
            line = f"{name + ' ' + str(n):<24}{each[0]:>9.0f}{each[1]:>11.0f}{each[1] / max(each[0], 1):>7.2f}{os.path.getsize(trace):>9}{os.path.getsize(trace) / traced[0]:>12.2f}"
            line += f"  {known(trace)}"
            if counted and ranks == 1:
                half, whole = events // 2, events
                more = [instructions((name, n), whole, folder, t) - instructions((name, n), half, folder, t) for t in (False, True)]
                line += f"  {(more[1] - more[0]) / (whole - half):.0f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
