# SPDX-License-Identifier: BSD-3-Clause
"""meta - traces with other metadata, for tests

    meta.replace("job.spoor", "other.spoor", lambda facts: facts.update(user="ada"))
"""
import json
import struct
import zlib

import reader


def replace(trace, out, change):
    """A copy of a trace with other metadata: the chunk META, and the checksums of table and header."""
    with open(trace, "rb") as file:
        data = bytearray(file.read())
    count = struct.unpack_from("<I", data, 20)[0]
    facts = {}
    for i in range(count):
        name, _, offset, stored, size = struct.unpack_from("<4sIQQQ", data, 32 + 32 * i)
        if name == b"META":
            part = bytes(data[offset:offset + stored])
            facts = json.loads(part if stored == size else reader.unzstd(part, size))
    change(facts)
    text = json.dumps(facts).encode()
    for i in range(count):
        at = 32 + 32 * i
        if data[at:at + 4] == b"META":
            struct.pack_into("<4sIQQQ", data, at, b"META", zlib.crc32(text), len(data), len(text), len(text))
            data += text
            break
    struct.pack_into("<I", data, 24, zlib.crc32(bytes(data[32:32 + 32 * count])))
    struct.pack_into("<I", data, 28, zlib.crc32(bytes(data[0:28])))
    with open(out, "wb") as file:
        file.write(data)
