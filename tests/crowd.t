#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# crowd - a user who leaves very many of everything: what it costs others, and that it does not hide what those have
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
MEMORY, SECONDS = 300 << 20, 10  # SECURITY.md, "The attack matrix"
MANY, SAID = 5000, 10
NOW = int(time.time())
if os.geteuid() != 0:
    tap.skip_all("only root has files of several users")
work = tempfile.mkdtemp(prefix="crowd.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o755)
store = os.path.join(work, "archive")
os.mkdir(store, 0o755)
costs = []  # seconds, MiB, command
CROWD, OTHER = archive.uid(1), archive.uid(2)


def spoor(*arguments):
    """(exit status, what it prints, lines of errors); what it costs is within the limits."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([SPOOR, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=dict(os.environ, SPOOR_PAGER=""),
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        lines = err.read().decode(errors="replace").splitlines()
        cpu = usage.ru_utime + usage.ru_stime
        costs.append((cpu, usage.ru_maxrss >> 10, arguments[0]))
        tap.ok(usage.ru_maxrss << 10 < MEMORY and cpu < SECONDS, f"spoor {' '.join(arguments[:1])}: costs little", f"{usage.ru_maxrss >> 10} MiB, {cpu:.1f} s")
        return process.returncode, out.read().decode(errors="replace"), lines


def damaged(user, count):
    """So many files that are no trace."""
    folder = archive.folder_of(store, NOW, user)
    for i in range(1, count + 1):
        name = os.path.join(folder, f"{i}.0.0.spoor")
        with open(name, "wb") as file:
            file.write(b"no trace")
        os.chown(name, user, 0)


# --- damaged files ---
damaged(CROWD, MANY)
damaged(OTHER, 2)
archive.put(store, 3, NOW, archive.container(archive.metadata(3, NOW), archive.content(3)))
for title, *words in (("index", "index", "--archive", store), ("list", "list", "--archive", store), ("aggregate", "aggregate", "--archive", store),
                      ("prune", "prune", "--archive", store, "--days", "1"), ("page", "report", "--archive", store, "-o", os.path.join(work, "page.html"))):
    status, said, told = spoor(*words)
    tap.ok(len(told) <= SAID + 3, f"{title}: {MANY} damaged files are few lines", len(told), *told[:3])
    if title in ("list", "aggregate"):
        tap.ok(any(str(MANY + 2) in line for line in told), f"{title}: and are counted", *told[-3:])
    if title == "list":
        tap.ok(any(f"/{OTHER}/" in line for line in told), "list: those of another user are named", *told)
        tap.ok("\n" in said and len(said.splitlines()) == 2, "list: and what is good is listed", said)
shutil.rmtree(store)

# --- names ---
os.mkdir(store, 0o755)
for i in range(200):
    job = 1 + archive.USERS * i
    archive.put(store, job, NOW, archive.container(dict(archive.metadata(job, NOW), partition=f"mine {i}"), archive.content(1)))
for job, name in ((2, "theirs"), (archive.USERS + 2, "theirs"), (2 * archive.USERS + 2, "x\x01"), (3 * archive.USERS + 2, "x\x02")):
    archive.put(store, job, NOW, archive.container(dict(archive.metadata(job, NOW), partition=name), archive.content(1)))
file = os.path.join(work, "spoor.prom")
status, _, told = spoor("report", "--archive", store, "--openmetrics", "-o", file)
with open(file, encoding="utf-8") as opened:
    text = opened.read()
jobs = dict(re.findall(r'^spoor_jobs\{partition="(.*)"\} (\S+)$', text, re.MULTILINE))
samples = re.findall(r"^(spoor_\w+\{.*\}) ", text, re.MULTILINE)
tap.ok(status == 0 and 10 < len(jobs) <= 51, "metrics: 203 partitions are few labels", status, len(jobs), *told)
tap.equal((jobs.get("theirs"), sum(map(float, jobs.values()))), ("2", 204), "metrics: a partition of another user is one of them, and all jobs are counted")
tap.equal(len(samples), len(set(samples)), "metrics: no label is there twice")
shutil.rmtree(store)

# --- claims: of size, and of very many kinds of work ---
os.mkdir(store, 0o755)


def put(job, **claims):
    archive.put(store, job, NOW, archive.container(dict(archive.metadata(job, NOW), **claims), archive.content(1)))


def rows(by):
    """What is told of each, by its name; and that all numbers are numbers."""
    status, said, _ = spoor("aggregate", "--archive", store, "--by", by, "--json")
    found = {row[by]: row for row in json.loads(said, parse_constant=lambda word: tap.ok(False, f"aggregate --by {by}: {word} is no number"))["groups"]} if status == 0 else {}
    return found


for i in range(1, 6):
    put(2 + archive.USERS * i, exe="/opt/theirs")
theirs = {by: rows(by) for by in ("user", "application")}
put(1, nodes=2**62, ranks=2**31 - 1, start_ns=1, end_ns=2**63 - 1, elapsed=1e300, exe="/home/mine")
put(1 + archive.USERS, nodes=-2**63, ranks=-1, start_ns=2**63 - 1, end_ns=-2**63, elapsed=-1e300, exe="/home/mine")
for by, before in theirs.items():
    after = rows(by)
    tap.equal({name: after.get(name) for name in before}, before, f"claims of 2^62 nodes and 292 years: by {by} nothing of another's differs")
for i in range(2, 2002):
    put(1 + archive.USERS * i, account=f"mine {i}", exe=f"/home/mine/{i}", job_name=f"mine {i}")
page = os.path.join(work, "page.html")
status, _, told = spoor("report", "--archive", store, "-o", page)
tap.ok(status == 0 and os.path.getsize(page) < 1 << 20, "page: 2,000 applications of one user are few lines", status, os.path.exists(page) and os.path.getsize(page), *told)
with open(page, encoding="utf-8") as opened:
    tap.ok("theirs" in opened.read(), "page: and another's is there")
status, said, told = spoor("trend", "--archive", store)
tap.ok(status == 0 and len(said.splitlines()) < 200 and len(told) < 10, "trend: 2,000 applications of one user are few lines", status, len(said.splitlines()), *told)
print(f"# {len(costs)} commands: at most {max(costs)[0]:.2f} s of processor time (spoor {max(costs)[2]}), {max(c[1] for c in costs)} MiB")
shutil.rmtree(work)
tap.done()
