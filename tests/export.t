#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# export - what spoor export writes holds the events of the trace, each message once, and nothing is left after an error
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
GOLDEN = os.path.join(tap.SOURCE, "tests/golden")
PROGRAMS = ("halo", "pt2pt", "comms", "farm", "persistent", "collectives")


def run(*command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **more)


def spoor(*arguments):
    done = run(SPOOR, *arguments)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def ranks(trace):
    return json.loads(spoor("show", "--json", trace)[1])["ranks"]


def calls(trace):
    """By stream (thread k of rank r: k * ranks + r): the functions that were called, in order."""
    by_rank, size = collections.defaultdict(list), ranks(trace)
    for line in spoor("dump", trace)[1].splitlines():
        rank, _, function, *_ = line.split()
        first, _, thread = rank[:-1].partition(".")
        by_rank[int(first) + size * int(thread or 0)].append(function)
    return by_rank


def completed_elsewhere(trace):
    """How many receives another thread completes than the one that began them: they stay open (spoor-export(1))."""
    begun, completed = set(), set()
    for line in spoor("dump", trace)[1].splitlines():
        rank, _, thread = line.split(":")[0].partition(".")
        begun.update((rank, thread or "0", request) for request in re.findall(r" MPI_Irecv .* request=(r\d+)$", line))
        completed.update((rank, maker, request) for request, maker in re.findall(r"(r\d+)@(\d+)", line))
    return len(begun & completed)


def chrome(title, trace, folder, lossless=True):
    file = os.path.join(folder, "out.json")
    status, _, err = spoor("export", trace, "--chrome", file)
    if not tap.ok(status == 0, f"{title}: --chrome", err):
        return
    with open(file, encoding="utf-8") as stream:
        content = json.load(stream)
    events, said = content["traceEvents"], content["otherData"]
    seen, ends, nested, size = collections.defaultdict(list), {}, [], ranks(trace)
    for event in events:
        if event["ph"] == "X":
            stream = event["pid"] + size * event["tid"]
            seen[stream].append(event["name"])
            if event["ts"] < ends.get(stream, 0) - 0.0015:
                nested.append(event)
            ends[stream] = event["ts"] + event["dur"]
    tap.ok(seen == calls(trace), f"{title}: --chrome: the calls that spoor dump prints")
    full = "times" in json.loads(spoor("show", "--json", trace)[1])
    tap.ok((said.get("times") == "drawn from histograms") != full, f"{title}: --chrome says where times are from", said)
    tap.equal(nested, [], f"{title}: --chrome: one call after the other")
    sent = collections.Counter(e["id"] for e in events if e["ph"] == "s")
    received = collections.Counter(e["id"] for e in events if e["ph"] == "f")
    if lossless:
        tap.ok(not received - sent and sum((sent - received).values()) == completed_elsewhere(trace) and set(sent.values()) <= {1},
               f"{title}: --chrome: all messages arrive, each once",
               f"sent only {list((sent - received).items())[:5]}, received only {list((received - sent).items())[:5]}")


def otf2(title, trace, folder, whole=True):
    out = os.path.join(folder, "otf2")
    status, _, err = spoor("export", trace, "--otf2", out)
    if "built without OTF2" in err:
        tap.skip(f"{title}: --otf2", "built without it")
        return
    if not tap.ok(status == 0, f"{title}: --otf2", err):
        return
    if shutil.which("otf2-print"):
        done = run("otf2-print", out + "/traces.otf2")
        entered, left, kinds = collections.defaultdict(list), collections.Counter(), collections.Counter()
        for line in done.stdout.decode(errors="replace").splitlines():
            found = re.match(r"([A-Z_0-9]+) +(\d+) +(\d+) (.*)", line)
            if found:
                kinds[found[1]] += 1
                region = re.search(r'Region: "([^"]*)"', found[4])
                if found[1] == "ENTER":
                    entered[int(found[2])].append(region[1])
                left[int(found[2])] += found[1] == "LEAVE"
        expected = calls(trace)
        tap.ok(entered == expected, f"{title}: otf2-print: the calls that spoor dump prints")
        tap.ok(all(left[rank] == len(expected[rank]) for rank in expected), f"{title}: otf2-print: all are left")
        tap.equal(done.stderr.decode(), "", f"{title}: otf2-print has nothing to say")
        if whole:
            there = completed_elsewhere(trace)
            tap.equal(kinds["MPI_SEND"] + kinds["MPI_ISEND"], kinds["MPI_RECV"] + kinds["MPI_IRECV"] + there,
                      f"{title}: otf2-print: as many sent as received")
            # of those completed elsewhere, the ones whose request's number comes again are told as cancelled
            ended = kinds["MPI_IRECV"] + kinds["MPI_REQUEST_CANCELLED"]
            tap.ok(ended <= kinds["MPI_IRECV_REQUEST"] <= ended + there,
                   f"{title}: otf2-print: receives are complete, or cancelled", kinds)
    else:
        tap.skip(f"{title}: otf2-print", "otf2-tools is not installed")
    shutil.rmtree(out)


