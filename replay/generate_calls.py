# SPDX-License-Identifier: BSD-3-Clause
"""generate_calls - the C functions of calls.c: each calls one MPI function with the values of an event"""
from generator.table import HANDLES

KINDS = {"comm": "COMM", "type": "TYPE", "group": "GROUP", "op": "OP", "win": "WIN", "file": "FILE", "info": "INFO",
         "errhandler": "ERRHANDLER", "message": "MESSAGE", "keyval": "KEYVAL", "session": "SESSION"}
INTEGERS = {"int": "int", "logical": "int", "mask": "int", "weights": "int", "aint": "MPI_Aint", "aint1": "MPI_Aint",
            "offset": "MPI_Offset", "count": "MPI_Count"}
ARRAYS = {"int": "ints", "MPI_Aint": "aints", "MPI_Count": "counts", "weights": "weights"}

# Functions of the application, by the name of the parameter. Those that are cast take pointers, to types that not every library has.
POINTERS = {
    "argc": "NULL", "argv": "NULL", "extra_state": "NULL", "attribute_val": None, "user_fn": "(void *)callback_op",
    "session_errhandler_fn": "(void *)callback_comm_error", "comm_errhandler_fn": "callback_comm_error", "handler_fn": "callback_comm_error", "win_errhandler_fn": "callback_win_error",
    "file_errhandler_fn": "callback_file_error", "query_fn": "callback_query", "free_fn": "callback_free", "cancel_fn": "callback_cancel",
    "comm_copy_attr_fn": "MPI_COMM_NULL_COPY_FN", "comm_delete_attr_fn": "MPI_COMM_NULL_DELETE_FN",
    "type_copy_attr_fn": "MPI_TYPE_NULL_COPY_FN", "type_delete_attr_fn": "MPI_TYPE_NULL_DELETE_FN",
    "win_copy_attr_fn": "MPI_WIN_NULL_COPY_FN", "win_delete_attr_fn": "MPI_WIN_NULL_DELETE_FN",
    "copy_fn": "MPI_NULL_COPY_FN", "delete_fn": "MPI_NULL_DELETE_FN",
    "read_conversion_fn": "MPI_CONVERSION_FN_NULL", "write_conversion_fn": "MPI_CONVERSION_FN_NULL",
    "dtype_file_extent_fn": "callback_extent",
}
# How many times a count is in the buffer of a collective call, by function and side: for each process, or neighbour.
TIMES = {("MPI_Gather", "recv"): "object_peers", ("MPI_Allgather", "recv"): "object_peers", ("MPI_Scatter", "send"): "object_peers",
         ("MPI_Alltoall", "send"): "object_peers", ("MPI_Alltoall", "recv"): "object_peers",
         ("MPI_Neighbor_allgather", "recv"): "object_indegree", ("MPI_Neighbor_alltoall", "recv"): "object_indegree",
         ("MPI_Neighbor_alltoall", "send"): "object_outdegree"}


class Unknown(Exception):
    """The table says something that is not known here."""


