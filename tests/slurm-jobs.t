#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# slurm-jobs - in the site's index, account, partition and QoS are what slurmdbd says of the job and its user, whatever traces claim
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import tap  # noqa: E402

if os.geteuid() != 0:
    tap.skip_all("the site's index is root's")
SPOOR = os.path.join(tap.BUILD, "spoor")
NOW = int(time.time())
work = tempfile.mkdtemp(prefix="slurm-jobs.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o755)
store, tools = os.path.join(work, "archive"), os.path.join(work, "bin")
os.mkdir(tools, 0o755)
os.mkdir(store, 0o755)
archive.fill(store, 40, 3, 1, NOW)
VICTIM, MALLORY = 5, 6  # jobs

# It answers with the lines of $work/answer for the jobs that it is asked for.
open(os.path.join(work, "asked"), "w", encoding="utf-8").close()
os.chmod(os.path.join(work, "asked"), 0o666)
with open(os.path.join(tools, "sacct"), "w", encoding="utf-8") as file:
    file.write(f"""#!/bin/sh
for a; do case $a in --jobs=*) jobs=${{a#--jobs=}} ;; esac; done
echo "$jobs" >>{work}/asked
test -e {work}/answer || {{ echo "Slurm accounting storage is disabled" >&2; exit 1; }}
echo "$jobs" | tr , '\\n' | while read -r job; do grep "^$job|" {work}/answer; done
exit 0
""")
os.chmod(os.path.join(tools, "sacct"), 0o755)


def answer(lines):
    with open(os.path.join(work, "answer"), "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    os.chmod(os.path.join(work, "answer"), 0o644)


def slurm(job):
    return f"{job}|synthetic|{archive.uid(job)}|s{job % 3}|part{job % 2}|normal"


def asked():
    """The jobs of each question so far."""
    with open(os.path.join(work, "asked"), encoding="utf-8") as file:
        return [sorted(map(int, line.split(","))) for line in file if line.strip()]


def spoor(*arguments, **more):
    return subprocess.run([SPOOR, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100, check=False,
                          env={"PATH": tools + ":" + os.environ["PATH"], "HOME": "/nonexistent"}, **more)


def metadata(*arguments):
    run = spoor("list", "--archive", store, "--json", *arguments)
    return {m["name"] + " " + str(m["uid"]): m for m in map(json.loads, run.stdout.splitlines())}


def accounts():
    """Traces by account, as they are added up."""
    run = spoor("aggregate", "--archive", store, "--by", "account", "--json")
    return {row["account"]: row["traces"] for row in json.loads(run.stdout)["groups"]}


def wanted(count, key):
    return dict(collections.Counter(key(j) for j in range(1, count + 1)))


def put(job, who, name=None, **facts):
    """A trace in the folder of a user."""
    folder = os.path.join(store, time.strftime("%Y/%m/%d", time.gmtime(NOW)), str(who))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{name or job}.0.9.spoor")
    with open(path, "wb") as file:
        file.write(archive.container({**archive.metadata(job, NOW), "uid": who, **facts}, archive.content(job)))
    os.chown(folder, who, who)
    os.chown(path, who, who)
    os.chmod(path, 0o444)


run = spoor("index", "--archive", store)
tap.ok(run.returncode == 0, "nobody answers", run.stdout, run.stderr)
tap.equal(accounts(), wanted(40, lambda j: f"a{j % 7}"), "then accounts are what traces claim")
tap.ok("claimed_account" not in metadata()[f"1.0.0 {archive.uid(1)}"], "and nothing is called a claim")

answer(slurm(j) for j in range(1, 41))
before = len(asked())
run = spoor("index", "--archive", store)
tap.equal((run.returncode, asked()[before:]), (0, [list(range(1, 41))]), "slurmdbd answers: one question for all jobs")
tap.equal(accounts(), wanted(40, lambda j: f"s{j % 3}"), "accounts are added up as Slurm has them")
one = metadata()[f"8.0.0 {archive.uid(8)}"]
tap.equal((one["account"], one["partition"], one["qos"], one["claimed_account"], one["claimed_partition"]),
          ("s2", "part0", "normal", "a1", archive.metadata(8, NOW)["partition"]), "list --json: what the trace says is a claim")
tap.equal((len(metadata("--account", "a1")), len(metadata("--account", "s2", "--partition", "part0", "--qos", "normal"))),
          (0, len([j for j in range(1, 41) if j % 3 == 2 and j % 2 == 0])), "list --account, --partition, --qos: Slurm's")
spoor("index", "--archive", store, "--full")
spoor("list", "--archive", store)
tap.equal(len(asked()), before + 1, "what is known is not asked for again")

# Hooks by account; from the first time on, for what comes then.
policy = os.path.join(work, "policy.json")
for name in ("s0", "forged3", "forged1"):
    with open(os.path.join(work, name), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncat >>{work}/hook.{name}\n")
    os.chmod(os.path.join(work, name), 0o755)
    open(os.path.join(work, "hook." + name), "w", encoding="utf-8").close()
    os.chmod(os.path.join(work, "hook." + name), 0o666)
with open(policy, "w", encoding="utf-8") as file:
    json.dump({"version": 1, "archive": store, "spool": "/nonexistent", "mode": "off", "rules": [],
               "hooks": [{"name": n, "match": {"account": n}, "run": os.path.join(work, n)} for n in ("s0", "forged3", "forged1")]}, file)
os.mkdir(os.path.join(work, "state"), 0o755)


def run_hooks():
    return subprocess.run([SPOOR, "index", "--hooks", "--state", os.path.join(work, "state", "hooks")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": tools + ":" + os.environ["PATH"], "HOME": "/nonexistent", "SPOOR_POLICY": policy}, text=True, timeout=100, check=False)


run = run_hooks()
tap.ok(run.returncode == 0, "hooks begin", run.stdout)

# Mallory's: a trace of somebody else's job, of a job that Slurm does not know, of another cluster, of no job, and of the own job with another account.
me = archive.uid(MALLORY)
put(VICTIM, me, account="forged1")
put(4711, me, account="forged2")
put(MALLORY, me, account="forged3")
put(7, me, cluster="elsewhere", account="forged4")
run = spoor("index", "--archive", store)
sums = accounts()
tap.equal((run.returncode, {k: v for k, v in sums.items() if str(k).startswith("forged")}), (0, {}), "no forged account is added to")
tap.equal((sums["s0"], sums["s2"]), (wanted(40, lambda j: j % 3)[0] + 1, wanted(40, lambda j: j % 3)[2]), "those of one's own jobs are, to Slurm's account")
told = metadata("--user", archive.user(MALLORY))
tap.equal({name.split(".")[0]: (m.get("account"), m["claimed_account"]) for name, m in told.items() if ".0.9" in name},
          {"5": (None, "forged1"), "4711": (None, "forged2"), "6": ("s0", "forged3"), "7": (None, "forged4")}, "each is mallory's, with a claim")
os.unlink(os.path.join(work, "answer"))
put(4712, me, account="forged5")
tap.equal({k: v for k, v in accounts().items() if str(k).startswith("forged")}, {}, "nor while slurmdbd does not answer")
tap.equal(len(metadata("--job", "4712")), 1, "the trace is listed")

# What hooks ask for.
run = run_hooks()
sizes = {n: os.path.getsize(os.path.join(work, "hook." + n)) for n in ("s0", "forged3", "forged1")}
tap.ok(sizes["s0"] and not sizes["forged3"] and not sizes["forged1"], "hooks: Slurm's account counts", run.stdout, sizes)
tap.done()
