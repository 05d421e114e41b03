#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# mpi41 - the tracer as it is with a library that has all of MPI 4.1: it compiles, links, and records what is new
#
# The header is tests/mpi41/mpi.h, which adds to that of a library of MPI 3.1; functions behind it are in tests/mpi41/stub.c, and do
# nothing if they are not there. Other tests run what a library has of MPI 4 itself.
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

HERE = os.path.join(tap.SOURCE, "tests", "mpi41")
PROTOTYPE = re.compile(r"^(int|MPI_Fint|MPI_Session) (MPI_\w+)\(([^;]*)\);", re.M)


def make_variable(name):
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        m = re.search(rf"^{name} = (.*)$", f.read(), re.M)
    return m.group(1) if m else ""


CC = shlex.split(make_variable("CC")) or ["cc"]
MPI = shlex.split(make_variable("MPI_CPPFLAGS"))


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False, **options)


def stubs(folder):
    """Compiles the library of stubs. Returns its path and what went wrong."""
    with open(os.path.join(HERE, "stub.c"), encoding="ascii") as f:
        written = set(re.findall(r"^DEFINE\(\w+, (MPI_\w+)", f.read(), re.M))
    with open(os.path.join(HERE, "mpi.h"), encoding="ascii") as f:
        prototypes = PROTOTYPE.findall(f.read())
    text = '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <mpi.h>\n'
    text += "void *mpi41_next(const char *name) { return dlsym(RTLD_NEXT, name); }\n"
    for result, name, parameters in prototypes:
        if name not in written:
            value = "MPI_SESSION_NULL" if result == "MPI_Session" else "0"
            text += (f'{result} {name}({parameters}) __attribute__((weak, alias("P{name}")));\n'
                     f"{result} P{name}({parameters}) {{ return {value}; }}\n")
    source, library = os.path.join(folder, "stubs.c"), os.path.join(folder, "libstubs.so")
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    done = run(*CC, "-shared", "-fPIC", "-I" + HERE, *MPI, "-o", library, source, os.path.join(HERE, "stub.c"), "-ldl")
    return library, done.stdout if done.returncode else "", len(prototypes)


def tracer(folder):
    """Generates and compiles the tracer. Returns its path and what went wrong."""
    preload = os.path.join(folder, "preload")
    done = run(sys.executable, os.path.join(tap.SOURCE, "preload/generate.py"), "--cc=" + shlex.join(CC),
               "--cppflags=" + shlex.join(["-I" + HERE, *MPI]), "--output=" + preload)
    if done.returncode or done.stdout:
        return None, done.stdout
    with open(os.path.join(tap.SOURCE, "preload/Makemodule.am"), encoding="utf-8") as f:
        listed = re.search(r"PRELOAD_SOURCES = (.*?)\n\n", f.read(), re.S).group(1)
    sources = [os.path.join(tap.SOURCE, name) for name in re.findall(r"\S+\.c\b", listed)]
    sources += [made for made in glob.glob(preload + "/*.c") if os.path.basename(made) != "calls.c"]  # tracer.c includes it
    flags = ["-std=gnu11", "-O1", "-fPIC", "-fexceptions", "-fvisibility=hidden", "-ftls-model=initial-exec", "-Wall", "-Wextra", "-Werror",
             "-Wno-deprecated-declarations", "-I" + folder, "-I" + tap.SOURCE, "-I" + tap.BUILD, "-include", "config.h", "-I" + HERE, *MPI]
    library = os.path.join(folder, "libspoor-openmpi.so")
    objects = []
    for source in sources:
        objects.append(os.path.join(folder, os.path.basename(source) + ".o"))
        done = run(*CC, *flags, "-c", "-o", objects[-1], source)
        if done.returncode:
            return None, done.stdout
    archives = [os.path.join(tap.BUILD, f".libs/lib{name}.a") for name in ("tracer", "merge", "own")]
    done = run(*CC, "-shared", "-nostdlib", "-o", library, *objects, *archives, "-lgcc", "-Wl,-z,defs",
               "-Wl,--version-script=" + os.path.join(tap.SOURCE, "preload/tracer.map"))
    gate = os.path.join(folder, os.path.basename(launch.preload()))  # it opens the tracer that is beside it
    os.symlink(launch.preload(), gate)
    return gate if done.returncode == 0 else None, done.stdout


def main():
    if "MPI_Session_init" in run(*CC, *MPI, "-E", "-include", "mpi.h", "-xc", os.devnull).stdout:
        tap.skip_all("this Open MPI has what MPI 4.0 added")
    with tempfile.TemporaryDirectory(prefix="mpi41-") as folder:
        library, said, declared = stubs(folder)
        tap.ok(declared > 220 and not said, f"a library with the {declared} functions that MPI 4.0 and 4.1 added", said)
        done = run(sys.executable, os.path.join(tap.SOURCE, "preload/generate.py"), "--cc=" + shlex.join(CC),
                   "--cppflags=" + shlex.join(["-I" + HERE, *MPI]), "--list")
        lines = done.stdout.split("\n")
        wrapped = [n for n in lines if n.endswith(" wrapped")]
        tap.ok(len(wrapped) > 600, f"{len(wrapped)} functions are wrapped")
        tap.equal([n for n in lines if n.endswith(" missing")], [], "none is missing")
        preload, said = tracer(folder)
        if not tap.ok(preload, "the tracer compiles and links", said):
            tap.done()
            return
        program = os.path.join(folder, "program")
        done = run(*CC, "-I" + HERE, *MPI, "-o", program, os.path.join(HERE, "program.c"), library, "-Wl,-rpath," + folder,
                   *shlex.split(run(make_variable("MPICC"), "--showme:link").stdout))
        tap.ok(done.returncode == 0, "so does a program", done.stdout)
        for mode in ("world", "sessions"):
            trace = os.path.join(folder, mode + ".spoor")
            environment = {"SPOOR_PRELOAD": preload, "TMPDIR": folder, **({"MPI41_SESSIONS": "1"} if mode == "sessions" else {})}
            done = launch.mpirun(1, [program, mode], before=[launch.spoor(), "run", "-o", trace, "--"], environment=environment)
            tap.equal((done.returncode, done.stdout), (0, b"done\n"), f"{mode}: the program runs as ever")
            dump = run(launch.spoor(), "dump", trace)
            with open(os.path.join(HERE, mode + ".dump"), encoding="ascii") as f:
                tap.equal(dump.stdout.split("\n"), f.read().split("\n"), f"{mode}: the trace is exact")
    tap.done()


if __name__ == "__main__":
    main()
