# SPDX-License-Identifier: BSD-3-Clause
"""record - record.h and the record_ functions: the puts of each function, for C and Fortran callers alike"""
import re

from generator.table import HANDLES

C_TYPES = {"int": "int", "logical": "int", "mask": "int", "weights": "int", "aint": "MPI_Aint", "aint1": "MPI_Aint",
           "offset": "MPI_Offset", "count": "MPI_Count"}


def is_put(p, buffers=False):
    """Does the record_ function get it? buffers: the buffers_ function, which is for when they are recorded."""
    return buffers and p.role.type == "buffer" or p.role.kind != "-" or p.role.name in ("status", "moved") or copies(p)


def copies(p):
    """A function that copies attributes of communicators (preload/attribute.h)."""
    return p.role.name == "pointer" and p.name in ("comm_copy_attr_fn", "copy_fn")


def is_request_input(p):
    """A request that is passed to the call: what it means is found out before (put.h)."""
    return p.role.name == "request" and not p.is_output and not p.length


def frees(p):
    """A handle that the call frees, but no request."""
    return p.direction == "!" and p.role.name != "request"


def returns_reference(f, p):
    """A handle that the call returns, and that is to be freed as often as it is returned."""
    return p.is_output and not p.on_entry and p.role.name in ("group", "errhandler", "type") and "lends" not in f.facts


def free_begins(p, name):
    """The statement before the call; name: of the handle as it was passed."""
    bits = f"(intptr_t){name}" if p.role.name == "keyval" else name
    return f"\thandle_free(HANDLE_{p.role.name.upper()}, HANDLE_BITS({bits}), __builtin_frame_address(0));\n"


def c_parameter(p):
    """Its declaration in the record_ function."""
    type = p.role.type
    if type == "string":
        return f"struct text {p.name}"
    if type == "status":
        return f"const MPI_Status *{p.name}"
    if type == "buffer" or copies(p):
        return f"const void *{p.name}"
    if is_request_input(p):
        return f"struct request_ref {p.name}"
    if type == "handle":
        if p.length:
            return f"struct handles {p.name}"
        return f"{HANDLES[p.role.name][0]} " + ("const *" if p.is_output else "") + p.name
    if type == "aint1" and p.length:
        return f"struct addresses {p.name}"
    by_address = p.length or p.is_output
    return f"const {C_TYPES[type]} *{p.name}" if by_address else f"{C_TYPES[type]} {p.name}"


def signature(f, buffers=False):
    parameters = [c_parameter(p) for p in f.parameters if is_put(p, buffers or f.is_seldom)] + ["bool room"] * f.asks_room
    return f"void {'buffers' if buffers else 'record'}_{f.name}({', '.join(['struct call *c', 'bool ok', 'int rc'] + parameters)})"


def wrapper_kind(f):
    return "WRAP_SELDOM " if f.is_seldom else ""


