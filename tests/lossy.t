#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# lossy - lossy traces do not grow with time steps, hardly with ranks, and count every value that the flat logger saw
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
import invariants  # noqa: E402
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

APPS = os.path.join(tap.BUILD, "bench/apps")
FLATLOG = next((p for p in (os.path.join(tap.BUILD, d, "flatlog.so") for d in ("tests/flatlog/.libs", "tests/flatlog")) if os.path.exists(p)),
               None)


def traced(folder, name, ranks, steps, *options, flat=None):
    """Runs a mini-application; returns the trace's path, or None with the reason printed."""
    path = os.path.join(folder, f"{os.path.basename(name)}-{ranks}-{steps}-{'-'.join(options).replace(':', '')}.spoor")
    done = launch.mpirun(ranks, [os.path.join(APPS, name), str(steps)], flatlog=FLATLOG if flat else None, folder=flat,
                         before=[launch.spoor(), "run", *options, "-o", path, "--"], timeout=300)
    if done.returncode or not os.path.exists(path):
        print("# " + done.stderr.decode(errors="replace").replace("\n", "\n# "))
        return None
    return path


def number(text):
    """A number, or that of a handle; None: a constant."""
    return int(text.lstrip("abcdefghijklmnopqrstuvwxyz")) if re.fullmatch(r"-?\d+|[a-z]\d+", text) else None


def of_flat(folder, ranks, peers):
    """(function, parameter) -> Counter of values; elements of arrays one by one; peers of the world relative."""
    found = collections.defaultdict(collections.Counter)
    for rank in range(ranks):
        with open(os.path.join(folder, f"{rank}.log"), encoding="latin-1") as f:
            for line in f:
                _, function, *words = line.rstrip("\n").split(" ")
                for word in words:
                    name, _, text = word.partition("=")
                    for v in text.strip("[]").split(",") if text[:1] == "[" else [text]:
                        if v == "":
                            continue
                        n = number(v)
                        if n is not None and (function, name) in peers:
                            n -= rank
                        found[function, name][v if n is None else n] += 1
    return found


def of_trace(trace):
    """The same, as lists of bins (least, greatest, count, sum), constants with themselves as least."""
    found = collections.defaultdict(list)
    for function, parameters, visits, columns in trace.sites:
        for (name, kind), groups in zip(parameters, columns):
            if name[0] == "." or kind in "bs":
                continue
            bins = found[function, name]
            for group in groups:
                if isinstance(group[1], dict):
                    whole = group[1]["values"]
                    bins += [b for b in whole if isinstance(b[0], reader.Name)] + group[1]["elements"] if kind[0] == "[" else whole
                    continue
                for rank in group[0]:
                    for value, _ in zip(trace.column([group], rank), range(visits[rank])):
                        vector = value if isinstance(value, (list, tuple)) else trace.vectors[value] \
                            if kind[0] == "[" and not isinstance(value, reader.Name) else [value]
                        bins += [(v, v, 1, v) for v in vector]
    return found


def wrong(flat, bins):
    """What is wrong with the bins, if anything."""
    constants = collections.Counter()
    numbers = []
    for low, high, count, total in bins:
        if isinstance(low, reader.Name):
            constants[str(low)] += count
        else:
            numbers.append((low, high, count, total))
    wanted = collections.Counter({v: n for v, n in flat.items() if isinstance(v, int)})
    named = collections.Counter({v: n for v, n in flat.items() if not isinstance(v, int)})
    if constants["?"]:  # of these it is only known how many there were
        return None if sum(b[2] for b in bins) == sum(flat.values()) else "another number of values"
    if constants != named:
        return f"constants {constants} instead of {named}"
    if sum(b[2] for b in numbers) != sum(wanted.values()):
        return f"{sum(b[2] for b in numbers)} values instead of {sum(wanted.values())}"
    if sum(b[3] for b in numbers) != sum(v * n for v, n in wanted.items()):
        return "another sum"
    if all(b[0] == b[1] for b in numbers):
        got = collections.Counter()
        for b in numbers:
            got[b[0]] += b[2]
        return None if got == wanted else f"{got} instead of {wanted}"
    spans = sorted(numbers)
    if all(a[1] < b[0] for a, b in zip(spans, spans[1:])):  # of one site: each bin is exact
        for low, high, count, total in spans:
            inside = {v: n for v, n in wanted.items() if low <= v <= high}
            if (sum(inside.values()), sum(v * n for v, n in inside.items())) != (count, total) or low not in inside or high not in inside:
                return f"bin {low}..{high}: {count} values, sum {total}; the flat log has {sum(inside.values())}"
    return None


