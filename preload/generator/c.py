# SPDX-License-Identifier: BSD-3-Clause
"""c - the wrappers of the C functions"""
from generator import arguments, completion
from generator.record import Recorder, copies, free_begins, frees, is_put, is_request_input, wrapper_kind
from generator.table import HANDLES


def entry_type(p):
    return "int" if p.role.name == "keyval" else HANDLES[p.role.name][0]


def argument(p):
    """What the wrapper passes to the record_ function."""
    if is_request_input(p):
        return f"{p.name}_ref"
    if p.on_entry:
        return f"{p.name}_entry"
    if p.role.type == "string":
        return f"text_c({p.name})"
    if p.length and p.role.type == "handle":
        return f"(struct handles){{{p.name}, NULL}}"
    if p.length and p.role.type == "aint1":
        return f"(struct addresses){{{p.name}, NULL}}"
    if copies(p):
        return f"(const void *){p.name}"
    return f"(const int *){p.name}" if p.name == "ranges" else p.name


def wrapper(f, prototype):
    names = [p.name for p in f.parameters]
    call = f"next.{f.name}({', '.join(names)})"
    initialized = "\tspecial_initialized(&c, rc);\n" if f.name in ("MPI_Init", "MPI_Init_thread") else ""
    over = Recorder(f, False).begins_raw()
    out = [f"{wrapper_kind(f)}{prototype.result} wrap_{f.name}({prototype.declare(names)})\n{{\n\tstruct call c;\n"]
    own = [p for p in f.parameters if p.role.name in ("status", "moved") and p.direction == ">"]
    # a library need not write that of a file call: what was there before is nobody's business
    out += [f"\tMPI_Status own_status{' = {0}' if own[0].role.name == 'moved' else ''};\n"] if own else []
    out += [f"\t{entry_type(p)} {p.name}_entry;\n" for p in f.parameters if p.on_entry]
    requests = [p for p in f.parameters if is_request_input(p)]
    out += [f"\tstruct request_ref {p.name}_ref;\n" for p in requests]
    out += ["\tbool room;\n"] * f.asks_room
    keep = "".join(f"\tWRAP_KEEP({name});\n" for name in names if not f.is_seldom)
    out.append(f"\tbool ok;\n\tint rc;\n\n{keep}\tif (!wrap_begin(&c, FN_{f.name}))\n\t\treturn {call};\n")
    out += [f"\t{p.name}_entry = {p.name} ? *{p.name} : 0;\n" for p in f.parameters if p.on_entry]
    for p in requests:
        out.append(f"\t{p.name}_ref = request_passed(HANDLE_BITS({p.name}{'_entry' if p.on_entry else ''}), {'true' if p.direction == '!' else 'false'});\n")
    out += [free_begins(p, f"{p.name}_entry") for p in f.parameters if frees(p)]
    out += [f"\troom = {f.room} && *{f.room} > 0;\n"] * f.asks_room
    out.append(arguments.statements(f, lambda p: f"{p.name}_entry" if p.on_entry else p.name))
    out += [f"\tif ({p.name} == MPI_STATUS_IGNORE)\n\t\t{p.name} = &own_status;\n" for p in own]
    passed = ", ".join(["&c", "ok", "rc"] + [argument(p) for p in f.parameters if is_put(p, f.is_seldom)] + ["room"] * f.asks_room)
    there = "&c" if f.is_seldom else 'CALL_HERE(&c, "+")'
    record = f"record_{f.name}({passed.replace('&c', there, 1)});"
    if over:  # wrap_end says where the puts begin, call_end does not
        record = f"call_first(&c, 0), {record}"
    put = f"\tif (__builtin_expect(ok, 1))\n\t\tput_{f.name}({passed});\n\telse\n\t\t{record}\n"
    if f.is_seldom:
        put = f"\t{record}\n"
    elif f.has_buffers:
        passed = [there, "ok", "rc"] + [argument(p) for p in f.parameters if is_put(p, True)] + ["room"] * f.asks_room
        buffers = f"buffers_{f.name}({', '.join(passed)});"
        buffers = f"{{\n\t\tcall_first(&c, 0);\n\t\t{buffers}\n\t}} else" if over else f"\n\t\t{buffers}\n\telse"
        put = f"\tif (__builtin_expect(call_buffers, 0)) {buffers} {put.lstrip()}".replace(" \n", "\n")
    out.append(f"\trc = {call};\n{keep}{initialized}\tok = {'call_end' if over else 'wrap_end'}(&c, rc);\n{put}\treturn rc;\n}}\n")
    return "".join(out)


def source(f, prototype):
    if f.completes:
        return completion.record(f) + ("" if f.by_hand else "\n" + completion.c_wrapper(f, prototype))
    recorder = Recorder(f, False)
    return (recorder.function() if f.is_seldom else recorder.functions()) + "\n" + wrapper(f, prototype)
