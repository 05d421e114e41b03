#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""older - a private copy of this machine's loader and C library that has no symbol versions above 2.34, as an older glibc has none

    older.py FOLDER PROGRAM...     fills FOLDER with ld.so, libc.so.6, and the programs; `FOLDER/ld.so --library-path FOLDER FOLDER/PROGRAM` runs one

The names of the later versions are changed (GLIBC_2.35 to GLIBX_2.35), with their hash values, so that nobody who asks for them finds them.
"""
import os
import re
import shutil
import struct
import subprocess
import sys


def elf_hash(name):
    h = 0
    for c in name:
        h = (h << 4) + c
        h = (h ^ (h & 0xF0000000) >> 24) & ~(h & 0xF0000000) & 0xFFFFFFFF
    return h


def without_later(data):
    for name in set(re.findall(rb"GLIBC_2\.(?:3[5-9]|[4-9][0-9])(?=\0)", data)):
        other = name.replace(b"GLIBC", b"GLIBX")
        data = data.replace(name + b"\0", other + b"\0").replace(struct.pack("<I", elf_hash(name)), struct.pack("<I", elf_hash(other)))
    return data


def main(folder, *programs):
    said = subprocess.run(["ldd", "/bin/ls"], stdout=subprocess.PIPE, text=True, check=True).stdout
    loader, libc = re.search(r"(/\S*ld-linux\S*)", said)[1], re.search(r"libc\.so\.6 => (\S+)", said)[1]
    os.makedirs(folder, exist_ok=True)
    for path, name in ((loader, "ld.so"), (loader, os.path.basename(loader)), (libc, "libc.so.6")):
        with open(path, "rb") as f, open(os.path.join(folder, name), "wb") as copy:
            copy.write(without_later(f.read()))
        os.chmod(os.path.join(folder, name), 0o755)
    for program in programs:
        shutil.copy(program, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