def exact_counts(folder, name, ranks, steps, *options):
    title = f"{os.path.basename(name)}, {ranks} ranks, {' '.join(options)}: every value is counted as the flat log has it"
    if not FLATLOG:
        tap.skip(title, "the flat logger is not built")
        return
    logs = tempfile.mkdtemp(dir=folder)
    path = traced(folder, name, ranks, steps, *options, flat=logs)
    if not path:
        tap.ok(False, title)
        return
    trace = reader.Trace(path)
    peers = {(function, p) for function, parameters, _, _ in trace.sites for p, kind in parameters if kind[-1] == "p"}
    flat, ours = of_flat(logs, ranks, peers), of_trace(trace)
    faults = [f"{key}: {fault}" for key in ours if (fault := wrong(flat[key], ours[key]))]
    faults += [f"{function} is missing" for function, _ in flat if not any(f == function for f, _ in ours)]
    events = sum(len(open(os.path.join(logs, f"{r}.log"), "rb").read().split(b"\n")) - 1 for r in range(ranks))
    seen = sum(trace.events.values())
    tap.ok(not faults and seen == events, title, *faults[:20], f"{seen} events, {events} in the flat log")


def sizes(folder, name, few, many, steps, *options, runs=1):
    """runs: how many to take the largest of: sizes of a program that does something else each time differ by 10 %, and so
    do those of ranks that are delayed by other tests."""
    def size(ranks, n):
        path = traced(folder, name, ranks, n, *options)
        if not path:
            return 0
        found = os.path.getsize(path)
        os.unlink(path)
        return found

    short, long, wide = max(size(few, steps) for _ in range(runs)), size(few, 10 * steps), size(many, steps)
    for _ in range(1, runs):  # delays by other tests are in it, too: in both
        if long > 1.1 * short:
            short, long = max(short, size(few, steps)), min(long, size(few, 10 * steps))
    tap.ok(short and long <= 1.1 * short, f"{name}, {' '.join(options)}: {steps} steps {short} bytes, {10 * steps} steps {long} bytes")
    tap.ok(short and 0 < wide <= 1.5 * short, f"{name}, {' '.join(options)}: {few} ranks {short} bytes, {many} ranks {wide} bytes")


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kinds(folder):
    lossless = traced(folder, "amr", 4, 20, "--mode", "lossless")
    infinite = traced(folder, "amr", 4, 20, "--mode", "lossy:4294967295")
    nothing = traced(folder, "amr", 4, 20, "--mode", "lossy:0", "--structure", "lossy")
    if not (lossless and infinite and nothing):
        tap.ok(False, "amr is traced in all modes")
        return
    dumps = [spoor("dump", path, "-r", "1").stdout for path in (lossless, infinite)]
    tap.ok("?" not in dumps[1] and dumps[1].count("\n") == dumps[0].count("\n"), "a threshold that nothing reaches is lossless")
    done = spoor("dump", nothing, "-r", "1")
    tap.ok(done.returncode == 0 and "order of events is not known" in done.stderr, "all lossy: the walk ends, and says so", done.stderr)
    done = spoor("verify", nothing)
    tap.ok(done.returncode == 0 and "lossy" in done.stdout, "all lossy: verify tells", done.stdout + done.stderr)
    patterns = [g for _, _, _, columns in reader.Trace(nothing).sites for groups in columns for g in groups if isinstance(g[1], int) and g[1]]
    tap.ok(not patterns, "all lossy: what is not constant has no order")
    done = spoor("stat", nothing)
    tap.ok("columns are lossy" in done.stdout, "stat tells what is lossy", done.stdout)
    for mode in ("lossy:x", "lossy:-1", "lossy:"):
        done = spoor("run", "--mode", mode, "--", "true")
        tap.ok(done.returncode != 0 and mode in done.stderr, f"{mode} is refused", done.stderr)


def hostile(folder):
    """Nothing regular, and next to no memory for it: everything is counted, and the trace says what was given up."""
    for memory in ("1MiB", "2MiB", "8MiB"):
        exact_counts(folder, "../hostile", 2, 30000, "--memory", memory)
    path = os.path.join(folder, "hostile-2-30000---memory-1MiB.spoor")
    done = spoor("show", "--json", path)
    stages = [s["stage"] for s in json.loads(done.stdout)["loss"].get("given_up", [])] if done.returncode == 0 else []
    tap.ok("columns" in stages and "paths" in stages, "hostile: show tells what was given up", str(stages) + done.stderr)
    done = spoor("show", "--sites", path)
    tap.ok(done.returncode == 0 and "bins, memory" in done.stdout, "hostile: show --sites tells which columns are lossy, and why", done.stderr)
    done = spoor("stat", "--columns", "--json", path)
    tap.ok(done.returncode == 0 and any(c["kind"] == "lossy" and c["why"] == "memory" for s in json.loads(done.stdout)["columns_of_sites"]
                                        for c in s["columns"]), "hostile: stat --columns --json as well", done.stderr)
    done = spoor("verify", path)
    tap.ok(done.returncode == 0, "hostile: the trace can be read", done.stdout + done.stderr)


