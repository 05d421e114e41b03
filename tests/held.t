#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# held - a thread that is stopped anywhere in the tracer keeps no other one waiting: their calls are passed on, and the trace is good
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

ROUNDS = int(os.environ.get("SPOOR_HELD", "25"))  # in each, the thread is stopped once
EVERY = 173  # instructions of the tracer's between the places of two stops
MOST_US = 5000  # of the waiting thread's own time in one call; a wait of the tracer's is 1 ms
ENVIRONMENT = dict(os.environ, SPOOR_PRELOAD=launch.preload(), OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_ess_singleton_isolated="1")


def run(words):
    return subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def one(folder, holder, library, program):
    trace = os.path.join(folder, "x.spoor")
    done = run([launch.spoor(), "run", "-f", "-o", trace, "--", holder, str(EVERY), f"libspoor-{library}.so", program, str(ROUNDS)])
    said, held = re.fullmatch(r"(\d+) us, (\d+) calls\n", done.stdout), re.search(r"^held (\d+) times$", done.stderr, re.MULTILINE)
    whole = f"status {done.returncode}, {done.stdout[:1000]}{done.stderr[:3000]}"
    if not tap.ok(done.returncode == 0 and said and held and int(held.group(1)) > ROUNDS // 2, f"{library}: a thread is stopped in each of {ROUNDS} rounds", whole):
        return
    tap.ok(int(said.group(1)) <= MOST_US, f"a call of the other one takes at most {MOST_US} us", f"{said.group(1)} us")
    verified = run([launch.spoor(), "verify", trace])
    tap.ok(verified.returncode == 0 and "good" in verified.stdout, "the trace is good", verified.stdout + verified.stderr)
    os.unlink(trace)


def main():
    if os.uname().machine != "x86_64":
        tap.skip_all("the driver knows this processor's registers only")
    with tempfile.TemporaryDirectory(prefix="held-t-") as folder:
        holder = launch.compiled(folder, "cc", "holder.c")
        for library, compiler in (("openmpi", "mpicc"), ("mpich", "mpicc.mpich")):
            program = launch.compiled(folder, compiler, "held.c", "-lpthread")
            if os.path.exists(program):
                one(folder, holder, library, program)
                os.unlink(program)
            else:
                tap.skip("threads that are stopped", f"no {compiler}")
    tap.done()


main()
