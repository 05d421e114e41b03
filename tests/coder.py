# SPDX-License-Identifier: BSD-3-Clause
"""coder - the range coder of doc/trace-format.md ("The coder"), for tests/reader.py"""


class Coder:
    """Reads `data`, a whole coded block."""

    def __init__(self, data):
        self.data, self.at, self.range, self.code, self.learnt, self.seen = data + b"\0" * 4, 0, (1 << 32) - 1, 0, {}, {}
        for _ in range(4):
            self.next()

    def next(self):
        assert self.at < len(self.data), "what is coded ends too early"
        self.code = (self.code << 8 | self.data[self.at]) & 0xffffffff
        self.at += 1

    def normalize(self):
        while self.range < 1 << 24:
            self.range <<= 8
            self.next()

    def symbol(self, context, n):
        node = 1
        for _ in range(n):
            p = self.learnt.get((context, node), 1024)
            seen = self.seen[context, node] = self.seen.get((context, node), -1) + 1
            part = min(seen + 2, 16)
            bound = (self.range >> 11) * p
            bit = self.code >= bound
            if bit:
                self.code -= bound
                self.range -= bound
                p -= p // part
            else:
                self.range = bound
                p += (2048 - p) // part
            self.learnt[context, node] = p
            self.normalize()
            node = node << 1 | bit
        return node - (1 << n)

    def bits(self, n):
        v = 0
        for _ in range(n):
            self.range >>= 1
            bit = self.code >= self.range
            self.code -= self.range if bit else 0
            self.normalize()
            v = v << 1 | bit
        return v

    def number(self, context, digits=63):
        size = self.symbol(context, 7)
        assert size <= 64
        kept = min(size - 1, digits)
        return ((1 << kept | self.bits(kept)) << (size - 1 - kept)) if size else 0

    def signed(self, context):
        u = self.number(context)
        return (u >> 1) ^ -(u & 1)
