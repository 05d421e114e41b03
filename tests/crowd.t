#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# crowd - a user who leaves very many of everything: what it costs others, and that it does not hide what those have
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
shutil.rmtree(work)
tap.done()
