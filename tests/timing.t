#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""timing.t - the times of all events, counters, and what is done when a setting cannot be followed"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

RANKS, STEPS = 3, 40
KNOWN = os.path.join(tap.BUILD, "tests/programs/known")
FLATLOG = os.path.join(tap.BUILD, "tests/flatlog/flatlog.so")
PAPI = os.path.join(tap.BUILD, "tests/papi")


def close(a, b, relative=0.02, absolute=0.0):
    return abs(a - b) <= relative * abs(b) + absolute


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def show(*arguments):
    return json.loads(spoor("show", "--json", *arguments).stdout)


def dump(trace, *arguments):
    return spoor("dump", trace, *arguments).stdout.decode().splitlines()


def times(lines):
    """[(number, function, begin, end, exact)] of dump --times."""
    found = []
    for line in lines:
        m = re.match(r"(\d+) (\w+) .*?begin=(~?)([\d.]+) end=~?([\d.]+)$", line) or re.match(r"(\d+) (\w+) begin=(~?)([\d.]+) end=~?([\d.]+)$", line)
        found.append((int(m[1]), m[2], float(m[4]), float(m[5]), not m[3]))
    return found


def trace_of(place, name, program, options, ranks=1, **more):
    path = os.path.join(place, name + ".spoor")
    done = launch.mpirun(ranks, program, before=[launch.spoor(), "run", *options, "-o", path, "--"], **more)
    if not tap.ok(done.returncode == 0 and os.path.exists(path), f"{name}: the program ran", done.stderr.decode(errors="replace")[-600:]):
        tap.done()
    return path


def flat_times(folder):
    ranks = []
    for rank in range(RANKS):
        with open(os.path.join(folder, f"{rank}.log")) as f:
            ranks.append([tuple(int(t) for t in line.rpartition(" @")[2].split("-")) for line in f])
    return ranks


def efficiencies(ranks):
    """Of the flat log: load balance, communication efficiency, parallel efficiency."""
    compute = [sum(b[0] - a[1] for a, b in zip(r, r[1:])) for r in ranks]
    run = max(c + sum(e - b for b, e in r[1:]) for c, r in zip(compute, ranks))
    balance, communication = sum(compute) / len(compute) / max(compute), max(compute) / run
    return balance, communication, balance * communication


