#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# figures - every number of insight/figures.def is the same in show, list, aggregate, CSV, Python, hooks, on the page and in OpenMetrics; an older index is made good
import contextlib
import csv
import html.parser
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
LIBRARY = os.path.join(os.path.abspath(tap.BUILD), ".libs", "libspoor.so.1")
work = tempfile.mkdtemp(prefix="figures.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o755)
os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")


def run(*arguments, **more):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200, check=False, **more)


def spoor(*arguments, **more):
    return run(SPOOR, *arguments, **more).stdout


def printed(what):
    return run(os.path.join(tap.BUILD, "tests", "figures"), what).stdout


# The page, and the table of the manual page, are what the table prints.
with open(os.path.join(tap.SOURCE, "doc/figures.md"), encoding="utf-8") as file:
    tap.ok(file.read() == printed("page"), "doc/figures.md: `tests/figures page` prints it")
with open(os.path.join(tap.SOURCE, "doc/man/aggregate.md"), encoding="utf-8") as file:
    tap.ok(printed("aggregate") in file.read(), "doc/man/aggregate.md: `tests/figures aggregate` prints its table")

COLUMNS = []
for line in printed("names").splitlines():
    key, name, unit, condition, metric, of = line.split()
    COLUMNS.append({"key": key, "json": name, "share": unit == "3", "condition": condition, "metric": metric, "runs": of[0] == "1", "run": of[1] == "1", "calls": of[2] == "1"})
RUN = [c["json"] for c in COLUMNS if c["run"]]
tap.ok(len(RUN) > 20 and len({c["json"] for c in COLUMNS}) == len(COLUMNS) == len({c["key"] for c in COLUMNS}), f"{len(COLUMNS)} figures, {len(RUN)} of a run")

# Synthetic runs, and real traces with the metadata of such runs.
folder = os.path.join(work, "archive")
os.mkdir(folder, 0o755)
golden = os.path.join(tap.SOURCE, "tests/golden")
files = [os.path.join(golden, name) for name in sorted(os.listdir(golden)) if name.endswith(".spoor")]
NOW = int(time.time())
archive.fill(folder, 200 - len(files), 90, 1, NOW)
archive.fill(folder, len(files), 3, 1000, NOW, [archive.chunks_of(path) for path in files])
traces = {name.split(".")[0]: os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".spoor")}


def number(text):
    return None if text in ("", None) else float(text)


def differences(of, got, wanted, names):
    """What is not known must be known nowhere. The same sums come to the same number."""
    return [f"{of}: {name}: {got.get(name)}, not {wanted.get(name)}" for name in names
            if (got.get(name) is None) != (wanted.get(name) is None) or got.get(name) is not None and abs(got[name] - wanted[name]) > 1e-12 * abs(wanted[name])]


answer = json.loads(spoor("aggregate", "--archive", folder, "--by", "job", "--json"))
jobs = {g["job"]: g for g in answer["groups"]}
tap.equal(sorted(jobs), sorted(traces), f"aggregate: {len(traces)} jobs of one trace each")

wrong = []
for job, path in traces.items():
    wrong += differences(job, json.loads(spoor("show", "--json", path)).get("figures", {}), jobs[job], RUN)
tap.equal(wrong, [], "show --json: what the index says")

listed = {row["job"].split(".")[0]: {k: number(v) for k, v in row.items() if k != "job"} for row in
          csv.DictReader(io.StringIO(spoor("list", "--archive", folder, "--csv", "-o", "job," + ",".join(RUN))))}
tap.equal([w for job in jobs for w in differences(job, listed.get(job, {}), jobs[job], RUN)], [], "list --format: the same")
table = spoor("list", "--archive", folder, "-o", "job,wait_share%9").splitlines()
tap.ok(table[0].split() == ["JOB", "WAIT"] and len(table) == 1 + len(jobs) and "%" in table[1], "list: a table of figures", *table[:3])