class Recorder:
    """Writes one record_ function, or the buffers_ function, which puts buffers, too, and need not be fast. A function that is
    seldom called has one for both, in calls of preload/seldom.h."""

    def __init__(self, f, buffers):
        self.f, self.buffers = f, buffers or f.is_seldom
        self.otherwise = None  # what to do where the first parameters are not as expected, instead of putting them
        comms = [p for p in f.parameters if p.role.name == "comm" and not p.is_output]
        self.comm = comms[0] if comms else None
        self.used = {c for p in f.parameters for c in self.conditions(p)}

    def conditions(self, p):
        """Of a buffer they matter only where it is recorded."""
        return p.conditions if self.buffers or p.role.type != "buffer" else []

    def base(self):
        return "me.rank" if self.comm else "session_world_rank()"

    def length(self, p):
        """The C expression of an array's length."""
        text = p.length
        words = set(re.findall(r"\w+", text))
        outputs = {q.name for q in self.f.parameters if q.is_output and not q.length}
        text = re.sub(r"\w+", lambda m: "*" + m.group() if m.group() in outputs else m.group(), text)
        parameters = {q.name for q in self.f.parameters}
        asks = self.comm and self.comm.name in words
        for name, expression in (("size", "me.size"), ("peers", "me.peers"), ("indegree", "length_in({}, INT_MAX)"),
                                 ("outdegree", "length_out({}, INT_MAX)")):
            if name in words and name not in parameters:
                text = re.sub(rf"\b{name}\b", expression.format(self.comm.name), text)
                asks = True
        return f"me.size ? {text} : 0" if asks else text

    def array(self, p):
        """The C expression over n_ of whether the array may be read."""
        name = p.name
        if p.is_output:
            return f"({name}.c || {name}.f)" if p.role.type in ("handle", "aint1") else name
        if p.role.type in ("handle", "aint1"):
            type = HANDLES[p.role.name][0] if p.role.type == "handle" else "MPI_Aint"
            return f"({name}.c ? readable_array(ok, {name}.c, n_, sizeof({type})) : readable_array(ok, {name}.f, n_, sizeof(MPI_Fint)))"
        return f"readable_array(ok, {name}, n_, sizeof(*{name}))"

    def element(self, p):
        role = p.role
        if role.type == "handle":
            return f"handle_value(c, handle_number(HANDLE_{role.name.upper()}, bits_{role.name}({p.name}, i_), ok))"
        value = f"({p.name}.f ? {p.name}.f[i_] : {p.name}.c[i_])" if role.type == "aint1" else f"{p.name}[i_]"
        return self.encoded(p, value)

    def encoded(self, p, value):
        if p.role.type == "weights":
            return value
        return f"role_{p.role.name}(c, {value}{', ' + self.base() if p.role.kind == 'p' else ''})"

    def statement(self, p):
        """The put of a parameter that is significant."""
        role, name, star = p.role, p.name, "*" if p.is_output else ""
        if role.name == "moved":
            return f"put_moved(c, {name}, {f'true, {p.notes[0]}' if p.notes else 'false, MPI_DATATYPE_NULL'});"
        if role.type == "status":
            base = f"handle_comm(c, {self.comm.name}, ok, NULL).rank" if self.comm else self.base()
            typed = f"true, {p.notes[0]}" if p.notes else "false, MPI_DATATYPE_NULL"
            of_request = "false" if p.direction == ">" and not any(q.role.name == "request" for q in self.f.parameters) else "true"
            if p.direction == ":":
                return f"PUT_STATUS_PASSED(c, {name}, {base}, {typed}, {self.same(p)});"
            return f"PUT_STATUS(c, {name}, {of_request}, {base}, {typed}, {self.same(p)});"
        if role.type == "string":
            return f"put_text(c, {name}, ok);"
        if role.type == "buffer":
            return f"put_buffer(c, {name});" if self.buffers else f"put_in_place(c, {name});"
        if p.length:
            put = f"PUT_ARRAY(c, {self.array(p)}, {self.length(p)}, {self.element(p)});"
            return f"if (!put_weights_sentinel(c, {name}))\n\t\t{put}" if role.type == "weights" else put
        if role.name == "keyval":
            return f"put_keyval(c, {star}{name}, ok);"
        if role.name == "request":
            if p.is_output:
                traits = " | ".join(f"REQUEST_{n.upper()}" for n in p.notes) or "0"
                if "recv" in p.notes and any(q.name == "source" for q in self.f.parameters):
                    traits += " | request_from(source)"
                if self.otherwise and self.begins_raw() and self.ends_with_request():
                    return f"put_new_request_last(c, {len(self.groups()[0])}, {name}, {traits});"
                return f"put_new_request(c, {name}, ok, {traits});"
            return f"put_request_passed(c, &{name}, ok, {'true' if p.direction == '!' else 'false'});"
        if role.name == "session" and self.f.name == "MPI_Session_init":
            return f"put_new_session(c, *{name});"
        if role.name == "comm":
            if p.is_output:
                return f"put_new_comm(c, {name}, ok, {'&me' if 'dup' in p.notes else 'NULL'});"
            if p is self.comm:
                return "put_comm(c, &me);"
            return (f"{{\n\t\tstruct comm_info other = handle_comm(c, {name}, ok, NULL);\n\n"
                    "\t\tput_comm(c, &other);\n\t}")
        if role.type == "handle":
            bits = f"HANDLE_{role.name.upper()}, HANDLE_BITS({star}{name})"
            return f"put_returned(c, {bits});" if returns_reference(self.f, p) else f"put_handle(c, {bits}, ok);"
        return f"call_put(c, {self.encoded(p, star + name)});"

    def put(self, p):
        if p.role.name == "nostatus":
            return "\tput_no_status(c);\n"
        if not p.schema(self.buffers):
            return ""
        named = {"root": "is_root", "leaf": "is_leaf", "leader": "is_leader", "flag": "flag && *flag",
                 "room": "room", "origin": "op != MPI_NO_OP"}
        conditions = [named.get(c, f"{c} != MPI_IN_PLACE") for c in self.conditions(p)]
        handled = p.role.name in ("comm", "request") and not p.conditions  # their put_new_ functions look at ok
        if p.is_output and not handled:  # what the library tolerates may be a null pointer
            conditions[:0] = ["ok"] if p.length or p.role.type in ("string", "status") else ["ok", p.name]
        if not conditions:
            return f"\t{self.statement(p)}\n"
        absent = "put_no_status(c);" if p.role.type == "status" else "call_put_absent(c);"
        statement = self.statement(p).replace("\n", "\n\t")
        if p.length:
            statement = f"{{\n\t\t{statement}\n\t}} else {{\n\t\t{absent}\n\t}}"
            return f"\tif ({' && '.join(conditions)}) {statement}\n"
        return f"\tif ({' && '.join(conditions)})\n\t\t{statement}\n\telse\n\t\t{absent}\n"

    def put_where_recorded(self, p):
        """The put of a buffer of a function that has one record_ function."""
        put = self.put(p)
        if p.role.kind == "-":
            return f"\tif (call_buffers) {{\n{put}\t}}\n"
        return f"\tif (!call_buffers)\n\t\tput_in_place(c, {p.name});\n\telse {put.lstrip()}"

    def raw(self, p):
        """The C expression of what p's value follows from, or None if it does not follow from something so small."""
        role = p.role
        if self.buffers or p.conditions or p.length or len(p.schema()) != 1:
            return None
        if role.type in ("int", "logical", "mask", "aint", "offset", "count") and role.kind != "k" and not p.on_entry:
            return ("*" if p.is_output else "") + p.name
        if role.type == "handle" and role.name not in ("request", "message", "session", "file") and not p.is_output and p.direction == ":":
            return f"HANDLE_BITS({p.name})"
        return None

    def groups(self):
        """Parameters in order: lists of those with a raw that stand side by side, and single others."""
        out = []
        for p in self.f.parameters:
            if not p.schema(self.buffers) and p.role.name != "nostatus":
                continue
            if not self.raw(p) or p.role.kind == "p" and self.comm and not self.raw(self.comm):
                out.append(p)
            elif out and isinstance(out[-1], list):
                out[-1].append(p)
            else:
                out.append([p])
        flat = []
        for g in out:  # a peer means something in its communicator, which must be looked at with it
            alone = isinstance(g, list) and self.comm and self.comm not in g and any(p.role.kind == "p" for p in g)
            flat += g if alone else [g]
        return flat

    def put_raw(self, p):
        """The put of a parameter with a raw."""
        role, name, raw = p.role, p.name, self.raw(p)
        if p is self.comm:
            return f"CALL_PUT_FROM(c, {raw}, handle_value(c, me.number));"
        if role.name == "comm":
            return f"CALL_PUT_FROM(c, {raw}, handle_value(c, handle_comm(c, {name}, ok, NULL).number));"
        if role.type == "handle":
            return f"put_handle_raw(c, HANDLE_{role.name.upper()}, {raw}, ok);"
        if p.is_output:
            return f"if (ok && {name})\n\t\t\tcall_put_raw(c, {self.encoded(p, '*' + name)}, {raw});\n\t\telse\n\t\t\tcall_put_absent(c);"
        if role.kind == "p":  # its value follows from the communicator, too
            return f"call_put_raw(c, {self.encoded(p, name)}, {raw});"
        return f"CALL_PUT_FROM(c, {raw}, {self.encoded(p, name)});"

    def group(self, group, same, needs_me):
        """A list of parameters that mostly are what they were at the last visit; see call_expects() in call.h."""
        first = self.otherwise and same == "same0" and not self.flags_before
        expects = "cell_expects(&c->site->column[{}], {})" if first else "call_expects(c, {}, {})"
        tests = [expects.format(i, self.raw(p)) for i, p in enumerate(group)]
        trust = any(p.role.type == "handle" for p in group)
        if trust:
            tests.insert(0, "call_trusts(c)")
        tests[:0] = [p.name for p in group if p.is_output]
        if any(p.is_output for p in group):
            tests.insert(0, "ok")
        out = [f"\tconst bool {same} = {' && '.join(tests)};\n\n"]
        skip = f"call_first(c, {len(group)})" if first else f"call_skip(c, {len(group)})"
        if first and (not self.groups()[1:] or self.ends_with_request()):
            skip = ""
        out.append(f"\tif (__builtin_expect({same}, 1)) {{\n\t\t{skip};\n\t}} else {{\n" if skip else f"\tif (__builtin_expect(!{same}, 0)) {{\n")
        if first:
            return "".join(out + ["\t\tcall_first(c, 0);\n", self.otherwise, "\t}\n"])
        puts = [self.put_raw(p) for p in group]
        if needs_me and any("me." in put for put in puts):
            out.append(f"\t\tconst struct comm_info me = handle_comm(c, {self.comm.name}, ok, NULL);\n\n")
        if trust:
            out.append("\t\tif (!call_trusts(c))\n\t\t\tcall_distrust(c);\n")
        out += [f"\t\t{put}\n" for put in puts]
        return "".join(out + ["\t}\n"])

    def begins_raw(self):
        """Does the put_ function begin with parameters that have raws? Then it looks at their columns itself (call_end)."""
        groups = self.groups()
        return bool(groups) and isinstance(groups[0], list)

    def ends_with_request(self):
        """Do these parameters stand before a new request, and nothing else? Then it finds its column itself."""
        rest = self.groups()[1:]
        return len(rest) == 1 and not isinstance(rest[0], list) and rest[0].role.name == "request" and rest[0].is_output and not rest[0].length

    def same(self, p):
        """The C expression of whether what p's meaning depends on - the communicator, its datatype - is as it was."""
        names = p.notes + ([self.comm.name] if self.comm else [])
        flags = {self.flags.get(n, "false") for n in names}
        return "false" if "false" in flags else " && ".join(sorted(flags)) or "true"

    def puts(self):
        """All puts; whether the communicator must be known before them."""
        groups = self.groups()
        self.flags = {}  # parameter -> the C variable that says that it is as it was
        put = lambda p: (self.put_where_recorded if self.f.is_seldom and p.role.type == "buffer" else self.put)(p)  # noqa: E731
        single = "".join(put(p) for p in groups if not isinstance(p, list))
        me = bool(self.comm) and (bool({"root", "leaf", "leader"} & self.used) or "me." in single or "&me" in single)
        out = []
        for p in groups:
            self.flags_before = bool(out)
            if isinstance(p, list):
                same = f"same{len(set(self.flags.values()))}"
                self.flags.update({q.name: same for q in p})
                out.append(self.group(p, same, not me))
            else:
                out.append(put(p))
        return "".join(out), me

    def body(self):
        out = []
        puts, me = self.puts()
        if me:
            ok = "false" if self.comm.direction == "!" else "ok"  # freed: if it is not known, it cannot be asked any more
            out.append(f"\tconst struct comm_info me = handle_comm(c, {self.comm.name}, {ok}, NULL);\n")
        for condition, test in (("root", "comm_at_root(&me, root)"), ("leaf", "comm_is_leaf(&me, root)"),
                                ("leader", "local_leader == me.rank")):
            if condition in self.used:
                out.append(f"\tconst bool is_{condition} = {test};\n")
        if out:
            out.append("\n")
        out.append(puts)
        for p in self.f.parameters:
            if frees(p):
                bits = f"(intptr_t){p.name}" if p.role.name == "keyval" else p.name
                out.append(f"\thandle_freed(HANDLE_{p.role.name.upper()}, HANDLE_BITS({bits}), ok);\n")
            elif returns_reference(self.f, p) and p.length:
                bits = f"bits_{p.role.name}({p.name}, i_)"
                out.append(f"\tif (ok)\n\t\tfor (ptrdiff_t i_ = 0, n_ = {self.length(p)}; i_ < n_; i_++)\n"
                           f"\t\t\thandle_returned(HANDLE_{p.role.name.upper()}, {bits});\n")
            elif copies(p):
                keyval = next(q.name for q in self.f.parameters if q.role.name == "keyval")
                out.append(f"\tif (ok && {keyval})\n\t\tattribute_keyval(*{keyval}, {p.name});\n")
            elif p.name == "partitions":
                out.append("\tif (ok)\n\t\ttree_partitioned();\n")
            elif p.direction == "!":
                out.append(f"\tif (ok)\n\t\trequest_end(&{p.name});\n\telse\n\t\trequest_release(&{p.name});\n")
        return "".join(out)

    def function(self):
        """The function where buffers are recorded, or the one for both."""
        return f"WRAP_SELDOM {signature(self.f, not self.f.is_seldom)}\n{{\n{self.body()}\twrap_commit(c, ok, rc);\n}}\n"

    def functions(self):
        """record_, for all cases, and put_, inline for the C wrapper in the same file: of a call that succeeded, mostly as expected."""
        names = ", ".join(re.findall(r"(\w+)(?:,|\)$)", signature(self.f)))
        every = f"{signature(self.f)}\n{{\n{self.body()}\twrap_commit(c, ok, rc);\n}}\n"
        self.otherwise = f"\t\trecord_{self.f.name}({names});\n\t\treturn;\n"
        inline = signature(self.f).replace("void record_", "static inline __attribute__((always_inline)) void put_", 1)
        return f"{every}\n{inline}\n{{\n\tok = true;\n\trc = 0;\n{self.body()}\twrap_commit(c, ok, rc);\n}}\n"
