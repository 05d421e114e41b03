#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# index - the index of an archive: what it says, that it follows the files, and that many may use it at once
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
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
work = tempfile.mkdtemp(prefix="index.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o711)
os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
root = os.geteuid() == 0
NOW = int(time.time())


def spoor(*arguments, **more):
    return subprocess.run([SPOOR, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="surrogateescape", timeout=280, **more)


def names(folder, *arguments, **more):
    run = spoor("list", "--archive", folder, "--json", *(() if "--sort" in arguments else ("--sort", "start")), *arguments, **more)
    return [json.loads(line)["name"] for line in run.stdout.splitlines()]


def jobs(folder, *arguments, **more):
    return [int(name.split(".")[0]) for name in names(folder, *arguments, **more)]


def aggregate_jobs(folder):
    return json.loads(spoor("aggregate", "--by", "job", "--json", "--top", "0", "--archive", folder).stdout)["groups"]


# Small: what filters say, against the rule by which the traces were made.
small = os.path.join(work, "small")
os.mkdir(small, 0o755)
LAST = NOW  # the end of the 20 days; jobs 5 to 7 are to be of one day
while len({time.gmtime(LAST - 20 * 86400 + k * 1728).tm_mday for k in (4, 5, 6)}) > 1:
    LAST -= 1728
archive.fill(small, 1000, 20, 1, LAST)
every = range(1, 1001)
tap.equal(jobs(small), list(every), "all of them, by start")
FILTERS = [
    (("--user", archive.user(7)), lambda j: archive.uid(j) == archive.uid(7)),
    (("-u", archive.user(1)[:-1] + "[12]"), lambda j: j % 50 in (1, 2) or archive.USERS == 1),
    (("--state", "killed"), lambda j: j % 25 == 0),
    (("--state", "FAILED"), lambda j: (j % 10 == 0 or j % 25 == 0) and (j % 100 or archive.metadata(j, 0)["reason"] == "signal")),
    (("--exe", "app3"), lambda j: j % 11 == 3),
    (("--exe", "/home/u3/*"), lambda j: j % 50 == 3),
    (("--account", "a[0-2]", "-p", "long"), lambda j: j % 7 < 3 and j % 3 == 1),
    (("--name", "name 12"), lambda j: j % 13 == 12),
    (("--cluster", "syn*", "-q", "normal", "--mode", "lossless", "--rule", "def*"), lambda j: True),
    (("--qos", "high"), lambda j: False),
    (("--job", "17"), lambda j: j == 17),
    (("--job", "17,3.0,9.0.0,4.batch"), lambda j: j in (3, 9, 17)),
    (("--state", "F,K"), lambda j: j % 10 == 0 or j % 25 == 0),
    (("-u", archive.user(7) + "," + str(archive.uid(9))), lambda j: archive.uid(j) in (archive.uid(7), archive.uid(9))),
    (("-S", "now-2days", "-E", "now-1day"), lambda j: NOW - 2 * 86400 - 60 <= LAST - 20 * 86400 + (j - 1) * 1728 <= NOW - 86400 + 60),
    (("--ranks", "64-"), lambda j: 4 << j % 8 >= 64),
    (("--ranks", "-8"), lambda j: 4 << j % 8 <= 8),
    (("--nodes", "2-4"), lambda j: 2 <= 1 << j % 8 <= 4),
    (("--nodes", "16"), lambda j: 1 << j % 8 == 16),
    (("--node", "n77"), lambda j: 0 <= (77 - j) % 1000 < 1 << j % 8),
    (("--elapsed", "1m-5m"), lambda j: 60 <= j % 5000 <= 300),
    (("--elapsed", "-90s"), lambda j: j % 5000 <= 90),
    (("--partial",), lambda j: j % 100 == 0),
    (("--whole", "--job", "100"), lambda j: False),
    (("--since", "2d", "--until", "1d"), lambda j: NOW - 2 * 86400 - 60 <= LAST - 20 * 86400 + (j - 1) * 1728 <= NOW - 86400 + 60),
]
for arguments, rule in FILTERS:
    wanted = [j for j in every if rule(j)]
    got = jobs(small, *arguments)
    slack = 1 if "--since" in arguments or "-S" in arguments else 0  # the clock went on
    tap.ok(got == wanted or (slack and len(set(got) ^ set(wanted)) <= slack), "list " + " ".join(arguments), f"{got}\n{wanted}")
tap.equal(jobs(small, "--sort", "job", "--reverse", "--limit", "3"), [1000, 999, 998], "sorted, reversed, limited")
tap.equal(sorted(j % 8 for j in jobs(small, "--sort", "ranks", "--limit", "250")), [0] * 125 + [1] * 125, "sorted by ranks")
for arguments in (("--ranks", "many"), ("--ranks", "-"), ("--nodes", "3-4-5"), ("--elapsed", "1y-"), ("--sort", "colour"), ("--limit", "-1"),
                  ("--job", "x"), ("--job", ""), ("--state", "well"), ("--since", "someday"), ("--job", "1_x"), ("--state", "CD,well")):
    run = spoor("list", "--archive", small, *arguments)
    tap.ok(run.returncode == 2 and arguments[1] in run.stderr and not run.stdout, "refused: list " + " ".join(arguments), run.stderr)
one = json.loads(spoor("list", "--archive", small, "--json", "--job", "5").stdout)
tap.equal({k: one[k] for k in archive.metadata(5, 0) if "start" not in k and "end_ns" != k},
          {k: v for k, v in archive.metadata(5, 0).items() if "start" not in k and "end_ns" != k}, "the metadata is what is in the file")
tap.equal((one["name"], one["size"], os.path.exists(one["path"])), ("5.0.0", os.path.getsize(one["path"]), True), "and the file's facts")
wide = json.loads(spoor("list", "--archive", small, "--json", "--job", "14").stdout)
tap.equal(re.findall(r"^(?:Hosts|Ranks/node) .*", spoor("show", wide["path"]).stdout, re.M), ["Hosts        n[14-77]", "Ranks/node   4(x64)"],
          "show: 64 hosts on one short line, as Slurm writes them")

# It follows the files.
path = one["path"]
os.unlink(path)
spoor("index", "--archive", small)  # what changes in days that are over for long, a list does not look for
tap.equal(jobs(small, "--job", "5"), [], "a file that was removed")
archive.fill(small, 3, 1, 2001, NOW)
tap.equal(jobs(small, "--sort", "job", "--reverse", "--limit", "3"), [2003, 2002, 2001], "files that were added")
run = spoor("index", "--archive", small)
tap.ok(" 0 files added, 0 changed, 0 removed" in run.stdout, "nothing more to do", run.stdout, run.stderr)
day = os.path.dirname(os.path.dirname(path))
sixth, seventh = (os.path.join(day, str(archive.uid(j)), f"{j}.0.0.spoor") for j in (6, 7))
with open(sixth, "wb") as file:
    file.write(archive.container(dict(archive.metadata(6, NOW), account="rewritten", user="mallory", end_ns=2**60 + 1, array_job=1e300)))
run = spoor("index", "--archive", small, "--full")
tap.equal(jobs(small, "--account", "rewritten"), [6], "--full: a file that was rewritten")
tap.equal((jobs(small, "--user", "mallory"), jobs(small, "--account", "rewritten", "--user", archive.user(6))), ([], [6]),
          "the user is the file's owner, whatever it says")
with contextlib.closing(sqlite3.connect(spoor("index", "--path", "--archive", small).stdout.strip())) as database:
    tap.equal(database.execute("SELECT end_ns, array_job FROM trace WHERE account = 'rewritten'").fetchall(), [(2**60 + 1, 0)],
              "numbers are integers of 64 bits, to the last digit, and what is none is none")
with open(seventh, "r+b") as file:
    file.write(b"not a trace")
spoor("index", "--archive", small, "--full")
run = spoor("list", "--archive", small)
tap.ok(run.returncode == 1 and "7.0.0.spoor: " in run.stderr and "1 files are damaged" in run.stderr, "a damaged file is told", run.stderr)
os.unlink(seventh)

# An index is a file that anybody may have written: a view instead of a table, which has no end, ends.
endless = os.path.join(work, "endless")
os.mkdir(endless, 0o755)
archive.fill(endless, 20, 1, 1, NOW)
spoor("index", "--archive", endless)
with contextlib.closing(sqlite3.connect(spoor("index", "--path", "--archive", endless).stdout.strip())) as database:
    columns = ", ".join(f"1 AS {row[1]}" for row in database.execute("PRAGMA table_info(trace)"))
    database.execute("DROP VIEW trace")
    database.execute(f"CREATE VIEW trace AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {columns} FROM n WHERE x < 0")
    database.commit()
run = spoor("list", "--archive", endless)
tap.ok(run.returncode == 1 and "index.db: the index: interrupted" in run.stderr, "an index with a view without an end: list ends and says so", run.stderr)

# Exit notes, before and after their trace.
def note(job, when, **facts):
    return archive.put(small, job, when, json.dumps({"version": 1, "job": job, "step": "0", "node": "n9", **facts}).encode(), name=f"{job}.0.n9.exit")


written = note(6, NOW, exit_code=0, signal=11)
tap.equal(jobs(small, "--account", "rewritten", "--state", "KILLED"), [6], "an exit note counts")
os.unlink(written)
tap.equal(jobs(small, "--account", "rewritten", "--state", "KILLED"), [], "and counts no more when it is gone")
note(3001, NOW - 86400, exit_code=7, signal=0)
spoor("index", "--archive", small)
archive.fill(small, 1, 1, 3001, NOW)
tap.equal([json.loads(line)["exit_code"] for line in spoor("list", "--archive", small, "--json", "--job", "3001").stdout.splitlines()], [7],
          "a note that was there first")
shutil.rmtree(day)
tap.ok(not set(jobs(small)) & {6}, "a day that was removed")

archive.put(small, 4003, NOW, archive.container(dict(archive.metadata(4003, NOW), array_job=4000, array_task=3), archive.content(4003)), archive.uid(4003))
named = [line.split()[0] for line in spoor("list", "--archive", small, "--job", "4003").stdout.splitlines()[1:]]
tap.equal(named, ["4000_3.0.0"], "list names a task of an array as Slurm does")
for name in ("4000_3", "4000_3.0", *named):
    run = spoor("show", name, "--archive", small)
    tap.ok(run.returncode == 0 and "/4003.0.0.spoor" in run.stdout, f"show {name}", run.stdout[:300], run.stderr)
run = spoor("show", "4000_4", "--archive", small)
tap.ok(run.returncode == 1 and "4000_4: no such file, and no trace of such a task" in run.stderr, "show 4000_4: there is none", run.stderr)

# Names with everything in them.
odd = os.path.join(work, "odd")
os.mkdir(odd, 0o755)
ODD = ["a b", 'quote"s', "new\nline", "tab\tand \x1b[31m", "umläut ∀ 漢字", "'; DROP TABLE trace; --", "%s%n", "*", "[", "\\", "x" * 5000]
for n, text in enumerate(ODD):
    archive.put(odd, n + 1, NOW, archive.container(dict(archive.metadata(n + 1, NOW), job_name=text, exe="/bin/" + text)))
run = spoor("list", "--archive", odd, "--json", "--sort", "job")
tap.equal([json.loads(line)["job_name"] for line in run.stdout.splitlines()], ODD, "names with blanks, quotes, newlines, UTF-8: as they are")
run = spoor("list", "--archive", odd)
tap.ok(len(run.stdout.splitlines()) == 1 + len(ODD) and "\x1b" not in run.stdout, "in the table: a line each, nothing for the terminal")
for n, text in enumerate(ODD):
    pattern = "".join("\\" + c if c in "*?[\\" else c for c in text)
    tap.equal(jobs(odd, "--name", pattern), [n + 1], f"found by name: {text[:20]!r}")

# Many at once, and some that are killed.
busy = os.path.join(work, "busy")
os.mkdir(busy, 0o755)
archive.fill(busy, 2000, 30, 1, NOW)
MANY = (["index"], ["index", "--rebuild"], ["index"], ["list"], ["list", "--json"], ["index", "--full"], ["index", "--rebuild"])
failures = {" ".join(what): "" for what in MANY}
for _ in range(3):
    processes = [subprocess.Popen([SPOOR, *what, "--archive", busy], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                 for what in MANY]
    for process in processes:
        err = process.communicate(timeout=120)[1]
        failures[" ".join(process.args[1:-2])] += err if process.returncode else ""
for what, err in failures.items():
    tap.equal(err, "", "at once: " + what)
tap.equal(jobs(busy), list(range(1, 2001)), "and the index is whole")

# Somebody reads the list in a pager: the index is free meanwhile.
pager = subprocess.Popen([SPOOR, "list", "--json", "--archive", busy], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
pager.stdout.read(100)
tap.equal(spoor("index", "--rebuild", "--archive", busy).returncode, 0, "while a list waits for its reader, the index can be changed")
tap.equal(pager.stdout.read().count(b"\n"), 2000, "and the list is whole")
pager.wait()
random.seed(1)
for i in range(8):
    process = subprocess.Popen([SPOOR, "index", "--rebuild", "--archive", busy], stdout=subprocess.DEVNULL)
    time.sleep(random.random() * 0.15)
    process.send_signal(signal.SIGKILL)
    process.wait()
tap.equal(jobs(busy), list(range(1, 2001)), "killed in the middle: the next one goes on")
index = spoor("index", "--path", "--archive", busy).stdout.strip()
tap.ok(os.path.exists(index), "--path", index)
for what, damage in (("no database", lambda f: f.write(b"x" * 5000)), ("cut", lambda f: f.truncate(5000)), ("empty", lambda f: f.truncate(0)),
                     ("another version", lambda f: (f.seek(60), f.write(b"\x00\x00\x00\x63")))):
    with open(index, "r+b") as file:
        damage(file)
    run = spoor("list", "--archive", busy)
    tap.ok(len(run.stdout.splitlines()) == 2001, f"a damaged index ({what}) is made anew", run.stdout[:300], run.stderr)

# Whose it is.
if root:
    site = os.path.join(busy, ".index")
    st = os.stat(site)
    tap.equal((st.st_uid, st.st_mode & 0o7777), (0, 0o2770), "the site's: in a folder of root, with the admin group")
    st = os.stat(index)
    tap.ok(index == os.path.join(site, "index.db") and st.st_uid != 0 and st.st_mode & 0o7777 == 0o660, "written by nobody, not by root", st)

    def other():
        os.setgroups([])
        os.setgid(65533)
        os.setuid(65533)
    # Of a user: only their own traces, from an index of their own.
    archive.put(busy, 9000, NOW, archive.container(dict(archive.metadata(9000, NOW), uid=65533)), 65533)
    home = os.path.join(work, "home")
    os.mkdir(home)
    os.chown(home, 65533, 65533)
    environment = {"HOME": home, "PATH": os.environ["PATH"]}
    tap.equal(jobs(busy, preexec_fn=other, env=environment), [9000], "a user: their own traces")
    run = spoor("list", "--archive", busy, preexec_fn=other, env=environment)
    tap.equal((run.stderr, len(run.stdout.splitlines())), ("", 2), "a user: learns nothing of the others, not even how many there are")
    secret = archive.put(busy, 9001, NOW, archive.container(archive.metadata(9001, NOW)), 65532)
    modes = {folder: os.stat(folder).st_mode & 0o7777 for folder in (os.path.dirname(secret), os.path.dirname(os.path.dirname(secret)))}
    for folder in modes:
        os.chmod(folder, 0o755)
    os.chmod(secret, 0o600)
    run = spoor("list", "--archive", busy, preexec_fn=other, env=environment)
    tap.equal((run.stderr, len(run.stdout.splitlines())), ("", 2), "a user: that others' traces are not theirs to read is no news")
    run = spoor("list", "--archive", busy, "--user", "65532", preexec_fn=other, env=environment)
    tap.ok("not yours to read" in run.stderr and len(run.stdout.splitlines()) == 1, "a user: unless they find nothing", run.stderr)
    for folder, mode in modes.items():
        os.chmod(folder, mode)
    os.unlink(secret)
    cache = os.path.join(home, ".cache/spoor")
    tap.equal((os.stat(cache).st_mode & 0o777, {os.stat(os.path.join(cache, f)).st_mode & 0o777 for f in os.listdir(cache)}), (0o700, {0o600}),
              "a user: the index is theirs alone")
    tap.equal(jobs(busy, preexec_fn=other, env={"HOME": "/nonexistent"}), [9000], "a user without a home: in memory")
    tap.ok(not os.path.exists("/nonexistent"), "a user without a home: nothing is made")
    run = spoor("list", "--archive", work + "/private")
    os.mkdir(work + "/private", 0o700)
    run = spoor("list", "--archive", work + "/private")
    tap.ok(run.returncode == 1 and "as user nobody, who cannot enter" in run.stderr, "root does not read what nobody may", run.stderr)

# Hooks: programs that the policy names, once for each trace that arrives.
if root:
    hooked, tools = os.path.join(work, "hooked"), os.path.join(work, "tools")
    os.mkdir(hooked, 0o755)
    os.mkdir(tools)
    os.chmod(tools, 0o755)
    os.mkdir(tools + "/told")
    os.chmod(tools + "/told", 0o777)
    archive.fill(hooked, 5, 1, 1, NOW)

    def tool(name, text):
        with open(f"{tools}/{name}", "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(f"{tools}/{name}", 0o755)
        return f"{tools}/{name}"

    def hook_policy(*hooks):
        with open(work + "/policy.json", "w") as file:
            json.dump({"version": 1, "archive": hooked, "rules": [], "hooks": [dict(zip(("name", "match", "run"), h)) for h in hooks]}, file)

    def hooks(**more):
        return spoor("index", "--hooks", "--state", work + "/hooks.state", env=dict(os.environ, SPOOR_POLICY=work + "/policy.json"), **more)

    def told(name):
        with contextlib.suppress(FileNotFoundError):
            with open(f"{tools}/told/{name}") as file:
                return [json.loads(line) for line in file]
        return []

    tell = tool("tell", f'cat >>{tools}/told/all; echo >>{tools}/told/all; id -u >{tools}/told/id\n')
    once = tool("once", f'cat >>{tools}/told/killed; echo >>{tools}/told/killed; [ -e {tools}/told/again ] || {{ : >{tools}/told/again; kill -9 $PPID; }}\n')
    fail = tool("fail", f'echo x >>{tools}/told/fails; echo "cannot; \033[31m" >&2; exit 3\n')
    hook_policy(("all", {"partition": "long", "wait_min": 1, "node_hours_max": 1000}, tell), ("never", {"wait_min": 99}, tell))
    tap.ok("hooks: 0 run" in hooks().stdout, "hooks: none for what was there before")
    archive.fill(hooked, 9, 1, 11, NOW)
    run = hooks()
    long = [j for j in range(11, 20) if archive.metadata(j, NOW)["partition"] == "long"]
    tap.equal((sorted(t["job"] for t in told("all")), run.returncode, run.stderr), (long, 0, ""), "hooks: each trace that its conditions select")
    sums = {int(g["job"]): g for g in aggregate_jobs(hooked)}
    wrong = [t for t in told("all") if abs(t["node_hours"] - sums[t["job"]]["node_hours"]) > 1e-9 or abs(t["wait"] - 100 * sums[t["job"]]["wait_node_hours"] / t["node_hours"]) > 1e-6
             or t["user"] != archive.user(t["job"]) or not os.path.exists(t["trace"]) or t["hook"] != "all"]
    tap.ok(not wrong, "hooks: told what spoor aggregate says", wrong[:1], list(sums.items())[:1])
    with open(tools + "/told/id") as file:
        tap.ok(file.read() != "0\n", "hooks: not with root's rights")
    spoor("index", "--rebuild", "--archive", hooked)
    tap.equal((hooks().stdout.split(";")[0], len(told("all"))), ("hooks: 0 run, 0 failed", len(long)), "hooks: once, also if the index is made anew")
    hook_policy(("kills", {"job_name": "name 12"}, once))
    archive.fill(hooked, 1, 1, 25, NOW)
    statuses = [hooks().returncode for _ in range(3)]
    tap.equal((statuses, sorted(t["job"] for t in told("killed"))), ([-9, 0, 0], [12, 12, 25]), "hooks: killed meanwhile, it is run again")
    hook_policy(("fails", {"job_name": "name 3"}, fail))
    runs = [hooks() for _ in range(4)]
    with open(tools + "/told/fails") as file:
        tap.equal((file.read(), [r.returncode for r in runs]), ("x\n" * 3, [1, 1, 1, 0]), "hooks: what fails is tried three times")
    tap.ok('hook "fails" for 16.0.0: ' in runs[0].stderr and "exit status 3: cannot; ?[31m" in runs[0].stderr and "given up" in runs[2].stderr, "hooks: and said", runs[0].stderr)
    # Parts that come too late for an hour of waiting are joined later: a trace of the same world.
    with open(work + "/later.c", "w") as file:
        file.write("#include <stdlib.h>\n#include <time.h>\ntime_t time(time_t *t)\n{\n\tstruct timespec now;\n\tclock_gettime(CLOCK_REALTIME, &now);\n"
                   '\tnow.tv_sec += atoi(getenv("LATER"));\n\tif (t)\n\t\t*t = now.tv_sec;\n\treturn now.tv_sec;\n}\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", work + "/later.so", work + "/later.c"], check=True)

    def hooks_later(hours):
        env = dict(os.environ, SPOOR_POLICY=work + "/policy.json", LD_PRELOAD=work + "/later.so", LATER=str(3600 * hours))
        return spoor("index", "--hooks", "--state", work + "/hooks.state", env=env)

    def put_world(job, name, world, **facts):
        archive.put(hooked, job, NOW, archive.container({**archive.metadata(job, NOW), "world": world, "job_name": "parted", **facts}, archive.content(job)), name=name)

    hook_policy(("parts", {"job_name": "parted"}, tell))
    before = len(told("all"))
    for n, world in ((0, "a1"), (1, "a1"), (2, "b2")):
        put_world(33, f"33.0.{n}.spoor", world, part=f"part {n}")
    run = hooks()
    tap.ok("hooks: 0 run" in run.stdout and len(told("all")) == before, "hooks: parts are waited for", run.stdout, run.stderr)
    run = hooks_later(2)
    tap.equal((sorted(t["trace"][-12:-6] for t in told("all")[before:]), run.stderr), (["33.0.0", "33.0.2"], ""), "hooks: after an hour, once for each world")
    time.sleep(0.02)
    put_world(33, "33.0.3.spoor", "a1", parts=["part 0", "part 1"])
    for n in (0, 1):
        os.unlink(f"{archive.folder_of(hooked, NOW, archive.uid(33))}/33.0.{n}.spoor")
    runs = [hooks_later(hours) for hours in (5, 100)]
    tap.equal((len(told("all")) - before, [r.stderr for r in runs]), (2, ["", ""]), "hooks: not again for what was joined of them")
    # One user's many traces, which came first, are more than the runs of a pass. Where runs are written down begins anew: for the one above, it is days later.
    fair_env = dict(os.environ, SPOOR_POLICY=work + "/policy.json")
    hook_policy(("fair", {"job_name": "fair"}, tool("fair", f'read -r line || :; printf "%s\\n" "$line" >>{tools}/told/fair\n')))
    run = spoor("index", "--hooks", "--state", work + "/fair.state", env=fair_env)
    for n in range(1010):
        put_world(51, f"51.0.{n}.spoor", f"w{n}", job_name="fair", parts=["part 0", "part 1"])
    time.sleep(0.02)
    put_world(52, "52.0.0.spoor", "v1", job_name="fair", parts=["part 0", "part 1"])
    run = spoor("index", "--hooks", "--state", work + "/fair.state", env=fair_env)
    runs = [t["job"] for t in told("fair")]
    tap.equal((len(runs), runs.count(52), 52 in runs[:2], run.stderr), (1000, 1, True, ""), "hooks: many traces of one user do not starve another's first")
    hook_policy(("fails", {"job_name": "name 3"}, fail))
    os.chmod(fail, 0o757)
    tap.ok("fail: others can write it" in hooks().stderr, "hooks: a program that others can write is refused")
    os.chmod(work + "/policy.json", 0o666)
    tap.ok(hooks().returncode == 1 and "policy.json:1:1: " in hooks().stderr, "hooks: so is such a policy", hooks().stderr)

# Large: SPOOR_TRACES. Times are told, not judged.
MANY_TRACES = int(os.environ.get("SPOOR_TRACES", 20000))
large = os.path.join(work, "large")
os.mkdir(large, 0o755)
archive.fill(large, MANY_TRACES, 365, 1, NOW)


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


begin, before = time.monotonic(), processor()
run = spoor("index", "--archive", large)
tap.ok(f"{MANY_TRACES} files added" in run.stdout and f"; {MANY_TRACES} traces read" in run.stdout,
       f"{MANY_TRACES} traces indexed in {processor() - before:.1f} s of processor time, {time.monotonic() - begin:.1f} s", run.stdout, run.stderr)


def cost(*command):
    best = None
    for _ in range(3):
        before, begin = processor(), time.monotonic()
        run = spoor(*command, "--archive", large)
        best = min(best or (9, 9), (processor() - before, time.monotonic() - begin))
    return best, run.stdout


for arguments, count in (((), MANY_TRACES), (("--user", archive.user(7)), MANY_TRACES // archive.USERS), (("--exe", "app*3", "--ranks", "64-", "--sort", "elapsed"), None),
                         (("--node", "n77"), None), (("--since", "30d", "--state", "FAILED"), None)):
    (spent, elapsed), out = cost("list", *arguments)
    found = len(out.splitlines()) - 1
    tap.ok(count in (None, found) and found > 0,
           f"list {' '.join(arguments)}: {found} of {MANY_TRACES} in {spent:.2f} s of processor time, {elapsed:.2f} s")
for by, count in (("user", archive.USERS), ("function", 5), ("site", 44), ("node", 1000)):
    (spent, elapsed), out = cost("aggregate", "--by", by, "--json")
    found = json.loads(out)
    tap.ok(found["total"]["traces"] == MANY_TRACES and len(found["groups"]) == count,
           f"aggregate --by {by}: {MANY_TRACES} in {spent:.2f} s of processor time, {elapsed:.2f} s", out[:500])
# On a terminal names are cut before the numbers of jobs are, which are asked for.
jobs = os.path.join(work, "jobs")
os.mkdir(jobs, 0o755)
archive.put(jobs, 4294000001, NOW, archive.container(dict(archive.metadata(1, NOW), job=4294000001, job_name="dozenletters", state="KILLED", partial=1,
                                                          reason="time-limit"), archive.content(1)), archive.uid(1))
near, far = os.openpty()
subprocess.run([SPOOR, "list", "--archive", jobs], stdin=subprocess.DEVNULL, stdout=far, timeout=60, env=dict(os.environ, COLUMNS="80", TERM="dumb"))
os.close(far)
lines = os.read(near, 65536).decode().splitlines()
os.close(near)
tap.ok(len(lines) == 2 and all(len(line) <= 80 for line in lines) and lines[1].startswith("4294000001.0.0 "), "list: in 80 columns, with the whole number of a job", *lines)
said = {words[0]: subprocess.run([SPOOR, *words, "--archive", jobs], stdout=subprocess.PIPE, text=True).stdout
        for words in (("list", "--state", "TO"), ("show", "4294000001"), ("why", "4294000001"), ("report", "4294000001", "-o", "-"))}
tap.equal([(name, "TIMEOUT" in text, "KILLED" in text) for name, text in said.items()],
          [(name, True, False) for name in said], "a state has Slurm's name, of which the reason is a part: TIMEOUT")
tap.equal(json.loads(subprocess.run([SPOOR, "list", "--json", "--archive", jobs], stdout=subprocess.PIPE).stdout)["state"], "KILLED",
          "as JSON it is that of the metadata")
# Of millions of jobs only those that are asked for are kept in memory.
for order in (("--sort", "wait"), ("--sort", "key", "--reverse"), ("--sort", "parallel")):
    few, whole = (json.loads(spoor("aggregate", "--by", "job", "--json", "--top", top, "--archive", large, *order).stdout) for top in ("7", "0"))
    tap.ok(few["groups"] == whole["groups"][:7] and few["groups_all"] == len(whole["groups"]) and few["total"] == whole["total"],
           "the first jobs are those of all of them: " + " ".join(order), [g["job"] for g in few["groups"]], few["groups_all"])
shutil.rmtree(work)
tap.done()
