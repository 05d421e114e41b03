#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# unseen - requests that a layer completes by PMPI functions take no more memory than what the tracer gives to all of them
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

PAIRS = int(os.environ.get("SPOOR_UNSEEN", "1000000"))  # of requests; the tracer keeps 2^20 of them at most
MORE = 2048  # KiB that twice as many may take more
ENVIRONMENT = dict(os.environ, SPOOR_PRELOAD=launch.preload(), OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_ess_singleton_isolated="1")


def memory(trace, program, pairs):
    """KiB that it had at most, traced; -1: it failed, or its trace is not good."""
    done = subprocess.run([launch.spoor(), "run", "-f", "-o", trace, "--", program, str(pairs)], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=False)
    verified = subprocess.run([launch.spoor(), "verify", trace], stdout=subprocess.PIPE, text=True, check=False)
    good = done.returncode == 0 and done.stdout.strip().isdigit() and verified.stdout.endswith(f"{2 * pairs + 2} events\n")
    return int(done.stdout) if good else -1


def main():
    with tempfile.TemporaryDirectory(prefix="unseen-t-") as folder:
        for library, compiler in (("Open MPI", "mpicc"), ("MPICH", "mpicc.mpich")):
            program = launch.compiled(folder, compiler, "unseen.c")
            if not os.path.exists(program):
                tap.skip(library, f"no {compiler}")
                continue
            once, twice = (memory(os.path.join(folder, "x.spoor"), program, n) for n in (PAIRS, 2 * PAIRS))
            tap.ok(0 < once and 0 < twice <= once + MORE, f"{library}: {4 * PAIRS} requests that complete unseen take no more memory than half of them", f"{once} and {twice} KiB")
            os.unlink(program)
    tap.done()


main()
