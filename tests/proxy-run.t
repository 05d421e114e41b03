#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# proxy-run - a program of spoor proxy is run before it is handed out: one that does something else is not, and where none can be run, it is said
import os
import random
import stat
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import wild  # noqa: E402
from proxying import WARNINGS  # noqa: E402
from replaying import LAUNCHER, SPOOR, run, trace  # noqa: E402

# Each takes some seconds. By hand, for all kinds of loops and branches: SPOOR_PROXIES=1000 tests/proxy-run.t
COUNT = int(os.environ.get("SPOOR_PROXIES", "20"))
RANKS = int(os.environ.get("SPOOR_RANKS", "0"))
FIRST = int(os.environ.get("SPOOR_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
# What random programs found: a list by rank without a row for the last rank, whose values do not matter.
FOUND = ((859436905, 19),)


def compiled(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="ascii") as f:
        f.write(text)
    subprocess.run(["mpicc", "-w", "-o", path, path + ".c"], check=True)
    return path


def script(folder, name, line):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + line + "\n")
    os.chmod(path, stat.S_IRWXU)
    return path


def source_of(out):
    return next((os.path.join(out, f) for f in os.listdir(out) if f.endswith(".c")), None) if os.path.isdir(out) else None


def readme(out):
    with open(os.path.join(out, "README"), encoding="utf-8") as f:
        return f.read()


def check_ways(folder):
    body = "#include <mpi.h>\nint main(void)\n{{\n\tint b[9] = {{0}};\n\tMPI_Init(0, 0);\n\tfor (int i = 0; i < 20; i++)\n\t\tMPI_Bcast(b, {count}, {type}, 0, MPI_COMM_WORLD);\n{more}" \
        "\tMPI_Finalize();\n\treturn 0;\n}}\n"
    path = trace(folder, "good", [compiled(folder, "good", body.format(count="1 + i % 3", type="i % 2 ? MPI_INT : MPI_FLOAT", more=""))], 2)
    out = os.path.join(folder, "out")
    compiler = os.environ.get("MPICC", "mpicc")

    def proxy(*options, name=None, launcher=None):
        """Written to out, with this compiler."""
        if name:
            os.environ["MPICC"] = name
        status, said = run([SPOOR, "proxy", path, "-o", out, *options, *(launcher or LAUNCHER)])
        os.environ["MPICC"] = compiler
        return status, said

    def gone():
        left = os.path.isdir(out)
        shutil.rmtree(out, ignore_errors=True)
        return not left

    log = script(folder, "log", f'echo "$@" >>{folder}/compiled; exec {compiler} "$@"')
    status, said = proxy(name=log)
    tap.ok(status == 0 and os.path.exists(os.path.join(folder, "compiled")) and "When it was written" not in readme(out), "it is compiled and run, and handed out", said)
    gone()

    other = compiled(folder, "other", body.format(count="i == 7 ? 9 : 1 + i % 3", type="i % 2 ? MPI_INT : MPI_FLOAT", more=""))
    status, said = proxy(name=script(folder, "wrong", f'while [ "$1" != -o ]; do shift; done; cp {other} "$2"'))
    tap.ok(status == 1 and gone() and "count" in said and "rank 0" in said and "no program was written" in said, "one that makes another call is not, and it is said which", said)

    endless = compiled(folder, "endless", body.format(count="1", type="MPI_INT", more="\tfor (;;)\n\t\t;\n"))
    status, said = proxy("--time-limit", "4", name=script(folder, "hangs", f'while [ "$1" != -o ]; do shift; done; cp {endless} "$2"'))
    tap.ok(status == 1 and gone() and "was not done after 4 s" in said and "no program was written" in said, "nor is one without end", said)

    ends = compiled(folder, "ends", body.format(count="1", type="MPI_INT", more="\tMPI_Abort(MPI_COMM_WORLD, 3);\n"))
    status, said = proxy(name=script(folder, "aborts", f'while [ "$1" != -o ]; do shift; done; cp {ends} "$2"'))
    tap.ok(status == 1 and gone() and "no program was written" in said, "nor one that fails", said)
    status, said = proxy(name="false")
    tap.ok(status == 1 and gone() and "cannot be compiled" in said, "nor one that does not compile", said)

    for title, options in (("no compiler", {"name": "/nowhere/mpicc"}), ("none on the PATH", {"name": "mpicc.nowhere"}), ("no launcher", {"launcher": ["--", "/nowhere/mpirun"]}),
                           ("a launcher that fails", {"launcher": ["--", "false"]})):
        status, said = proxy(**options)
        tap.ok(status == 0 and "not run: " in said and "When it was written: not run: " in readme(out), f"{title}: it is handed out, and said that it was not run", said)
        gone()
    status, said = proxy("--no-run", name="false")
    tap.ok(status == 0 and not said and "not run" in readme(out), "it is not run for whoever says so", said)
    gone()
    status, said = proxy("--scale", "0.25")
    tap.ok(status == 0 and source_of(out), "of a shortened one, that it ends is enough", said)
    gone()


def check_random(folder, seed, *kinds):
    ranks = RANKS or 2 + seed % 3
    path = trace(folder, "wild", [compiled(folder, "wild", wild.program(seed, *kinds))], ranks)
    out = os.path.join(folder, "wild.proxy")
    shutil.rmtree(out, ignore_errors=True)
    status, said = run([SPOOR, "proxy", path, "-o", out, *LAUNCHER], timeout=300)
    source = source_of(out)
    good = status == 0 and source and "not run" not in said
    for compiler in ("gcc", "clang"):
        if good and shutil.which(compiler):
            status, words = run(["mpicc", *WARNINGS, "-o", os.path.join(folder, "wild.program"), source], environment={"OMPI_CC": compiler, "MPICH_CC": compiler})
            good, said = status == 0, said + words
    tap.ok(good, f"random program {seed}, {ranks} ranks: its proxy compiles without a warning, ends, and makes the same calls (tests/wild.py {seed})", said[-3000:])


# Loops in loops, sizes and tags that follow from the turn, requests, branches.
LONG = """#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, a[8] = {0}, b[8];
	MPI_Request q[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long i = 0; i < 3; i++) {
		for (long j = 0; j < TURNS; j++) {
			MPI_Barrier(MPI_COMM_SELF);
			MPI_Irecv(b, 1 + j % 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[0]);
			MPI_Isend(a, 1, MPI_INT, MPI_PROC_NULL, j % 2, MPI_COMM_WORLD, &q[1]);
			MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
			if (j % 5 == 0)
				for (int k = 0; k < 2; k++)
					MPI_Bcast(a, 1 + k, MPI_INT, 0, MPI_COMM_SELF);
		}
		MPI_Allreduce(a, b, 1 + i % 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
"""
SHORT_TURNS, LONG_TURNS = 3000, 1200000


def check_long(folder):
    """What a proxy takes follows from the trace's size: 16 million events are no more work than 40,000."""
    mains = {}
    for turns in (SHORT_TURNS, LONG_TURNS):
        path = trace(folder, f"long-{turns}", [compiled(folder, f"long-{turns}", LONG.replace("TURNS", str(turns)))], 1)
        out = os.path.join(folder, f"long-{turns}.proxy")
        done = subprocess.run(["sh", "-c", 'ulimit -t 2 && ulimit -v 1000000 && exec "$@"', "sh", SPOOR, "proxy", "--no-run", path, "-o", out],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        tap.ok(done.returncode == 0 and source_of(out), f"a loop of {turns} turns", done.stdout)
        with open(source_of(out) or os.devnull, encoding="ascii") as f:
            mains[turns] = f.read().split("int main(void)")[-1]
    branches = [str(turns // 5)[:-1] for turns in (LONG_TURNS, SHORT_TURNS)]  # in each fifth turn; one more may be said
    tap.equal(mains[LONG_TURNS].replace(*branches), mains[SHORT_TURNS], "the programs are the same, but for how many turns there are")


with tempfile.TemporaryDirectory() as work:
    check_ways(work)
    check_long(work)
    for number in (*FOUND, *((seed,) for seed in range(FIRST, FIRST + COUNT))):
        check_random(work, *number)
    tap.done()