def check_full(folder):
    names = ("load_balance", "communication_efficiency", "parallel_efficiency")
    for attempt in range(12):  # the machine may take the processor away between the clocks of the two loggers
        logs = os.path.join(folder, f"logs{attempt}")
        os.mkdir(logs)
        trace = trace_of(folder, f"full{attempt}", [KNOWN, str(STEPS)], ["--timing", "full"], RANKS, flatlog=FLATLOG, folder=logs, environment={"FLATLOG_TIMES": "1"})
        flat, shown = flat_times(logs), show(trace)
        # the flat log has the tracer's own work between its clocks; the trace says how much that was
        own = shown["summary"]["overhead_ns"] / (shown["summary"]["mpi_ns"] + shown["summary"]["compute_ns"])
        both = list(zip(names, (shown["summary"][n] for n in names), efficiencies(flat)))
        if all(close(value, wanted, 0.03 + own) for _, value, wanted in both):
            break
    tap.ok(own < 0.1, "the tracer took less than a tenth", own)
    for name, value, wanted in both:
        tap.ok(close(value, wanted, 0.03 + own), f"{name} within 3 % of the flat log's", value, wanted, own)
    other, sums, all_times = reader.Trace(trace), {}, {}
    for rank in range(RANKS):
        got = times(dump(trace, "--rank", str(rank), "--times"))
        tap.ok(len(got) >= len(flat[rank]) and all(e[4] for e in got), f"rank {rank}: each event has times", len(got), len(flat[rank]))
        tap.ok(all(a[2] <= a[3] <= b[2] for a, b in zip(got, got[1:])), f"rank {rank}: they follow each other")
        # somebody else may have had the processor between the one clock and the other
        away = [(g, f) for g, f in zip(got, flat[rank]) if not close(g[3] - g[2], (f[1] - f[0]) * 1e-9, 0.02, 50e-6)]
        tap.ok(len(away) <= len(got) // 10, f"rank {rank}: as long as the flat log says", len(away), away[:3])
        end, wanted = got[len(flat[rank]) - 1][2] - got[0][3], (flat[rank][-1][0] - flat[rank][0][1]) * 1e-9
        tap.ok(close(end, wanted, 0.02, 2e-3), f"rank {rank}: the last event begins when the flat log says", end, wanted)
        mine = other.rank_times(rank)
        tap.ok(len(mine) == len(got) and all(abs(a[0] * 1e-9 - b[2]) < 2e-9 and abs(a[1] * 1e-9 - b[3]) < 2e-9 for a, b in zip(mine, got)),
               f"rank {rank}: the independent reader finds the same", mine[:3], got[:3])
        for _, function, begin, stop, _ in got:
            sums[function] = sums.get(function, 0) + stop - begin
        all_times[rank] = got
        k = len(got) // 2
        number, _, begin, stop, _ = got[k]
        line = dump(trace, "--rank", str(rank), "--at", f"{(begin + stop) / 2:.9f}s", "--count", "1")
        tap.ok(line and line[0].startswith(f"{number} ") or stop - begin < 3e-9, f"rank {rank}: --at finds the event", line, got[k])
    at, wrong = all_times[0][len(all_times[0]) // 3][2] + 50e-6, []
    said = {rank: p["function"] for p in show("--at", f"{at:.9f}s", trace)["at"] for rank in p["ranks"]}
    for rank, got in all_times.items():
        event = next(e for e in got if e[3] > at)
        if said.get(rank) != event[1] and all(abs(t - at) > 1e-6 for e in got for t in e[2:4]):
            wrong.append((rank, said.get(rank), event))
    tap.ok(sorted(said) == list(range(RANKS)) and not wrong, "show --at: where each rank was, exactly", wrong, said)
    totals = {f["function"]: f["time_ns"] * 1e-9 for f in shown["functions"]}
    tap.ok(all(close(sums[f], totals[f], 1e-6, 1e-6) for f in totals), "the sums are those of the histograms", sums, totals)
    tap.ok(spoor("verify", trace).returncode == 0, "the trace is good")


def check_rounded(folder):
    trace = trace_of(folder, "rounded", [KNOWN, "10"], ["--timing", "full:0.01"], 2)
    totals, sums = {f["function"]: f["time_ns"] * 1e-9 for f in show(trace)["functions"]}, {}
    for rank in range(2):
        for _, function, begin, stop, exact in times(dump(trace, "--rank", str(rank), "--times")):
            sums[function] = sums.get(function, 0) + stop - begin
    tap.ok(all(close(sums[f], totals[f], 0.01, 1e-6) for f in totals), "full:0.01: within 1 %", sums, totals)
    said = show(trace)["times"]
    tap.ok(len(said) == 2 and all(0 < r["error"] <= 0.01 and not r["memory_used_up"] for r in said), "and the trace says so", said)


def check_memory(folder):
    program = [os.path.join(tap.BUILD, "bench/cost"), "150000", "comm-rank"]
    trace = trace_of(folder, "memory", program, ["--timing", "full", "--memory", "1048576"])
    said, shown = show(trace)["times"][0], show(trace)
    tap.ok(said["memory_used_up"] and 0 < said["events"] < shown["events"], "memory is used up: later events have histograms only", said)
    got = times(dump(trace, "--rank", "0", "--times", "--from", str(said["events"] - 1), "--count", "2"))
    tap.ok([e[4] for e in got] == [True, False], "dump says which are exact", got)
    tap.ok("memory was used up" in spoor("show", trace).stdout.decode(), "show says it")


def check_kernel(folder):
    trace = trace_of(folder, "kernel", [KNOWN, "10"], ["--counters", "perf::TASK-CLOCK,perf::PAGE-FAULTS"], 2)
    shown = show("--sites", trace)
    other = reader.Trace(trace)
    clock = sum(c["counters"]["perf::TASK-CLOCK"]["sum"] for s in shown["sites"] for c in [s, *s["edges"]] if "counters" in c)
    wall = sum(s["communicate"]["sum_ns"] + sum(e["compute"]["sum_ns"] for e in s["edges"]) for s in shown["sites"])
    tap.ok(2 * 10 * 1.1e6 < clock < 1.05 * wall, "the CPU's time is less than all time, and as long as the program computes", clock, wall)
    complete = [s for s in shown["sites"] if s["counters"]["perf::TASK-CLOCK"]["count"] == s["calls"]]
    tap.equal(len(complete), len(shown["sites"]), "each call is counted")
    names = [c["name"] for c in other.counters]
    tap.equal(sorted(names), ["perf::PAGE-FAULTS", "perf::TASK-CLOCK"], "the independent reader knows the counters")
    wrong = []
    for s in shown["sites"]:
        for name, mine in s["counters"].items():
            theirs = other.counts[names.index(name)][s["site"]]["time"]
            if any(mine[a] != theirs[a] for a in ("count", "sum", "min", "max")):
                wrong.append((mine, theirs))
    tap.ok(not wrong, "and the same counts", wrong[:1])
    text = spoor("show", "--sites", trace).stdout.decode()
    tap.ok("counted perf::PAGE-FAULTS" in text, "show prints them")


def fake(folder, name, options, preload=None, **environment):
    environment["LD_LIBRARY_PATH"] = PAPI
    program = [KNOWN, "10"]
    if preload:
        program = ["sh", "-c", 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"', preload, *program]
    return trace_of(folder, name, program, options, environment=environment)


def check_papi(folder):
    shown = show("--sites", fake(folder, "papi", ["--counters", "PAPI_TOT_INS,PAPI_TOT_CYC,fake::STEPS,fake::NONE"]))
    site = max(shown["sites"], key=lambda s: s["calls"])
    counts = site["counters"]
    tap.ok(all(counts["PAPI_TOT_INS"][n] == 1000 for n in ("min", "max", "mean")) and counts["PAPI_TOT_INS"]["count"] == site["calls"],
           "PAPI's instructions of each call", counts)
    tap.equal(counts["instructions_per_cycle"], 2.0, "instructions a cycle")
    tap.equal(counts["fake::STEPS"]["max"], 1, "an event of another component")
    between = [e["counters"]["PAPI_TOT_INS"] for s in shown["sites"] for e in s.get("edges", ()) if e.get("counters", {}).get("PAPI_TOT_INS", {}).get("count")]
    tap.ok(between and not any(b["sum"] for b in between), "readings are not counted as computation", between)
    notes = shown["meta"]["notes"]
    tap.ok(len(notes) == 1 and notes[0].startswith("fake::NONE is not counted: PAPI does not know it here"), "an unknown event is left out with a note", notes)
    for how, why in (("version", "PAPI cannot be initialised"), ("init", "PAPI cannot be initialised"), ("add", "disabled"), ("start", "cannot be started")):
        shown = show("--sites", fake(folder, "papi-" + how, ["--counters", "PAPI_TOT_INS,perf::TASK-CLOCK"], FAKE_PAPI=how))
        notes = shown["meta"].get("notes", [])
        tap.ok(len(notes) == 1 and "PAPI_TOT_INS is not counted" in notes[0] and why in notes[0], f"{how} fails: a note", notes)
        tap.ok(any("perf::TASK-CLOCK" in s.get("counters", {}) for s in shown["sites"]), f"{how} fails: the others are counted")
    own = show(fake(folder, "papi-own", ["--counters", "PAPI_TOT_INS"], os.path.join(PAPI, "libpapi.so.7.2")))["meta"].get("notes", [])
    tap.ok(len(own) == 1 and "the program uses PAPI itself" in own[0], "a program with PAPI is left alone", own)
    later = trace_of(folder, "later", [os.path.join(PAPI, "later"), os.path.join(PAPI, "libpapi.so.7.2")], ["--counters", "PAPI_TOT_INS"],
                     environment={"LD_LIBRARY_PATH": PAPI})
    counters, barrier = show(later)["counters"], [s for s in show("--sites", later)["sites"] if s["function"] == "MPI_Barrier"][0]
    counted = barrier["counters"]["PAPI_TOT_INS"]["count"]
    tap.ok(counters[0].get("ranks_missing") == 1 and "began to use PAPI" in counters[0].get("reason", "") and 100 <= counted < 140,
           "a program that loads PAPI later is left alone from then on", counters, counted)


def check_callgrind(folder):
    """What valgrind counts of a program that computes next to nothing."""
    library, counts = os.path.join(folder, "libpapi.so.7.2"), os.path.join(folder, "counts")
    source = os.path.join(tap.SOURCE, "bench/valgrind_papi.c")
    if not shutil.which("valgrind") or subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-D_GNU_SOURCE", "-I" + tap.SOURCE, "-o", library, source]).returncode != 0:
        tap.skip("what is counted under valgrind", "no valgrind")
        return
    os.mkdir(counts)
    command = ["valgrind", "-q", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", "--callgrind-out-file=" + os.path.join(counts, "%p"), os.path.join(tap.BUILD, "bench/apps/halo2d"), "2"]
    shown = show("--sites", trace_of(folder, "callgrind", command, ["--counters", "PAPI_TOT_INS"], environment={"LD_LIBRARY_PATH": folder, "CALLGRIND_COUNTS": counts}))
    first = [e["counters"]["PAPI_TOT_INS"]["mean"] for s in shown["sites"] for e in s.get("edges", ()) if s["function"] == "MPI_Init" and "counters" in e]
    tap.ok(len(first) == 1 and 0 < first[0] < 50000, "what the tracer does when MPI was initialised is not counted as computation", first)


def check_settings(folder):
    for option in ("--bins=0", "--timing=often", "--timing=full:2", "--counters=PAPI_TOT_INST", "--counters=x", "--mode=lossy:many"):
        done = spoor("run", option, "--", "true")
        tap.ok(done.returncode == 2 and b"expected" in done.stderr, f"{option} is refused", done.stderr)
    bad = 'SLURM_SPOOR_HANDOFF="$SLURM_SPOOR_HANDOFF;bins=0;timing=often;threshold=many;counters=PAPI_TOT_INST" exec "$@"'
    trace = trace_of(folder, "fallback", ["sh", "-c", bad, "sh", KNOWN, "4"], ["--mode", "lossy:9"])
    shown = show("--sites", trace)
    notes = shown["meta"]["notes"]
    tap.ok(len(notes) == 4 and any(n.startswith("bins=0: expected bins from 1 to 64; 8 is used") for n in notes) and
           any("threshold=many" in n and "128 is used" in n for n in notes), "at run time the standard is used, with a note", notes)
    tap.ok(spoor("show", trace).stdout.decode().count("\nNote ") == 4, "show prints the notes")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_full(folder)
        check_rounded(folder)
        check_memory(folder)
        check_kernel(folder)
        check_papi(folder)
        check_callgrind(folder)
        check_settings(folder)
    tap.done()


if __name__ == "__main__":
    main()
