#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# hang - a file system that is mounted and never answers: hang.py FOLDER; prints "mounted". It ends when it is unmounted or killed.
"""Speaks so much of the kernel's FUSE protocol as is needed for a mount (FUSE_INIT), and GETATTR of the root folder; all else waits for ever."""
import ctypes
import os
import struct
import sys

FUSE_INIT, FUSE_GETATTR = 26, 3
fd = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fd},rootmode=40755,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"hang", os.fsencode(sys.argv[1]), b"fuse", 0, options):
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)
while True:
    try:
        request = os.read(fd, 1 << 20)
    except OSError:
        break
    _, operation, unique = struct.unpack_from("<IIQ", request)
    if operation == FUSE_INIT:
        body = struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 0, 0, 65536, 1, 0, 0, 0, *[0] * 7)
    elif operation == FUSE_GETATTR:
        attributes = struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
        body = struct.pack("<QII", 0, 0, 0) + attributes
    else:
        continue
    os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
