# SPDX-License-Identifier: BSD-3-Clause
"""rows - the table of tests/harm.t: kinds of processes, and how many traces each leaves; and their programs, for tests/harm-srun.t, too

    Row(name, command, traces)    what sh runs, in a folder of its own; @NAME@ is a program of PROGRAMS, built when it is first needed, @spool@ the spool

The command runs without and with spoor. What it writes to stdout and stderr, its exit status, and the files that it makes must be equal.

    rows.py FOLDER NAME...        builds programs in a folder, and prints the name and path of each that could be built
"""
import concurrent.futures
import dataclasses
import glob
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import extreme_rows  # noqa: E402
import helper_rows  # noqa: E402
import launch  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
USER = 65123  # of nobody's: limits count the processes of a user
TIME = 150     # seconds for a row
LATE = f"more than {TIME} s"
OPENMPI = {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_ess_singleton_isolated": "1"}  # without a daemon for a process that runs alone

# Debian 12's libraries, or those of Debian 13
IPOPT = "/usr/lib/libipopt.so.1" if os.path.exists("/usr/lib/libipopt.so.1") else f"{LIBRARIES}/libipopt.so.3"
MUMPS_RELEASE = "5.5" if os.path.exists(f"{LIBRARIES}/libmpiseq_seq-5.5.so") else "5.7"
MUMPS = f"{LIBRARIES}/libmpiseq_seq-{MUMPS_RELEASE}.so"

# What is built, how: % is the place of the result, other words of the form @NAME@ are built before.
SO = "-shared -fPIC"
PROGRAMS = {
    "plain": "cc -o % plain.c -lpthread",
    "mpi": "mpicc -o % mpi.c",
    "early.so": f"mpicc {SO} -DPLUGIN -DEARLY=run -o % mpi.c",
    "early": "cc -o % plain.c -Wl,--no-as-needed @early.so@",
    "begun.so": f"mpicc {SO} -DPLUGIN -DEARLY=begin -o % mpi.c",
    "begun": "mpicc -o % mpi.c -Wl,--no-as-needed @begun.so@",
    "constructor": "mpicc -DEARLY=begin -o % mpi.c",
    "table.so": f"mpicc {SO} -DPLUGIN -DTABLE -o % mpi.c",
    "table-linked": "cc -o % caller.c @table.so@",
    "storage.so": f"cc {SO} -o % storage.c",
    "storm": "mpicc -o % storm.c -lpthread",
    "strangers": "mpicc -o % ../programs/strangers.c -lpthread",
    "mpi-malloc": "mpicc -o % mpi.c malloc.c -lpthread",
    "plain-malloc": "cc -o % plain.c malloc.c -lpthread",
    "mpi-gcov": "mpicc --coverage -o % mpi.c",
    "mpi-openmp": "mpicc -fopenmp -o % mpi.c",
    "mpi.so": f"mpicc {SO} -DPLUGIN -o % mpi.c",
    "stub.so": f"cc {SO} -o % stub.c",
    "user": "cc -o % user.c @stub.so@",
    "user.so": f"cc {SO} -DPLUGIN -o % user.c @stub.so@",
    "user-inside": "cc -o % user.c stub.c",
    "user-exported": "cc -rdynamic -o % user.c stub.c",
    "profiled.so": f"cc {SO} -DPROFILED -o % stub.c",
    "user-profiled": "cc -o % user.c @profiled.so@",
    "both-profiled.so": f"cc {SO} -DPLUGIN -DPROFILED -Wl,-Bsymbolic -o % user.c stub.c",
    "both.so": f"cc {SO} -DPLUGIN -Wl,-Bsymbolic -o % user.c stub.c",
    "opener-mpi": "mpicc -DWITH_MPI -o % opener.c",
    **{f"stub{s}.so": f"cc {SO} -DFORTRAN=SPELL{s} -o % stub.c" for s in ("", "_", "__", "_UPPER") if s},
    "stub0.so": f"cc {SO} -DFORTRAN=SPELL -o % stub.c",
    **{f"user{s}": f"cc -DFORTRAN=SPELL{s} -o % user.c @stub{s}.so@" for s in ("_", "__", "_UPPER")},
    "user0": "cc -DFORTRAN=SPELL -o % user.c @stub0.so@",
    "stubf.so": f"gfortran {SO} -o % stub.f90",
    "userf": "gfortran -o % user.f90 @stubf.so@",
    "stubff.so": f"gfortran {SO} -fsecond-underscore -o % stub.f90",
    "userff": "gfortran -fsecond-underscore -o % user.f90 @stubff.so@",
    "stubfn.so": f"gfortran {SO} -fno-underscoring -o % stub.f90",
    "userfn": "gfortran -fno-underscoring -o % user.f90 @stubfn.so@",
    "mumps": f"cc -o % mumps.c -l:libdmumps_seq-{MUMPS_RELEASE}.so -l:{os.path.basename(MUMPS)}",
    "mumps-mpi": f"mpicc -DWITH_MPI -o % mumps.c -lmpi -l:libdmumps_seq-{MUMPS_RELEASE}.so -l:{os.path.basename(MUMPS)}",
    "ipopt": f"cc -o % ipopt.c -l:{os.path.basename(IPOPT)} -lm",
    "ipopt-mpi": f"mpicc -DWITH_MPI -o % ipopt.c -lmpi -l:{os.path.basename(IPOPT)} -lm",
    "asks": "cc -o % asks.c",
    "asks-mpi": "mpicc -DWITH_MPI -o % asks.c",
    "asks-fortran": "mpicc -DWITH_MPI -o % asks.c -Wl,--no-as-needed -lmpi_mpifh",
    "weak": "cc -o % weak.c",
    "weak-mpi": "mpicc -DWITH_MPI -o % weak.c",
    "own.so": f"cc {SO} -o % own.c",
    "own": "cc -DMAIN -o % own.c @own.so@",
    "own-mpi": "mpicc -DMAIN -DWITH_MPI -o % own.c @own.so@",
    "opener": "cc -rdynamic -o % opener.c",
    "registers.so": f"mpicc {SO} -DPLUGIN -DREGISTERS -o % mpi.c",
    "symbolic.so": f"mpicc {SO} -DPLUGIN -Wl,-Bsymbolic -o % mpi.c",
    "mpi-now": "mpicc -Wl,-z,now,-z,relro -o % mpi.c",
    "mpi-lazy": "mpicc -Wl,-z,lazy,-z,norelro -o % mpi.c",
    "mpi-fixed": "mpicc -no-pie -o % mpi.c",
    "mpi-noplt": "mpicc -fno-plt -Wl,--hash-style=sysv -o % mpi.c",
    "mpi-table": "mpicc -DTABLE -o % mpi.c",
    "mpi-table-fixed": "mpicc -DTABLE -no-pie -o % mpi.c",
    "mpich": "cc -o % mpich.c -l:libmpich.so.12",
    "mpich.so": f"cc {SO} -DPLUGIN -o % mpich.c -l:libmpich.so.12",
    **helper_rows.PROGRAMS,
    **extreme_rows.PROGRAMS,
    "leaves": "mpicxx -w -o % leaves.cc -lpthread",
    "leaves-mpich": "mpicxx.mpich -w -o % leaves.cc -lpthread",
    "stacks": "mpicc -o % stacks.c -lpthread",
    "children": "mpicc -o % children.c",
    "descriptors": "mpicc -o % descriptors.c",
    "self": "mpicc -o % self.c -lm",
    "strict": "mpicc -o % strict.c",
    "strict-mpich": "mpicc.mpich -o % strict.c",
    "keys-mpich": "mpicc.mpich -o % keys.c",
    "filter": "cc -o % filter.c",
    "tiny": "cc -m32 -ffreestanding -fno-stack-protector -nostdlib -pie -fPIE -Wl,--dynamic-linker=/lib/ld-linux.so.2 -o % tiny.c",
    "audit.so": f"cc {SO} -o % audit.c",
    "init": "c++ -std=c++17 -O1 -o % init.cc -lpthread",
    "init-mpi": "mpicxx -std=c++17 -O1 -DWITH_MPI -o % init.cc -lpthread",
    "static": "cc -static -o % plain.c -lpthread",
    "static-pie": "cc -static-pie -o % plain.c -lpthread",
    "musl": "musl-gcc -o % plain.c",
    "musl-mpi.so": f"musl-gcc {SO} -DPROFILED -o % stub.c",
    "musl-mpi": "musl-gcc -o % user.c @musl-mpi.so@",
    "musl-static": "musl-gcc -static -o % plain.c",
    "musl-static-pie": "musl-gcc -static-pie -fPIE -o % plain.c",
    "musl-iterates": "musl-gcc -rdynamic -o % iterates.c",
    "musl-globals": "musl-gcc -rdynamic -fno-builtin -w -o % globals.c",
    "musl-numbers": "musl-gcc -rdynamic -fno-builtin -w -DNUMBERS -o % globals.c",
    "musl-named.so": f"musl-gcc {SO} -fno-builtin -w -o % named.c",
    "musl-named": "musl-gcc -o % plain.c -Wl,--no-as-needed @musl-named.so@",
    **{f"bits32{name}": f"cc -m32 {flags} -o % plain.c -lpthread" for name, flags in
       (("", ""), ("-static", "-static"), ("-static-pie", "-static-pie"), ("-now", "-Wl,-z,now -fno-plt -Wl,--hash-style=sysv"))},
    "bits32-named.so": f"cc -m32 {SO} -fno-builtin -w -o % named.c",
    "bits32-named": "cc -m32 -o % plain.c -lpthread -Wl,--no-as-needed @bits32-named.so@",
    "bits32-globals": "cc -m32 -rdynamic -fno-builtin -w -o % globals.c",
    "bits32-iterates": "cc -m32 -rdynamic -o % iterates.c",
    "bits32-starts": "cc -m32 -o % starts.c",
    "starts": "cc -o % starts.c",
    "older": "python3 older.py % @plain@",
    "asan": "cc -fsanitize=address -o % plain.c -lpthread",
    "asan-mpi": "mpicc -fsanitize=address -o % mpi.c",
    "asan-clang": "clang -fsanitize=address -o % plain.c -lpthread",
    "ubsan": "cc -fsanitize=undefined -o % plain.c -lpthread",
    "tsan": "cc -fsanitize=thread -o % plain.c -lpthread",
    "tsan-clang": "clang -fsanitize=thread -o % plain.c -lpthread",
    "msan-clang": "clang -fsanitize=memory -o % plain.c -lpthread",
    "ubsan-clang": "clang -fsanitize=undefined -o % plain.c -lpthread",
    "iterates": "cc -rdynamic -o % iterates.c",
    "globals": "cc -rdynamic -fno-builtin -w -o % globals.c",
    "globals-numbers": "cc -rdynamic -fno-builtin -w -DNUMBERS -o % globals.c",
    "named.so": f"cc {SO} -fno-builtin -w -o % named.c",
    "named": "cc -o % plain.c -lpthread -Wl,--no-as-needed @named.so@",
    "named-mpi": "mpicc -o % mpi.c -Wl,--no-as-needed @named.so@",
    "named-more.so": f"cc {SO} -fno-builtin -w -DMORE -o % named.c",
    "named-more": "cc -o % globals.c -w -fno-builtin -Wl,--no-as-needed @named-more.so@",
    "locks.so": f"cc {SO} -o % locks.c -lpthread",
    "aligns": "cc -o % aligns.c",
    "jemalloc": "cc -o % plain.c -lpthread -Wl,--no-as-needed -l:libjemalloc.so.2",
    "tcmalloc": "cc -o % plain.c -lpthread -Wl,--no-as-needed -l:libtcmalloc_minimal.so.4",
    "tcmalloc-mpi": "mpicc -o % mpi.c -Wl,--no-as-needed -l:libtcmalloc_minimal.so.4",
}
TOOL = os.path.join(tap.BUILD, "tests/tools/tool.so")
EATMYDATA = f"{LIBRARIES}/libeatmydata.so"
ASAN, LSAN, TSAN, UBSAN = (f"{LIBRARIES}/{name}" for name in ("libasan.so.8", "liblsan.so.0", "libtsan.so.2", "libubsan.so.1"))
JEMALLOC, TCMALLOC = f"{LIBRARIES}/libjemalloc.so.2", f"{LIBRARIES}/libtcmalloc_minimal.so.4"
LIBC32 = "/usr/lib32/libc.so"  # to compile programs of 32 bits
RMPI = "/usr/lib/R/site-library/Rmpi"
MPI4PY, PYTHON = "/usr/lib/python3/dist-packages/mpi4py", "/usr/bin/python3"
MPICH = helper_rows.MPICH

# System calls that few programs make: membarrier, fallocate, msync, perf_event_open, process_vm_readv and _writev, memfd_create, userfaultfd, pkey_alloc
EXOTIC = "324 285 26 298 310 311 319 323 330"
PROCESSES = 'n=0; i=0; while [ $i -lt 3000 ]; do /bin/true && n=$((n + 1)); i=$((i + 1)); done; echo $n'
PID = r"\[\w+:\d+\]", "[N]"  # as Open MPI begins its lines
UCX = r"\[\d+\.\d+\] \[[\w.-]+:\d+:\d+\]", "[N]"  # and UCX: the time, too
AS_ROOT = ("user", "chroot", "lock")
HEX = (r"0x[0-9a-f]+", "0x"), (r"\b(process|LWP|pid:?) \d+", "N")


@dataclasses.dataclass
class Row:
    """One kind of process."""
    name: str
    command: str
    traces: int | None = 0   # None: whether it is traced is not said
    calls: int | None = None # that one trace has
    needs: str = ""          # a path or a command without which the row is skipped
    before: str = ""         # other libraries that are preloaded, before spoor
    behind: str = ""
    env: dict = dataclasses.field(default_factory=dict)
    spool: str = ""          # full, small, readonly, missing
    blur: tuple = ()         # what differs from run to run: (pattern, what is put for it)
    root: bool = False       # needs root
    user: bool = False       # if root runs the test: as a user who has no other processes
    papi: str = ""           # the program that is found as libpapi; with spoor, instructions are to be counted
    finds: bool = False      # the loader finds the gate by the kind of program, as when spoor is installed
    says: str = ""           # a pattern for what the trace says of itself, as JSON


CALLS = helper_rows.CALLS

# What a program does to itself between its calls: self.c
# How a callback does not return, and which.
WAYS_OUT = [("siglongjmp out of", "jump"), ("an exception out of", "throw"), ("a thread ends in", "exit"), ("a thread is cancelled in", "cancelled"), ("fork in", "fork")]
CALLBACKS = [("an error handler", "error"), ("a callback that copies an attribute", "copy"), ("a callback that deletes an attribute", "delete"), ("an operation", "op"),
             ("a signal handler in an operation", "signal"), ("a generalised request's query", "query"), ("a generalised request's end", "free"),
             ("a generalised request's cancellation", "cancel")]
# MPICH keeps its lock.
STUCK = {("leaves-mpich", how, where) for how in ("exit", "cancelled") for where in ("error", "free", "cancel")}
MIDDLE = [
    ("nothing", "nothing", 1), ("becomes another user", "user", None), ("chroot into an empty folder", "chroot", None), ("umask 777", "umask", None),
    ("no environment", "environment", 1), ("its arguments overwritten", "title", 1), ("a timer that interrupts everything", "timer", 1),
    ("floating-point exceptions are signals", "exceptions", 1), ("another rounding", "rounding", 1), ("all memory locked", "lock", 1),
    ("not dumpable", "dumpable", 1), ("a daemon", "daemon", None), ("limit of files' size", "size", None), ("limit of memory", "memory", None),
    ("limit of open files", "files", None), ("all signals blocked", "signals", 1)]

ROWS = [
    # MPI that is no MPI
    Row("a sequential stub, linked", "exec @user@"),
    Row("a sequential stub in the program", "exec @user-inside@"),
    Row("a sequential stub in the program, exported", "exec @user-exported@"),
    Row("a sequential stub in a library opened with RTLD_LOCAL", "exec @opener@ local @user.so@"),
    Row("a sequential stub in a library opened with RTLD_DEEPBIND", "exec @opener@ deep @user.so@"),
    Row("a sequential stub in a Python module", f"{PYTHON} -c 'import ctypes; print(ctypes.CDLL(\"@user.so@\").run())'", needs=PYTHON),
    Row("a stub in Fortran, mpi_x_", "exec @user_@"),
    Row("a stub in Fortran, mpi_x", "exec @user0@"),
    Row("a stub in Fortran, mpi_x__", "exec @user__@"),
    Row("a stub in Fortran, MPI_X", "exec @user_UPPER@"),
    Row("a stub by gfortran", "exec @userf@", needs="gfortran"),
    Row("a stub by gfortran, -fsecond-underscore", "exec @userff@", needs="gfortran"),
    Row("a stub by gfortran, -fno-underscoring", "exec @userfn@", needs="gfortran"),
    Row("a stub and MPI at once, RTLD_LOCAL", "exec @opener-mpi@ local @both.so@", 1),
    Row("a stub with PMPI functions", "exec @user-profiled@"),
    Row("a stub with PMPI functions and MPI at once", "exec @opener-mpi@ local @both-profiled.so@", 1),
    Row("serial MUMPS", "exec @mumps@", needs=MUMPS),
    Row("serial MUMPS in an MPI program", "exec @mumps-mpi@", 1, needs=MUMPS),
    Row("serial Ipopt", "exec @ipopt@", needs=IPOPT),
    # That of Debian 13 calls MPI_Init once more, which ends the program.
    Row("serial Ipopt in an MPI program", "exec @ipopt-mpi@", 1 if IPOPT.endswith(".1") else None, needs=IPOPT,
        blur=((r"by process \[\d+", "by process [N"),)),
    # Names
    Row("R without MPI", "exec Rscript -e 'print(summary(lm(dist ~ speed, cars))$r.squared)'", needs="Rscript"),
    Row("R with Rmpi", "exec Rscript -e 'suppressMessages(library(Rmpi)); print(mpi.comm.size(0)); mpi.quit()'", 1, needs=RMPI),
    Row("asks for MPI's names without MPI", "exec @asks@"),
    Row("asks for MPI's names with MPI in C", "exec @asks-mpi@"),
    Row("asks for MPI's names with MPI in Fortran", "exec @asks-fortran@"),
    Row("weak references without MPI", "exec @weak@"),
    Row("weak references with MPI", "exec @weak-mpi@", 1),
    Row("a library with C functions mpi_init and mpi_send", "exec @own@"),
    Row("a library with C functions mpi_init and mpi_send in an MPI program", "exec @own-mpi@", 1),
    # How programs are linked and loaded
    Row("MPI, one process", "exec @mpi@", 1, CALLS),
    Row("MPI, two processes", "mpirun --allow-run-as-root --oversubscribe -n 2 sh -c '@mpi@; echo $?' 2>err | sort; sort err", 1),
    Row("MPI, bound at once (-z now, full RELRO)", "exec @mpi-now@", 1, CALLS),
    Row("MPI, bound late, no RELRO", "exec @mpi-lazy@", 1, CALLS),
    Row("MPI, LD_BIND_NOW", "exec @mpi@", 1, CALLS, env={"LD_BIND_NOW": "1"}),
    Row("MPI, addresses not random, old layout", "exec setarch -RL @mpi@", 1, CALLS),
    Row("MPI, no PIE", "exec @mpi-fixed@", 1, CALLS),
    Row("MPI, -fno-plt and a System V hash table", "exec @mpi-noplt@", 1, CALLS),
    Row("MPI, functions in a table", "exec @mpi-table@", 1, CALLS),
    Row("MPI, functions in a table, no PIE", "exec @mpi-table-fixed@", 1, CALLS),
    Row("MPI, in a plugin: RTLD_LOCAL", "exec @opener@ local @mpi.so@", 1, CALLS),
    Row("MPI, in a plugin: RTLD_GLOBAL", "exec @opener@ global @mpi.so@", 1, CALLS),
    Row("MPI, in a plugin: RTLD_LAZY", "exec @opener@ lazy @mpi.so@", 1, CALLS),
    Row("MPI, in a plugin: RTLD_DEEPBIND", "exec @opener@ deep @mpi.so@", None),
    Row("MPI, in a plugin that registers itself", "exec @opener@ registers @registers.so@", None),
    Row("MPI, in a plugin: -Bsymbolic", "exec @opener@ local @symbolic.so@", 1, CALLS),
    Row("MPI, in a plugin that is closed and opened again", "exec @opener@ twice @mpi.so@", 1, CALLS),
    Row("MPICH, one process", "exec @mpich@", 1, 4, needs=MPICH),
    Row("MPICH, in a plugin", "exec @opener@ local @mpich.so@", 1, 4, needs=MPICH),
    Row("MPICH, in a namespace of its own (dlmopen)", "exec @opener@ apart @mpich.so@", 0, needs=MPICH),
    Row("MPICH, in a plugin of an Open MPI program", "exec @opener-mpi@ deep @mpich.so@", None, needs=MPICH),
    *(Row(**row) for row in helper_rows.ROWS),
    *(Row(**row) for row in extreme_rows.ROWS),
    Row("a library in a namespace of its own (dlmopen)", "exec @opener@ apart @user.so@"),
    Row("MPI, in a plugin that is closed", "exec @opener@ closed @mpi.so@", 1, CALLS),
    Row("MPI in a library's constructor, all of it", "exec @early@", None),
    Row("MPI in a library's constructor, its beginning", "exec @begun@", None),
    Row("MPI in the program's constructor", "exec @constructor@", 1, CALLS + 1),
    Row("MPI, functions in a table of a library", "exec @table-linked@", 1, CALLS),
    Row("MPI, functions in a table of a plugin", "exec @opener@ local @table.so@", 1, CALLS),
    Row("a library with much thread-local storage, opened after MPI", "exec @opener-mpi@ local @storage.so@", 1),
    Row("threads that open and close libraries", "exec @storm@ libz.so.1", 1),
    Row("a thread asks MPI_Initialized while another communicates", "exec @strangers@ meanwhile", 1),
    Row("two threads call at the same time, without MPI_THREAD_MULTIPLE", "exec @strangers@ wrong", 1),
    Row("MPI in C++ objects before and after main", "exec @init-mpi@", 1),
    # Other C libraries, other kinds of executables
    Row("musl", "exec @musl@", needs="musl-gcc"),
    Row("musl, with an MPI library", "exec @musl-mpi@", needs="musl-gcc"),
    Row("musl, static", "exec @musl-static@", needs="musl-gcc"),
    Row("musl, static PIE", "exec @musl-static-pie@", needs="musl-gcc"),
    Row("musl, a dl_iterate_phdr in the program", "exec @musl-iterates@", needs="musl-gcc"),
    Row("musl, variables called as libc's", "exec @musl-globals@", needs="musl-gcc"),
    Row("musl, variables called as libc's, of another type", "exec @musl-numbers@", needs="musl-gcc"),
    Row("musl, functions of a library called as libc's", "exec @musl-named@", needs="musl-gcc"),
    Row("32 bits", "exec @bits32@", needs=LIBC32, finds=True),
    Row("32 bits, bound at once", "exec @bits32-now@", needs=LIBC32, finds=True),
    Row("32 bits, static", "exec @bits32-static@", needs=LIBC32, finds=True),
    Row("32 bits, static PIE", "exec @bits32-static-pie@", needs=LIBC32, finds=True),
    Row("32 bits, functions of a library called as libc's", "exec @bits32-named@", needs=LIBC32, finds=True),
    Row("32 bits, variables called as libc's", "exec @bits32-globals@", needs=LIBC32, finds=True),
    Row("32 bits, a dl_iterate_phdr in the program", "exec @bits32-iterates@", needs=LIBC32, finds=True),
    Row("32 bits starts an MPI program", "exec @bits32-starts@ @mpi@", 2, needs=LIBC32, finds=True),
    Row("32 bits, started by 64", "exec @starts@ @bits32@", needs=LIBC32, finds=True),
    Row("an older glibc", "exec @older@/ld.so --library-path @older@ @older@/plain"),
    Row("static", "exec @static@"),
    Row("static PIE", "exec @static-pie@"),
    Row("setuid", f"cp /usr/bin/id id; chmod 4755 id; exec setpriv --reuid={USER} --clear-groups $PWD/id -u", root=True),
    Row("setgid", f"cp /usr/bin/id id; chmod 2755 id; exec setpriv --reuid={USER} --regid={USER} --clear-groups $PWD/id -g", root=True),
    Row("file capabilities", f"cp /usr/bin/id id; setcap cap_net_raw+ep id; exec setpriv --reuid={USER} --clear-groups $PWD/id -u", needs="setcap", root=True),
    # Languages and tools
    Row("Go", "echo '{\"a\": [1, 2, {\"b\": null}]}' | gron", needs="gron"),
    Row("Java", "exec java -Xshare:auto -version", needs="java"),
    Row("Node", "exec node -e 'console.log(require(\"child_process\").execSync(\"echo child\").toString(), [3, 1, 2].sort()); process.exitCode = 5'",
        needs="node"),
    Row("Python", f"exec {PYTHON} -c 'import json, os, threading; print(json.dumps([1])); os.fork() or os._exit(4); print(os.wait()[1])'",
        needs=PYTHON),
    Row("Python, multiprocessing", f"exec {PYTHON} -c 'import multiprocessing as m; p = m.Pool(3); print(p.map(abs, range(-50, 0))); p.close(); p.join()'",
        needs=PYTHON),
    Row("mpi4py", f"exec {PYTHON} -c 'from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(7))'", 1, needs=MPI4PY),
    Row("Python with two MPIs", f"exec {PYTHON} {HERE}/two.py", 1, needs=MPICH),
    Row("Perl", "exec perl -e 'print join(\",\", map { $_ * 2 } 1..9), \"\\n\"; warn \"x\\n\"; exit(system(\"exit 3\") >> 8)'", needs="perl"),
    Row("bash", "exec bash -c 'a=(3 1 2); (exit 4) | cat; echo ${PIPESTATUS[@]} ${#a[@]} $(<<<x cat); declare -A m; m[x]=1; wait; exit 6'", needs="bash"),
    Row("dash", "exec dash -c 'trap \"echo trapped; exit 7\" TERM; kill $$; echo no'", needs="dash"),
    Row("tools of a batch script",
        "mkdir -p a/b; echo x >a/b/c; ln -s c a/b/d; cp -a a e; tar -cf t.tar --mtime=@0 a; tar -tf t.tar; find a | sort; ls -R e; "
        "sed s/x/y/ a/b/c; awk 1 a/b/c; gzip -n t.tar; md5sum t.tar.gz; diff a/b/c t.tar.gz; stat -c %s missing; env -i /bin/echo done; timeout 0.1 sleep 9"),
    Row("a compiler", "printf 'int main(void) { return 8; }' >x.c; cc -o x x.c -Wl,--build-id=none; ./x; echo $?; cc nothing.c"),
    Row("C++", "exec @init@"),
    Row("cp of a 20 MB file, dd, xargs in parallel",
        "head -c 20000000 /dev/zero >a; cp a b; cmp a b; dd if=a of=c bs=1M count=3 status=none; seq 40 | xargs -P 4 -n 1 expr 1 + | sort -n; rm a b"),
    # Memory, and programs that look at programs
    Row("jemalloc, preloaded before", "exec @plain@", before=JEMALLOC, needs=JEMALLOC),
    Row("jemalloc, preloaded behind, with MPI", "exec @mpi@", 1, CALLS, behind=JEMALLOC, needs=JEMALLOC),
    Row("jemalloc, linked", "exec @jemalloc@", needs=JEMALLOC),
    Row("tcmalloc, preloaded behind", "exec @plain@", behind=TCMALLOC, needs=TCMALLOC),
    Row("tcmalloc, preloaded before, with MPI", "exec @mpi@", 1, CALLS, before=TCMALLOC, needs=TCMALLOC),
    Row("tcmalloc, linked", "@tcmalloc@; exec @tcmalloc-mpi@", 1, needs=TCMALLOC),
    Row("an allocator of the program's own", "@plain-malloc@; exec @mpi-malloc@", 1, CALLS),
    Row("coverage (gcov)", "mkdir data; GCOV_PREFIX=$PWD/data exec @mpi-gcov@", 1, CALLS),
    Row("AddressSanitizer", "exec @asan@"),
    Row("AddressSanitizer, with MPI", "exec @asan-mpi@", 1, env={"ASAN_OPTIONS": "detect_leaks=0"}),
    Row("AddressSanitizer of clang", "exec @asan-clang@", needs="clang"),
    Row("UBSan", "exec @ubsan@"),
    Row("ThreadSanitizer", "exec setarch -R @tsan@"),
    Row("ThreadSanitizer of clang", "exec setarch -R @tsan-clang@", needs="clang"),
    Row("MemorySanitizer of clang", "exec setarch -R @msan-clang@", needs="clang"),
    Row("UBSan of clang", "exec @ubsan-clang@", needs="clang"),
    # as a tool that is put into all programs: whose own functions ask for libc's at their first call
    *(Row(f"{name}, preloaded {place}: {what}", "exec setarch -R env LD_PRELOAD=" + {"before": path + ":$LD_PRELOAD", "behind": "$LD_PRELOAD:" + path}[place] + " " + command, traces, needs=path, env={"ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"})
      for name, path in (("AddressSanitizer", ASAN), ("LeakSanitizer", LSAN), ("ThreadSanitizer", TSAN), ("UBSan", UBSAN))
      for place in ("before", "behind")
      for what, command, traces in (("Python", f"{PYTHON} -c 'print(5)'", 0), ("Perl", "perl -e 'print 6'", 0), ("MPI", "@mpi@", None))),
    Row("valgrind", "exec valgrind -q --error-exitcode=9 --leak-check=full @plain@", needs="valgrind"),
    Row("valgrind, with MPI", "exec valgrind -q --log-file=/dev/null @mpi@", 1, CALLS, needs="valgrind"),
    Row("gdb", "exec gdb -batch -nx -ex 'break main' -ex run -ex bt -ex cont @user-inside@", needs="gdb", blur=HEX),
    Row("gdb, with MPI", "exec gdb -batch -nx -ex 'break main' -ex run -ex bt -ex cont @mpi@", 1, CALLS, needs="gdb", blur=HEX),
    Row("strace", "exec strace -f -o /dev/null @plain@", needs="strace"),
    Row("strace, with MPI", "exec strace -f -o /dev/null @mpi@", 1, CALLS, needs="strace"),
    Row("LD_AUDIT", "exec @plain@", env={"LD_AUDIT": "@audit.so@"}),
    Row("LD_AUDIT, with MPI", "exec @mpi@", 1, CALLS, env={"LD_AUDIT": "@audit.so@"}),
    # Other libraries that are preloaded
    Row("fakeroot", "exec fakeroot sh -c 'touch x; chown 12:34 x; stat -c %u:%g x; mknod y c 1 3; stat -c %F y; id -u'", needs="fakeroot"),
    Row("fakechroot", f"exec fakechroot sh -c 'echo in; {PYTHON} -c \"print(7)\"; mkdir -p r/x; chroot r /bin/true; echo $?; ls /x'", needs="fakechroot"),
    Row("fakechroot, with MPI", "exec fakechroot @mpi@", 1, CALLS, needs="fakechroot"),
    Row("an allocation tool that looks for functions under its lock", "exec env LD_PRELOAD=@locks.so@:$LD_PRELOAD @aligns@ @mpi.so@", 1, CALLS),
    # Names of libc's
    Row("a dl_iterate_phdr in the program", "exec @iterates@"),
    Row("variables called as libc's", "exec @globals@"),
    Row("variables called as libc's, of another type", "exec @globals-numbers@"),
    Row("functions of a library called as libc's", "exec @named@"),
    Row("functions of a library called as libc's, others", "exec @named-more@"),
    Row("functions of a library called as libc's, with MPI", "exec @named-mpi@", 1, CALLS),
    Row("stdbuf", "stdbuf -o0 @plain@; exec stdbuf -oL @mpi@", 1, CALLS, needs="stdbuf"),
    Row("libeatmydata before", "exec @mpi@", 1, CALLS, before=EATMYDATA, needs=EATMYDATA),
    Row("libeatmydata behind", "exec @plain@", behind=EATMYDATA, needs=EATMYDATA),
    # which makes a call of its own
    Row("a PMPI tool before", "exec @mpi@", 1, CALLS + 1, before=TOOL),
    Row("a PMPI tool behind", "exec @mpi@", 1, CALLS + 1, behind=TOOL),
    Row("a missing library before", "exec @plain@ 2>err; grep -v ignored err", before="/nowhere/missing.so", blur=((r"(?m)^.*/nowhere/missing.so.*\n", ""),)),
    # Descriptors
    Row("no stdin", "exec @descriptors@ list <&-", 1),
    Row("no stdout", "exec @descriptors@ list >&-", 1),
    Row("no stderr", "exec @descriptors@ list 2>&-", 1),
    Row("no stdin, stdout, stderr", "exec @descriptors@ list <&- >&- 2>&-", 1),
    Row("no stdin, stdout, stderr, without MPI", "exec @plain@ <&- >&- 2>&-"),
    Row("numbers of descriptors", "exec @descriptors@ list", 1),
    Row("closefrom(3)", "exec @descriptors@ closefrom", 1),
    Row("descriptors closed twice", "exec @descriptors@ twice", 1),
    Row("stdout is full", "exec @mpi@ >/dev/full", 1, CALLS),
    Row("stdout is a closed pipe", "@mpi@ | true", None),
    # Where the world is another
    Row("chroot, static", "mkdir -p root; cp /bin/busybox root; chroot root /busybox sh -c 'echo in; /busybox ls /; exit 3'", root=True, needs="/bin/busybox"),
    Row("chroot, dynamic", "mkdir root; for f in @plain@ $(LD_PRELOAD= ldd @plain@ | grep -o '/[^ ]*'); do "
        "mkdir -p root/$(dirname $f); cp $f root/$(dirname $f); done; "
        "LD_LIBRARY_PATH= chroot root @plain@; echo $?; exec chroot root @plain@", root=True),
    Row("own namespaces, by a tool for containers", "exec unshare -rm sh -c 'id -u; @mpi@; exec @plain@'"),
    Row("own namespaces of users and mounts",
        "cp $(command -v unshare) own; exec ./own -rm sh -c 'mkdir -p m; mount -t tmpfs none m; touch m/x; ls m; id -u; @mpi@; exec @plain@'", 1, CALLS),
    Row("own namespace of processes", "cp $(command -v unshare) own; exec ./own -pr --fork sh -c 'echo $$; @mpi@; exec @plain@'", 1, CALLS),
    Row("the spool is another in an own namespace", "cp $(command -v unshare) own; exec ./own -rm sh -c 'mount -t tmpfs none @spool@; @mpi@; umount @spool@'"),
    Row("no /proc", "cp $(command -v unshare) own; exec ./own -rm sh -c 'mount -t tmpfs none /proc; exec @mpi@'", None),
    Row("the working folder is gone", "mkdir x; cd x; rmdir ../x; exec @mpi@", 1, CALLS),
    Row("umask 477", "umask 477; exec @mpi@", None, user=True),
    Row("a program that may be executed, not read", "cp @mpi@ x; chmod 111 x; exec ./x", 1, CALLS, user=True),
    Row("a large environment", "E=$(head -c 120000 /dev/zero | tr '\\0' x); export E; exec @mpi@", 1, CALLS),
    Row("an empty name", "exec bash -c 'exec -a \"\" @mpi@'", 1, CALLS),
    Row("seccomp refuses exotic calls", f"exec @filter@ refuse {EXOTIC} -- @plain@"),
    Row("seccomp kills for exotic calls", f"exec @filter@ kill {EXOTIC} -- @plain@"),
    Row("seccomp refuses exotic calls, with MPI", f"exec @filter@ refuse {EXOTIC} -- @mpi@", None),
    Row("seccomp kills for exotic calls, with MPI", f"exec @filter@ kill {EXOTIC} -- @mpi@", None),
    Row("no system call once MPI is initialised", "exec @strict@", None),
    Row("no system call once MPI is initialised, MPICH", "exec @strict-mpich@", None, needs="mpicc.mpich"),
    Row("all keys of threads", "exec @keys-mpich@", 1, 4, needs="mpicc.mpich"),
    Row("no right to make memory executable", "@filter@ deny -- @plain@; exec @filter@ deny -- @mpi@", None),
    # Limits
    Row("limit of files' size", "ulimit -f 1; exec @mpi@", None),
    Row("limit of files' size, many events", "ulimit -f 100; exec @self@ nothing", None),
    Row("limit of files' size: 0", "ulimit -f 0; exec @mpi@ >/dev/null", None),
    Row("limit of address space", "ulimit -v 100000; exec @mpi@", None),
    Row("limit of address space, without MPI", "ulimit -v 8000; exec /bin/ls -d /"),
    Row("limit of open files", "ulimit -n 26; exec @mpi@", None),
    Row("limit of open files, without MPI", "ulimit -n 4; exec /bin/ls -d /"),
    Row("limit of processes", "ulimit -p 6; exec @plain@", root=True, user=True),
    Row("limit of processes, with MPI", "ulimit -p 4; exec @mpi@", None, root=True, user=True),
    Row("limit of the stack", "ulimit -s 256; exec @mpi@", None),
    Row("limit of locked memory", "ulimit -l 0; exec @mpi@", None),
    Row("limit of data", "ulimit -d 30000; exec @mpi@", None),
    Row("limit of cores", "ulimit -c 0; exec sh -c 'kill -SEGV $$'"),
    Row("limit of processor time", "ulimit -t 1; @mpi@; exec sh -c 'while :; do :; done'", 1, CALLS),
    # Many, and odd
    Row("3,000 short processes", PROCESSES),
    Row("coroutines", "exec @stacks@ coroutines", 1),
    Row("MPI from a signal handler on a stack of its own", "exec @stacks@ signal", 1),
    Row("MPI from a thread with a small stack", "exec @stacks@ thread", 1),
    Row("longjmp out of an MPI error handler", "exec @stacks@ longjmp", 1),
    *(Row(f"{mpi}: {way} {place}", f"exec @{program}@ {where} {how}", 1, needs=needs)
      for mpi, program, needs in (("Open MPI", "leaves", ""), ("MPICH", "leaves-mpich", "mpicxx.mpich")) for way, how in WAYS_OUT for place, where in CALLBACKS
      if (program, how, where) not in STUCK),
    Row("vfork", "exec @children@ vfork", 1),
    Row("posix_spawn", "exec @children@ spawn", 1),
    Row("system", "exec @children@ system", 1),
    Row("fork without exec", "exec @children@ fork", 1),
    # What a program does to itself
    *(Row(f"in the middle: {name}", f"exec @self@ {action}", traces, root=action in AS_ROOT, user=action not in AS_ROOT) for name, action, traces in MIDDLE),
    Row("in the middle: removes itself", "cp @self@ x; exec ./x unlink", 1),
    Row("what a process can see of itself", "exec @self@ state", 1),
    # The spool
    Row("the spool is full", "exec @mpi@", None, spool="full", root=True),
    Row("the spool gets full", "exec @self@ nothing", None, spool="small", root=True),
    Row("the spool is read-only", "exec @mpi@", spool="readonly", root=True),
    Row("the spool is missing", "exec @mpi@", spool="missing"),
    Row("the spool's files are removed in the middle", "exec @self@ command 'rm -rf @spool@/*'", None),
    Row("the spool is removed in the middle", "exec @self@ command 'rm -rf @spool@'"),
]



class Skip(Exception):
    """The row cannot be run here."""


@dataclasses.dataclass
class Outcome:
    status: int | str
    out: str
    err: str
    files: dict   # of files()
    traces: int
    calls: int    # in them
    said: str     # of themselves

    def __iter__(self):
        return iter((self.status, self.out, self.err))


class Matrix:
    """Runs rows in a folder, each without and with spoor."""

    def __init__(self, folder):
        self.folder = folder
        self.guard = threading.Lock()
        self.locks = {}
        os.makedirs(os.path.join(folder, "bin"))

    def substituted(self, text, spool=""):
        return re.sub(r"@([\w.-]+)@", lambda m: spool if m[1] == "spool" else self.program(m[1]), text)

    def program(self, name):
        """The path of a program, which is built if it is not there."""
        path = os.path.join(self.folder, "bin", name)
        with self.guard:
            lock = self.locks.setdefault(name, threading.Lock())
        with lock:
            if not os.path.exists(path):
                words = [path if w == "%" else self.substituted(w) for w in PROGRAMS[name].split()]
                if not shutil.which(words[0]):
                    raise Skip(f"{words[0]} is not installed")
                subprocess.run(words, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, text=True)
        return path

    def gate_by_platform(self):
        """What is preloaded, with the loader's word for the kind of program in it."""
        kinds = os.path.join(self.folder, "kinds")
        with self.guard:
            if not os.path.exists(kinds):
                os.mkdir(kinds)
                for folder, names in ((os.path.dirname(launch.preload()), "x86_64 haswell xeon_phi"),
                                      (os.path.join(tap.BUILD, "gate/compat32"), "i386 i486 i586 i686")):
                    for name in names.split():
                        os.symlink(folder, os.path.join(kinds, name))
        return os.path.join(kinds, "$PLATFORM", os.path.basename(launch.preload()))

    def run(self, row, number):
        """Returns (how it differs, a list of texts; what it did without spoor)."""
        if row.needs and not (os.path.exists(row.needs) or shutil.which(row.needs)):
            raise Skip(f"{row.needs} is not there")
        if row.root and os.geteuid():
            raise Skip("needs root")
        base = os.path.join(self.folder, str(number))
        user = USER + number if row.user and not os.geteuid() else None
        plain = self.once(row, base, user, False)
        if plain.status == LATE:
            raise Skip(f"without spoor, it takes {LATE}")
        traced = self.once(row, base, user, True)
        differences = [f"{what}: without {a!r}, with {b!r}" for what, a, b in zip(("status", "stdout", "stderr"), plain, traced) if a != b]
        names = sorted({*plain.files, *traced.files})
        differences += [f"file {n}: without {plain.files.get(n)}, with {traced.files.get(n)}" for n in names if plain.files.get(n) != traced.files.get(n)]
        if row.traces is not None and traced.traces != row.traces:
            differences.append(f"{traced.traces} traces, expected {row.traces}")
        if row.calls is not None and traced.calls != row.calls:
            differences.append(f"{traced.calls} calls in the trace, expected {row.calls}")
        if not re.search(row.says, traced.said):
            differences.append(f"the trace says nothing like {row.says!r}: {traced.said[:2000]}")
        return differences, plain

    def once(self, row, base, user, spoor):
        """What the row does, in folders that are made for it: its own, the spool, and one for temporary files."""
        folders = here, spool, temporary = [os.path.join(base, name) for name in ("here", "spool", "tmp")]
        for path in folders:
            os.makedirs(path)
            if user:
                os.chown(path, user, user)
        env = {"PATH": os.environ["PATH"], "HOME": here, "LANG": "C", "TMPDIR": temporary, **launch.ENVIRONMENT, **OPENMPI, **{k: self.substituted(v) for k, v in row.env.items()}}
        gate = self.gate_by_platform() if row.finds else launch.preload()
        preloaded = [p for p in (row.before, gate if spoor else "", row.behind) if p]
        if preloaded:
            env["LD_PRELOAD"] = ":".join(preloaded)
        if spoor:
            env["SLURM_SPOOR_HANDOFF"] = f"1;mode=lossless;spool={spool}"
        command = ["/bin/sh", "-c", self.substituted(row.command, spool)]
        if row.papi:
            os.symlink(self.program(row.papi), os.path.join(temporary, "libpapi.so.7.2"))
            env["LD_LIBRARY_PATH"] = temporary
        if row.papi and spoor:
            del env["LD_PRELOAD"], env["SLURM_SPOOR_HANDOFF"]
            env["SPOOR_PRELOAD"] = launch.preload()
            command = [launch.spoor(), "run", "--counters=PAPI_TOT_INS", "-o", os.path.join(spool, "world-0.spoor"), "--", *command]
        mounted = prepare(row.spool, spool)
        try:
            process = subprocess.Popen(command, cwd=here, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       start_new_session=True, user=user, group=user, extra_groups=[] if user else None)
            try:
                out, err = process.communicate(timeout=TIME)
                status = process.returncode
            except subprocess.TimeoutExpired:
                end(process.pid, temporary)
                out, err = process.communicate()
                status = LATE
            texts = [out.decode(errors="replace"), err.decode(errors="replace")]
            for pattern, other in (PID, UCX, *row.blur):
                texts = [re.sub(pattern, other, text) for text in texts]
            traces = glob.glob(os.path.join(spool, "world-*.spoor"))
            said = "".join(ask("show", "--json", trace) for trace in traces if row.says)
            return Outcome(status, *texts, files(here), len(traces), sum(calls(trace) for trace in traces if row.calls), said)
        finally:
            if mounted:
                subprocess.run(["umount", "-l", spool], check=True)
            shutil.rmtree(base, ignore_errors=True)


def end(group, temporary):
    """Ends a row's processes, also those that made themselves another session: they know its folder by their environment."""
    os.killpg(group, signal.SIGKILL)
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as f:
                if f"TMPDIR={temporary}".encode() in f.read().split(b"\0"):
                    os.kill(int(path.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass


def prepare(kind, spool):
    """Makes the spool what the row wants; True if something is mounted there."""
    if kind == "missing":
        os.rmdir(spool)
    if kind not in ("full", "small", "readonly"):
        return False
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro" if kind == "readonly" else "size=128k", "none", spool], check=True)
    if kind == "full":
        with open(os.path.join(spool, "all"), "wb", buffering=0) as f:
            try:
                while f.write(bytes(4096)):
                    pass
            except OSError:
                pass
    return True


def files(top):
    """What is below a folder: {path: (mode, owner, content)}."""
    found = {}
    for folder, folders, names in os.walk(top):
        for name in folders + names:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            content = b""
            if stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    content = f.read()
                if len(content) > 1000:
                    content = hashlib.sha1(content).hexdigest()
            found[os.path.relpath(path, top)] = stat.filemode(st.st_mode), st.st_uid, content
    return found


def ask(*words):
    """What the command says; "" if it failed."""
    done = subprocess.run([launch.spoor(), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return "" if done.returncode else done.stdout


def calls(trace):
    """The number of calls in a trace, which is sound; -1: it cannot be read."""
    return ask("dump", trace).count("\n") if ask("verify", trace) else -1


def results(matrix, rows, workers=3):
    """For each row in turn (row, differences, what it did without spoor), or (row, a text that says why it was skipped or could not be built, None)."""
    def one(numbered):
        number, row = numbered
        try:
            return (row, *matrix.run(row, number))
        except Skip as skipped:
            return row, str(skipped), None
        except subprocess.CalledProcessError as failed:
            return row, [f"{' '.join(failed.cmd)}: {failed.output}"], None
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, enumerate(rows))


def main(folder, *names):
    matrix = Matrix(folder)
    for name in names:
        try:
            print(name, matrix.program(name))
        except Skip:
            pass


if __name__ == "__main__":
    main(*sys.argv[1:])
