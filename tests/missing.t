#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# missing - ranks that are not traced, late, stopped or gone: the others do not wait for them in MPI_Finalize, and nothing that was recorded is lost
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

LATE = os.path.join(tap.BUILD, "tests/programs/late")
HOUR, DAY = 3600 * 10**9, 86400 * 10**9
RANKS = 4
# Waiting to the deadline cannot be taken for a busy machine.
DEADLINE, SOON = 100, 50
LOUD = {"UCX_LOG_LEVEL": "warn"}  # what the tracer leaves open, MPICH's UCX tells on the standard output


def without(*ranks, unset="", program=LATE):
    """The program, of which these ranks are started without the tracer."""
    return ["sh", "-c", f'unset {unset} LATE; case " {" ".join(map(str, ranks))} " in *" ${{OMPI_COMM_WORLD_RANK-$PMI_RANK}} "*) unset LD_PRELOAD;; esac; exec "$@"',
            "sh", program]


def wrong(folder, rank, ns):
    """The program, of which this rank's clock is wrong."""
    library = os.path.join(folder, ".ahead.so")
    subprocess.run(["gcc", "-shared", "-fPIC", f"-DAHEAD_NS={ns}LL", "-o", library, os.path.join(os.path.dirname(os.path.abspath(__file__)), "ahead.c")], check=True)
    return ["sh", "-c", f'[ $OMPI_COMM_WORLD_RANK = {rank} ] && export LD_PRELOAD="{library}${{LD_PRELOAD:+:$LD_PRELOAD}}"; exec "$@"', "sh", LATE]


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def check(folder, title, program, missing="", notes="", deadline=DEADLINE, partial=False):
    """missing: the ranks that are not in the trace, as `spoor show --last` says it; notes: a pattern for what the tracer says."""
    plain = launch.mpirun(RANKS, program, environment=LOUD)
    trace = os.path.join(folder, title.replace(" ", "-") + ".spoor")
    begin = time.monotonic()
    traced = launch.mpirun(RANKS, program, before=[launch.spoor(), "run", f"--deadline={deadline}", "-o", trace, "--"], timeout=180, environment=LOUD)
    took = time.monotonic() - begin
    said = "".join(line for line in traced.stderr.decode().splitlines(True) if line.startswith("tracer: "))
    tap.equal((traced.returncode, traced.stdout), (plain.returncode, plain.stdout), f"{title}: output and exit status")
    tap.ok(took < SOON, f"{title}: nobody waits ({took:.1f} s)", traced.stderr.decode())
    tap.ok(re.fullmatch(notes, said, re.DOTALL), f"{title}: what is said", said)
    if not tap.ok(os.path.exists(trace), f"{title}: there is one trace", traced.stderr.decode()):
        return
    tap.equal(sorted(name for name in os.listdir(folder) if name[0] != "."), [os.path.basename(trace)], f"{title}: and nothing else")
    tap.ok(": good: " in spoor("verify", trace), f"{title}: it is sound", spoor("verify", trace))
    tap.equal("".join(re.findall(r"not in this trace: (.*)", spoor("show", "--last", trace))), missing, f"{title}: the ranks that it lacks")
    meta = json.loads(spoor("show", "--json", trace))["meta"]
    tap.equal("partial" in meta, bool(missing) or partial, f"{title}: partial or whole")
    for rank in range(RANKS):
        there = str(rank) not in missing.split(",")
        calls = [line.split()[1] for line in spoor("dump", "--rank", str(rank), trace).splitlines()] if there else []
        tap.equal(calls.count("MPI_Allreduce"), 10 if there else 0, f"{title}: rank {rank} is there once, or not at all")
    os.unlink(trace)


def main():
    not_traced = "(tracer: {} of the 4 ranks of this node are not traced\n)+"
    with tempfile.TemporaryDirectory(prefix="missing-t-") as folder:
        check(folder, "all", [LATE])
        check(folder, "one is not traced", without(2), "2", not_traced.format(1))
        check(folder, "one is not traced, the launcher's variables are unset", without(2, unset="OMPI_COMM_WORLD_LOCAL_SIZE OMPI_COMM_WORLD_SIZE"), "2",
              "(tracer: not all ranks came to MPI_Finalize within 1 s\n)+")
        check(folder, "rank 0 is not traced", without(0), "0", not_traced.format(1))
        check(folder, "two are traced", without(0, 3), "0,3", not_traced.format(2))
        check(folder, "one is late", [LATE, "1", "3"])
        check(folder, "rank 0 is late", [LATE, "0", "3"])
        check(folder, "one is later than the deadline", [LATE, "2", "5"], deadline=1, notes="(tracer: [^\n]*(not all ranks came|too far apart)[^\n]*\n)+")
        check(folder, "one is not traced and late", [*without(1), "1", "3"], "1", not_traced.format(1))
        check(folder, "one is stopped in MPI_Finalize", [LATE, "1", "stop"])
        check(folder, "one is killed", [LATE, "1", "kill"], notes=".*", partial=True)
        check(folder, "one leaves", [LATE, "1", "exit"], notes=".*", partial=True)
        if platform.machine() == "x86_64":
            check(folder, "the late one's clock is ten days behind", wrong(folder, 3, -10 * DAY) + ["3", "2"])
            check(folder, "the late one's clock is an hour ahead", wrong(folder, 3, HOUR) + ["3", "2"])
        if shutil.which("mpicc.mpich") and shutil.which("mpiexec.hydra"):
            with_mpich(folder)
    tap.done()


def with_mpich(folder):
    os.environ["SPOOR_TEST_MPI"] = "mpich"
    with tempfile.TemporaryDirectory(prefix="missing-t-") as own:
        late = launch.compiled(own, "mpicc.mpich", "late.c")
        check(folder, "MPICH, all", [late])
        check(folder, "MPICH, one is late", [late, "2", "3"])
        check(folder, "MPICH, rank 0 is late", [late, "0", "2"])
        check(folder, "MPICH, one is later than the deadline", [late, "2", "5"], deadline=1, notes="(tracer: not all ranks came[^\n]*\n)+")
        check(folder, "MPICH, rank 0 is later than the deadline", [late, "0", "5"], deadline=1, notes="(tracer: not all ranks came[^\n]*\n)+")
        check(folder, "MPICH, one is not traced", without(2, program=late), "2", "(tracer: 1 of the 4 ranks of this node are not traced\n)+")
        check(folder, "MPICH, one is not traced, the launcher's variables are unset", without(2, unset="MPI_LOCALNRANKS", program=late), "2", ".*")
        check(folder, "MPICH, one is stopped in MPI_Finalize", [late, "1", "stop"])


main()
