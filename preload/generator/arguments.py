# SPDX-License-Identifier: BSD-3-Clause
"""arguments - the statements before an MPI call that can wait: what it is passed (preload/arguments.h)"""

MOST = 16  # RECORD_PASSED of trace/record/record.h
NUMBERS = ("count", "int")
RANKS = {"peer": "arguments_peer", "root": "arguments_root", "tag": "arguments_tag", "lock": "arguments_lock"}
OBJECTS = ("comm", "win", "file", "group", "message")


def waits(f):
    """Can it wait for another process? As WAITS, WAITS_FOR_ALL of trace/model/mpi.h."""
    started = f.is_persistent or f.starts_request
    collective = any(fact.startswith("collective_") and fact != "collective_world" for fact in f.facts)
    return not f.by_hand and not started and ("waits" in f.facts or collective)


def columns(f):
    """(column, parameter) of what is said of a call before it is made."""
    out, at = [], 0
    for p in f.parameters:
        if p.role.name in (*NUMBERS, *RANKS, *OBJECTS, "request") and not p.conditions and p.direction in ":!*" and at < MOST and \
                (not p.length or p.role.name == "request"):
            out.append((at, p))
        at += len(p.schema())
    return out


def value(p, c_value, base):
    """c_value: the parameter as it is passed in C."""
    role = p.role.name
    if role == "request":
        return f"arguments_request({p.name}_ref.number)"
    if role == "comm":
        return f"arguments_handle({base}.number)" if base else f"arguments_handle(handle_comm(&c, {c_value}, false, NULL).number)"
    if role in OBJECTS:
        return f"arguments_handle(handle_number(HANDLE_{role.upper()}, HANDLE_BITS({c_value}), false))"
    if role == "peer":
        return f"arguments_peer({c_value}, {base + '.rank' if base else 'session_world_rank()'})"
    return f"{RANKS[role]}({c_value})" if role in RANKS else c_value


def statements(f, c_value):
    """c_value(p): the C expression of a parameter that is passed. Requests have been looked up."""
    known = columns(f)
    if not waits(f) or not known:
        return ""
    comm = next((p for at, p in known if p.role.name == "comm"), None)
    out = ["\t{\n\t\tstruct record_passed *passed = arguments_begin(&c);\n\n"]
    if comm:  # one that was never seen is not asked: it may be invalid
        out.append(f"\t\tconst struct comm_info me = handle_comm(&c, {c_value(comm)}, false, NULL);\n")
    for at, p in known:
        base = "me" if comm and (p is comm or p.role.name == "peer") else None
        out.append(f"\t\tpassed->value[{at}] = {value(p, c_value(p), base)};\n")
    mask = sum(1 << at for at, p in known)
    return "".join(out) + f"\t\targuments_end(&c, passed, {mask:#x});\n\t}}\n"


def completion_statements(f, c_value):
    """The same of a function that waits for requests, whose array `w` is."""
    if not waits(f):
        return ""
    out, array, mask = ["\t{\n\t\tstruct record_passed *passed = arguments_begin(&c);\n\n"], 0, 0
    for at, p in columns(f):
        if p.role.name != "request":
            out.append(f"\t\tpassed->value[{at}] = {c_value(p)};\n")
            mask |= 1 << at
        elif not p.length:
            out.append(f"\t\tpassed->value[{at}] = arguments_request(ref.number);\n")
            mask |= 1 << at
        else:
            array = 1 << at
    more = f" | (arguments_requests(passed, w.refs, w.n) ? {array:#x} : 0)" if array else ""
    return "".join(out) + f"\t\targuments_end(&c, passed, {mask:#x}{more});\n\t}}\n"
