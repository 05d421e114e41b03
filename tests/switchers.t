#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# switchers - MPI calls from stacks of every kind (tests/programs/switchers.c): as without spoor, plain and with AddressSanitizer, and the trace is good
#
# SPOOR_SWITCHERS says how many scenarios of each kind of program there are; HACKING.md.
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

SCENARIOS = int(os.environ.get("SPOOR_SWITCHERS", "50"))
EACH = 50  # scenarios of a process
KINDS = [("Open MPI", "mpicc", []), ("Open MPI, AddressSanitizer", "mpicc", ["-fsanitize=address"]),
         ("MPICH", "mpicc.mpich", []), ("MPICH, AddressSanitizer", "mpicc.mpich", ["-fsanitize=address"])]
ENVIRONMENT = dict(os.environ, SPOOR_PRELOAD=launch.preload(), OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_ess_singleton_isolated="1", ASAN_OPTIONS="detect_leaks=0")


def run(words):
    done = subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          timeout=300, check=False)
    # sanitizers say process numbers and addresses
    return done.returncode, done.stdout, re.sub(r"0x[0-9a-f]+|\d{3,}", "N", done.stderr)


def compare(program, first, count, trace):
    """What is wrong; None: nothing."""
    words = [program, str(first), str(count)]
    plain, traced = run(words), run([launch.spoor(), "run", "-o", trace, "--", *words])
    if plain[0] != 0 or plain != traced:
        return f"scenarios {first} to {first + count - 1}: {plain!r} without spoor, {traced!r} with it"
    status, said, error = run([launch.spoor(), "verify", trace])
    os.unlink(trace)
    return None if status == 0 and "good" in said else f"scenarios {first} to {first + count - 1}: {said}{error}"


def depth(folder, name, compiler):
    """A handler on a small stack: SECURITY.md says how much of it is ours."""
    program = launch.compiled(folder, compiler, "depth.c", "-Wl,-z,now")
    if not os.path.exists(program):
        return
    trace = os.path.join(folder, "x.spoor")
    plain, traced = run([program]), run([launch.spoor(), "run", "-o", trace, "--", program])
    tap.ok(plain[0] == traced[0] == 0 and os.path.exists(trace) and int(traced[1]) < int(plain[1]) + 2048,
           f"{name}: at most 2 KiB of a handler's stack are taken", plain, traced)
    os.unlink(trace)


def main():
    with tempfile.TemporaryDirectory(prefix="switchers-t-") as folder:
        for name, compiler, options in KINDS:
            program = launch.compiled(folder, compiler, "switchers.c", *options, "-lpthread")
            if not os.path.exists(program):
                tap.skip(name, f"no {compiler}")
                continue
            wrong = [w for first in range(0, SCENARIOS, EACH) if (w := compare(program, first, min(EACH, SCENARIOS - first), os.path.join(folder, "x.spoor")))]
            os.unlink(program)
            tap.ok(not wrong, f"{name}: {SCENARIOS} scenarios as without spoor", *wrong)
        depth(folder, "Open MPI", "mpicc")
        depth(folder, "MPICH", "mpicc.mpich")
    tap.done()


main()
