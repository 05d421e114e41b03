# SPDX-License-Identifier: BSD-3-Clause
"""kinds - what is said of the jobs of tests/kinds.t in all places: the same (a line `ok TITLE` or `bad TITLE` each; why, on stderr)

    kinds.py STATES       a file with `JOB STATE` of Slurm a line
"""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import invariants  # noqa: E402

LATER = ("ending", "shared-cores", "tracing", "counted", "unplaced", "site")  # said behind what cost time, or ended the run
# what is planted -> which causes may come first; the machine may add its own
PLANTED = {"imbalance": {"imbalance"}, "half": {"imbalance"}, "slow": {"imbalance"}, "serial": {"serial"}, "writer": {"serial"}, "master": {"serial"},
           "decide": {"serial", "imbalance"}, "small": {"small-messages"}, "requests": {"small-messages"}, "pipeline": {"serialised"}, "turns": {"serialised"},
           "moving": {"imbalance-moving"}, "noise": {"imbalance-moving"}, "transfer": {"transfer"}, "barriers": {"synchronisation"},
           "signal": {"crashed"}, "leave": {"left"}, "exit": {"left"}, "abort": {"aborted"}, "truncate": {"mpi-error"}, "returned": {"mpi-error"},
           "sends": {"deadlock"}, "receives": {"deadlock"}, "different": {"mismatch"}, "limit": {"time-limit", "gone"}, "cancelled": {"cancelled", "gone"}}
MACHINE = {"busy-cores", "imbalance-moving", "efficient", "synchronisation"}  # where there are fewer cores than ranks
ENDS = ("signal", "leave", "exit", "abort", "truncate", "returned", "sends", "receives", "different", "limit", "cancelled")


def spoor(*arguments):
    done = subprocess.run(["spoor", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout


def told(title, problems):
    print("bad" if problems else "ok", title)
    for p in problems:
        print(f"{title}: {p}", file=sys.stderr)


def first(findings):
    return next((f["finding"] for f in findings if f["finding"] not in LATER), None)


def of_steps(rows):
    """A job of several steps: which one cost most, and what all lost."""
    jobs = {row["job"].split(".")[0] for row in rows if row["name"] == "steps"}
    said = []
    for job in jobs:
        told = json.loads(spoor("why", "--json", "--least", "0", job) or "{}")
        every, steps = told.get("all", {}), told.get("steps", [])
        lost = sum(x["ns"] for x in every.get("lost", {}).values())
        parts = sum(f.get("lost_ns", 0) for s in steps for f in s["findings"])
        longest = max((s["all_ns"], s["meta"]["step"]) for s in steps)[1] if steps else None
        if len(steps) != 3 or every["steps"] != 3 or abs(lost - every["lost_ns"]) > 100 or not 0.95 * lost <= parts <= 1.01 * lost:
            said.append((job, len(steps), every, parts))
        if every.get("dearest", "").split(".")[1:2] != [str(longest)] and every.get("part", 0) > 0.4:
            said.append((job, every, longest))
        if "All steps" not in spoor("why", job):
            said.append(spoor("why", job))
    return said if len(jobs) == 1 else [jobs]


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        states = dict(line.split() for line in f)
    rows = list(csv.DictReader(io.StringIO(spoor("list", "--csv", "-o", "job,name,state,reason,elapsed,mpi_share,wait_share,node_hours,mpi_node_hours,wait_node_hours,unended_node_hours"))))
    paths = {}
    for line in spoor("list", "--json").splitlines():
        one = json.loads(line)
        paths[one["name"]] = one["path"]
    problems = collections.defaultdict(list)
    causes = collections.Counter()
    for row in rows:
        job, name, cause = row["job"], row["name"], row["reason"].split(":")[0]
        causes[cause] += 1
        number = job.split(".")[0]
        if row["state"] != states.get(number) and name != "steps":
            problems["states are Slurm's"].append((job, name, row["state"], states[number]))
        share = [float(row[k] or 0) for k in ("wait_share", "mpi_share")]
        hours = [float(row[k] or 0) for k in ("unended_node_hours", "wait_node_hours", "mpi_node_hours", "node_hours")]
        if not share[0] <= share[1] + 1e-3 <= 1.002 or any(a > b * 1.001 + 1e-6 for a, b in zip(hours, hours[1:])):
            problems["list: what never ended <= waiting <= MPI <= all"].append((job, name, share, hours))
        path = paths[job]
        step = json.loads(spoor("why", "--json", path) or '{"steps": [{"findings": []}]}')["steps"][0]
        found = first(step["findings"])
        if found != cause and not (found is None and (cause in ("efficient", "unknown") or step["mark"] != "good")):
            problems["the list names the cause that why names first"].append((job, name, cause, found))
        kind = name.replace("mpirun-", "")
        also = MACHINE if kind not in ENDS else {"left"} if name == "mpirun-signal" else set()  # what a script starts has no exit code
        if kind in PLANTED and cause not in PLANTED[kind] | also:
            problems["which is the one that is planted"].append((job, name, cause, step["verdict"], [f["text"] for f in step["findings"]][:2]))
        text = spoor("why", path)
        if re.search(r"Slow, not stuck", text):
            problems["nothing that has ended is slow"].append((job, name, text))
        problems["figures of each trace agree"] += [(job, name, p) for p in invariants.wrong(path)]
    aggregate = json.loads(spoor("aggregate", "--json"))
    total = aggregate.get("total", aggregate)
    if {k: v for k, v in causes.items() if k} != total["causes"]:
        problems["sums count the same causes"].append((dict(causes), total["causes"]))
    metrics = spoor("report", "--archive", "--openmetrics", "-o", "-")
    counted = collections.Counter()
    for m in re.finditer(r'^spoor_cause_traces\{partition="[^"]*",cause="([^"]+)"\} (\d+)$', metrics, re.M):
        counted[m[1]] += int(m[2])
    if counted != causes:
        problems["and so do metrics"].append((dict(causes), dict(counted)))
    for name in set(re.findall(r'partition="([^"]*)"', metrics)):
        value = {k: float(m[1]) for k in ("unended_node_hours", "wait_node_hours", "mpi_node_hours", "node_hours")
                 if (m := re.search(rf'^spoor_{k}\{{partition="{re.escape(name)}"\}} (\S+)$', metrics, re.M))}
        hours = list(value.values())
        if any(a > b * 1.001 for a, b in zip(hours, hours[1:])) or len(hours) < 4:
            problems["metrics: what never ended <= waiting <= MPI <= all"].append((name, value))
    for by in ("user", "partition", "executable", "job", "node"):
        for g in json.loads(spoor("aggregate", "--json", "--by", by)).get("groups", []):
            hours = [g[k] or 0 for k in ("unended_node_hours", "wait_node_hours", "mpi_node_hours", "node_hours")]
            if any(a > b * 1.001 + 1e-6 for a, b in zip(hours, hours[1:])):
                problems["sums: what never ended <= waiting <= MPI <= all"].append((by, hours))
    problems["a job of several steps adds up"] = of_steps(rows)
    for title in ("a job of several steps adds up", "states are Slurm's", "list: what never ended <= waiting <= MPI <= all", "the list names the cause that why names first",
                  "which is the one that is planted", "nothing that has ended is slow", "figures of each trace agree", "sums count the same causes", "and so do metrics",
                  "metrics: what never ended <= waiting <= MPI <= all", "sums: what never ended <= waiting <= MPI <= all"):
        told(f"{title} ({len(rows)} traces)", problems[title])


if __name__ == "__main__":
    main()
