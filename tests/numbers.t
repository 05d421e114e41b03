#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# numbers - programs as distributions have them compute and print the same numbers with the tracer
"""Each program runs twice without and once with it. Lines that hold times are left out, by what is known of each program; what the
first two runs have in common, word by word, the third must have, too."""
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

FEW = 3  # so many words at least must be in common: else nothing was compared


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
        return [line.split() for line in text.decode(errors="replace").splitlines()] if done.returncode == 0 else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scalapack(line):
    """Of a row of its tables integers and the verdict: all else are times, and residuals, which hang on the order in which messages come."""
    return [word for word in line if re.fullmatch(r"-?\d+|[A-Za-z]+", word)] if line[:1] in (["WALL"], ["CPU"]) else line


def lammps(line):
    """All but its own account of the time."""
    text = " ".join(line)
    return [] if "|" in line or re.search(r"time|Performance|CPU|steps/s|wall", text) else line


def hpcc(line):
    """Parameters, residuals and verdicts; rows of processor time are only there where it took some."""
    text = " ".join(line)
    return line if line[:1] != ["CPU"] and re.search(r"resid|PASS|FAIL|error|^(N|NB|P|Q|M|HPL_\w+|\w+_N|\w+Size|Success)[ :=]", text) and \
        not re.search(r"[Tt]ime|GFlops|Gflops|GB|HPL_Tflops|HPL_time|HPL_eps|WR\d", text) else []


def hpcc_for_two(folder):
    """Its input, for a grid of 1 x 2 processes. With fewer processes than the grid has it leaves HPL out, and takes tables that fill the memory."""
    path = os.path.join(folder, "hpccinf.txt")
    with open(os.path.join(launch.PROGRAMS, "hpccinf.txt"), encoding="utf-8") as tiny, open(path, "w", encoding="utf-8") as f:
        f.write(re.sub(r"^\d+( +[PQ]s)$", lambda line: ("1" if "P" in line[1] else "2") + line[1], tiny.read(), flags=re.M))
    return path


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
    *runs, traced = ([words for words in map(keep, run) if words] for run in (*runs, traced))
    if not len(runs[0]) == len(runs[1]) == len(traced):
        tap.ok(False, title, f"lines: {len(runs[0])}, {len(runs[1])}, and {len(traced)} with the tracer")
        return
    common, others = 0, []
    for one, two, three in zip(*runs, traced):
        if one != two:
            continue
        common += len(one)
        if one != three:
            others.append(f"{' '.join(one)}   traced: {' '.join(three)}")
    tap.ok(there and common >= FEW and not others, f"{title}: {common} words", *others[:8], f"trace: {there}, words: {common}")


def main():
    folder = tempfile.mkdtemp(prefix="numbers-t-")
    try:
        program = launch.compiled(folder, "mpicc", "solve.c", "-I/usr/include/hypre", "-lHYPRE", "-lm")
        compare("hypre", [program], ranks=8)
        compare("PETSc", [launch.petsc(folder)])
        for name, data in (("xdqr", "QR.dat"), ("xdinv", "INV.dat"), ("xdtrd", "TRD.dat")):
            compare(f"ScaLAPACK's {name}", [os.path.join(launch.SCALAPACK, name)], inputs=[os.path.join(launch.SCALAPACK, data)], keep=scalapack)
        compare("LAMMPS", ["lmp", "-in", "in.lj", "-log", "none"], ranks=8, inputs=[os.path.join(launch.PROGRAMS, "in.lj")], keep=lammps)
        compare("HPCC", ["hpcc"], ranks=2, inputs=[hpcc_for_two(folder)], output="hpccoutf.txt", keep=hpcc)
        compare("mpi4py", ["/usr/bin/python3", os.path.join(launch.PROGRAMS, "pack.py")], needs="/usr/lib/python3/dist-packages/mpi4py")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
