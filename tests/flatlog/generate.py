#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate - writes the flat logger's wrappers (C and Fortran) from calls.table

Usage: generate.py calls.table [COMPILER...] > wrappers.c

With a compiler (mpicc) it leaves out what that library's mpi.h does not declare, and adds the large-count form MPI_Xyz_c
of each function that has one there: what is wider is taken from its declaration.

A wrapper says its inputs into the line's parts, calls the next function of that name, says its outputs, writes the line:

    int MPI_Comm_rank(MPI_Comm comm, int *rank)
    {
            NEXT(MPI_Comm_rank, int, (MPI_Comm, int *));
            struct line l;
            if (!line_begin(&l, "MPI_Comm_rank", __builtin_return_address(0)))
                    return next(comm, rank);
            line_put(&l, 0, "comm", say_comm(comm));
            line_absent(&l, 1, "rank");
            int rc = next(comm, rank);
            if (line_end(&l, rc)) {
                    line_put(&l, 1, "rank", say_peer(*rank));
            }
            line_write(&l);
            return rc;
    }
"""
import copy
import re
import subprocess
import sys

# kind: (C type, Fortran's type where it is not the same, how a value is said, conversion of a Fortran handle to C)
INT = ("int", "int")
KINDS = {
    "int": (*INT, "say_int", ""),
    "count": (*INT, "say_count", ""),
    "peer": (*INT, "say_peer", ""),
    "tag": (*INT, "say_tag", ""),
    "flag": (*INT, "say_flag", ""),
    "thread": (*INT, "say_thread", ""),
    "relation": (*INT, "say_relation", ""),
    "split": (*INT, "say_split", ""),
    "lock": (*INT, "say_lock", ""),
    "order": (*INT, "say_order", ""),
    "combiner": (*INT, "say_combiner", ""),
    "typeclass": (*INT, "say_typeclass", ""),
    "distribute": (*INT, "say_distribute", ""),
    "darg": (*INT, "say_darg", ""),
    "seek": (*INT, "say_seek", ""),
    "topology": (*INT, "say_topology", ""),
    "rma_assert": (*INT, "say_rma_assert", ""),
    "amode": (*INT, "say_amode", ""),
    "weight": (*INT, "say_int", ""),
    "triple": (*INT, "say_int", ""),
    "unsaid": (*INT, "say_int", ""),
    "session": ("MPI_Session", "int", "say_session", "PMPI_Session_f2c"),
    "keyval": (*INT, "say_keyval", ""),
    "aint": ("MPI_Aint", "MPI_Aint", "say_int", ""),
    "aint1": ("MPI_Aint", "int", "say_int", ""),  # MPI-1's Fortran has no INTEGER of another size
    "offset": ("MPI_Offset", "MPI_Offset", "say_int", ""),
    "bigcount": ("MPI_Count", "MPI_Count", "say_count", ""),
    "comm": ("MPI_Comm", "int", "say_comm", "PMPI_Comm_f2c"),
    "type": ("MPI_Datatype", "int", "say_type", "PMPI_Type_f2c"),
    "group": ("MPI_Group", "int", "say_group", "PMPI_Group_f2c"),
    "op": ("MPI_Op", "int", "say_op", "PMPI_Op_f2c"),
    "win": ("MPI_Win", "int", "say_win", "PMPI_Win_f2c"),
    "file": ("MPI_File", "int", "say_file", "PMPI_File_f2c"),
    "info": ("MPI_Info", "int", "say_info", "PMPI_Info_f2c"),
    "errhandler": ("MPI_Errhandler", "int", "say_errhandler", "PMPI_Errhandler_f2c"),
    "message": ("MPI_Message", "int", "say_message", "PMPI_Message_f2c"),
    "liverequest": ("MPI_Request", "int", "say_live_request", "PMPI_Request_f2c"),
    "request": ("MPI_Request", "int", "say_new_request", "PMPI_Request_f2c"),
    # not values: see the branches below
    "buf": ("void *", None, None, ""),
    "cbuf": ("const void *", None, None, ""),
    "rmabuf": (None, None, None, ""),
    "place": ("void *", None, None, ""),
    "cplace": ("const void *", None, None, ""),
    "pointer": (None, None, None, ""),
    "pointed": (None, "int", None, ""),
    "string": ("char *", None, None, ""),
    "cstring": ("char *", None, None, ""),
    "status": ("MPI_Status *", "int *", None, ""),
    "nostatus": ("MPI_Status *", "int *", None, ""),
    "moved": ("MPI_Status *", "int *", None, ""),
}
BUFFERS = ("buf", "cbuf", "rmabuf", "place", "cplace", "pointer")
STRINGS = ("string", "cstring")
STATUSES = ("status", "nostatus", "moved")

# `use mpi` has a second specific procedure of these, whose baseptr is a TYPE(C_PTR).
TAKES_C_PTR = ("MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query")

# A handle that is returned is the application's to free, also if it was returned before; of these kinds it may have been.
RETURNED = ("group", "errhandler", "type")
LENT = ("MPI_Type_get_value_index", "MPI_Type_create_f90_integer", "MPI_Type_create_f90_real", "MPI_Type_create_f90_complex", "MPI_Type_match_size")

PARAMETER = re.compile(r"""(?P<mark>[>=~]?)(?P<name>\w+):(?P<kind>\w+)
                           (?:\((?P<note>[^)]*)\))?
                           (?:\[(?P<array>.*?)\](?=$|\?))?
                           (?:\?(?P<when>.*))?$""", re.X)


class Parameter:
    def __init__(self, text):
        m = PARAMETER.match(text)
        if not m or m["kind"] not in KINDS:
            sys.exit(f"generate.py: not a parameter: {text}")
        self.mark, self.name, self.kind, self.note = m["mark"], m["name"], m["kind"], m["note"]
        self.array, self.when = m["array"], m["when"]
        self.ctype, self.ftype, self.say, self.f2c = KINDS[self.kind]
        self.constant = True

    def as_declared(self, declared):
        """The same as this part of a declaration has it: some libraries declare a status that is only read as not const."""
        own = copy.copy(self)
        own.constant = "const" in declared
        return own

    def widened(self, declared):
        """The same of a large-count form, of whose declaration this is the parameter's part."""
        wide = self.as_declared(declared)
        if self.ctype in ("int", "MPI_Aint"):
            wide.ctype = next((c for c in ("MPI_Count", "MPI_Aint") if c in declared), self.ctype)
            wide.ftype = self.ftype if wide.ctype == self.ctype else wide.ctype
        if self.note and self.note.endswith("_function") and self.note + "_c" in declared:
            wide.note += "_c"
        return wide

    def silent(self):
        return self.kind in ("pointer", "unsaid")

    def is_buffer(self):
        return self.kind in BUFFERS and self.kind != "pointer"

    def by_pointer(self):
        """Is it a pointer in C?"""
        return bool(self.mark or self.array or self.kind == "pointed")

    def c(self, function):
        """Its declaration in C."""
        n = self.name
        if self.kind == "pointer" and self.note == "strings":
            return f"char *{n}[]"
        if self.kind == "pointer":
            return f"{'const ' if self.note == 'const' else ''}{'void' if self.note == 'const' else self.note} *{n}"
        if self.kind == "rmabuf":
            return f"{'const ' if 'ut' in function else ''}void *{n}"
        if self.kind in BUFFERS:
            return f"{self.ctype}{n}"
        if self.kind in STRINGS:
            return f"{'' if self.mark else 'const '}char *{n}"
        if self.kind in STATUSES:
            return f"{'const ' if self.constant and not self.mark else ''}MPI_Status *{n}"
        if self.kind == "pointed":
            return f"{KINDS[self.note][0]} *{n}"
        if self.kind == "triple":
            return f"int {n}[][3]"
        if self.array:
            return f"{'' if self.mark or self.kind == 'indices' else 'const '}{self.ctype} {n}[]"
        return f"{self.ctype} *{n}" if self.mark else f"{self.ctype} {n}"

    def fortran(self):
        """Its declaration in the Fortran wrapper: everything is an address."""
        if self.kind in BUFFERS:
            return f"void *{self.name}_f"
        if self.kind in STRINGS:
            return f"char *{self.name}_f"
        return f"{self.ftype.rstrip(' *')} *{self.name}_f"

    def value(self, fortran, index=None):
        """The expression of its value (of element index) in C's terms."""
        name = self.name + ("_f" if fortran else "")
        if index is not None:
            v = f"((int *){name})[{index}]" if self.kind == "triple" else f"{name}[{index}]"
        elif fortran or self.by_pointer():
            v = f"*{name}"
        else:
            v = name
        f2c = KINDS[self.note][3] if self.kind == "pointed" else self.f2c
        return f"{f2c}({v})" if fortran and f2c else v

    def put(self, i, fortran):
        """The statements that say it into part i."""
        name = self.name + ("_f" if fortran else "")
        shown = f'"{self.name}"'
        if self.is_buffer():
            text = f'line_put_buffer(&l, {i}, {shown}, {name}, {self.when or "true"}, {int("place" in self.kind)});'
            return text
        if self.kind in STRINGS:
            text = f'line_put(&l, {i}, {shown}, ' + (
                f"say_string({name}, fortran_length({name}, {name}_length))" if fortran else
                f"say_string({name}, strlen({name}))") + ");"
        elif self.kind == "status":
            note = self.note or "MPI_BYTE"
            text = ("line_put_fstatus" if fortran else "line_put_status") + f"(&l, {i}, {shown}, {name}, {note}, {'true' if self.mark == '>' else 'false'});"
        elif self.kind == "moved":
            text = ("line_put_fmoved" if fortran else "line_put_moved") + f"(&l, {i}, {shown}, {name}, {self.note or 'MPI_BYTE'});"
        elif self.kind == "nostatus":
            text = f"line_absent_status(&l, {i}, {shown});"
        elif self.array:
            say = f"SAY_ARRAY({self.array}, {self.say}({self.value(fortran, 'i_')}))"
            if self.kind == "weight":
                say = f"unweighted({name}) ? say_weights({name}) : {say}"
            text = f"line_put(&l, {i}, {shown}, {say});"
        elif self.kind == "request":
            text = f"line_put(&l, {i}, {shown}, say_new_request({self.value(fortran)}, {self.note}));"
        elif self.kind == "pointed":
            text = f"line_put(&l, {i}, {shown}, {KINDS[self.note][2]}({self.value(fortran)}));"
        else:
            text = f"line_put(&l, {i}, {shown}, {self.say}({self.value(fortran)}));"
        return f"if ({self.when}) {text}" if self.when else text

    def absent(self, i):
        kind = "_status" if self.kind in STATUSES else ""
        return f'line_absent{kind}(&l, {i}, "{self.name}");'


