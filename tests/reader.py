#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reader - an independent reader of trace files, written from doc/trace-format.md and doc/events.md alone

    reader.py FILE            what is in it
    reader.py FILE RANK [THREAD]   the events of a rank's thread (0), as `spoor dump` prints them

For tests: readable rather than fast, and it trusts nothing but asserts.
"""
import ctypes
import ctypes.util
import itertools
import os
import struct
import sys
import zlib

from coder import Coder
from stored import LOSSY, Bytes, Name, signed

EDITS_FLAG, JOINED_FLAG = 1, 2  # incompatible: there are groups of edits; small chunks are joined
EDITS = "edits"  # in the place of a pattern


def unzstd(data, size, words=b""):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_createDCtx.restype, lib.ZSTD_freeDCtx.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    lib.ZSTD_decompress_usingDict.restype = ctypes.c_size_t
    lib.ZSTD_decompress_usingDict.argtypes = [ctypes.c_void_p] + [ctypes.c_char_p, ctypes.c_size_t] * 3
    out, context = ctypes.create_string_buffer(size), lib.ZSTD_createDCtx()
    n = lib.ZSTD_decompress_usingDict(context, out, size, data, len(data), words, len(words))
    lib.ZSTD_freeDCtx(context)
    assert n == size, "zstd"
    return out.raw


def joined(part, size):
    """The chunks in JOIN."""
    if part and len(part) < size:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive/words.txt"), "rb") as f:
            part = unzstd(part, size, f.read())
    b = Bytes(part)
    count = b.uint()
    names = [b.bytes(4).decode() for _ in range(count)]
    sizes = [b.uint() for _ in range(count)]
    found = {name: b.bytes(n) for name, n in zip(names, sizes)}
    b.done()
    return found


def chunks(data):
    assert data[:8] == b"\x89SPOOR\r\n", "magic"
    major, _, _, incompatible, n, table_crc, crc = struct.unpack_from("<HHIIIII", data, 8)
    assert major == 1 and incompatible <= EDITS_FLAG + JOINED_FLAG and crc == zlib.crc32(data[:28])
    assert table_crc == zlib.crc32(data[32:32 + 32 * n])
    found = {}
    for i in range(n):
        name, crc, offset, stored, size = struct.unpack_from("<4sIQQQ", data, 32 + 32 * i)
        part = data[offset:offset + stored]
        assert len(part) == stored and zlib.crc32(part) == crc, name
        if name == b"JOIN":
            found.update(joined(part, size))
        else:
            found[name.decode()] = part if stored == size else unzstd(part, size)
    assert bool(incompatible & JOINED_FLAG) == any(data[32 + 32 * i:][:4] == b"JOIN" for i in range(n))
    return found


def bits_for(n):
    return (n - 1).bit_length() if n > 1 else 0


def index_of(v):
    v = max(v, 1)
    e = v.bit_length() - 1
    return 8 * e + ((v << 3) >> e) - 8


def floor_of(i):
    e, sub = divmod(i, 8)
    return 0 if i == 0 else (1 << e) + -(-sub * (1 << e) // 8)


class Trace:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        found, self.flags = chunks(data), struct.unpack_from("<I", data, 16)[0]
        self.edited = 0  # groups of edits
        b = Bytes(found["STRG"])
        self.strings = [b""] + [b.bytes(b.uint()) for _ in range(b.uint())]
        b.done()
        self.read_vectors(Bytes(found["VECT"], self.strings))
        self.read_patterns(Bytes(found["PATT"]))
        if "MAPS" in found:
            Bytes(found["MAPS"], self.strings).read_nodes()
        self.read_ranks(Bytes(found["RANK"], self.strings))
        self.loss = {}
        if "LOSS" in found:
            self.read_loss(Bytes(found["LOSS"]))
        self.placement = {}
        if "PLAC" in found:
            self.read_placement(Bytes(found["PLAC"], self.strings))
        self.read_sites(Bytes(found["SITE"], self.strings))
        assert bool(self.edited) == bool(self.flags & EDITS_FLAG)
        self.read_paths(Bytes(found["PATH"]))
        self.read_times(found["HIST"])
        self.counters, self.counts, self.flows = [], [], {}
        if "CNTR" in found:
            self.read_counts(Bytes(found["CNTR"]))
        if "FULL" in found:
            self.read_flows(Bytes(found["FULL"]))
        self.classes = {}
        if "CLAS" in found:
            self.read_classes(Bytes(found["CLAS"], self.strings))
        self.unended, self.unended_times = [], []
        if "OPEN" in found:
            self.read_unended(Bytes(found["OPEN"], self.strings))
        self.away, self.before, self.queued = {}, {}, {}
        if "AWAY" in found:
            self.read_away(Bytes(found["AWAY"], self.strings))
        self.rank_totals, self.rank_means = {}, {}
        if "MEAN" in found:
            self.read_means(Bytes(found["MEAN"], self.strings))

    def read_loss(self, b):
        if b.uint():
            self.loss.update(threshold=b.uint(), given_up=b.uint())
        self.loss["stages"] = []
        while b.at < len(b.data):
            ranks = b.uint()
            self.loss["stages"].append((ranks, b.uint() if ranks else None))

    def read_counts(self, b):
        self.counters = [{"name": self.strings[b.uint()].decode(), "ranks": b.uint(), "missing": b.uint(), "reason": self.strings[b.uint()].decode()}
                         for _ in range(b.uint())]
        for _ in [] if self.final else self.counters:
            self.counts.append([{"time": self.part_time(b), "edges": {to: self.part_time(b) for to in times["edges"]}} for times in self.times])
        once = [sum(v.values()) <= len(v) for _, _, v, _ in self.sites]
        for _ in self.counters if self.final else []:
            c, mine = Coder(b.bytes(b.uint())), []
            for i, (_, _, visits, _) in enumerate(self.sites):
                times = self.times[i]
                site = {"time": self.read_time(c, 0, times["time"]["count"], visits, once[i])}
                site["edges"] = {to: self.read_time(c, 1, t["count"], visits, once[to]) for to, t in times["edges"].items()}
                mine.append(site)
            self.counts.append(mine)
        b.done()

    def read_flows(self, b):
        for _ in range(b.uint()):
            rank = b.uint()
            flows = {"digits": b.uint(), "events": b.uint(), "cut": b.uint(), "ticks": b.uint(), "ns": b.uint(), "start": b.int(), "values": {}}
            self.flows[rank], heads = flows, []
            for _ in range(b.uint()):
                heads.append((b.uint(), b.uint(), b.uint()))
                if not self.final:
                    v = Bytes(b.bytes(b.uint()))
                    flows["values"][heads[-1][:2]] = [v.uint() for _ in range(heads[-1][2])]
                    v.done()
            c = Coder(b.bytes(b.uint())) if self.final else None
            for site, to, n in heads if self.final else []:
                values = flows["values"][site, to] = []
                for _ in range(n):
                    values.append(c.number(min(values[-1].bit_length() if values else 0, 63)))
            for values in flows["values"].values() if flows["digits"] != 255 else []:
                code = 0
                for i, v in enumerate(values):
                    code += (v >> 1) ^ -(v & 1)
                    values[i] = self.ticks_of(code, 1 << flows["digits"])
        b.done()

    def read_classes(self, b):
        """{(site, site that came next): {"finished", "keys": {key: time}, "groups": as of a column, "means": {rank: ns, or parts}}}"""
        site = edge = 0
        for _ in range(b.uint()):
            further, number = b.uint(), b.uint()
            site, edge = site + further, number if further else edge + number
            ranks = sorted(self.sites[site][2])
            to = list(self.times[site]["edges"])[edge]
            edge += 1
            head, keys, groups = b.uint(), [], []
            for _ in range(head // 2):
                keys.append(b.uint() + (keys[-1] + 1 if keys else 0))
            for _ in range(b.uint()):
                mine, p, n = b.ranks(ranks), b.uint(), b.uint()
                groups.append((set(mine), p, [(1, b.map(mine), None) for _ in range(n)]))
            means = b.map(b.ranks(ranks)) if b.uint() else {}
            self.classes[site, to] = {"finished": head % 2, "keys": dict.fromkeys(keys), "groups": groups, "means": means}
        c = Coder(b.bytes(b.uint())) if self.final else None
        for (site, to), edge in self.classes.items():
            visits, left = self.sites[site][2], self.times[site]["edges"][to]["count"]
            for k in edge["keys"]:
                expected = left if k == max(edge["keys"]) else 0
                edge["keys"][k] = self.part_time(b) if c is None else self.read_time(c, 1, expected, visits, sum(self.sites[to][2].values()) <= len(self.sites[to][2]))
                left -= edge["keys"][k]["count"]
            assert left == 0 or not edge["keys"]
            once = sum(self.sites[to][2].values()) <= len(self.sites[to][2])
            edge["counts"] = [{k: self.part_time(b) if c is None else self.read_time(c, 2, time["count"], visits, once) for k, time in edge["keys"].items()}
                              for _ in self.counters]
        b.done()

    @staticmethod
    def ticks_of(code, per):
        scale = 1 << max(0, code // per - 1)
        return code if code < per else (code % per + per) * scale + (scale - 1) // 2

    def rank_times(self, rank):
        """Begin and end of the events of a rank that has all times, in ns."""
        flows = self.flows[rank]
        values = {key: iter(v) for key, v in flows["values"].items()}
        found, ticks, last = [], 0, None
        for site in itertools.islice(self.walk(rank), flows["events"]):
            ticks += next(values[last, site + 1]) if last is not None else 0
            begin = ticks
            ticks += next(values[site, 0])
            found.append((begin * flows["ns"] // flows["ticks"], ticks * flows["ns"] // flows["ticks"]))
            last = site
        return found

    def stream(self, number):
        """How `spoor dump` calls a stream: 3 is rank 3, 3.1 its thread 1."""
        return str(number % self.size) + (f".{number // self.size}" if number >= self.size else "")

    def measured(self):
        """All times and counts, a line each: histograms (site, the one that came next, count, sum, extremes with who had them when, bins), events."""
        def line(*words, t):
            rank, visit = (t.get(x + "_rank", t["min_rank"]) for x in ("min", "max")), (t.get(x + "_visit", t["min_visit"]) for x in ("min", "max"))
            ends = " ".join(f"{v} {self.stream(r)} {n}" for v, r, n in zip((t["min"], t["max"]), rank, visit))
            return " ".join(map(str, words)) + f" {t['count']} {t['sum']} {ends}" + "".join(f" {n}*{a}..{b}" for n, a, b, _ in t["bins"])
        for what, sites in [("time", self.times)] + [(c["name"], s) for c, s in zip(self.counters, self.counts)]:
            for i, s in enumerate(sites):
                for to, t in [("-", s["time"])] + sorted(s["edges"].items()):
                    if t["count"]:
                        yield line(what, i, to, t=t)
        for c in self.counters:
            yield f"counter {c['name']} {c['ranks']} {c['missing']} {c['reason']}".rstrip()
        for rank in sorted(self.flows):
            for number, (begin, end) in enumerate(self.rank_times(rank)):
                yield f"event {self.stream(rank)} {number} {begin} {end}"

    def walk(self, rank):
        """The sites of the events of a rank."""
        successors, site = {}, self.first[rank]
        for number in range(self.events[rank]):
            yield site
            if number + 1 < self.events[rank]:
                site = next(successors.setdefault(site, self.column(self.sites[site][3][-1], rank)))

    def read_times(self, data):
        b = Bytes(data)
        self.bins = b.uint()
        self.totals, self.times = [], []
        if not self.final:
            self.read_parts(b)
            return
        c = Coder(data[b.at:])
        rank_bits = bits_for(max(self.events, default=-1) + 1)
        for t in range(3):
            total, n = {}, c.number(1)
            self.totals.append(total)
            if n == 0:
                continue
            total.update(sum=c.number(2), min=c.number(3))
            total["max"] = total["min"] + c.number(4)
            total.update(min_rank=c.bits(rank_bits), max_rank=c.bits(rank_bits), ranks={})
            span = total["max"] - total["min"]
            levels = max(1, min(span // (total["max"] // 1024 + 1), 7 if t == 2 else 31))
            for rank in sorted(self.events) if c.symbol(0, 1) else []:
                level = min(c.symbol(5 + t, bits_for(levels + 1)), levels) if span else 0
                total["ranks"][rank] = total["min"] + (span * level * 2 + levels) // levels // 2
        once = [sum(v.values()) <= len(v) for _, _, v, _ in self.sites]
        for i, (_, _, visits, _) in enumerate(self.sites):
            mine = sum(visits.values())
            site = {"time": self.read_time(c, 0, mine, visits, once[i]), "edges": {}}
            if len(visits) > 1 and mine != len(visits) and site["time"]["count"]:
                mean = site["time"]["sum"] // len(visits)
                least, most = max(0, mean - c.number(10, 6)), max(site["time"]["max"], mean + c.number(11, 6))
                if site["time"]["count"] == mine:
                    least = min(least, max(0, site["time"]["sum"] - most) // (len(visits) - 1))
                site.update(least=least, most=most, least_rank=self.read_rank(c, visits), most_rank=self.read_rank(c, visits))
            left, to = mine, None
            edges = c.number(8)
            for k in range(edges):
                to = i + 1 + c.signed(9) if k == 0 else to + 1 + c.number(9)
                assert 0 <= to < len(self.sites)
                site["edges"][to] = self.read_time(c, 1, left if k + 1 == edges else 0, visits, once[to])
                left -= site["edges"][to]["count"]
            self.times.append(site)
        assert c.at >= len(data) - b.at, "HIST has too much in it"

    def read_rank(self, c, visits):
        return sorted(visits)[c.bits(bits_for(len(visits)))]

    def read_time(self, c, compute, expected, visits, once):
        at = 12 + 12 * compute
        t = {"count": expected + c.signed(at), "bins": []}
        assert t["count"] >= 0
        if t["count"] == 0:
            return t
        mean, many = c.number(at + 1), t["count"] > 1
        t.update(sum=mean, min=mean, max=mean)
        if many:
            rest = bits_for(t["count"])
            below = max(0, rest - max(0, 12 - mean.bit_length()))
            t["sum"] = mean * t["count"] + (c.bits(rest - below) << below)
            t["min"] = max(0, mean - c.number(at + 2, 7))
            t["max"] = min((1 << 64) - 1, mean + c.number(at + 3, 7))
        for name in ("min", "max") if many else ("min",):
            t[name + "_rank"] = self.read_rank(c, visits) if len(visits) > 1 else next(iter(visits))
            t[name + "_visit"] = 0 if once else c.number(at + 11, 5)
        if not many:
            return t
        t["deviations"] = [c.number(at + 4)]
        n, before, left = c.symbol(at + 5, 7), index_of(t["min"]), t["count"]
        rest = c.bits(bits_for(n))
        for k in range(n if n > 1 else 0):
            low = before + c.signed(at + 7)
            before = low + c.number(at + 8)
            count = 0 if k == rest else c.number(at + 6, 7)
            assert count or k == rest
            left -= count
            low, high = max(floor_of(low), t["min"]), min(floor_of(before + 1) - 1, t["max"])
            assert left > 0 and low <= high
            t["bins"].append((count, low, high, low + (c.bits(6) + 0.5) * (high - low + 1) / 64))
            t["deviations"].append(c.number(at + 9))
        if n > 1:
            t["bins"][rest] = (left, *t["bins"][rest][1:])
        t["max"] = min(t["max"], t["sum"])
        t["bins"] = [(count, min(low, t["max"]), min(high, t["max"]), mean) for count, low, high, mean in t["bins"]]
        return t

    @staticmethod
    def part_time(b):
        head = b.uint()
        count, one = head >> 1, head & 1
        numbers = []
        if count:
            numbers += [b.uint() for _ in range(3 + (0 if one else 2) + (0 if one and count == 1 else 2))]
        if count and not one:
            numbers += [b.uint(), b.uint()]
            for _ in range(b.uint()):
                numbers.append(b.uint())
                numbers += [b.uint() for _ in range(1 if numbers[-1] & 1 else 5)]
        return {"count": count, "numbers": numbers}

    def read_parts(self, b):
        for _ in range(3):
            n = b.uint()
            self.totals.append([b.uint() for _ in range((5 + (2 * n if n <= 64 else 0)) if n else 0)])

        for _ in self.sites:
            site = {"time": self.part_time(b), "edges": {}}
            site["spent"] = [b.uint() for _ in range(4)]
            for _ in range(b.uint()):
                to = b.uint()
                site["edges"][to] = self.part_time(b)
            self.times.append(site)
        b.done()

    def read_unended(self, b):
        """[(site, is it a call, {parameter: {rank: value, or {element: value}}})]"""
        here = sorted(self.events)
        for _ in range(b.uint()):
            site, computes = b.uint(), b.uint()
            ranks = b.ranks(here)
            total, least, range_, low, high = (b.uint() for _ in range(5))
            assert computes in (0, 1) and least * len(ranks) <= total <= (least + range_) * len(ranks) and {low, high} <= set(ranks)
            parameters, known = self.sites[site][1], {}
            for _ in range(0 if computes else b.uint()):
                column, element = b.uint(), b.uint()
                name, kind = parameters[column]
                for rank, value in b.map(b.ranks(ranks)).items():
                    if kind[0] == "[":
                        known.setdefault(name, {}).setdefault(rank, {})[element] = value
                    else:
                        known.setdefault(name, {})[rank] = value
            self.unended.append((site, not computes, known))
            self.unended_times.append((ranks, total, least, range_, low, high))
        b.done()

    def read_away(self, b):
        """away[site, next site]: {rank: us}; before[rank], queued[rank]: ms."""
        here, last = sorted(self.events), (-1, -1)
        for _ in range(b.uint()):
            edge = b.uint(), b.uint()
            assert max(edge) < len(self.sites) and (edge > last or not self.final)
            last = edge
            for rank, us in b.map(b.ranks(here)).items():
                assert us >= 0
                self.away.setdefault(edge, {}).setdefault(rank, 0)
                self.away[edge][rank] += us
        self.before, self.queued = (b.map(b.ranks(here)) if b.uint() else {} for _ in range(2))
        b.done()

    def read_means(self, b):
        """rank_totals[total], rank_means[site]: (step, {rank: how far from the mean}), or (None, {rank: ns})."""
        def read(form, ranks):
            assert 0 < form < 10
            values = b.map(b.ranks(ranks))
            return (None, {r: self.ticks_of(v, 64) for r, v in values.items()}) if form == 1 else (form - 2, values)
        for i in range(3):
            form = b.uint()
            if form:
                assert len(self.events) > 64
                self.rank_totals[i] = read(form, sorted(self.events))
        site = -1
        for _ in range(b.uint()):
            site += b.uint() + 1
            form = b.uint()
            self.rank_means[site] = read(form, sorted(self.sites[site][2]))
        b.done()

    def mean_parts(self, step, value):
        """What a value of a finished map says, in parts of the mean."""
        digits = max(0, 4 - step)
        code = value * 2 ** max(0, step - 4) + 2 ** digits
        return self.ticks_of(code, 2 ** digits) / 2 ** digits if code > 0 or digits else 0.25

    def read_paths(self, b):
        self.modules = [(b.uint(), b.uint()) for _ in range(b.uint())]
        frames, self.frames = b.uint(), []
        offset = 0
        self.nodes = [None]  # the frame further out, module, and the offset in it; without a module, why frames are missing
        for i in range(1, frames + 1):
            back, module = b.uint(), b.uint()
            assert back < i and module <= len(self.modules)
            offset += b.int() if module else 0
            self.frames.append((back, module, offset if module else b.uint()))
            self.nodes.append((i - 1 - back, *self.frames[-1][1:]))
        b.done()

    def path(self, site):
        """Its frames, innermost first: (build ID, offset), or a number that says why some are missing."""
        node, frames = self.site_nodes[site], []
        while node:
            node, module, offset = self.nodes[node]
            frames.append((self.strings[self.modules[module - 1][1]], offset) if module else offset)
        return frames

    def read_vectors(self, b):
        self.vectors = []
        for _ in range(b.uint()):
            n, v = b.uint(), []
            while len(v) < n:
                value, m = b.value(), b.uint()
                stride = b.int() if m % 2 else 0
                v += [value if stride == 0 else signed(value + i * stride) for i in range(m // 2 + 1)]
            assert len(v) == n
            self.vectors.append(v)
        b.done()

    def read_patterns(self, b):
        self.patterns = []
        for _ in range(b.uint()):
            p = Bytes(b.bytes(b.uint()))
            rules = []
            for i in range(p.uint()):
                rule = []
                for _ in range(p.uint()):
                    s = p.uint()
                    exponent = p.uint() if s & 1 else 1
                    assert exponent and not (s & 2 and s // 4 >= i)
                    rule.append((bool(s & 2), s // 4, exponent))
                rules.append(rule)
            p.done()
            self.patterns.append(rules)
        b.done()

    def read_ranks(self, b):
        self.final = b.uint()
        self.size = b.uint()
        self.threads = b.uint()
        here = b.ranks(range(self.size * self.threads))
        assert not self.final or sum(stream < self.size for stream in here) == self.size
        self.events = b.map(here)
        maps = []
        for _ in range(5):
            maps.append(b.map(b.ranks(here)) if b.uint() else {})
        self.first, self.host, self.lost, self.in_flight, self.host_number = maps
        b.done()

    def read_placement(self, b):
        """{rank: (list of CPUs, text of the node)}; None: not known."""
        here = sorted(self.events)
        cpus, first, node = (b.map(b.ranks(here)) if b.uint() else {} for _ in range(3))
        b.done()
        assert set(cpus) == set(first)
        for rank in set(cpus) | set(node):
            mine = None
            if rank in cpus:
                mine = []
                for part in self.strings[cpus[rank]].decode().split(","):
                    low, _, high = part.partition("-")
                    mine += range(first[rank] + int(low), first[rank] + int(high or low) + 1)
            self.placement[rank] = (mine, self.strings[node[rank]].decode() if rank in node else None)

    def read_sites(self, b):
        schemas = [self.strings[b.uint()].decode() for _ in range(b.uint())]
        self.functions = [(s.split()[0], [c.rsplit(":", 1) for c in s.split()[1:]]) for s in schemas]
        here = sorted(self.events)
        self.sites, self.objects, self.site_frames, self.site_nodes = [], [], [], []
        for objects in (False, True):
            for _ in range(b.uint()):
                name, parameters = self.functions[b.uint()]
                node = b.uint()
                self.site_frames.append(node)
                ranks = b.ranks(here)
                visits = b.map(ranks)
                kinds = [kind for _, kind in parameters] + ["x"] * (not objects)
                columns = []
                for kind in kinds:
                    columns.append(self.read_column(b, ranks, kind, columns))
                (self.objects if objects else self.sites).append((name, parameters, visits, columns))
                self.site_nodes += [] if objects else [node]
        b.done()

    def read_column(self, b, ranks, kind, before):
        g = b.uint()
        if g == 0:
            value = b.value()
            return [(set(ranks), None, [(1, {r: value for r in ranks}, None)])]
        groups = []
        for _ in range(g - 1):
            mine = b.ranks(ranks)
            p = self.read_pattern(b)
            if p == len(self.patterns) + 1:
                lossy = {"why": b.uint(), "since": b.uint()}
                if kind == "x":
                    lossy["next"] = {b.uint(): b.tally() for _ in range(b.uint())}
                else:
                    lossy["values"] = b.tally()
                    lossy["elements"] = b.tally() if kind[0] == "[" else []
                lossy["prefix"] = []
                for _ in range(b.uint() if lossy["why"] & 8 else 0):
                    first = b.ranks(mine)
                    p = self.read_pattern(b)
                    assert p == EDITS or 0 < p <= len(self.patterns)
                    lossy["prefix"].append((set(first), p, self.read_dictionary(b, first, p, kind)))
                groups.append((set(mine), lossy, [(1, {r: LOSSY for r in mine}, None)]))
                continue
            if p == len(self.patterns) + 2:
                how, group = b.uint(), b.uint()
                groups.append(self.derive(how % 3, before[-1 - how // 3][group], mine))
                continue
            groups.append((set(mine), p, self.read_dictionary(b, mine, p, kind)))
        return sorted(groups, key=lambda group: min(group[0]))

    def read_pattern(self, b):
        p = b.uint()
        if p == len(self.patterns) + 3:
            self.edited += 1
            return EDITS
        return p

    @staticmethod
    def read_dictionary(b, mine, p, kind):
        assert p != EDITS or kind[0] == "["
        dictionary = []
        for _ in range(b.uint() if p else 1):
            count = b.uint() + 1 if p and p != EDITS else 1
            start = b.arrays(mine) if kind[0] == "[" and b.data[b.at] == 3 else b.map(mine)
            dictionary.append((count, start, b.map(mine) if count > 1 else None))
        return dictionary

    def derive(self, how, group, ranks):
        """A group that follows from one of another column."""
        _, pattern, dictionary = group
        made = []
        for count, start, stride in dictionary:
            mine = {}
            for rank in ranks:
                value = start[rank]
                if how == 1 and not isinstance(value, Name):
                    array = value if isinstance(value, tuple) else self.vectors[value]
                    mine[rank] = tuple(signed(sum(array[:i])) for i in range(len(array)))
                elif how == 2:
                    assert sorted(start) == sorted(ranks) == list(range(len(ranks)))
                    mine[rank] = tuple(self.vectors[start[i]][rank] for i in ranks)
                else:
                    assert how < 2
                    mine[rank] = value
            made.append((count, mine, stride))
        return set(ranks), pattern, made

    def tokens(self, pattern):
        rules = self.patterns[pattern]

        def expand(i):
            for is_rule, number, exponent in rules[i]:
                for _ in range(exponent):
                    if is_rule:
                        yield from expand(number)
                    else:
                        yield number
        return expand(len(rules) - 1)

    @staticmethod
    def edited_arrays(numbers):
        """Arrays, each from the one before by the numbers that stand for it."""
        array, last = [], 0
        for head in numbers:
            if isinstance(head, Name):
                yield head
                continue
            if head < 0:
                array = [next(numbers) for _ in range(-1 - head)]
            while head > 0:
                place, more, same = (head - 1) >> 2, (head - 1) & 2, (head - 1) & 1
                last = last if same else next(numbers)
                assert place < len(array)
                array[place] = last
                head = next(numbers) if more else 0
                assert not more or head > 0
            yield tuple(array)

    def column(self, groups, rank):
        """The values of a column, in order."""
        for ranks, pattern, dictionary in groups:
            if rank not in ranks:
                continue
            if isinstance(pattern, dict):
                yield from self.column(pattern["prefix"], rank)
            if pattern == EDITS:
                yield from self.edited_arrays(v for _, start, _ in dictionary for v in self.vectors[start[rank]])
                return
            if not pattern or isinstance(pattern, dict):
                while True:
                    yield dictionary[0][1][rank]
            values, fresh = [], ((start[rank] if stride is None else signed(start[rank] + i * stride[rank]))
                                 for count, start, stride in dictionary for i in range(count))
            for token in self.tokens(pattern - 1):
                if token == 0:
                    values.append(next(fresh))
                    yield values[-1]
                else:
                    yield values[token - 1]
            return

    def table(self, name, column, rank):
        for table, parameters, visits, columns in self.objects:
            if table == name and rank in visits:
                i = [p[0] for p in parameters].index(column)
                values = self.column(columns[i], rank)
                return [next(values) for _ in range(visits[rank])]
        return []

    def text(self, value, kind, base):
        if value is LOSSY:
            return "?"
        if kind[0] == "[":
            if isinstance(value, Name):
                return value
            value = value if isinstance(value, tuple) else self.vectors[value]
            return "[" + ",".join(self.text(v, kind[1:], base) for v in value) + "]"
        if kind == "s" and value != "-":
            raw = value.encode("latin-1") if isinstance(value, Name) else self.strings[value]
            return '"' + "".join("\\" + chr(c) if c in b'"\\' else chr(c) if 0x20 <= c != 0x7f else f"\\x{c:02x}" for c in raw) + '"'
        if isinstance(value, Name):
            return value
        if kind == "p":
            return str(value + base)
        if kind == "r" and value >> 32:
            return f"r{value & 0xffffffff}@{(value >> 32) - 1}"
        return str(value) if kind == "i" else f"{'b' if kind == 'a' else kind}{value}"

    def dump(self, stream):
        rank = stream % self.size  # thread k of rank r is stream k * size + r
        comms = [r if isinstance(r, Name) else r + rank for r in self.table("@comm", "rank", stream)]
        cursors = {}
        site = self.first.get(stream)
        for number in range(self.events[stream]):
            name, parameters, _, columns = self.sites[site]
            cursor = cursors.setdefault(site, [self.column(c, stream) for c in columns])
            values = [next(c) for c in cursor[:-1]]
            base = rank
            for (_, kind), v in zip(parameters, values):
                if kind == "c":
                    base = 0
                    if v == "MPI_COMM_WORLD":
                        base = rank
                    elif not isinstance(v, Name) and 0 <= v < len(comms) and not isinstance(comms[v], Name):
                        base = comms[v]
                    break
            words = [str(number), name]
            for (parameter, kind), v in zip(parameters, values):
                if parameter[0] != "." and not (kind == "b" and not isinstance(v, Name)):
                    words.append(f"{parameter}={self.text(v, kind, base)}")
            yield " ".join(words)
            if number + 1 < self.events[stream]:
                site = next(cursor[-1])
                if site is LOSSY:
                    return


def main():
    trace = Trace(sys.argv[1])
    if len(sys.argv) < 3:
        ranks = sum(stream < trace.size for stream in trace.events)
        print(f"{ranks} of {trace.size} ranks, {len(trace.events)} threads, {sum(trace.events.values())} events, {len(trace.sites)} sites")
        return
    sys.stdout.reconfigure(encoding="latin-1")
    for line in trace.dump(int(sys.argv[2]) + trace.size * int(sys.argv[3] if len(sys.argv) > 3 else 0)):
        print(line)


if __name__ == "__main__":
    main()
