#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# same - a job prints and returns the same with and without tracing, byte for byte: normal end, exit 3, abort, much output
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

# What Open MPI says of a rank that crashed names processes and addresses.
VARIES = re.compile(rb"\[[\w.-]+:\d+\]|0x[0-9a-f]+")

# Each rank's standard error goes to a file of its own: what mpirun says itself of a job that failed is not the job's, and
# is not the same twice.
APART = ["sh", "-c", 'exec "$@" 2>"$0/$OMPI_COMM_WORLD_RANK"']


def outcome(program, before=()):
    """Exit status, standard output, standard error of all ranks."""
    with tempfile.TemporaryDirectory() as errors, tempfile.TemporaryDirectory() as other:
        done = launch.mpirun(4, [*APART, errors, *program], before=before, environment={"TMPDIR": other})
        error = b""
        for rank in sorted(os.listdir(errors)):
            with open(os.path.join(errors, rank), "rb") as f:
                error += f.read()
    return done.returncode, done.stdout, VARIES.sub(b"", error)


def check(title, *program):
    program = [os.path.join(tap.BUILD, "tests/programs", program[0]), *program[1:]]
    plain = outcome(program)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "x.spoor")
        traced = outcome(program, [launch.spoor(), "run", "-o", trace, "--"])
        left = sorted(os.listdir(folder))
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
    if os.path.exists(os.path.join(tap.BUILD, "tests/programs/fixed")):
        check("Fortran", "fixed")
    tap.done()


if __name__ == "__main__":
    main()
