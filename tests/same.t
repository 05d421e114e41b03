#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# same - a job prints and returns the same with and without tracing, byte for byte: normal end, exit 3, abort, much output
import concurrent.futures
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
    return done.returncode, done.stdout.replace(b"\0", b""), VARIES.sub(b"", error)


def observe(program, ranks):
    """What it does without and with tracing, what files are left, and what is wrong with the trace, or None."""
    program = [os.path.join(tap.BUILD, "tests/programs", program[0]), *program[1:]]
    plain, wrong = outcome(program, ranks=ranks), None
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "x.spoor")
        traced = outcome(program, [launch.spoor(), "run", "-o", trace, "--"], ranks)
        left = sorted(os.listdir(folder))
        if left == ["x.spoor"]:
            done = subprocess.run([launch.spoor(), "verify", trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            wrong = done.stdout.decode(errors="replace") if done.returncode else None
    return plain, traced, left, wrong


ANY, TRACE, NOTHING = None, ["x.spoor"], []  # what may be left


def cases():
    """Title, program with its arguments, ranks, and what is left."""
    yield "normal end", ["ends", "normal"], 4, TRACE
    yield "exit 3", ["ends", "exit3"], 4, TRACE
    yield "abort", ["ends", "abort"], 4, ANY
    yield "killed by a signal", ["ends", "segv"], 4, ANY
    yield "no finalize", ["ends", "nofinalize"], 4, ANY
    yield "fork", ["ends", "fork"], 4, ANY
    yield "much output", ["ends", "loud"], 4, ANY
    yield "no MPI", ["ends", "nompi"], 4, NOTHING
    yield "errors returned", ["errors"], 4, ANY
    for way in ("handles", "pointers", "numbers", "twice", "leaks", "truncated", "wrong", "requests", "objects"):
        yield f"broken: {way}", ["broken", way, "return"], 4, TRACE
    # One rank: how many come to say something before mpirun ends them is chance.
    for way in ("numbers", "uninitialised", "uninitialised type", "uninitialised request", "uninitialised win", "uninitialised info", "no message",
                "freed", "freed twice", "init", "after", "finalize"):
        yield f"broken: {way}, and the job ends", ["broken", *(way.split() if way.startswith("uninitialised") else [way])], 1, TRACE
    yield "broken: before MPI_Init", ["broken", "before"], 1, ANY
    for program, binding, ways in (("wrong", "Fortran", "uninitialised request negative rank leaks abort init after finalize"),
                                   ("wrong8", "Fortran 2008", "uninitialised request rank leaks")):
        yield f"broken, {binding}: returned", [program, "returned"], 4, TRACE
        for way in ways.split():
            yield f"broken, {binding}: {way}", [program, way], 1, TRACE
        yield f"broken, {binding}: before MPI_Init", [program, "before"], 1, ANY
    yield "Fortran", ["fixed"], 4, ANY


def main():
    # Open MPI waits a second for a job that fails, so four at once take little more processor time than one.
    with concurrent.futures.ThreadPoolExecutor(4) as workers:
        runs = [(title, expected, workers.submit(observe, program, ranks) if os.path.exists(os.path.join(tap.BUILD, "tests/programs", program[0])) else None)
                for title, program, ranks, expected in cases()]
        for title, expected, run in runs:
            if not run:
                tap.skip(title, "no Fortran compiler")
                continue
            plain, traced, left, wrong = run.result()
            for what, a, b in zip(("exit status", "standard output", "standard error"), plain, traced):
                tap.ok(a == b, f"{title}: the same {what}", f"without tracing: {a!r:.1500}", f"with tracing:    {b!r:.1500}")
            if left == TRACE:
                tap.ok(wrong is None, f"{title}: the trace can be read", wrong)
            if expected is not ANY:
                tap.equal(left, expected, f"{title}: what is left is {' '.join(expected) or 'nothing'}")
    tap.done()


if __name__ == "__main__":
    main()
