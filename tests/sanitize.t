#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# sanitize - programs built with AddressSanitizer and UndefinedBehaviorSanitizer run clean under the tracer, and are traced exactly as without
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

PROGRAMS = ("pt2pt", "collectives", "comms", "types", "objects", "persistent", "windows", "errors", "inter", "pcoll")
RANKS = 4
# Open MPI itself leaks.
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
SAID = re.compile(rb"runtime error|Sanitizer|ASan")


def mpicc():
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        return re.search(r"^MPICC = (\S+)", f.read(), re.M).group(1)


def events(trace):
    """The functions of all events: values may differ from run to run."""
    done = subprocess.run([launch.spoor(), "dump", trace], stdout=subprocess.PIPE, check=False)
    return [line.split()[2] for line in done.stdout.split(b"\n") if line]


def main():
    with tempfile.TemporaryDirectory(prefix="sanitize-") as folder:
        for name in PROGRAMS:
            program = os.path.join(folder, name)
            built = subprocess.run([mpicc(), "-std=gnu11", "-O1", "-g", "-w", "-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-o", program,
                                    os.path.join(tap.SOURCE, "tests/programs", name + ".c"), "-lpthread"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if built.returncode:
                tap.skip(f"{name} runs clean", "the compiler has no sanitizers")
                continue
            trace = os.path.join(folder, name + ".spoor")
            plain = launch.mpirun(RANKS, [program], environment=ENVIRONMENT)
            done = launch.mpirun(RANKS, [program], before=[launch.spoor(), "run", "-o", trace, "--"], environment={**ENVIRONMENT, "TMPDIR": folder})
            tap.ok(done.returncode == plain.returncode == 0 and not SAID.search(done.stderr), f"{name} runs clean",
                   (done.stdout + done.stderr).decode(errors="replace")[:3000])
            tap.ok(os.path.exists(trace) and len(events(trace)) > 50, f"{name} is traced")
    tap.done()


if __name__ == "__main__":
    main()