def wrapper(function, parameters, fortran=None):
    """The text of one wrapper. fortran: the ending of its name in Fortran, None for C."""
    out, descriptors = [], [p.name for p in parameters if p.is_buffer()] if fortran == "_f08ts_" else []
    if fortran:
        name = (function.lower().removesuffix("_c") + fortran + "large_" if function.endswith("_c") else function.lower() + fortran)
        declared = [p.fortran() for p in parameters] + ["int *ierror_f"]
        passed = [p.name + "_f" for p in parameters] + ["ierror_f"]
        lengths = [p.name + "_f_length" for p in parameters if p.kind in STRINGS]
        declared += ["size_t " + n for n in lengths]
        passed += lengths
        declared, passed = ([re.sub(r"\b(\w+)_f$", lambda m: m[1] + "_d" if m[1] in descriptors else m[0], x) for x in words]
                            for words in (declared, passed))
        result = "void"
    else:
        name = function
        declared = [p.c(function) for p in parameters]
        passed = [p.name for p in parameters]
        result = "int"
    signature = ", ".join(declared) or "void"
    call = f"next({', '.join(passed)})"
    out.append(f"{result} {name}({signature})")
    out.append("{")
    out.append(f"NEXT({name}, {result}, ({signature}));")
    out += [f"void *{b}_f = *(void **){b}_d;" for b in descriptors]
    out.append("struct line l;")
    if fortran:
        out.append(f'if (!line_begin(&l, "{function}", __builtin_return_address(0))) {{ {call}; return; }}')
        # what the expressions of arrays, conditions and notes speak of, as a C program would have it
        said = " ".join(f"{p.array or ''} {p.when or ''} {p.note or ''}" for p in parameters)
        for p in parameters:
            if not re.search(rf"\b{p.name}\b", said):
                continue
            if p.kind in BUFFERS or p.by_pointer():
                out.append(f"__typeof__({p.name}_f) {p.name} = {p.name}_f;")
            else:
                out.append(f"{p.ctype} {p.name} = {p.value(True)};")
    else:
        out.append(f'if (!line_begin(&l, "{function}", __builtin_return_address(0))) return {call};')
    room = next((p for p in parameters if p.mark == "=" and any(re.search(r"\broom\b", q.when or "") for q in parameters)), None)
    if room:
        out.append(f"bool room = {room.value(bool(fortran))} > 0;")
    # inputs, and `-` for what may not come
    for i, p in enumerate(parameters):
        if p.silent():
            continue
        if p.mark in (">", "=") or p.when and not p.is_buffer():
            out.append(p.absent(i))
        if p.mark not in (">", "="):
            out.append(p.put(i, fortran))
        if p.mark == "~":
            out.append(f"__typeof__({p.value(fortran)}) old_{p.name} = {p.value(fortran)};")
            out.append(f"freeing_{p.kind}(old_{p.name});")
        if p.kind in ("status", "moved") and p.mark:
            out.append(("OWN_FSTATUS" if fortran else "OWN_STATUS") + f"({p.name}{'_f' if fortran else ''});")
    if fortran:
        out.append("int own_ierror_;")
        out.append("if (!ierror_f) ierror_f = &own_ierror_;")
        out.append(f"{call};")
        out.append("int rc = *ierror_f;")
    else:
        out.append(f"int rc = {call};")
    if function == "MPI_Session_init":
        out.append(f"if (rc == MPI_SUCCESS) open_for_session({parameters[-1].value(bool(fortran))});")
    outputs = [(i, p) for i, p in enumerate(parameters) if p.mark and not p.silent()]
    if outputs:
        out.append("if (line_end(&l, rc)) {")
        for i, p in outputs:
            if p.mark != "~":
                out.append(p.put(i, fortran))
            if p.mark == ">" and p.kind in RETURNED and function not in LENT:
                out.append(f"for (int i_ = 0; i_ < {p.array}; i_++) returned_{p.kind}({p.value(fortran, 'i_')});" if p.array else
                           f"returned_{p.kind}({p.value(fortran)});")
        out.append("}")
    else:
        out.append("line_end(&l, rc);")
    out += [f"forget_{p.kind}(old_{p.name}, rc == MPI_SUCCESS);" for _, p in outputs if p.mark == "~"]
    out.append("line_write(&l);")
    if not fortran:
        out.append("return rc;")
    lines = [out[0], "{"] + ["\t" + line for line in out[2:]] + ["}", ""]
    return "\n".join(lines)


