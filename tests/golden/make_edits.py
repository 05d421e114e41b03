#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_edits - the trace of golden/1.0-edits.spoor, byte by byte as doc/trace-format.md says, without spoor's writer

    make_edits.py FILE

Two of three ranks, each of which waits for one of its requests five times: arrays of requests as edits, which differ
from rank to rank. In rank 0 they are in two pieces, and so in rank 1: the same second one.
"""
import struct
import sys
import zlib

from make import NONE, WHOLE, container, each, number, same, text, uint, zigzag

STRINGS = [b"/bin/a", b"MPI_Finalize", b"MPI_Init", b"MPI_REQUEST_NULL",
           b"MPI_Waitany count:i requests:[r index:i status.MPI_SOURCE:p status.MPI_TAG:i status.count:i", b"n#", b"-"]
NULL, ABSENT = 4 * 4 + 1, 4 * 7 + 1  # values: named constants, by the number of their string
EDITS = 1  # incompatible flag


def all_alike(count, v):
    """A time: count calls of v ns, the last one in rank 1."""
    return uint(2 * count + 1, v, 0, 0, 1, 0)


def array(*values):
    return uint(len(values)) + b"".join(uint(v, 0) for v in values)


CHUNKS = {
    "STRG": uint(len(STRINGS)) + b"".join(map(text, STRINGS)),
    "PATH": uint(1, 1, 0) + uint(4) + uint(0, 1, zigzag(0x1000)) + uint(0, 1, zigzag(0x20)) + uint(1, 1, zigzag(0x10)) + uint(2, 1, zigzag(0x10)),
    # [r0,r1,r2], [r0,null,r2] | - , [r0,null,null], [r0,null,null]   and   [r5,r6], [r5,null] | the same numbers: -, [r5,null], ...
    "VECT": uint(4)
            + array(number(-4), number(0), number(1), number(2), number(1 + (1 << 2)), NULL)
            + array(number(-3), number(5), number(6), number(1 + (0 << 2 | 2)), number(7), number(1 + (1 << 2)), NULL)
            + array(ABSENT, number(1 + (0 << 2 | 1)), number(0))
            + array(ABSENT, number(1 + (2 << 2 | 1)), number(0)),
    # the first value, the first one again three times, another one
    "PATT": uint(1) + text(uint(1, 4, 0, 4 | 1, 2, 4, 0)),
    "MAPS": uint(1) + uint(2, 0),
    "RANK": uint(0, 3, 1) + uint(1, 2, 2) + same(number(7)) + uint(1) + WHOLE + same(number(0)) + uint(1) + WHOLE + same(number(6)) + NONE + NONE
            + uint(1) + WHOLE + same(number(1)),
    "SITE": uint(3, 2, 3, 5) + uint(3)
            + uint(1, 2) + WHOLE + same(number(1)) + uint(0, number(1))
            + uint(2, 3) + WHOLE + same(number(5)) + uint(1 + 1) + WHOLE + uint(0) + each(number(3), number(2))
            + uint(1 + 1) + WHOLE + uint(1 + 3) + uint(2) + each(number(0), number(1)) + each(number(3), number(2))
            + uint(0, number(1)) + uint(0, ABSENT) + uint(0, ABSENT) + uint(0, ABSENT)
            + uint(1 + 1) + WHOLE + uint(1, 2) + uint(0) + same(number(1)) + uint(0) + same(number(2))
            + uint(0, 4) + WHOLE + same(number(1)) + uint(1)
            + uint(0),
    "HIST": uint(0)
            + uint(2, 560, 280, 0, 0, 0) + uint(0, 0, 1, 0) + uint(2, 3560, 1780, 0, 0, 0) + uint(0, 0, 1, 0)
            + uint(2, 20, 10, 0, 0, 0) + uint(0, 0, 1, 0)
            + all_alike(2, 100) + uint(100, 100, 0, 0) + uint(1) + uint(1) + all_alike(2, 50)
            + all_alike(10, 200) + uint(1000, 1000, 0, 0) + uint(2) + uint(1) + all_alike(8, 40) + uint(2) + all_alike(2, 70)
            + all_alike(2, 500) + uint(500, 500, 0, 0) + uint(0),
}


if __name__ == "__main__":
    data = container(CHUNKS)
    head = data[:16] + struct.pack("<I", EDITS) + data[20:28]
    with open(sys.argv[1], "wb") as f:
        f.write(head + struct.pack("<I", zlib.crc32(head)) + data[32:])