rows = {row["job"]: {k: number(v) for k, v in row.items() if k in RUN} for row in csv.DictReader(io.StringIO(spoor("aggregate", "--archive", folder, "--by", "job", "--csv")))}
tap.equal([w for job in jobs for w in differences(job, rows.get(job, {}), jobs[job], RUN)], [], "aggregate --csv: the same")

for by in ("function", "site", "user"):
    groups = json.loads(spoor("aggregate", "--archive", folder, "--by", by, "--json", "--sort", "hours"))["groups"]
    wanted = {c["json"] for c in COLUMNS if c["runs" if by == "user" else "calls"]}
    tap.ok(groups and all(wanted <= set(g) for g in groups), f"aggregate --by {by}: all of its figures", wanted - set(groups[0]) if groups else "")
for column in COLUMNS:
    by = "user" if column["runs"] else "function"
    if run(SPOOR, "aggregate", "--archive", folder, "--by", by, "--sort", column["key"], "--csv").returncode:
        tap.ok(False, f"--sort {column['key']}")
text = spoor("aggregate", "--help")
tap.ok(all(re.search(rf"[ \n]{re.escape(c['key'])}[,.]", text) for c in COLUMNS) and max(map(len, text.partition("Keys:")[2].splitlines())) <= 80, "aggregate --help names all keys, in 80 columns", text[-1500:])

# OpenMetrics
text = run(SPOOR, "report", "--archive", folder, "--openmetrics", "-o", "-").stdout
shown = {(name, label): float(value) for name, label, value in re.findall(r'^spoor_(\w+)\{partition="([^"]*)"\} (\S+)$', text, re.MULTILINE)}
groups = json.loads(spoor("aggregate", "--archive", folder, "--by", "partition", "--json"))["groups"]
wrong = [f"{c['metric']} of {g['partition']}" for c in COLUMNS if c["metric"] != "-" for g in groups
         if abs(shown.get((c["metric"], g["partition"]), -1) - (g[c["json"]] or 0)) > 1e-12 * (g[c["json"]] or 0)]
tap.equal((wrong, {name for name, _ in shown} - {c["metric"] for c in COLUMNS}), ([], set()), f"OpenMetrics: {len(shown)} values are those of aggregate")


