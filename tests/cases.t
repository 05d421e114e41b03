#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# cases - small programs, one for each thing that MPI 4 added: the same with and without the tracer, exact, sound, replayed or refused by name
#
# Each is a case of tests/programs/{sessions,pieces,wide,manners}.c and newer.F90, compiled for Open MPI and MPICH. `tests/cases.t WORD...` runs those whose
# names (LIBRARY PROGRAM CASE) have all of the words. What a library lacks, or cannot do without the tracer, is skipped and told.
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

LACKING = 77
RANKS = {"half": 4, "across": 3, "duplicates": 3}  # 2 otherwise
C = ("sessions", "pieces", "wide", "manners")
# What differs from run to run: as libraries begin their lines, and numbers of processes.
VARIES = re.compile(rb"\[[\w.-]+:\d+\]|\[\d+,\d+\]|0x[0-9a-f]+|\(pid \d+\)|pid[ =:]*\d+|in: \S+")
# Cases that end by an error, or leave without an end; their traces are no whole runs.
ENDS = ("fatal", "abort_one", "aborts", "abandoned")
# What the flat logger cannot say, by case; the rest of the check is made.
NOT_LOGGED = {"by_threads": ["--unordered"]}
NOT_EXACT = {"fatal": "the program ends in a call", "abort_one": "the program ends in a call", "aborts": "the program ends in a call"}
# The libraries' own faults, as they are without the tracer, too: the beginning of the version, and what happens. These are not run.
FAULTS = {
    ("MPICH 4.0", "again"): "MPI cannot begin once more after the last session: a null pointer in MPI_Session_init",
    ("MPICH 4.0", "first"): "the same in MPI_Init",
    ("MPICH 4.0", "after"): "the same after MPI_Finalize",
    ("MPICH 4.0", "half"): "MPI_Comm_create_from_group takes the groups of the whole world and of one process only: an assertion",
    ("MPICH 4.0", "across"): "MPI_Intercomm_create_from_groups needs MPI_COMM_WORLD: an assertion",
    ("MPICH 4.0", "with_nobody"): "MPI_Isendrecv with MPI_PROC_NULL: a null pointer",
    ("MPICH 4.0", "never_started"): "MPI_Wait waits for ever for a persistent request that was not started",
    ("MPICH 4.0", "some"): "MPI_Waitsome takes a persistent collective operation for done that is not",
    ("MPICH 4.2", "with_nobody"): "MPI_Isendrecv with MPI_PROC_NULL: the status is what its memory was",
    ("MPICH 4.2", "after"): "a session after MPI_Finalize: an assertion (node_id < num_nodes)",
    ("Open MPI 4.1", "tools_around"): "MPI_T crashes after MPI_Finalize",
    ("Open MPI 5.0", "again"): "one in fifty runs hangs or crashes when a session follows another",
    ("Open MPI 5.0", "after"): "the same after MPI_Finalize"}
# What a replay cannot repeat, by case.
NOT_REPLAYED = {"strings": "the room that the program gave is not in the trace, only the length that came back",
                "to_files": "what a file operation has moved is not in the trace",
                "surroundings": "what MPI_Info_create_env finds is the launcher's, and so the replay's own",
                "returned": "MPICH's text for an error says more of the call that had it than the trace has"}


def names(library_cc):
    """The functions that a library's mpi.h declares."""
    include = "#include <mpi.h>\n"
    text = subprocess.run([library_cc, "-E", "-x", "c", "-"], input=include, stdout=subprocess.PIPE, check=True, text=True).stdout
    return set(re.findall(r"\b(MPI_[A-Z]\w+) ?\(", text))


def version(library_cc):
    """As FAULTS has it."""
    macros = subprocess.run([library_cc, "-dM", "-E", "-x", "c", "-"], input="#include <mpi.h>\n", stdout=subprocess.PIPE, check=True, text=True).stdout
    values = dict(re.findall(r'^#define (\w+) "?([\w.]+)', macros, re.M))
    return f"MPICH {values['MPICH_VERSION']}" if "MPICH_VERSION" in values else f"Open MPI {values['OMPI_MAJOR_VERSION']}.{values['OMPI_MINOR_VERSION']}"


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)


