#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# mpich - programs that are built with MPICH are traced by the same installation, as exactly as those with Open MPI
#
# They are the programs of tests/programs, and the flat logger, compiled with MPICH's wrappers.
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

os.environ["SPOOR_TEST_MPI"] = "mpich"
PROGRAMS = os.path.join(tap.SOURCE, "tests/programs")

# Not here, since MPICH 4.0 cannot run them, traced or not: persistent (waits for ever), names (ports, which UCX has not), buffers and nulls (null
# pointers), more8 (MPI_Dist_graph_neighbors_count of mpi_f08); pcoll and rest call Open MPI's MPIX functions.
C = ("pt2pt", "farm", "halo", "collectives", "comms", "inter", "types", "objects", "errors", "windows", "many", "old", "posted", "reuse")
WITH_FILE = ("files", "references", "shared")
MANY = ("types", "halo", "objects", "fixed")  # of 16 ranks, too; the others take longer there
FORTRAN = {"fixed": "fixed.f", "modern": "modern.f90", "more": "more.F90", "f08": "f08.f90"}
# Its mpi_f08 counts the indices of completed requests from 0: no program can use them.
WRONG_IN_F08 = "call completion\n"


def made(name):
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
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


def exact(folder, title, name, *options, arguments=(), ranks=4):
    done = subprocess.run([sys.executable, os.path.join(tap.SOURCE, "tests/exact"), "-n", str(ranks), "--flatlog", os.path.join(folder, "flatlog.so"),
                           "--timeout", "100", *options, "--", os.path.join(folder, name), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    tap.ok(done.returncode == 0, f"{title}, {ranks} ranks", done.stdout.decode(errors="replace")[-3000:])


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)


def same_as_open_mpi(folder):
    """The events of one program under both MPIs, in which the library decides nothing: not a line differs."""
    traces, dumps = launch.dumps_of_both(folder)
    tap.ok(dumps[0] == dumps[1] and dumps[0][0].count("\n") > 100, "comms: the events are those under Open MPI",
           *(f"{a}\n{b}" for x, y in zip(*dumps) for a, b in zip(x.split("\n"), y.split("\n")) if a != b))
    differ = run(launch.spoor(), "diff", *traces)
    tap.ok(differ.returncode in (0, 1) and "0 differ" in differ.stdout, "spoor diff says so", differ.stdout)
    library = [run(launch.spoor(), "show", "--json", t).stdout for t in traces]
    tap.ok('"MPICH Version: ' in library[0] and '"Open MPI v' in library[1], "the metadata name the library and its version", *library)


def probed(folder):
    """MPICH's probes leave the part of a status as it was that says whether it was cancelled."""
    trace = os.path.join(folder, "probed.spoor")
    launch.mpirun(4, [os.path.join(folder, "pt2pt")], before=[launch.spoor(), "run", "-o", trace, "--"])
    found = [line for line in run(launch.spoor(), "dump", trace).stdout.split("\n") if " MPI_Iprobe " in line and " flag=1 " in line]
    tap.ok(len(found) >= 12 and not [line for line in found if "status.MPI_SOURCE=-" in line], "the status of a probe is that of the message", *found)


def as_small(folder, cc):
    """Receives from MPI_PROC_NULL, whose statuses MPICH before 4.2 fills with rank 0 and tag 0: told as they are, and in no more bytes than
    what the standard says. In MPI_Waitall, and one by one."""
    os.environ["SPOOR_TEST_MPI"], sizes, top = "openmpi", [], os.path.dirname(os.path.dirname(PROGRAMS))
    for place in (os.path.join(tap.BUILD, "bench/apps"), folder):
        trace = os.path.join(folder, f"halo3d-{len(sizes)}.spoor")
        if sizes:
            os.environ["SPOOR_TEST_MPI"] = "mpich"
            run(cc, "-std=gnu11", "-O1", "-g", "-w", "-I" + top, "-o", os.path.join(folder, "halo3d"), os.path.join(top, "bench/apps/halo3d.c"))
        launch.mpirun(16, [os.path.join(place, "halo3d"), "5"], before=[launch.spoor(), "run", "-o", trace, "--"])
        said = run(launch.spoor(), "stat", trace).stdout
        sizes.append(sum(int(n) for part, n in re.findall(r"^(PATT|MAPS|SITE) +(\d+) ", said, re.M)))
    tap.ok(0 < sizes[1] <= 1.05 * sizes[0], "halo3d: at most 5 % more bytes than under Open MPI", *sizes)
    line = next((x for x in run(launch.spoor(), "dump", "--rank", "0", trace).stdout.split("\n") if " MPI_Waitall " in x), "")
    version = run("mpichversion").stdout
    told = "[0,0," if re.search(r"Version:\s+(3\.|4\.[01]\.)", version) else "[MPI_PROC_NULL,MPI_PROC_NULL,"
    tap.ok(f"MPI_SOURCE={told}" in line, "its statuses are what MPICH says", line, version)


def replayed(folder):
    """A trace that was taken under one MPI is replayed under the other, and the same events come out."""
    other = os.path.join(tap.BUILD, "tests/programs")
    os.environ["SPOOR_REPLAY"] = os.path.join(tap.BUILD, "spoor-replay")
    for name, *arguments in (("halo",), ("collectives",), ("types", "plain"), ("files", os.path.join(folder, "file"))):
        for mpi, place in (("mpich", folder), ("openmpi", other)):
            trace = os.path.join(folder, f"{name}-{mpi}.spoor")
            os.environ["SPOOR_TEST_MPI"] = mpi
            launch.mpirun(4, [os.path.join(place, name), *arguments], before=[launch.spoor(), "run", "-o", trace, "--"])
            os.environ["SPOOR_TEST_MPI"] = "openmpi" if mpi == "mpich" else "mpich"
            launcher = launch.command(4, [])
            at = launcher.index("-n")
            done = run(launch.spoor(), "replay", "--check", trace, "--", *launcher[:at], *launcher[at + 2:])
            tap.ok(done.returncode == 0 and "equal: 4 ranks" in done.stdout, f"{name}, traced under {mpi}, is replayed under the other", done.stdout)
    os.environ["SPOOR_TEST_MPI"] = "mpich"


def without_its_tracer(folder):
    """An installation that is not whole: the program is as ever, and what is missing is told."""
    half, trace = os.path.join(folder, "half"), os.path.join(folder, "half.spoor")
    os.mkdir(half)
    for name in ("libspoor-gate.so", "libspoor-openmpi.so"):
        os.symlink(os.path.join(os.path.dirname(launch.preload()), name), os.path.join(half, name))
    program = [os.path.join(folder, "halo")]
    plain = launch.mpirun(2, program)
    done = launch.mpirun(2, program, before=[launch.spoor(), "run", "-o", trace, "--"],
                         environment={"SPOOR_PRELOAD": os.path.join(half, "libspoor-gate.so")})
    tap.equal((done.returncode, done.stdout), (plain.returncode, plain.stdout), "without the tracer for MPICH: the program is as ever")
    said = done.stderr.decode(errors="replace")
    tap.ok(re.search(r"no trace: no tracer for the program's MPI library, .*libmpich\.so.*, is installed", said), "and that is told", said)


def main():
    cc, fc = made("MPICH_CC"), made("MPICH_FC")
    if not cc:
        tap.skip_all("spoor was built without MPICH")
    with tempfile.TemporaryDirectory(prefix="mpich-") as folder:
        said = compile_all(folder, cc, fc)
        tap.ok(not said, "the programs and the flat logger compile with MPICH's wrappers", said)
        for name in C:
            exact(folder, name, name)
        for name in WITH_FILE:
            exact(folder, name, name, arguments=[os.path.join(folder, name + ".out")])
        exact(folder, "threads", "threads", "--unordered")
        exact(folder, "random program", "random", arguments=["5", "400"], ranks=3)
        exact(folder, "collectives with buffers", "collectives", "--buffers", ranks=6)
        exact(folder, "pt2pt, statuses ignored", "pt2pt", "--leave")
        exact(folder, "exit status 3", "ends", "--status", "3", arguments=["exit3"])
        for name in FORTRAN if fc else ():
            exact(folder, f"{name} (Fortran)", name, arguments=[] if name in ("fixed", "modern") else [os.path.join(folder, name + ".out")])
        for name in MANY if fc else MANY[:-1]:
            exact(folder, name, name, ranks=16)
        probed(folder)
        as_small(folder, cc)
        replayed(folder)
        without_its_tracer(folder)
        # a shell between the launcher and each rank: the ranks find each other all the same
        trace = os.path.join(folder, "shells.spoor")
        launch.mpirun(4, ["sh", "-c", os.path.join(folder, "halo") + "; true"], before=[launch.spoor(), "run", "-o", trace, "--"])
        said = run(launch.spoor(), "show", trace).stdout
        tap.ok(re.search(r"^Ranks +4$", said, re.M), "ranks that a shell starts are one world", said)
        same_as_open_mpi(folder)
    tap.done()


main()
