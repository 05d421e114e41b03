#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# flatlog - the judge is judged: its log of a small program is what was written down by hand, and it knows every MPI function
import collections
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import launch  # noqa: E402

FLATLOG = os.path.join(tap.BUILD, "tests/flatlog/flatlog.so")

# What is not an event (doc/events.md, rule 6), the tools interface, and what starts other programs.
UNKNOWN = re.compile(r"""MPI_(Wtime|Wtick|Aint_add|Aint_diff|\w+_[fc]2[cf]|Status_(f082f|f2f08|c2f08|f082c)|T_\w+
    |\w+_FN|CONVERSION_FN_NULL|\w+_F90)$""", re.VERBOSE)


def defined(path):
    """The functions that a shared library defines for others."""
    lines = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {m[1] for m in re.finditer(r"^\S+ [TW] (\w+)", lines, re.MULTILINE)}


def loaded(path, name):
    """The file of the library `name` that path is linked with."""
    lines = subprocess.run(["ldd", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    m = re.search(rf"{name}\S* => (\S+)", lines)
    return m and m[1]


def check_log(program, ranks, title):
    with tempfile.TemporaryDirectory() as folder:
        done = launch.mpirun(ranks, [os.path.join(tap.BUILD, program)], flatlog=FLATLOG, folder=folder)
        tap.equal(done.returncode, 0, f"{title}: the program ends with status 0")
        for rank in range(ranks):
            with open(os.path.join(tap.SOURCE, f"tests/flatlog/sample.{rank}"), encoding="utf-8") as f:
                expected = f.read()
            path = os.path.join(folder, f"{rank}.log")
            got = ""
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    got = f.read()
            wrong = [f"got      {g}\nexpected {e}" for g, e in zip(got.splitlines(), expected.splitlines()) if g != e]
            tap.ok(got == expected, f"{title}: rank {rank} is what was written by hand", *wrong[:3],
                   f"{len(got.splitlines())} lines, expected {len(expected.splitlines())}")


def check_counts(program, ranks, title):
    """Instead of lines: how often each function was called."""
    with tempfile.TemporaryDirectory() as folder:
        done = launch.mpirun(ranks, [os.path.join(tap.BUILD, program)], flatlog=FLATLOG, environment={"FLATLOG_COUNTS": folder})
        tap.equal(done.returncode, 0, f"{title}: counted, it ends with status 0")
        for rank in range(ranks):
            with open(os.path.join(tap.SOURCE, f"tests/flatlog/sample.{rank}"), encoding="utf-8") as f:
                expected = collections.Counter(line.split()[1] for line in f)
            tap.equal(launch.counts(folder, rank), expected, f"{title}: rank {rank} has so many calls of each function")


# A spoor that lies: it dumps the flat log, with the change that the sed script in the file `lie` beside it makes to rank 1.
LIAR = r"""#!/bin/sh
case $1 in
run)
	while [ "$1" != -- ]; do [ "$1" = -o ] && : >"$2"; shift; done
	shift
	exec "$@" ;;
dump)
	[ "$3" != --count ] || { echo '0: x'; echo '1: x'; exit; }
	script=
	[ "$4" != 1 ] || script=$(cat "${0%/*}/lie")
	exec sed "$script" "${2%/*}/flat/$4.log" ;;
esac
"""


def check_exact(title, lie, status, said):
    """tests/exact finds this lie."""
    with tempfile.TemporaryDirectory() as folder:
        liar = os.path.join(folder, "spoor")
        with open(liar, "w", encoding="ascii") as f:
            f.write(LIAR)
        os.chmod(liar, 0o755)
        with open(os.path.join(folder, "lie"), "w", encoding="ascii") as f:
            f.write(lie)
        done = subprocess.run([sys.executable, os.path.join(tap.SOURCE, "tests/exact"), "-n", "2", "--spoor", liar, "--",
                               os.path.join(tap.BUILD, "tests/flatlog/sample")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        tap.ok(done.returncode == status and re.search(said, done.stdout), f"exact: {title}",
               f"status {done.returncode}, expected {status}", f"no match for {said} in:", done.stdout)


def main():
    flatlog = defined(FLATLOG)
    tap.ok("MPI_Send" in flatlog and "mpi_send_" in flatlog, "it defines C's and Fortran's functions")
    library = loaded(FLATLOG, "libmpi.so")
    every = {f for f in defined(library) if f.startswith("MPI_") and not UNKNOWN.match(f)}
    tap.ok(len(every) > 300, "Open MPI's functions are found")
    tap.equal(sorted(every - flatlog), [], "it knows every function of MPI-3.1 that is an event")
    tap.equal(sorted({f for f in flatlog if f.startswith("MPI_") and not f.isupper()} - defined(library)), [], "it invents no function")
    fortran = [f for f in flatlog if f.startswith("MPI_") and f.lower() + "_" not in flatlog]
    tap.equal(sorted(fortran), ["MPI_Comm_spawn", "MPI_Comm_spawn_multiple"], "what it knows in C it knows in Fortran, but MPI_Comm_spawn")
    check_log("tests/flatlog/sample", 2, "sample")
    check_counts("tests/flatlog/sample", 2, "sample")
    check_exact("equal", "", 0, "2 ranks, 90 events, all equal")
    check_exact("one value", "5s/tag=MPI_ANY_TAG/tag=0/; 6s/tag=MPI_ANY_TAG/tag=0/", 1, "rank 1: line 5: differs in tag\n")
    check_exact("a line is missing", "20d", 1, "rank 1: line 19: another (call|sequence)")
    check_exact("the end is missing", "$d", 1, "rank 1: line 43: one ends here")
    check_exact("a line too many", "$p", 1, "rank 1: line 44: one ends here")
    check_exact("another order", "8s/\\(tag=[0-9]*\\) \\(comm=[^ ]*\\)/\\2 \\1/", 1, "rank 1: line 7: another order of parameters")
    tap.done()


if __name__ == "__main__":
    main()
