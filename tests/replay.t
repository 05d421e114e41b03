#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# replay - traces are replayed, and the trace of the replay is the same; what cannot be replayed is refused; two traces are compared
import json
import os
import re
import shutil
import struct
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402
from replaying import LAUNCHER, REPLAY, SPOOR, check, refused, run, trace  # noqa: E402

APPS = ("adi", "amr", "cg", "farm", "fft", "halo2d", "halo3d", "multigrid", "ocean", "sort", "wavefront")
PROGRAMS = ("pt2pt", "farm", "halo", "persistent", "collectives", "comms", "inter", "types", "objects", "errors", "nulls", "windows",
            "many", "fixed", "modern", "f08", "pcoll", "mixed", "left")


def direct(ranks, *arguments):
    done = launch.mpirun(ranks, [REPLAY, *arguments])
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def written(chunks, out, version=(1, 0), flags=0, order="<"):
    """A container of these chunks, none of them compressed."""
    table, body, at = b"", b"", 32 + 32 * len(chunks)
    for name, data in chunks.items():
        table += struct.pack(order + "4sIQQQ", name.encode(), zlib.crc32(data), at + len(body), len(data), len(data))
        body += data
    head = b"\x89SPOOR\r\n" + struct.pack(order + "HHIIII", *version, 0, flags, len(chunks), zlib.crc32(table))
    with open(out, "wb") as f:
        f.write(head + struct.pack(order + "I", zlib.crc32(head)) + table + body)
    return out


def bad_input(folder, good):
    status, said = direct(3, good)
    tap.ok(status != 0 and "the trace has 4 ranks, but this is a run of 3: start it with -n 4" in said, "wrong number of ranks", said)
    new = os.path.join(folder, "new.spoor")
    with open(good, "rb") as f:
        data = f.read()
    chunks = reader.chunks(data)
    tap.ok(run([SPOOR, "verify", written(chunks, new)])[0] == 0, "a trace that is written anew is good")
    with open(new, "wb") as out:
        out.write(data[:-40])
    refused("a truncated trace", [new], new)
    with open(new, "wb") as out:
        out.write(data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])
    refused("a damaged trace", [new], new, "checksum mismatch, the file is damaged")
    refused("a newer format", [written(chunks, new, version=(2, 0))], "version 2.0", "use a newer spoor")
    refused("something new that must be known", [written(chunks, new, flags=1 << 30)], "incompatible flags 0x40000000", "use a newer spoor")
    refused("a file with the bytes of its numbers the other way round", [written(chunks, new, order=">")], "another byte order")
    strange = dict(chunks, STRG=chunks["STRG"].replace(b"MPI_Reduce ", b"MPI_Redoce ").replace(b"MPI_Cart_shift ", b"MPI_Cart_shoot "))
    refused("calls that are not known: all of them are listed, with their number", [written(strange, new)],
            "cannot be replayed here:", "MPI_Redoce, 4 calls: it is not known here", "MPI_Cart_shoot, 8 calls: it is not known here")
    strange = dict(chunks, STRG=chunks["STRG"].replace(b"MPI_Comm_size ", b"MPI_Comm_join "))
    refused("calls that connect to other processes", [written(strange, new)], "MPI_Comm_join, 4 calls: it connects to processes that are not in this trace")
    status, said = direct(4, new)
    tap.ok(status == 2 and said.count("MPI_Comm_join") == 1, "spoor-replay says it once", said)
    refused("no such file", [os.path.join(folder, "absent.spoor")], "absent")
    status, said = run([SPOOR, "replay", "--compute", "fast", good, *LAUNCHER], timeout=60)
    tap.ok(status != 0 and "sleep, spin or none" in said, "not a way to compute", said)
    status, said = run([SPOOR, "replay", "--scale", "x", good, *LAUNCHER], timeout=60)
    tap.ok(status != 0 and "a number up to 1e9, or NAME=NUMBER" in said, "not a factor", said)