class Library:
    """An MPI library; its programs and its flat logger are built in a folder."""

    def __init__(self, name, cc, fc, folder):
        self.name, self.folder, self.programs = name, os.path.join(folder, name), {}
        os.makedirs(self.folder)
        has, self.version = names(cc), version(cc)
        with open(os.path.join(self.folder, "has.h"), "w", encoding="ascii") as f:
            f.write("".join(f"#define HAS_{n} 1\n" for n in sorted(has)) + "#define OPEN_MPI 1\n" * self.version.startswith("Open MPI"))
        options = ["-O1", "-g", "-w", "-I" + self.folder, "-I" + tap.SOURCE]
        commands = {p: [cc, "-std=gnu11", *options, os.path.join(launch.PROGRAMS, p + ".c"), "-lpthread"] for p in C}
        if fc:
            fortran = [fc, *options, "-fallow-argument-mismatch", "-ffree-line-length-none", os.path.join(launch.PROGRAMS, "newer.F90")]
            commands.update({"newer": [*fortran, "-J" + self.folder], "newer8": [*fortran, "-DMPI_F08", "-J" + self.folder]})
        for program, command in commands.items():
            path = os.path.join(self.folder, program)
            done = run(*command, "-o", path)
            if tap.ok(done.returncode == 0, f"{name} {program} compiles", done.stdout[-3000:]):
                self.programs[program] = path
        done = run(*launch.flatlog_command(self.folder, cc))
        tap.ok(done.returncode == 0, f"{name}: the flat logger compiles", done.stdout[-3000:])

    def cases(self):
        for program, path in self.programs.items():
            for line in subprocess.run([path], stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines():
                case, _, lacks = line.partition(" lacks ")
                yield program, path, case, lacks


def output(done):
    """Lines of ranks come in any order."""
    return done.returncode, sorted(VARIES.sub(b"", line) for line in done.stdout.splitlines())


def compare(library, title, path, case, folder):
    ranks, trace = RANKS.get(case, 2), os.path.join(folder, "trace.spoor")
    plain = launch.mpirun(ranks, [path, case], cwd=folder, timeout=30)
    if plain.returncode == LACKING:
        tap.skip(title, "the library lacks " + plain.stdout.decode().split("\n")[0])
        return
    if plain.returncode and case not in ENDS:
        said = (plain.stdout + plain.stderr).decode(errors="replace")
        why = re.search(r"wrong$|Assertion failed.*|Caught signal.*|An error occurred in.*|took too long|Segmentation fault", said, re.M)
        tap.skip(title, f"the library's own fault, as without the tracer: status {plain.returncode}, {why[0] if why else said[-100:]!r}")
        return
    traced = launch.mpirun(ranks, [path, case], cwd=folder, before=[launch.spoor(), "run", "-o", trace, "--"], timeout=60)
    if case in ENDS and output(plain) != output(traced): # MPICH 4.2's launcher: status 0 for one of four programs that abort with 5
        for _ in range(40):
            plain = launch.mpirun(ranks, [path, case], cwd=folder, timeout=30)
            if output(plain) == output(traced):
                break
    tap.ok(output(plain) == output(traced), f"{title}: the same", *map(repr, (output(plain), output(traced))), plain.stderr.decode(errors="replace")[-1500:],
           traced.stderr.decode(errors="replace")[-1500:])
    if not tap.ok(os.path.exists(trace), f"{title}: there is a trace", traced.stderr.decode(errors="replace")[-1500:]):
        return
    done = run(launch.spoor(), "verify", trace)
    tap.ok(done.returncode == 0 and ": good" in done.stdout, f"{title}: it is sound", done.stdout)
    if case in NOT_EXACT:
        tap.skip(f"{title}: it is exact", NOT_EXACT[case])
    else:
        done = run(sys.executable, os.path.join(tap.SOURCE, "tests/exact"), "-n", str(ranks), "--flatlog", os.path.join(library.folder, "flatlog.so"),
                   "--timeout", "60", "--chdir", folder, "--status", str(plain.returncode), *NOT_LOGGED.get(case, ()), "--", path, case)
        tap.ok(done.returncode == 0, f"{title}: it is exact", done.stdout[-3000:])
    replay(title, case, trace, folder)


def replay(title, case, trace, folder):
    if case in NOT_REPLAYED:
        tap.skip(f"{title}: it is replayed", NOT_REPLAYED[case])
        return
    launcher = launch.command(1, [])
    at = launcher.index("-n")
    done = run(launch.spoor(), "replay", "--check", trace, "--", *launcher[:at], *launcher[at + 2:], cwd=folder, timeout=100,
               env=dict(os.environ, SPOOR_REPLAY=os.path.join(tap.BUILD, "spoor-replay")))
    if "cannot be replayed" in done.stdout or (case in ENDS and "this is no whole run" in done.stdout):
        tap.skip(f"{title}: it is replayed", " ".join(done.stdout.split())[-160:])
    else:
        tap.ok(done.returncode == 0 and "equal: " in done.stdout, f"{title}: it is replayed", done.stdout[-3000:])


def main(words):
    with tempfile.TemporaryDirectory(prefix="cases-t-") as folder:
        for name, mpi in (("openmpi", ""), ("mpich", "mpich")):
            cc, fc = (mpich_programs.made(n) for n in (("MPICH_CC", "MPICH_FC") if mpi else ("MPICC", "MPIFC")))
            if not cc or (words and name not in words and {"openmpi", "mpich"} & set(words)):
                tap.skip(name, "it is not there, or not asked for")
                continue
            os.environ["SPOOR_TEST_MPI"] = mpi
            library = Library(name, cc, fc, folder)
            for program, path, case, lacks in library.cases():
                title = f"{name} {program} {case}"
                if not all(w in title.split() for w in words):
                    continue
                fault = next((why for (begin, name), why in FAULTS.items() if name == case and library.version.startswith(begin)), None)
                if fault:
                    tap.skip(title, f"{library.version} itself: {fault}")
                elif lacks:
                    tap.skip(title, f"the library lacks {lacks}")
                else:
                    here = os.path.join(folder, "here")
                    os.makedirs(here)
                    compare(library, title, path, case, here)
                    shutil.rmtree(here)
    tap.done()


main(sys.argv[1:])
