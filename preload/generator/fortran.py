# SPDX-License-Identifier: BSD-3-Clause
"""fortran - the wrappers of the Fortran functions of mpif.h and `use mpi`, and of mpi_f08

A Fortran function has the parameters of the C function, all by address, then ierror, then the lengths of the strings by
value. In mpi_f08 ierror may be a null pointer; where the compiler has TS 29113, choice buffers come as descriptors
(preload/fortran.h).

A function has one body for all bindings, and each binding's wrapper only says who called and which function of the library
is next (struct fortran_caller).
"""
from generator import arguments, completion
from generator.record import copies, free_begins, frees, is_put, is_request_input, wrapper_kind
from generator.table import HANDLES

TYPES = {"aint": "MPI_Aint", "offset": "MPI_Offset", "count": "MPI_Count", "buffer": "void", "void": "void", "string": "char",
         "names": "char"}


class Binding:
    def __init__(self, ending, calls):
        self.ending, self.calls = ending, calls

    def has(self, f):
        """Does this binding have the function?"""
        if self is F08TS:
            return any(is_choice(p) for p in f.parameters)
        if self is CPTR:
            return bool(f.aliases) and not f.is_large
        return self is F08 or not f.is_large

    def names(self, f):
        """Its names without the compiler's ending: the standard's first, then other libraries'."""
        if self is CPTR:
            return f.aliases
        out = [f.lower + self.ending]
        if f.is_large:
            out.append(f.lower[: -len("_c")] + self.ending + "_large")  # MPICH
        return out


MPIF_H = Binding("", "next_fortran.")
F08 = Binding("_f08", "next_f08.")
F08TS = Binding("_f08ts", "next_f08ts.")
CPTR = Binding("_cptr", "next_cptr.")
BINDINGS = (MPIF_H, CPTR, F08, F08TS)


def is_choice(p):
    """A choice buffer, not a procedure or a TYPE(C_PTR)."""
    return p.role.type == "buffer"


def parameters_of(f):
    if f.name in ("MPI_Init", "MPI_Init_thread"):
        return [p for p in f.parameters if p.name not in ("argc", "argv")]
    return f.parameters


def names_of(f):
    names = [p.name for p in parameters_of(f)] + ["ierror"]
    return names + [f"{p.name}_n" for p in f.parameters if p.role.type in ("string", "names")]


def c_parameters(f):
    """The parameter list as C sees it."""
    out = [f"{TYPES.get(p.role.type, 'MPI_Fint')} *{p.name}" for p in parameters_of(f)]
    return ", ".join(out + ["MPI_Fint *ierror"] + [f"size_t {n}" for n in names_of(f) if n.endswith("_n")])


def f2c(p, value):
    return f"f2c_{p.role.name}({value})"


def argument(p, buffers=False):
    """What the wrapper passes to the record_ function: translated to C."""
    role, name = p.role, p.name
    if is_request_input(p):
        return f"{name}_ref"
    if role.type == "string":
        return f"text_fortran({name}, {name}_n)"
    if role.type == "status":
        return f"{name}_c"
    if copies(p):
        return name
    if role.type == "buffer":
        return f"{'fortran_buffer' if buffers else 'fortran_in_place'}(fortran_choice(from, {name}))"
    if role.type == "weights":
        return f"fortran_weights({name})"
    if p.length:
        struct = {"handle": "handles", "aint1": "addresses"}.get(role.type)
        if struct:
            return f"(struct {struct}){{NULL, {name}}}"
        return name
    if role.type == "handle":
        if p.on_entry:
            return f"{name}_entry"
        if p.is_output:
            return f"&({HANDLES[role.name][0]}){{ok ? {f2c(p, '*' + name)} : 0}}"
        return f2c(p, "*" + name)
    if p.on_entry:
        return f"{name}_entry"
    if role.type == "aint1" and p.is_output:
        return f"&(MPI_Aint){{*{name}}}"
    return name if p.is_output else f"*{name}"


NEXT = "from->next->"  # the library's functions


def signature(f):
    return f"static {wrapper_kind(f)}__attribute__((noinline)) void fortran_{f.name}(const struct fortran_caller *from, {c_parameters(f)})"


