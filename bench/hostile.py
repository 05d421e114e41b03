#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# hostile - what it costs to trace a program that nothing about is regular: hostile.py [EVENTS [PATHS [REPETITIONS]]]
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests"))
import launch  # noqa: E402

LINE = re.compile(r"rank (\d+): (\d+) calls, ([\d.]+) s user, ([\d.]+) s system, (\d+) KiB, checksum (\w+)")


def run(ranks, arguments, before=()):
    """Returns {rank: (calls, user s, system s, KiB, checksum)}."""
    program = [os.path.join(launch.BUILD, "bench/hostile"), *map(str, arguments)]
    done = launch.mpirun(ranks, program, before=before, timeout=1800)
    found = {int(m[1]): (int(m[2]), float(m[3]), float(m[4]), int(m[5]), m[6]) for m in LINE.finditer(done.stdout.decode())}
    if done.returncode or len(found) != ranks:
        sys.exit(f"hostile.py: the program failed: {done.stderr.decode(errors='replace')[-500:]}")
    return found


def main():
    events, paths, repetitions = [int(a) for a in sys.argv[1:]] + [10**7, 10**5, 3][len(sys.argv) - 1:]
    path = launch.preload()
    if os.path.exists(path):
        os.environ.setdefault("SPOOR_PRELOAD", path)
    print(f"{'RANKS':>5}{'CALLS':>12}{'BASE ns':>10}{'TRACED ns':>11}{'RATIO':>7}{'USER':>7}{'MEMORY +':>11}{'TRACE':>10}  EVENTS")
    with tempfile.TemporaryDirectory(prefix="spoor-hostile-") as folder:
        trace = os.path.join(folder, "t.spoor")
        for ranks in (1, 2):
            pairs = []
            for _ in range(repetitions):
                pairs.append((run(ranks, (events, paths)), run(ranks, (events, paths), [launch.spoor(), "run", "-f", "-o", trace, "--"])))
            if any(base[r][4] != traced[r][4] for base, traced in pairs for r in base):
                sys.exit("hostile.py: traced, the program comes to another result")
            calls = sum(v[0] for v in pairs[0][0].values())
            each = [[1e9 * sum(v[1] + v[2] for v in p[i].values()) / calls for p in pairs] for i in (0, 1)]
            user = [statistics.median(sum(v[1] for v in p[i].values()) for p in pairs) for i in (0, 1)]
            base, traced = map(statistics.median, each)
            memory = max(t[r][3] - b[r][3] for b, t in pairs for r in b)
            stat = json.loads(subprocess.run([launch.spoor(), "stat", "--json", trace], stdout=subprocess.PIPE, check=True).stdout)
            ok = "all of them" if calls <= stat["events"] <= calls + ranks * 8 else f"WRONG: {stat['events']}"
            print(f"{ranks:>5}{calls:>12}{base:>10.0f}{traced:>11.0f}{traced / base:>7.2f}{user[1] / user[0]:>7.2f}{memory:>7} KiB{stat['size']:>10}  {ok}",
                  flush=True)


if __name__ == "__main__":
    main()
