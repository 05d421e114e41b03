#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# beside - other tools in the process say with spoor what they say without, and what a program asks about MPI's functions is answered as without
#
# `tests/beside.t WORD...` takes the rows whose titles have one of the words in them.
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import mpich_programs  # noqa: E402
import tap  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "beside")
TOOLS = ("profiler", "follower", "checker")
RANKS = 3
GDB = ["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", "break main", "-ex", "run"]


def run(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)


class Library:
    """Programs and tools for one MPI library."""

    def __init__(self, mpi, compiler, fortran, folder):
        self.mpi, self.folder, self.failed = mpi, folder, []
        self.compile(compiler, "plays", "plays.c")
        self.compile(compiler, "plays-fixed", "plays.c", "-no-pie", "-Wl,-z,lazy")
        self.compile(fortran, "round", "round.f90")
        for tool in TOOLS:
            self.compile(compiler, f"{tool}.so", f"{tool}.c", "-fPIC", "-shared", "-Wl,-z,lazy" if tool == "checker" else "-Wl,-z,now")
            self.compile(compiler, f"plays-{tool}", "plays.c", f"{tool}.c")
        for tool, flag in (("files", "-DFILES"), ("memory", "-DMEMORY")):
            self.compile(compiler, f"{tool}.so", "meter.c", "-fPIC", "-shared", flag)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, compiler, name, *arguments):
        words = [os.path.join(HERE, a) if re.search(r"\.(c|f90)$", a) else a for a in arguments]
        done = run(compiler, "-O1", "-g", "-w", "-o", self.path(name), *words)
        if done.returncode:
            self.failed.append(f"{name}: {done.stdout}")

    def said(self, program, ranks, traced, before="", behind="", meter=""):
        """Returns (status, output, what the meter says), and of each trace, which must be whole, how many barriers rank 0 has."""
        spool = tempfile.mkdtemp(dir=self.folder)
        preload = [before, launch.preload() if traced else "", behind, meter]
        env = {"IN_RANKS": ":".join(p for p in preload if p), "METER": os.path.join(spool, "meter"), "METER_TIMES": "1", "METER_PLACES": "2"}
        if traced:
            env["SLURM_SPOOR_HANDOFF"] = f"1;mode=lossless;spool={spool}"
        done = launch.mpirun(ranks, ["sh", "-c", 'LD_PRELOAD="$IN_RANKS" exec "$@"', "sh", *program], environment=env, cwd=spool)
        told = set()
        for name in glob.glob(os.path.join(spool, "meter.*")):
            with open(name, encoding="utf-8") as f:
                told |= set(f.read().splitlines())
        traces = glob.glob(os.path.join(spool, "world-*.spoor"))
        barriers = [run(launch.spoor(), "dump", "--rank", "0", t).stdout.count(" MPI_Barrier ") if run(launch.spoor(), "verify", t).returncode == 0 else "broken"
                    for t in traces]
        said = (done.returncode, sorted(done.stdout.decode().splitlines()), sorted(done.stderr.decode(errors="replace").splitlines()), sorted(told))
        return said, barriers


def wanted(title):
    return not sys.argv[1:] or any(word in title for word in sys.argv[1:])


def check(library, title, program, ranks=RANKS, expected=None, barriers=25, **how):
    title = f"{library.mpi}: {title}"
    if not wanted(title):
        return
    plain, _ = library.said(program, ranks, False, **how)
    traced, found = library.said(program, ranks, True, **how)
    tap.ok(traced == plain, f"{title}: as without", *(f"{sign} {line}" for a, b, sign in ((plain, traced, "-"), (traced, plain, "+"))
                                                      for part, other in zip(a[1:], b[1:]) for line in part if line not in other), plain[0], traced[0])
    tap.ok(plain[0] == 0 and (not expected or any(re.search(expected, line) for part in plain[1:] for line in part)), f"{title}: it says what it is to", plain)
    tap.equal(found, [barriers], f"{title}: traced, each call once")


