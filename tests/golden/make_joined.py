#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_joined - golden/1.0-joined.spoor: the chunks of make.py, the small ones joined and compressed with archive/words.txt

    make_joined.py FILE
"""
import ctypes
import ctypes.util
import os
import struct
import sys
import zlib

from make import CHUNKS, uint

HERE = os.path.dirname(os.path.abspath(__file__))
JOINED = 2  # incompatible flag


def pack(content):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd"))
    lib.ZSTD_createCCtx.restype, lib.ZSTD_compress_usingDict.restype = ctypes.c_void_p, ctypes.c_size_t
    lib.ZSTD_compress_usingDict.argtypes = [ctypes.c_void_p] + [ctypes.c_char_p, ctypes.c_size_t] * 3 + [ctypes.c_int]
    with open(os.path.join(HERE, "../../archive/words.txt"), "rb") as f:
        words = f.read()
    out = ctypes.create_string_buffer(len(content))
    n = lib.ZSTD_compress_usingDict(lib.ZSTD_createCCtx(), out, len(content), content, len(content), words, len(words), 3)
    return out.raw[:n]


def main():
    small = {name: content for name, content in CHUNKS.items() if name != "HIST"}
    inner = uint(len(small)) + "".join(small).encode() + b"".join(uint(len(c)) for c in small.values()) + b"".join(small.values())
    stored = {"JOIN": (pack(inner), len(inner)), "HIST": (CHUNKS["HIST"], len(CHUNKS["HIST"]))}
    table, data = b"", b""
    for name, (content, size) in stored.items():
        table += struct.pack("<4sIQQQ", name.encode(), zlib.crc32(content), 96 + len(data), len(content), size)
        data += content
    head = b"\x89SPOOR\r\n" + struct.pack("<HHIIII", 1, 0, 0, JOINED, len(stored), zlib.crc32(table))
    with open(sys.argv[1], "wb") as f:
        f.write(head + struct.pack("<I", zlib.crc32(head)) + table + data)


if __name__ == "__main__":
    main()
