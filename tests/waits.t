#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""waits - how long ranks waited for others is what programs measured that wait for known times: exact with timing: full, else an estimate"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

DELAYS = os.path.join(tap.BUILD, "tests/programs/delays")
CLOCK = os.path.join(tap.BUILD, "tests/tools/clock.so")
RANKS = 4
# program, what the ranks wait for, the functions in which they wait
PROGRAMS = (
    ("recv", "late_sender_ns", {"MPI_Recv"}),
    ("wait", "late_sender_ns", {"MPI_Wait"}),
    ("waitall", "late_sender_ns", {"MPI_Waitall"}),
    ("sendrecv", "late_sender_ns", {"MPI_Sendrecv"}),
    ("any", "late_sender_ns", {"MPI_Recv"}),
    ("ssend", "late_receiver_ns", {"MPI_Ssend"}),
    ("send", "late_receiver_ns", {"MPI_Send"}),
    ("reduce", "collective_ns", {"MPI_Allreduce"}),
)
TIMINGS = (("full", 0.03), ("histogram", 0.15))
# what tests/tools/clock.c does, the program, what its ranks wait for, how far off it may be
CLOCKS = (
    ("torn", "recv", "late_sender_ns", 0.03),
    ("counted", "ssend", "late_receiver_ns", 0.03),
    ("ahead", "ssend", "late_receiver_ns", 0.05),
    ("ahead", "send", "late_receiver_ns", 0.05),
)


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)


def run(folder, how, timing, clock=None):
    """What the program measured, and what the trace says; seconds. clock: what is done to the clocks."""
    path = os.path.join(folder, "x.spoor")
    if os.path.exists(path):
        os.unlink(path)
    counters = ["--counters=perf::TASK-CLOCK"] if clock == "counted" else []
    done = launch.mpirun(RANKS, [DELAYS, how], before=[launch.spoor(), "run", f"--timing={timing}", *counters, "-o", path, "--"], cwd=folder,
                         flatlog=CLOCK if clock else None, environment={"CLOCK_SAYS": clock} if clock else None)
    measured = re.search(rb"^waited ([\d.]+)", done.stdout, re.M)
    shown = spoor("show", "--waits", "--json", path)
    return float(measured[1]) if measured else 0, json.loads(shown.stdout or "{}").get("waits", {}), done.stderr.decode(errors="replace") + shown.stderr


def check(folder, how, kind, functions, timing, most):
    """On a busy machine a rank may lose the processor between its own clock and the tracer's: then once more."""
    for _ in range(3):
        measured, waits, said = run(folder, how, timing)
        found = sum(s[kind] for s in waits.get("sites", ()) if s["function"] in functions) * 1e-9
        off = abs(found - measured) / measured if measured else 1
        if off <= most:
            break
    tap.ok(measured > 0.3 and off <= most, f"{how}, timing: {timing}: {100 * off:.1f} % off (at most {100 * most:.0f})", f"measured {measured}, found {found}", waits, said)
    tap.ok(waits.get("exact") is (timing == "full"), "and it says whether it is exact")
    if kind == "late_sender_ns":
        late = sum(s["late_receiver_ns"] for s in waits.get("sites", ())) * 1e-9
        tap.ok(late < 0.1 * measured, "no receiver is said to be late", waits)
    return measured


def check_clock(folder, clock, how, kind, most):
    """Clocks of ranks are compared although they are not read at one moment, and although they are apart."""
    for _ in range(3):
        measured, waits, said = run(folder, how, "full", clock)
        found = waits.get(kind, 0) * 1e-9
        off = abs(found - measured) / measured if measured else 1
        if off <= most:
            break
    tap.ok(measured > 0.3 and off <= most, f"clocks {clock}: {how} {100 * off:.1f} % off (at most {100 * most:.0f})", f"measured {measured}, found {found}", waits, said)


def main():
    with tempfile.TemporaryDirectory(prefix="waits-t-") as folder:
        os.chmod(folder, 0o711)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        for how, kind, functions in PROGRAMS:
            for timing, most in TIMINGS:
                check(folder, how, kind, functions, timing, most)
        text = spoor("show", "--waits", os.path.join(folder, "x.spoor")).stdout
        tap.ok("estimated" in text.splitlines()[0] and re.search(r"^MPI_Allreduce .* at delays.c:\d+", text, re.M), "show says that it is an estimate, and where", text)
        for clock in CLOCKS:
            check_clock(folder, *clock)
    tap.done()


if __name__ == "__main__":
    main()
