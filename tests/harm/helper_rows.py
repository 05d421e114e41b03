# SPDX-License-Identifier: BSD-3-Clause
"""helper_rows - rows of tests/harm.t: libraries that a tracer might ask, and that crash, hang, or answer nonsense

    PROGRAMS    more of rows.PROGRAMS
    ROWS        the arguments of each row: rows.Row(**row)
"""
CALLS = 85  # of mpi.c
MPICH = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"
PMIX = {"PMIX_NAMESPACE": "stand.in", "PMIX_RANK": "0"}  # as launchers leave it
SO = "-shared -fPIC"

PROGRAMS = {
    "libpmix.so.99": f"cc {SO} -Wl,-soname,libpmix.so.99 -o % pmix.c -lpthread",
    "mpich-pmix": "cc -Wl,--no-as-needed,-rpath,$ORIGIN -o % mpich.c @libpmix.so.99@ -l:libmpich.so.12",
    "mpich-names": "cc -rdynamic -o % mpich.c pmix.c -lpthread -l:libmpich.so.12",
    "papi.so": f"cc {SO} -w -o % papi.c -lpthread",
    "papi-lacks.so": f"cc {SO} -w -DLACKS -o % papi.c -lpthread",
    "papi-names": "mpicc -w -rdynamic -DNAMES -o % papi.c -lpthread",
    "tools.so": f"cc {SO} -DTOOLS -o % helpers.c",
    "qmpi.so": f"cc {SO} -DQMPI -o % helpers.c",
    "helpers.so": f"cc {SO} -o % helpers.c",
}

# What the stand-in for PAPI does: title, STAND_IN, what the trace says of PAPI_TOT_INS.
PAPI = [
    ("a PAPI library that crashes when it is loaded", "constructor=crash", "crashed when it was tried .signal 11."),
    ("a PAPI library that crashes when it is initialised", "library_init=crash", "crashed when it was tried .signal 11."),
    ("a PAPI library that crashes when it is read", "read=crash", "crashed when it was tried .signal 11."),
    ("a PAPI library that hangs when it is initialised", "library_init=hang", "was not done after 2 s when it was tried"),
    ("a PAPI library that hangs when it is read", "read=hang", "was not done after 2 s when it was tried"),
    ("a PAPI library that exits", "add_event=exit", "ended the process in which it was tried .status 77."),
    ("a PAPI library that prints", "library_init=print", "wrote to the standard output or error when it was tried"),
    ("a PAPI library that starts a thread", "start=thread", "started a thread, or changed how signals are handled"),
    ("a PAPI library that handles signals", "library_init=handler", "started a thread, or changed how signals are handled"),
    ("a PAPI library that writes beyond its values", "beyond", "wrote more values than it was asked for"),
    ("a PAPI library that is of a later version", "later", "cannot be initialised: of another version"),
    ("a PAPI library that has a version below 0", "negative", "cannot be initialised: an error"),
    ("a PAPI library that has no text for an error", "text of nothing", "counting cannot be started: unknown error"),
    ("a PAPI library that has a text for an error that is nowhere", "text nowhere", "counting cannot be started: unknown error"),
    ("a PAPI library that has a text for an error without an end", "text without end", "counting cannot be started: unknown error"),
    ("a PAPI library that has strange numbers for events and sets", "codes", ""),
    ("a PAPI library that counts nonsense", "values", ""),
]

ROWS = [
    *(dict(name=title, command="exec @mpich-pmix@", traces=1, calls=4, needs=MPICH, env={"STAND_IN": mode, **PMIX})
      for title, mode in (("a PMIx library that crashes", "crash"), ("a PMIx library that hangs", "hang"), ("a PMIx library that exits", "exit"),
                          ("a PMIx library that prints", "print"))),
    dict(name="a program with functions named as PMIx's", command="exec @mpich-names@", traces=1, calls=4, needs=MPICH, env={"STAND_IN": "crash", **PMIX}),
    *(dict(name=title, command="exec @mpi@", traces=1, calls=CALLS, papi="papi.so", env={"STAND_IN": mode}, says=says)
      for title, mode, says in PAPI),
    dict(name="a PAPI library that lacks a function", command="exec @mpi@", traces=1, calls=CALLS, papi="papi-lacks.so", says="libpapi lacks a function"),
    dict(name="a program with functions named as PAPI's", command="exec @papi-names@", traces=1, calls=CALLS, papi="papi.so",
         says="the program uses PAPI itself"),
    dict(name="functions named as MPI_T's, which crash", command="exec env LD_PRELOAD=@tools.so@:$LD_PRELOAD @mpi@", traces=1, calls=CALLS),
    dict(name="functions named as QMPI's, which crash", command="exec env LD_PRELOAD=@qmpi.so@:$LD_PRELOAD @mpich@", traces=None, needs=MPICH),
    dict(name="functions named as those of libdw and other helpers, which crash", command="exec env LD_PRELOAD=$LD_PRELOAD:@helpers.so@ @mpi@",
         traces=1, calls=CALLS),
    dict(name="functions named as those of helpers, before", command="exec env LD_PRELOAD=@helpers.so@:$LD_PRELOAD @mpi@", traces=1, calls=CALLS),
]
