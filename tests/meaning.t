#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# meaning - what preload/mpi.table says that functions mean; and that nobody else decides it by name
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

sys.path.insert(0, os.path.join(tap.SOURCE, "preload"))
from generator import model, table  # noqa: E402

# Where a name of MPI in a string may be compared or searched for, and why.
EXCEPTIONS = {
    "gate/gate.c": "looks MPI's symbols up in the process",
    "gate/library.h": "tells MPI libraries by the symbols that they have",
    "preload/bind.c": "looks MPI's symbols up in the process",
    "preload/real.c": "looks MPI's symbols up in the process",
    "preload/launcher.c": "variables of the environment",
    "cmd/base/tasks.c": "variables of the environment",
    "preload/special.c": "OMPI's variable of the environment",
    "proxy/call_recipe.c": "writes MPI_IN_PLACE into a program",
    "proxy/call_short.c": "a type of C, in a program",
    "proxy/columns.c": "writes the types of handles into a program",
    "proxy/names.c": "the prefix of all names, which functions of a program leave out",
    "proxy/prelude.c": "writes a type into a program",
    "proxy/shape.c": "numbers with a name, in a program",
}
STRING = re.compile(r'"P?MPIX?_[A-Za-z_0-9]*"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

t = table.Table(os.path.join(tap.SOURCE, "preload", "mpi.table"))
rows = {f.name: model.members(f) for f in t.functions}


def declared(path):
    with open(path, encoding="utf-8") as f:
        return set(re.findall(r"\bP?(MPIX?_[A-Z]\w*)\s*\(", COMMENT.sub("", f.read())))


def unknown(names):
    return sorted(n for n in names if n not in rows and not t.excluded_because(n))


def wrong(title, expected, names):
    """expected: of a row, whether it is as it should be."""
    bad = [f"{n}: {rows[n]}" for n in names if not expected(rows[n])]
    tap.ok(names and not bad, title, *bad[:10])


with open(os.path.join(tap.BUILD, "preload", "coverage.list"), encoding="ascii") as f:
    here = {line.split()[0] for line in f}
tap.ok(not unknown(here), "every function of the library's mpi.h has its line", *unknown(here))
standard = {n for n in declared(os.path.join(tap.SOURCE, "tests/mpi41/mpi.h")) if re.match(r"MPIX?_[A-Z][a-z]\w*$", n) and not re.search(r"_function(_c)?$", n)}
tap.ok(len(standard) > 20 and not unknown(standard), f"and each of the {len(standard)} of tests/mpi41/mpi.h", *unknown(standard))

wrong("persistent forms wait for nobody", lambda r: r["form"] == "FORM_PERSISTENT" and "waits" not in r,
      [n for n in rows if re.search(r"_init(_c)?$", n) and n != "MPI_Session_init"])
wrong("non-blocking forms wait for nobody", lambda r: r["form"] == "FORM_NONBLOCKING" and "waits" not in r,
      [f.name for f in t.functions if f.starts_request and not f.is_persistent])
wrong("what returns a request has it among its parameters", lambda r: eval(r["at"].replace("{", "[").replace("}", "]"))[
    model.ALL_PARAMETERS.index("REQUEST")] >= 0, [f.name for f in t.functions if f.starts_request])
wrong("what calls itself collective by its form is", lambda r: "scope" in r, [f.name for f in t.functions if f.kind == "collective"])
wrong("what waits for all is collective", lambda r: "scope" in r, [n for n, r in rows.items() if r.get("waits") == "WAITS_FOR_ALL"])
wrong("the large-count form means the same", lambda r: {k: r.get(k) for k in ("base", "class", "form", "waits", "scope", "each")} ==
      {k: rows[r["function"][3:-2]].get(k) for k in ("base", "class", "form", "waits", "scope", "each")},
      [n for n in rows if n.endswith("_c") and n != "MPI_Type_get_contents_c" and n[:-2] in rows])
for name, wanted in {
        "MPI_Barrier": {"base": "FN_MPI_Barrier", "class": "MPI_CLASS_COLLECTIVE", "waits": "WAITS_FOR_ALL", "scope": "SCOPE_COMM"},
        "MPI_Barrier_init": {"base": "FN_MPI_Barrier", "form": "FORM_PERSISTENT", "waits": None},
        "MPIX_Barrier_init": {"base": "FN_MPI_Barrier", "form": "FORM_PERSISTENT", "waits": None},
        "MPI_Comm_create_group": {"class": "MPI_CLASS_COMMUNICATOR", "scope": "SCOPE_GROUP", "waits": "WAITS_FOR_ALL"},
        "MPI_Comm_create_errhandler": {"class": "MPI_CLASS_ERROR", "scope": None, "waits": None},
        "MPI_Isendrecv": {"base": "FN_MPI_Sendrecv", "class": "MPI_CLASS_POINT_TO_POINT", "form": "FORM_NONBLOCKING"},
        "MPI_Isendrecv_replace_c": {"base": "FN_MPI_Sendrecv_replace", "form": "FORM_NONBLOCKING", "large": "true"},
        "MPI_File_iread_all_c": {"base": "FN_MPI_File_read_all", "form": "FORM_NONBLOCKING", "scope": "SCOPE_FILE"},
        "MPI_Rput_c": {"base": "FN_MPI_Put", "form": "FORM_NONBLOCKING", "class": "MPI_CLASS_ONE_SIDED"},
        "MPI_Cancel": {"class": "MPI_CLASS_COMPLETION", "scope": None}, "MPI_Reduce_local": {"class": "MPI_CLASS_LOCAL", "scope": None},
        "MPI_Wait": {"completes": model.FACTS["completes_all"][1], "waits": "WAITS"}, "MPI_Test": {"completes": model.FACTS["completes_all"][1], "waits": None},
        "MPI_Allgatherv": {"in_place": "IN_PLACE_OWN"}, "MPI_Ialltoall": {"each": "EACH_PROCESS", "in_place": "IN_PLACE_SAME"}}.items():
    tap.equal({k: rows[name].get(k) for k in wanted}, wanted, name)

files = [path for path in glob.glob("*/**/*.[ch]", root_dir=tap.SOURCE, recursive=True)
         if not path.startswith(("tests/", "bench/", "abi/", "build/"))]
found = {}
for path in files:
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as f:
        names = STRING.findall(COMMENT.sub("", f.read()))
    if names:
        found[path] = names
strange = {p: sorted(set(n)) for p, n in found.items() if p not in EXCEPTIONS}
tap.ok(not strange, "nobody else decides by the names of functions", *[f"{p}: {n}" for p, n in strange.items()])
tap.ok(not set(EXCEPTIONS) - set(found), "each exception is one", *sorted(set(EXCEPTIONS) - set(found)))
tap.done()
