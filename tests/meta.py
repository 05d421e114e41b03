# SPDX-License-Identifier: BSD-3-Clause
"""meta - traces with other metadata, for tests

    meta.replace("job.spoor", "other.spoor", lambda facts: facts.update(user="ada"))
"""
import json
import struct
import zlib

import reader


def replace(trace, out, change):
    """A copy of a trace with other metadata, and all chunks as they are: neither joined nor compressed."""
    with open(trace, "rb") as file:
        data = file.read()
    chunks, flags = reader.chunks(data), struct.unpack_from("<I", data, 16)[0] & ~reader.JOINED_FLAG
    facts = json.loads(chunks.get("META", b"{}"))
    change(facts)
    if "META" in chunks:
        chunks["META"] = json.dumps(facts).encode()
    table, at = b"", 32 + 32 * len(chunks)
    for name, content in chunks.items():
        table += struct.pack("<4sIQQQ", name.encode(), zlib.crc32(content), at, len(content), len(content))
        at += len(content)
    head = data[:12] + struct.pack("<IIII", struct.unpack_from("<I", data, 12)[0], flags, len(chunks), zlib.crc32(table))
    with open(out, "wb") as file:
        file.write(head + struct.pack("<I", zlib.crc32(head)) + table + b"".join(chunks.values()))
