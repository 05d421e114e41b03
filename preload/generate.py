#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate - makes the schema and the MPI wrappers from mpi.table and the library's mpi.h

    generate.py [--cc CC] [--cppflags=FLAGS] [--output FOLDER]     FOLDER (default .) gets the files below
    generate.py --list [...]                                       prints functions: wrapped, excluded, missing
    generate.py --schema [--output FOLDER]                         schema.h, schema.c: what is not in mpi_functions[].schema
    generate.py --prototypes [--output FOLDER]                     mpi_functions.h, for the mpi.h of the standard's ABI
    generate.py --model [--output FOLDER]                          mpi_table.h, mpi_table.c: what functions mean (trace/model/mpi.h)

    calls.h calls.c      prototypes, names and predefined handles of the library (see real.h)
    bindings.c           which wrapper stands for which name (see bind.h)
    roles.h              encodes values by role (see put.h)
    record.h             what the wrappers of C and of Fortran share
    record_buffers.c     what they share where buffers are recorded
    wrap_c1.c ...        wrappers of the C functions, in parts: in a large file the compiler expands less in place
    wrap_c_seldom.c      those that no program calls often (preload/seldom.h)
    wrap_fortran.c       wrappers of the Fortran functions of mpif.h, `use mpi` and mpi_f08
    wrap_fortran_seldom.c    those that no program calls often

Run by make; python3's standard library only. A function that mpi.h declares and the table does not know is reported,
and has no wrapper: the application calls the library itself then.
"""
import argparse
import os
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from generator import c, completion, fortran, library, model, prototype, record, schema, table  # noqa: E402

PARTS = 3  # files of C wrappers


def write(folder, name, text):
    """Writes only what has changed, so that make compiles only that."""
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="ascii") as f:
            if f.read() == text:
                os.utime(path)
                return
    except OSError:
        pass
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write(text)
    os.replace(path + ".new", path)


def check_prototypes(functions, lib):
    for f in functions:
        p = lib.prototypes[f.name]
        declared = [d for d in p.parameters if d != "..."]
        if len(declared) != len(f.parameters):
            raise table.TableError(f"mpi.table: {f.name} has {len(f.parameters)} parameters, in mpi.h {len(declared)}: "
                                   f"{', '.join(p.parameters)}")


def generate(t, lib, folder):
    functions = [f for f in t.functions if f.name in lib.prototypes]
    check_prototypes(functions, lib)
    generated = [f for f in functions if not f.by_hand or f.completes]  # the former in C only
    write(folder, "calls.h", schema.calls_h(t, lib))
    write(folder, "calls.c", schema.calls_c(t, lib))
    write(folder, "bindings.c", schema.bindings_c(t, lib))
    write(folder, "roles.h", schema.roles_h(t, lib))
    guard = '#ifndef SPOOR_WRAPPERS_RECORD_H\n#define SPOOR_WRAPPERS_RECORD_H\n\n#include "preload/completion.h"\n#include "preload/special.h"\n\n'
    write(folder, "record.h", schema.MARK + guard +
          "".join((completion.record_signature if f.completes else record.signature)(f) + ";\n" for f in generated) +
          "\n/* The same where buffers are recorded. */\n" +
          "".join(record.signature(f, True) + ";\n" for f in generated if f.has_buffers and not f.is_seldom) + "\n#endif\n")
    head = schema.MARK + '#include "preload/record.h"\n\n'
    often = [f for f in generated if not fortran.is_shared(f)]
    for i in range(PARTS):
        part = often[i * len(often) // PARTS : (i + 1) * len(often) // PARTS]
        write(folder, f"wrap_c{i + 1}.c", head + "\n".join(c.source(f, lib.prototypes[f.name]) for f in part))
    write(folder, "wrap_fortran.c", schema.MARK + '#include "preload/fortran.h"\n#include "preload/record.h"\n\n' + fortran.source(generated))
    head = schema.MARK + '#include "preload/record.h"\n#include "preload/seldom.h"\n\n'
    write(folder, "record_buffers.c", head + "\n".join(record.Recorder(f, True).function() for f in often if f.has_buffers))
    write(folder, "wrap_c_seldom.c", head + "\n".join(c.source(f, lib.prototypes[f.name]) for f in generated if fortran.is_shared(f)))
    write(folder, "wrap_fortran_seldom.c", head + fortran.source_shared(generated))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--cc", default="cc")
    a.add_argument("--cppflags", default="")
    a.add_argument("--table", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi.table"))
    a.add_argument("--output", default=".")
    a.add_argument("--list", action="store_true")
    a.add_argument("--model", action="store_true")
    a.add_argument("--schema", action="store_true")
    a.add_argument("--prototypes", action="store_true")
    a = a.parse_args()
    try:
        t = table.Table(a.table)
        if a.schema:
            write(a.output, "schema.h", schema.schema_h(t))
            write(a.output, "schema.c", schema.schema_c(t))
            return 0
        if a.prototypes:
            write(a.output, "mpi_functions.h", prototype.functions_h(t))
            return 0
        if a.model:
            write(a.output, "mpi_table.h", model.table_h(t))
            write(a.output, "mpi_table.c", model.table_c(t))
            return 0
        lib = library.Library(shlex.split(a.cc), shlex.split(a.cppflags), t.constants())
        missing = [n for n in sorted(lib.prototypes) if n not in t.by_name and not t.excluded_because(n)]
        if a.list:
            for name in sorted(lib.prototypes):
                reason = t.excluded_because(name)
                print(name, "wrapped" if name in t.by_name else f"excluded: {reason}" if reason else "missing")
            return 0
        for name in missing:
            print(f"generate.py: mpi.h declares {name}, which is not in mpi.table: it will not be recorded",
                  file=sys.stderr)
        os.makedirs(a.output, exist_ok=True)
        generate(t, lib, a.output)
        return 0
    except (table.TableError, library.LibraryError, OSError) as e:
        print(f"generate.py: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
