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
import reader  # noqa: E402
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
    # sanitizers say process numbers and addresses, and what they say first depends on these
    return done.returncode, done.stdout, sorted(re.sub(r"0x[0-9a-f]+|\d{3,}", "N", done.stderr).splitlines())


def compare(program, first, count, trace):
    """What is wrong; None: nothing."""
    words = [program, str(first), str(count)]
    plain, traced = run(words), run([launch.spoor(), "run", "-f", "-o", trace, "--", *words])
    if plain[0] != 0 or plain != traced:
        return f"scenarios {first} to {first + count - 1}: {plain!r} without spoor, {traced!r} with it"
    status, said, error = run([launch.spoor(), "verify", trace])
    os.unlink(trace)
    return None if status == 0 and "good" in said else f"scenarios {first} to {first + count - 1}: {said}{error}"


UNREADABLE = 6  # doc/trace-format.md


class Path:
    """What libdw says of a place, beyond the innermost frame: the program's own, which goes on behind the breakpoint. Only as far as there is unwind
    information: where there is none it guesses."""

    def __init__(self, line):
        words = line.split()
        self.whole = words[-1] == "."
        words = words[:-1] if self.whole else words
        if "?" in words:
            self.whole = False
            words = words[:words.index("?")]
        self.frames = tuple((bytes.fromhex(w.split("+")[0]), int(w.split("+")[1], 16)) for w in words[1:])

    def is_that_of(self, frames):
        rest = frames[len(self.frames):]
        # libdw tells no end of a stack from a return address that cannot be read
        return frames[:len(self.frames)] == self.frames and (not self.whole or rest in ((), (UNREADABLE,)))


def witness(folder, compiler):
    """Call paths are those of libdw, which looks at the process from outside."""
    judge, said = launch.compiled(folder, "cc", "witness.c", "-ldw", "-lelf"), os.path.join(folder, "paths")
    program = launch.compiled(folder, compiler, "switchers.c", "-lpthread", "-Wl,--build-id")
    if not os.path.exists(judge) or not os.path.exists(program):
        return None
    trace = os.path.join(folder, "x.spoor")
    unlike, count, whole = [], 0, 0
    for first in range(0, SCENARIOS, EACH):
        done = run([launch.spoor(), "run", "-f", "-o", trace, "--", judge, said, program, str(first), str(min(EACH, SCENARIOS - first)), "witnessed"])
        if done[0] != 0:
            return [f"{done!r}"], 0, 0
        read = reader.Trace(trace)
        with open(said, encoding="ascii") as f:
            told = {line: Path(line) for line in f}
        ours = {tuple(read.path(i)[1:]) for i, site in enumerate(read.sites) if site[0] == "MPI_Comm_rank"}
        unlike += [f"scenarios from {first}: libdw alone has {line}" for line, p in told.items() if not any(p.is_that_of(o) for o in ours)]
        unlike += [f"scenarios from {first}: libdw has no {o}" for o in ours if not any(p.is_that_of(o) for p in told.values())]
        count += len(told)
        whole += sum(p.whole for p in told.values())
        os.unlink(said)
        os.unlink(trace)
    os.unlink(program)
    return unlike, count, whole


def depth(folder, name, compiler):
    """A handler on a small stack: SECURITY.md says how much of it is ours."""
    program = launch.compiled(folder, compiler, "depth.c", "-Wl,-z,now")
    if not os.path.exists(program):
        return
    trace = os.path.join(folder, "x.spoor")
    plain, traced = run([program]), run([launch.spoor(), "run", "-f", "-o", trace, "--", program])
    tap.ok(plain[0] == traced[0] == 0 and os.path.exists(trace) and int(traced[1]) < int(plain[1]) + 2560,
           f"{name}: at most 2.5 KiB of a handler's stack are taken", plain, traced)
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
        for name, compiler in (("Open MPI", "mpicc"), ("MPICH", "mpicc.mpich")):
            depth(folder, name, compiler)
            judged = witness(folder, compiler)
            if not judged:
                tap.skip(f"{name}: call paths as libdw's", f"no {compiler}, or no libdw")
                continue
            unlike, count, whole = judged
            tap.ok(not unlike and whole > 0, f"{name}: {count} call paths as libdw's, {whole} of them to their ends", *unlike[:6])
    tap.done()


main()
