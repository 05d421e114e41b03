# SPDX-License-Identifier: BSD-3-Clause
"""exercised - which wrapped functions the test programs call, by binding

    e = exercised.Exercised(folder)
    ... tests/exact --called e.file("C") ...     the names of what was called are collected in a file for each binding
    e.check()                                     prints the table; a test for each binding
"""
import os
import re

import tap

C, MPIF, F08 = "C", "mpif.h, `use mpi`", "mpi_f08"
BINDING = {"fixed": MPIF, "modern": MPIF, "more": MPIF, "rest": MPIF, "f08": F08, "more8": F08, "rest8": F08}  # programs; all others are C

# What no program run with the flat logger calls, and why. Patterns, each of which counts where the library has such a function; the reason is printed.
FAILED = {r"MPIX_Comm_(\w*failed|failure_\w+|i?agree|is_revoked|revoke|shrink)": "of ranks that fail, an extension of Open MPI 5"}
NEW = {r"MPI_(Session_\w+|Group_from_session_pset|Comm_create_from_group|Intercomm_create_from_groups|Comm_idup_with_info|Isendrecv\w*|Info_create_env|"
       r"Info_get_string|Pready\w*|Parrived|Psend_init|Precv_init)": "new in MPI 4.0: programs/four.c calls it in C"}
ELSEWHERE = {
    C: {**FAILED,
        r"MPI_Session_(\w*errhandler|get_info|get_nth_pset|get_pset_info|set_info)|MPI_Info_create_env|MPI_Intercomm_create_from_groups": "new in MPI 4.0",
        r"MPI_Comm_spawn(_multiple)?": "starts a world of its own: tests/spawn.t compares each with its flat log"},
    MPIF: {**FAILED, **NEW,
           r"MPI_Comm_spawn(_multiple)?": "the flat logger does not know it in Fortran: tests/spawn.t has its lines",
           r"MPI_Abort": "ends the program: tests/same.t",
           r"MPI_Comm_join": "takes a socket of C's",
           r"MPI_Register_datarep": "takes functions with C's pointers"},
    F08: {**FAILED, **NEW,
          r"MPI_Comm_spawn(_multiple)?": "the flat logger does not know it in Fortran: tests/spawn.t has its lines",
          r"MPI_Abort": "ends the program: tests/same.t",
          r"MPI_Comm_join": "takes a socket of C's",
          r"MPI_Register_datarep": "takes functions with C's pointers",
          r"MPI_(Address|Attr_\w+|Keyval_\w+|Errhandler_(create|get|set)|Type_(extent|lb|ub|struct|hvector|hindexed))":
              "older than the binding"},
}


class Exercised:
    def __init__(self, folder):
        self.folder = folder

    def file(self, binding):
        return os.path.join(self.folder, "called." + re.sub(r"\W", "_", binding))

    def called(self, binding):
        try:
            with open(self.file(binding), encoding="ascii") as f:
                return set(f.read().split())
        except OSError:
            return set()

    def check(self):
        with open(os.path.join(tap.BUILD, "preload", "coverage.list"), encoding="ascii") as f:
            wrapped = {name for name, _, state in (line.rstrip("\n").partition(" ") for line in f) if state == "wrapped"}
        table = []
        for binding, elsewhere in ELSEWHERE.items():
            called = self.called(binding)
            if not called and binding != C:
                tap.skip(f"{binding}: each wrapped function is called by a program", "no Fortran compiler")
                continue
            left = wrapped - called
            reasons = {n: why for n in left for pattern, why in elsewhere.items() if re.fullmatch(pattern, n)}
            tap.ok(not left - set(reasons), f"{binding}: each wrapped function is called by a program and compared, or there is a reason",
                   "called by none, and not in tests/exercised.py:", *sorted(left - set(reasons)))
            there = [p for p in elsewhere if any(re.fullmatch(p, n) for n in wrapped)]
            stale = [p for p in there if not any(re.fullmatch(p, n) for n in left)]
            tap.ok(not stale, f"{binding}: no reason is out of date", *stale)
            table.append((binding, len(wrapped), len(called & wrapped), reasons))
        print("#\n# binding              wrapped    called   not called")
        for binding, total, count, reasons in table:
            print(f"# {binding:20} {total:7} {count:9} {len(reasons):12}")
        for binding, _, _, reasons in table:
            for reason in sorted(set(reasons.values())):
                print(f"# {binding}: {reason}: {' '.join(sorted(n for n, why in reasons.items() if why == reason))}")
