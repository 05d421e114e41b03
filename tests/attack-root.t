#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# attack-root - root runs each command over what a hostile user made, in a terminal, while that user attacks it: root's terminal, environment and files are root's
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hostile  # noqa: E402
import launch  # noqa: E402
import tap  # noqa: E402

if os.geteuid() != 0:
    tap.skip_all("root must be there, and two users")
ALICE, MALLORY = 61011, 61012  # of no other test: each process of theirs counts as attacked
SPOOR = os.path.join(tap.BUILD, "spoor")
SECONDS, BYTES = 10, 300 << 20
SECRET = "SECRET=of-root-alone"
JUNK = int(os.environ.get("SPOOR_JUNK", "2000"))  # files; SPOOR_JUNK=10000: more
work = tempfile.mkdtemp(prefix="attack-root.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o711)
NOW = time.strftime("%Y/%m/%d", time.gmtime())
store, evil, out = (os.path.join(work, name) for name in ("archive", "mallory", "out"))
plain = os.path.join(work, "a.spoor")


def owned(path, user, mode=None):
    os.chown(path, user, user, follow_symlinks=False)
    if mode is not None:
        os.chmod(path, mode)
    return path


def owners(*tops):
    """Of all files, by path; links are not followed."""
    return {path: os.lstat(path).st_uid for top in tops for folder, folders, names in os.walk(top) for path in [os.path.join(folder, n) for n in folders + names]}


# --- what is there ---
subprocess.run([SPOOR, "run", "-o", plain, "--", os.path.join(tap.BUILD, "tests/ending")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
               env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SPOOR_PRELOAD=launch.preload()))
os.makedirs(os.path.join(store, NOW), 0o755)
os.mkdir(os.path.join(store, ".index"), 0o700)
for user, job in ((ALICE, 100), (MALLORY, 200)):
    home = owned(os.path.join(store, NOW, str(user)), user) if os.mkdir(os.path.join(store, NOW, str(user)), 0o755) is None else None
    for n in range(3):
        owned(shutil.copy(plain, os.path.join(home, f"{job + n}.0.0.spoor")), user, 0o444)
os.mkdir(evil)
owned(evil, MALLORY, 0o755)
trace = owned(shutil.copy(plain, os.path.join(evil, "trace.spoor")), MALLORY, 0o444)
second = owned(shutil.copy(plain, os.path.join(evil, "second.spoor")), MALLORY, 0o444)
os.mkdir(out, 0o755)
shared = os.path.join(work, "shared")
os.mkdir(shared)
os.chmod(shared, 0o1777)
victim = os.path.join(work, "victim")
with open(victim, "w", encoding="utf-8") as file:
    file.write("root's\n")
made = subprocess.run(["setpriv", f"--reuid={MALLORY}", f"--regid={MALLORY}", "--clear-groups", "sh", "-c", f"""cd {evil} && mkdir bin && for n in srun squeue sinfo scontrol mpicc mpirun; do
printf '#!/bin/sh\\nid -u >>{evil}/executed\\n' >bin/$n; chmod 755 bin/$n; done
ln -s {victim} {shared}/link; ln -s {out} {shared}/through; ln -s {out} {evil}/way; mkfifo {shared}/fifo; mkdir {shared}/folder; echo mine >{shared}/file; chmod 777 {evil}
cd {store}/{NOW}/{MALLORY} && mkfifo 300.0.0.spoor 301.0.n1.exit && ln -s {victim} 302.0.0.spoor && mkdir 303.0.0.spoor && ln -s /dev/zero 304.0.0.spoor
python3 -c "import os
for i in range({JUNK}): open(f'{{400 + i}}.0.n1.exit' if i % 2 else f'{{400 + i}}.0.0.spoor', 'w').write('junk')
for i in range(200): os.mkdir('x'); os.chdir('x')" """], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
tap.ok(made.returncode == 0, "mallory has made what there is", made.stdout)
policy = os.path.join(evil, "policy.json")
with open(policy, "w", encoding="utf-8") as file:
    file.write(f'{{"version": 1, "spool": "{evil}/spool", "archive": "{evil}/archive", "rules": []}}')
owned(policy, MALLORY, 0o644)
os.makedirs(os.path.join(evil, "roots/own"), 0o755)  # of root's
before = owners(store, evil)

# --- root's commands ---
AS_MALLORY = ("setpriv", f"--reuid={MALLORY}", f"--regid={MALLORY}", "--clear-groups", sys.executable, os.path.join(tap.SOURCE, "tests/hostile.py"))
swapper = subprocess.Popen([*AS_MALLORY, "swap", shared, out], stdin=subprocess.PIPE)  # before the other one, whose prey it would be
while not os.path.lexists(os.path.join(shared, "swap.l")):
    time.sleep(0.02)
log = os.path.join(evil, "log")
attacker = subprocess.Popen([*AS_MALLORY, "attack", log, SECRET],
                            stdin=subprocess.PIPE, stdout=open(os.path.join(work, "tried"), "wb"))
while not os.path.exists(log):
    time.sleep(0.05)


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    os.environ.clear()
    os.environ.update(PATH=f"{evil}/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME=work, TERM="dumb", SPOOR_ARCHIVE=store, SPOOR_PAGER="", SPOOR_POLICY="/nonexistent", SECRET=SECRET)
    os.chdir(work)


costs = []  # seconds, MiB, command


def root_runs(title, *words, status=0, like="", folder=work):
    ended, used, said, typed = hostile.terminal([SPOOR, *words], lambda: (limits(), os.chdir(folder)))
    code, seconds, said = os.waitstatus_to_exitcode(ended), used.ru_utime + used.ru_stime, said.decode(errors="replace")
    costs.append((seconds, used.ru_maxrss >> 10, words[0]))
    good = (code == status if status is not None else code >= 0) and like in said
    tap.ok(good and typed == b"" and seconds < SECONDS and used.ru_maxrss << 10 < BYTES, f"{title}: spoor {words[0]}",
           f"status {code}, typed {typed!r}, {seconds:.1f} s, {used.ru_maxrss >> 10} MiB", said)


def new(name):
    return os.path.join(out, name)


root_runs("over the archive", "index")
for words in (["list"], ["list", "--json"], ["aggregate", "--by", "user"], ["aggregate", "--by", "site"], ["trend"], ["prune"], ["prune", "--delete", "--user-quota", "1M"], ["index", "--full"],
              ["show", "200"], ["why", "200"], ["doctor", "200"], ["report", "--archive", store, "-o", new("site.html")]):
    root_runs("over the archive", *words, status=None)
for words in (["show", trace], ["show", "--last", trace], ["show", "--sites", trace], ["why", trace], ["where", trace], ["dump", trace], ["stat", trace], ["verify", trace], ["diff", trace, second],
              ["report", "-o", new("r.html"), trace], ["export", "--chrome", new("c.json"), trace], ["export", "--otf2", new("otf2"), trace], ["export", "--simgrid", new("simgrid"), trace],
              ["export", "--spoor", new("other.spoor"), "--anonymise", "env:SECRET", trace],
              ["proxy", "-o", new("proxy"), trace], ["merge", "-o", new("m.spoor"), trace], ["place", "--nodes-like", "1:1:4096", "-o", new("place"), trace]):
    root_runs("over mallory's trace", *words, status=None if "--otf2" in words or words[0] == "why" else 0)
root_runs("over mallory's traces", "scale", trace, second, trace, status=1, like="not enough sizes")
root_runs("over mallory's traces", "extrapolate", trace, second, "--ranks", "8", "-o", new("large.spoor"), status=1, like="name one of each size")
root_runs("nothing of mallory's is run", "replay", trace, status=1, like="as an ordinary user")
root_runs("nothing of mallory's is run", "proxy", "-o", new("proxy-2"), trace, status=0, like="not run: root starts no programs")
root_runs("nothing of mallory's is run", "proxy", "--check", new("proxy"), trace, status=1, like="as an ordinary user")
root_runs("Slurm's commands are not mallory's", "top", "--once", status=None)
root_runs("Slurm's commands are not mallory's", "where", "17", status=None)
root_runs("Slurm's commands are not mallory's", "doctor", status=None)
root_runs("Slurm's commands are not mallory's", "watch", "--notify", "true", status=None)

# --- what root is told to do by a policy of mallory's ---
for command in ("sweep", "setup"):
    root_runs("refused: mallory's policy", command, "--policy", policy, status=1, like="it is only used if it is root's")
root_runs("mallory's policy is looked at", "policy", "check", policy)
root_runs("mallory's policy is looked at", "policy", "explain", "--policy", policy)

# --- where root writes ---
for title, words in (("into mallory's folder", ["report", "-o", os.path.join(evil, "r.html"), trace]), ("through mallory's link", ["report", "-o", os.path.join(evil, "way", "r2.html"), trace]),
                     ("a folder in mallory's", ["proxy", "-o", os.path.join(evil, "proxy"), trace]), ("a trace into mallory's", ["merge", "-o", os.path.join(evil, "m.spoor"), trace]),
                     ("files of a placement", ["place", "-o", os.path.join(evil, "place"), trace]), ("what is run", ["run", "-o", os.path.join(evil, "run.spoor"), "--", "true"])):
    root_runs(f"refused: {title}", *words, status=1, like="name a")
root_runs("refused: in mallory's folder", "run", "--", "true", status=1, like="name a", folder=evil)
for title, words in (("an export", ["export", "--chrome", os.path.join(evil, "c.json"), trace]), ("a folder of an export", ["export", "--otf2", os.path.join(evil, "otf2"), trace]),
                     ("the page of the archive", ["report", "--archive", store, "-o", os.path.join(evil, "site.html")]), ("metrics", ["report", "--archive", store, "--openmetrics", "-o", os.path.join(evil, "m")]),
                     ("a replay", ["replay", "--check", "-o", os.path.join(evil, "replay.spoor"), plain]), ("what a job waits for", ["where", "-o", os.path.join(evil, "where"), trace])):
    root_runs(f"refused: {title}", *words, status=1, like="name a")
# Folders of root's own are no better: whoever has the folder above puts others in their place.
os.mkdir(os.path.join(out, "group"))
os.chown(os.path.join(out, "group"), 0, MALLORY)
os.chmod(os.path.join(out, "group"), 0o775)
for title, folder in (("a folder of root's in mallory's", os.path.join(evil, "roots/own")), ("a folder that mallory's group can write", os.path.join(out, "group")),
                      ("out of mallory's by ..", os.path.join(evil, "roots/../../out"))):
    root_runs(f"refused: {title}", "report", "-o", os.path.join(folder, "r.html"), trace, status=1, like="root writes only where nobody else can")
    root_runs(f"refused: a state file in {title}", "watch", "--notify", "true", "--state", os.path.join(folder, "made/state"), status=1, like="root writes only where nobody else can")
root_runs("refused: a state file through mallory's link", "watch", "--notify", "true", "--state", os.path.join(evil, "way/made/state"), status=1, like="root writes only where nobody else can")
root_runs("refused: a state file through a link in a folder like /tmp", "watch", "--notify", "true", "--state", os.path.join(shared, "through/made/state"), status=1, like="name the folder itself")
for name in ("link", "fifo", "folder", "file"):
    root_runs(f"a name that mallory has taken: {name}", "proxy", "-o", os.path.join(shared, name), trace, status=1 if name != "folder" else None)
    root_runs(f"a name that mallory has taken: {name}", "report", "-o", os.path.join(shared, name), trace, status=None)
# A folder that mallory has in one like /tmp, and that is a link to root's at every other instant.
swapper.stdin.write(b"now\n")
swapper.stdin.flush()
raced = [hostile.terminal([SPOOR, "report", "-o", os.path.join(shared, "swap/race.html"), trace], limits) for _ in range(40)]
swapper.stdin.close()
swapper.wait()
tap.equal(({os.waitstatus_to_exitcode(status) for status, _, _, _ in raced}, sorted(n for n in owners(out, shared) if "race.html" in n)), ({1}, []),
          "refused: a folder that is a link now and then")
shutil.rmtree(os.path.join(out, "group"))
root_runs("a folder like /tmp", "report", "-o", os.path.join(shared, "page"), trace)
for _ in range(100):  # on a busy machine it takes a while to find any of so short a life
    with open(os.path.join(work, "tried"), "rb") as file:
        if len(file.readlines()) > 3:
            break
    hostile.terminal([SPOOR, "dump", trace], limits)
attacker.stdin.close()
attacker.wait(timeout=60)

# --- one of root's that stands still, as its output is full ---
for title, words in (("a command over mallory's trace", ["dump", trace]), ("one that writes as root", ["report", "-o", "-", trace])):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while os.write(writer, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(writer, True)
    process = subprocess.Popen([SPOOR, *words], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.DEVNULL, preexec_fn=limits)
    os.close(writer)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            now = status.read()
        with open(f"/proc/{process.pid}/wchan", encoding="ascii") as waits:
            if f"\nUid:\t{MALLORY}\t" in now and "pipe" in waits.read():
                break
        time.sleep(0.02)
    said = subprocess.run([*AS_MALLORY, "still", str(process.pid), SECRET], capture_output=True, text=True, check=False)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = status
    os.close(reader)
    tap.equal((said.stdout, said.stderr), ("done\n", ""), f"{title}: mallory ends it, and gets nothing of it")
    tap.ok(os.WIFSIGNALED(status) and not os.WCOREDUMP(status), f"{title}: nor does it leave a core", status)

# --- what came of it ---
with open(log, encoding="utf-8") as file:
    told = file.read().splitlines()
tap.ok(told and told[-1].startswith("tried ") and int(told[-1].split()[1].rstrip(":")) > 3, "mallory has attacked processes of root's that had their number", *told[-3:])
tap.equal(told[:-1], [], "and got nothing of them: no memory, no environment, no descriptor, no control, no terminal")
tap.ok(not os.path.exists(os.path.join(evil, "executed")), "no program of mallory's was executed")
after = owners(store, evil)
tap.equal({path: (user, after.get(path)) for path, user in before.items() if after.get(path, user) != user}, {}, "no file has changed its owner")
tap.equal(sorted(path for path in after if path not in before and path != log and not path.startswith(os.path.join(store, ".index"))), [], "mallory's folders have nothing new")
tap.equal(sorted(path for path, user in owners(out).items() if user != 0), [], "what root wrote is root's")
tap.ok(all(not stat.S_IMODE(os.lstat(path).st_mode) & 0o022 for path in owners(out)), "and nobody else can write it")
with open(victim, encoding="utf-8") as file:
    tap.equal(file.read(), "root's\n", "what links lead to is unchanged")
tap.equal(sorted(n for n in os.listdir(out) + os.listdir(shared) if n.startswith(".")), [], "nothing is left of what was made before it had its name")
print(f"# {len(costs)} commands: at most {max(costs)[0]:.2f} s of processor time (spoor {max(costs)[2]}), {max(c[1] for c in costs)} MiB")
shutil.rmtree(work, ignore_errors=True)
tap.done()
