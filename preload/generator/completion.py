# SPDX-License-Identifier: BSD-3-Clause
"""completion - the wrappers of the functions that wait for requests, test them, or start several (preload/completion.h)

They differ in which of these parameters they have, always in this order: number of requests, requests, how many or which one
is complete, flag, indices, status or statuses. preload/completion.c has MPI_Waitall's C wrapper, written by hand.
"""
from generator import arguments, fortran
from generator.record import wrapper_kind


def requests_of(f):
    return next(p for p in f.parameters if p.role.name == "request")


def status_of(f):
    return next((p for p in f.parameters if p.role.name == "status"), None)


def recorded(f):
    """The parameters that the record_ function gets besides the requests."""
    return [p for p in f.parameters if p.role.name != "request"]


def record_signature(f):
    """record_X(c, ok, rc, w, ...): arguments as in C, but NULL for a status or statuses that are not known."""
    out = ["struct call *c", "bool ok", "int rc", "const struct completion *w"]
    for p in recorded(f):
        type = "const MPI_Status *" if p.role.name == "status" else "const int *" if p.is_output else "int "
        out.append(f"{type}{p.name}")
    return f"void record_{f.name}({', '.join(out)})"


def valid(f, p):
    """The C expression of whether an output has a value; calls that fail have no outputs."""
    out = ["ok"]
    for condition in p.conditions:
        out.append({"flag": "flag && *flag", "some": "outcount && *outcount > 0 && *outcount != MPI_UNDEFINED"}[condition])
    return " && ".join(out)


def statement(f, p):
    if p.role.name == "request":
        return "put_requests(c, w);" if p.length else "call_put(c, request_value(c, w->refs->number));"
    if not p.is_output:
        return f"call_put(c, {p.name});"
    if p.name == "index":
        return "call_put(c, role_undef(c, *index == MPI_UNDEFINED ? *index : *index - w->first));"
    if p.role.name == "status" and p.length:
        indices = next((q.name for q in f.parameters if q.name == "array_of_indices"), "NULL")
        length = f"*{p.length}" if p.length == "outcount" else p.length
        return f"put_statuses(c, w, {p.name}, {length}, {indices});"
    if p.role.name == "status":
        at = "ok && index ? (size_t)(*index - w->first) : 0" if any(q.name == "index" for q in f.parameters) else "0"
        return f"put_status_of(c, w, {at}, {valid(f, p)} ? {p.name} : NULL);"
    if p.length:
        return f"PUT_ARRAY(c, {p.name}, *{p.length}, {p.name}[i_] - w->first);"
    return f"call_put(c, role_{p.role.name}(c, *{p.name}));"


def record(f):
    """The record_ function."""
    out = [record_signature(f), "\n{\n"]
    for p in f.parameters:
        put = statement(f, p)
        if not p.is_output or p.role.name == "status" and not p.length:
            out.append(f"\t{put}\n")
            continue
        condition = valid(f, p) + ("" if p.length else f" && {p.name}")
        absent = "put_no_status(c);" if p.role.name == "status" else "call_put_absent(c);"
        out.append(f"\tif ({condition}) {{\n\t\t{put}\n\t}} else {{\n\t\t{absent}\n\t}}\n")
    out.append("\twrap_commit(c, ok, rc);\n}\n")
    return "".join(out)


def c_wrapper(f, prototype):
    names = [p.name for p in f.parameters]
    requests, status = requests_of(f), status_of(f)
    call = f"next.{f.name}({', '.join(names)})"
    out = [f"{wrapper_kind(f)}{prototype.result} wrap_{f.name}({prototype.declare(names)})\n{{\n\tstruct call c;\n\tstruct completion w;\n"]
    out += ["\tstruct request_ref ref;\n"] * (not requests.length)
    out += ["\tMPI_Status own_status;\n"] * bool(status and not status.length)
    out.append(f"\tbool ok;\n\tint rc;\n\n\tif (!wrap_begin(&c, FN_{f.name}))\n\t\treturn {call};\n")
    if requests.length:
        out.append(f"\tw = completion_begin({requests.length}, {requests.name});\n")
    else:
        bits = "request ? HANDLE_BITS(*request) : 0" if requests.on_entry else "HANDLE_BITS(request)"
        out.append(f"\tw = completion_begin_one(&ref, {bits});\n")
    if status and status.length:
        out.append(f"\t{status.name} = completion_statuses(&w, {status.name});\n")
    elif status:
        out.append("\tif (w.receives && status == MPI_STATUS_IGNORE)\n\t\tstatus = &own_status;\n")
    out.append(arguments.completion_statements(f, lambda p: p.name))
    out.append(f"\trc = {call};\n\tok = wrap_end(&c, rc);\n"
               f"\trecord_{f.name}({', '.join(['&c', 'ok', 'rc', '&w'] + [p.name for p in recorded(f)])});\n")
    if "completes_any" in f.facts:
        index = next(p for p in f.parameters if p.name == "index")
        out.append(f"\tcompletion_end_any(&w, {requests.name}, ok ? {index.name} : NULL);\n")
    elif requests.length:
        out.append(f"\tcompletion_end(&w, {requests.name});\n")
    elif requests.on_entry:
        out.append("\tif (request)\n\t\tcompletion_end(&w, request);\n")
    else:
        out.append("\tcompletion_end(&w, &request);\n")
    return "".join(out + ["\treturn rc;\n}\n"])


def fortran_body(f):
    requests, status = requests_of(f), status_of(f)
    call = f"{fortran.NEXT}{f.lower}({', '.join(fortran.names_of(f))})"
    out = [f"{fortran.signature(f)}\n{{\n\tstruct call c;\n\tstruct completion w;\n\tMPI_Fint own_error;\n"]
    out += ["\tstruct request_ref ref;\n"] * (not requests.length)
    out += ["\tMPI_Fint own_status[FORTRAN_STATUS_SIZE];\n\tMPI_Status translated;\n"] * bool(status and not status.length)
    out.append(f"\tbool ok;\n\n\tif (!FORTRAN_BEGIN(&c, FN_{f.name})) {{\n\t\t{call};\n\t\treturn;\n\t}}\n"
               "\tif (!ierror)\n\t\tierror = &own_error;\n")
    if requests.length:
        out.append(f"\tw = completion_begin_fortran(*{requests.length}, {requests.name});\n")
    else:
        out.append("\tw = completion_begin_one(&ref, HANDLE_BITS(f2c_request(*request)));\n")
    if status and status.length:
        out.append(f"\t{status.name} = completion_statuses_fortran(&w, {status.name});\n")
    elif status:
        out.append("\tif (w.receives && fortran_ignores(status))\n\t\tstatus = own_status;\n")
    out.append(arguments.completion_statements(f, lambda p: f"*{p.name}"))
    out.append(f"\t{call};\n\tok = wrap_end(&c, *ierror);\n")
    passed = ["&c", "ok", "*ierror", "&w"]
    w_first = "\tw.first = 1;\n" if any(p.role.name == "undef" for p in f.parameters) else ""
    for p in recorded(f):
        if p.role.name == "status" and p.length:
            passed.append(f"completion_translate(&w, {p.name}, {valid(f, p)} ? *{p.length} : 0)")
        elif p.role.name == "status":
            passed.append(f"fortran_status(status, &translated, {valid(f, p)} && w.receives)")
        else:
            passed.append(p.name if p.is_output else f"*{p.name}")
    out.append(f"{w_first}\trecord_{f.name}({', '.join(passed)});\n\tcompletion_end_fortran(&w, {requests.name});\n}}\n")
    return "".join(out)
