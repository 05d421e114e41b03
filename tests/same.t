#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# same - a job prints and returns the same with and without tracing, byte for byte: normal end, exit 3, abort, much output
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

# What Open MPI and Fortran's runtime say of a rank that crashed names processes, addresses, and the frames on the stack.
VARIES = re.compile(rb"#\d+ +0x[^\n]*\n(?:\tat [^\n]*\n)?|\[[\w.-]+:\d+\] \[ *\d+\] [^\n]*\n|\[[\w.-]+:\d+\]|0x[0-9a-f]+|\[\d+,\d+\]")

# Each rank's standard error goes to a file of its own: what mpirun says itself of a job that failed is not the job's, and
# is not the same twice.
APART = ["sh", "-c", 'exec "$@" 2>"$0/$OMPI_COMM_WORLD_RANK"']


def outcome(program, before=(), ranks=4):
    """Exit status, standard output, standard error of all ranks."""
    with tempfile.TemporaryDirectory() as errors, tempfile.TemporaryDirectory() as other:
        done = launch.mpirun(ranks, [*APART, errors, *program], before=before, environment={"TMPDIR": other})
        error = b""
        for rank in sorted(os.listdir(errors)):
            with open(os.path.join(errors, rank), "rb") as f:
                error += f.read()
    return done.returncode, done.stdout, VARIES.sub(b"", error)


def check(title, *program, ranks=4):
    program = [os.path.join(tap.BUILD, "tests/programs", program[0]), *program[1:]]
    plain = outcome(program, ranks=ranks)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "x.spoor")
        traced = outcome(program, [launch.spoor(), "run", "-o", trace, "--"], ranks)
        left = sorted(os.listdir(folder))
        if left == ["x.spoor"]:
            done = subprocess.run([launch.spoor(), "verify", trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            tap.ok(done.returncode == 0, f"{title}: the trace can be read", done.stdout.decode(errors="replace"))
    for what, a, b in zip(("exit status", "standard output", "standard error"), plain, traced):
        tap.ok(a == b, f"{title}: the same {what}", f"without tracing: {a!r:.1500}", f"with tracing:    {b!r:.1500}")
    return left


def main():
    tap.equal(check("normal end", "ends", "normal"), ["x.spoor"], "normal end: one file is left, the trace")
    tap.equal(check("exit 3", "ends", "exit3"), ["x.spoor"], "exit 3: one file is left, the trace")
    check("abort", "ends", "abort")
    check("killed by a signal", "ends", "segv")
    check("no finalize", "ends", "nofinalize")
    check("fork", "ends", "fork")
    check("much output", "ends", "loud")
    tap.equal(check("no MPI", "ends", "nompi"), [], "no MPI: nothing is left")
    check("errors returned", "errors")
    for way in ("handles", "pointers", "numbers", "twice", "leaks", "truncated", "wrong", "requests", "objects"):
        tap.equal(check(f"broken: {way}", "broken", way, "return"), ["x.spoor"], f"broken: {way}: there is a trace")
    # One rank: how many come to say something before mpirun ends them is chance.
    for way in ("numbers", "uninitialised", "uninitialised type", "uninitialised request", "uninitialised win", "uninitialised info", "no message",
                "freed", "freed twice", "init", "after", "finalize"):
        arguments = way.split() if way.startswith("uninitialised") else [way]
        tap.equal(check(f"broken: {way}, and the job ends", "broken", *arguments, ranks=1), ["x.spoor"], f"broken: {way}: there is a trace")
    check("broken: before MPI_Init", "broken", "before", ranks=1)
    for program, binding, ways in (("wrong", "Fortran", "uninitialised request negative rank leaks abort init after finalize"),
                                   ("wrong8", "Fortran 2008", "uninitialised request rank leaks")):
        if not os.path.exists(os.path.join(tap.BUILD, "tests/programs", program)):
            tap.skip(f"broken, {binding}", "no Fortran compiler")
            continue
        tap.equal(check(f"broken, {binding}: returned", program, "returned"), ["x.spoor"], f"broken, {binding}: returned: there is a trace")
        for way in ways.split():
            tap.equal(check(f"broken, {binding}: {way}", program, way, ranks=1), ["x.spoor"], f"broken, {binding}: {way}: there is a trace")
        check(f"broken, {binding}: before MPI_Init", program, "before", ranks=1)
    if os.path.exists(os.path.join(tap.BUILD, "tests/programs/fixed")):
        check("Fortran", "fixed")
    tap.done()


if __name__ == "__main__":
    main()
