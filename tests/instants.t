#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# instants - a signal whose handler calls MPI, at each instruction of malloc, dlopen, pthread_create and others, and of the wrappers: nothing hangs or
# faults, and the trace is good
#
# SPOOR_INSTANTS says at about how many instants of each function the signal comes; HACKING.md.
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

INSTANTS = int(os.environ.get("SPOOR_INSTANTS", "300"))
FUNCTIONS = ["malloc", "dlopen", "pthread_create", "printf", "query", "message"]
ENVIRONMENT = dict(os.environ, SPOOR_PRELOAD=launch.preload(), OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_ess_singleton_isolated="1")


def run(words):
    return subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def instants(done):
    found = re.search(r"^(\d+) instants$", done.stderr, re.MULTILINE)
    return int(found.group(1)) if found else 0


def look(folder, stepper, program, function):
    """At how many instants, and what is wrong; None: nothing."""
    trace = os.path.join(folder, "x.spoor")
    command = [launch.spoor(), "run", "-f", "-o", trace, "--", stepper]
    sample = run([*command, "97", "1", program, function, "2"])  # how many instructions there are
    a_time = max(1, instants(sample) * 97 // 2)
    every, times = max(1, 2 * a_time // INSTANTS), max(2, INSTANTS // a_time)
    done = run([*command, str(every), "1", program, function, str(times)])
    n = instants(done)
    if done.returncode != 0 or done.stdout != "0 wrong\n" or n < INSTANTS // 20:
        return n, f"status {done.returncode}, {done.stdout}{done.stderr}"
    verified = run([launch.spoor(), "verify", trace])
    os.unlink(trace)
    return n, None if verified.returncode == 0 and "good" in verified.stdout else verified.stdout + verified.stderr


def main():
    if os.uname().machine != "x86_64":
        tap.skip_all("the driver knows this processor's registers only")
    with tempfile.TemporaryDirectory(prefix="instants-t-") as folder:
        stepper = launch.compiled(folder, "cc", "stepper.c")
        for name, compiler in (("Open MPI", "mpicc"), ("MPICH", "mpicc.mpich")):
            program = launch.compiled(folder, compiler, "instants.c", "-lpthread")
            if not os.path.exists(program):
                tap.skip(name, f"no {compiler}")
                continue
            for function in FUNCTIONS:
                n, wrong = look(folder, stepper, program, function)
                tap.ok(not wrong, f"{name}: {n} instants of {function}", wrong or "")
            os.unlink(program)
    tap.done()


main()