# Without MPI_Init there is no MPI_COMM_WORLD, but a process set that has its ranks.
OPEN_FOR_SESSION = """
static void open_for_session(MPI_Session session)
{
	int rank, there = 0, flag = 0, room = 64;
	char level[64] = "";
	MPI_Group group;
	MPI_Info info;

	PMPI_Initialized(&there);
	if (there || PMPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS)
		return;
	PMPI_Group_rank(group, &rank);
	PMPI_Group_free(&group);
	PMPI_Session_get_info(session, &info);
	PMPI_Info_get_string(info, "thread_level", &room, level, &flag);
	PMPI_Info_free(&info);
	flatlog_open_rank(rank, flag && !strcmp(level, "MPI_THREAD_MULTIPLE"));
}
"""


def spread(word):
    """MPI_{A,B} as MPI_A and MPI_B"""
    m = re.match(r"(.*)\{(.*)\}(.*)$", word)
    return [m[1] + x + m[3] for x in m[2].split(",")] if m else [word]


def read(path):
    """Yields (function, parameters, whether it is an old one), twins included."""
    text = open(path, encoding="utf-8").read()
    text = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    text = re.sub(r"\n[ \t]+", " ", text)
    for line in filter(None, text.split("\n")):
        old, words = line.startswith("old "), line.removeprefix("old ").split()
        parameters = [Parameter(w) for w in words[1:]]
        for function in spread(words[0].lstrip("*")):
            yield function, parameters, old
            if words[0].startswith("*"):
                yield "MPI_I" + function[4:].lower(), parameters + [Parameter(">request:request(0)")], old
                persistent = [Parameter("info:info"), Parameter(">request:request(PERSISTENT)")]
                for prefix in ("MPI_", "MPIX_"):
                    yield prefix + function[4:] + "_init", parameters + persistent, old


