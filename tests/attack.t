#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# attack - what one user can do to others by what they put into an archive: nothing; and what it costs whoever reads it (SECURITY.md, the attack matrix)
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
import launch  # noqa: E402
import tap  # noqa: E402

if os.geteuid() != 0:
    tap.skip_all("root must be there, and two users")
ALICE, MALLORY, ADMINS = 61001, 61002, 61100
SPOOR, HELPER = os.path.join(tap.BUILD, "spoor"), os.path.join(tap.BUILD, "spoor-helper")
work = tempfile.mkdtemp(prefix="attack.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o711)
store = os.path.join(work, "archive")
os.mkdir(store, 0o755)
os.mkdir(os.path.join(store, ".index"))  # as `spoor setup` makes it for the admin group
os.chown(os.path.join(store, ".index"), 0, ADMINS)
os.chmod(os.path.join(store, ".index"), 0o2770)
NOW = int(time.time())
DAY = os.path.join(store, time.strftime("%Y/%m/%d", time.gmtime(NOW)))
# What a reader of an archive may use. Address space is more than memory: SQLite's cache, threads' stacks.
SECONDS, BYTES = 10, 300 << 20


def run(user, *command, limits=False, text=None, **more):
    """As a user (0: root) with nothing of root's but the number of the process."""
    def before():
        if limits:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
    return subprocess.run(command, preexec_fn=before, input=text, stdin=None if text is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=250, env={"HOME": "/nonexistent", "PATH": os.environ["PATH"], "SPOOR_ARCHIVE": store}, **more)


def attempt(*command):
    """Mallory tries."""
    return run(MALLORY, *command).returncode == 0


def names(user, *arguments):
    return sorted((m["name"], m["user"], m["uid"]) for m in map(json.loads, run(user, SPOOR, "list", "--json", *arguments).stdout.splitlines()))


def make_day(user):
    done = run(0, HELPER, "day", text=f"archive={store}\nwhen={NOW}\ngroup={ADMINS}\nuid={user}\n")
    tap.ok(done.returncode == 0, f"root makes the folder of user {user}", done.stderr)


raw = os.path.join(work, "raw")
os.mkdir(raw)
subprocess.run([os.path.join(tap.BUILD, "tests/ending")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
               env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SLURM_SPOOR_HANDOFF=f"1;mode=lossless;spool={raw}",
                        LD_PRELOAD=launch.preload()))
world = os.path.join(raw, os.listdir(raw)[0])


def deliver(who, job, trace=True, **facts):
    """What the plugin has a user's process do at the end of a step. Returns what that said, and what it cost."""
    folder = os.path.join(work, f"{job}.0.n1.{who}.{time.monotonic_ns()}")
    os.mkdir(folder, 0o700)
    if trace:
        shutil.copy(world, folder)
        os.chown(os.path.join(folder, os.path.basename(world)), who, who)
    os.chown(folder, who, who)
    told = {"job": job, "step": "0", "spool": folder, "day": DAY, "uid": who, "node": "n1", "exit_code": 0, "signal": 0, **facts}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(who, HELPER, "collect", limits=True, text="".join(f"{k}={v}\n" for k, v in told.items()))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout + done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def index(title):
    """Root reads the archive, within limits, and the index is free again."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(0, SPOOR, "index", limits=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    tap.ok(done.returncode == 0, f"{title}: spoor index, {spent:.1f} s of processor time", done.stdout, done.stderr)
    return done


# --- folders ---
make_day(ALICE)
make_day(MALLORY)
tap.equal(deliver(ALICE, 100)[0], "", "alice's trace is delivered")
home, evil = os.path.join(DAY, str(ALICE)), os.path.join(DAY, str(MALLORY))
st = os.stat(os.path.join(home, "100.0.0.spoor"))
tap.equal((st.st_uid, st.st_gid, st.st_mode & 0o7777), (ALICE, ADMINS, 0o440), "as hers, for her and the admin group")
st = os.stat(DAY)
tap.equal((st.st_uid, st.st_gid, st.st_mode & 0o7777, os.stat(home).st_mode & 0o7777), (0, ADMINS, 0o2751, 0o2750), "in folders that others cannot list")
for title, command in (("see who has a folder", ["ls", DAY]), ("see jobs", ["ls", home]), ("read a trace", ["cat", os.path.join(home, "100.0.0.spoor")]),
                       ("learn about a job", ["stat", os.path.join(home, "100.0.0.spoor")]), ("add to her folder", ["touch", os.path.join(home, "100.0.n1.exit")]),
                       ("take a name of the day", ["mkdir", os.path.join(DAY, "61003")]), ("take tomorrow", ["mkdir", os.path.join(os.path.dirname(DAY), "99")]),
                       ("move her folder", ["mv", home, os.path.join(DAY, "x")]), ("replace their own by a link to hers", ["mv", evil, evil + ".1"]),
                       ("give files away", ["chown", str(ALICE), evil])):
    tap.ok(not attempt(*command), "another user cannot " + title)
tap.equal((names(ALICE), names(MALLORY)), ([("100.0.0", str(ALICE), ALICE)], []), "each sees their own")
said = run(MALLORY, SPOOR, "list")
tap.equal((said.returncode, said.stderr), (0, ""), "and nothing of the others, not even that there are some")

# --- names and metadata ---
deliver(MALLORY, 100, user="alice")
for name in ("100.0.1.spoor", "100.0.n1.exit", ".100.join.tmp"):
    run(MALLORY, "cp", os.path.join(evil, "100.0.0.spoor"), os.path.join(evil, name))
with open(os.path.join(work, "note"), "w", encoding="utf-8") as file:
    json.dump({"version": 1, "job": 100, "step": "0", "node": "n2", "exit_code": 0, "signal": 9}, file)
os.chmod(os.path.join(work, "note"), 0o644)
run(MALLORY, "cp", os.path.join(work, "note"), os.path.join(evil, "100.0.n2.exit"))
index("a job of another user's number")
mine = [name for name in names(0) if name[2] == ALICE]
tap.equal(mine, [("100.0.0", str(ALICE), ALICE)], "what mallory calls alice's is listed as mallory's")
tap.equal({m["state"] for m in map(json.loads, run(0, SPOOR, "list", "--json", "--user", str(ALICE)).stdout.splitlines())}, {"COMPLETED"},
          "a note of somebody else does not count")
done = run(ALICE, SPOOR, "show", "100")
tap.equal((done.returncode, done.stderr), (0, ""), "alice's `spoor show JOB` shows alice's")
done = run(0, SPOOR, "verify", "100")
tap.ok(done.returncode == 1 and f"of user {ALICE}" in done.stderr and f"of user {MALLORY}" in done.stderr, "root is asked whose", done.stderr)
tap.equal(deliver(ALICE, 100, trace=False, signal=11, node="n2")[0], "", "alice's exit note is delivered")
tap.equal({m["state"] for m in map(json.loads, run(ALICE, SPOOR, "list", "--json").stdout.splitlines())}, {"KILLED"}, "and counts")

# --- what is no file ---
os.chmod(evil, 0o2770)  # as if mallory did
make = ("mkfifo {0}/201.0.0.spoor {0}/201.0.n1.exit {0}/201.0.1.spoor; ln -s /dev/zero {0}/202.0.0.spoor; ln -s /dev/tty {0}/202.0.n1.exit;"
        "ln -s {1}/100.0.0.spoor {0}/203.0.0.spoor; mkdir {0}/204.0.0.spoor {0}/204.0.n1.exit; truncate -s 1T {0}/205.0.0.spoor {0}/205.0.n1.exit;"
        "mkfifo {0}/.201.0.0.spoor.1.tmp {0}/.201.join.tmp {0}/201.0.0.n7.spoor; mkfifo {0}/201.0.0.n8.spoor")
attempt("sh", "-c", make.format(evil, home))
index("FIFOs, links, folders, files of a terabyte")
said = run(0, SPOOR, "list").stderr
os.mkdir(os.path.join(work, "aside"))  # of one user's files ten are said
for name in [n for n in os.listdir(evil) if n.startswith("201.")]:
    os.rename(os.path.join(evil, name), os.path.join(work, "aside", name))
said += run(0, SPOOR, "list").stderr
for name in os.listdir(os.path.join(work, "aside")):
    os.rename(os.path.join(work, "aside", name), os.path.join(evil, name))
tap.ok(all(re.search(pattern, said) for pattern in ("201.0.0.spoor: not a regular", "202.0.0.spoor: not a regular", "203.0.0.spoor: not a regular", "204.0.0.spoor: not a reg",
                                                    "205.0.0.spoor: not a spoor trace", "205.0.n1.exit: has more than 4096")), "each is told", said)
tap.ok(not re.search(r"^203", run(0, SPOOR, "list").stdout, re.M), "a link to another's trace is none")
for command in (("list",), ("prune",), ("aggregate",), ("verify", "201"), ("show", "201"), ("verify", "205"), ("doctor", "201")):
    done = run(0, SPOOR, *command, limits=True)
    tap.ok(done.returncode in (0, 1), "within limits: spoor " + " ".join(command), done.returncode, done.stderr[-300:])
with open(os.path.join(work, "policy.json"), "w", encoding="utf-8") as file:
    json.dump({"version": 1, "archive": store, "spool": os.path.join(work, "spool"), "rules": []}, file)
done = run(0, SPOOR, "sweep", "--policy", os.path.join(work, "policy.json"), "--spool", os.path.join(work, "none"), "--helper", HELPER, limits=True)
tap.equal(done.returncode, 0, "within limits: spoor sweep")

# A spool folder with everything but files in it: of the user's own process.
folder = os.path.join(work, "300.0.n1.%d" % MALLORY)
os.mkdir(folder, 0o700)
os.chown(folder, MALLORY, MALLORY)
attempt("sh", "-c", f"cd {folder} && mkfifo facts lock note-1 rank-1.arena world-1.spoor && ln -s /dev/zero world-2.spoor && ln -s /dev/zero note-2")
done = run(MALLORY, HELPER, "collect", limits=True, text=f"job=300\nstep=0\nspool={folder}\nday={DAY}\nuid={MALLORY}\nnode=n1\nexit_code=0\nsignal=0\n")
tap.ok(done.returncode in (0, 1, 4), "a spool folder of FIFOs", done.returncode, done.stdout, done.stderr)

# --- space ---
files = {name for _, _, found in os.walk(store) for name in found if name.startswith("100.")}
done = run(0, SPOOR, "prune", "--delete", "--quota", "100M", "--user-quota", "50M")
tap.equal(({name for _, _, found in os.walk(store) for name in found if name.startswith("100.")}, done.returncode), (files, 0),
          "terabytes that take nothing of the disk make nothing go")

# --- many names ---
MANY = 20000
before = deliver(ALICE, 101)[1]
attempt("sh", "-c", f"cd {evil} && rm -rf * .??* && seq 0 {MANY} | sed 's/.*/101.0.&.spoor/' | xargs touch && seq 0 3000 | sed 's/.*/102.0.n&.exit/' | xargs -n 1000 tee <{work}/note "
        f">/dev/null")
said, after = deliver(ALICE, 102)
tap.ok(said == "" and after < before + 0.5, f"alice's next trace: {after:.2f} s of processor time, {before:.2f} s before", said)
index(f"{MANY} names")
tap.equal([name[0] for name in names(ALICE)], ["100.0.0", "101.0.0", "102.0.0"], "alice has hers")
tap.equal(run(ALICE, SPOOR, "show", "101").returncode, 0, "and opens them by their job")
tap.ok(run(0, SPOOR, "verify", "101", limits=True).returncode == 1, "root is asked whose", "")

# Many notes for many traces of one step: their number is multiplied by nobody.
attempt("sh", "-c", f"cd {evil} && rm -rf * .??*")
facts = json.dumps({"version": 1, "job": 400, "step": "0", "uid": MALLORY})
for i in range(2000):
    path = archive.put(store, 400, NOW, archive.container(json.loads(facts)), MALLORY, f"400.0.{i}.spoor")
    note = archive.put(store, 400, NOW, json.dumps({"version": 1, "job": 400, "step": "0", "node": f"n{i}", "exit_code": i % 200, "signal": 0}).encode(), MALLORY,
                       f"400.0.n{i}.exit")
index("2000 notes of 2000 traces of one step")
tap.equal(len(names(0, "--job", "400", "--state", "FAILED")), 2000, "each counts the worst")

# A trace that says that it is a task, or a component, of another's job.
deliver(ALICE, 103)
claims = {"version": 1, "job": 150, "step": "0", "uid": MALLORY, "array_job": 103, "array_task": 1, "het_job_id": 103}
archive.put(store, 150, NOW, archive.container(dict(archive.metadata(150, NOW), **claims), archive.content(1)), MALLORY, "150.0.0.spoor")
for words in (("why", "103"), ("why", "--line", "103"), ("why", "--json", "103")):
    done = run(0, SPOOR, *words)
    tap.ok(done.returncode == 1 and f"user {ALICE}" in done.stderr and f"user {MALLORY}" in done.stderr and "--user" in done.stderr, f"root is asked whose: spoor {' '.join(words)}", done.stdout, done.stderr)
tap.equal([run(0, SPOOR, "why", "--line", "--user", str(user), "103").returncode for user in (ALICE, MALLORY, 61003)], [0, 0, 1], "and told of the one that was named")
tap.equal(run(ALICE, SPOOR, "why", "--line", "103").returncode, 0, "alice's `spoor why JOB` tells of hers")
for words in (("show", "103"), ("stat", "103"), ("show", "103+0")):
    done = run(0, SPOOR, *words)
    tap.ok(done.returncode == 0 and f"/{MALLORY}/" not in done.stdout and "150" not in done.stdout.split("\n")[0], f"what calls itself a part of it is not taken for it: spoor {' '.join(words)}", done.stdout[:300], done.stderr)
shutil.rmtree(work)
tap.done()
