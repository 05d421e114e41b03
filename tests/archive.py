#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""archive - fills an archive with synthetic traces: metadata as real ones have it, and a small program

    archive.py DIR COUNT [DAYS] [TRACE...]   COUNT traces over DAYS days (default 365), up to today; with files: what is in the files, in turn, with
                                             metadata of a synthetic job, for measurements

What is in them follows from their number alone, so that tests can say what a list must have: job j ran for user(j), one of 50 if root makes the archive,
in account a(j % 7), partition (j % 3: short, long, debug), on 2^(j % 8) nodes with 4 ranks each, as executable app(j % 11);
every 10th failed, every 25th was killed, every 100th is partial. The program is a loop of n(j) turns, in which each rank sends size(j) bytes to the
next one, receives as many, and calls MPI_Allreduce; rank 0 computes twice as long as the others, who wait for it there (totals()).
"""
import json
import os
import pwd
import struct
import sys
import time
import zlib

DAY = 86400
USERS, UID = (50, 61000) if os.geteuid() == 0 else (1, os.geteuid())


SEND_NS, REDUCE_NS, FINALIZE_NS, INIT_NS, OVERHEAD_NS = 1000, 2000000, 5000, 70000000, 1000000


def uid(job):
    return UID + job % USERS


def user(job):
    try:
        return pwd.getpwuid(uid(job)).pw_name
    except KeyError:
        return str(uid(job))


def ranks(job):
    return 4 << job % 8


def turns(job):
    return 100 * (1 + job % 4)


def size(job):
    return 8 << job % 11


def work(job):
    """What a rank computes, in ns; rank 0 twice that."""
    return 10**9 * (1 + job % 4)


def totals(job):
    """What a digest of the trace must say."""
    r, n, w = ranks(job), turns(job), work(job)
    return {"events": r * (2 + 3 * n), "messages": r * n, "bytes": r * n * size(job), "compute": (r + 1) * w, "compute_peak": 2 * w * r,
            "run_peak": 4 * w * r, "overhead": r * OVERHEAD_NS, "wait": (r - 1) * w + r * REDUCE_NS - r * n * (REDUCE_NS // n),
            "functions": {"MPI_Init": (r, r * INIT_NS, 0), "MPI_Send": (r * n, r * n * SEND_NS, r * n * size(job)),
                          "MPI_Recv": (r * n, 2 * r * n * SEND_NS, 0), "MPI_Allreduce": (r * n, r * REDUCE_NS + (r - 1) * w, r * n * 8),
                          "MPI_Finalize": (r, r * FINALIZE_NS, 0)}}


def uint(v):
    out = bytearray()
    while v > 0x7f:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    return bytes(out) + bytes([v])


def signed(v):
    return uint(v << 1 if v >= 0 else (-v << 1) - 1)


def value(v):
    return uint((v << 1 if v >= 0 else (-v << 1) - 1) * 2)


def text(v):
    return uint(len(v)) + v


def duration(count, total, least=None, most=None, low=0, high=0):
    """Of a part: without bins. least and most of a single call."""
    least = total // count if least is None else least
    most = least if most is None else most
    return b"".join(map(uint, (2 * count, least, low, 0, most - least, total - count * least, high, 0, 0, 0, 0)))


def program(job, module=b"/opt/bin/app%d", named=None, function=b"MPI_Allreduce"):
    """The chunks of a trace, but for its metadata, by doc/trace-format.md. named: all parameters of its calls are there; one is this name of MPI_COMM_WORLD.
    function: what MPI_Allreduce is called."""
    r, n, w = ranks(job), turns(job), work(job)
    module = module.replace(b"%d", b"%d" % (job % 11), 1)
    strings = [module, b"build id of app %4d" % (job % 11), b"MPI_Init", b"MPI_Send count:i datatype:t dest:p tag:i comm:c",
               b"MPI_Recv count:i datatype:t source:p tag:i comm:c", function + b" count:i datatype:t op:o comm:c", b"MPI_Finalize", b"MPI_BYTE",
               b"MPI_COMM_WORLD", b"MPI_DOUBLE", b"MPI_SUM"]
    if named is not None:
        other = {b"MPI_Allreduce": b"MPI_Comm_set_name comm:c comm_name:s", b"MPI_Recv": b"MPI_Ssend count:i datatype:t dest:p tag:i comm:c"}
        strings = [other.get(s.split(b" ")[0], s) for s in strings] + [named]
    byte, world, double, plus = (uint(4 * strings.index(name) + 5) for name in (b"MPI_BYTE", b"MPI_COMM_WORLD", b"MPI_DOUBLE", b"MPI_SUM"))

    def column(v):
        return b"\0" + v

    def site(function, frame, visits, *columns):
        return uint(function) + uint(frame) + b"\0\0" + value(visits) + b"".join(map(column, columns))
    paths = uint(1) + uint(1) + uint(2) + uint(6) + b"\0" + uint(1) + signed(0x1000) + b"".join(
        uint(i) + uint(1) + signed(0x10) for i in range(5))
    pattern = uint(1) + uint(3) + b"\0" + uint(5) + uint(n - 2) + b"\0"
    last = b"\2\0\1\2" + b"\0\0" + value(1) + b"\0\0" + value(4)
    sites = uint(5) + b"".join(map(uint, range(3, 8))) + uint(5)
    sites += site(0, 2, 1, value(1))
    sites += site(1, 3, n, value(size(job)), byte, value(1), value(7), world, value(2))
    sites += site(2, 4, n, value(size(job)), byte, value(-1), value(7), world, value(3))
    sites += (site(3, 5, n, value(1), double, plus, world) if named is None else site(3, 5, n, world, value(strings.index(named) + 1))) + last
    sites += site(4, 6, 1) + b"\1" + uint(0)

    def total(sums, least, most, low, high):
        out = uint(r) + uint(sum(sums)) + uint(least) + uint(most - least) + uint(low) + uint(high)
        return out + (b"".join(uint(i) + uint(v - least) for i, v in enumerate(sums)) if r <= 64 else b"")
    times = uint(0) + total([2 * w] + [w] * (r - 1), w, 2 * w, 1, 0) + total([4 * w] * r, 4 * w, 4 * w, 0, 0)
    times += total([OVERHEAD_NS] * r, OVERHEAD_NS, OVERHEAD_NS, 0, 0)

    def spent(time, least, most, low=0, high=0, edges=b"\0"):
        return time + uint(least) + uint(most) + uint(low) + uint(high) + edges
    times += spent(duration(r, r * INIT_NS), INIT_NS, INIT_NS)
    times += spent(duration(r * n, r * n * SEND_NS), n * SEND_NS, n * SEND_NS,
                   edges=uint(1) + uint(2) + duration(r * n, (r + 1) * w, w // n, 2 * w // n, 1, 0))
    times += spent(duration(r * n, 2 * r * n * SEND_NS), 2 * n * SEND_NS, 2 * n * SEND_NS)
    times += spent(duration(r * n, r * REDUCE_NS + (r - 1) * w, REDUCE_NS // n, (REDUCE_NS + w) // n, 0, 1), REDUCE_NS, REDUCE_NS + w, 0, 1)
    times += spent(duration(r, r * FINALIZE_NS), FINALIZE_NS, FINALIZE_NS)
    return [(b"STRG", uint(len(strings)) + b"".join(map(text, strings))), (b"PATH", paths), (b"VECT", uint(0)), (b"PATT", uint(1) + text(pattern)),
            (b"RANK", uint(0) + uint(r) + uint(1) + b"\0\0" + value(2 + 3 * n) + b"\1\0\0" + value(0) + b"\0" * 4), (b"SITE", sites), (b"HIST", times)]


_programs = {}


def content(job):
    """[(id, bytes, size when decompressed)]; there are few different programs."""
    key = (job % 11, job % 8)
    if key not in _programs:
        _programs[key] = [(name, data, len(data)) for name, data in program(job)]
    return _programs[key]


def chunks_of(path):
    """The same of a file, but for the metadata."""
    import reader  # only who has files needs what it needs

    with open(path, "rb") as file:
        return [(name.encode(), data, len(data)) for name, data in reader.chunks(file.read()).items() if name != "META"]


def container(metadata, chunks=()):
    text = json.dumps(metadata, separators=(",", ":")).encode()
    chunks = [(b"META", text, len(text)), *chunks]
    table, at = b"", 32 + 32 * len(chunks)
    for name, data, size_ in chunks:
        table += struct.pack("<4sIQQQ", name, zlib.crc32(data), at, len(data), size_)
        at += len(data)
    head = b"\x89SPOOR\r\n" + struct.pack("<HHIIII", 1, 0, 0, 0, len(chunks), zlib.crc32(table))
    return head + struct.pack("<I", zlib.crc32(head)) + table + b"".join(data for _, data, _ in chunks)


def metadata(job, start):
    nodes = 1 << job % 8
    return {"version": 1, "state": "KILLED" if job % 25 == 0 else "FAILED" if job % 10 == 0 else "COMPLETED",
            "start": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)), "elapsed": job % 5000,
            "job": job, "step": "0", "cluster": "synthetic", "job_name": f"name {job % 13}", "account": f"a{job % 7}",
            "partition": ("short", "long", "debug")[job % 3], "qos": "normal", "user": user(job), "uid": uid(job),
            "nodes": nodes, "tasks": 4 * nodes, "node": f"n{job % 1000}", "exit_code": 1 if job % 10 == 0 else 0,
            "signal": 9 if job % 25 == 0 else 0, "mode": "lossless", "rule": "default", "partial": int(job % 100 == 0),
            **({"reason": ("signal", "oom", "time-limit")[job // 100 % 3]} if job % 100 == 0 else {}),
            "ranks": 4 * nodes, "hosts": [f"n{(job + i) % 1000}" for i in range(nodes)], "ranks_per_node": [4] * nodes,
            "command": [f"/home/u{job % 50}/bin/app{job % 11}", "-n", str(job)], "exe": f"/home/u{job % 50}/bin/app{job % 11}",
            "mpi_library": "Open MPI v4.1.4", "mpi_version": "3.1", "start_ns": start * 10**9, "end_ns": (start + job % 5000) * 10**9,
            "spoor_version": "0.1.0"}


def folder_of(archive, when, owner=None):
    """The folder of a user on the day of a time, made as root makes it."""
    owner = os.geteuid() if owner is None else owner
    day = os.path.join(archive, time.strftime("%Y/%m/%d", time.gmtime(when)))
    path = os.path.join(day, str(owner))
    if not os.path.isdir(path):
        os.makedirs(day, 0o755, exist_ok=True)
        os.mkdir(path)
        if os.geteuid() == 0:
            os.chown(path, owner, 0)
        os.chmod(path, 0o2750)
    return path


def put(archive, job, when, data, owner=None, name=None):
    """A trace of a user, as it is delivered. Returns its path."""
    owner = uid(job) if owner is None else owner
    path = os.path.join(folder_of(archive, when, owner), name or f"{job}.0.0.spoor")
    with open(path + ".new", "wb") as file:
        file.write(data)
    if os.geteuid() == 0:
        os.chown(path + ".new", owner, os.stat(os.path.dirname(path)).st_gid)
    os.chmod(path + ".new", 0o440)
    os.rename(path + ".new", path)
    return path


def fill(folder, count, days=365, first=1, now=None, like=()):
    now = int(now or time.time())
    for job in range(first, first + count):
        start = now - DAY * days + (job - first) * (DAY * days // max(count, 1))
        put(folder, job, start, container(metadata(job, start), like[job % len(like)] if like else content(job)))


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 365, like=[chunks_of(path) for path in sys.argv[4:]])
