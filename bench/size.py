# SPDX-License-Identifier: BSD-3-Clause
"""size - traces of the mini-applications: bytes, growth with steps and ranks, memory of the recorder"""
import glob
import json
import lzma
import os
import re
import statistics
import struct
import subprocess
import tempfile
import threading
import time

import launch
import otf2

HERE = os.path.dirname(os.path.abspath(__file__))
POLL = 0.01  # s

# The same in each time step: the size must not depend on the number of steps.
REGULAR = ("halo2d", "halo3d", "wavefront", "multigrid", "cg", "adi", "fft")
# Grow by at most 20 % from 16 to 64 ranks.
SCALING = ("halo2d", "halo3d", "wavefront", "multigrid")
STEP_GROWTH, RANK_GROWTH = 0.05, 0.20
# From 64 to 256 ranks, without MPI.
ALONE_RANKS, ALONE_GROWTH = (16, 64, 256), 0.10
ALONE = (("halo2d",), ("halo3d",), ("wavefront",), ("multigrid",), ("multigrid", "--weak"))
OCEAN_STEP = 2  # bytes each step may cost; all ranks behave alike
MEMORY, MEMORY_REGULAR = 8 << 20, 1 << 20

ARENA_HEADER = struct.Struct("<8sQQQ")  # trace/base/arena.h: magic, layout, size, used
ARENA_MAGIC = b"spoorar\0"


class Arenas(threading.Thread):
    """Opens the arenas of a run as they appear. They are removed when the ranks are merged; what is open can still be read."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.files, self.over = folder, {}, threading.Event()

    def run(self):
        while not self.over.wait(POLL):
            for path in glob.glob(os.path.join(self.folder, "spoor-run.*", "*.arena")):
                try:
                    status = os.stat(path)  # an arena gets another name when its rank is known
                    if status.st_ino not in self.files:
                        self.files[status.st_ino] = open(path, "rb")
                except OSError:
                    pass

    def used(self):
        """Bytes used in each arena, when the run is over."""
        self.over.set()
        self.join()
        found = []
        for file in self.files.values():
            with file:
                header = file.read(ARENA_HEADER.size)
            if len(header) == ARENA_HEADER.size:
                magic, _, _, used = ARENA_HEADER.unpack(header)
                if magic == ARENA_MAGIC:
                    found.append(used)
        return found


class Failed(Exception):
    pass


def checksum(app, done):
    """The last word of the line that an application ends with."""
    found = re.search(rb"checksum ([0-9a-f]{16})", done.stdout)
    if done.returncode != 0 or not found:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()[-500:]
        raise Failed(f"{app} ended with status {done.returncode}: {said}")
    return found[1].decode()


def memory_of(folder):
    """The most memory of a rank, and the median of their heaps before MPI_Finalize, in bytes, as the application says at its end (bench/apps/app.h);
    None if none did."""
    peaks, heaps = [], []
    for path in glob.glob(os.path.join(folder, "[0-9]*")):
        with open(path) as f:
            most, heap = f.read().split()
        peaks.append(1024 * int(most))
        heaps.append(int(heap))
    return max(peaks, default=None), statistics.median(heaps) if heaps else None


def application(app, ranks, steps, folder, before=()):
    """Runs it. Returns its checksum and memory_of its ranks."""
    memory = os.path.join(folder, "memory")
    os.mkdir(memory)
    program = [os.path.join(launch.BUILD, "bench/apps", app), str(steps)]
    done = launch.mpirun(ranks, program, before=before, timeout=900, environment={"TMPDIR": folder, "APP_MEMORY": memory})
    return (checksum(app, done), *memory_of(memory))


def read_events(spoor, trace, xz_limit):
    """Decodes all ranks' events. Returns (bytes of the flat log, the same under xz -9 or None, bytes in OTF2)."""
    flat, estimate, sizes, lines = 0, 0, {}, []
    dump = subprocess.Popen([spoor, "dump", trace], stdout=subprocess.PIPE)
    for line in dump.stdout:
        _, _, line = line.partition(b" ")  # "RANK: "
        flat += len(line)
        event = line.partition(b" ")[2]
        size = sizes.get(event)
        if size is None:
            if len(sizes) > 500000:
                sizes.clear()
            size = sizes[event] = otf2.event(event.decode(errors="replace").rstrip("\n"))
        estimate += size
        if flat <= xz_limit:
            lines.append(line)
    if dump.wait() != 0:
        raise Failed(f"spoor dump {trace} ended with status {dump.returncode}")
    packed = len(lzma.compress(b"".join(lines), preset=9)) if flat <= xz_limit else None
    return flat, packed, estimate


def untraced(app, ranks, steps):
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        return application(app, ranks, steps, folder)


