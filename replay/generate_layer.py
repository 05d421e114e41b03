# SPDX-License-Identifier: BSD-3-Clause
"""generate_layer - the C functions of layer.c: MPI functions below the tracer that end as they ended (outcome.h)

A call that the library refused for its arguments is not made: what was wrong may not be in the trace (null pointers). A
function has a further part below the tracer if the table says that it

    starts a request                                  it gets a handle of our own (requests.h)
    passes a displacement in a window                 that is one of ours (addresses.h)
    can wait, and has a non-blocking form             that is polled (poll.h)
    is collective, and has none                       all its processes wait for each other first (blocking.h)
    calls functions of the application, or is of      if it failed, it fails
    files or attributes
"""
# The collective calls that move bytes where ranks have different datatypes (byte_collective.h).
MOVED_AS_BYTES = {"MPI_Bcast": "BCAST", "MPI_Gather": "GATHER", "MPI_Gatherv": "GATHER", "MPI_Scatter": "SCATTER", "MPI_Scatterv": "SCATTER",
                  "MPI_Allgather": "ALLGATHER", "MPI_Allgatherv": "ALLGATHER", "MPI_Alltoall": "ALLTOALL", "MPI_Alltoallv": "ALLTOALL"}
MESSAGE = "buf, count, datatype, dest, tag, comm"  # without the streams that MPIX_Stream_send names
RETURN_REFUSED = ["if (replay_outcome.refused)", "\treturn outcome_refused();"]
RETURN_ERROR = ["if (replay_outcome.error)", "\treturn replay_outcome.error;"]
RETURN_LOSSY_ERROR = ["if (replay_outcome.lossy && replay_outcome.error)", "\treturn replay_outcome.error;"]


