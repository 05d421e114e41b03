#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# lookup - programs that ask the MPI library for its functions by its handle are traced, exactly; everybody else who asks for symbols gets what they got
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

TOOLS = os.path.join(tap.BUILD, "tests", "tools")
TRACER = launch.preload()
MPI, MPIFH = "libmpi.so.40", "libmpi_mpifh.so.40"

C = """0 MPI_Init
1 MPI_Comm_rank comm=MPI_COMM_WORLD rank={rank}
2 MPI_Comm_size comm=MPI_COMM_WORLD size=2
3 MPI_Irecv count=1 datatype=MPI_INT source={other} tag=0 comm=MPI_COMM_WORLD request=r0
4 MPI_Send count=1 datatype=MPI_INT dest={other} tag=0 comm=MPI_COMM_WORLD
5 MPI_Wait request=r0 status.MPI_SOURCE={other} status.MPI_TAG=0 status.count=4
6 MPI_Irecv count=1 datatype=MPI_INT source={other} tag=1 comm=MPI_COMM_WORLD request=r0
7 MPI_Send count=1 datatype=MPI_INT dest={other} tag=1 comm=MPI_COMM_WORLD
8 MPI_Wait request=r0 status.MPI_SOURCE={other} status.MPI_TAG=1 status.count=4
9 MPI_Irecv count=1 datatype=MPI_INT source={other} tag=2 comm=MPI_COMM_WORLD request=r0
10 MPI_Send count=1 datatype=MPI_INT dest={other} tag=2 comm=MPI_COMM_WORLD
11 MPI_Wait request=r0 status.MPI_SOURCE={other} status.MPI_TAG=2 status.count=4
12 MPI_Allreduce count=1 datatype=MPI_INT op=MPI_SUM comm=MPI_COMM_WORLD
13 MPI_Finalize
"""
FORTRAN = """0 MPI_Init
1 MPI_Comm_rank comm=MPI_COMM_WORLD rank={rank}
2 MPI_Barrier comm=MPI_COMM_WORLD
3 MPI_Barrier comm=MPI_COMM_WORLD
4 MPI_Finalize
"""
LINKED = """0 MPI_Init
1 MPI_Barrier comm=MPI_COMM_WORLD
2 MPI_Barrier comm=MPI_COMM_WORLD
3 MPI_Finalize
"""
PYTHON = "\n".join(["0 MPI_Init", "1 MPI_Comm_rank comm=MPI_COMM_WORLD rank={rank}",
                    *(f"{i} MPI_Allreduce count=1 datatype=MPI_INT op=MPI_SUM comm=MPI_COMM_WORLD" for i in range(2, 7)), "7 MPI_Finalize", ""])


def check(title, program, expected, folder):
    """As ever, and exactly this trace."""
    plain = launch.mpirun(2, program)
    trace = os.path.join(folder, title.replace(" ", "-").replace("/", "-") + ".spoor")
    traced = launch.mpirun(2, program, before=[launch.spoor(), "run", "-o", trace, "--"])
    tap.equal((traced.returncode, traced.stdout, traced.stderr), (plain.returncode, plain.stdout, plain.stderr), f"{title}: as ever")
    tap.equal(plain.returncode, 0, f"{title}: it runs")
    for rank in range(2):
        dump = subprocess.run([launch.spoor(), "dump", trace, "--rank", str(rank)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.equal(dump.stdout.splitlines(), expected.format(rank=rank, other=1 - rank).splitlines(), f"{title}: rank {rank} exactly")


def preloaded(*libraries):
    """What the programs that ask say with these libraries preloaded, without spoor run."""
    path = ":".join(libraries)
    out = []
    for arguments in (["names", MPI, os.path.join(tap.BUILD, "preload", "coverage.list")], ["names", "libc.so.6", "/dev/null"]):
        done = subprocess.run([os.path.join(TOOLS, "asker"), *arguments], env=dict(os.environ, LD_PRELOAD=path), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        out.append((done.returncode, done.stdout))
    return out


def main():
    asker = os.path.join(TOOLS, "asker")
    with tempfile.TemporaryDirectory(prefix="lookup-t-") as folder:
        check("C", [asker, "c", MPI], C, folder)
        check("mpif.h", [asker, "fortran", MPIFH], FORTRAN, folder)
        check("linked with MPI as well", [asker + "-linked", "linked", MPI], LINKED, folder)
        check("Python's ctypes", ["/usr/bin/python3", os.path.join(launch.PROGRAMS, "local.py")], PYTHON, folder)
    plain = preloaded()
    tap.ok(plain[0][1].count(": there, no error") > 350, "a program asks for all functions of MPI")
    tap.ok("undefined symbol" in plain[0][1], "and for some that are not there")
    layer, symbols = (os.path.join(TOOLS, name) for name in ("layer.so", "symbols.so"))
    for title, libraries in (("the tracer", [TRACER]), ("RTLD_NEXT in front of the tracer", [layer, TRACER]),
                             ("RTLD_NEXT behind the tracer", [TRACER, layer]), ("another dlsym in front of the tracer", [symbols, TRACER]),
                             ("another dlsym behind the tracer", [TRACER, symbols])):
        tap.equal(preloaded(*libraries), plain, f"{title}: each answer, errno, and what dlerror says are as ever")
    tap.done()


if __name__ == "__main__":
    main()
