#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# spawn - several worlds in one job: each has its own trace, exact, and a spawned one says by whom
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

RANKS = 2
MCA = launch.WORLDS_MCA


def dump(trace):
    """The lines of all ranks as the flat logger has them."""
    out = []
    for rank in range(RANKS):
        done = subprocess.run([launch.spoor(), "dump", trace, "--rank", str(rank)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        out.append(done.stdout)
    return out


def mpirun_crashes(program, title):
    """Without spoor, as it does in some releases (tests/launch.py)? Then there is nothing to compare."""
    if launch.mpirun(RANKS, [program], timeout=30, mca=MCA).returncode != -signal.SIGSEGV:
        return False
    tap.skip(title, "without spoor, too, mpirun crashes when a program spawns")
    return True


# What the first rank of Fortran's program calls; the second is the root of one.
BIRTHS = r"""MPI_Comm_spawn command="PROGRAM" argv=["child","a \"quoted\" one"] maxprocs=2 info=MPI_INFO_NULL root=0 comm=MPI_COMM_WORLD intercomm=c0 array_of_errcodes=[0,0]
MPI_Comm_spawn command=- argv=- maxprocs=- info=- root=1 comm=MPI_COMM_WORLD intercomm=c1 array_of_errcodes=-
MPI_Comm_spawn_multiple count=2 array_of_commands=["PROGRAM","PROGRAM"] array_of_argv=[["one"],["two","three"]] array_of_maxprocs=[1,1] array_of_info=[MPI_INFO_NULL,MPI_INFO_NULL] root=0 comm=MPI_COMM_WORLD intercomm=c2 array_of_errcodes=[0,0]
MPI_Comm_spawn_multiple count=2 array_of_commands=["PROGRAM","PROGRAM"] array_of_argv=[] array_of_maxprocs=[1,1] array_of_info=[MPI_INFO_NULL,MPI_INFO_NULL] root=0 comm=MPI_COMM_WORLD intercomm=c3 array_of_errcodes=-
MPI_Comm_spawn command=- argv=- maxprocs=- info=- root=0 comm=MPI_COMM_WORLD intercomm=c0 array_of_errcodes=-
MPI_Comm_spawn command="PROGRAM" argv=[] maxprocs=1 info=MPI_INFO_NULL root=1 comm=MPI_COMM_WORLD intercomm=c1 array_of_errcodes=-
MPI_Comm_spawn_multiple count=- array_of_commands=- array_of_argv=- array_of_maxprocs=- array_of_info=- root=0 comm=MPI_COMM_WORLD intercomm=c2 array_of_errcodes=-
MPI_Comm_spawn_multiple count=- array_of_commands=- array_of_argv=- array_of_maxprocs=- array_of_info=- root=0 comm=MPI_COMM_WORLD intercomm=c3 array_of_errcodes=-
"""


def check_fortran(name, title, folder):
    """What the flat logger does not know."""
    program = os.path.join(tap.BUILD, "tests/programs", name)
    if not os.path.exists(program):
        tap.skip(title, "no Fortran compiler")
        return
    if mpirun_crashes(program, title):
        return
    # Every tenth run hangs in Open MPI 4.1's MPI_Comm_spawn, traced or not, on a machine with more to do than it has cores: then once more.
    for attempt in range(5):
        trace = os.path.join(folder, f"{name}-{attempt}.spoor")
        done = launch.mpirun(RANKS, [program], before=[launch.spoor(), "run", "-o", trace, "--"], environment={"TMPDIR": folder}, timeout=30, mca=MCA)
        if done.returncode != 124:
            break
    tap.equal((done.returncode, done.stdout.split()), (0, [b"births:", b"done"]), f"{title}: it runs as ever")
    traces = [os.path.join(folder, f) for f in os.listdir(folder) if f.startswith(os.path.basename(trace))]
    tap.equal(len(traces), 5, f"{title}: there are five traces, one of each world")
    lines = [line.split(" ", 1)[1] for t in traces for d in dump(t) for line in d.decode().splitlines() if " MPI_Comm_spawn" in line]
    tap.equal(lines, BIRTHS.replace("PROGRAM", program).splitlines(), f"{title}: its calls are exact")


def main():
    with tempfile.TemporaryDirectory(prefix="spawn-f-") as folder:
        check_fortran("births", "Fortran", folder)
        check_fortran("births8", "Fortran 2008", folder)
    program = os.path.join(tap.BUILD, "tests/programs/spawn")
    if mpirun_crashes(program, "a program that spawns twice"):
        tap.done()
    with tempfile.TemporaryDirectory(prefix="spawn-") as folder:
        logs, trace = os.path.join(folder, "logs"), os.path.join(folder, "x.spoor")
        os.makedirs(logs)
        environment = dict(os.environ, FLATLOG_DIR=logs, FLATLOG_WORLDS="1", TMPDIR=folder)
        flatlog = os.path.join(tap.BUILD, "tests/flatlog/flatlog.so")
        # in the environment of mpirun, so that spawned processes have it, too
        command = ["sh", "-c", 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"', flatlog, "mpirun", "--oversubscribe",
                   *(["--allow-run-as-root"] if os.geteuid() == 0 else []), *MCA, "-n", str(RANKS),
                   program]
        done = subprocess.run([launch.spoor(), "run", "-o", trace, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=120, check=False)
        tap.equal((done.returncode, done.stdout), (0, b"spawn: done\n"), "a program that spawns twice runs as ever")
        traces = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith("x.spoor"))
        tap.equal(len(traces), 3, "there are three traces, one of each world")
        for t in traces:
            plan = subprocess.run([os.path.join(tap.BUILD, "spoor-replay"), "--plan", t], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            tap.ok(plan.returncode == 2 and b"processes that " in plan.stdout, "a replay of it is refused: other processes had a part in it", plan.stdout)
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
