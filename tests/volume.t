#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# volume - messages and bytes are those of the flat log, event by event, and the same in all commands that count them
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402
import volume  # noqa: E402

FLATLOG = os.path.join(tap.BUILD, "tests/flatlog/flatlog.so")
APPS = ("adi", "amr", "cg", "farm", "fft", "halo2d", "halo3d", "multigrid", "ocean", "sort", "wavefront")
LOST = []
SIMGRID = ("pt2pt", "persistent", "halo3d")  # other collective operations become messages there
PROGRAMS = ("pt2pt", "collectives", "persistent", "pcoll", "started", "types", "windows", "files")


def shown(trace, *options):
    done = subprocess.run([launch.spoor(), "show", "--json", *options, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return json.loads(done.stdout or b"{}")


def run(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False).stdout.decode()


def agree(title, trace, folder, got):
    """diff, aggregate and report say what show says; got: of show."""
    wanted = {f["function"]: f["bytes"] for f in got["functions"] if f["bytes"]}
    sums = collections.Counter()
    for site in json.loads(run("diff", "--json", "--all", "--top", "0", trace, trace))["sites"]:
        sums[site["function"]] += site["a"]["bytes"]
    tap.equal({f: n for f, n in sums.items() if n}, wanted, f"{title}: diff counts the same bytes")
    store = os.path.join(folder, "archive")
    os.makedirs(store, exist_ok=True)
    archive.fill(store, 1, 2, 0, int(time.time()), [archive.chunks_of(trace)])
    groups = json.loads(run("aggregate", "--archive", store, "--json", "--by", "function"))["groups"]
    tap.equal({g["function"]: g["passed_bytes"] for g in groups if g["passed_bytes"]}, wanted, f"{title}: aggregate, too")
    total = json.loads(run("aggregate", "--archive", store, "--json"))["total"]
    tap.equal([total[k] for k in ("messages", "bytes", "unsized")], [got["summary"][k] for k in ("messages", "bytes", "messages_unsized")],
              f"{title}: and the same messages")
    shutil.rmtree(store)
    page = run("report", trace, "-o", "-")
    figures = {int(i): int(v) for i, v in re.findall(r'data-figure="functions\.(\d+)\.bytes" value="(\d+)"', page)}
    listed = {i: f["bytes"] for i, f in enumerate(got["functions"][:40]) if f["bytes"]}  # the page has no more
    tap.equal(figures, listed, f"{title}: and report")


def exported(title, trace, folder, wanted):
    """Messages and their bytes in what other tools get. wanted: of the flat log."""
    out = os.path.join(folder, "exported")
    run("export", "--chrome", out, trace)
    with open(out, encoding="utf-8") as f:
        sizes = [e["args"]["bytes"] for e in json.load(f)["traceEvents"] if e["ph"] == "s"]
    tap.equal((len(sizes), sum(sizes)), wanted, f"{title}: --chrome has as many")
    os.remove(out)
    if title in SIMGRID:
        run("export", "--simgrid", out, trace)
        sizes = [int(line.split()[4]) for path in files(out) for line in path if line.split()[1:2] in (["send"], ["isend"])]
        tap.equal((len(sizes), sum(sizes)), wanted, f"{title}: --simgrid, too")
        shutil.rmtree(out)
    if shutil.which("otf2-print") and "otf2" in run("export", "--help") and subprocess.run(
            [launch.spoor(), "export", "--otf2", out, trace], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        text = subprocess.run(["otf2-print", os.path.join(out, "traces.otf2")], stdout=subprocess.PIPE, check=True).stdout.decode()
        sizes = [int(n) for n in re.findall(r"^MPI_I?SEND .*Length: (\d+)", text, re.M)]
        tap.equal((len(sizes), sum(sizes)), wanted, f"{title}: and --otf2")
        shutil.rmtree(out)


def files(folder):
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), encoding="utf-8") as f:
                yield f.readlines()


def measure(lines, trace, ranks):
    """lines: the events of a rank. Sizes of communicators are in no event: they are the trace's."""
    v, other = volume.Volume(ranks), reader.Trace(trace)
    for rank in range(ranks):
        v.comms[rank, "MPI_COMM_WORLD"], v.comms[rank, "MPI_COMM_SELF"] = (rank, ranks), (0, 1)
        for number, (mine, size) in enumerate(zip(other.table("@comm", "rank", rank), other.table("@comm", "size", rank))):
            v.comms[rank, f"c{number}"] = (mine if isinstance(mine, str) else mine + rank, size)
        for line in lines(rank):
            v.event(rank, line.rstrip("\n"))
    return v


def log_of(logs, rank):
    with open(os.path.join(logs, f"{rank}.log"), encoding="latin-1") as f:
        return f.readlines()


def check(title, program, ranks, folder, *options, lossy=False):
    logs, trace = os.path.join(folder, "logs"), os.path.join(folder, "x.spoor")
    os.makedirs(logs, exist_ok=True)
    done = launch.mpirun(ranks, program, flatlog=FLATLOG, folder=logs, before=[launch.spoor(), "run", *options, "-o", trace, "--"], cwd=folder)
    if not tap.ok(done.returncode == 0 and os.path.exists(trace), f"{title}: runs", done.stderr.decode(errors="replace")[-600:]):
        return
    v, got = measure(lambda rank: log_of(logs, rank), trace, ranks), shown(trace)
    agree(title, trace, folder, got)
    sums = {f["function"]: f["bytes"] for f in got["functions"] if f["bytes"]}
    wanted = {f: n for f, n in v.bytes.items() if n}
    unsized = {f["function"]: f["unsized"] for f in got["functions"] if f["unsized"]}
    # where both sizes and receivers vary and have no order, which sizes were for MPI_PROC_NULL is not in the trace
    for f in unsized if lossy else ():
        if sums.get(f, 0) <= wanted.get(f, 0):
            sums.pop(f, 0)
            v.message_bytes -= wanted.pop(f, 0)
            v.unsized += unsized[f]
            LOST.append((title, f))
    wrong = {f: (sums.get(f, 0), wanted.get(f, 0), unsized.get(f, 0)) for f in {**sums, **wanted} if sums.get(f, 0) != wanted.get(f, 0)}
    tap.ok(not wrong, f"{title}: bytes by function", "function: (shown, flat log, calls of unknown size)", wrong)
    s = got["summary"]
    tap.equal((s["messages"], s["bytes"], s["messages_unsized"]), (v.messages, v.message_bytes, v.unsized), f"{title}: messages and their bytes")
    moved = {k: s[k]["bytes"] for k in ("one_sided", "read", "written")}
    tap.equal(moved, {k: v.moved[k] for k in moved}, f"{title}: bytes of one-sided calls and of files")
    if not lossy:
        dumped = measure(lambda rank: run("dump", "--rank", str(rank), trace).splitlines(), trace, ranks)
        tap.equal((dumped.bytes, dumped.messages, dumped.message_bytes), (v.bytes, v.messages, v.message_bytes), f"{title}: and dump")
        m = shown(trace, "--matrix")
        cells = [sum(c[k] for c in m["matrix"]) + m["matrix_other_" + name] for k, name in ((2, "messages"), (3, "bytes"))]
        tap.equal(cells, [v.messages, v.message_bytes], f"{title}: the matrix has as many")
        exported(title, trace, folder, (v.messages, v.message_bytes))
        tap.equal([sum(c[3] for c in m["matrix_one_sided"]) + m["matrix_other_one_sided_bytes"], sum(f["read"] for f in m["files"]), sum(f["written"] for f in m["files"])],
                  [v.moved[k] for k in moved], f"{title}: and the bytes that are no messages")
    os.remove(trace)
    for rank in range(ranks):
        os.remove(os.path.join(logs, f"{rank}.log"))


def main():
    with tempfile.TemporaryDirectory(prefix="volume-t-") as folder:
        os.chmod(folder, 0o711)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        for app in APPS:
            program = [os.path.join(tap.BUILD, "bench/apps", app), "6"]
            check(app, program, 4, folder)
            check(f"{app}, lossy:0", program, 4, folder, "--mode", "lossy:0", "--structure", "exact", lossy=True)
        for name in PROGRAMS:
            program = [os.path.join(tap.BUILD, "tests/programs", name)]
            check(name, program, 4, folder)
            if name in ("collectives", "started"):
                check(f"{name}, lossy:0", program, 4, folder, "--mode", "lossy:0", "--structure", "exact", lossy=True)
    tap.equal(LOST, [("halo3d, lossy:0", "MPI_Isend")], "what has no size in lossy mode")
    tap.done()


if __name__ == "__main__":
    main()
