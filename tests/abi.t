#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# abi - programs of the standard ABI of MPI 5 (libmpi_abi.so.0) are traced as exactly as those of other libraries
#
# The library is tests/abi/shim.py's, whose functions are MPICH's: so there are two MPI libraries in each process, and the
# one that the program calls is traced. The programs are those of tests/programs, compiled with preload/abi/standard/mpi.h.
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "preload"))
import launch  # noqa: E402
import tap  # noqa: E402
from generator import library  # noqa: E402

os.environ["SPOOR_TEST_MPI"] = "mpich"
PROGRAMS = os.path.join(tap.SOURCE, "tests/programs")
STANDARD = ["-I" + os.path.join(tap.SOURCE, "preload/abi/standard"), "-I" + os.path.join(tap.BUILD, "abi/standard")]
# Those of tests/mpich.t but old: MPI 5 has none of MPI-1's removed functions.
C = ("pt2pt", "farm", "halo", "collectives", "comms", "inter", "types", "objects", "errors", "windows", "many", "posted", "reuse")
WITH_FILE = ("files", "references", "shared")


def made(name):
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        m = re.search(rf"^{name} = (.*)", f.read(), re.M)
    return m.group(1) if m else ""


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)


def kinds(prototype):
    """The types of a function's parameters, in one spelling."""
    out = []
    for p in prototype.parameters:
        m = re.match(r"^(.*?)(\w+)((?:\[\w*\])*)$", p)
        kind = (m.group(1) + m.group(3).replace("[]", "*") if m else p).replace(" ", "")
        out.append(re.sub(r"_errhandler_fn\b", "_errhandler_function", kind))
    return out


def are_alike(ours, theirs):
    return len(ours) == len(theirs) and all(b in (a, a.removeprefix("const")) for a, b in zip(ours, theirs))


def header(cc, mpich_flags):
    """Our mpi.h: what it has that MPICH's has as well is the same, but that MPICH 4.0 and 4.2 lack some const; all of it has a wrapper."""
    ours, theirs = library.Library([cc], STANDARD, ["MPI_COMM_WORLD"]), library.Library([cc], mpich_flags, ["MPI_COMM_WORLD"])
    both = sorted(set(ours.prototypes) & set(theirs.prototypes))
    differ = [n for n in both if not are_alike(kinds(ours.prototypes[n]), kinds(theirs.prototypes[n]))]
    tap.ok(len(both) > 500 and not differ, f"{len(both)} functions have the parameters that they have in MPICH", *differ)
    done = run(sys.executable, os.path.join(tap.SOURCE, "preload/generate.py"), "--cc=" + cc, "--cppflags=" + " ".join(STANDARD), "--list")
    lines = done.stdout.splitlines()
    tap.ok(sum(line.endswith(" wrapped") for line in lines) > 560, "all functions of MPI 5 have a wrapper", done.stdout)
    tap.equal([line for line in lines if line.endswith(" missing")], [], "none is missing")


def compile_all(folder, cc, mpich_flags):
    """The library, the flat logger and the programs. Returns what was said."""
    done = run(sys.executable, os.path.join(tap.SOURCE, "tests/abi/shim.py"), "--build", tap.BUILD, "--cc", cc,
               "--mpich-cppflags=" + " ".join(mpich_flags), "--output", folder)
    said = done.stdout if done.returncode else ""
    options = [cc, "-std=gnu11", "-O1", "-g", "-w", *STANDARD]
    commands = [launch.flatlog_command(folder, cc, *STANDARD)]
    for name in (*C, *WITH_FILE, "threads", "random", "ends"):
        commands.append([*options, "-o", os.path.join(folder, name), os.path.join(PROGRAMS, name + ".c"), os.path.join(folder, "libmpi_abi.so.0"),
                         "-Wl,-rpath," + folder, "-lpthread"])
    for command in commands:
        done = run(*command)
        said += done.stdout if done.returncode else ""
    return said


def exact(folder, title, name, *options, arguments=(), ranks=4):
    done = run(sys.executable, os.path.join(tap.SOURCE, "tests/exact"), "-n", str(ranks), "--flatlog", os.path.join(folder, "flatlog.so"),
               "--timeout", "100", *options, "--", os.path.join(folder, name), *arguments)
    tap.ok(done.returncode == 0, f"{title}, {ranks} ranks", done.stdout[-3000:])


def fortran(folder, cc):
    """mpif.h: the standard's ABI has none, so the library is tests/abi/fortran.c, as MPICH's would be."""
    if not shutil.which("gfortran"):
        tap.skip("Fortran, mpif.h", "no Fortran compiler")
        return
    here, libraries = os.path.join(tap.SOURCE, "tests/abi"), [os.path.join(folder, "libmpi_abi.so.0"), "-Wl,-rpath," + folder]
    library_path = os.path.join(folder, "libmpifort_abi.so.0")
    done = run(cc, "-std=gnu11", "-O1", "-g", *STANDARD, "-fPIC", "-shared", "-Wl,-soname,libmpifort_abi.so.0", "-o", library_path,
               os.path.join(here, "fortran.c"), *libraries)
    more = run("gfortran", "-O1", "-g", "-o", os.path.join(folder, "ring"), os.path.join(here, "ring.f"), library_path, *libraries)
    if tap.ok(done.returncode == more.returncode == 0, "a Fortran library and a program compile", done.stdout, more.stdout):
        exact(folder, "Fortran, mpif.h", "ring")
    # an mpi_f08 for any library of this ABI can only call its C functions
    done = run("gfortran", "-O1", "-g", "-J" + folder, "-o", os.path.join(folder, "through"), os.path.join(here, "through.f90"), *libraries)
    if tap.ok(done.returncode == 0, "a Fortran module that calls the C functions compiles", done.stdout):
        exact(folder, "Fortran, through C", "through")


def same_as_open_mpi(folder):
    """The events of a program in which the library decides nothing."""
    traces, dumps = launch.dumps_of_both(folder)
    tap.ok(dumps[0] == dumps[1] and dumps[0][0].count("\n") > 100, "comms: the events are those under Open MPI",
           *(f"{a}\n{b}" for x, y in zip(*dumps) for a, b in zip(x.split("\n"), y.split("\n")) if a != b))
    shown = run(launch.spoor(), "show", "--json", traces[0]).stdout
    tap.ok('"5.0"' in shown and "MPICH Version: " in shown, "the metadata name the standard's and the library's version", shown)


def main():
    if not made("MPICH_CC"):
        tap.skip_all("spoor was built without MPICH")
    cc, mpich_flags = made("CC").split()[0], made("MPICH_CPPFLAGS").split()
    with tempfile.TemporaryDirectory(prefix="abi-") as folder:
        header(cc, mpich_flags)
        said = compile_all(folder, cc, mpich_flags)
        if not tap.ok(not said, "the library, the flat logger and the programs compile", said[-3000:]):
            tap.done()
        for name in C:
            exact(folder, name, name)
        for name in WITH_FILE:
            exact(folder, name, name, arguments=[os.path.join(folder, name + ".out")])
        exact(folder, "threads", "threads", "--unordered")
        exact(folder, "random program", "random", arguments=["5", "400"], ranks=3)
        exact(folder, "collectives with buffers", "collectives", "--buffers", ranks=6)
        exact(folder, "pt2pt, statuses ignored", "pt2pt", "--leave")
        exact(folder, "halo", "halo", ranks=16)
        exact(folder, "exit status 3", "ends", "--status", "3", arguments=["exit3"])
        fortran(folder, cc)
        same_as_open_mpi(folder)
    tap.done()


main()
