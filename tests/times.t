#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""times.t - times in the trace are those that the program measured itself, on whatever machine"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

RANKS, STEPS = 3, 60
PROGRAM = os.path.join(tap.BUILD, "tests/programs/known")


def close(a, b, relative=0.02, absolute=0):
    return abs(a - b) <= relative * abs(b) + absolute


def measured(out):
    ranks = {}
    for line in out.decode().splitlines():
        words = line.split()
        if len(words) == 13 and words[2] == "steady":
            n = [int(w) for i, w in enumerate(words) if i not in (2, 6)]
            ranks[n[0]] = dict(steady=dict(min=n[2], max=n[3], sum=n[4]), bimodal=dict(min=n[5], max=n[6], sum=n[7], long=n[8]),
                               compute=n[9], run=n[10])
    return ranks


def show(*arguments):
    return json.loads(subprocess.run([launch.spoor(), "show", "--json", *arguments], check=True, stdout=subprocess.PIPE).stdout)


def extremes(trace_edge, ranks, path):
    """Are minimum and maximum those that the program measured?"""
    low, high = min(m[path]["min"] for m in ranks.values()), max(m[path]["max"] for m in ranks.values())
    return close(trace_edge["compute"]["min_ns"], low) and close(trace_edge["compute"]["max_ns"], high)


def run_known(trace):
    """Runs the program: how it ended, what it measured, what the trace says, and the edges between its two calls."""
    done = launch.mpirun(RANKS, [PROGRAM, str(STEPS)], before=[launch.spoor(), "run", "-f", "-o", trace, "--"])
    ranks = measured(done.stdout)
    if done.returncode != 0 or len(ranks) != RANKS:
        return done, ranks, None, None
    shown = show("--sites", trace)
    numbers = [s["site"] for s in shown["sites"] if s["function"] == "MPI_Allreduce"]
    between = [e for s in shown["sites"] if s["site"] in numbers for e in s["edges"] if e["to"] in numbers and e["to"] != s["site"]]
    return done, ranks, shown, between