def endless(folder):
    """Ever new call paths, then ever new strings, until nothing is left but counting: no call is lost, and the trace says what happened."""
    title = "endless: what there is no memory for is counted, by function"
    if not FLATLOG:
        tap.skip(title, "the flat logger is not built")
        return
    logs = tempfile.mkdtemp(dir=folder)
    path = traced(folder, "../../tests/programs/endless", 2, 3000, "--memory", "1MiB", flat=logs)
    if not path:
        tap.ok(False, title)
        return
    flat, ours = collections.Counter(), collections.Counter()
    for rank in range(2):
        with open(os.path.join(logs, f"{rank}.log"), encoding="latin-1") as f:
            flat.update(line.split(" ")[1].rstrip("\n") for line in f)
    trace = reader.Trace(path)
    for function, _, visits, _ in trace.sites:
        ours[function] += sum(visits.values())
    lost = sum(trace.lost.values())
    tap.ok(ours == flat and sum(trace.events.values()) + lost == sum(flat.values()) and lost > 1000, title, f"{lost} lost", str(ours - flat), str(flat - ours))
    done = spoor("show", "--json", path)
    given_up = {s["stage"]: s for s in json.loads(done.stdout)["loss"]["given_up"]} if done.returncode == 0 else {}
    tap.ok(set(given_up) == {"columns", "paths", "counting"} and given_up["paths"]["since"] < given_up["columns"]["since"] < given_up["counting"]["since"],
           "endless: show tells what was given up, and when", str(given_up) + done.stderr)
    done = spoor("show", path)
    tap.ok("some calls are only counted" in done.stdout and re.search(rf"Counted +{lost} calls \([\d.]+ %\), in 2 ranks", done.stdout), "endless: and how many were only counted",
           done.stdout[:2000])
    done = spoor("verify", path)
    dump = spoor("dump", path, "-r", "1")
    tap.ok(done.returncode == 0 and dump.returncode == 0, "endless: the trace can be read", done.stdout + done.stderr + dump.stderr)


