#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""unseen - programs of random structure that lose time for causes that are known, and what spoor why says of them

    tests/unseen.py --seeds 1-40 --ranks 2,4,16           40 programs; a line each, then the sums
    tests/unseen.py --seeds 7 --mpi mpich --lossy 0 --verbose
    tests/unseen.py --seeds 1-200 --mpi virtual            traces of runs that never were, so that no machine is too busy for them
    tests/unseen.py --seeds 1000-1099 --sums              nothing of single programs

A seed is a program: some parts, each with a pattern of communication and a table of how long each rank computes in each step. A cause is planted in
one or two of the parts. What it costs is reckoned here, on a network that takes no time; what messages and calls cost by themselves, the program
measures. Seeds from 1000 on are those that nobody looks at one by one: only sums of them mean something.
"""
import argparse
import collections
import heapq
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402

NEAR = 0.10  # of the time, by which a share may be wrong
WORTH = 0.05  # what costs less need not be told
LITTLE = 0.11  # a program that loses no more is efficient
BUSY = 0.2  # of the time, that ranks without cores lose
HIDDEN = 1000  # seeds from here on

NAMES = ("solve advance update exchange smooth assemble relax sweep filter integrate transport couple predict correct remap deposit gather_forces "
         "scatter_fields refine balance project diffuse advect collide stream restrict_grid prolong factorise pivot renumber").split()
CAUSES = {"imbalance": {"imbalance"}, "serial": {"serial", "imbalance"}, "serialised": {"serialised"}, "moving": {"imbalance-moving"},
          "receiver": {"imbalance", "serial", "late-receiver"}, "small": {"small-messages"}, "transfer": {"transfer"}, "sync": {"synchronisation"}}
COSTS = ("small", "transfer", "sync")  # which the program measures
CONSEQUENCES = ("site", "late", "late-sender")


# --- patterns: the C text of a step, and when each rank is through it on a network that takes no time ---
# at: by rank, when it begins; w: by rank, how long it computes

def all_meet(at, w):
    return [max(a + b for a, b in zip(at, w))] * len(at)


def neighbours(*offsets, cyclic=True):
    def run(at, w):
        t, n = [a + b for a, b in zip(at, w)], len(at)
        return [max(t[(r + o) % n] for o in (0, *offsets) if cyclic or 0 <= r + o < n) for r in range(n)]
    return run


def from_root(at, w):
    t = [a + b for a, b in zip(at, w)]
    return [max(x, t[0]) for x in t]


def in_turn(blocks, back=False):
    """Each rank computes a block when the one before it has computed the same one."""
    def run(at, w):
        n, t = len(at), list(at)
        for direction in ((1, -1) if back else (1,)):
            order = range(n) if direction == 1 else range(n - 1, -1, -1)
            for b in range(blocks):
                before = None
                for r in order:
                    t[r] = max(t[r], before) if before is not None else t[r]
                    t[r] += w[r]
                    before = t[r]
        return t
    return run


def one_by_one(at, w):
    """All meet after each has computed alone."""
    t, n = list(at), len(at)
    for r in range(n):
        t[r] += w[r]
        t = [max(x, t[r]) for x in t]
    return t


def master_of(count):
    def run(at, w):
        n, t, busy, queue = len(at), list(at), at[0], []
        for r in range(1, n):
            heapq.heappush(queue, (at[r] + w[r], r, count))
        while queue:
            came, r, left = heapq.heappop(queue)
            busy = max(busy, came) + w[0]
            t[r] = busy
            if left > 1:
                heapq.heappush(queue, (busy + w[r], r, left - 1))
        t[0] = busy
        return t
    return run


def ssend_to_root(at, w):
    t = [a + b for a, b in zip(at, w)]
    for r in range(1, len(at)):
        t[0] = max(t[0], t[r])
        t[r] = max(t[r], t[0])
    return t


RING = {"sendrecv": "MPI_Sendrecv(out, @B, MPI_BYTE, right(), @T, in, @B, MPI_BYTE, left(), @T, WORLD, IGNORE);",
        "waitall": "MPI_Request r[2];\n\tMPI_Irecv(in, @B, MPI_BYTE, left(), @T, WORLD, &r[0]);\n\tMPI_Isend(out, @B, MPI_BYTE, right(), @T, WORLD, &r[1]);\n"
                   "\tMPI_Waitall(2, r, MPI_STATUSES_IGNORE);",
        "isend": "MPI_Request r;\n\tMPI_Isend(out, @B, MPI_BYTE, right(), @T, WORLD, &r);\n\tMPI_Recv(in, @B, MPI_BYTE, left(), @T, WORLD, IGNORE);\n\tMPI_Wait(&r, IGNORE);"}
HALO = """MPI_Request r[4];
	int n = 0;
	for (int d = -1; d <= 1; d += 2)
		if (rank + d >= 0 && rank + d < size) {
			MPI_Irecv(in + (d + 1) * @B, @B, MPI_BYTE, rank + d, @T, WORLD, &r[n++]);
			MPI_Isend(out + (d + 1) * @B, @B, MPI_BYTE, rank + d, @T, WORLD, &r[n++]);
		}
	MPI_Waitall(n, r, MPI_STATUSES_IGNORE);"""
# where all compute before they communicate: C text, when they are through, calls that tell the place
COMMON = {
    "ring": (RING["sendrecv"], neighbours(-1), "MPI_Sendrecv"),
    "ring_waitall": (RING["waitall"], neighbours(-1), "MPI_(Irecv|Isend|Waitall)"),
    "ring_isend": (RING["isend"], neighbours(-1), "MPI_(Isend|Recv|Wait)"),
    "halo": (HALO, neighbours(-1, 1, cyclic=False), "MPI_(Irecv|Isend|Waitall)"),
    "allreduce": ("double x = 1, y;\n\tMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, WORLD);", all_meet, "MPI_Allreduce"),
    "barrier": ("MPI_Barrier(WORLD);", all_meet, "MPI_Barrier"),
    "alltoall": ("MPI_Alltoall(out, 64, MPI_BYTE, in, 64, MPI_BYTE, WORLD);", all_meet, "MPI_Alltoall"),
    "allgather": ("MPI_Allgather(out, 64, MPI_BYTE, in, 64, MPI_BYTE, WORLD);", all_meet, "MPI_Allgather"),
    "reduce_bcast": ("double x = 1, y;\n\tMPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_MAX, 0, WORLD);\n\tMPI_Bcast(&y, 1, MPI_DOUBLE, 0, WORLD);", all_meet,
                     "MPI_(Reduce|Bcast)"),
    "iallreduce": ("double x = 1, y;\n\tMPI_Request r;\n\tMPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, WORLD, &r);\n\tMPI_Wait(&r, IGNORE);", all_meet,
                   "MPI_(Iallreduce|Wait)"),
    "gather_scatter": ("MPI_Gather(out, 128, MPI_BYTE, in, 128, MPI_BYTE, 0, WORLD);\n\tMPI_Scatter(out, 128, MPI_BYTE, in, 128, MPI_BYTE, 0, WORLD);", all_meet,
                       "MPI_(Gather|Scatter)")}


class Part:
    """A pattern, and how long each rank computes in each step (ms). cost: calls that cost by themselves."""

    def __init__(self, name, text, run, calls, table, before=True):
        self.name, self.text, self.run, self.calls, self.table = name, text, run, calls, table
        self.plain = None  # the table without what is planted
        self.before = before  # all compute first
        self.meets = False  # all do, at its end
        self.cause, self.ranks = None, None  # what is planted here; sets of ranks, any of which may be named

    def c(self, index):
        rows = ",\n".join("\t{" + ", ".join(f"{x:.3f}" for x in row) + "}" for row in self.table)
        first = "\tcompute(work);\n" if self.before else ""
        return (f"static const float table{index}[][{len(self.table[0])}] = {{\n{rows}}};\n\nstatic __attribute__((noinline)) void {self.name}(int step)\n{{\n"
                f"\tconst double work = table{index}[step][rank];\n\tdouble begin = now();\n\tpart = {index};\n{first}\t{self.text}\n"
                f"\ttook[{index}] += now() - begin;\n\t(void)work;\n}}\n")


def common(draw, name, base, steps, size, bytes_=None):
    kind = draw.choice(sorted(COMMON))
    text, run, calls = COMMON[kind]
    text = text.replace("@B", str(bytes_ or draw.choice((8, 100, 2000)))).replace("@T", str(draw.randrange(100)))
    jitter = [[base * draw.uniform(0.99, 1.01) for _ in range(size)] for _ in range(steps)]
    part = Part(name, text, run, calls, jitter)
    part.kind = kind

    def ops(v, w):
        for r in range(size):
            v.compute(r, w[r])
        v.common(kind)
    part.ops = ops
    return part


# --- the same by single calls, for a trace of a run that never was (tests/virtual.c) ---

FUNCTIONS = ("Send Recv Ssend Isend Irecv Wait Waitall Sendrecv Bcast Reduce Allreduce Barrier Gather Scatter Alltoall Allgather Iallreduce").split()
INSTANCES = 4


class Virtual:
    """Ranks in a time of their own: what each computes and calls, in an order in which what is waited for comes first. A call costs some us, and who
    waited is woken some us later; computation, which is sleep, ends a little late."""

    def __init__(self, size, seed):
        self.size, self.draw = size, random.Random(seed)
        self.at, self.computed, self.all_computed = [0.0] * size, [0.0] * size, 0.0  # us
        self.lines, self.next_request, self.sites, self.part = [], [1] * size, {}, None
        for r in range(size):
            self.lines.append(f"{r} 0 0 1000000")

    def compute(self, r, ms):
        if ms > 0:
            us = 1000 * ms + self.draw.uniform(50, 120)
            self.at[r] += us
            self.computed[r] += us
            self.all_computed += us

    def call(self, r, name, key, values, until=0.0, cost=None):
        """key: tells calls of one function in a part apart."""
        number = self.sites.setdefault((self.part, name, key), 2 + INSTANCES * FUNCTIONS.index(name) + sum(n == name for _, n, _ in self.sites))
        waited = max(0.0, until - self.at[r])
        waited += (self.draw.uniform(1, 4) if cost is None else cost) + (self.draw.expovariate(1 / 20) if waited > 0 else 0)
        self.lines.append(f"{r} {number} {1000 * self.computed[r]:.0f} {1000 * waited:.0f} {values}")
        self.at[r] += waited
        self.computed[r] = 0.0

    def send(self, r, to, bytes_=8, name="Send", cost=None, key=None):
        """When it was sent."""
        self.call(r, name, key, f"{bytes_} t {to - r} 0 w", cost=cost)
        return self.at[r]

    def receive(self, r, source, sent, bytes_=8, cost=None, any_=False):
        self.call(r, "Recv", any_, f"{bytes_} t {'a' if any_ else source - r} 0 w {source - r} 0 {bytes_}", until=sent, cost=cost)

    def meet(self, name, root=None, bytes_=8, cost=None, ranks=None):
        """A collective call, in order of time: all wait for all, for the root, or the root for all."""
        values = {"Barrier": "w", "Bcast": f"{bytes_} t {root} w", "Reduce": f"0 1 t s {root} w", "Allreduce": "0 1 t s w", "Gather": f"0 {bytes_} t {bytes_} t {root} w",
                  "Scatter": f"{bytes_} t 0 {bytes_} t {root} w", "Alltoall": f"0 {bytes_} t {bytes_} t w", "Allgather": f"0 {bytes_} t {bytes_} t w"}[name]
        at = list(self.at)
        for r in ranks or range(self.size):
            until = max(at) if root is None or (name in ("Gather", "Reduce") and r == root) else at[root] if name in ("Bcast", "Scatter") else 0
            self.call(r, name, None, values, until=until, cost=cost)

    def exchange(self, pairs, how, bytes_=8, cost=None):
        """pairs: by rank, to whom and from whom; each sends first."""
        at, n = list(self.at), self.size
        for r in range(n):
            to, of = pairs[r]
            until = max([at[o] for o in of] + [0])
            if how == "Sendrecv":
                self.call(r, "Sendrecv", None, f"{bytes_} t {to[0] - r} 0 {bytes_} t {of[0] - r} 0 w {of[0] - r} 0 {bytes_}", until=until, cost=cost)
                continue
            requests, sources = [], []
            for o, t in zip(of, to) if how == "Waitall" else ():
                self.call(r, "Irecv", None, f"{bytes_} t {o - r} 0 w {len(requests)}", cost=cost and cost / 4)
                requests.append(len(requests))
                sources.append(o - r)
                self.call(r, "Isend", None, f"{bytes_} t {t - r} 0 w {len(requests)}", cost=cost and cost / 4)
                requests.append(len(requests))
                sources.append(-1 << 40)
            if how == "Waitall":
                status = ",".join(str(x) if x > -1 << 40 else "0" for x in sources)
                self.call(r, "Waitall", None, f"{len(requests)} [{','.join(map(str, requests))} [{status} [{','.join('0' for _ in requests)} [{','.join(str(bytes_) for _ in requests)}",
                          until=until, cost=cost and cost / 2)
            else:
                self.call(r, "Isend", None, f"{bytes_} t {to[0] - r} 0 w 0", cost=cost and cost / 3)
                self.call(r, "Recv", None, f"{bytes_} t {of[0] - r} 0 w {of[0] - r} 0 {bytes_}", until=until, cost=cost and cost / 3)
                self.call(r, "Wait", None, "0 0 0 0", cost=cost and cost / 3)

    def ring(self):
        n = self.size
        return [([(r + 1) % n], [(r - 1) % n]) for r in range(n)]

    def line(self):
        n = self.size
        return [([x for x in (r - 1, r + 1) if 0 <= x < n],) * 2 for r in range(n)]

    def common(self, kind):
        if kind in ("ring", "ring_waitall", "ring_isend"):
            self.exchange(self.ring(), {"ring": "Sendrecv", "ring_waitall": "Waitall", "ring_isend": "Isend"}[kind])
        elif kind == "halo":
            self.exchange(self.line(), "Waitall")
        elif kind == "reduce_bcast":
            self.meet("Reduce", 0)
            self.meet("Bcast", 0)
        elif kind == "gather_scatter":
            self.meet("Gather", 0)
            self.meet("Scatter", 0)
        elif kind == "iallreduce":
            at = max(self.at)
            for r in range(self.size):
                self.call(r, "Iallreduce", None, "0 1 t s w 0")
                self.call(r, "Wait", None, "0 0 0 0", until=at)
        else:
            self.meet({"allreduce": "Allreduce", "barrier": "Barrier", "alltoall": "Alltoall", "allgather": "Allgather"}[kind])

    def sweep(self, w, blocks, direction):
        order = range(self.size) if direction == 1 else range(self.size - 1, -1, -1)
        for _ in range(blocks):
            sent = None
            for r in order:
                if sent is not None:
                    self.receive(r, r - direction, sent)
                self.compute(r, w[r])
                if 0 <= r + direction < self.size:
                    sent = self.send(r, r + direction)

    def master(self, w, count):
        queue = []
        for r in range(1, self.size):
            self.compute(r, w[r])
            heapq.heappush(queue, (self.send(r, 0), r, count))
        while queue:
            came, r, left = heapq.heappop(queue)
            self.receive(0, r, came, any_=True)
            self.compute(0, w[0])
            self.receive(r, 0, self.send(0, r, key="master"))
            if left > 1:
                self.compute(r, w[r])
                heapq.heappush(queue, (self.send(r, 0), r, left - 1))

    def name(self, number):
        """The part and function of a site."""
        return next((p, n) for (p, n, _), s in self.sites.items() if s == number)


# --- causes ---

def plant_imbalance(draw, name, base, steps, size):
    part = common(draw, name, base, steps, size)
    shape = draw.choice(("one", "one", "some", "half", "ramp"))
    more = base * draw.uniform(0.8, 3)
    if shape == "one":
        ranks = {draw.randrange(size)}
    elif shape == "some":
        ranks = set(draw.sample(range(size), max(1, size // 4)))
    else:
        ranks = set(range(size // 2, size))
    extra = [more * r / max(1, size - 1) if shape == "ramp" else more * (r in ranks) for r in range(size)]
    part.plain = part.table
    part.table = [[x + extra[r] for r, x in enumerate(row)] for row in part.table]
    part.ranks = [ranks] if shape != "ramp" else [set(range(k, size)) for k in range(size // 2, size)]
    return part


def plant_moving(draw, name, base, steps, size):
    part = common(draw, name, base, steps, size)
    while part.kind in ("ring", "ring_waitall", "ring_isend", "halo"):  # there, one waits for neighbours only
        part = common(draw, name, base, steps, size)
    shape, more = draw.choice(("turns", "one", "uniform", "often", "exponential")), base * draw.uniform(1, 3)
    part.plain, part.table = part.table, []
    order = draw.sample(range(size), size)
    for s, row in enumerate(part.plain):
        who = order[s % size] if shape == "turns" else draw.randrange(size)
        part.table.append([x + more * {"turns": r == who, "one": r == who, "uniform": draw.random(), "often": draw.random() < 0.3,
                                       "exponential": draw.expovariate(2)}[shape] for r, x in enumerate(row)])
    return part


def only_root(base, steps, size):
    return [[base] + [0] * (size - 1) for _ in range(steps)]


def plant_serial(draw, name, base, steps, size):
    b, t = draw.choice((8, 1000, 4000)), draw.randrange(100)
    more = base * draw.uniform(0.5, 2)
    shape = draw.choice(("bcast", "gather", "sends", "barrier", "scatter", "master" if size > 2 else "sends"))
    texts = {
        "bcast": (f"double x = 1, y;\n\tMPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);\n\tcompute(work);\n\tMPI_Bcast(out, {b}, MPI_BYTE, 0, WORLD);", "MPI_Bcast"),
        "gather": (f"MPI_Gather(out, {b}, MPI_BYTE, in, {b}, MPI_BYTE, 0, WORLD);\n\tcompute(work);\n\tMPI_Scatter(out, {b}, MPI_BYTE, in, {b}, MPI_BYTE, 0, WORLD);",
                   "MPI_Scatter"),
        "sends": (f"if (rank == 0) {{\n\t\tcompute(work);\n\t\tfor (int i = 1; i < size; i++)\n\t\t\tMPI_Send(out, {b}, MPI_BYTE, i, {t}, WORLD);\n\t}} else\n"
                  f"\t\tMPI_Recv(in, {b}, MPI_BYTE, 0, {t}, WORLD, IGNORE);", "MPI_Send"),
        "barrier": (f"MPI_Gather(out, {b}, MPI_BYTE, in, {b}, MPI_BYTE, 0, WORLD);\n\tcompute(work);\n\tMPI_Barrier(WORLD);", "MPI_Barrier"),
        "scatter": (f"MPI_Barrier(WORLD);\n\tcompute(work);\n\tMPI_Scatter(out, {b}, MPI_BYTE, in, {b}, MPI_BYTE, 0, WORLD);", "MPI_Scatter")}
    if shape == "master":
        count = draw.randrange(2, 5)
        text = f"""for (int i = 0; rank == 0 && i < {count} * (size - 1); i++) {{
		MPI_Status s;
		MPI_Recv(in, {b}, MPI_BYTE, MPI_ANY_SOURCE, {t}, WORLD, &s);
		compute(work);
		MPI_Send(out, {b}, MPI_BYTE, s.MPI_SOURCE, {t} + 1, WORLD);
	}}
	for (int i = 0; rank > 0 && i < {count}; i++) {{
		compute(work);
		MPI_Send(out, {b}, MPI_BYTE, 0, {t}, WORLD);
		MPI_Recv(in, {b}, MPI_BYTE, 0, {t} + 1, WORLD, IGNORE);
	}}"""
        each = max(0.6, base / count / max(1, size - 1) * 2)  # sleep is late by 0.1 ms
        part = Part(name, text, master_of(count), "MPI_Send", [[each] + [each * draw.uniform(0.2, 0.6)] * (size - 1) for _ in range(steps)], before=False)
    else:
        text, calls = texts[shape]
        part = Part(name, text, {"sends": from_root, "scatter": lambda at, w: from_root([max(at)] * len(at), w)}.get(shape, lambda at, w: [max(at) + w[0]] * len(at)),
                    calls, only_root(more, steps, size), before=False)
    part.plain, part.ranks = None, [{0}]

    def ops(v, w):
        if shape == "master":
            v.master(w, count)
            return
        if shape == "sends":
            v.compute(0, w[0])
            for r in range(1, size):
                v.receive(r, 0, v.send(0, r, b), b)
            return
        v.meet(*{"bcast": ("Reduce", 0), "gather": ("Gather", 0), "barrier": ("Gather", 0), "scatter": ("Barrier",)}[shape])
        v.compute(0, w[0])
        v.meet(*{"bcast": ("Bcast", 0), "gather": ("Scatter", 0), "barrier": ("Barrier",), "scatter": ("Scatter", 0)}[shape])
    part.ops = ops
    return part


def plant_serialised(draw, name, base, steps, size):
    b, t = draw.choice((8, 1000, 4000)), draw.randrange(100)
    shape = draw.choice(("chain", "blocks", "wave", "token", "turns"))
    if shape == "turns":
        text = f"for (int i = 0; i < size; i++) {{\n\t\tif (i == rank)\n\t\t\tcompute(work);\n\t\tMPI_Bcast(out, {b}, MPI_BYTE, i, WORLD);\n\t}}"
        part = Part(name, text, one_by_one, "MPI_Bcast", [[base / 2] * size for _ in range(steps)], before=False)

        def turns(v, w):
            for r in range(size):
                v.compute(r, w[r])
                v.meet("Bcast", r)
        part.ops = turns
        return part
    blocks = draw.randrange(2, 5) if shape in ("blocks", "wave") else 1
    sweep = f"""for (int i = 0; i < {blocks}; i++) {{
		if (rank {'@F'})
			MPI_Recv(in, {b}, MPI_BYTE, rank @P 1, {t}, WORLD, IGNORE);
		compute(work);
		if (rank {'@L'})
			MPI_Send(out, {b}, MPI_BYTE, rank @N 1, {t}, WORLD);
	}}"""
    forward = sweep.replace("@F", "> 0").replace("@P", "-").replace("@L", "< size - 1").replace("@N", "+")
    backward = sweep.replace("@L", "> 0").replace("@N", "-").replace("@F", "< size - 1").replace("@P", "+")
    run, text = in_turn(blocks), forward
    if shape == "wave":
        run, text = in_turn(blocks, back=True), forward + "\n\t" + backward
    if shape == "token":
        run, text = one_by_one, forward + "\n\tMPI_Barrier(WORLD);"
    part = Part(name, text, run, "MPI_(Recv|Send|Barrier)", [[base / 2 / blocks] * size for _ in range(steps)], before=False)

    def ops(v, w):
        v.sweep(w, blocks, 1)
        if shape == "wave":
            v.part += "'"  # calls of their own
            v.sweep(w, blocks, -1)
            v.part = v.part[:-1]
        if shape == "token":
            v.meet("Barrier")
    part.ops = ops
    return part


def plant_receiver(draw, name, base, steps, size):
    b, t = draw.choice((8, 1000, 100000)), draw.randrange(100)
    text = (f"compute(work);\n\tif (rank == 0)\n\t\tfor (int i = 1; i < size; i++)\n\t\t\tMPI_Recv(in, {b}, MPI_BYTE, i, {t}, WORLD, IGNORE);\n\telse\n"
            f"\t\tMPI_Ssend(out, {b}, MPI_BYTE, 0, {t}, WORLD);")
    part = Part(name, text, ssend_to_root, "MPI_Recv", [[base * 2] + [base * 0.4] * (size - 1) for _ in range(steps)], before=False)
    part.ranks = [{0}]

    def ops(v, w):
        for r in range(size):
            v.compute(r, w[r])
        for r in range(1, size):
            begin = v.at[r]
            v.receive(0, r, begin, b)
            v.call(r, "Ssend", None, f"{b} t {-r} 0 w", until=v.at[0])
    part.ops = ops
    return part


def plant_cost(kind):
    def plant(draw, name, base, steps, size):
        t, shape = draw.randrange(100), draw.randrange(3)
        zero = [[0] * size for _ in range(steps)]
        if kind == "small":
            b, n = draw.choice((1, 8, 64, 400)), draw.randrange(150, 400) * 2 // size
            text = list(RING.values())[shape].replace("@B", str(b)).replace("@T", str(t))
            text, calls = f"for (int i = 0; i < {n}; i++) {{\n\t{text}\n\t}}", "MPI_(Sendrecv|Isend|Irecv|Recv|Wait|Waitall)"
        elif kind == "transfer":
            b = draw.randrange(1, 4) << 20
            text, calls = ((RING["sendrecv"].replace("@B", str(b)).replace("@T", str(t)), "MPI_Sendrecv"),
                           (f"MPI_Alltoall(out, {b // size}, MPI_BYTE, in, {b // size}, MPI_BYTE, WORLD);", "MPI_Alltoall"),
                           (f"MPI_Allgather(out, {b // size}, MPI_BYTE, in, {b // size}, MPI_BYTE, WORLD);", "MPI_Allgather"))[shape]
            text = f"for (int i = 0; i < 4; i++)\n\t{text}"
        else:
            n = draw.randrange(50, 150) * 2 // size
            text, calls = (("MPI_Barrier(WORLD);", "MPI_Barrier"), ("double x = 1, y;\n\tMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, WORLD);", "MPI_Allreduce"),
                           ("int x = 1;\n\tMPI_Bcast(&x, 1, MPI_INT, i % size, WORLD);", "MPI_Bcast"))[shape]
            text = f"for (int i = 0; i < {n}; i++) {{\n\t{text}\n\t}}"
        part = Part(name, "MPI_Barrier(WORLD);\n\t" + text, all_meet, calls, zero, before=False)

        def ops(v, w):
            v.meet("Barrier")
            for i in range(4 if kind == "transfer" else n):
                if kind == "small":
                    v.exchange(v.ring(), ("Sendrecv", "Waitall", "Isend")[shape], b, cost=v.draw.uniform(5, 30))
                elif kind == "transfer":
                    cost = b / v.draw.uniform(1000, 3000)
                    (lambda: v.exchange(v.ring(), "Sendrecv", b, cost=cost), lambda: v.meet("Alltoall", None, b // size, cost=cost),
                     lambda: v.meet("Allgather", None, b // size, cost=cost))[shape]()
                else:
                    v.part += "'"
                    v.meet(("Barrier", "Allreduce", "Bcast")[shape], i % size if shape == 2 else None, 4, cost=v.draw.uniform(10, 60))
                    v.part = v.part[:-1]
        part.ops = ops
        return part
    return plant


PLANT = {"imbalance": plant_imbalance, "moving": plant_moving, "serial": plant_serial, "serialised": plant_serialised, "receiver": plant_receiver,
         "small": plant_cost("small"), "transfer": plant_cost("transfer"), "sync": plant_cost("sync")}


class Program:
    """Of a seed, for so many ranks."""

    def __init__(self, seed, size, only=None):
        draw = random.Random(seed)
        kinds = only or ([] if draw.random() < 0.12 else draw.sample(sorted(PLANT), 1 if draw.random() < 0.6 else 2))
        if size > 4:
            kinds = [k for k in kinds if k not in COSTS] or (["imbalance"] if kinds else [])  # what calls cost there is the machine's
        self.seed, self.size, self.kinds = seed, size, kinds
        self.spin = size == 2 and draw.random() < 0.4
        names = draw.sample(NAMES, 5)
        base, plain = draw.uniform(2, 5), draw.randrange(1 if not kinds or set(kinds) & set(COSTS) else 0, 3)
        steps = min(80, int(900 / base / (plain + 2 * len(kinds)))) if size <= 4 else min(30, int(500 / base / (plain + 2 * len(kinds))))
        self.parts = [common(draw, names.pop(), base, steps, size) for _ in range(plain)]
        for k in kinds:
            part = PLANT[k](draw, names.pop(), base, steps, size)
            part.cause = k
            self.parts.insert(draw.randrange(len(self.parts) + 1), part)
        if len(kinds) == 2:  # they meet after each, so that shares are known
            for p in self.parts:
                if p.cause:
                    p.text += "\n\tMPI_Barrier(WORLD);"
                    p.run = (lambda run: lambda at, w: [max(run(at, w))] * len(at))(p.run)
                    p.meets = True
        self.steps = steps

    def c(self):
        body = "".join(f"\t\t{p.name}(step);\n" for p in self.parts)
        return (f"#define PARTS {len(self.parts)}\n#define SPIN {int(self.spin)}\n#include \"unseen.h\"\n\n" + "\n".join(p.c(i) for i, p in enumerate(self.parts)) +
                f"\nint main(int argc, char **argv)\n{{\n\tbegin_all(&argc, &argv);\n\tfor (int step = 0; step < {self.steps}; step++) {{\n{body}\t}}\n\tend_all();\n\treturn 0;\n}}\n")

    def lost(self, of):
        """s of all ranks, if only these parts have what is planted in them. What was computed is the same for all orders."""
        at, sum_ = [0.0] * self.size, 0.0
        for s in range(self.steps):
            for p in self.parts:
                planted = p.cause is None or p in of
                if not planted and p.plain is None:
                    continue
                row = p.table[s] if planted else p.plain[s]
                at = p.run(at, row)
                sum_ += self.computed(p, row)
        return (self.size * max(at) - sum_) * 1e-3

    def virtual(self, lossy):
        """Its trace, as text for tests/virtual.c, and what it would have printed."""
        v, measured = Virtual(self.size, self.seed), [[0.0, 0.0] for _ in self.parts]
        v.meet("Barrier")
        begin = sum(v.at)
        for s in range(self.steps):
            for i, p in enumerate(self.parts):
                before, computed, v.part = sum(v.at), v.all_computed, p.name
                p.ops(v, p.table[s])
                if p.meets:
                    v.part += "''"
                    v.meet("Barrier")
                measured[i][0] += (v.all_computed - computed) * 1e-6
                measured[i][1] += (sum(v.at) - before) * 1e-6
        v.part = None
        v.meet("Barrier")
        for r in range(self.size):
            v.lines.append(f"{r} 1 1000 100000")
        printed = "".join(f"part {a:.6f} {b:.6f}\n" for a, b in measured) + f"all {(sum(v.at) - begin) * 1e-6:.6f}\n"
        return "lossy\n" * lossy + f"size {self.size}\n" + "\n".join(v.lines) + "\n", printed, v

    @staticmethod
    def computed(p, row):
        text, times = p.text, 1
        if "MPI_ANY_SOURCE" in text:
            count = int(re.search(r"i < (\d+) \*", text).group(1))
            return count * (len(row) - 1) * row[0] + count * sum(row[1:])
        for block in re.findall(r"for \(int i = 0; i < (\d+); i\+\+\) \{\n\t\tif \(rank", text):
            times = int(block)
        times *= 2 if text.count("compute(work)") > 1 and not p.before else 1
        return times * sum(row)


class Outcome:
    def __init__(self, program, trace, printed, v=None):
        self.program, self.v = program, v
        lines = [line.split() for line in printed.splitlines()]
        measured = [(float(x[1]), float(x[2])) for x in lines if x[:1] == ["part"]]
        self.all = next(float(x[1]) for x in lines if x[:1] == ["all"])
        planned = [sum(Program.computed(p, row) for row in p.table) * 1e-3 for p in program.parts]
        self.lost_all = 1 - sum(c for c, _ in measured) / self.all
        base = program.lost([])
        self.shares = []
        for i, p in enumerate(program.parts):
            if p.cause is None:
                continue
            if p.cause in COSTS:
                self.shares.append((p, (measured[i][1] - measured[i][0]) / self.all))
            else:
                self.shares.append((p, max(0, program.lost([p]) - base) * (measured[i][0] / planned[i] if planned[i] else 1) / self.all))
        self.shares.sort(key=lambda x: -x[1])
        done = subprocess.run([launch.spoor(), "why", "--json", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        step = json.loads(done.stdout)["steps"][0] if done.returncode == 0 else {"findings": [], "verdict": done.stderr}
        self.verdict, self.found = step["verdict"], step["findings"]
        self.told = [f for f in self.found if "lost_ns" in f and f["finding"] != "busy-cores"]
        self.cores = sum(f["share"] for f in self.found if f["finding"] == "busy-cores")

    def placed(self, f, p):
        ranks = f.get("ranks")
        at = re.search(p.calls + r" in " + p.name + r" at ", f["text"])
        if self.v:
            named = [(m.group(1), *self.v.name(int(m.group(2), 16) // 16 - 64)) for m in re.finditer(r"(MPI_\w+) in x\+0x([0-9a-f]+)", f["text"])]
            at = [1 for call, part, _ in named if part and part.rstrip("'") == p.name and re.fullmatch(p.calls, call)]
        return bool(at) and (p.ranks is None or ranks is None or set(ranks) in p.ranks)

    def of(self, p):
        named = [f for f in self.told if f["finding"] in CAUSES[p.cause]]
        at = [f for f in named if self.placed(f, p)]
        return (at or named or [None])[0]

    def noise(self):
        """What is lost, and not planted."""
        return self.lost_all - sum(s for _, s in self.shares)

    def unclear(self):
        """Did the machine take so much that one cannot tell?"""
        first = self.shares[0][1] if self.shares else 0
        return self.noise() > max(BUSY, first / 2) if self.shares else self.noise() > WORTH

    def first(self):
        if not self.shares or self.shares[0][1] < WORTH:
            return not self.told or self.noise() > WORTH
        if self.lost_all < LITTLE and not self.told:
            return True
        p, share = self.shares[0]
        near = {k for q, s in self.shares if s > share - NEAR / 2 for k in CAUSES[q.cause]}
        return bool(self.told) and self.told[0]["finding"] in near

    def place(self):
        if not self.shares or self.shares[0][1] < WORTH or (self.lost_all < LITTLE and not self.told):
            return True
        f = self.of(self.shares[0][0])
        return bool(f and self.placed(f, self.shares[0][0]))

    def share(self):
        sums, told = collections.Counter(), {}
        for p, share in self.shares:
            f = self.of(p)
            if f is None:
                if share > WORTH + NEAR:
                    return False
                continue
            sums[id(f)] += share
            told[id(f)] = f
        return all(-NEAR <= told[i]["share"] - s <= NEAR + max(0, self.noise()) for i, s in sums.items())

    def once(self):
        return sum(f["share"] for f in self.told) <= self.lost_all + 0.02 and not any(f["finding"] in CONSEQUENCES for f in self.found)

    def right(self):
        return {"first": self.first(), "place": self.place(), "share": self.share(), "once": self.once()}

    def row(self):
        return (" ".join(f"{p.cause} {100 * s:.0f}" for p, s in self.shares) + f" +{100 * self.noise():.0f}",
                ", ".join(f"{f['finding']} {100 * f['share']:.0f}" for f in self.found) or "-")


def run(program, folder, mpi, options, keep=None):
    name = f"unseen-{program.seed}-{program.size}-{mpi}" + ("-" + "-".join(program.kinds) if program.kinds else "")
    path = os.path.join(keep or folder, name)
    trace, printed = path + ".spoor", path + ".txt"
    if mpi == "virtual":
        lines, text, v = program.virtual(bool(options))
        done = subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), trace], input=lines, text=True, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            return done.stderr
        outcome = Outcome(program, trace, text, v)
        if not keep:
            os.unlink(trace)
        return outcome
    if not keep or not os.path.exists(printed):
        with open(path + ".c", "w", encoding="ascii") as f:
            f.write(program.c())
        done = subprocess.run(["mpicc.mpich" if mpi == "mpich" else "mpicc", "-g", "-O1", "-w", "-I", launch.PROGRAMS, "-o", path, path + ".c"], stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode != 0:
            return done.stderr[-500:]
        if os.path.exists(trace):
            os.unlink(trace)
        done = launch.mpirun(program.size, [path], before=[launch.spoor(), "run", *options, "-o", trace, "--"], cwd=folder)
        if done.returncode != 0 or not os.path.exists(trace):
            return done.stderr.decode(errors="replace").strip()[-300:]
        with open(printed, "wb") as f:
            f.write(done.stdout)
    with open(printed, encoding="utf-8") as f:
        outcome = Outcome(program, trace, f.read())
    if not keep:
        for end in (".spoor", ".txt", ".c", ""):
            os.unlink(path + end)
    return outcome


def numbers(text):
    for word in text.split(","):
        a, _, b = word.partition("-")
        yield from range(int(a), int(b or a) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", default="1-20")
    parser.add_argument("--ranks", default="2,4,16")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich", "virtual"))
    parser.add_argument("--lossy", help="the threshold")
    parser.add_argument("--only", help="these causes (A,B), instead of those of the seed")
    parser.add_argument("--keep", help="programs and traces stay in this folder; those that are there are looked at again")
    parser.add_argument("--sums", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    os.environ["SPOOR_TEST_MPI"] = "mpich" if args.mpi == "mpich" else "openmpi"
    keep = args.keep and os.path.abspath(args.keep)
    options = ["--mode", "lossy:" + args.lossy] if args.lossy else []
    count, unclear, right, all_right = 0, 0, collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="unseen-") as folder:
        for seed in numbers(args.seeds):
            for size in numbers(args.ranks):
                program = Program(seed, size, args.only.split(",") if args.only else None)
                outcome = run(program, folder, args.mpi, options, keep)
                silent = args.sums or seed >= HIDDEN
                if isinstance(outcome, str):
                    print(f"{seed:5} {size:2}  did not run: {outcome}", flush=True)
                    continue
                marks, (planted, said) = outcome.right(), outcome.row()
                if outcome.unclear():
                    unclear += 1
                    if not silent:
                        print(f"{seed:5} {size:2}  {planted:34} {said:60} unclear", flush=True)
                    continue
                count += 1
                right.update(k for k, v in marks.items() if v)
                all_right += all(marks.values())
                if not silent:
                    print(f"{seed:5} {size:2}  {planted:34} {said:60} {' '.join('no ' + k for k, v in marks.items() if not v)}", flush=True)
                if args.verbose and not silent:
                    print(f"    {outcome.verdict}", *(f"    {f['share']:.3f} {f['finding']} {f.get('ranks', '')}: {f['text']}" for f in outcome.found), sep="\n", flush=True)
    print(f"{count} runs, and {unclear} that the machine made unclear: " +
          ", ".join(f"{k} {100 * right[k] / max(1, count):.0f} %" for k in ("first", "place", "share", "once")) + f"; all of it {100 * all_right / max(1, count):.0f} %")


if __name__ == "__main__":
    main()