class Layer:
    def __init__(self, f, functions, library):
        """functions: all of the table; library: what the MPI library has."""
        self.f = f
        self.names = [p.name for p in f.parameters]
        self.request = next((p.name for p in f.parameters if p.role.name == "request" and p.direction == ">"), None)
        self.comm = next((("*" if p.direction == "!" else "") + p.name for p in f.parameters if p.role.name == "comm" and not p.is_output), None)
        self.creates = {p.role.name for p in f.parameters if p.direction == ">"}
        self.refused = not self.request and (f.kind in ("file", "attribute") or "callbacks" in f.facts)
        self.polled = self.nonblocking_form(functions, library)
        self.waits_for_comm = (not self.request and not self.polled and self.comm and "collective_comm" in f.facts and
                               (self.comm.startswith("*") or self.creates & {"comm", "win"}))
        # deleting an attribute that the application's function may have copied from another object: it is put there first
        put = f.name.replace("_delete_attr", "_set_attr").replace("Attr_delete", "Attr_put")
        self.put = put if f.kind == "attribute" and put != f.name and put in library.prototypes else None

    def nonblocking_form(self, functions, library):
        """The function that does the same and gives a request, if the call can wait for messages."""
        f = self.f
        if self.request or f.kind not in ("point_to_point", "collective"):
            return None
        for other in functions:
            if other.base == f.base and other.starts_request and not other.is_persistent and other.is_large == f.is_large:
                there = library.prototypes.get(other.name)
                return other.name if there and len(there.parameters) == len(self.names) + 1 else None
        return None

    def has(self, *names):
        return all(n in self.names for n in names)

    @property
    def is_send(self):
        return self.f.kind == "point_to_point" and self.has("dest") and not self.has("source") and not self.has("partitions")

    def library_arguments(self):
        """The names of the parameters, but for addresses of the recorded process, and the request."""
        out = []
        for name in self.names:
            out.append("address_in_window(win, target_rank, target_disp)" if name == "target_disp" else "&real" if name == self.request else name)
        return ", ".join(out)

    def before(self):
        """What failed is not tried; data of different types are moved as bytes."""
        if self.refused:
            return RETURN_ERROR
        if not (self.request or self.polled or self.waits_for_comm):
            return []
        kind = MOVED_AS_BYTES.get(self.f.base)
        if not kind or self.f.is_large or self.f.is_persistent:
            return RETURN_LOSSY_ERROR
        sides = ["(struct side){buffer, count, NULL, datatype}"] * 2
        if kind != "BCAST":
            sides = [f"(struct side){{{side}buf, 0, {side}counts, {side}type}}" if self.has(side + "counts") else
                     f"(struct side){{{side}buf, {side}count, NULL, {side}type}}" for side in ("send", "recv")]
        moved = f"byte_collective(BYTE_{kind}, {sides[0]}, {sides[1]}, {'root' if self.has('root') else 0}, comm)"
        if self.request:
            moved = f"request_made({moved}, MPI_REQUEST_NULL, request)"
        return RETURN_LOSSY_ERROR + ["if (replay_outcome.mixed_types)", f"\treturn {moved};"]

    def lossy(self):
        """What becomes of messages in a trace without order."""
        f, names = self.f, self.names
        sent = None
        if self.is_send and f.is_persistent:
            sent = f"lossy_request_init(REQUEST_PERSISTENT_SEND, {', '.join(names)})"
        elif self.is_send and self.request:
            sent = (f"lossy_send({MESSAGE}) == MPI_SUCCESS\n\t\t\t? lossy_request_made(REQUEST_PLAIN, MPI_REQUEST_NULL, request)"
                    " : MPI_ERR_OTHER")
        elif self.is_send:
            sent = f"lossy_send({MESSAGE})"
        elif self.request and self.has("dest", "source"):
            data = "sendbuf, sendcount, sendtype" if self.has("sendbuf") else "buf, count, datatype"
            sent = (f"lossy_send({data}, dest, sendtag, comm) == MPI_SUCCESS\n\t\t\t? lossy_request_made("
                    "source == MPI_PROC_NULL ? REQUEST_PLAIN : REQUEST_RECV, MPI_REQUEST_NULL, request) : MPI_ERR_OTHER")
        return ["if (replay_outcome.lossy)", f"\treturn {sent};"] if sent else []

    def waiting(self):
        lines = []
        if self.waits_for_comm:
            if self.comm.startswith("*"):
                lines += ["if (replay_outcome.lossy)", f"\tlossy_drain({self.comm});"]
            lines.append(f"poll_barrier({self.comm});")
        if "collective_file" in self.f.facts:
            lines.append(f"blocking_enter(HANDLE_BITS({self.names[0]}));")
        if self.put:
            lines.append(f"P{self.put}({', '.join(self.names)}, NULL);")
        return lines

    def after(self):
        f = self.f
        made = "if (replay_outcome.lossy && rc == MPI_SUCCESS)"
        if self.request:
            lines = []
            if f.is_persistent and not self.is_send:
                lines = [made, "\treturn lossy_request_made(REQUEST_PERSISTENT, real, request);"]
            elif "comm" in self.creates:  # it may be used when this is complete
                lines = [made, "\trc = poll_wait(&real, MPI_STATUS_IGNORE);"]
            elif self.has("query_fn"):  # which one MPI_Grequest_complete is for is not known
                lines = [made, "\tPMPI_Grequest_complete(real);"]
            return lines + [f"return request_made{'_of_file' if f.kind == 'file' else ''}(rc, real, {self.request});"]
        if "win" in self.creates:
            return ["if (rc == MPI_SUCCESS)", "\tblocking_register(HANDLE_BITS(*win), comm);", "return rc;"]
        if any(p.role.name == "moved" for p in f.parameters):
            return ["if (rc == MPI_SUCCESS && !replay_outcome.by_library && !replay_outcome.lossy)",
                    "\trequest_moved(status, replay_outcome.moved);", "return rc;"]
        return ["*flag = replay_outcome.flag;", "return rc;"] if f.kind == "attribute" and self.has("flag") else ["return rc;"]

    def code(self, prototype):
        """The C function."""
        lines = ["MPI_Request real = MPI_REQUEST_NULL;", ""] if self.request or self.polled else []
        lines += RETURN_REFUSED if not self.refused else []
        lines += self.before() + self.lossy() + self.waiting()
        call = f"P{self.f.name}({self.library_arguments()})"
        if self.polled:
            more = ", ".join(self.names + ["&real"])
            lines += ["if (!replay_outcome.polling)", f"\treturn {call};", f"int rc = P{self.polled}({more});", "",
                      "return rc == MPI_SUCCESS ? poll_wait(&real, MPI_STATUS_IGNORE) : rc;"]
        elif self.after() == ["return rc;"]:
            lines += [f"return {call};"]
        else:
            lines += [f"int rc = {call};", ""] + self.after()
        body = "".join(f"\t{line}\n" if line else "\n" for line in lines)
        return f"int {self.f.name}({prototype.declare(self.names)})\n{{\n{body}}}\n"
