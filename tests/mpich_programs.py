# SPDX-License-Identifier: BSD-3-Clause
"""mpich_programs - the programs of tests/programs, and the flat logger, compiled with MPICH's wrappers

    python3 tests/mpich_programs.py FOLDER      compiles them; says which there are: name, "many" if also of 16 ranks, an option of tests/exact or -,
                                                arguments
"""
import os
import re
import subprocess
import sys

import launch

PROGRAMS = launch.PROGRAMS
ALL = os.environ.get("SPOOR_TEST_ALL") == "1"  # at 16 ranks all of them, which takes minutes

# Not here, since MPICH 4.0 cannot run them, traced or not: persistent (waits for ever), names (ports, which UCX has not), buffers and nulls (null
# pointers), more8 (MPI_Dist_graph_neighbors_count of mpi_f08); pcoll and rest call Open MPI's MPIX functions.
C = ("pt2pt", "farm", "four", "halo", "collectives", "comms", "inter", "types", "objects", "errors", "windows", "many", "old", "posted", "reuse")
WITH_FILE = ("files", "references", "shared")
FORTRAN = {"fixed": "fixed.f", "modern": "modern.f90", "more": "more.F90", "f08": "f08.f90"}
# Its mpi_f08 counts the indices of completed requests from 0: no program can use them.
WRONG_IN_F08 = "call completion\n"
# Of 16 ranks, too.
MANY = (*C, *WITH_FILE, "threads", *FORTRAN) if ALL else ("types", "halo", "objects", "fixed")


def made(name):
    with open(os.path.join(launch.BUILD, "Makefile"), encoding="utf-8") as f:
        m = re.search(rf"^{name} = (\S+)", f.read(), re.M)
    return m.group(1) if m else ""


def compile_all(folder, cc, fc):
    """Compiles the programs and the flat logger, two at a time. Returns what the compilers said."""
    commands = [launch.flatlog_command(folder, cc)]
    for name in (*C, *WITH_FILE, "threads", "random", "ends"):
        commands.append([cc, "-std=gnu11", "-O1", "-g", "-w", "-o", os.path.join(folder, name), os.path.join(PROGRAMS, name + ".c"), "-lpthread"])
    for name, source in FORTRAN.items() if fc else ():
        path = os.path.join(PROGRAMS, source)
        if name == "f08":
            with open(path, encoding="utf-8") as f:
                text = f.read().replace(WRONG_IN_F08, "\n")
            path = os.path.join(folder, source)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        commands.append([fc, "-O1", "-g", "-w", "-fallow-argument-mismatch", *["-ffree-line-length-none"] * (name != "fixed"),
                         "-J" + folder, "-o", os.path.join(folder, name), path])
    running, said = [], ""
    for command in commands + [None, None]:
        while len(running) > (1 if command else 0):
            process = running.pop(0)
            said += process.communicate()[0].decode(errors="replace") if process.wait() else ""
        if command:
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    return said


def words_of(name, folder):
    """What tests/exact is told of a program, and the program's arguments."""
    file = [os.path.join(folder, name + ".out")] if name in WITH_FILE or name in ("more", "f08") else []
    return (["--unordered"] if name == "threads" else []), file


def main():
    folder = sys.argv[1]
    said = compile_all(folder, made("MPICH_CC"), made("MPICH_FC"))
    if said:
        sys.exit(said)
    for name in (*C, *WITH_FILE, "threads", *(FORTRAN if made("MPICH_FC") else ())):
        options, arguments = words_of(name, folder)
        print(name, "many" if name in MANY else "few", *options or "-", *arguments)


if __name__ == "__main__":
    main()
