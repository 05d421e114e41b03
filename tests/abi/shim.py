#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""shim - makes a library of the standard's ABI from MPICH: libmpi_abi.so.0, whose functions convert what they are passed

    shim.py --build BUILD --cc CC --mpich-cppflags FLAGS --output FOLDER

What a parameter is follows from preload/mpi.table; shim.c has the functions of which that does not say enough. Functions
that MPICH has not, and a few that take functions of the application, return MPI_ERR_UNSUPPORTED_OPERATION.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "preload"))
from generator import library, table  # noqa: E402

INTEGERS = ("int", "logical", "aint", "aint1", "offset", "count")
C_TYPES = {"int": "int", "logical": "int", "mask": "int", "weights": "int", "aint": "MPI_Aint", "aint1": "MPI_Aint",
           "offset": "MPI_Offset", "count": "MPI_Count"}
UNSUPPORTED = re.compile(r"MPI_(Comm_spawn|Register_datarep|Op_create_c|Session_create_errhandler|Type_get_contents_c)")


def own_type(role):
    return table.HANDLES[role.name][0]


def bits(role):
    return "(intptr_t)" if role.name == "file" else "(intptr_t)(unsigned)"


def pairs(role):
    return f"pairs_{role.name}"


class Wrapper:
    """The text of one function: before the call, what is passed, after it."""

    def __init__(self, f, prototype):
        self.f, self.before, self.arguments, self.after = f, [], [], []
        self.comm = next((p for p in f.parameters if p.role.name == "comm" and not p.is_output), None)
        self.declared = []
        for p, declaration in zip(f.parameters, prototype.parameters):
            self.declared.append(re.sub(r"\bMPI_(Comm|Datatype|Errhandler|File|Group|Info|Message|Op|Request|Session|Win)\b", "std_handle",
                                        re.sub(r"\bMPI_Status\b", "std_status", re.sub(r"MPI_\w+_function(_c)? \*", "void *", declaration))))
            self.parameter(p)

    def length(self, p):
        """The C expression of an array's length; None: not a simple one."""
        if p.length in ("peers", "size", "indegree", "outdegree") and not any(q.name == p.length for q in self.f.parameters):
            own = f"own_{self.comm.name}"
            return f"degree({own}, {int(p.length == 'outdegree')})" if "degree" in p.length else f"peers({own})"
        out = next((q for q in self.f.parameters if q.name == p.length and q.is_output), None)
        if out:
            return next(q.name for q in self.f.parameters if q.name == "incount")
        return p.length if re.fullmatch(r"\w+", p.length) else None

    def array(self, p):
        n = self.length(p)
        if p.role.type == "handle":
            if not n:
                raise NotImplementedError(p.name)
            t, own = own_type(p.role), f"own_{p.name}"
            skip = " && sendbuf != (void *)1" if "sendbuf" in p.conditions else ""
            self.before.append(f"int n_{p.name} = {n};")
            self.before.append(f"{t} *{own} = malloc(sizeof({t}) * ((size_t)(n_{p.name} > 0 ? n_{p.name} : 0) + 1));")
            self.before.append(f"for (int i = 0; {p.name} && i < n_{p.name}{skip}; i++)\n"
                               f"\t\t{own}[i] = ({t})handle_in({pairs(p.role)}, {p.name}[i]);")
            self.arguments.append(f"{p.name} ? {own} : NULL")
            if p.is_output or p.on_entry:
                self.after.append(f"for (int i = 0; {p.name} && i < n_{p.name}; i++)\n"
                                  f"\t\t{p.name}[i] = handle_out({pairs(p.role)}, {bits(p.role)}{own}[i]);")
            if not self.f.starts_request:  # else it may be read until the request is complete
                self.after.append(f"free({own});")
        elif p.role.type == "status":
            own = f"own_{p.name}"
            self.before.append(f"MPI_Status *{own} = malloc(sizeof(MPI_Status) * ((size_t){n} + 1));")
            self.before.append(f"for (int i = 0; {p.name} && i < {n}; i++)\n\t\tstatus_in(&{own}[i], &{p.name}[i]);")
            self.arguments.append(f"{p.name} ? {own} : MPI_STATUSES_IGNORE")
            self.after.append(f"for (int i = 0; {p.name} && i < {n}; i++)\n"
                              f"\t\tstatus_out(&{p.name}[i], &{own}[i], {p.name}[i].MPI_ERROR);")
            self.after.append(f"free({own});")
        elif p.role.type == "weights":
            self.arguments.append(f"(int *)weights_in({p.name})")
        elif p.role.constants and n and p.role.type == "int":
            own = f"own_{p.name}"
            self.before.append(f"int *{own} = malloc(sizeof(int) * ((size_t)({n} > 0 ? {n} : 0) + 1));")
            self.before.append(f"for (int i = 0; {p.name} && i < {n}; i++)\n\t\t{own}[i] = (int)pass_in({pairs(p.role)}, {p.name}[i]);")
            self.arguments.append(f"{p.name} ? {own} : NULL")
            if p.is_output:
                self.after.append(f"for (int i = 0; {p.name} && i < {n}; i++)\n\t\t{p.name}[i] = (int)pass_out({pairs(p.role)}, {own}[i]);")
            self.after.append(f"free({own});")
        else:
            self.arguments.append(f"(void *){p.name}")

    def parameter(self, p):
        name, type, own = p.name, p.role.type, f"own_{p.name}"
        if p.length and name != "ranges":
            self.array(p)
        elif type == "handle":
            t = own_type(p.role)
            by_address = p.is_output or p.on_entry
            first = f"({t})handle_in({pairs(p.role)}, {'*' if by_address else ''}{name})"
            if p.direction == ">":
                first = f"({t})0"
            elif by_address:
                first = f"{name} ? {first} : ({t})0"
            self.before.insert(0 if p is self.comm else len(self.before), f"{t} {own} = {first};")  # others ask it how long they are
            self.arguments.append(f"{name} ? &{own} : NULL" if by_address else own)
            if by_address:
                self.after.append(f"if (rc == MPI_SUCCESS && {name})\n\t\t*{name} = handle_out({pairs(p.role)}, {bits(p.role)}{own});")
        elif type == "status":
            self.before.append(f"MPI_Status {own};\n\tif ({name})\n\t\tstatus_in(&{own}, {name});")
            self.arguments.append(f"{name} ? &{own} : MPI_STATUS_IGNORE")
            if p.is_output:
                self.after.append(f"if ({name})\n\t\tstatus_out({name}, &{own}, {name}->MPI_ERROR);")
        elif type == "buffer":
            self.arguments.append(f"(void *)buffer_in({name})")
        elif type == "mask" or type in INTEGERS and (p.role.constants or p.role.name == "error"):
            kind = "mask" if type == "mask" else "pass"
            if p.is_output:
                self.arguments.append(name)
                self.after.append(f"if (rc == MPI_SUCCESS && {name})\n\t\t*{name} = ({C_TYPES[type]}){kind}_out({pairs(p.role)}, *{name});")
            elif p.on_entry:
                self.arguments.append(name)
            else:
                self.arguments.append(f"({C_TYPES[type]}){kind}_in({pairs(p.role)}, {name})")
        else:
            self.arguments.append(name)

    def text(self):
        before = "".join(f"\t{line}\n" for line in self.before)
        after = "".join(f"\t{line}\n" for line in self.after)
        return (f"DEFINE(int, {self.f.name}, ({', '.join(self.declared) or 'void'}))\n{{\n{before}"
                f"\tint rc = BEHIND({self.f.name})({', '.join(self.arguments)});\n{after}\treturn code_out(rc);\n}}\n\n")