def check_path(trace_edge, ranks, path):
    got, values = trace_edge["compute"], [(rank, m[path]) for rank, m in sorted(ranks.items())]
    total = sum(v["sum"] for _, v in values)
    count = got["count"]
    tap.ok(close(got["sum_ns"], total), f"{path}: the mean is within 2 %", f"{got['sum_ns'] / count} {total / count}")
    low, high = min(v["min"] for _, v in values), max(v["max"] for _, v in values)
    tap.ok(extremes(trace_edge, ranks, path), f"{path}: minimum and maximum", got, low, high)
    # the ranks that have extremes; two ranks may be so close that the clock cannot tell
    fastest = [r for r, v in values if close(v["min"], low)]
    slowest = [r for r, v in values if close(v["max"], high)]
    tap.ok(got["min_rank"] in fastest and got["max_rank"] in slowest, f"{path}: ranks of minimum and maximum", got, values)
    bins = got["bins"]
    tap.ok(sum(b["count"] for b in bins) == count and all(b["min_ns"] <= b["mean_ns"] <= b["max_ns"] for b in bins),
           f"{path}: all values are in bins", bins)
    return bins


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "known.spoor")
        for _ in range(5):  # another process may come between the program's look at the clock and the tracer's: then once more
            done, ranks, shown, between = run_known(trace)
            if not between or extremes(max(between, key=lambda e: e["compute"]["count"]), ranks, "bimodal"):
                break
        if not tap.ok(done.returncode == 0 and len(ranks) == RANKS, "the program ran", done.stderr.decode(errors="replace")):
            tap.done()
        reduces = [s for s in shown["sites"] if s["function"] == "MPI_Allreduce"]
        tap.equal(len(reduces), 2, "two paths into one call are two sites")
        numbers = [s["site"] for s in reduces]
        edges = {(s["site"], e["to"]): e for s in shown["sites"] for e in s["edges"]}
        between.sort(key=lambda e: -e["compute"]["count"])  # the bimodal one comes in each step, the steady one between steps, too
        bimodal, steady = between
        tap.ok(bimodal["compute"]["count"] == RANKS * STEPS and steady["compute"]["count"] == RANKS * (STEPS - 1), "how often each was gone through",
               [e["compute"]["count"] for e in between])
        bins = check_path(bimodal, ranks, "bimodal")
        longer = sum(m["bimodal"]["long"] for m in ranks.values())
        found = sum(b["count"] for b in bins if b["mean_ns"] > 1500000)
        unclear = sum(b["count"] for b in bins if b["min_ns"] <= 1500000 <= b["max_ns"])  # on a busy machine there are values in the middle
        tap.ok(abs(found - longer) <= 2 + unclear, "bimodal: the right bins", f"{found} {longer}", bins)
        # the first of the steady computations follows the barrier
        steady_sum = sum(m["steady"]["sum"] for m in ranks.values())
        first = [e for (a, b), e in edges.items() if b in numbers and a not in numbers]
        tap.ok(len(first) == 1 and first[0]["compute"]["count"] == RANKS and
               close(steady["compute"]["sum_ns"] + first[0]["compute"]["sum_ns"], steady_sum), "steady: the mean is within 2 %", first, steady_sum)
        tap.ok(bimodal["compute"]["mean_ns"] != steady["compute"]["mean_ns"], "the two paths have distributions of their own")

        other = reader.Trace(trace)
        differ = []
        for s in shown["sites"]:
            mine = other.times[s["site"]]
            for a, b in [(s["communicate"], mine["time"])] + [(e["compute"], mine["edges"][e["to"]]) for e in s["edges"]]:
                if a["count"] != b["count"] or a["count"] and any(a[x] != b[y] for x, y in (("sum_ns", "sum"), ("min_ns", "min"), ("max_ns", "max"),
                                                                                            ("min_rank", "min_rank"), ("min_visit", "min_visit"))):
                    differ.append((a, b))
                elif len(b["bins"]) > 1 and any(x["count"] != y[0] or abs(x["mean_ns"] - y[3]) > 1 for x, y in zip(a["bins"], b["bins"])):
                    differ.append((a, b))
        tap.ok(not differ, "the independent reader finds the same histograms", differ[:1])

        def dump(*arguments):
            return subprocess.run([launch.spoor(), "dump", trace, "--rank", "1", *arguments], check=True, stdout=subprocess.PIPE).stdout

        whole, run = dump().splitlines(), ranks[1]["run"] / 1e9
        parts = [dump("--at", f"{show(trace)['summary']['run_ns'] * i / 4e9 + 0.0:.6f}s").splitlines() for i in range(5)]
        tap.ok(all(p and p == whole[-len(p):] for p in parts) and len(parts[0]) == len(whole), "dump --at begins in the middle",
               [p[:1] for p in parts])
        at = show("--at", f"{run / 2:.3f}s", trace)["at"]
        tap.equal(sorted(r for p in at for r in p["ranks"]), list(range(RANKS)), "show --at has every rank once")
        tap.equal(subprocess.run([launch.spoor(), "show", "--at", "noon", trace], stderr=subprocess.DEVNULL).returncode, 2, "a time that is none is refused")

        s = show(trace)["summary"]
        compute, run = [ranks[r]["compute"] for r in range(RANKS)], max(m["run"] for m in ranks.values())
        balance, communication = sum(compute) / RANKS / max(compute), max(compute) / run
        tap.ok(close(s["compute_ns"], sum(compute)), "computation of all ranks", s, compute)
        tap.ok(close(s["compute_max_ns"], max(compute)), "and the most of a rank", s, compute)
        tap.ok(compute[s["compute_max_rank"]] >= 0.98 * max(compute), "which has the right number", s, compute)
        tap.ok(close(s["run_ns"], run), "time of the run", s, run)
        tap.ok(close(s["load_balance"], balance), "load balance within 2 %", s["load_balance"], balance)
        tap.ok(close(s["communication_efficiency"], communication), "communication efficiency within 2 %", s["communication_efficiency"], communication)
        tap.ok(close(s["parallel_efficiency"], balance * communication), "parallel efficiency within 2 %", s["parallel_efficiency"],
               balance * communication)
        tap.ok(0 < s["overhead_ns"] < 0.02 * RANKS * run, "the tracer's own time is known", s["overhead_ns"])
        own = {r["rank"]: r.get("overhead_ns", -1) for r in show(trace)["rank_totals"]}
        tap.ok(sorted(own) == list(range(RANKS)) and all(s["overhead_min_ns"] <= n <= s["overhead_max_ns"] for n in own.values()) and
               own[s["overhead_min_rank"]] == s["overhead_min_ns"] and own[s["overhead_max_rank"]] == s["overhead_max_ns"], "of each rank, and who had least and most", own, s)

        # Reading a counter takes a thousand times as long as what this program computes between its calls.
        trace = os.path.join(folder, "own.spoor")
        done = launch.mpirun(1, [os.path.join(tap.BUILD, "bench/cost"), "20000", "comm-rank"],
                             before=[launch.spoor(), "run", "--counters", "perf::TASK-CLOCK", "-o", trace, "--"])
        if tap.ok(done.returncode == 0, "a program that does nothing between its calls ran", done.stderr.decode(errors="replace")[-500:]):
            edges = [e["compute"] for s in show("--sites", trace)["sites"] if s["function"] == "MPI_Comm_rank" for e in s["edges"]]
            most = max((b for e in edges for b in e["bins"]), key=lambda b: b["count"])
            own = show(trace)["summary"]["overhead_ns"] / show(trace)["events"]
            tap.ok(most["mean_ns"] < own / 2, "what it computed is free of the tracer's own time", most, own)
    tap.done()


if __name__ == "__main__":
    main()
