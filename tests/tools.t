#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# tools - the tracer beside other tools, in programs that load MPI late, and in programs without MPI
#
# Traced or not is told by what the tracer leaves in the spool folder of the handoff.
import glob
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

TRACER = launch.preload()
TOOLS = os.path.join(tap.BUILD, "tests", "tools")


def run(preload, program, ranks=2):
    """Returns (output, number of traces)."""
    with tempfile.TemporaryDirectory() as spool:
        env = {"SLURM_SPOOR_HANDOFF": f"1;mode=lossless;spool={spool}", "SPOOR_TEST_PRELOAD": ":".join(preload)}
        ranked = ["sh", "-c", 'LD_PRELOAD="$SPOOR_TEST_PRELOAD" exec "$@"', "sh", *program]
        done = launch.mpirun(ranks, ranked, environment=env)
        output = done.stdout.decode() + done.stderr.decode()
        if done.returncode:
            output += f"(status {done.returncode})"
        return output, len(glob.glob(os.path.join(spool, "world-*.spoor")))


def tool(name):
    return os.path.join(TOOLS, name)


PROGRAM = [tool("program")]
SAW = sorted(f"rank {r}: tool saw 3 sends" for r in range(2))

output, traces = run([TRACER], PROGRAM)
tap.equal((output, traces), ("", 1), "alone: one trace, errno is kept, nothing is printed")

output, traces = run([tool("tool.so"), TRACER], PROGRAM)
tap.equal((sorted(output.splitlines()), traces), (SAW, 1), "a tool in front: both work")

ONLY = "tool saw 3 sends\n" * 2
output, traces = run([tool("onlysend.so"), TRACER], PROGRAM)
tap.equal((output, traces), (ONLY, 1), "a tool in front that takes only MPI_Send: both work")

output, traces = run([tool("transparent.so"), TRACER], PROGRAM)
tap.equal((sorted(output.splitlines()), traces), (SAW, 1), "a tool in front that passes each call on: both work")

output, traces = run([TRACER, tool("tool.so")], PROGRAM)
tap.equal((sorted(output.splitlines()), traces), (SAW, 1), "a tool behind: both work")

output, traces = run([TRACER, tool("onlysend.so")], PROGRAM)
tap.equal((output, traces), (ONLY, 1), "a tool behind that takes only MPI_Send: both work")

output, traces = run([TRACER, tool("transparent.so")], PROGRAM)
tap.equal((sorted(output.splitlines()), traces), (SAW, 1), "a tool behind that asks for RTLD_NEXT: both work")

output, traces = run([tool("handle.so"), TRACER], PROGRAM)
tap.equal((sorted(output.splitlines()), traces), (SAW, 1), "a tool in front that asks the library by its handle: both work")

output, traces = run([TRACER, tool("handle.so")], PROGRAM)
tap.equal((sorted(output.splitlines()), traces), (SAW, 1), "a tool behind that asks the library by its handle: both work")

output, traces = run([TRACER], [tool("loader"), tool("module.so")])
tap.equal((output, traces), ("MPI is not there\n" * 2, 1), "MPI loaded with RTLD_LOCAL by a program without MPI: traced")

done = subprocess.run([tool("loader")], env=dict(os.environ, LD_PRELOAD=TRACER), stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, universal_newlines=True)
tap.equal((done.stdout, done.returncode), ("MPI is not there\n", 0), "a program without MPI that has weak references to it: they are null")
tap.done()
