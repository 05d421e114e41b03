#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# prune - what has had its time goes, by retention, age and quota; first it is only shown
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
work = tempfile.mkdtemp(prefix="prune.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o711)
os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
store = os.path.join(work, "archive")
os.mkdir(store, 0o755)
DAY = 86400
NOW = int(time.time())


def put(job, age, retention=None, uid=None, size=0):
    """A trace that is `age` days old; size: what it takes of the disk, and a little more."""
    owner = os.geteuid() if uid is None else uid
    facts = dict(archive.metadata(job, NOW - age * DAY), uid=owner)
    if retention is not None:
        facts["retention"] = retention
    return archive.put(store, job, NOW - age * DAY, archive.container(facts) + b"x" * size, owner)


def prune(*arguments):
    run = subprocess.run([SPOOR, "prune", "--archive", store, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    jobs = [int(re.match("[0-9]+", line.split("/")[4]).group()) for line in run.stdout.splitlines() if "\t" in line]
    return run, jobs


def there():
    return sorted(int(name.split(".")[0]) for _, _, names in os.walk(store) for name in names if name.endswith(".spoor"))


put(1, 40)
put(2, 40, 30)
put(3, 40, 60)
put(4, 20, 10)
put(5, 20, 0)
put(6, 0, 1)
run, jobs = prune()
tap.equal(jobs, [2, 4], "retention: what is over")
tap.ok("its retention of 30 days is over" in run.stdout and "2 files would go" in run.stdout and "--delete" in run.stdout, "it says why", run.stdout)
tap.equal(there(), [1, 2, 3, 4, 5, 6], "without --delete nothing is removed")
run, jobs = prune("--delete")
tap.equal((jobs, there()), ([2, 4], [1, 3, 5, 6]), "with --delete it is")
tap.equal(prune("--delete")[1], [], "once")
tap.equal(prune("--max-age", "30")[1], [1, 3], "age: whatever the retention")
run, jobs = prune("--max-age", "30", "--delete", "--quiet")
tap.ok("\t" not in run.stdout and "2 files removed" in run.stdout and there() == [5, 6], "--quiet", run.stdout)
old = os.path.join(store, time.strftime("%Y/%m/%d", time.gmtime(NOW - 40 * DAY)))
tap.ok(not os.path.exists(old), "a folder that became empty goes")
tap.ok(os.path.isdir(os.path.join(store, time.strftime("%Y/%m/%d", time.gmtime(NOW)))), "that of today stays")

# Quotas: the oldest first, of those who have more than an equal share; of blocks of the disk, not of what files say.
MIB = 1 << 20
for job, age in ((11, 9), (12, 8), (13, 7), (14, 6)):
    put(job, age, size=MIB)
run, jobs = prune("--quota", "3M")
tap.equal(jobs, [5, 11, 12], "quota: the oldest, until the others fit")
if os.geteuid() == 0:
    for job, age in ((21, 5), (22, 4), (23, 3)):
        put(job, age, uid=65534, size=MIB)
    put(31, 10, uid=65533, size=MIB // 2)
    run, jobs = prune("--user-quota", "3M")
    tap.equal(jobs, [5, 11, 12, 21], "each user's quota")
    run, jobs = prune("--quota", "5M")
    tap.equal(jobs, [5, 11, 12, 21], "max-min fairness: who has less than an equal share loses nothing, however old")
    before = there()
    sparse = put(41, 1, uid=65532)
    os.truncate(sparse, 1 << 40)
    run, jobs = prune("--quota", "50M", "--user-quota", "10M")
    tap.equal((jobs, run.returncode), ([], 0), "a sparse file of 1 TiB takes nothing, and makes nobody's trace go")
    os.unlink(sparse)
    damaged = archive.put(store, 51, NOW, b"x" * MIB, 65533)
    foreign = put(52, 2, uid=65534, size=MIB)
    os.chown(foreign, 65533, 0)
    tap.equal([prune("--quota", quota)[1] for quota in ("9M", "8M", "7M")], [[52], [52, 51], [5, 11, 52, 51]],
              "what is damaged, or in another user's folder, goes first")
    run, jobs = prune("--quota", "7M")
    tap.ok("and it is damaged" in run.stdout, "which is said", run.stdout)
    prune("--quota", "3M", "--user-quota", "2M", "--delete")
    tap.equal(there(), [6, 14, 23, 31], "both, removed")
    odd = put(61, 20, 1, uid=65533)
    os.rename(odd, os.path.join(os.path.dirname(odd), "61\t1\tx\n2026.spoor"))
    prune("--delete")
    tap.equal([name for name in os.listdir(os.path.dirname(odd)) if name.startswith("61")] if os.path.exists(os.path.dirname(odd)) else [], [],
              "names with anything in them")

# Erasing: all of a user's, all of a job's, whatever the age; and nothing of it stays in the index.
erased = os.path.join(work, "erased")
os.mkdir(erased, 0o755)
OTHER = 65534 if os.geteuid() == 0 else os.geteuid()


def put_named(job, owner, command, **more):
    facts = dict(archive.metadata(job, NOW - DAY), uid=owner, user="amy" if owner == OTHER else "bob", command=command, exe="/home/" + command, **more)
    return archive.put(erased, job, NOW - DAY, archive.container(facts), owner)


def erase(*arguments):
    run = subprocess.run([SPOOR, "prune", "--archive", erased, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return run, sorted(int(re.match("[0-9]+", line.split("/")[4]).group()) for line in run.stdout.splitlines() if "\t" in line)


def index_has(text):
    found = []
    for top in (os.path.join(erased, ".index"), os.path.join(work, "cache")):
        for folder, _, names in os.walk(top):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    found += [name] if text.encode() in file.read() else []
    return found


put_named(71, os.geteuid(), "plain-seventy-one")
put_named(72, OTHER, "secret-seventy-two")
put_named(73, OTHER, "secret-seventy-three", array_job=70, array_task=3)
put_named(74, os.geteuid(), "plain-seventy-four", array_job=70, array_task=4)
note = os.path.join(os.path.dirname(put_named(75, os.geteuid(), "plain-seventy-five")), "75.0.n1.exit")
with open(note, "w", encoding="utf-8") as file:
    file.write('{"version":1,"job":75,"step":"0","exit_code":1,"signal":0}')
damaged = archive.put(erased, 76, NOW - DAY, b"no trace", os.geteuid())
tap.equal(erase("--job", "70")[1], [73, 74], "a job array is erased as a whole")
tap.equal(erase("--job", "70_4")[1], [74], "or one task of it")
tap.equal(erase("--job", "76")[1], [76], "of a damaged file, the name counts")
tap.equal(erase("--job", "75")[1], [75, 75], "an exit note goes with its job")
tap.ok(index_has("secret-seventy-two") != [] and os.path.exists(note), "without --delete nothing is erased", index_has("secret"))
run, jobs = erase("--job", "75,71", "--delete")
tap.equal((jobs, run.returncode, os.path.exists(note)), ([71, 75, 75], 0, False), "jobs are erased")
tap.ok(not index_has("plain-seventy-one") and index_has("plain-seventy-four"), "and are not in the index any more, others are", run.stdout)
if os.geteuid() == 0:
    tap.equal(erase("--user", "65534", "--job", "74")[1], [], "a user's of one job")
    run, jobs = erase("--user", "65534", "--delete")
    tap.equal((jobs, run.returncode), ([72, 73], 0), "all of a user is erased")
    tap.ok(not index_has("secret-seventy") and not index_has("amy") and index_has("plain-seventy-four"), "in the index, too", index_has("amy"))
for words, why in ((("--user", "nobody-of-that-name"), "--user: expected a user's name or number"), (("--job", "70.0"), "--job: expected jobs such as"),
                   (("--user", "0", "--quota", "1M"), "--user and --job erase whatever its age")):
    run, jobs = erase(*words)
    tap.ok(run.returncode == 2 and why in run.stderr, " ".join(words) + " is refused", run.stderr)

# What else goes, and what does not.
path = put(31, 20)
day = os.path.dirname(path)
with open(os.path.join(day, "31.0.7.spoor"), "wb"):
    os.utime(os.path.join(day, "31.0.7.spoor"), (NOW - 7200, NOW - 7200))
for name, age in ((".31.0.0.spoor.4711.tmp", 2 * 3600), (".31.0.1.spoor.4712.tmp", 60)):
    with open(os.path.join(day, name), "w", encoding="utf-8") as file:
        file.write("unfinished")
    os.utime(os.path.join(day, name), (NOW - age, NOW - age))
for name in ("31.0.n1.exit", "99.0.n1.exit"):
    with open(os.path.join(day, name), "w", encoding="utf-8") as file:
        file.write('{"version":1,"job":%s,"step":"0","exit_code":1,"signal":0}' % name.split(".")[0])
with open(os.path.join(day, "README"), "w", encoding="utf-8") as file:
    file.write("somebody's")
now = time.gmtime(NOW)
this_month = os.path.join(store, time.strftime("%Y/%m", now))
for name in ("2019/05", "2018/12/31", "2017/07/03"):
    os.makedirs(os.path.join(store, name))
os.makedirs(os.path.join(store, str(now.tm_year + 1), "01"))
with open(os.path.join(store, "2017/07/notes"), "w", encoding="utf-8") as file:
    file.write("somebody's")
run, jobs = prune("--delete")
tap.equal([os.path.exists(os.path.join(store, name)) for name in ("2019", "2018", "2017/07/03", "2017/07", this_month, str(now.tm_year + 1) + "/01")],
          [False, False, False, True, True, True], "empty months and years go; those that may still be used, and others' files, stay")
tap.equal(sorted(os.listdir(day)), [".31.0.1.spoor.4712.tmp", "31.0.0.spoor", "31.0.n1.exit", "README"],
          "an exit note without a trace, and what a killed process left; nothing else")

# Only files of the archive, whatever the index says.
outside = os.path.join(work, "outside")
os.makedirs(outside)
with open(os.path.join(outside, "41.0.0.spoor"), "wb") as file:
    file.write(archive.container(dict(archive.metadata(41, 0), retention=1)))
os.makedirs(os.path.join(store, "2020/01/02"), exist_ok=True)
os.symlink(outside, os.path.join(store, "2020/01/01"))
os.symlink(outside, os.path.join(store, "2020/01/02", str(os.geteuid())))
prune("--delete", "--max-age", "1")
tap.equal(os.listdir(outside), ["41.0.0.spoor"], "symbolic links are not followed")
for arguments in (("--quota", "much"), ("--quota", "0"), ("--quota", "1X"), ("--max-age", "x"), ("--max-age", "0"), ("--nonsense",), ("file",)):
    run, jobs = prune(*arguments)
    tap.ok(run.returncode == 2 and not run.stdout, "refused: " + " ".join(arguments), run.stderr)
subprocess.run(["rm", "-rf", work], check=True)
tap.done()
