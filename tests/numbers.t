#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# numbers - programs as distributions have them compute and print the same numbers with the tracer
"""Each program runs twice without and once with it. Lines that hold times are left out, by what is known of each program; what the
first two runs have in common, word by word, the third must have, too."""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import printed  # noqa: E402
import tap  # noqa: E402


def result(program, ranks, inputs, output, trace=None):
    """What the program prints, or writes to the file `output`, as words in lines; None if it fails."""
    folder = tempfile.mkdtemp(prefix="numbers-")
    try:
        for path in inputs:
            shutil.copy(path, folder)
        before = [launch.spoor(), "run", "-o", trace, "--"] if trace else []
        done = launch.mpirun(ranks, program, before=before, cwd=folder, timeout=250)
        text = done.stdout
        if output and done.returncode == 0:
            with open(os.path.join(folder, output), "rb") as f:
                text = f.read()
        return printed.words(text) if done.returncode == 0 else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compare(title, program, ranks=4, inputs=(), output=None, needs=None, keep=lambda line: line):
    title = f"{title}, {ranks} ranks"
    needs = needs or program[0]
    if not (os.path.exists(needs) or shutil.which(needs)):
        tap.skip(title, f"{needs} is not there")
        return
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "x.spoor")
        runs = [result(program, ranks, inputs, output) for _ in range(2)]
        traced = result(program, ranks, inputs, output, trace)
        there = os.path.exists(trace)
    if None in runs or traced is None:
        tap.ok(False, title, f"ends well without / without / with the tracer: {[run is not None for run in (*runs, traced)]}")
        return
    common, others = printed.compare(keep, *runs, traced)
    tap.ok(there and not others, f"{title}: {common} words", *others[:8], f"trace: {there}, words: {common}")


def main():
    folder = tempfile.mkdtemp(prefix="numbers-t-")
    try:
        program = launch.compiled(folder, "mpicc", "solve.c", "-I/usr/include/hypre", "-lHYPRE", "-lm")
        compare("hypre", [program], ranks=8)
        compare("PETSc", [launch.petsc(folder)])
        for name, data in (("xdqr", "QR.dat"), ("xdinv", "INV.dat"), ("xdtrd", "TRD.dat")):
            compare(f"ScaLAPACK's {name}", [os.path.join(launch.SCALAPACK, name)], inputs=[os.path.join(launch.SCALAPACK, data)], keep=printed.scalapack)
        compare("LAMMPS", ["lmp", "-in", "in.lj", "-log", "none"], ranks=8, inputs=[os.path.join(launch.PROGRAMS, "in.lj")], keep=printed.lammps)
        compare("HPCC", ["hpcc"], ranks=2, inputs=[printed.hpcc_for_two(folder)], output="hpccoutf.txt", keep=printed.hpcc)
        compare("mpi4py", ["/usr/bin/python3", os.path.join(launch.PROGRAMS, "pack.py")], needs="/usr/lib/python3/dist-packages/mpi4py")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
