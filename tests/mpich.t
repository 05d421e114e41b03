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
import mpich_programs  # noqa: E402
import tap  # noqa: E402
from mpich_programs import C, FORTRAN, MANY, PROGRAMS, WITH_FILE  # noqa: E402

os.environ["SPOOR_TEST_MPI"] = "mpich"


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
        sizes.append(sum(int(n) for part, n in re.findall(r"^(PATT|MAPS|SITE) +\S+ +(\d+) ", said, re.M)))
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
    cc, fc = mpich_programs.made("MPICH_CC"), mpich_programs.made("MPICH_FC")
    if not cc:
        tap.skip_all("spoor was built without MPICH")
    with tempfile.TemporaryDirectory(prefix="mpich-") as folder:
        said = mpich_programs.compile_all(folder, cc, fc)
        tap.ok(not said, "the programs and the flat logger compile with MPICH's wrappers", said)
        programs = (*C, *WITH_FILE, "threads", *(FORTRAN if fc else ()))
        for name, ranks in [(p, 4) for p in programs] + [(p, 16) for p in programs if p in MANY]:
            options, arguments = mpich_programs.words_of(name, folder)
            exact(folder, name, name, *options, arguments=arguments, ranks=ranks)
        exact(folder, "random program", "random", arguments=["5", "400"], ranks=3)
        exact(folder, "collectives with buffers", "collectives", "--buffers", ranks=6)
        exact(folder, "pt2pt, statuses ignored", "pt2pt", "--leave")
        exact(folder, "exit status 3", "ends", "--status", "3", arguments=["exit3"])
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
