#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# format - the worked example of doc/trace-format.md is a trace; golden traces can be read as they always were; damage is told
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden"))
import reader  # noqa: E402
import tap  # noqa: E402
from make import container  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
GOLDEN = os.path.join(tap.SOURCE, "tests/golden")


def example():
    """The chunks, the first bytes of the file, and the events of the example."""
    with open(os.path.join(tap.SOURCE, "doc/trace-format.md"), encoding="utf-8") as f:
        text = f.read().split("## Example", 1)[1]
    chunks, head, events, name = {}, b"", [], None
    for line in text.splitlines():
        m = re.fullmatch(r" {4}(?:([A-Z]{4}) | {5}|)((?:[0-9a-f]{2} ?)+) *; .*", line)
        if not m:
            if re.match(r" {4}\d+ MPI_", line):
                events.append(line.strip())
            continue
        name = m[1] or name
        if name:
            chunks[name] = chunks.get(name, b"") + bytes.fromhex(m[2])
        else:
            head += bytes.fromhex(m[2])
    return chunks, head, events


def spoor(*arguments):
    done = subprocess.run([SPOOR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def by_thread(text):
    """The lines of each thread; in which order threads come is the writer's choice."""
    found = {}
    for line in text.splitlines():
        found.setdefault(line.partition(":")[0], []).append(line)
    return found


def said_times(path, trace, lines):
    """Where `spoor show` and `spoor dump --times` say something else."""
    shown, wrong, times = json.loads(spoor("show", "--sites", "--json", path)[1])["sites"], [], {}
    for s in shown:
        for to, place, time in [("-", s, s["communicate"])] + [(e["to"], e, e["compute"]) for e in s["edges"]]:
            times["time", s["site"], to] = [time[n] for n in ("count", "sum_ns", "min_ns", "max_ns")] if time["count"] else None
            for name, c in place.get("counters", {}).items():
                if isinstance(c, dict):
                    times[name, s["site"], to] = [c[n] for n in ("count", "sum", "min", "max")] if c["count"] else None
    said = {}
    for line in spoor("dump", path, "--times")[1].splitlines():
        m = re.match(r"([\d.]+): (\d+) .*begin=([\d.]+) end=([\d.]+)$", line)
        if m:  # not an estimate
            said[m[1], int(m[2])] = (round(float(m[3]) * 1e9), round(float(m[4]) * 1e9))
    first = {}  # dump's times count from where the earliest event began
    for line in lines:
        words = line.split(" ")
        if words[0] == "event":
            got, mine = said.get((words[1], int(words[2])), (0, 0)), (int(words[3]), int(words[4]))
            off = first.setdefault(words[1], got[0] - mine[0])
            if any(abs(a - b - off) > 1 for a, b in zip(got, mine)):
                wrong.append((line, got))
        elif words[0] != "counter":
            got = times.get((words[0], int(words[1]), words[2] if words[2] == "-" else int(words[2])))
            if got != [int(words[i]) for i in (3, 4, 5, 8)]:
                wrong.append((line, got))
    return wrong


def main():
    chunks, head, events = example()
    data = container(chunks)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.spoor")

        def write(content):
            with open(path, "wb") as f:
                f.write(content)
            return path

        write(data)
        tap.ok(len(chunks) == 7 and head == data[:64], "the example's first bytes are those of its chunks", head.hex() + "\n" + data[:64].hex())
        tap.ok(list(reader.Trace(path).dump(0)) == events and len(events) == 5, "the independent reader finds its events")
        status, out, err = spoor("dump", path, "--rank", "0")
        tap.ok(status == 0 and out.splitlines() == events, "spoor dump finds its events", out + err)
        with open(os.path.join(tap.SOURCE, "doc/trace-format.md"), encoding="utf-8") as f:
            named = set(re.findall(r"^\| `([A-Z]{4})` \|", f.read(), re.M))
        with open(os.path.join(tap.SOURCE, "cmd/stat.c"), encoding="utf-8") as f:
            tap.equal(sorted(named - set(re.findall(r'^\t\{"([A-Z]{4})", ', f.read(), re.M))), [], "spoor stat knows every chunk")
        tap.ok(spoor("verify", path)[0] == 0, "spoor verify finds it good")

        for name in sorted(os.listdir(GOLDEN)):
            if not name.endswith(".spoor"):
                continue
            golden = os.path.join(GOLDEN, name)
            with open(golden[:-6] + ".dump", encoding="utf-8") as f:
                expected = f.read()
            status, out, err = spoor("dump", golden)
            tap.ok(status == 0 and by_thread(out) == by_thread(expected), f"{name}: dumped as it always was", err)
            ranks = reader.Trace(golden)
            lines = "".join(f"{ranks.stream(r)}: {line}\n" for r in sorted(ranks.events) for line in ranks.dump(r))
            tap.ok(by_thread(lines) == by_thread(expected), f"{name}: the independent reader agrees")
            if os.path.exists(golden[:-6] + ".times"):
                with open(golden[:-6] + ".times", encoding="utf-8") as f:
                    expected = f.read().splitlines()
                got = list(ranks.measured())
                tap.ok(got == expected, f"{name}: times and counts, too", *[a for a in zip(got, expected) if a[0] != a[1]][:3])
                wrong = said_times(golden, ranks, expected)
                tap.ok(not wrong, f"{name}: spoor says the same times and counts", wrong[:3])

        # What golden/make.py wrote by hand: spoor says the same.
        shown = json.loads(spoor("show", "--json", os.path.join(GOLDEN, "1.0-killed.spoor"))[1])
        tap.equal([[u[k] for k in ("site", "call", "ranks", "sum_ns", "min_ns", "min_rank", "max_ns", "max_rank")] for u in shown["unended"]],
                  [[2, True, "0-1", 9000, 4000, 1, 5000, 0], [2, False, "2", 777, 777, 2, 777, 2]], "1.0-killed.spoor: what did not end, and of whom")
        tap.equal([[r[k] for k in ("node", "cpus", "socket", "numa_node")] for r in shown["placement"]["ranks"]],
                  [["n1", "0-3", 0, 0], ["n1", "4-7", 0, 1], ["n2", "2-3", 0, 0]], "1.0-killed.spoor: where ranks sat")
        tap.equal([[r[k] for k in ("compute_ns", "elapsed_ns", "overhead_ns")] for r in shown["rank_totals"]],
                  [[5040, 6220, 40], [5120, 6120, 41], [5200, 6320, 42]], "1.0-killed.spoor: what each rank spent")

        # Damage: what is wrong, and where; exit status 1; never a crash.
        cases = [("an empty file", b"", "not a spoor trace"), ("another file", b"#!/bin/sh\n" * 20, "magic number"),
                 ("a cut header", data[:20], "not a spoor trace"), ("a cut table", data[:100], "chunk table at offset 32"),
                 ("a cut chunk", data[:-5], "chunk HIST at offset"), ("a bit in the header", data[:12] + b"\1" + data[13:], "header at offset 0"),
                 ("a bit in the table", data[:40] + b"\1" + data[41:], "chunk table at offset 32"),
                 ("a bit in a chunk", data[:260] + bytes([data[260] ^ 1]) + data[261:], "chunk STRG at offset 256: checksum mismatch"),
                 ("a missing chunk", container({k: v for k, v in chunks.items() if k != "SITE"}), "chunk SITE is missing"),
                 ("a lie in a chunk", container(dict(chunks, PATT=b"\x01\x05\x01\x03\x00\x08\x00")), "pattern 0: damaged"),
                 ("a chunk with too much in it", container(dict(chunks, VECT=b"\0\0")), "chunk VECT at offset")]
        for title, content, says in cases:
            write(content)
            status, out, err = spoor("verify", path)
            tap.ok(status == 1 and says in err and path in err, f"{title}: told, exit status 1", f"status {status}: {err}")
        for place, flag in ((16, "incompatible flags 0x4"), (12, None)):
            flagged = bytearray(data)
            struct.pack_into("<I", flagged, place, 4)
            struct.pack_into("<I", flagged, 28, zlib.crc32(bytes(flagged[:28])))
            status, out, err = spoor("verify", write(bytes(flagged)))
            tap.ok(status == 1 and flag in err if flag else status == 0, f"a flag that is not known: {'refused' if flag else 'ignored'}", err)
        newer = bytearray(data)
        struct.pack_into("<H", newer, 8, 2)
        struct.pack_into("<I", newer, 28, zlib.crc32(bytes(newer[:28])))
        status, out, err = spoor("show", write(bytes(newer)))
        tap.ok(status == 1 and "version 2.0" in err and "newer spoor" in err, "a newer version: told", err)
        status, out, err = spoor("dump", write(data), "--rank", "5")
        tap.ok(status == 1 and "rank 5 does not exist" in err, "a rank that is not there: told", err)
        status, out, err = spoor("dump", path, "--rank", "x")
        tap.ok(status == 2 and "--rank" in err, "no rank at all: told, exit status 2", err)
    tap.done()


if __name__ == "__main__":
    main()
