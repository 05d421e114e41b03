#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# headers - each function that a library's mpi.h declares is in preload/mpi.table, and in the flat log if it is an event
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mpich_programs  # noqa: E402
import tap  # noqa: E402

sys.path.insert(0, os.path.join(tap.SOURCE, "preload"))
from generator import table  # noqa: E402
sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "flatlog"))
import generate  # noqa: E402

FLATLOG = os.path.join(tap.SOURCE, "tests/flatlog")
DECLARED = re.compile(r"\bint\s+(MPIX?_[A-Z]\w+)\s*\(")
# Types of functions, and functions that libraries pass as arguments.
NO_FUNCTIONS = re.compile(r"MPIX?_(\w+_function(_c)?|[A-Z0-9_]+|Grequest_\w+_function)$")

# What the flat log does not know although it is an event, and why.
NOT_LOGGED = {
    r"MPI_Request_get_status_(all|any|some)": "of MPI 4.1: no test program calls it",
    r"MPIX_(Comm_iagree|Stream_\w+|\w+_enqueue(_c)?|Comm_get_stream|Comm_test_threadcomm|(Start|Stop)_progress_thread|Info_set_hex|Type_iov(_len)?)":
        "an extension of one library: no test program calls it"}

t = table.Table(os.path.join(tap.SOURCE, "preload", "mpi.table"))
rows = {f.name for f in t.functions}
with open(os.path.join(FLATLOG, "calls.table"), encoding="ascii") as f:
    old = {n for line in re.findall(r"^old (\S+)", f.read(), re.M) for n in generate.spread(line)}
by_hand = set()
for path in glob.glob(os.path.join(FLATLOG, "*.c")):
    with open(path, encoding="utf-8") as f:
        by_hand |= set(re.findall(r"^(?:int |SOME\()(MPIX?_\w+)[(),]", f.read(), re.M))


def declared(compiler):
    include = "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"
    text = subprocess.run([compiler, "-E", "-x", "c", "-"], input=include, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {n for n in DECLARED.findall(text) if not NO_FUNCTIONS.match(n)}


def logged(compiler):
    """Those that the library no longer has in its header, it may have all the same (`old`)."""
    text = subprocess.run([sys.executable, os.path.join(FLATLOG, "generate.py"), os.path.join(FLATLOG, "calls.table"), compiler],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    return set(re.findall(r"^int (MPIX?_\w+)\(", text, re.M)) | by_hand


for library, variable in (("Open MPI", "MPICC"), ("MPICH", "MPICH_CC")):
    compiler = mpich_programs.made(variable)
    if not compiler:
        tap.skip(f"{library}: its functions", "spoor was built without it")
        continue
    there, known = declared(compiler), logged(compiler)
    tap.ok(len(there) > 400, f"{library}: {len(there)} functions are declared")
    tap.equal(sorted(n for n in there if n not in rows and not t.excluded_because(n)), [], f"{library}: each is in preload/mpi.table, or left out there")
    left = {n: why for n in there & rows - known for pattern, why in NOT_LOGGED.items() if re.fullmatch(pattern, n)}
    tap.equal(sorted(n for n in there & rows - known if n not in left), [], f"{library}: the flat log knows each that is an event, or there is a reason")
    for why in sorted(set(left.values())):
        print(f"# {library}: {why}: {' '.join(sorted(n for n in left if left[n] == why))}")
    tap.equal(sorted(n for n in known - there - by_hand - old), [], f"{library}: and no other")
tap.done()
