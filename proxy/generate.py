#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate - makes the recipes of calls from preload/mpi.table: which arguments a generated program gives each function

    generate.py [--table FILE] --output FILE     FILE gets proxy/recipes.h: struct recipe by enum mpi_number

A recipe is the text of a statement, in which these stand for recorded values (proxy/call_site.c):

    {count}           the value of a parameter, or its array
    {&request}        the address of a handle
    {*out}            room for an output: so many elements as were recorded
    {#recvcounts}     how many elements an array has
    {sendbuf?TEXT}    MPI_IN_PLACE where that was recorded, else TEXT

A function that the table does not say enough of has no recipe, but a reason: traces in which it is called are refused.
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../preload"))
from generator import table  # noqa: E402

INTEGERS = {"int": "int", "logical": "int", "mask": "int", "weights": "int", "aint": "MPI_Aint", "aint1": "MPI_Aint",
            "offset": "MPI_Offset", "count": "MPI_Count"}
# Functions of the application, by the name of the parameter.
POINTERS = {
    "argc": "NULL", "argv": "NULL", "extra_state": "NULL", "attribute_val": "attribute()", "user_fn": "combine",
    "comm_errhandler_fn": "comm_error", "win_errhandler_fn": "win_error", "file_errhandler_fn": "file_error",
    "comm_copy_attr_fn": "MPI_COMM_NULL_COPY_FN", "comm_delete_attr_fn": "MPI_COMM_NULL_DELETE_FN",
    "type_copy_attr_fn": "MPI_TYPE_NULL_COPY_FN", "type_delete_attr_fn": "MPI_TYPE_NULL_DELETE_FN",
    "win_copy_attr_fn": "MPI_WIN_NULL_COPY_FN", "win_delete_attr_fn": "MPI_WIN_NULL_DELETE_FN",
}
# How many times a count is in the buffer of a collective call, by function and side: for each process, or neighbour.
TIMES = {("MPI_Gather", "recv"): "peers", ("MPI_Allgather", "recv"): "peers", ("MPI_Scatter", "send"): "peers",
         ("MPI_Alltoall", "send"): "peers", ("MPI_Alltoall", "recv"): "peers",
         ("MPI_Neighbor_allgather", "recv"): "sources", ("MPI_Neighbor_alltoall", "recv"): "sources",
         ("MPI_Neighbor_alltoall", "send"): "destinations"}
# Calls that poll, as functions of proxy/prelude.c: each is called until it finds what was found.
POLLS = {
    "MPI_Test": "poll_request({&request})", "MPI_Request_get_status": "poll_status({request})",
    "MPI_Testall": "poll_all({count}, {array_of_requests})",
    "MPI_Testany": "poll_one({index}, {count}, {array_of_requests})",
    "MPI_Testsome": "poll_some({outcount}, {array_of_indices}, {incount}, {array_of_requests})",
    "MPI_Iprobe": "poll_message({source}, {tag}, {comm})",
    "MPI_Improbe": "poll_matched({source}, {tag}, {comm}, {&message})",
}
# Calls that wait for any of several requests, as functions of proxy/prelude.c: those are found that were.
AWAITED = {
    "MPI_Waitany": "await_one({index}, {count}, {array_of_requests})",
    "MPI_Waitsome": "await_some({outcount}, {array_of_indices}, {incount}, {array_of_requests})",
}
# In front of calls that find or delete an attribute: it is there if it was, whatever the application's copy function did.
ATTRIBUTES = {
    f"MPI_{of}_{verb}_attr": f"attribute_{of.lower()}({flag}, {{{handle}}}, {{{of.lower()}_keyval}});\n"
    for of, handle in (("Comm", "comm"), ("Type", "datatype"), ("Win", "win")) for verb, flag in (("get", "{flag}"), ("delete", "1"))}
# Why a function has no recipe, unless the table says too little.
LATER = "what it found cannot be waited for"
LEFT_OUT = {"MPI_Win_test": LATER, "MPI_Parrived": LATER, "MPI_Request_get_status_all": LATER, "MPI_Request_get_status_any": LATER,
            "MPI_Request_get_status_some": LATER, "MPI_Abort": "it ends the program",
            "MPI_Type_get_contents": "it returns an array of new handles", "MPI_Type_get_contents_c": "it returns an array of new handles"}
KINDS_LEFT_OUT = {"process": "processes that come later have traces of their own", "session": "sessions are not in a world that a launcher could start"}


class Unknown(Exception):
    """Why there is no recipe: the table, or a trace, does not say what an argument is."""


class Recipe:
    """The statement of one function."""

    def __init__(self, f):
        self.f = f
        self.by_name = {p.name: p for p in f.parameters}
        self.lengths = []  # arrays of this call whose C type is to be known: (name, type)

    def has(self, *names):
        return all(n in self.by_name for n in names)

    def side_buffer(self, side, pool):
        """sendbuf or recvbuf of a collective operation or MPI_Sendrecv."""
        d = {"send": "s", "recv": "r"}[side]
        large = "large_" if self.f.is_large else ""  # functions of proxy/prelude.c for arrays of MPI_Count
        if self.has(side + "counts"):
            displs = d + "displs" if self.has(d + "displs") else "displs"
            if not self.has(displs):  # MPI_Reduce_scatter
                return f"buffer({pool}, {large}total({{#recvcounts}}, {{recvcounts}}), {{datatype}})"
            if self.has(side + "types"):
                aint = "_large" if large else ("_aint" if self.by_name[displs].role.type == "aint" else "")
                return f"typed_vector{aint}({pool}, {{#{side}counts}}, {{{side}counts}}, {{{displs}}}, {{{side}types}})"
            return f"{large}vector({pool}, {{#{side}counts}}, {{{side}counts}}, {{{displs}}}, {{{side}type}})"
        if self.has(side + "count", side + "type"):
            times = TIMES.get((self.f.base, side))
            return f"buffer({pool}, {{{side}count}}{f' * {times}({{comm}})' if times else ''}, {{{side}type}})"
        if self.has("recvcounts", "datatype"):
            return f"buffer({pool}, {large}total({{#recvcounts}}, {{recvcounts}}), {{datatype}})"
        if self.has("recvcount", "datatype"):
            return f"buffer({pool}, {{recvcount}} * peers({{comm}}), {{datatype}})"
        if self.has("count", "datatype"):
            return f"buffer({pool}, {{count}}, {{datatype}})"
        raise Unknown(f"how large {side}buf is, is not in a trace")

    def buffer(self, p):
        name = p.name
        pool = "IN" if name in ("recvbuf", "outbuf", "result_addr", "inoutbuf") or "Recv" in self.f.name or "recv" in self.f.name \
            and name == "buf" or "_read" in self.f.name or "iread" in self.f.name else "OUT"
        if name == "sendbuf":
            pool = "OUT"
        if name in ("sendbuf", "recvbuf"):
            return self.side_buffer(name[:4], pool)
        if name in ("buf", "buffer", "inbuf", "inoutbuf") and self.has("count", "datatype"):
            return f"buffer({pool}, {'{partitions} * ' if self.has('partitions') else ''}{{count}}, {{datatype}})"
        for other, count in (("inbuf", "incount"), ("outbuf", "outcount")):
            if name == other and self.has(count, "datatype"):
                return f"buffer({pool}, {{{count}}}, {{datatype}})"
        for prefix in ("origin", "result"):
            if name == prefix + "_addr" and self.has(prefix + "_count"):
                return f"buffer({pool}, {{{prefix}_count}}, {{{prefix}_datatype}})"
        if name in ("origin_addr", "result_addr", "compare_addr") and self.has("datatype"):
            return f"buffer({pool}, 1, {{datatype}})"
        for other, size in (("inbuf", "insize"), ("outbuf", "outsize")):
            if name == other and self.has(size):
                return f"buffer({pool}, {{{size}}}, MPI_BYTE)"
        if self.f.name == "MPI_Free_mem":
            return "freed()"
        if name in ("base", "buffer") and self.has("size"):
            return "memory({size})"
        if name == "location" or self.f.name.endswith("_end"):
            return "buffer(IN, 0, MPI_BYTE)"
        raise Unknown(f"what {name} is, is not in a trace")

    def output(self, p):
        if p.role.type == "status":
            return "MPI_STATUSES_IGNORE" if p.length else "MPI_STATUS_IGNORE"
        if p.role.type == "string":
            return f"room({'{valuelen} + 1' if self.has('valuelen') and p.name == 'value' else '8192'})"
        if p.role.type == "address" or p.name in ("baseptr", "buffer_addr"):
            return "room(8)"
        if p.role.type == "handle" or p.role.name == "keyval":
            if p.length:
                raise Unknown("it returns an array of new handles")
            return f"{{&{p.name}}}"
        if p.role.type in INTEGERS:
            return f"{{*{p.name}}}" if p.length else "room(8)"
        raise Unknown(f"how large {p.name} is, is not in a trace")

    def argument(self, p):
        if p.role.name == "pointer" or p.name in ("baseptr", "buffer_addr"):
            if p.name in ("baseptr", "buffer_addr"):
                return "allocated()" if self.f.name == "MPI_Alloc_mem" else "room(8)"
            if p.name not in POINTERS:
                raise Unknown(f"the application's function {p.name} is not in a trace")
            return ("large_" if self.f.is_large and p.name == "user_fn" else "") + POINTERS[p.name]
        if p.role.type == "buffer" and not p.is_output:
            text = self.buffer(p)
            return f"{{{p.name}?{text}}}" if p.role.kind == "b" else text
        if p.role.type == "names":
            raise Unknown(f"{p.name} is a list of texts")
        if p.name == "filename":
            return f"scratch({{filename}}, {'{amode}' if self.has('amode') else '0'})"
        if self.f.name == "MPI_Type_free":
            return f"forgotten({{&{p.name}}})"
        if p.on_entry:
            return f"{{{p.name}}}" if p.length else f"{{&{p.name}}}"
        if p.direction == "=":
            if p.name == "position":
                count = "incount" if self.has("incount") else "outcount"  # recorded as returned: the elements are behind it
                large = "large_" if self.f.is_large else ""
                if self.has("datarep"):
                    return f"{large}position_external({{position}}, {{{count}}}, {{datatype}})"
                return f"{large}position({{position}}, {{{count}}}, {{datatype}}, {{comm}})"
            if p.length and p.role.type in INTEGERS:
                return f"{{{p.name}}}"
            raise Unknown(f"what {p.name} was before the call is not in a trace")
        if p.is_output:
            return self.output(p)
        if p.role.type == "status":
            if self.f.name == "MPI_Test_cancelled":
                return "cancelled({flag})"
            if not p.notes:
                return f"status({{{p.name}.MPI_SOURCE}}, {{{p.name}.MPI_TAG}}, {{{p.name}.count}}, MPI_BYTE)"
            return f"status({{{p.name}.MPI_SOURCE}}, {{{p.name}.MPI_TAG}}, {{{p.name}.count}}, {{{p.notes[0]}}})"
        if p.role.type in INTEGERS or p.role.type in ("string", "handle") or p.role.name == "keyval":
            return f"(void *){{{p.name}}}" if p.name == "ranges" else f"{{{p.name}}}"
        raise Unknown(f"what {p.name} was before the call is not in a trace")

    def types(self):
        """The C types of integer arrays that are no int."""
        return " ".join(f"{p.name}:{INTEGERS[p.role.type]}" for p in self.f.parameters
                        if p.length and p.role.type in INTEGERS and INTEGERS[p.role.type] != "int")

    def text(self):
        if self.f.name in POLLS or self.f.name in AWAITED:
            return POLLS.get(self.f.name) or AWAITED[self.f.name]
        arguments = ", ".join(self.argument(p) for p in self.f.parameters)
        return ATTRIBUTES.get(self.f.name, "") + f"{self.f.name}({arguments})"


def short(text):
    """The names of arrays as the schema has them."""
    for long, name in table.SHORT.items():
        for mark in ("", "#", "&", "*"):
            text = text.replace("{" + mark + long, "{" + mark + name)
    return text


def left_out(f):
    """Why a function has no recipe, or None. Removed functions are in no mpi.h of today."""
    if f.name.startswith("MPIX"):
        return "it is not in the standard"
    if f.kind in KINDS_LEFT_OUT and f.name != "MPI_Comm_get_parent":
        return KINDS_LEFT_OUT[f.kind]
    return LEFT_OUT.get(f.name)


def row(f):
    """What recipes.h has of a function."""
    recipe, reason = Recipe(f), left_out(f)
    try:
        text = None if reason else short(recipe.text()).replace("\n", "\\n").replace("\t", "\\t")
    except Unknown as e:
        reason = str(e)
    return f'\t[FN_{f.name}] = {{NULL, "", "{reason}"}},\n' if reason else f'\t[FN_{f.name}] = {{"{text}", "{short(recipe.types())}", NULL}},\n'


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--table", default=os.path.join(HERE, "../preload/mpi.table"))
    a.add_argument("--output", required=True)
    a = a.parse_args()
    try:
        t = table.Table(a.table)
        rows = [row(f) for f in t.functions]
        with open(a.output + ".new", "w", encoding="ascii") as out:
            out.write("/* Generated by proxy/generate.py from preload/mpi.table. */\n"
                      "static const struct recipe recipes[FN_COUNT] = {\n" + "".join(rows) + "};\n")
        os.replace(a.output + ".new", a.output)
        return 0
    except (table.TableError, OSError) as e:
        print(f"generate.py: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