# The page
class Figures(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if "data-figure" in named and "value" in named:
            self.found[named["data-figure"]] = float(named["value"])


page = Figures(run(SPOOR, "report", "--archive", folder, "-o", "-").stdout).found
total = {name.split("/")[1]: value for name, value in page.items() if name.startswith("total/")}
of_jobs = {(name.split("/")[1], name.split("/")[2]): value for name, value in page.items() if name.startswith("jobs/")}
wrong = differences("total", total, answer["total"], total)
wrong += [w for (job, name), value in of_jobs.items() for w in differences(job, {name: value}, jobs[job], [name])]
tap.ok(not wrong and len(total) > 5 and len(of_jobs) > 10, f"the page: {len(total)} figures of all, {len(of_jobs)} of single jobs", *wrong[:5], len(total), len(of_jobs))

# Python
program = """
import json, sys, spoor
print(json.dumps({path: spoor.open(path).figures for path in sys.argv[1:]}))
"""
environment = dict(os.environ, PYTHONPATH=os.path.join(tap.SOURCE, "python"), SPOOR_LIBRARY=LIBRARY, PYTHONDONTWRITEBYTECODE="1")
if run("/usr/bin/python3", "-c", "import numpy", env=environment).returncode:
    tap.skip("Python", "needs numpy")
else:
    done = run("/usr/bin/python3", "-c", program, *traces.values(), env=environment)
    said = json.loads(done.stdout or "{}")
    named = {"events_lost": "lost"}
    wrong = [w for job, path in traces.items() for w in differences(job, {n: said.get(path, {}).get(n, said.get(path, {}).get(named.get(n))) for n in RUN}, jobs[job], RUN)]
    tap.equal(wrong, [], f"Python: the same {done.stderr[-300:]}")

# Tables for other engines: CSV, and Parquet read back by DuckDB
tables = os.path.join(work, "tables")
os.mkdir(tables)
os.chmod(tables, 0o777)


def like(got, pattern, name):
    tap.ok(re.search(pattern, got), name, got)


def exported(*more, status=0, **environment):
    done = run(SPOOR, "index", "--archive", folder, "--export", tables, *more, env=dict(os.environ, **environment))
    tap.equal(done.returncode, status, f"index --export {' '.join(more)}: {done.stderr}")
    return done.stdout.splitlines()[-1] if done.stdout and not status else done.stderr


def months(table, name):
    return sorted(place for place, _, names in os.walk(os.path.join(tables, table)) if name in names)


like(exported("--csv"), r"tables: \d+ months?, (\d+) of \1 parts written$", "CSV")
like(exported("--csv"), r"months?, 0 of \d+ parts written$", "nothing is written again")
rows = {}
for place in months("jobs", "part.csv"):
    with open(os.path.join(place, "part.csv"), encoding="utf-8") as file:
        rows.update({row["job"]: row for row in csv.DictReader(file)})
wrong = [w for job in jobs for w in differences(job, {n: number(rows.get(job, {}).get(n)) for n in RUN}, jobs[job], RUN)]
tap.equal((wrong[:5], sorted(rows)), ([], sorted(jobs)), f"tables: the same figures, {len(months('jobs', 'part.csv'))} months")
shown = {(g["function"]): g["calls"] for g in json.loads(spoor("aggregate", "--archive", folder, "--by", "function", "--json"))["groups"]}
said = dict.fromkeys(shown, 0)
for place in months("sites", "part.csv"):
    with open(os.path.join(place, "part.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            said[row["function"]] = said.get(row["function"], 0) + int(float(row["calls"]))
tap.equal(said, shown, "tables: call sites add up to the calls of functions")
archive.fill(folder, 1, 1, 5000, NOW)
like(exported("--csv"), r", 2 of \d+ parts written$", "a new trace: its month is written again")
programs = os.path.join(work, "programs")
os.mkdir(programs)
like(exported(status=1, PATH=programs), "duckdb, which is not in PATH; --csv writes CSV", "no DuckDB: says what to do")
node = shutil.which("node") and not run("node", "-e", "require('@duckdb/node-api')").returncode
if node and not shutil.which("duckdb"):
    with open(os.path.join(programs, "duckdb"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nNODE_PATH={os.environ.get('NODE_PATH', '')} exec {shutil.which('node')} {os.path.join(tap.SOURCE, 'tests/duckdb')} \"$@\"\n")
    os.chmod(os.path.join(programs, "duckdb"), 0o755)
duckdb = shutil.which("duckdb", path=programs + ":" + os.environ["PATH"])
if not duckdb:
    tap.skip("Parquet", "needs DuckDB, which Debian does not have: the command, or @duckdb/node-api in NODE_PATH")
else:
    with open(os.path.join(programs, "slow"), "w", encoding="utf-8") as file:
        file.write("JobIDRaw|Account|ElapsedRaw\n" + "".join(f"{job}|of{int(job) % 3}|{int(job) * 2}\n" for job in jobs))
    path = programs + ":" + os.environ["PATH"]
    like(exported(PATH=path), r"(\d+) of \1 parts written$", "Parquet")
    like(exported(PATH=path), r", 0 of \d+ parts written$", "nothing is written again")
    os.unlink(os.path.join(months("sites", "part.parquet")[0], "part.parquet"))
    like(exported(PATH=path), r", 2 of \d+ parts written$", "what is gone is written again")

    def asked(sql):
        done = run(duckdb, "-csv", "-noheader", "-c", sql, cwd=tables)
        return [line.split(",") for line in done.stdout.splitlines()] or done.stderr

    names = ", ".join(f'"{n}"' for n in RUN)
    read = {row[0]: dict(zip(RUN, map(number, row[1:]))) for row in asked(f"SELECT job, {names} FROM 'jobs/*/*.parquet' WHERE job != 5000")}
    wrong = [w for job in jobs for w in differences(job, read.get(job, {}), jobs[job], RUN)]
    tap.equal((wrong[:5], sorted(read)), ([], sorted(jobs)), "Parquet, read by DuckDB: the same figures")
    months_of = {g["month"]: g["traces"] for g in json.loads(spoor("aggregate", "--archive", folder, "--by", "month", "--json"))["groups"]}
    tap.equal({m: int(n) for m, n in asked("SELECT month, count(*) FROM read_parquet('jobs/*/*.parquet', hive_partitioning = true) GROUP BY month")}, months_of, "partitions are months")
    tap.equal(int(asked("SELECT sum(calls)::BIGINT FROM 'sites/*/*.parquet' WHERE job != 5000")[0][0]), sum(shown.values()), "call sites, too")
    joined = asked(f"SELECT a.Account, count(*), sum(a.ElapsedRaw) FROM read_csv('{programs}/slow', delim = '|') a JOIN 'jobs/*/*.parquet' j ON a.JobIDRaw = j.job GROUP BY ALL ORDER BY ALL")
    tap.equal(joined, [[f"of{k}", str(sum(int(j) % 3 == k for j in jobs)), str(sum(2 * int(j) for j in jobs if int(j) % 3 == k))] for k in range(3)], "joined with what sacct prints")
os.unlink(next(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.startswith("5000.")))

# Hooks: a policy may ask for what has a condition.
match = {f"{c['condition']}_min": 0 for c in COLUMNS if c["condition"] != "-"}
policy = os.path.join(work, "policy.json")
with open(policy, "w", encoding="utf-8") as file:
    json.dump({"version": 1, "rules": [], "hooks": [{"name": "all", "match": match, "run": "/bin/true"}]}, file)
done = run(SPOOR, "policy", "check", policy)
tap.ok(done.returncode == 0 and len(match) >= 4, f"hooks: conditions {', '.join(match)}", done.stdout, done.stderr)
done = run(SPOOR, "policy", "explain", "--policy", policy, *(f"{name[:-4]}=1" for name in match))
tap.ok(done.returncode == 0 and "all" in done.stdout, "and facts of these names", done.stdout, done.stderr)

# An index whose table lacks a figure, as that of an older spoor does: it is completed, and all traces are read again.
path = spoor("index", "--path", "--archive", folder).strip()
shutil.copy(path, path + ".good")


def older(*statements):
    with contextlib.closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def rebuilt(title, read, *statements):
    older(*statements)
    done = run(SPOOR, "aggregate", "--archive", folder, "--by", "job", "--json")
    tap.ok(json.loads(done.stdout or "{}") == answer and not done.stderr, f"{title}: the same answers", done.stdout[:300], done.stderr)
    with contextlib.closing(sqlite3.connect(path)) as database:
        versions = database.execute("SELECT DISTINCT version FROM summary").fetchall()
        kept = database.execute("SELECT value FROM about WHERE name = 'kept'").fetchall()
        lacking = database.execute("SELECT count(*) FROM summary WHERE read_bytes IS NULL AND problem IS NULL").fetchone()
    tap.ok(len(versions) == 1 and lacking == (0,) and kept == ([("yes",)] if read else []), f"{title}: completed, not begun anew", versions, kept, lacking)


rebuilt("a figure is missing", True, "INSERT INTO about VALUES ('kept', 'yes')", "ALTER TABLE summary DROP COLUMN read_bytes")
rebuilt("digests of the release before", True, "UPDATE summary SET version = 6", "UPDATE about SET value = 6 WHERE name = 'digest'")
shutil.rmtree(work)
tap.done()