def measure(app, ranks, steps, base, xz_limit):
    """One traced run. base: what untraced() returned for the same number of ranks and steps."""
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        trace = os.path.join(folder, "trace.spoor")
        arenas = Arenas(folder)
        arenas.start()
        start = time.monotonic()
        try:
            same, most, heap = application(app, ranks, steps, folder, [launch.spoor(), "run", "-o", trace, "--"])
        finally:
            used = arenas.used()
        elapsed = time.monotonic() - start
        if same != base[0]:
            raise Failed(f"{app}, {ranks} ranks, {steps} steps: checksum {same} traced, {base[0]} untraced")
        body, parts, stat = body_of(trace)
        flat, packed, estimate = read_events(launch.spoor(), trace, xz_limit)
    return {"app": app, "ranks": ranks, "steps": steps, "events": stat["events"], "trace": stat["size"], "body": body, "parts": parts, "sites": stat["sites"],
            "bytes_per_event": stat["size"] / stat["events"], "flat": flat, "flat_xz": packed, "otf2": estimate,
            "arena": max(used) if len(used) == ranks else None, "peak": most, "peak_base": base[1],
            "heap_added": heap - base[2] if heap is not None and base[2] is not None else None,
            "elapsed": elapsed}


def body_of(trace):
    """Bytes of a trace, without the job's metadata where that has a part of its own, and of its parts."""
    stat = json.loads(subprocess.run([launch.spoor(), "stat", "--json", trace], stdout=subprocess.PIPE, check=True).stdout)
    parts = {part["part"]: part["stored"] for part in stat["parts"]}
    return stat["size"] - parts.get("META", 0), parts, stat


