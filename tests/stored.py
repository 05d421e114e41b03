# SPDX-License-Identifier: BSD-3-Clause
"""stored - numbers, values, sets and maps of ranks as they are in chunks (doc/trace-format.md), for tests/reader.py"""
MASK = (1 << 64) - 1


def signed(u):
    u &= MASK
    return u - (1 << 64) if u >> 63 else u


class Name(str):
    """A named constant."""


LOSSY = Name("?")


class Bytes:
    nodes = []  # of the trace that is being read

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

    def ranks(self, domain):
        kind, out = self.uint(), {}
        assert kind < 2
        if kind == 0:
            return list(domain)
        edge = self.uint()
        self.expand(edge, self.uint(), 0, 0, out)
        return sorted(out)

    def map(self, domain):
        t = self.uint()
        assert t <= 2
        if t == 2:
            out, edge = {}, self.uint()
            self.expand(edge, max(domain).bit_length(), 0, self.int() if self.plain(edge) else 0, out)
            assert sorted(out) == sorted(domain)
            return out
        if t == 1:
            return {r: self.value() for r in sorted(domain)}
        value = self.value()
        return {r: value for r in domain}

    def arrays(self, domain):
        """{rank: (element, ...)}"""
        assert self.uint() == 3
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
