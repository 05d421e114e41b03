# SPDX-License-Identifier: BSD-3-Clause
"""stored - numbers, values, sets and maps of ranks as they are in chunks (doc/trace-format.md), for tests/reader.py"""
from coder import Coder

MASK = (1 << 64) - 1


def signed(u):
    u &= MASK
    return u - (1 << 64) if u >> 63 else u


class Name(str):
    """A named constant."""


LOSSY = Name("?")


class Bytes:
    nodes = []  # of the trace that is being read
    last = 0    # its last rank

    def __init__(self, data, strings=None):
        self.data, self.at, self.strings = data, 0, strings

    def read_nodes(self):
        Bytes.nodes = []
        for i in range(self.uint()):
            u = self.uint()
            if u == 0:
                Bytes.nodes.append((self.value(),))
                continue
            low, high = u - 1, self.uint()
            low, high = [e if e < 2 else i - (e - 1) + 2 for e in (low, high)]
            Bytes.nodes.append((low, high, self.int() if self.plain(low) and self.plain(high) else 0))
        self.done()

    def read_coded_nodes(self):
        Bytes.nodes, twin, recent = [], False, [0] * 15
        n = self.uint()
        c = Coder(self.data[self.at:], True)
        for i in range(n):
            low = c.number(0 + twin)
            twin = False
            if low == 0:
                named = c.symbol(2, 1)
                u = c.number(3 if named else 4)
                Bytes.nodes.append((Name(self.strings[u].decode("latin-1")) if named else (u >> 1) ^ -(u & 1),))
                continue
            kind = min(low - 1, 2)
            twin = bool(c.symbol(5 + kind, 1))
            low, high = [e if e < 2 else i - (e - 1) + 2 for e in (low - 1, low - 1 if twin else c.number(8 + kind))]
            delta = 0
            if self.plain(low) and self.plain(high) and c.symbol(11 + twin, 1):
                place = c.symbol(13, 4)
                if place < 15:
                    delta = recent.pop(place)
                else:
                    u = c.number(14)
                    delta = (u >> 1) ^ -(u & 1)
                    recent.pop()
                recent.insert(0, delta)
            Bytes.nodes.append((low, high, delta))
        assert c.at >= len(self.data) - self.at, "MAPS has too much in it"

    def plain(self, edge):
        if edge < 2:
            return edge == 1
        node = Bytes.nodes[edge - 2]
        return len(node) == 3 and (self.plain(node[0]) or self.plain(node[1]))

    def expand(self, edge, level, first, base, out):
        """All ranks of a diagram."""
        if edge == 0:
            return
        node = Bytes.nodes[edge - 2] if edge > 1 else None
        if node is None or len(node) == 1:
            for rank in range(first, first + (1 << level)):
                out[rank] = signed(base) if node is None else node[0]
            return
        self.expand(node[0], level - 1, first, base, out)
        self.expand(node[1], level - 1, first + (1 << (level - 1)), base + node[2], out)

    def uint(self):
        v = shift = 0
        while True:
            b = self.data[self.at]
            self.at += 1
            v |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                assert v <= MASK
                return v

    def int(self):
        u = self.uint()
        return (u >> 1) ^ -(u & 1)

    def value(self):
        u = self.uint()
        if u % 2 == 0:
            u //= 2
            return (u >> 1) ^ -(u & 1)
        if u % 4 == 1:
            return Name(self.strings[u // 4].decode("latin-1"))
        assert u == 3
        return self.int()

    def bytes(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def items(self, values, after=0):
        """A list of items, as {rank: value}, and the rank behind the last one."""
        out = {}
        for _ in range(self.uint()):
            times = self.uint() + 1
            if times > 1:
                step = self.uint() + 1
                slope = self.int() if values else 0
                body, end = self.items(values, after + self.uint())
                for k in range(times):
                    for rank, v in body.items():
                        out[rank + k * step] = v if isinstance(v, Name) or not slope else signed(v + k * slope)
                after = end + (times - 1) * step
                continue
            first, count = after + self.uint(), self.uint() + 1
            step = self.uint() + 1 if count > 1 else 1
            slope = self.int() if count > 1 and values else 0
            value = self.value() if values else 0
            for i in range(count):
                out[first + i * step] = value if slope == 0 else signed(value + i * slope)
            after = first + (count - 1) * step + 1
        return out, after

    def ranks(self, domain):
        kind, out = self.uint(), {}
        if kind == 2:
            edge = self.uint()
            self.expand(edge, self.uint(), 0, 0, out)
            return sorted(out)
        return sorted(self.items(False)[0]) if kind else list(domain)

    def map(self, domain):
        t = self.uint()
        assert t <= 4 or t == 6
        if t == 2:
            return self.items(True)[0]
        if t in (3, 6):
            out, edge = {}, self.uint()
            self.expand(edge, (max(domain) if t == 3 else Bytes.last).bit_length(), 0, self.int() if self.plain(edge) else 0, out)
            assert t == 6 or sorted(out) == sorted(domain)
            return {r: out[r] for r in domain}
        if t == 4:
            return {r: self.value() for r in sorted(domain)}
        value, slope = self.value(), self.int() if t == 1 else 0
        return {r: value if slope == 0 else signed(value + i * slope) for i, r in enumerate(domain)}

    def arrays(self, domain):
        """{rank: (element, ...)}"""
        assert self.uint() == 5
        width, elements = self.uint(), []
        while len(elements) < width:
            first, m = self.map(domain), self.uint()
            stride = self.int() if m % 2 else 0
            elements += [{r: v if isinstance(v, Name) or not stride else signed(v + i * stride) for r, v in first.items()}
                         for i in range(m // 2 + 1)]
        assert len(elements) == width
        return {r: tuple(e[r] for e in elements) for r in domain}

    def tally(self):
        """[(least, greatest, count, sum)], constants as (name, name, count, None)"""
        bins, before = [], 0
        for _ in range(self.uint()):
            low = self.value()
            tag = self.uint()
            count = tag // 2 + 1
            if isinstance(low, Name):
                assert tag % 2 == 0
                bins.append((low, low, count, None))
                continue
            low = signed(low + before)
            high, total = low, low * count
            if tag % 2:
                high = signed(low + self.uint())
                total += self.uint()
            assert high >= low
            bins.append((low, high, count, signed(total)))
            before = high
        return bins

    def done(self):
        assert self.at == len(self.data), "bytes left over"