def run_alone(steps, report):
    """Traces of the applications whose ranks run one by one (bench/alone). Returns (rows, failures)."""
    rows, failures = [], []
    report(f"{'WITHOUT MPI':<18}{'RANKS':>6}{'STEPS':>6}{'EVENTS':>9}{'SITES':>7}{'TRACE, NO META':>16}{'GROWTH':>9}")
    for program, *options in ALONE:
        app, before = " ".join([program, *options]), None
        for ranks in ALONE_RANKS:
            with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
                trace = os.path.join(folder, "trace.spoor")
                done = subprocess.run([launch.spoor(), "run", "-o", trace, "--", os.path.join(HERE, "alone"), str(ranks),
                                       os.path.join(launch.BUILD, "bench/apps", program), str(steps), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env=dict(os.environ, TMPDIR=folder, SPOOR_BUILD=launch.BUILD))
                if done.returncode != 0:
                    failures.append(f"{app} without MPI, {ranks} ranks: {done.stdout.decode(errors='replace').strip()[-300:]}")
                    report(f"{app:<18}{ranks:>6}{steps:>6}  failed")
                    break
                body, parts, stat = body_of(trace)
            share = (body - before) / before if before else None
            met = None if ranks != ALONE_RANKS[-1] else share <= ALONE_GROWTH
            rows.append({"app": app, "ranks": ranks, "steps": steps, "events": stat["events"], "sites": stat["sites"], "body": body, "parts": parts,
                         "growth": share, "met": met})
            report(f"{app:<18}{ranks:>6}{steps:>6}{stat['events']:>9}{stat['sites']:>7}{body:>16}" + (f"{share:>+9.1%}" if before else "") +
                   ("" if met is None else f"   at most {ALONE_GROWTH:.0%}: {'met' if met else 'MISSED'}"))
            before = body
    return rows, failures


THRESHOLDS = (("0", "lossy:0"), ("30", "lossy:30"), ("1000", "lossy:1000"), ("infinity", "lossless"))


def run_thresholds(apps, ranks, steps, report):
    """Traces by the threshold of the lossy mode: all lossy to lossless. Returns (rows, failures)."""
    rows, failures = [], []
    report(f"Traces without metadata, {ranks} ranks, by threshold (structure lossy); in brackets columns that are constant/in order/lossy")
    report(f"{'APPLICATION':<12}{'STEPS':>6}" + "".join(f"{name:>20}" for name, _ in THRESHOLDS) + f"{'BOUND OF 0':>12}{'OF 30':>10}")
    for app in apps:
        for count in steps:
            found = {}
            try:
                for name, mode in THRESHOLDS:
                    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
                        trace = os.path.join(folder, "trace.spoor")
                        application(app, ranks, count, folder, [launch.spoor(), "run", "--mode", mode, "--structure", "lossy", "-o", trace, "--"])
                        body, _, stat = body_of(trace)
                    found[name] = {"body": body, "constant": stat["constant_columns"], "lossy": stat["lossy_columns"],
                                   "in_order": stat["columns"] - stat["constant_columns"] - stat["lossy_columns"], "bound": (stat["bound"] or {}).get("bytes_most")}
            except (Failed, OSError, subprocess.CalledProcessError) as e:
                failures.append(str(e))
                report(f"{app:<12}{count:>6}  failed: {e}")
                continue
            rows.append({"app": app, "ranks": ranks, "steps": count, "thresholds": found})
            cells = "".join("{:>20}".format("{body} ({constant}/{in_order}/{lossy})".format(**f)) for f in found.values())
            report(f"{app:<12}{count:>6}{cells}{size_text(found['0']['bound']):>12}{size_text(found['30']['bound']):>10}")
    return rows, failures


def size_text(n):
    if n is None:
        return "-"
    for unit in ("", "k", "M"):
        if n < 10000:
            return f"{n:.0f}{unit}" if unit == "" else f"{n:.1f}{unit}"
        n /= 1000
    return f"{n:.1f}G"


def times_text(row, name):
    if row[name] is None:
        return "-"
    times = row[name] / row["trace"]
    return f"{size_text(row[name])} ({times:.{1 if times < 10 else 0}f}x)"


HEAD = f"{'APPLICATION':<12}{'RANKS':>6}{'STEPS':>6}{'EVENTS':>9}{'TRACE':>8}{'B/EVENT':>9}{'FLAT LOG':>17}" \
       f"{'FLAT, XZ -9':>15}{'OTF2 (EST.)':>16}{'ARENA':>8}{'HEAP +':>8}{'PEAK +':>8}"


def misses(row):
    """The targets that a run misses, as text."""
    found = []
    added = row["peak"] - row["peak_base"] if row["peak"] and row["peak_base"] else 0
    if (row["arena"] or 0) > (MEMORY_REGULAR if row["app"] in REGULAR else MEMORY) or added > MEMORY:
        found.append("memory")
    for name, what in (("flat", "the flat log"), ("flat_xz", "the flat log under xz -9"), ("otf2", "OTF2")):
        if row[name] is not None and row[name] < row["body"]:  # none of them has metadata of the job
            found.append("larger than " + what)
    return "  MISSED: " + ", ".join(found) if found else ""


def row_text(row):
    added = row["peak"] - row["peak_base"] if row["peak"] and row["peak_base"] else None
    return f"{row['app']:<12}{row['ranks']:>6}{row['steps']:>6}{row['events']:>9}{row['trace']:>8}{row['bytes_per_event']:>9.4f}" \
           f"{times_text(row, 'flat'):>17}{times_text(row, 'flat_xz'):>15}{times_text(row, 'otf2'):>16}" \
           f"{size_text(row['arena']):>8}{size_text(row['heap_added']):>8}{size_text(added):>8}{misses(row)}"


def growth(rows):
    """What must not grow: from the smaller number of steps to the larger, and from rank number to rank number at equal steps."""
    found, by = [], {(r["app"], r["ranks"], r["steps"]): r for r in rows}
    for (app, ranks, steps), row in by.items():
        more = [s for a, r, s in by if (a, r) == (app, ranks) and s > steps]
        if more:
            other = by[app, ranks, min(more)]
            bytes_more = other["body"] - row["body"]
            each = bytes_more / (other["steps"] - steps)
            target = each <= OCEAN_STEP if app == "ocean" else \
                bytes_more <= STEP_GROWTH * row["body"] if app in REGULAR else None
            found.append({"app": app, "of": "steps", "ranks": ranks, "from": steps, "to": other["steps"],
                          "growth": bytes_more / row["body"], "bytes_per_step": each, "met": target})
        more = [r for a, r, s in by if (a, s) == (app, steps) and r > ranks]
        if more:
            other = by[app, min(more), steps]
            share = (other["body"] - row["body"]) / row["body"]
            target = share <= RANK_GROWTH if app in SCALING and (ranks, other["ranks"]) == (16, 64) else None
            found.append({"app": app, "of": "ranks", "steps": steps, "from": ranks, "to": other["ranks"], "growth": share,
                          "met": target})
    return found


def growth_text(g):
    if g["of"] == "steps":
        what = f"{g['from']} -> {g['to']} steps, {g['ranks']} ranks"
        each = f"{g['bytes_per_step']:.2f} B a step"
    else:
        what, each = f"{g['from']} -> {g['to']} ranks, {g['steps']} steps", ""
    target = f"at most {OCEAN_STEP} B a step" if g["app"] == "ocean" and g["of"] == "steps" else \
        f"at most {STEP_GROWTH:.0%}" if g["of"] == "steps" else f"at most {RANK_GROWTH:.0%}"
    result = "" if g["met"] is None else f"{target}: {'met' if g['met'] else 'MISSED'}"
    return f"{g['app']:<12}{what:<32}{g['growth']:>+8.1%}{each:>18}   {result}".rstrip()


def run(plan, apps, xz_limit, report):
    """plan: {ranks: [steps, ...]}. Longer flat logs than xz_limit bytes are not compressed: it takes too long. report(text)
    prints. Returns (rows, growths, failures)."""
    rows, failures = [], []
    report(HEAD)
    for app in apps:
        for ranks, all_steps in plan.items():
            for steps in all_steps:
                try:
                    rows.append(measure(app, ranks, steps, untraced(app, ranks, steps), xz_limit))
                    report(row_text(rows[-1]))
                except (Failed, OSError, subprocess.CalledProcessError) as e:
                    failures.append(str(e))
                    report(f"{app:<12}{ranks:>6}{steps:>6}  failed: {e}")
    growths = growth(rows)
    report("")
    report("Growth of the trace without the job's metadata")
    for g in growths:
        report(growth_text(g))
    return rows, growths, failures
