#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# coverage - every MPI function of the library is wrapped, or is left out for a reason that preload/mpi.table gives
#
# What there is is taken from two sources: mpi.h (preload/coverage.list, made by preload/generate.py --list), and the
# symbols of libmpi itself, so that a declaration that the generator does not understand is found too.
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

# Names of libmpi that are no functions for applications.
NO_FUNCTIONS = {"MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE"}


def symbols(path):
    run = subprocess.run(["nm", "-D", "--defined-only", path], check=True, stdout=subprocess.PIPE,
                         universal_newlines=True)
    return {line.split()[-1].split("@")[0] for line in run.stdout.splitlines()}


def find_libmpi():
    """The libmpi of the compiler wrapper that the tests use; None if it cannot be found."""
    mpicc = "mpicc"
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        m = re.search(r"^MPICC = (\S+)", f.read(), re.M)
        mpicc = m.group(1) if m else mpicc
    try:
        run = subprocess.run([mpicc, "--showme:libdirs"], stdout=subprocess.PIPE, universal_newlines=True)
    except OSError:
        return None
    paths = [os.path.join(folder, "libmpi.so") for folder in run.stdout.split()]
    return next((p for p in paths if os.path.exists(p)), None)


with open(os.path.join(tap.BUILD, "preload", "coverage.list"), encoding="ascii") as f:
    state = dict(line.rstrip("\n").split(" ", 1) for line in f)
wrapped = sorted(n for n, s in state.items() if s == "wrapped")
missing = sorted(n for n, s in state.items() if s == "missing")
excluded = {n: s.split(": ", 1)[1] for n, s in state.items() if s.startswith("excluded")}
for name, reason in sorted(excluded.items()):
    print(f"# not wrapped: {name}: {reason}")

tap.ok(len(state) > 350, f"mpi.h declares {len(state)} functions, {len(wrapped)} of them are wrapped",
       "expected at least the 350 of MPI-3.1: is mpi.h read correctly?")
tap.ok(not missing, "every function of mpi.h is in preload/mpi.table",
       "add these functions (HACKING.md says how), or an `exclude` line with a reason:", *missing)
tap.ok(all(len(r) > 5 for r in excluded.values()), "every function that is left out has a reason")

libmpi = find_libmpi()
if libmpi:
    names = {n for n in symbols(libmpi) if re.match(r"MPI_[A-Z]\w*$", n) and not re.match(r"MPI_[A-Z0-9_]+$", n)}
    unknown = sorted(names - set(state) - NO_FUNCTIONS)
    with open(os.path.join(tap.SOURCE, "preload", "mpi.table"), encoding="ascii") as f:
        patterns = re.findall(r"^exclude (\S+): ", f.read(), re.M)
    unknown = [n for n in unknown if not any(re.fullmatch(p.replace("*", ".*"), n) for p in patterns)]
    tap.ok(len(names) > 350 and not unknown, f"every function of {os.path.basename(libmpi)} is known",
           "these are in the library, but neither wrapped nor excluded:", *unknown)
else:
    tap.skip("every function of libmpi is known", "the MPI compiler wrapper does not say where libmpi is")

libraries = glob.glob(os.path.join(tap.BUILD, "**", ".libs", "libspoor-preload.so"), recursive=True)
if tap.equal(len(libraries), 1, "libspoor-preload.so was built once"):
    exported = symbols(libraries[0])
    absent = [n for n in wrapped if n not in exported]
    tap.ok(not absent, "the tracer defines every wrapped function for C", *absent)
    fortran = [spelled for n in wrapped for spelled in (n.lower(), n.lower() + "_", n.lower() + "__", n.upper())]
    absent = [n for n in fortran if n not in exported]
    tap.ok(not absent, "and for Fortran, in four spellings", *absent)
    extra = sorted(n for n in exported if re.match(r"MPI_[A-Z][a-z]\w*$", n) and n not in wrapped)
    tap.ok(not extra, "and no function that is not in the library", *extra)
tap.done()
