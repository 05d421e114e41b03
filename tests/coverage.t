#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# coverage - every MPI function of the library is wrapped, or is left out for a reason that preload/mpi.table gives
#
# What there is is taken from two sources: mpi.h (preload/coverage.list, made by preload/generate.py --list), and the
# symbols of libmpi itself, so that a declaration that the generator does not understand is found too.
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


def find_libraries():
    """The folders of the libraries of the compiler wrapper that the tests use."""
    mpicc = "mpicc"
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        m = re.search(r"^MPICC = (\S+)", f.read(), re.M)
        mpicc = m.group(1) if m else mpicc
    try:
        run = subprocess.run([mpicc, "--showme:libdirs"], stdout=subprocess.PIPE, universal_newlines=True)
    except OSError:
        return []
    return run.stdout.split()


def find_library(name):
    """Its path; None if it cannot be found."""
    return next((p for p in (os.path.join(folder, name) for folder in find_libraries()) if os.path.exists(p)), None)


with open(os.path.join(tap.BUILD, "preload", "coverage.list"), encoding="ascii") as f:
    state = dict(line.rstrip("\n").split(" ", 1) for line in f)
wrapped = sorted(n for n, s in state.items() if s == "wrapped")
missing = sorted(n for n, s in state.items() if s == "missing")
excluded = {n: s.split(": ", 1)[1] for n, s in state.items() if s.startswith("excluded")}
with open(os.path.join(tap.SOURCE, "preload", "mpi.table"), encoding="ascii") as f:
    OUT = dict(re.findall(r"^exclude (\S+): (.*)", f.read(), re.M))

tap.ok(len(state) > 350, f"mpi.h declares {len(state)} functions, {len(wrapped)} of them are wrapped",
       "expected at least the 350 of MPI-3.1: is mpi.h read correctly?")
tap.ok(not missing, "every function of mpi.h is in preload/mpi.table",
       "add these functions (HACKING.md says how), or an `exclude` line with a reason:", *missing)
tap.ok(all(len(r) > 5 for r in excluded.values()), "every function that is left out has a reason")

libmpi = find_library("libmpi.so")
if libmpi:
    names = {n for n in symbols(libmpi) if re.match(r"MPIX?_[A-Z]\w*$", n) and not re.match(r"MPIX?_[A-Z0-9_]+(_f(08)?)?$|MPIX_\w+_f(08)?$", n)}
    unknown = sorted(names - set(state) - NO_FUNCTIONS)
    unknown = [n for n in unknown if not any(re.fullmatch(p.replace("*", ".*"), n) for p in OUT)]
    tap.ok(len(names) > 350 and not unknown, f"every function of {os.path.basename(libmpi)} is known",
           "these are in the library, but neither wrapped nor excluded:", *unknown)
else:
    tap.skip("every function of libmpi is known", "the MPI compiler wrapper does not say where libmpi is")

with open(os.path.join(tap.BUILD, "abi/openmpi/preload", "bindings.c"), encoding="ascii") as f:
    bound = re.findall(r'^\t{"(\w+)", ', f.read(), re.M)
if tap.equal((len(bound), bound), (len(set(bound)), sorted(n for n in bound if n[0] == "M") + sorted(n for n in bound if n[0] == "m")),
             "the table of wrappers has each name once, in order"):
    # what compilers make of a Fortran name is in preload/bind.c; tests/exact.t calls them
    exported = set(bound) | {n + "_" for n in bound if n[0] == "m"}
    absent = [n for n in wrapped if n not in exported]
    tap.ok(not absent, "the tracer defines every wrapped function for C", *absent)
    table = [("mpi.h", len(state), len(wrapped), len(excluded))]
    for title, library, ending in (("mpif.h, `use mpi`", "libmpi_mpifh.so", ""), ("mpi_f08", "libmpi_usempif08.so", "_f08")):
        path = find_library(library)
        if not path:
            tap.skip(f"every function of {title} is wrapped", f"{library} is not there")
            continue
        there = symbols(path)
        # those of mpif.h are told from mpi_f08's, and both from the library's own variables and MPI_SIZEOF
        pattern = re.compile(rf"(mpix?_(?!fortran_|sizeof_|conversion_fn)\w+?){ending}_$")
        functions = {m.group(1) for m in map(pattern.match, there) if m and not m.group(1).endswith("_")}
        if not ending:
            functions = {f for f in functions if "_f08" not in f and "p" + f + "_" in there}
        patterns = [(re.compile(re.escape(p).replace(r"\*", ".*").lower()), reason) for p, reason in OUT.items()]
        out = {f for f in functions if any(p.fullmatch(f) for p, reason in patterns)}
        absent = sorted(f for f in functions - out if f"{f}{ending}_" not in exported)
        tap.ok(len(functions) > 340 and not absent, f"every function of {title} is wrapped, or left out for the same reason",
               *[f"{f}{ending}_" for f in absent])
        table.append((title, len(functions), len(functions) - len(out) - len(absent), len(out)))
    small = [n for n in wrapped if not n.endswith("_c")]
    absent = [n for n in (n.lower() + end for n in small for end in ("", "_f08")) if n not in exported]
    tap.ok(not absent, "the tracer defines them for Fortran", *absent)
    tap.ok("mpi_send_f08ts_" in exported and "mpi_comm_rank_f08ts_" not in exported,
           "and those with choice buffers for mpi_f08 with descriptors")
    print("#\n# binding              functions   wrapped   left out")
    for title, functions, with_wrapper, without in table:
        print(f"# {title:20} {functions:9} {with_wrapper:9} {without:10}")
    for reason in sorted(set(excluded.values())):
        names = [n for n in sorted(excluded) if excluded[n] == reason]
        print(f"# left out, {len(names)}: {reason}: {' '.join(names)}")
    extra = sorted(n for n in exported if re.match(r"MPIX?_[A-Z][a-z]\w*$", n) and n not in wrapped and not n.endswith("_F08"))
    tap.ok(not extra, "and no function that is not in the library", *extra)
tap.done()
