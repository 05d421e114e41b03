# SPDX-License-Identifier: BSD-3-Clause
"""extreme_rows - rows of rows.py: what extremes.c does, and ways to link and to load it

    name, what extremes does, traces, whether MPICH does it without spoor
"""
SOURCES = "extremes.c extremes_threads.c extremes_handlers.c -lpthread"
LINKED = {
    "a stack that may be executed": "-Wl,-z,execstack",
    "no unwind information of its own": "-Wl,--no-eh-frame-hdr -fno-asynchronous-unwind-tables",
    "no symbols, relative relocations packed": "-s -Wl,-z,pack-relative-relocs",
    "gold": "-fuse-ld=gold",
    "-mcmodel=large": "-mcmodel=large",
    "pages of 2 MiB": "-Wl,-z,max-page-size=0x200000",
}
LINKERS = {"gold": "ld.gold"}  # Debian 13 has it no more
LOADED = {
    "no restartable sequences": "env GLIBC_TUNABLES=glibc.pthread.rseq=0",
    "no room for thread-local storage": "env GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0",
    "an allocator that fills what it gives": "env GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=85",
    "LD_BIND_NOT": "env LD_BIND_NOT=1",
    "LD_DYNAMIC_WEAK": "env LD_DYNAMIC_WEAK=1",
    "LD_PROFILE": "env LD_PROFILE=libmpi.so.40 LD_PROFILE_OUTPUT=$TMPDIR",
    "the loader as the program": "/lib64/ld-linux-x86-64.so.2 --inhibit-cache",
    "addresses below 4 GiB, as an old system has them": "setarch -B -3 -I -S",
}
WAYS = [
    ("in a thread, all of it", "in-thread", 1, True),
    ("in a thread, and main has ended before", "main-is-gone", 1, False),
    ("when a thread ends, by a key of before MPI_Init", "early-key", 1, True),
    ("when a thread ends, by a key of after MPI_Init", "late-key", 1, True),
    ("in 500 threads one after another", "many-threads", 1, True),
    ("in threads that are cancelled", "cancelled", 1, True),
    ("in eight threads on one processor", "one-processor", 1, True),
    ("in two threads of real time on one processor", "real-time", 1, True),
    ("exit while another thread is in it", "exit-in-thread", None, True),
    ("in a thread with files and a folder of its own", "own-files", 1, True),
    ("in threads of timers", "timer-threads", 1, True),
    ("in a thread by clone, with its maker's storage", "clone-thread", 1, True),
    ("in a thread by clone, with other storage", "clone-storage", 1, True),
    ("in a process that shares the memory", "clone-memory", 1, True),
    ("signals from before MPI_Init to after MPI_Finalize", "interrupted", 1, True),
    ("MPI_Init in a signal handler", "from-handler", 1, True),
    ("in 40 handlers, one inside of the other", "nested-handlers", 1, True),
    ("in a handler on a stack of 8 KiB", "small-stack", 1, True),
    ("handlers that start programs", "spawning-handler", 1, True),
    ("MPI_Recv is left by siglongjmp", "left-receive", None, False),
    ("stopped and continued", "stopped", 1, True),
    ("arrays that come to be when they are touched", "lazy-pages", 1, True),
    ("arrays and texts that end with their page", "page-ends", 1, True),
    ("MPI_Finalize at exit", "at-exit", 1, True),
    ("MPI_Finalize in a destructor", "destructor", 1, True),
    ("never finalized", "never-finalized", None, True),
    ("killed", "killed", None, True),
    ("main has replaced the environment", "no-environment", None, False),
    ("twice, by exec", "again", 2, True),
    ("initialized in a child", "child-initializes", None, True),
    ("MPI_Init on a stack of its own, which is gone then", "coroutine", 1, True),
]
PROGRAMS = {
    "extremes": f"mpicc -o % {SOURCES}",
    "extremes-mpich": f"mpicc.mpich -o % {SOURCES}",
    **{f"extremes-{i}": f"mpicc -o % {SOURCES} {options}" for i, options in enumerate(LINKED.values())},
}
ROWS = [
    *({"name": f"extremes: {name}", "command": f"exec @extremes@ {what}", "traces": traces} for name, what, traces, _ in WAYS),
    *({"name": f"extremes, MPICH: {name}", "command": f"exec @extremes-mpich@ {what}", "traces": traces, "needs": "mpicc.mpich"}
      for name, what, traces, both in WAYS if both),
    *({"name": f"extremes, linked: {name}", "command": f"exec @extremes-{i}@ all", "traces": 1, "needs": LINKERS.get(name, "")} for i, name in enumerate(LINKED)),
    *({"name": f"extremes, loaded: {name}", "command": f"exec {before} @extremes@ many-threads", "traces": 1} for name, before in LOADED.items()),
]
