#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make - the trace of golden/1.0-killed.spoor, byte by byte as doc/trace-format.md says, without a line of spoor's writer

    make.py FILE

Three of four ranks that were killed: MPI_Init, MPI_Barrier three times, MPI_Send. It has what a traced program's file
seldom has: where ranks sat (PLAC), classes of computations (CLAS), what each rank spent (MEAN), what did not end
(OPEN), and what the tracer knew (FACT). Golden files are never made anew: the page may change, that file may not.
"""
import struct
import sys
import zlib

STRINGS = [b"/bin/a", b"MPI_Barrier comm:c", b"MPI_COMM_WORLD", b"MPI_INT", b"MPI_Init", b"MPI_Send count:i datatype:t dest:p tag:i comm:c", b"n#", b"0-3", b"0-1",
           b"0-7|0-3/4-7|0,1/2,3/4,5/6,7"]
WORLD, INT = 4 * 3 + 1, 4 * 4 + 1  # values: named constants, by the number of their string


def uint(*numbers):
    out = b""
    for v in numbers:
        while v >= 0x80:
            out += bytes([v & 0x7f | 0x80])
            v >>= 7
        out += bytes([v])
    return out


def zigzag(v):
    return v << 1 if v >= 0 else -v * 2 - 1


def number(v):
    """As a `value`."""
    return 2 * zigzag(v)


def same(value):
    """A map that gives all ranks one value."""
    return uint(0, value)


def each(*values):
    return uint(1, *values)


def text(content):
    return uint(len(content)) + content


def index(v):
    """Of a bin of a part."""
    e = v.bit_length() - 1
    return 8 * e + ((v << 3) >> e) - 8


def all_alike(count, v):
    """A time: count calls of v ns."""
    return uint(2 * count + 1, v, 0, 0) + (uint(2, 0) if count > 1 else b"")


def code(v, d):
    e = v.bit_length() - 1
    return v if v < 1 << d else (e - d + 1 << d) + (v >> e - d) - (1 << d)


WHOLE = uint(0)  # a set: all of the domain
NONE = uint(0)

CHUNKS = {
    "STRG": uint(len(STRINGS)) + b"".join(map(text, STRINGS)),
    "PATH": uint(1, 1, 0) + uint(4) + uint(0, 1, zigzag(0x1000)) + uint(0, 1, zigzag(0x20)) + uint(1, 1, zigzag(0x10)) + uint(2, 1, zigzag(0x10)),
    "VECT": uint(0),
    # two values, one after the other; and for three: the first one, the first one again, another one
    "PATT": uint(2) + text(uint(1, 2, 0, 0)) + text(uint(1, 3, 0, 4, 0)),
    # sets, as roots of level 2: node 0: the low half, which is ranks 0 and 1; node 1: with the low half of the high one,
    # ranks 0, 1, 2; node 2: only that, rank 2
    "MAPS": uint(3) + uint(2, 0) + uint(2, 2, zigzag(0)) + uint(1, 3),
    "RANK": uint(0, 4, 1) + uint(1, 3, 2) + same(number(5)) + uint(1) + WHOLE + same(number(0)) + uint(1) + WHOLE + same(number(7)) + NONE
            + uint(1) + uint(1, 2, 2) + same(number(2)) + uint(1) + WHOLE + each(number(1), number(1), number(2)),
    "SITE": uint(3, 2, 5, 6) + uint(3)
            + uint(1, 2) + WHOLE + same(number(1)) + uint(0, number(1))
            + uint(0, 3) + WHOLE + same(number(3)) + uint(0, WORLD) + uint(1 + 1) + WHOLE + uint(2, 2) + uint(0) + same(number(1)) + uint(0) + same(number(2))
            + uint(2, 4) + WHOLE + same(number(1)) + uint(0, number(10)) + uint(0, INT) + uint(0, number(1)) + uint(0, number(7)) + uint(0, WORLD) + uint(1)
            + uint(0),
    # three totals of three ranks; then the sites
    "HIST": uint(0)
            + uint(3, 15360, 5040, 160, 0, 2) + uint(0, 0, 1, 80, 2, 160) + uint(3, 18660, 6120, 200, 1, 2) + uint(0, 100, 1, 0, 2, 200)
            + uint(3, 123, 40, 2, 0, 2) + uint(0, 0, 1, 1, 2, 2)
            + all_alike(3, 100) + uint(100, 100, 0, 0) + uint(1) + uint(1) + all_alike(3, 50)
            + all_alike(9, 200) + uint(600, 600, 0, 0) + uint(2)
            + uint(1) + uint(12, 1000, 1, 0, 3000, 9000, 2, 1, 36000000, 0, 2) + uint(7, zigzag(0)) + uint(7, zigzag(3000))
            + uint(2) + all_alike(3, 70)
            + all_alike(3, 500) + uint(500, 500, 0, 0) + uint(0),
    "PLAC": uint(1) + WHOLE + each(number(8), number(8), number(9)) + uint(1) + WHOLE + each(number(0), number(4), number(2)) + uint(1) + WHOLE + same(number(10)),
    # the edge from site 1 to itself: 1000 ns, then 4000 ns, in each rank
    "CLAS": uint(1) + uint(1, 0, 4, index(1000) + 2, index(4000) - index(1000) - 1) + uint(1) + WHOLE + uint(1, 2) + same(number(index(1000) + 2))
            + same(number(index(4000) + 2)) + uint(1) + WHOLE + each(number(2500), number(2400), number(2600)) + all_alike(3, 1000) + all_alike(3, 4000),
    "OPEN": uint(2) + uint(2, 0) + uint(1, 2, 2) + uint(9000, 4000, 1000, 1, 0) + uint(2) + uint(2, 0) + WHOLE + each(number(2), number(-1))
            + uint(3, 0) + WHOLE + each(number(7), number(8))
            + uint(2, 1) + uint(1, 4, 2) + uint(777, 777, 0, 2, 2),
    "MEAN": uint(0, 0, 0) + uint(1) + uint(1, 1) + WHOLE + each(number(code(190, 6)), number(code(200, 6)), number(code(210, 6))),
    "FACT": b"host=n1\npid=4711\nexecutable=/bin/a%20b\n",
}


def container(chunks):
    table, data, at = b"", b"", 32 + 32 * len(chunks)
    for name, content in chunks.items():
        table += struct.pack("<4sIQQQ", name.encode(), zlib.crc32(content), at + len(data), len(content), len(content))
        data += content
    head = b"\x89SPOOR\r\n" + struct.pack("<HHIIII", 1, 0, 0, 0, len(chunks), zlib.crc32(table))
    return head + struct.pack("<I", zlib.crc32(head)) + table + data


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as f:
        f.write(container(CHUNKS))