def lossy(folder):
    for app in ("farm", "halo3d", "multigrid", "sort"):
        path = trace(folder, "lossy-" + app, [os.path.join(tap.BUILD, "bench/apps", app), "5"], options=("--mode", "lossy:0", "--structure", "exact"))
        for seed in ("1", "2"):
            status, said = run([SPOOR, "replay", "--check", "--verbose", "--seed", seed, path, *LAUNCHER])
            tap.ok(status == 0 and "equal as far as it has an order" in said and "all of them received" in said,
                   f"{app} without order, seed {seed}: every message is received, calls and counts are the same", said[-2000:])
    for name in ("collectives", "mixed", "errors", "f08"):
        program = os.path.join(tap.BUILD, "tests/programs", name)
        if not os.path.exists(program):
            continue
        path = trace(folder, "lossy-program-" + name, [program], options=("--mode", "lossy:0", "--structure", "exact"))
        status, said = run([SPOOR, "replay", "--check", "--verbose", path, *LAUNCHER])
        tap.ok(status == 0 and "equal as far as it has an order" in said and "all of them received" in said,
               f"program {name} without order: calls and counts are the same", said[-2000:])
    path = trace(folder, "lossy-structure", [os.path.join(tap.BUILD, "bench/apps/amr"), "20"], options=("--mode", "lossy:0"))
    refused("no order of calls or handles", [path], "is lost. Modes lossy:N keep it with structure: exact")
    path = trace(folder, "lossy-regular", [os.path.join(tap.BUILD, "bench/apps/halo3d"), "20"], options=("--mode", "lossy:30"))
    status, said = run([SPOOR, "replay", "--check", path, *LAUNCHER])
    tap.ok(status == 0, "lossy:30 of a regular program keeps its structure, and is replayed", said[-2000:])
    other = trace(folder, "lossy-other", [os.path.join(tap.BUILD, "bench/apps/halo3d"), "5", "--periodic"], options=("--mode", "lossy:0", "--structure", "exact"))
    false = os.path.join(folder, "false-replay")
    with open(false, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\n[ "$1" = --plan ] || exec "{REPLAY}" --compute none "{other}"\n')
    os.chmod(false, 0o755)
    status, said = run([SPOOR, "replay", "--check", os.path.join(folder, "lossy-halo3d.spoor"), *LAUNCHER], environment={"SPOOR_REPLAY": false})
    tap.ok(status != 0 and "MPI_Isend dest: recorded: " in said and "times MPI_PROC_NULL, replayed: 0" in said,
           "a replay with other receivers is found out", said[-2000:])


def sends(path):
    """All sends of a trace, rank by rank."""
    said = "".join(run([SPOOR, "dump", "--rank", str(rank), path])[1] for rank in range(4))
    return [line.split(" ", 1)[1] for line in said.splitlines() if " MPI_Send " in line or " MPI_Isend " in line]


def drawn(folder):
    """The same seed draws the same, another one does not; a computation is never shorter than what was drawn."""
    path = os.path.join(folder, "lossy-halo3d.spoor")
    out = [os.path.join(folder, f"seed-{i}.spoor") for i in range(3)]
    for seed, to in zip(("7", "7", "8"), out):
        run([SPOOR, "replay", "--check", "--seed", seed, "--output", to, path, *LAUNCHER])
    found = [sends(to) if os.path.exists(to) else [] for to in out]
    waits = [line for line in run([SPOOR, "dump", out[0]])[1].splitlines() if " MPI_Waitall " in line]
    received = sum(any(c.isdigit() for c in line.rpartition("statuses.count=")[2]) for line in waits)
    tap.ok(received > 0, "a call that has an order completes requests of calls that have none", f"{len(waits)} calls of MPI_Waitall received nothing")
    tap.ok(found[0] and found[0] == found[1] and found[0] != found[2], "two replays with the same seed send the same, with another one they do not",
           str([len(f) for f in found]))
    path = trace(folder, "work", [os.path.join(tap.BUILD, "bench/apps/halo2d"), "5", "1", "20000"], ranks=2)
    for options, least in ((("--compute", "sleep"), 0.095), (("--compute", "spin"), 0.095), (("--compute", "none"), 0), (("--scale", "3"), 0.285)):
        status, said = run([SPOOR, "replay", "--verbose", *options, path, *LAUNCHER])
        took = next((float(line.split()[-2]) for line in said.splitlines() if " events in " in line), -1)
        tap.ok(status == 0 and took >= least, f"{' '.join(options)}: {took} s for 0.1 s of computation", said[-1000:])


def diff(folder):
    app = os.path.join(tap.BUILD, "bench/apps/halo2d")
    a, b = trace(folder, "a", [app, "5"]), trace(folder, "b", [app, "9"])
    same = trace(folder, "same", [app, "5"])
    status, said = run([SPOOR, "diff", a, same])
    tap.ok(status == 0 and "all with the same parameters in the same order" in said and "; 0 differ" in said, "diff of two equal runs", said)
    status, said = run([SPOOR, "diff", "--json", "--top", "0", a, b])
    found = json.loads(said) if status == 0 else {"sites": [], "only_a": 1}
    sites = [s for s in found["sites"] if s["function"] == "MPI_Isend"]
    tap.ok(found["only_a"] == 0 and found["only_b"] == 0, "diff of two runs of different length: the same sites", said[:2000])
    tap.ok(sites and all(s["b"]["calls"] * 5 == s["a"]["calls"] * 9 and s["b"]["bytes"] * 5 == s["a"]["bytes"] * 9 for s in sites),
           "calls and bytes in proportion", said[:2000])
    # what only takes longer
    quick, slow = trace(folder, "quick", [app, "5", "1", "20000"], ranks=2), trace(folder, "slow", [app, "5", "1", "60000"], ranks=2)
    status, said = run([SPOOR, "diff", quick, slow])
    tap.ok(status == 0 and "; 0 differ in what they do, " in said and "0 in time" not in said and "\n~ MPI_" in said, "diff of runs that differ in time only", said)
    status, said = run([SPOOR, "diff", slow, trace(folder, "wide", [app, "5", "1", "60000"], ranks=4)])
    between = [float(word) for word in re.findall(r"between calls ([0-9.]+) -> ([0-9.]+) s a rank", said)[0]] if "between calls" in said else [0, 9]
    tap.ok(status == 0 and between[0] > 0.2 and between[1] < 1.6 * between[0], "diff of 2 and 4 ranks: times are of a rank", said)
    # the same program built anew, with its lines moved
    copy = os.path.join(folder, "halo2d.c")
    with open(os.path.join(tap.SOURCE, "bench/apps/halo2d.c"), encoding="utf-8") as f, open(copy, "w", encoding="utf-8") as out:
        out.write("/* one */\n/* two */\n" + f.read())
    built = os.path.join(folder, "halo2d")
    status, said = run(["mpicc", "-std=gnu11", "-O1", "-g", "-I", tap.SOURCE, "-o", built, copy])
    if status != 0:
        tap.skip("diff of two versions of a program", "mpicc does not build it")
        return
    c = trace(folder, "c", [built, "5"])
    status, said = run([SPOOR, "diff", a, c])
    tap.ok(status == 0 and "0 matched by address" in said and "0 only in " + a in said, "diff of two versions of a program matches all sites",
           said)


def resident(command):
    """Runs it. Returns its status, what it said, and the most memory in KiB that one of its processes had."""
    script = ("import resource, subprocess, sys; status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode; "
              "print('resident', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)")
    status, said = run([sys.executable, "-c", script, *command])
    return status, said, int(said.rpartition("resident ")[2] or 0)


def posted(folder):
    """What came is touched, not what was posted."""
    for options in ([], ["--buffers"]):
        path = trace(folder, "posted", [os.path.join(tap.BUILD, "tests/programs/posted")], ranks=2, options=options)
        status, said, kib = resident([SPOOR, "replay", path, *LAUNCHER])
        tap.ok(status == 0 and 0 < kib < 128 << 10, f"receives of 256 MB that get 1 KB{', which buffers' if options else ''}: {kib} KiB are resident", said)
        os.unlink(path)


def main():
    folder = tempfile.mkdtemp(prefix="replay-t-")
    try:
        for app in APPS:
            check(folder, app, [os.path.join(tap.BUILD, "bench/apps", app), "8"])
        for app in ("sort", "wavefront"):
            check(folder, app + "-16", [os.path.join(tap.BUILD, "bench/apps", app), "4"], ranks=16)
        for name in PROGRAMS:
            if os.path.exists(os.path.join(tap.BUILD, "tests/programs", name)):
                check(folder, "program " + name, [os.path.join(tap.BUILD, "tests/programs", name)])
        for name in ("files", "references"):
            check(folder, f"program {name}", [os.path.join(tap.BUILD, "tests/programs", name), os.path.join(folder, "file")])
        for name in ("pt2pt", "windows"):
            path = check(folder, f"program {name}, which buffers", [os.path.join(tap.BUILD, "tests/programs", name)], options=["--buffers"])
            tap.ok("buf=b1 " in run([SPOOR, "dump", "--rank", "0", path])[1] or "origin_addr=b1 " in run([SPOOR, "dump", "--rank", "0", path])[1],
                   f"{name}: its buffers are told from each other")
        unseen = trace(folder, "unseen", [os.path.join(tap.BUILD, "tests/programs/references"), "unseen"])
        refused("an object that no recorded call has made", [unseen], "rank 0, event 3, MPI_Group_size: it uses g0, which no recorded call has made")
        for seed in (1, 2):
            check(folder, f"random program {seed}", [os.path.join(tap.BUILD, "tests/programs/random"), str(seed), "300"])
        if os.path.exists("/usr/bin/lmp"):
            check(folder, "LAMMPS", ["lmp", "-in", os.path.join(tap.SOURCE, "tests/programs/in.lj"), "-log", "none"], cwd=folder)
        else:
            tap.skip("LAMMPS", "lmp is not there")
        posted(folder)
        bad_input(folder, os.path.join(folder, "halo2d.spoor"))
        lossy(folder)
        drawn(folder)
        diff(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
