# SPDX-License-Identifier: BSD-3-Clause
"""invariants - what must hold among the figures of any trace, whatever it gave up (doc/activity.md, "Times")

    invariants.wrong("x.spoor")      a list of what does not, in words; empty if all does

`spoor verify` checks the same of the trace itself; here it is what people are shown.
"""
import json
import subprocess

import launch


def shown(trace, *options):
    return json.loads(subprocess.run([launch.spoor(), "show", "--json", *options, trace], stdout=subprocess.PIPE, check=True).stdout)


def near(a, b, share=0.01):
    """Sums and extremes are rounded, each for itself, where a trace is written."""
    return abs(a - b) <= share * max(abs(a), abs(b)) + 100


def wrong(trace):
    show, sites = shown(trace), shown(trace, "--sites")["sites"]
    s, functions, said = show["summary"], show["functions"], []

    def must(condition, *words):
        if not condition:
            said.append(" ".join(str(w) for w in words))

    starts = ("MPI_Init", "MPI_Init_thread")
    by_function = sum(f["time_ns"] + f.get("unended_ns", 0) for f in functions if f["function"] not in starts)
    by_site = sum(x["time_ns"] + x.get("unended_ns", 0) for x in sites if x["function"] not in starts)
    must(by_function == by_site == s["mpi_ns"], "time in MPI: functions", by_function, "sites", by_site, "summary", s["mpi_ns"])
    calls = sum(x["calls"] for x in sites)
    must(calls == show["events"] + show["events_lost"], "calls: sites", calls, "events", show["events"], "only counted", show["events_lost"])
    must(near(s["mpi_ns"] + s["compute_ns"], s["elapsed_ns"]), "run time", s["elapsed_ns"], "is not MPI", s["mpi_ns"], "and computation", s["compute_ns"])
    must((show["mpi_ns"], show["compute_ns"]) == (s["mpi_ns"], s["compute_ns"]), "the same figure twice, and different")
    must(s["unplaced_ns"] <= s["compute_ns"], "more computation without a place than there is")

    parts = sum(s[k] for k in ("mpi_ns", "compute_ns", "init_ns", "overhead_ns", "unended_compute_ns"))
    must(parts <= s["all_ns"], "parts of the time", parts, "of", s["all_ns"])
    must(s["init_ns"] == sum(f["time_ns"] for f in functions if f["function"] in starts), "MPI_Init", s["init_ns"], functions)
    unended = {what: sum(x.get("unended_ns", 0) for x in of) for what, of in (("functions", functions), ("sites", sites))}
    unended["list"] = sum(x["sum_ns"] for x in show["unended"] if x["call"])
    must(set(unended.values()) == {s["unended_ns"]}, "calls that never ended", unended, "summary", s["unended_ns"])
    must(s["unended_compute_ns"] == sum(x["sum_ns"] for x in show["unended"] if not x["call"]), "computation that never ended", show["unended"])
    must(all(x["min_ns"] <= x["sum_ns"] / x["count"] <= x["max_ns"] for x in show["unended"]), "their means", show["unended"])
    shares = [f["share_ppm"] for f in functions]
    must(all(0 <= x <= 1e6 for x in shares), "shares of functions", shares)
    together = sum(shares) + 1e6 * (s["compute_ns"] + s["overhead_ns"] + s["unended_ns"] + s["unended_compute_ns"]) / max(1, s["all_ns"])
    must(together <= 1e6 + 100, "all shares together", together)
    shares = [x["share"] for x in show["balance"]]
    must(all(0 <= x <= 1 for x in shares) and sum(shares) <= 1.0001, "shares of sites", shares)
    for name in ("load_balance", "communication_efficiency", "parallel_efficiency"):
        must(s[name] is None or 0 <= s[name] <= 1.01, name, s[name])

    ranks = show["rank_totals"]
    if ranks:
        mean = s["compute_ns"] / len(ranks)
        must(s["compute_min_ns"] * 0.99 - 100 <= mean <= s["compute_max_ns"] * 1.01 + 100, "mean computation", mean, "least", s["compute_min_ns"], "most", s["compute_max_ns"])
        for r in ranks:
            must(r["compute_ns"] <= r["elapsed_ns"] + max(x["elapsed_ns"] for x in ranks) / 16 + 1000, "rank", r["rank"], "computes longer than it runs", r)  # 1/32 of the range, twice
    told = json.loads(subprocess.run([launch.spoor(), "why", "--json", "--least", "0", trace], stdout=subprocess.PIPE, check=True).stdout)["steps"][0]["findings"]
    lost, all_lost = sum(f.get("lost_ns", 0) for f in told), s["run_ns"] * len(ranks) - s["compute_ns"]
    if ranks and any("lost_ns" in f for f in told):
        must(all(f.get("lost_ns", 0) >= 0 and 0 <= f["share"] <= 1 for f in told), "causes", told)
        must(lost <= 1.01 * all_lost + 1000, "causes cost", lost, "of what is no computation", all_lost)
        # a rank may have waited for another one's tracer, whose time is in no sum
        must(lost >= 0.9 * all_lost - 1e6 - s["overhead_ns"] or s["unended_ns"] or show["meta"].get("partial"), "causes cost only", lost, "of what is no computation", all_lost)
    for x in sites:
        time = x["communicate"]
        if time["count"]:
            must(time["min_ns"] * 0.99 - 100 <= time["mean_ns"] <= time["max_ns"] * 1.01 + 100, "site", x["site"], "mean", time["mean_ns"], "of", time["min_ns"], time["max_ns"])
        if "imbalance" in x and not show.get("threads"):  # then they are of threads
            must(x["least_ns"] * 0.99 - 100 <= x["time_ns"] / x["ranks"] <= x["most_ns"] * 1.01 + 100 or show["meta"].get("partial"), "site", x["site"], "ranks", x["least_ns"], x["most_ns"])
        must(time["max_ns"] <= time["sum_ns"], "site", x["site"], "longest", time["max_ns"], "of", time["sum_ns"])
        must("most_ns" not in x or time["max_ns"] <= x["most_ns"], "site", x["site"], "longest", time["max_ns"], "most of a rank", x.get("most_ns"))
    matrix = shown(trace, "--matrix")
    if not matrix["matrix_unordered"] and not s["messages_unsized"]:
        cells = sum(c[2] for c in matrix["matrix"]) + matrix["matrix_other_messages"]
        must(cells == s["messages"], "messages: matrix", cells, "summary", s["messages"])
    passed = sum(f["bytes"] for f in functions)
    parts = s["bytes"] + s["one_sided"]["bytes"] + s["read"]["bytes"] + s["written"]["bytes"]
    must(parts <= passed, "bytes: parts", parts, "of", passed)
    return said