def tools(library):
    """A tool sees the calls of the program, from where they are made, wherever it stands."""
    says = {"profiler": r"rank 2: MPI_Barrier at plays.*: 5$", "follower": r"2 \d+ MPI_Barrier done plays", "checker": r"^1 types|1 types are not freed"}
    for tool in TOOLS:
        so, program = library.path(f"{tool}.so"), [library.path("plays")]
        check(library, f"{tool}, preloaded before", program, before=so, expected=says[tool])
        check(library, f"{tool}, preloaded behind", program, behind=so, expected=says[tool])
        check(library, f"{tool}, linked", [library.path(f"plays-{tool}")], expected=says[tool])
        check(library, f"{tool}, program at a fixed address, bound late", [library.path("plays-fixed")], behind=so, expected=says[tool])
        if (library.mpi, tool) != ("mpich", "follower"):  # its Fortran functions call those of C: there a backtrace has a frame of the tracer's
            check(library, f"{tool}, Fortran", [library.path("round")], barriers=4, behind=so)
    check(library, "two tools", [library.path("plays")], before=library.path("profiler.so"), behind=library.path("checker.so"), expected=says["profiler"])
    check(library, "one tool linked, one preloaded", [library.path("plays-follower")], behind=library.path("profiler.so"), expected=says["follower"])
    for meter in ("files", "memory"):
        check(library, f"a meter of {meter}", [library.path("plays")], meter=library.path(f"{meter}.so"), expected=r"plays\+0x")
        check(library, f"a meter of {meter}, and a profiler", [library.path("plays")], before=library.path("profiler.so"), meter=library.path(f"{meter}.so"),
              expected=r"plays\+0x")


def answers(library):
    """dladdr and dlsym, before and after MPI_Init."""
    for program in ("plays", "plays-fixed", "plays-profiler"):
        check(library, f"what dladdr says, {program}", [library.path(program), "seen"], 1, expected=r"^MPI_Send asked: (libmp|plays-profiler)")


def debugger(library):
    """A breakpoint is met once in each call. What it prints has addresses in it, which differ."""
    if not shutil.which("gdb"):
        tap.skip("a debugger", "gdb is not there")
        return
    words = [*GDB, "-ex", "break MPI_Barrier", "-ex", "ignore 2 1000", "-ex", "continue", "-ex", "info breakpoints", "--args", library.path("plays")]
    hits = []
    for traced in (False, True):
        (_, said, _, _), _ = library.said(["env", f"LD_PRELOAD={launch.preload() if traced else ''}", *words], 1, traced)
        hits.append([re.sub(r"\s+", " ", line) for line in said if "already hit" in line])
    tap.equal(hits[1], hits[0], f"{library.mpi}: gdb stops in MPI_Barrier as often as without")
    tap.ok(any("hit 25 times" in line for line in hits[0]), f"{library.mpi}: which is once a call", *hits)


def heaptrack(library):
    """What is allocated is the program's and MPI's."""
    if not shutil.which("heaptrack"):
        tap.skip("heaptrack", "it is not there")
        return
    log = library.path("heap")
    said, found = library.said(["heaptrack", "-o", log, library.path("plays")], 1, True)
    printed = run("heaptrack_print", *glob.glob(log + ".*"))
    tap.equal((said[0], found, "memory" in printed.stdout), (0, [25], True), f"{library.mpi}: a program in heaptrack is traced")
    # who allocates is named first, with a source line if there is one, and the file that it is in
    direct = re.findall(r"^\S.* from:?\n(.*)\n(?: +at .*\n)? +in (.*)", printed.stdout, re.MULTILINE)
    tap.ok(direct and not any("spoor" in os.path.basename(file) for _, file in direct), f"{library.mpi}: heaptrack sees no allocation of spoor's", *direct[:20])


def main():
    for mpi, c, fortran in (("openmpi", "MPICC", "MPIFC"), ("mpich", "MPICH_CC", "MPICH_FC")):
        compiler = mpich_programs.made(c)
        if not compiler:
            tap.skip(mpi, "it is not there")
            continue
        os.environ["SPOOR_TEST_MPI"] = mpi
        with tempfile.TemporaryDirectory(prefix="beside-t-") as folder:
            library = Library(mpi, compiler, mpich_programs.made(fortran), folder)
            tap.ok(not library.failed, f"{mpi}: all compiles", *library.failed)
            tools(library)
            answers(library)
            for look in (debugger, heaptrack):
                if wanted(f"{mpi}: {look.__name__}"):
                    look(library)
    tap.done()


main()
