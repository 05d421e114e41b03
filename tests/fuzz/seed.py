#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""seed - writes first inputs for the harnesses: seed.py DIR ARENA|TRACE|FILE...

An arena (rank-*.arena) is written without its zeros (tests/fuzz/arena.c), a trace (*.spoor) with its chunks decompressed, everything else as it is; the
name is a hash of the content.
"""
import hashlib
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import reader  # noqa: E402


def pack_arena(data):
    """(n, n bytes, m): n bytes, then m zeros; runs of 6 zeros and more count."""
    out, at, data = b"", 0, data.rstrip(b"\0")
    for run in re.finditer(b"\0{6,}|$", data):
        part, zeros = data[at:run.start()], run.end() - run.start()
        while len(part) > 0xffff:
            out += struct.pack("<H", 0xffff) + part[:0xffff] + struct.pack("<H", 0)
            part = part[0xffff:]
        while True:
            n = min(zeros, 0xffff)
            out += struct.pack("<H", len(part)) + part + struct.pack("<H", n)
            part, zeros = b"", zeros - n
            if not zeros:
                break
        at = run.end()
    return out


def unpack_trace(data):
    """Checksums are left out: the harness makes them right."""
    found = reader.chunks(data)
    table, at = b"", 32 + 32 * len(found)
    for name, content in found.items():
        table += struct.pack("<4sIQQQ", name.encode(), 0, at, len(content), len(content))
        at += len(content)
    return data[:20] + struct.pack("<III", len(found), 0, 0) + table + b"".join(found.values())


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            data = file.read()
        if path.endswith(".arena"):
            data = pack_arena(data)
        elif path.endswith(".spoor"):
            data = unpack_trace(data)
        with open(os.path.join(sys.argv[1], hashlib.sha1(data).hexdigest()[:16]), "wb") as file:
            file.write(data)
