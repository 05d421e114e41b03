# SPDX-License-Identifier: BSD-3-Clause
"""table - reads preload/mpi.table, which explains its own form"""
import fnmatch
import re

PARAMETER = re.compile(r"(\w+)([:>=*!])(\w+)(?:\(([\w,]+)\))?(?:\[([^\]]+)\])?(?:\?([\w&]+))?$")
FORMS = re.compile(r"(?:([ILP]+)\+)?(.+)$")
CONDITIONS = {"root", "leaf", "leader", "flag", "some", "room", "origin", "sendbuf", "recvbuf"}
SHORT = {"array_of_requests": "requests", "array_of_statuses": "statuses", "array_of_indices": "indices"}
# The role of each kind of handle -> its C type and the name of its conversion from Fortran
HANDLES = {
    "comm": ("MPI_Comm", "MPI_Comm_f2c"), "type": ("MPI_Datatype", "MPI_Type_f2c"),
    "group": ("MPI_Group", "MPI_Group_f2c"), "op": ("MPI_Op", "MPI_Op_f2c"), "win": ("MPI_Win", "MPI_Win_f2c"),
    "file": ("MPI_File", "MPI_File_f2c"), "info": ("MPI_Info", "MPI_Info_f2c"), "errhandler": ("MPI_Errhandler", "MPI_Errhandler_f2c"),
    "message": ("MPI_Message", "MPI_Message_f2c"), "request": ("MPI_Request", "MPI_Request_f2c"),
    "session": ("MPI_Session", "MPI_Session_f2c"),
}


class TableError(Exception):
    pass


class Role:
    """large: the same role in large-count functions."""

    def __init__(self, name, kind, type, constants):
        self.name, self.kind, self.constants = name, kind, constants
        self.type, _, wide = type.partition("/")
        self.large = Role(name, kind, wide, constants) if wide else self


class Parameter:
    """One parameter; direction is the character between name and role."""

    def __init__(self, text, roles, large):
        m = PARAMETER.match(text)
        if not m:
            raise TableError(f"'{text}' is not of the form NAME:ROLE, NAME>ROLE(X)[LENGTH]?CONDITION, ...")
        self.name, self.direction, role, notes, self.length, conditions = m.groups()
        if role not in roles:
            raise TableError(f"parameter {self.name}: there is no role '{role}'")
        self.role = roles[role].large if large else roles[role]
        self.notes = notes.split(",") if notes else []
        self.conditions = conditions.split("&") if conditions else []
        for c in self.conditions:
            if c not in CONDITIONS:
                raise TableError(f"parameter {self.name}: unknown condition '{c}' "
                                 f"(there are {', '.join(sorted(CONDITIONS))})")

    @property
    def is_output(self):
        return self.direction in ">="

    @property
    def on_entry(self):
        """Passed by address and recorded as it was before the call."""
        return self.direction in "*!"

    def schema(self, buffers=False):
        """What it becomes in the schema: a list of (name, kind). buffers: where they are recorded."""
        if buffers and self.role.type == "buffer":
            return [(self.name, "a")]
        name = SHORT.get(self.name, self.name)
        array = "[" if self.length else ""
        if self.role.type == "status":
            parts = (("MPI_SOURCE", "p"), ("MPI_TAG", "i"), ("count", "i"))
            return [(f"{name}.{part}", array + kind) for part, kind in parts]
        return [] if self.role.kind == "-" else [(name, array + self.role.kind)]


# Classes of functions that are not called in the loops of a program
SELDOM = ("environment", "process", "group", "session", "info", "topology", "operation", "error", "attribute", "window", "file")


class Function:
    def __init__(self, name, parameters, by_hand, kind):
        self.name, self.parameters, self.by_hand, self.aliases = name, parameters, by_hand, []
        self.kind, self.base, self.facts = kind, name, set()
        self.asks_room = any("room" in p.conditions for p in parameters)

    @property
    def room(self):
        """The parameter that condition `room` is about."""
        return next((p.name for p in self.parameters if p.direction == "="), None)

    @property
    def lower(self):
        return self.name.lower()

    @property
    def is_large(self):
        """A large-count form, which mpif.h does not have."""
        return self.name.endswith("_c")

    @property
    def is_seldom(self):
        """Compiled quickly, not to be quick: it makes or frees an object, or no program calls it so often that it matters."""
        objects = [p for p in self.parameters if p.role.type == "handle" and p.role.name != "request" and p.direction in (">", "!", "=")]
        return bool(objects) or self.is_persistent or self.is_large or self.kind in SELDOM or "seldom" in self.facts

    @property
    def starts_request(self):
        return any(p.role.name == "request" and p.direction == ">" for p in self.parameters)

    @property
    def is_persistent(self):
        return any(p.role.name == "request" and "persistent" in p.notes for p in self.parameters)

    @property
    def has_buffers(self):
        return any(p.role.type == "buffer" for p in self.parameters)

    @property
    def completes(self):
        """Waits for requests, tests them, or starts several: generator/completion.py makes its wrappers."""
        requests = [p for p in self.parameters if p.role.name == "request" and not p.is_output]
        return bool(requests) and (bool(requests[0].length) or any(p.role.name == "status" for p in self.parameters))

    def schema(self, buffers=False):
        return " ".join([self.name] + [f"{n}:{k}" for p in self.parameters for n, k in p.schema(buffers)])


