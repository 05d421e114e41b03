#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""budget - a few bytes that stand for very much cost a reader little: it says what the limit is, and how to raise it

Each file is made here, by doc/trace-format.md. What a command costs is what the kernel says: its largest memory, and its processor time."""
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402
from archive import signed, text, uint, value  # noqa: E402

os.environ.setdefault("SPOOR_REPLAY", os.path.join(tap.BUILD, "spoor-replay"))
SPOOR = os.path.join(tap.BUILD, "spoor")
MEMORY, SECONDS = 300 << 20, 10  # SECURITY.md, "The attack matrix"
LONG = 1 << 40


def container(chunks):
    """chunks: {id: bytes, or (stored bytes, size when decompressed)}"""
    table, data, at = b"", b"", 32 + 32 * len(chunks)
    for name, content in chunks.items():
        stored, size = content if isinstance(content, tuple) else (content, len(content))
        table += struct.pack("<4sIQQQ", name.encode(), zlib.crc32(stored), at + len(data), len(stored), size)
        data += stored
    head = b"\x89SPOOR\r\n" + struct.pack("<HHIIII", 1, 0, 0, 0, len(chunks), zlib.crc32(table))
    return head + struct.pack("<I", zlib.crc32(head)) + table + data


def read(file):
    with open(file, "rb") as f:
        return f.read()


def rewrite(file, data):
    os.chmod(file, 0o640)
    with open(file, "wb") as f:
        f.write(data)


def zstd(size, byte):
    """A zstd frame of so many equal bytes: blocks of 128 KiB that name it once."""
    out = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", size)
    while size > 0:
        block = min(size, 1 << 17)
        size -= block
        out += struct.pack("<I", (size == 0) | 1 << 1 | block << 3)[:3] + byte
    return out


def pool(*things):
    return uint(len(things)) + b"".join(text(t) for t in things)


def one(v):
    """A column, or a map: the same everywhere."""
    return b"\0" + value(v)


def trace(ranks=1, events=1, schema=b"MPI_Barrier", columns=b"", functions=None, more=None, vectors=b"\0", patterns=(), members=b"\0", sites=None, module=b"/bin/a", identity=b""):
    """A trace of one site; all ranks alike."""
    chunks = {"STRG": pool(module, schema, identity or b"none"), "PATH": uint(1) + uint(1) + uint(3 if identity else 0) + uint(1) + uint(0) + uint(1) + signed(0x1000),
              "VECT": vectors, "PATT": uint(len(patterns)) + b"".join(text(p) for p in patterns),
              "RANK": uint(0) + uint(ranks) + uint(1) + members + one(events) + b"\1\0" + one(0) + b"\0" * 4,
              "SITE": sites or uint(1) + uint(2) + uint(1) + uint(0) + uint(1) + b"\0" + one(events) + columns + one(0) + b"\0",
              "HIST": uint(0) * 4 + uint(0) * 6}
    chunks.update(more or {})
    return container(chunks)


def wide_vector(i):
    """2^24 elements, all alike."""
    n = 1 << 24
    return uint(n) + value(i) + uint((n - 1) << 1)


def transposed(n):
    """An array of n elements, and what the n ranks have of it on the other side."""
    columns = one(0) + uint(2) + b"\0" + uint(2) + uint(0 * 3 + 2) + uint(0)
    return trace(ranks=n, schema=b"MPI_Alltoallv sendcounts:[i recvcounts:[i", columns=columns, vectors=uint(1) + uint(n) + value(0) + uint((n - 1) << 1 | 1) + signed(1))


def every_other(level):
    """Ranks 0, 2, 4, ... below 2^level: a node whose low half is there, and nodes whose halves are the same."""
    nodes = uint(level) + uint(1 + 1) + uint(0) + (uint(1 + 2) + uint(2) + signed(0)) * (level - 1)
    return trace(ranks=(1 << level) - 1, members=uint(1) + uint(level + 1) + uint(level), more={"MAPS": nodes})


def communicators(rows):
    """A rank that has so many communicators, all alike."""
    site = uint(1) + b"\0" + one(1)
    sites = uint(2) + uint(2) + uint(3) + uint(1) + uint(0) + site + one(0) + uint(1) + uint(1) + uint(1) + b"\0" + one(rows) + one(0) + one(1)
    return trace(schema=b"MPI_Finalize", identity=b"@comm rank:i size:i", sites=sites)


def measure(*command):
    """(exit status, output, errors, bytes of memory, seconds of the processor)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([SPOOR, *command], stdout=out, stderr=err, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return process.returncode, out.read(1 << 20).decode(errors="replace"), err.read(1 << 20).decode(errors="replace"), usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime


worst = [0, 0, "", ""]


def cheap(title, *command, says=None, status=1):
    code, out, err, memory, seconds = measure(*command)
    if memory > worst[0]:
        worst[0], worst[2] = memory, title
    if seconds > worst[1]:
        worst[1], worst[3] = seconds, title
    good = code == status and memory < MEMORY and seconds < SECONDS and (says is None or says in err)
    tap.ok(good, f"{title}: spoor {command[0]}", f"exit status {code}, {memory >> 20} MiB, {seconds:.1f} s", err[:600], out[:300] if code != status else "")


with tempfile.TemporaryDirectory(prefix="budget.") as work:
    path, out_file = os.path.join(work, "a.spoor"), os.path.join(work, "out")

    def write(data):
        with open(path, "wb") as file:
            file.write(data)

    # What is good, is good.
    write(trace(events=1000))
    cheap("a thousand events", "verify", path, status=0)
    for command in (("diff", path, path), ("show", "--loops", path), ("show", "--matrix", path), ("show", "--last", path), ("report", "-o", out_file, path)):
        cheap("a thousand events", *command, status=0)
    write(trace(ranks=1 << 16, events=10))
    cheap("65,536 ranks", "verify", path, status=0)

    # Memory.
    write(trace(more={"META": (zstd(64 << 20, b" "), 64 << 20)}))
    for command in ("show", "verify"):
        cheap("64 MiB in META", command, path, says="chunk META at offset")
    write(trace(more={"META": b'{"a":[' + b"1," * 400000 + b"1]}"}))
    cheap("800 kB of JSON in META", "show", path, status=0)
    write(trace(more={"STRG": (zstd(1 << 31, b"\0"), 1 << 31)}))
    cheap("2 GiB in STRG", "verify", path, says="MiB of memory, which is the limit")
    write(trace())
    with open(path, "r+b") as file:
        file.seek(32 + 8)
        file.write(struct.pack("<QQQ", 4096, 1 << 31, 1 << 31))
        file.seek(0)
        head = bytearray(file.read(32 + 7 * 32))
        head[24:28] = struct.pack("<I", zlib.crc32(head[32:]))
        head[28:32] = struct.pack("<I", zlib.crc32(head[:28]))
        file.seek(0)
        file.write(head)
        file.truncate(4096 + (1 << 31))
    cheap("a file of holes", "verify", path, says="MiB of memory, which is the limit")
    wide = trace(vectors=uint(60) + b"".join(map(wide_vector, range(60))))
    write(wide)
    cheap("vectors", "verify", path, says="MiB of memory, which is the limit")
    cheap("vectors", "verify", "--limit", "0.5", path, says="which is the limit")
    write(trace(vectors=uint(1) + wide_vector(1)))
    cheap("one vector of 128 MiB", "verify", path, says="--limit 10 allows ten times as much")
    cheap("one vector of 128 MiB, and --limit", "show", "--limit", "3", path, status=0)
    write(transposed(16384))
    cheap("a transposed group", "verify", path, says="which is the limit")

    # Steps.
    write(trace(events=LONG))
    for command in (("verify", path), ("diff", path, path), ("show", "--loops", path), ("export", "--chrome", out_file, path), ("replay", path),
                    ("scale", path, path, path),
                    ("proxy", "--partial", "--time-only", "-o", os.path.join(work, "proxy"), path)):
        cheap("2^40 events", *command, says="steps")
    for command in (("show", path), ("stat", path), ("diff", "--no-bytes", path, path), ("verify", "--quick", path), ("dump", "--count", "5", path),
                    ("show", "--matrix", path), ("place", "--nodes-like", "1:1:4096", path)):  # turns that are alike are walked once
        cheap("2^40 events", *command, status=0)
    cheap("2^40 events, one after another", "show", "--last", path, "--limit", "0.01", says="steps")
    for ranks in ((1 << 31) - 1, 1 << 30):
        write(trace(ranks=ranks))
        for command in (("verify", path), ("diff", path, path), ("show", "--matrix", path), ("show", "--classes", path), ("export", "--chrome", out_file, path), ("place", path)):
            cheap(f"{ranks} ranks", *command, says="steps")
        cheap(f"{ranks} ranks", "stat", path, status=0)
    write(trace(ranks=1 << 30, more={"MEAN": b"\0\0\0" + uint(1) + uint(0) + uint(2) + b"\0" + one(0)}))
    cheap("one mean of 2^30 ranks", "show", "--sites", "--json", path, status=0)
    write(every_other(30))
    for command in ("stat", "show"):
        cheap("every other of 2^30 ranks", command, path, status=0)
    for command in (("verify", path), ("show", "--matrix", path)):
        cheap("every other of 2^30 ranks", *command, says="steps")

    # What is read before a replay, by one of its ranks.
    write(communicators(2))
    cheap("two communicators", "verify", path, status=0)
    write(communicators(LONG))
    for command in ("replay", "verify"):
        cheap("2^40 communicators", command, path, says="no memory" if command == "replay" else None)

    # What its ranks take.
    def sends(size):
        sized, archive.size = archive.size, lambda job: size
        write(archive.container(archive.metadata(8, 0), [(name, data, len(data)) for name, data in archive.program(8, named=b"x")]))
        archive.size = sized
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    sends((1 << 31) - 1)
    cheap("messages of 2 GiB", "replay", "--compute", "none", path, says="MiB of memory, which is the limit")

    # In an archive, among others.
    folder = os.path.join(work, "archive")
    archive.fill(folder, 8)
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(folder) for f in names)
    hostile = (wide, transposed(16384), every_other(30), trace(ranks=1 << 30), trace(events=LONG))
    for file, data in zip(files, hostile):
        rewrite(file, container(dict(reader.chunks(data), META=reader.chunks(read(file))["META"])))
    rewrite(files[5], trace(more={"META": (zstd(64 << 20, b" "), 64 << 20)}))
    os.environ["XDG_CACHE_HOME"] = work
    os.chmod(work, 0o755)
    cheap("all of them in an archive", "index", "--archive", folder, status=0)
    _, out, err, _, _ = measure("list", "--archive", folder)
    tap.ok(len(out.splitlines()) == 8, "the others are listed", out, err)

    # A path in a trace is no reason to wait, or to ask a server.
    fifo = os.path.join(work, "fifo")
    os.mkfifo(fifo)
    write(trace(module=fifo.encode()))
    cheap("a module that is a FIFO", "show", "--sites", path, status=0)
    notes = subprocess.run(["readelf", "-n", "/bin/true"], capture_output=True, text=True, check=False).stdout
    identity = bytes.fromhex(notes.partition("Build ID: ")[2].split()[0]) if "Build ID: " in notes else b""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        os.environ["DEBUGINFOD_URLS"] = f"http://127.0.0.1:{server.getsockname()[1]}/"
        os.environ["DEBUGINFOD_TIMEOUT"] = "1"
        write(trace(module=b"/bin/true", identity=identity))
        cheap("a module without debug information", "show", "--sites", path, status=0)
        try:
            asked = bool(server.accept())
        except TimeoutError:
            asked = False
        tap.ok(not asked, "no server is asked for debug information")
        os.environ.pop("DEBUGINFOD_URLS")

    # Numbers in options.
    write(trace())
    for rank in ("4294967296", "18446744073709551616", "-1", " 0", "0x0", ""):
        for command in (("show", "--loops", "--rank", rank), ("dump", "--rank", rank), ("report", "-o", out_file, "--rank", rank)):
            code, out, err, _, _ = measure(*command, path)
            tap.ok(code == 2 and "--rank" in err, f"{command[0]} --rank {rank!r} is refused", err)

    # The option.
    for wrong in ("", "0", "-1", "x", "1e13", "nan", "inf"):
        code, out, err, _, _ = measure("verify", "--limit", wrong, path)
        tap.ok(code == 2 and "--limit: expected" in err, f"--limit {wrong!r} is refused", err)
    print(f"# most memory: {worst[0] >> 20} MiB ({worst[2]}); most time: {worst[1]:.1f} s ({worst[3]})")
tap.done()
