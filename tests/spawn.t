#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# spawn - several worlds in one job: each has its own trace, exact, and a spawned one says by whom
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

RANKS = 2
# Shared memory reaches only the own world.
MCA = ["--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo", "--mca", "pml", "ob1"]


def dump(trace):
    """The lines of all ranks as the flat logger has them."""
    out = []
    for rank in range(RANKS):
        done = subprocess.run([launch.spoor(), "dump", trace, "--rank", str(rank)], stdout=subprocess.PIPE, check=False)
        out.append(done.stdout)
    return out


def main():
    with tempfile.TemporaryDirectory(prefix="spawn-") as folder:
        logs, trace = os.path.join(folder, "logs"), os.path.join(folder, "x.spoor")
        os.makedirs(logs)
        environment = dict(os.environ, FLATLOG_DIR=logs, FLATLOG_WORLDS="1", TMPDIR=folder)
        flatlog = os.path.join(tap.BUILD, "tests/flatlog/flatlog.so")
        # in the environment of mpirun, so that spawned processes have it, too
        command = ["sh", "-c", 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"', flatlog, "mpirun", "--oversubscribe",
                   *(["--allow-run-as-root"] if os.geteuid() == 0 else []), *MCA, "-n", str(RANKS),
                   os.path.join(tap.BUILD, "tests/programs/spawn")]
        done = subprocess.run([launch.spoor(), "run", "-o", trace, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=120, check=False)
        tap.equal((done.returncode, done.stdout), (0, b"spawn: done\n"), "a program that spawns twice runs as ever")
        traces = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith("x.spoor"))
        tap.equal(len(traces), 3, "there are three traces, one of each world")
        dumps = {t: dump(t) for t in traces}
        worlds = {}
        for name in os.listdir(logs):
            flat = []
            for rank in range(RANKS):
                with open(os.path.join(logs, name, f"{rank}.log"), "rb") as f:
                    flat.append(f.read())
            same = [t for t in traces if dumps[t] == flat]
            tap.equal(len(same), 1, f"one of them is exactly what a world of {RANKS} ranks logged",
                      ) or print("#", *(line.decode() for d in dumps.values() for r in d for line in r.split(b"\n")), sep="\n# ")
            if same:
                worlds[same[0]] = b"MPI_Comm_spawn " in flat[0]
        said = {}
        for t in traces:
            with open(t, "rb") as f:
                said[t] = json.loads(reader.chunks(f.read())["META"])
        parent = [t for t in traces if worlds.get(t)]
        if tap.equal(len(parent), 1, "one spawned the others"):
            tap.equal([said[t].get("parent_world") for t in traces if t not in parent], [said[parent[0]]["world"]] * 2,
                      "the others name its world as their parent's")
            tap.ok("parent_world" not in said[parent[0]], "which has none")
    tap.done()


if __name__ == "__main__":
    main()