def expand(text):
    """MPI_{A,B}_c -> MPI_A_c, MPI_B_c"""
    m = re.search(r"\{([^}]*)\}", text)
    if not m:
        return [text]
    return [t for option in m.group(1).split(",") for t in expand(text[: m.start()] + option + text[m.end() :])]


def forms(name, letters):
    """(name, more parameters) of a function's forms but the large-count ones."""
    out = [(name, [])]
    if "I" in letters:
        out.append(("MPI_I" + name[4].lower() + name[5:], ["request>request"]))
    if "P" in letters:
        more = ["info:info", "request>request(persistent)"]
        out += [(name + "_init", more), ("MPIX_" + name[4:] + "_init", more)]
    return out


def plain_names(f):
    """What the blocking form of a function could be called."""
    name = re.sub(r"^MPIX_", "MPI_", f.name).removesuffix("_c")
    if f.is_persistent:
        name = name.removesuffix("_init")
    elif f.starts_request:
        yield from (other for other in (re.sub(r"^MPI_[IR]([a-z])", lambda m: "MPI_" + m.group(1).upper(), name),
                                        re.sub(r"^(MPI_[A-Z][a-z]+_)i", r"\1", name)) if other != name)
    yield name
    yield f.name.removesuffix("_c")


class Table:
    def __init__(self, path):
        self.roles, self.functions, self.excluded, self.sizes = {}, [], [], {}
        self.by_name, self.kind, self.facts = {}, None, []
        lines = []
        with open(path, encoding="ascii") as f:
            for number, line in enumerate(f, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                if line[0].isspace() and lines:
                    lines[-1][1] += " " + line.strip()
                else:
                    lines.append([number, line.strip()])
        for number, line in lines:
            try:
                self.read(line)
            except TableError as e:
                raise TableError(f"{path}:{number}: {e}") from None
        try:
            self.learn_facts()
        except TableError as e:
            raise TableError(f"{path}: {e}") from None

    def learn_facts(self):
        """The blocking form of each function; the facts hold for all of its forms, those of another form for this one."""
        for f in self.functions:
            f.base = next((n for n in plain_names(f) if n in self.by_name and n != f.name), f.name)
        for fact, patterns in self.facts:
            for pattern in patterns:
                found = [f for f in self.functions if fnmatch.fnmatchcase(f.base, pattern)] or [f for f in self.functions if f.name == pattern]
                if not found:
                    raise TableError(f"fact {fact}: there is no function '{pattern}'")
                for f in found:
                    f.facts.add(fact)
        for c in self.roles["type"].constants:
            if c not in self.sizes and c != "MPI_DATATYPE_NULL":
                raise TableError(f"there is no size of {c}")

    def read(self, line):
        words = line.split()
        if words[0] == "role":
            name, kind, type = words[1:4]
            self.roles[name] = Role(name, kind, type, words[4:])
        elif words[0] == "exclude":
            pattern, reason = line[len("exclude ") :].split(": ", 1)
            self.excluded.append((pattern, reason))
        elif words[0] == "class":
            self.kind = words[1]
        elif words[0] == "fact":
            self.facts.append((words[1].rstrip(":"), words[2:]))
        elif words[0] == "size":
            self.sizes.update((name, int(words[1].rstrip(":"))) for name in words[2:])
        elif words[0] == "alias":
            if words[1] not in self.by_name:
                raise TableError(f"alias of '{words[1]}', which is not in the table above")
            self.by_name[words[1]].aliases.append(words[2])
        else:
            by_hand = words[0] == "hand"
            if by_hand:
                words.pop(0)
            m = FORMS.match(words[0])
            for name in expand(m.group(2)):
                for form, more in forms(name, m.group(1) or ""):
                    self.add(form, words[1:] + more, by_hand, False)
                    if "L" in (m.group(1) or "") and form.startswith(name[:4]):
                        self.add(form + "_c", words[1:] + more, by_hand, True)

    def add(self, name, parameters, by_hand, large):
        if name in self.by_name:
            raise TableError(f"{name} is in the table twice")
        f = Function(name, [Parameter(p, self.roles, large) for p in parameters], by_hand, self.kind)
        self.by_name[name] = f
        self.functions.append(f)

    def excluded_because(self, name):
        for pattern, reason in self.excluded:
            if fnmatch.fnmatchcase(name, pattern):
                return reason
        return None

    def constants(self):
        """All names of constants, in the order of the roles, each once."""
        return list(dict.fromkeys(c for r in self.roles.values() for c in r.constants))
