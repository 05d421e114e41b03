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

INSTANTS = int(os.environ.get("SPOOR_INSTANTS", "200"))
# What is stepped through; and what the handler does: asks, or makes a child that asks, or one that goes on, or jumps out. Of the latter there is one in a
# process at each run through the function.
ASKS = [(f, "ask") for f in ("malloc", "dlopen", "pthread_create", "printf", "query", "path", "message", "collective", "fork", "_Fork", "clone", "vfork")]
MAKES = [(f, how) for f in ("query", "path") for how in ("fork", "_Fork", "clone", "stay")]
JUMPS = [("query", "jump"), ("path", "jump")]
HANDLERS = {"ask": "", "stay": ", with a child that goes on", "jump": ", left by a jump", **{how: f", with a child by {how}" for how in ("fork", "_Fork", "clone")}}
MOST_CHILDREN = 20000  # processes that a handler makes
MOST_JUMPS = 200  # calls that a process leaves
ENVIRONMENT = dict(os.environ, SPOOR_PRELOAD=launch.preload(), OMPI_MCA_btl="self,vader", OMPI_MCA_pml="ob1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_ess_singleton_isolated="1")


def run(words):
    return subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def instants(done):
    found = re.search(r"^(\d+) instants$", done.stderr, re.MULTILINE)
    return int(found.group(1)) if found else 0


def figures(trace):
    """Events, and calls that were only counted."""
    shown = run([launch.spoor(), "show", "--json", trace]).stdout
    return tuple(int(n) for n in re.findall(r'^  "(?:events|events_lost)": (\d+)', shown, re.MULTILINE))


def one(folder, command, done):
    """What is wrong with a run; None: nothing. Each call is an event, or was counted."""
    trace = os.path.join(folder, "x.spoor")
    said = re.fullmatch(r"0 wrong, (\d+) calls, (\d+) left\n", done.stdout)
    if done.returncode != 0 or not said:
        return f"{' '.join(command)}: status {done.returncode}, {done.stdout[:1000]}{done.stderr[:3000]}"
    verified = run([launch.spoor(), "verify", trace])
    if verified.returncode != 0 or "good" not in verified.stdout:
        return f"{' '.join(command)}: {verified.stdout}{verified.stderr}"
    events, lost = figures(trace)
    os.unlink(trace)
    calls, left = (int(n) for n in said.groups())
    # the program counts before it calls: what it jumps out of may be a call that it has not made
    return None if calls - left <= events + lost <= calls else f"{' '.join(command)}: {events} events, {lost} were counted, and there were {calls} calls, of which {left} were left"


def look(folder, stepper, program, function, how):
    """At how many instants, and what is wrong; None: nothing."""
    start = [launch.spoor(), "run", "-f", "-o", os.path.join(folder, "x.spoor"), "--", stepper]
    wanted = INSTANTS if how in ("ask", "jump") else min(INSTANTS, MOST_CHILDREN)
    sample = run([*start, "97", "1", program, function, "2", "ask"])
    steps = max(1, instants(sample) * 97)  # of two runs through the function, which are longer than later ones
    every, times, n, first, wrong = max(1, steps // wanted), 2, 0, 1, None
    while n < wanted and not wrong:
        if how == "jump":  # one at each run through it, and each at the next instruction
            every, times = f"{first}+", min(wanted - n, MOST_JUMPS)
        command = [*start, str(every), str(0 if how == "jump" else first), program, function, str(times), how]
        done = run(command)
        got = instants(done)
        wrong = one(folder, command, done) or (None if got else "no instants")
        n += got
        if how == "jump":
            first = first + got if got == times else 1  # there are no more instructions
            continue
        first += 1
        times = max(2, min(20000, (wanted - n) * times // max(1, got) + 1))
    return n, wrong


def main(chosen):
    if os.uname().machine != "x86_64":
        tap.skip_all("the driver knows this processor's registers only")
    with tempfile.TemporaryDirectory(prefix="instants-t-") as folder:
        stepper = launch.compiled(folder, "cc", "stepper.c")
        for name, compiler in (("Open MPI", "mpicc"), ("MPICH", "mpicc.mpich")):
            program = launch.compiled(folder, compiler, "instants.c", "-lpthread")
            if not os.path.exists(program):
                tap.skip(name, f"no {compiler}")
                continue
            for function, how in ASKS + MAKES + JUMPS:
                if chosen and function not in chosen and how not in chosen:
                    continue
                n, wrong = look(folder, stepper, program, function, how)
                tap.ok(not wrong, f"{name}: {n} instants of {function}{HANDLERS[how]}", wrong or "")
            os.unlink(program)
    tap.done()


main(sys.argv[1:])