def unsupported(name, prototype):
    declared = re.sub(r"\bMPI_Status\b", "std_status", ", ".join(prototype.parameters) or "void")
    declared = re.sub(r"\bMPI_(?!Aint|Offset|Count|Fint)(\w+)", lambda m: "void" if "function" in m[1] else "std_handle", declared)
    result = re.sub(r"MPI_(?!Aint|Offset|Count|Fint)\w+", "std_handle", prototype.result)
    return f"DEFINE({result}, {name}, ({declared}))\n{{\n\treturn ({result})STD_MPI_ERR_UNSUPPORTED_OPERATION;\n}}\n\n"


def conversions():
    out = []
    for role, (type, f2c) in table.HANDLES.items():
        name = f2c[: -len("_f2c")]
        out.append(f"DEFINE(int, {name}_toint, (std_handle h))\n{{\n\treturn (int)(intptr_t)h;\n}}\n\n"
                   f"DEFINE(std_handle, {name}_fromint, (int h))\n{{\n\treturn (std_handle)(uintptr_t)(unsigned)h;\n}}\n\n")
    return "".join(out)


def values(cc, flags, names, folder):
    """values.h: the standard's values, as its header has them."""
    source, program = os.path.join(folder, "values.c"), os.path.join(folder, "values")
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\n#include <stdio.h>\nint main(void)\n{\n" +
                "".join(f'\tprintf("#define STD_{n} %lld\\n", (long long)(intptr_t){n});\n' for n in names) + "}\n")
    subprocess.run([*cc, *flags, "-w", "-o", program, source], check=True)
    with open(os.path.join(folder, "values.h"), "wb") as f:
        subprocess.run([program], stdout=f, check=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--build", required=True)
    a.add_argument("--cc", default="cc")
    a.add_argument("--mpich-cppflags", default="")
    a.add_argument("--output", required=True)
    a = a.parse_args()
    cc, own_flags = shlex.split(a.cc), shlex.split(a.mpich_cppflags)
    flags = ["-I" + os.path.join(SOURCE, "preload/abi/standard"), "-I" + os.path.join(a.build, "abi/standard")]
    t = table.Table(os.path.join(SOURCE, "preload/mpi.table"))
    std, own = library.Library(cc, flags, t.constants()), library.Library(cc, own_flags, t.constants())
    both = [c for c in t.constants() if c in std.values and c in own.values]
    values(cc, flags, [c for c in t.constants() if c in std.values] + ["MPI_TYPECLASS_REAL", "MPI_TYPECLASS_INTEGER"], a.output)
    out = ['#include "shim.h"\n\n']
    for r in t.roles.values():
        if r.type in ("weights", "void", "status", "buffer", "names", "string") or not r.constants:
            continue
        kind = bits(r) if r.type == "handle" else ""
        listed = [c for c in r.constants if c in both]
        out.append(f"static const struct pair pair_{r.name}[] = {{\n" + "".join(f"\t{{STD_{c}, {kind}{c}}},\n" for c in listed) + "};\n"
                   f"const struct pairs {pairs(r)} = {{pair_{r.name}, {len(listed)}}};\n\n")
    with open(os.path.join(HERE, "shim.c"), encoding="ascii") as f:
        written = set(re.findall(r"\b(MPI_\w+)", " ".join(re.findall(r"DEFINE\(\w+,\s+(MPI_\w+)", f.read()))))
    written |= {f"MPI_{k}_create_{w}" for k in ("Comm", "Type", "Win", "File") for w in ("keyval", "errhandler")}
    count = 0
    for name, prototype in std.prototypes.items():
        if name in written or re.search(r"_(to|from)int$", name):
            continue
        f = t.by_name.get(name)
        if f and name in own.prototypes and not UNSUPPORTED.match(name):
            out.append(Wrapper(f, prototype).text())
            count += 1
        else:
            out.append(unsupported(name, prototype))
    out.append(conversions())
    with open(os.path.join(a.output, "functions.c"), "w", encoding="ascii") as f:
        f.write("".join(out))
    shared = os.path.join(a.output, "libmpi_abi.so.0")
    subprocess.run([*cc, "-std=gnu11", "-O1", "-g", "-w", "-fPIC", "-shared", "-Wl,-soname,libmpi_abi.so.0", "-I" + HERE, "-I" + a.output, *own_flags, "-o", shared,
                    os.path.join(a.output, "functions.c"), os.path.join(HERE, "shim.c"), "-ldl"], check=True)
    print(f"{count} functions are MPICH's")


if __name__ == "__main__":
    main()
