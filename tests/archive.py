#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""archive - fills an archive with synthetic traces: files with metadata as real ones have it, and nothing to walk

    archive.py DIR COUNT [DAYS]       COUNT traces over DAYS days (default 365), up to today

What is in them follows from their number alone, so that tests can say what a list must have: job j ran for user u(j % 50),
in account a(j % 7), partition (j % 3: short, long, debug), on 2^(j % 8) nodes with 4 ranks each, as executable app(j % 11);
every 10th failed, every 25th was killed, every 100th is partial.
"""
import json
import os
import struct
import sys
import time
import zlib

USERS, DAY = 50, 86400


def container(metadata):
    text = json.dumps(metadata, separators=(",", ":")).encode()
    table = struct.pack("<4sIQQQ", b"META", zlib.crc32(text), 64, len(text), len(text))
    head = b"\x89SPOOR\r\n" + struct.pack("<HHIIII", 1, 0, 0, 0, 1, zlib.crc32(table))
    return head + struct.pack("<I", zlib.crc32(head)) + table + text


def metadata(job, start):
    nodes = 1 << job % 8
    return {"version": 1, "state": "KILLED" if job % 25 == 0 else "FAILED" if job % 10 == 0 else "COMPLETED",
            "start": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)), "elapsed": job % 5000,
            "job": job, "step": "0", "cluster": "synthetic", "job_name": f"name {job % 13}", "account": f"a{job % 7}",
            "partition": ("short", "long", "debug")[job % 3], "qos": "normal", "user": f"u{job % USERS}", "uid": os.getuid(),
            "nodes": nodes, "tasks": 4 * nodes, "node": f"n{job % 1000}", "exit_code": 1 if job % 10 == 0 else 0,
            "signal": 9 if job % 25 == 0 else 0, "mode": "lossless", "rule": "default", "partial": int(job % 100 == 0),
            "ranks": 4 * nodes, "hosts": [f"n{(job + i) % 1000}" for i in range(nodes)], "ranks_per_node": [4] * nodes,
            "command": [f"/home/u{job % USERS}/bin/app{job % 11}", "-n", str(job)], "exe": f"/home/u{job % USERS}/bin/app{job % 11}",
            "mpi_library": "Open MPI v4.1.4", "mpi_version": "3.1", "start_ns": start * 10**9, "end_ns": (start + job % 5000) * 10**9,
            "spoor_version": "0.1.0"}


def fill(folder, count, days=365, first=1, now=None):
    now = int(now or time.time())
    for job in range(first, first + count):
        start = now - DAY * days + (job - first) * (DAY * days // max(count, 1))
        day = os.path.join(folder, time.strftime("%Y/%m/%d", time.localtime(start)))
        os.makedirs(day, exist_ok=True)
        path = os.path.join(day, f"{job}.0.0.spoor")
        with open(path, "wb") as file:
            file.write(container(metadata(job, start)))
        os.chmod(path, 0o440)


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 365)