def body(f):
    call = f"{NEXT}{f.lower}({', '.join(names_of(f))})"
    status = next((p for p in f.parameters if p.role.name in ("status", "moved")), None)
    out = [f"{signature(f)}\n{{\n\tstruct call c;\n\tMPI_Fint own_error;\n"]
    if status:
        out.append("\tMPI_Status translated;\n\tconst MPI_Status *status_c;\n")
    if status and status.direction == ">":
        out.append(f"\tMPI_Fint own_status[FORTRAN_STATUS_SIZE]{' = {0}' if status.role.name == 'moved' else ''};\n")
    requests = [p for p in f.parameters if is_request_input(p)]
    out += [f"\tstruct request_ref {p.name}_ref;\n" for p in requests]
    for p in f.parameters:
        if p.on_entry and p not in requests:
            out.append(f"\t{'int' if p.role.name == 'keyval' else HANDLES[p.role.name][0]} {p.name}_entry;\n")
    out += ["\tbool room;\n"] * f.asks_room
    out.append(f"\tbool ok;\n\n\tif (!FORTRAN_BEGIN(&c, FN_{f.name})) {{\n"
               f"\t\t{call};\n\t\treturn;\n\t}}\n"
               "\tif (!ierror)\n\t\tierror = &own_error;\n")
    for p in requests:
        out.append(f"\t{p.name}_ref = request_passed(HANDLE_BITS({f2c(p, '*' + p.name)}), {'true' if p.direction == '!' else 'false'});\n")
    for p in f.parameters:
        if p.on_entry and p not in requests:
            out.append(f"\t{p.name}_entry = {'*' + p.name if p.role.name == 'keyval' else f2c(p, '*' + p.name)};\n")
    out += [free_begins(p, f"{p.name}_entry") for p in f.parameters if frees(p)]
    out += [f"\troom = *{f.room} > 0;\n"] * f.asks_room
    if status and status.direction == ">":
        out.append("\tif (fortran_ignores(status))\n\t\tstatus = own_status;\n")
    def c_value(p):
        return f"{p.name}_entry" if p.on_entry else f2c(p, "*" + p.name) if p.role.type == "handle" else f"*{p.name}"

    out.append(arguments.statements(f, c_value))
    initialized = "\tspecial_initialized(&c, *ierror);\n" if f.name in ("MPI_Init", "MPI_Init_thread") else ""
    out.append(f"\t{call};\n{initialized}\tok = wrap_end(&c, *ierror);\n")
    if status:
        out.append(f"\tstatus_c = fortran_status(status, &translated, {'ok' if status.is_output else 'true'});\n")
    if f.has_buffers and not f.is_seldom:
        passed = ["&c", "ok", "*ierror"] + [argument(p, True) for p in f.parameters if is_put(p, True)]
        out.append(f"\tif (__builtin_expect(call_buffers, 0)) {{\n"
                   f"\t\tbuffers_{f.name}({', '.join(passed + ['room'] * f.asks_room)});\n\t\treturn;\n\t}}\n")
    passed = ", ".join(["&c", "ok", "*ierror"] + [argument(p, f.is_seldom) for p in f.parameters if is_put(p, f.is_seldom)] +
                       ["room"] * f.asks_room)
    out.append(f"\trecord_{f.name}({passed});\n}}\n")
    return "".join(out)


def wrapper(f, binding):
    """Leads to the body."""
    descriptors = "true" if binding is F08TS else "false"
    return (f"{wrapper_kind(f)}void wrap_{f.lower}{binding.ending}_({c_parameters(f)})\n{{\n\tconst struct fortran_caller from = FORTRAN_CALLER(&{binding.calls[:-1]}, {descriptors});\n\n"
            f"\tfortran_{f.name}(&from, {', '.join(names_of(f))});\n}}\n")


def is_shared(f):
    return f.is_seldom and not f.completes


def wrappers(f):
    """Of one function: its body, and the wrappers that lead there."""
    return [(completion.fortran_body if f.completes else body)(f)] + [wrapper(f, b) for b in BINDINGS if b.has(f)]


def source(functions):
    """The wrappers of functions that are called often."""
    return "\n".join(w for f in functions if not is_shared(f) for w in wrappers(f))


def source_shared(functions):
    """The others."""
    return "\n".join(w for f in functions if is_shared(f) for w in wrappers(f))