class Call:
    """One function: the C code that calls it with the values of an event."""

    def __init__(self, f, prototype, by_hand):
        """by_hand: what is below the tracer is written by hand, and told of more."""
        self.f, self.prototype, self.by_hand = f, prototype, by_hand
        self.column, self.schema = {}, f.schema()
        self.places = [p.name for p in f.parameters if p.role.type == "buffer"]  # where they are recorded
        for p in f.parameters:
            if p.name in ("a", "v", "rc"):  # ours
                p.name += "_"
        n = 0
        for p in f.parameters:
            self.column[p.name] = n
            n += len(p.schema())
        self.by_name = {p.name: p for p in f.parameters}
        self.before, self.buffers, self.after, self.arguments = [], [], [], []

    def v(self, p, offset=0):
        return f"v[{self.column[p.name] + offset}]"

    @property
    def completes(self):
        """It completes a request, of which the status is."""
        return any(p.role.name == "request" and p.on_entry for p in self.f.parameters)

    def has(self, *names):
        return all(n in self.by_name for n in names)

    # ---- buffers

    def vector(self, pool, counts, displs, types, wide=""):
        """A buffer of a collective with a count for each peer."""
        if self.by_name[types].length:
            return f"buffer_typed_vector(a, {pool}, {self.v(self.by_name[counts])}, {self.v(self.by_name[displs])}, {self.v(self.by_name[types])})"
        return f"buffer_vector(a, {pool}, {self.v(self.by_name[counts])}, {self.v(self.by_name[displs])}, {types})"

    def buffer(self, p):
        """The expression of a buffer argument."""
        name, f = p.name, self.f
        constant = f"const void *" in self.prototype.parameters[f.parameters.index(p)]
        pool = f"BUFFER_NUMBER({'BUFFER_OUT' if constant else 'BUFFER_IN'}, {self.places.index(name) if name in self.places else -1})"
        plain = lambda count, type: f"buffer_typed(a, {pool}, {count}, {type})"  # noqa: E731
        if name in ("sendbuf", "recvbuf"):
            side = name[:4]
            d = {"send": "s", "recv": "r"}[side]
            if self.has(side + "counts"):
                displs = d + "displs" if self.has(d + "displs") else "displs"
                types = side + "types" if self.has(side + "types") else side + "type"
                if not self.has(displs):  # MPI_Reduce_scatter
                    return f"buffer_typed(a, {pool}, args_sum(a, {self.v(self.by_name['recvcounts'])}), datatype)"
                return self.vector(pool, side + "counts", displs, types)
            if self.has(side + "count") and self.has(side + "type"):
                times = TIMES.get((f.base, side))
                return plain(f"(int64_t){side}count * {times}(comm)" if times else side + "count", side + "type")
            if self.has("recvcounts", "datatype"):
                return f"buffer_typed(a, {pool}, args_sum(a, {self.v(self.by_name['recvcounts'])}), datatype)"
            if self.has("recvcount", "datatype"):
                return plain("(int64_t)recvcount * object_peers(comm)", "datatype")
            if self.has("count", "datatype"):
                return plain("count", "datatype")
        if name in ("buf", "buffer", "inbuf", "inoutbuf") and self.has("count", "datatype"):
            times = "(int64_t)partitions * " if self.has("partitions") else ""
            return plain(times + "count", "datatype")
        if name == "inbuf" and self.has("incount", "datatype"):
            return plain("incount", "datatype")
        if name == "outbuf" and self.has("outcount", "datatype"):
            return plain("outcount", "datatype")
        for prefix in ("origin", "result"):
            if name == prefix + "_addr" and self.has(prefix + "_count"):
                return plain(prefix + "_count", prefix + "_datatype")
        if name in ("origin_addr", "result_addr", "compare_addr") and self.has("datatype"):
            return plain("1", "datatype")
        if name in ("inbuf", "outbuf") and self.has("insize" if name == "inbuf" else "outsize"):
            return f"buffer_bytes(a, {pool}, {'insize' if name == 'inbuf' else 'outsize'})"
        if name in ("baseptr", "buffer_addr"):
            self.before.append(f"void *{name} = NULL;")
            if f.name == "MPI_Alloc_mem":
                self.after.append("buffer_allocated(a, baseptr);")
            return f"&{name}"
        if f.name == "MPI_Free_mem":
            return f"buffer_freed(a, {pool})"
        if name in ("base", "buffer") and self.has("size"):
            if not self.has("win"):
                return f"buffer_memory(a, {pool}, NULL, size)"
            if not self.by_name["win"].is_output:  # MPI_Win_attach
                return f"buffer_bytes(a, {pool}, size)"
            return f"buffer_memory(a, {pool}, buffer_window(a, v[{self.column['win']}]), size)"
        if name in ("buf", "base", "location"):  # only its address is given: MPI_File_read_all_end, MPI_Win_detach
            return f"buffer_bytes(a, {pool}, 0)"
        raise Unknown(f"buffer {name}")

    # ---- parameters

    def scalar(self, p):
        type = INTEGERS[p.role.type]
        get = "args_rank" if p.role.kind == "p" else "args_int"
        self.before.append(f"{type} {p.name} = ({type}){get}(a, {self.v(p)});")
        return p.name

    def array(self, p):
        kind = "weights" if p.role.type == "weights" else INTEGERS[p.role.type]
        return f"args_{ARRAYS[kind]}(a, {self.v(p)}, {int(p.role.kind == 'p')})"

    def input(self, p):
        role, name = p.role, p.name
        if role.type == "string":
            return f"args_string(a, {self.v(p)})"
        if role.name == "pointer":
            if name not in POINTERS:
                raise Unknown(f"pointer {name}")
            if self.prototype.parameters[self.f.parameters.index(p)] == "int argc":  # MPI_Info_create_env
                return "0"
            if self.f.is_large and "conversion" in name:
                return POINTERS[name] + "_C"
            return POINTERS[name] or "callback_attribute()"
        if role.type == "status":
            type = p.notes[0] if p.notes else "NULL"
            cancelled = self.v(self.by_name["flag"]) if self.has("flag") else "0"
            self.buffers.append(f"MPI_Status {name};")
            self.buffers.append(f"args_status(a, &{name}, &{self.v(p)}, {type}, {cancelled});")
            return f"&{name}"
        if role.name == "request":
            if p.length:
                return f"args_requests(a, {self.v(p)})"
            self.before.append(f"MPI_Request {name} = args_request(a, {self.v(p)});")
            return name
        if role.type == "handle" or role.name == "keyval":
            kind = KINDS[role.name]
            if p.length:
                return f"args_handles(a, HANDLE_{kind}, {self.v(p)}, sizeof({HANDLES[role.name][0]}))"
            self.before.append(f"struct object *{name} = args_object(a, HANDLE_{kind}, {self.v(p)});")
            return self.handle(p)
        if role.type in INTEGERS:
            if not p.length:
                return self.scalar(p)
            array = self.array(p)
            return f"(void *){array}" if name == "ranges" else array
        raise Unknown(f"parameter {name} of type {role.type}")

    def handle(self, p):
        if p.role.name == "keyval":
            return f"(int)(intptr_t){p.name}->handle"
        return f"HANDLE_OF({HANDLES[p.role.name][0]}, {p.name}->handle)"

    def inout_handle(self, p):
        """name*role, name!role"""
        name = p.name
        if p.role.name == "request":
            if p.length:
                return f"args_requests(a, {self.v(p)})"
            self.before.append(f"MPI_Request {name} = args_request(a, {self.v(p)});")
            return f"args_is_nothing(a, {self.v(p)}) ? NULL : &{name}"
        type = "int" if p.role.name == "keyval" else HANDLES[p.role.name][0]
        self.before.append(f"struct object *{name} = args_object(a, HANDLE_{KINDS[p.role.name]}, {self.v(p)});")
        self.before.append(f"{type} {name}_now = {self.handle(p)};")
        if p.direction == "!":
            self.after.append(f"args_unbind(a, HANDLE_{KINDS[p.role.name]}, {self.v(p)});")
        return f"args_is_nothing(a, {self.v(p)}) ? NULL : &{name}_now"

    def output(self, p):
        role, name = p.role, p.name
        if role.type == "string":
            return f"args_text(a, {'valuelen' if self.has('valuelen') and name == 'value' else '0'})"
        if role.type == "status":
            return f"args_statuses(a, {self.status_count(p)})"
        if role.type == "buffer":
            return self.buffer(p)
        if role.type == "address":
            self.before.append(f"MPI_Aint {name} = 0;")
            return f"&{name}"
        if role.name == "request":
            self.before.append(f"MPI_Request {name} = MPI_REQUEST_NULL;")
            self.buffers.append(f"replay_outcome.request = args_new_request(a, {self.v(p)});")
            return f"&{name}"
        if role.type == "handle" or role.name == "keyval":
            kind = KINDS[role.name]
            type = "int" if role.name == "keyval" else HANDLES[role.name][0]
            if p.length:
                self.after.append(f"args_bind_all(a, HANDLE_{kind}, {self.v(p)}, {name}, sizeof *{name});")
                self.before.append(f"{type} *{name} = args_room(a, {self.v(p)}, sizeof(void *));")
                return name
            self.before.append(f"{type} {name} = {'MPI_KEYVAL_INVALID' if role.name == 'keyval' else '0'};")
            self.after.append(f"args_bind(a, HANDLE_{kind}, {self.v(p)}, HANDLE_BITS({name}));")
            return f"&{name}"
        if role.type in INTEGERS:
            type = INTEGERS[role.type]
            if p.length:
                return f"args_room(a, {self.v(p)}, sizeof({type}))"
            self.before.append(f"{type} {name} = 0;")
            return f"&{name}"
        raise Unknown(f"output {name} of type {role.type}")

    def status_count(self, p):
        if not p.length:
            return "1"
        return f"args_length(a, {self.v(next(q for q in self.f.parameters if q.role.name == 'request' and q.length))})"

    def inout(self, p):
        """name=role: recorded as returned."""
        if p.role.type == "status":
            return "args_statuses(a, 1)"
        if p.length:
            return self.array(p)
        if p.name in ("pset_len", "buflen"):
            type = INTEGERS[p.role.type]  # recorded is what would be needed: there was room if there is a string
            text = next(q for q in self.f.parameters if "room" in q.conditions)
            self.before.append(f"{type} {p.name} = value_is_constant({self.v(text)}) ? 0 : ({type})args_int(a, {self.v(p)});")
            return f"&{p.name}"
        if p.name == "position":
            type = INTEGERS[p.role.type]
            count = "incount" if self.has("incount") else "outcount"
            external = "true" if self.has("datarep") else "false"
            self.buffers.append(f"{type} position = ({type})buffer_position(a, {self.v(p)}, {count}, datatype, {external});")
            return "&position"
        raise Unknown(f"parameter {p.name}")

    def argument(self, p):
        if p.name in ("baseptr", "buffer_addr"):
            return self.buffer(p)
        if p.role.type == "buffer" and p.role.name != "pointer" and not p.is_output:
            expression = self.buffer(p)
            if p.role.kind == "b":
                place = f"args_is_in_place(a, {self.v(p)}) ? MPI_IN_PLACE : "
                return f"{place}{expression}"
            return expression
        if p.role.type == "names":
            raise Unknown("lists of strings")
        if p.on_entry:
            return self.inout_handle(p)
        if p.direction == "=":
            return self.inout(p)
        return self.output(p) if p.is_output else self.input(p)

    def outcomes(self):
        """What the layer below the tracer is told of this event's outcome."""
        out = []
        for p in self.f.parameters:
            if not p.is_output:
                continue
            if p.name == "flag" and p.role.type == "logical":
                out.append(f"replay_outcome.flag = (int)args_int(a, {self.v(p)});")
            elif p.name == "index" and p.role.name == "undef":
                out.append(f"replay_outcome.index = (int)args_int(a, {self.v(p)});")
            elif p.name == "outcount":
                out.append(f"replay_outcome.count = (int)args_int(a, {self.v(p)});")
            elif p.name == "array_of_indices":
                out.append(f"replay_outcome.indices = args_ints(a, {self.v(p)}, 0);")
            elif p.role.name == "status" and p.length:
                out.append(f"replay_outcome.sources = args_ints(a, {self.v(p)}, 1);")
                out.append(f"replay_outcome.tags = args_ints(a, {self.v(p, 1)}, 0);")
                out.append(f"replay_outcome.all_moved = args_counts(a, {self.v(p, 2)}, 0);")
            elif p.role.name == "status" and (self.has("source") or self.completes):
                out.append(f"replay_outcome.source = (int)args_rank(a, {self.v(p)});")
                out.append(f"replay_outcome.tag = (int)args_int(a, {self.v(p, 1)});")
                if self.completes:
                    out.append(f"replay_outcome.moved = args_moved({self.v(p, 2)}, NULL);")
            elif p.role.name == "moved":
                out.append(f"replay_outcome.moved = args_moved({self.v(p, 2)}, {p.notes[0] if p.notes else 'NULL'});")
            elif p.role.type == "string" and self.by_hand:
                out.append(f"replay_outcome.text = args_string(a, {self.v(p)});")
            elif p.name == "size" and p.role.type == "offset" and self.by_hand:
                out.append(f"replay_outcome.size = args_int(a, {self.v(p)});")
        return out

    def code(self):
        arguments = [self.argument(p) for p in self.f.parameters]
        lines = self.before + self.buffers + self.outcomes()
        call = f"{self.f.name}({', '.join(arguments)})"
        if self.after:
            lines += [f"int rc = {call};", "", "if (rc == MPI_SUCCESS && !a->failed) {"] + ["\t" + a for a in self.after] + ["}", "return rc;"]
        else:
            lines.append(f"return {call};")
        body = "".join(f"\t{line}\n" if line else "\n" for line in lines)
        return f"static int call_{self.f.name}(struct args *a, const int64_t *v)\n{{\n\t(void)a, (void)v;\n{body}}}\n"