def held(folder):
    """Functions that come when memory is used up: there is a site for each, without a path, in what is held for that."""
    path = os.path.join(folder, "held.spoor")
    done = launch.mpirun(2, [os.path.join(tap.BUILD, "tests/programs", "endless"), "3000", "240", "6000", "1000", "0"],
                         before=[launch.spoor(), "run", "--memory", "1MiB", "-f", "-o", path, "--"], timeout=300)
    shown = json.loads(spoor("show", "--json", path).stdout or "{}") if os.path.exists(path) else {}
    tap.ok(done.returncode == 0 and shown.get("events_lost") == 0, "endless, with seven functions at the end: their calls are events", shown.get("events_lost"), done.stderr)
    calls = {f["function"]: f["calls"] for f in shown.get("functions", [])}
    tap.ok(all(calls.get(f) == 2000 for f in ("MPI_Initialized", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Get_count", "MPI_Allreduce")), "all of them", str(calls))


def alike(ours, flat):
    """Two lines of one call, where ours may have lost values."""
    a, b = ours.split(" "), flat.split(" ")
    return len(a) == len(b) and all(x == y or x.endswith("=?") and y.startswith(x[:-1]) for x, y in zip(a, b))


def beginning(folder, irregular):
    """What came before memory was short stays in order: up to the event that the trace says, all events are those of the flat log."""
    title = "irregular: the first events are in order"
    if not FLATLOG:
        tap.skip(title, "the flat logger is not built")
        return
    logs = tempfile.mkdtemp(dir=folder)
    path = traced(folder, irregular, 3, 3000, "--memory", "1MiB", flat=logs)
    if not path:
        tap.ok(False, title)
        return
    loss = {s["stage"]: s for s in json.loads(spoor("show", "--json", path).stdout)["loss"].get("given_up", [])}
    # What follows no rule is kept as bits: then all of it may have been room for, or only values of some arguments are lost.
    verified = spoor("verify", path)
    ordered = "in order: lossy" not in verified.stdout
    since = loss["columns"]["since"] if "columns" in loss else 5001
    tap.ok(since > 5000, f"{title}: up to event {since}", loss)
    trace = reader.Trace(path)
    for rank in range(3):
        with open(os.path.join(logs, f"{rank}.log"), encoding="latin-1") as f:
            flat = f.read().split("\n")[:-1]
        done = spoor("dump", "--rank", str(rank), path)
        ours = done.stdout.split("\n")[:-1]
        wrong = next((f"{o}\n{f}" for o, f in zip(ours[:since], flat) if o != f), None)
        tap.ok(wrong is None, f"{title}, in rank {rank} of {len(flat)}", wrong)
        whole = len(ours) == len(flat) and all(o == f or "columns" in loss and alike(o, f) for o, f in zip(ours, flat))
        ends = since <= len(ours) < len(flat) and f"behind event {len(ours) - 1}:" in done.stderr  # of this rank
        tap.ok(whole or not ordered and ends, f"rank {rank}: and dump says where it ends", len(ours), done.stderr)
        tap.ok(all(o.split(" ")[:2] == f.split(" ")[:2] for o, f in zip(ours, flat)), f"rank {rank}: what it prints behind that are the calls as well")
        tap.ok(list(trace.dump(rank)) == ours, f"rank {rank}: another reader reads the same")
    tap.ok(verified.returncode == 0 and ": good" in verified.stdout, "irregular: the trace can be read", verified.stdout + verified.stderr)
    said = invariants.wrong(path)
    tap.ok(not said, "irregular: its figures agree", *said)


def bounded(folder, title, program, *arguments):
    """No larger than 16 KiB and 40 bytes for each call site; the figures agree, and what was given up for that is said."""
    path = os.path.join(folder, "bounded.spoor")
    done = launch.mpirun(4, [program, *arguments], before=[launch.spoor(), "run", "--mode", "lossy:30", "-f", "-o", path, "--"], timeout=300)
    if done.returncode or not os.path.exists(path):
        tap.ok(False, f"{title}: is traced", done.stderr.decode(errors="replace"))
        return None
    size, sites = os.path.getsize(path), json.loads(spoor("stat", "--json", path).stdout)["sites"]
    tap.ok(size <= 16384 + 40 * sites, f"{title}: {size} bytes for {sites} call sites", f"at most {16384 + 40 * sites}")
    done = spoor("verify", path)
    tap.ok(done.returncode == 0, f"{title}: the trace can be read, and its figures agree", done.stdout + done.stderr)
    return json.loads(spoor("show", "--json", path).stdout)["loss"].get("small")


def bounds(folder, irregular):
    bench, programs = (os.path.join(tap.BUILD, f) for f in ("bench", "tests/programs"))
    tap.equal(bounded(folder, "manysites", os.path.join(bench, "manysites"), "2000"), None, "manysites: nothing is given up for it")
    tap.equal(bounded(folder, "irregular", irregular, "300"), None, "irregular: nothing is given up for it")
    said = bounded(folder, "random", os.path.join(programs, "random"), "7", "3000")
    tap.ok(said and "means" in said, "random: show says that times are means", str(said))
    said = bounded(folder, "random, another one", os.path.join(programs, "random"), "3", "1500")
    tap.ok(said and "no order" in said, "random, another one: it has no order any more", str(said))
    said = bounded(folder, "endless, another one", os.path.join(programs, "endless"), "3000")
    tap.ok(said and "call paths" in said, "endless, another one: show says that its paths are cut", str(said))
    done = spoor("show", "--sites", os.path.join(folder, "bounded.spoor"))
    tap.ok("... (cut: so that the trace is small)" in done.stdout, "endless, another one: so does each path", done.stdout[:2000])
    page = os.path.join(folder, "bounded.html")
    done = spoor("report", "-o", page, os.path.join(folder, "bounded.spoor"))
    tap.ok(done.returncode == 0 and "So that the trace is small, computations" in open(page, encoding="utf-8").read(), "endless, another one: so does the report", done.stderr)


def main():
    if not os.path.exists(os.path.join(APPS, "amr")) or not shutil.which("mpirun"):
        tap.skip_all("the mini-applications are not built, or there is no mpirun")
    folder = tempfile.mkdtemp(prefix="lossy-t-")
    try:
        kinds(folder)
        for name in ("amr", "sort", "farm"):
            exact_counts(folder, name, 8, 20, "--mode", "lossy:30")
            exact_counts(folder, name, 8, 20, "--mode", "lossy:0", "--structure", "lossy")
        hostile(folder)
        endless(folder)
        held(folder)
        sizes(folder, "sort", 16, 64, 60, "--mode", "lossy:30", runs=3)
        sizes(folder, "farm", 16, 64, 60, "--mode", "lossy:30", runs=3)
        sizes(folder, "amr", 16, 64, 60, "--mode", "lossy:30", runs=3)
        irregular = launch.compiled(folder, "mpicc", "irregular.c")
        beginning(folder, irregular)
        sizes(folder, irregular, 2, 4, 100, "--mode", "lossy:30", runs=4)
        bounds(folder, irregular)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
