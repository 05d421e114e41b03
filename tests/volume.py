# SPDX-License-Identifier: BSD-3-Clause
"""volume - how much the calls of a program passed on, from the lines of its flat log: one event after the other, nothing known beforehand

    v = volume.Volume(ranks)
    for line in log: v.event(rank, line)
    v.bytes["MPI_Send"], v.messages, v.message_bytes, v.unsized
"""
import collections
import re

SIZES = {
    1: "CHAR SIGNED_CHAR UNSIGNED_CHAR BYTE PACKED INT8_T UINT8_T C_BOOL CHARACTER",
    2: "SHORT UNSIGNED_SHORT INT16_T UINT16_T", 4: "INT UNSIGNED FLOAT INT32_T UINT32_T INTEGER REAL LOGICAL",
    8: "LONG UNSIGNED_LONG LONG_LONG LONG_LONG_INT UNSIGNED_LONG_LONG DOUBLE INT64_T UINT64_T AINT OFFSET COUNT DOUBLE_PRECISION COMPLEX 2INT "
       "C_COMPLEX C_FLOAT_COMPLEX INTEGER8 REAL8 FLOAT_INT",
    12: "DOUBLE_INT LONG_INT", 16: "LONG_DOUBLE DOUBLE_COMPLEX C_DOUBLE_COMPLEX 2DOUBLE_PRECISION", 6: "SHORT_INT"}
PREDEFINED = {"MPI_" + name: size for size, names in SIZES.items() for name in names.split()}
SENDS = "Send Bsend Ssend Rsend Sendrecv Sendrecv_replace Psend".split()
GIVES = ("Bcast Reduce Allreduce Scan Exscan Gather Gatherv Scatterv Allgather Allgatherv Alltoallv Alltoallw Reduce_scatter Neighbor_allgather "
         "Neighbor_allgatherv Neighbor_alltoallv Neighbor_alltoallw Put Rput Get Rget Accumulate Raccumulate Get_accumulate Rget_accumulate "
         "Fetch_and_op Compare_and_swap").split()
ONE_SIDED = "Put Rput Get Rget Accumulate Raccumulate Get_accumulate Rget_accumulate Fetch_and_op Compare_and_swap".split()
TO_ALL = "Scatter Alltoall Reduce_scatter_block".split()
UNKNOWN = "Neighbor_alltoall".split()


def numbers(text):
    return [int(x) for x in text[1:-1].split(",") if x]


class Volume:
    def __init__(self, size):
        self.size, self.types, self.requests, self.comms = size, {}, {}, {}
        self.bytes, self.calls = collections.Counter(), collections.Counter()
        self.messages = self.message_bytes = self.unsized = 0
        self.moved = collections.Counter()  # bytes of one-sided calls, and of files: one_sided, read, written

    def type_size(self, rank, name):
        return PREDEFINED[name] if name in PREDEFINED else self.types.get((rank, name))

    def make_type(self, rank, name, p):
        if "oldtype" in p:
            old, n = self.type_size(rank, p["oldtype"]), 1
            if "array_of_blocklengths" in p:
                n = sum(numbers(p["array_of_blocklengths"]))
            elif "array_of_subsizes" in p:
                for k in numbers(p["array_of_subsizes"]):
                    n *= k
            elif "count" in p:
                n = int(p["count"]) * int(p.get("blocklength", 1))
            size = None if old is None or "array_of_gsizes" in p else old * n
        elif "array_of_types" in p:
            sizes = [self.type_size(rank, t) for t in p["array_of_types"][1:-1].split(",")]
            size = None if None in sizes else sum(a * b for a, b in zip(sizes, numbers(p["array_of_blocklengths"])))
        else:
            size = None
        self.types[rank, p["newtype"]] = size

    def piece(self, rank, count, types, only=None):
        """Bytes; None: not known; "-": not significant."""
        if count == "-":
            return "-"
        counts = numbers(count) if count[0] == "[" else [int(count)]
        types = types[1:-1].split(",") if types[0] == "[" else [types] * len(counts)
        chosen = [(c, self.type_size(rank, t)) for i, (c, t) in enumerate(zip(counts, types)) if only in (None, i)]
        return None if any(s is None and c for c, s in chosen) else sum(c * (s or 0) for c, s in chosen)

    def amount(self, rank, base, p):
        if p.get("dest", p.get("target_rank")) == "MPI_PROC_NULL":
            return 0
        if base.startswith("File_") and re.fullmatch(r"\d+", p.get("status.count", "")):
            return self.piece(rank, p["status.count"], p["datatype"])  # it may be less than was asked for
        pairs = [(p[c], next(p[t] for t in ts if t in p)) for c, ts in
                 (("sendcounts", ("sendtypes", "sendtype")), ("sendcount", ("sendtype",)), ("origin_count", ("origin_datatype",)), ("count", ("datatype",)),
                  ("recvcounts", ("recvtypes", "recvtype", "datatype")), ("recvcount", ("recvtype", "datatype"))) if c in p and any(t in p for t in ts)]
        n = self.piece(rank, *pairs[0]) if pairs else self.type_size(rank, p["datatype"])
        if n == "-" and base in ("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"):
            n = self.piece(rank, *pairs[1], only=self.comms[rank, p["comm"]][0] if base == "Allgatherv" else None)
        if n in ("-", None):
            return 0 if n else None
        if base in TO_ALL and n:
            if (rank, p["comm"]) not in self.comms:
                return None
            n *= self.comms[rank, p["comm"]][1]
        return n * int(p.get("partitions", 1))

    def add(self, function, base, n):
        if base in SENDS:
            self.messages += 1
            self.message_bytes += n or 0
            self.unsized += n is None
        self.bytes[function] += n or 0
        kind = ("read" if base.startswith(("File_read", "File_iread")) else "written" if base.startswith(("File_write", "File_iwrite")) else
                "one_sided" if base in ONE_SIDED else None)
        if kind:
            self.moved[kind] += n or 0

    def event(self, rank, line):
        """comms: {(rank, "c1"): (rank in it, size)} is to be filled before."""
        _, function, *words = re.findall(r'(?:[^\s"]|"(?:\\.|[^"\\])*")+', line)
        p = dict(w.split("=", 1) for w in words)
        self.calls[function] += 1
        if "error" in p:
            return
        if "newtype" in p:
            self.make_type(rank, function, p)
        base = re.sub(r"^MPIX?_|_c$", "", function)
        persistent = base.endswith("_init") and "request" in p
        base = base[:-5] if persistent else base
        if base[0] == "I" and base[1].islower() and base[1].upper() + base[2:] in SENDS + GIVES + TO_ALL:
            base = base[1].upper() + base[2:]
        known = base in SENDS + GIVES + TO_ALL or (base.startswith(("File_read", "File_write", "File_iread", "File_iwrite")) and "count" in p)
        if function in ("MPI_Start", "MPI_Startall"):
            for request in p["requests"][1:-1].split(",") if "requests" in p else [p["request"]]:
                made, n = self.requests.get((rank, request), (None, 0))
                if made:
                    self.add(function, made, n)
        elif persistent:
            self.requests[rank, p["request"]] = (base, self.amount(rank, base, p)) if known and p.get("dest") != "MPI_PROC_NULL" else (None, 0)
        elif known and p.get("dest", p.get("target_rank")) != "MPI_PROC_NULL":
            self.add(function, base, self.amount(rank, base, p))
