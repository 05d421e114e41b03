#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# exact - what spoor dumps is exactly what was called: every test program, random programs, HPCC; and the programs call every function
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import exercised  # noqa: E402
import tap  # noqa: E402

EXACT = os.path.join(tap.SOURCE, "tests/exact")
PROGRAMS = os.path.join(tap.BUILD, "tests/programs")
HPCC = os.path.join(tap.SOURCE, "tests/programs/hpccinf.txt")  # all of its tests, with tiny matrices


functions = None  # exercised.Exercised: what the programs called
cases = []  # arguments of compare()


MAY_HANG = ("names",)


def exact(title, program, *options, ranks=4):
    cases.append((title, program, options, ranks))


def compare(case):
    """Returns the status of tests/exact and what it said."""
    _, program, options, ranks = case
    binding = exercised.BINDING.get(os.path.basename(program[0]), exercised.C)
    if os.path.dirname(program[0]) == PROGRAMS:
        options += ("--called", functions.file(binding))
    # Connecting worlds hangs in Open MPI 4.1 now and then, traced or not: then once more.
    if os.path.basename(program[0]) in MAY_HANG:
        options += ("--timeout", "60")
    for _ in range(3):
        done = subprocess.run([sys.executable, EXACT, "-n", str(ranks), *options, "--", *program], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        said = done.stdout.decode(errors="replace")
        if "ended with status 124," not in said:
            break
    return done.returncode, said


def compare_all():
    """Mostly they wait for mpirun: so several at a time."""
    with concurrent.futures.ThreadPoolExecutor(3) as workers:
        for (title, _, options, ranks), (status, said) in zip(cases, workers.map(compare, cases)):
            if status == 2 and "did not come to MPI_Finalize" in said and "--partial" in options:
                tap.skip(f"{title}, {ranks} ranks", "no trace is made of ranks that were killed")
            else:
                tap.ok(status == 0, f"{title}, {ranks} ranks", said)


def own(name):
    return os.path.join(PROGRAMS, name)


def programs(folder, ranks, *options):
    """All of the programs."""
    for name in ("pt2pt", "farm", "halo", "persistent", "pcoll", "collectives", "comms", "four", "inter", "types", "objects", "errors", "windows", "many",
                 "old"):
        exact(name, [own(name)], *options, ranks=ranks)
    for name in ("files", "references", "shared", "buffers"):
        exact(name, [own(name), os.path.join(folder, name + ".out")], *options, ranks=ranks)
    os.environ["OMPI_MCA_io"] = "^ompio"  # Open MPI's other implementation of MPI-IO
    exact("files by ROMIO", [own("files"), os.path.join(folder, "romio.out")], *options, ranks=ranks)
    del os.environ["OMPI_MCA_io"]
    exact("names", [own("names"), folder], *options, ranks=ranks)
    if not os.path.exists(own("f08")):
        tap.skip(f"Fortran, {ranks} ranks", "no Fortran compiler")
        return
    for name in ("fixed", "modern"):
        exact(f"{name} (Fortran)", [own(name)], *options, ranks=ranks)
    exact("f08 (Fortran 2008)", [own("f08"), os.path.join(folder, "file8")], *options, ranks=ranks)
    for name in ("more", "rest"):
        exact(f"{name} (Fortran)", [own(name), os.path.join(folder, name)], *options, ranks=ranks // 2)
        exact(f"{name} (Fortran 2008)", [own(name + "8"), os.path.join(folder, name + "8")], *options, ranks=ranks // 2)


def main():
    global functions
    folder = tempfile.mkdtemp(prefix="exact-t-")
    functions = exercised.Exercised(folder)
    try:
        for ranks in (4, 8):
            own_folder = os.path.join(folder, str(ranks))
            os.mkdir(own_folder)
            programs(own_folder, ranks, *["--buffers"] * (ranks == 8))
        for name in ("pt2pt", "farm", "halo", "persistent"):
            exact(f"{name}, statuses ignored", [own(name)], "--leave")
        exact("modern (Fortran), statuses ignored", [own("modern")], "--leave")
        exact("f08 (Fortran 2008), statuses ignored", [own("f08")], "--leave")
        for name in ("comms", "inter", "types", "objects", "errors"):
            exact(f"{name}, the same without the judge", [own(name)], "--alone")
        exact("threads", [own("threads")], "--unordered")
        exact("calls that are left", [own("left")])
        exact("calls that are left, with buffers", [own("left")], "--buffers")
        exact("calls that threads leave", [own("left"), "threads"], "--unordered")
        for seed in range(1, 7):
            exact(f"random program {seed}", [own("random"), str(seed), "400"], ranks=3 + seed % 4)
        adverse = os.path.join(tap.BUILD, "bench/adverse")
        for kind in (("any-random", "120000", "32"), ("testsome-random", "100000", "32"), ("tags-random", "50000", "1000"),
                     ("any-drain-random", "60000", "64"), ("waitsome-random", "60000", "100"), ("types", "60000", "300")):
            exact(f"values without a rule: {kind[0]}", [adverse, *kind], ranks=1)
        exact("values without a rule: farm", [adverse, "farm", "120000"])
        exact("a single rank", [own("collectives")], ranks=1)
        exact("nothing but init and finalize", [own("ends"), "empty"])
        exact("children of fork", [own("ends"), "fork"])
        exact("exit status 3", [own("ends"), "exit3"], "--status", "3")
        exact("abort: every rank until it was killed", [own("ends"), "abort"], "--status", "7", "--partial")
        hpcc = shutil.which("hpcc")
        if hpcc:
            shutil.copy(HPCC, folder)
            exact("HPCC", [hpcc], "--chdir", folder, "--timeout", "240", ranks=8)
        else:
            tap.skip("HPCC, 8 ranks", "hpcc is not installed")
        compare_all()
        functions.check()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