def recorded(folder):
    """Times of single events are used as they were recorded, those of threads and ranks in one order."""
    crew, trace, out = os.path.join(tap.BUILD, "tests/programs/crew"), os.path.join(folder, "full.spoor"), os.path.join(folder, "out.json")
    done = launch.mpirun(2, [crew, "20"], before=[SPOOR, "run", "--timing", "full", "-o", trace, "--"])
    status, _, err = spoor("export", trace, "--chrome", out)
    if not tap.ok(done.returncode == 0 and status == 0, "all times: --chrome", err, done.stderr.decode(errors="replace")[-500:]):
        return
    with open(out, encoding="utf-8") as stream:
        content = json.load(stream)
    tap.equal(content["otherData"]["times"], "exact", "all times: --chrome says that they are exact")
    other, got = reader.Trace(trace), collections.defaultdict(list)
    for e in content["traceEvents"]:
        if e["ph"] == "X":
            got[e["pid"] + 2 * e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
    tap.equal(sorted(got), sorted(other.events), "all times: --chrome: a thread for each thread")
    wrong = []
    for stream, mine in got.items():
        first, theirs = mine[0][0], other.rank_times(stream)
        wrong += [(stream, a, b) for a, b in zip(mine, theirs) if abs(a[0] - first - b[0]) > 2 or abs(a[1] - first - b[1]) > 2]
        wrong += [(stream, len(mine), len(theirs))] * (len(mine) != len(theirs))
    tap.ok(not wrong, "all times: --chrome: those that the independent reader finds", *wrong[:3])
    tap.ok(min(t[0][0] for t in got.values()) == 0 and all(got[s][0][0] >= got[s % 2][0][1] for s in got if s >= 2),
           "all times: --chrome: other threads call when MPI is there", {s: t[0] for s, t in got.items()})
    out = os.path.join(folder, "full")
    status, _, err = spoor("export", trace, "--otf2", out)
    if "built without OTF2" in err or not shutil.which("otf2-print"):
        tap.skip("all times: --otf2", "no OTF2")
        return
    said = run("otf2-print", "-I", out + "/traces.otf2").stdout.decode(errors="replace")
    tap.ok(re.search(r"SPOOR::TIMES\s+Property value\s+exact", said), "all times: --otf2 says that they are exact", err, said)
    entered, left = collections.defaultdict(list), collections.defaultdict(list)
    for line in run("otf2-print", out + "/traces.otf2").stdout.decode(errors="replace").splitlines():
        found = re.match(r"(ENTER|LEAVE) +(\d+) +(\d+) ", line)
        if found:
            (entered if found[1] == "ENTER" else left)[int(found[2])].append(int(found[3]))
    tap.ok({s: list(zip(entered[s], left[s])) for s in entered} == got, "all times: --otf2: the same times")


def simulate(folder, ranks):
    """Runs time-independent traces: a send needs nobody, a receive its message, a collective all ranks. Returns what is wrong with them."""
    programs, wrong = [], []
    with open(os.path.join(folder, "traces"), encoding="ascii") as file:
        names = file.read().split()
    if len(names) != ranks:
        return [f"{len(names)} files for {ranks} ranks"]
    for rank, name in enumerate(names):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            programs.append([line.split()[1:] for line in file if line.split()[0] == str(rank)])
        if programs[-1][0] != ["init"] or programs[-1][-1] != ["finalize"]:
            wrong.append(f"rank {rank} does not begin with init and end with finalize")
    at, arrived, open_, joined = [0] * ranks, collections.Counter(), [{} for _ in range(ranks)], [None] * ranks
    moved = True
    while moved:
        moved = False
        for rank, program in enumerate(programs):
            while at[rank] < len(program):
                what, *words = program[at[rank]]
                if what in ("send", "isend", "recv", "irecv"):
                    peer, tag = int(words[0]), int(words[1])
                    key = (rank, peer, tag) if "send" in what else (peer, rank, tag)
                    if not 0 <= peer < ranks or tag < 0 or int(words[2]) < 0:
                        wrong.append(f"rank {rank}: {program[at[rank]]}")
                    if what[0] == "i":
                        if key in open_[rank]:
                            wrong.append(f"rank {rank}: two requests that look alike: {program[at[rank]]}")
                        open_[rank][key] = what
                    if "send" in what:
                        arrived[key] += 1
                    elif what == "recv":
                        if not arrived[key]:
                            break
                        arrived[key] -= 1
                elif what == "wait":
                    key = tuple(map(int, words))
                    if key not in open_[rank]:
                        wrong.append(f"rank {rank}: nothing to wait for: {program[at[rank]]}")
                    elif open_[rank][key] == "irecv":
                        if not arrived[key]:
                            break
                        arrived[key] -= 1
                    open_[rank].pop(key, None)
                elif what in ("compute", "init", "finalize"):
                    if what == "compute" and float(words[0]) <= 0:
                        wrong.append(f"rank {rank}: {program[at[rank]]}")
                else:
                    joined[rank] = (what, at[rank])
                    break
                at[rank] += 1
                moved = True
        if all(joined):
            if len({name for name, _ in joined}) != 1:
                wrong.append(f"not all in the same operation: {joined}")
                break
            joined = [None] * ranks
            at = [a + 1 for a in at]
            moved = True
    wrong += [f"rank {rank} hangs in {program[at[rank]]}" for rank, program in enumerate(programs) if at[rank] < len(program)]
    left = +arrived
    if left:
        wrong.append(f"sent and never received: {list(left)[:5]}")
    return wrong


def simgrid(title, trace, folder, ranks=4):
    out = os.path.join(folder, "simgrid")
    status, _, err = spoor("export", trace, "--simgrid", out)
    if not tap.ok(status == 0, f"{title}: --simgrid", err):
        return
    wrong = [text for text in simulate(out, ranks) if not (title in ("pt2pt", "persistent") and "never received" in text)]  # they cancel some
    tap.ok(not wrong, f"{title}: --simgrid: every message arrives, every request is awaited once, all ranks come to the end", *wrong[:10])
    if shutil.which("smpirun"):
        done = run("smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hostfile", "-replay", "traces", cwd=out)
        said = (done.stdout + done.stderr).decode(errors="replace")
        tap.ok(done.returncode == 0 and re.search(r"Simulation time \d", said), f"{title}: smpirun replays it to the end", said[-2000:])
    else:
        tap.skip(f"{title}: smpirun", "SimGrid is not installed")
    shutil.rmtree(out)


def bad(folder):
    good = os.path.join(GOLDEN, "1.0.spoor")
    with open(good, "rb") as stream:
        content = stream.read()
    damaged = {"cut": content[:len(content) // 2], "changed": content[:400] + b"\0\1\2\3" + content[404:], "empty": b"",
               "newer": content[:8] + b"\x02\x00" + content[10:], "other": b"#!/bin/sh\nexit\n"}
    for name, data in damaged.items():
        path = os.path.join(folder, name + ".spoor")
        with open(path, "wb") as stream:
            stream.write(data)
        before = sorted(os.listdir(folder))
        for form in ("--otf2", "--chrome", "--simgrid"):
            status, _, err = spoor("export", path, form, os.path.join(folder, "result"))
            tap.ok(status == 1 and path in err, f"{name}: {form}: says what is wrong", err)
            tap.equal(sorted(os.listdir(folder)), before, f"{name}: {form}: nothing is left")
    for name, why in (("1.0-lossy", "a lossy trace"),):
        status, _, err = spoor("export", os.path.join(GOLDEN, name + ".spoor"), "--simgrid", os.path.join(folder, "result"))
        tap.ok(status == 1 and why in err and not os.path.exists(os.path.join(folder, "result")), f"{name}: --simgrid: refused", err)
    with open(os.path.join(folder, "file"), "w", encoding="utf-8") as stream:
        stream.write("mine")
    status, _, err = spoor("export", good, "--otf2", os.path.join(folder, "file"))
    tap.ok(status == 1 and "exists already" in err, "a folder that exists is not touched", err)
    status, _, err = spoor("export", good, "--chrome", os.path.join(folder, "none/file"))
    tap.ok(status == 1 and "No such file" in err, "a folder that is not there", err)
    before = sorted(os.listdir(folder))
    done = run("bash", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$@"', "bash", SPOOR, "export", good, "--chrome", os.path.join(folder, "big"))
    tap.ok(done.returncode == 1 and b"cannot be written" in done.stderr, "no room for the file", done.stderr)
    tap.equal(sorted(os.listdir(folder)), before, "no room: nothing is left")
    tap.equal(spoor("export", good)[0], 2, "no format")


def main():
    folder = tempfile.mkdtemp(prefix="export-t-")
    try:
        for name in PROGRAMS:
            trace = os.path.join(folder, name + ".spoor")
            done = launch.mpirun(4, [os.path.join(tap.BUILD, "tests/programs", name)], before=[SPOOR, "run", "-o", trace, "--"])
            if not tap.ok(done.returncode == 0 and os.path.exists(trace), f"{name}: a trace of it", done.stderr.decode(errors="replace")):
                continue
            chrome(name, trace, folder)
            otf2(name, trace, folder)
            simgrid(name, trace, folder)
        # of a job that was killed, calls are exported that spoor dump does not print, and messages that nobody received
        for name in sorted(n for n in os.listdir(GOLDEN) if n.endswith(".spoor") and not re.search("killed|joined|away", n)):
            chrome(name, os.path.join(GOLDEN, name), folder, lossless="lossy" not in name)
            otf2(name, os.path.join(GOLDEN, name), folder, whole="lossy" not in name)
        recorded(folder)
        bad(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