def declared(compiler):
    """The library's functions: name -> the parts of its parameter list."""
    include = "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"
    text = subprocess.run([*compiler, "-E", "-x", "c", "-"], input=include, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {name: parameters.split(",") for name, parameters in re.findall(r"\b(MPIX?_\w+) ?\(([^()]*)", text)}


def with_large(functions, there):
    """Adds the large-count forms, but those that have a line of their own."""
    functions = list(functions)
    known = {function for function, _, _ in functions}
    for function, parameters, old in functions:
        parts = there.get(function, ())
        yield function, [p.as_declared(part) for p, part in zip(parameters, parts)] if len(parts) == len(parameters) else parameters, old
        parts = there.get(function + "_c", ())
        if function + "_c" not in known and len(parts) == len(parameters):
            yield function + "_c", [p.widened(part) for p, part in zip(parameters, parts)], old


def main():
    there = declared(sys.argv[2:]) if sys.argv[2:] else None
    print("/* written by tests/flatlog/generate.py */")
    print('#include "tests/flatlog/flatlog.h"\n')
    if there is None or "MPI_Session_init" in there:
        print(OPEN_FOR_SESSION)
    for function, parameters, old in with_large(read(sys.argv[1]), there or {}):
        if not old and there is not None and function not in there:
            continue
        if old:
            print(f"#undef {function}")
        print(wrapper(function, parameters))
        # f08ts: choice buffers come as descriptors, whose first word is the address
        endings = ["_"] * (not function.endswith("_c")) + ["_f08_"] * (not old) + ["_cptr_"] * (function in TAKES_C_PTR)
        endings += ["_f08ts_"] * (not old and any(p.is_buffer() for p in parameters))
        for ending in endings:
            text = wrapper(function, parameters, ending)
            print(text)
            if function.endswith("_c"):  # MPICH 4.2 has the name of C in it
                name = function.lower()
                print(text.replace(f"{name[:-2]}{ending}large_", name + ending))
            if ending == "_":  # as other compilers call it
                name = function.lower()
                head = text.split("\n", 1)[0].replace(f" {name}_(", " {}(", 1)
                for other in (name, name + "__", name.upper()):
                    print(head.format(other) + f' __attribute__((alias("{name}_")));')


if __name__ == "__main__":
    main()
