#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""attack-spool - what one user leaves in the spool of a node costs root and other users nothing: neither time, nor memory, nor room, nor traces

What slurmstepd starts when a step ends (`spoor-helper end`) is started here, on folders of two users; its processor time and memory are measured with that of all that it starts."""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

if os.geteuid() != 0:
    tap.skip_all("helpers become users")
MIB = 1 << 20
MALLORY, BOB = 65533, 65532
MEMORY_MOST, CPU_MOST = 300 * MIB, 10
work = tempfile.mkdtemp(prefix="attack-spool.")
os.chmod(work, 0o711)
SPOOL, ARCHIVE, HELPER = (os.path.join(work, name) for name in ("spool", "archive", "spoor-helper"))
shutil.copy(os.path.join(tap.BUILD, "spoor-helper"), HELPER)
os.chmod(HELPER, 0o711)  # as it is installed
os.mkdir(SPOOL)
os.chmod(SPOOL, 0o711)
os.mkdir(ARCHIVE)
os.chmod(ARCHIVE, 0o755)
policy = os.path.join(work, "policy.json")
with open(policy, "w", encoding="utf-8") as file:
    file.write(f'{{"version": 1, "mode": "lossless", "memory": "1 MiB", "spool_reserve": 0, "archive": "{ARCHIVE}", "spool": "{SPOOL}", "rules": []}}')
started = []
table = []

# A raw trace, as the tracer leaves it.
raw = os.path.join(work, "raw")
os.mkdir(raw)
subprocess.run([os.path.join(tap.BUILD, "tests/ending")], env=dict(os.environ, LD_PRELOAD=launch.preload(), SLURM_SPOOR_HANDOFF=f"1;mode=lossless;spool={raw}",
               OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"), capture_output=True, check=True)
RAW = os.path.join(raw, os.listdir(raw)[0])


def folder(job, uid, *files):
    """The folder of a step, with a raw trace if there are no files; files: functions that make something in it."""
    path = os.path.join(SPOOL, f"{job}.0.n1")
    os.mkdir(path, 0o700)
    for make in files or (lambda p: shutil.copy(RAW, p),):
        make(path)
    subprocess.run(["chown", "-hR", f"{uid}:{uid}", path], check=True)
    return path


def end(path, uid, helper=HELPER, wait=True, **more):
    """The step ended. Returns what its processes used: seconds, bytes; or the process if it is not to be waited for."""
    facts = dict(job=os.path.basename(path).split(".")[0], step="0", uid=uid, gid=uid, node="n1", exit_code=0, signal=0, spool=path, deliver_archive=ARCHIVE,
                 deliver_helper=helper, deliver_memory=224 * MIB, deliver_cpu=CPU_MOST, deliver_changed=0, **more)
    lock = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # its user has locked it
        pass
    out = open(os.path.join(work, "said"), "ab")

    process = subprocess.Popen(["sh", "-c", f'exec "$0" end 3<&{lock} {lock}<&-' if lock != 3 else 'exec "$0" end', HELPER], stdin=subprocess.PIPE, stdout=out, stderr=out,
                               pass_fds=[lock])
    os.close(lock)
    out.close()
    started.append(process)
    process.stdin.write("".join(f"{k}={v}\n" for k, v in facts.items()).encode())
    process.stdin.close()
    if not wait:
        return process
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def delivered(job):
    return [name for _, _, names in os.walk(ARCHIVE) for name in names if name.startswith(f"{job}.") and name.endswith(".spoor")]


def sweep(*options):
    return subprocess.run([os.path.join(tap.BUILD, "spoor"), "sweep", "--policy", policy, "--helper", HELPER, *options], capture_output=True, text=True).stdout


def waiting(uid):
    path = os.path.join(SPOOL, ".waiting", str(uid))
    return sorted(name for name in os.listdir(path) if name[0] != ".") if os.path.isdir(path) else []


def sparse(name, size, begin=b""):
    def make(path):
        with open(os.path.join(path, name), "wb") as file:
            file.write(begin)
            file.truncate(size)
    return make


def many(form, count):
    def make(path):
        for i in range(count):
            os.close(os.open(os.path.join(path, form.format(i)), os.O_CREAT | os.O_WRONLY, 0o600))
    return make


def deep(path):
    for _ in range(40):
        path = os.path.join(path, "d")
        os.mkdir(path)


def as_user(uid):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


def of_user(uid, code):
    """A Python program as a user; its output."""
    return subprocess.run([*as_user(uid), "/usr/bin/python3", "-c", code], capture_output=True, text=True).stdout.strip()


script = os.path.join(work, "script")


def running_script():
    return [int(pid) for pid in subprocess.run(["pgrep", "-u", str(MALLORY), "-f", script], capture_output=True, text=True).stdout.split()]


def helper_script(text):
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(script, 0o755)
    return script


try:
    with open(RAW, "rb") as file:
        trace = file.read()
    job = 100
    used = end(folder(job, BOB), BOB)
    tap.equal(len(delivered(job)), 1, "nobody attacks: delivered")
    table.append(("nobody attacks", *used))

    # --- what is in a folder ---
    junk = {
        "a world of 1 TiB, sparse": [sparse("world-0000000000000001.spoor", 1 << 40)],
        "a world with 4 GiB behind it, sparse": [sparse("world-0000000000000001.spoor", 4 << 30, trace)],
        "an arena of 2 GiB, sparse": [sparse("rank-1.arena", 2 << 30)],
        "an arena of 1 TiB, sparse": [sparse("rank-1.arena", 1 << 40)],
        "30,000 names": [many("x{}", 30000)],
        "30,000 arenas of nothing": [many("rank-{}.arena", 30000)],
        "3,000 worlds of nothing": [many("world-{:016x}.spoor", 3000)],
        "folders in folders": [deep],
        "FIFOs": [lambda p: [os.mkfifo(os.path.join(p, n)) for n in ("facts", "lock", "note-1", "rank-1.arena", "world-0000000000000001.spoor")]],
        "links": [lambda p: [os.symlink("/etc/shadow", os.path.join(p, n)) for n in ("facts", "note-1", "rank-1.arena", "world-0000000000000001.spoor")]],
        "facts of 1 MiB": [lambda p: open(os.path.join(p, "facts"), "w").write("a=" + "b" * MIB), lambda p: shutil.copy(RAW, p)],
    }
    for what, files in junk.items():
        job += 1
        cpu, memory = end(folder(job, MALLORY, *files), MALLORY)
        table.append((what, cpu, memory))
        tap.ok(cpu <= CPU_MOST + 1 and memory <= MEMORY_MOST, f"{what}: at most {CPU_MOST} s and {MEMORY_MOST // MIB} MiB", f"{cpu:.1f} s, {memory // MIB} MiB")
    job += 1
    end(folder(job, BOB), BOB)
    tap.equal(len(delivered(job)), 1, "another user's trace is delivered as ever")

    # --- again, later and later, and no more ---
    kept = waiting(MALLORY)
    tap.ok(kept, "what cannot be delivered waits", *kept)
    text = sweep()
    tap.ok(re.search(r"^0 delivered, [1-9][0-9]* kept, 0 given up", text, re.M) and text.count("\n") == 1, "it is not tried again at once", text)
    for name in kept:
        path = os.path.join(SPOOL, ".waiting", str(MALLORY), name)
        with open(path, encoding="utf-8") as file:
            facts = dict(line.rstrip("\n").split("=", 1) for line in file)
        facts.update(deliver_next="0", deliver_tries="8", deliver_since=str(int(time.time()) - 4 * 86400))
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(f"{k}={v}\n" for k, v in facts.items()))
    text = sweep()
    tap.equal(len(re.findall(": given up: ", text)), min(3, len(kept)), "after days it is given up; three failures are enough at a time")
    while waiting(MALLORY) and ": given up: " in sweep():
        pass
    tap.equal((waiting(MALLORY), sorted(os.listdir(os.path.join(SPOOL, ".given-up")))), ([], kept), "all of it is put away")
    tap.equal(of_user(BOB, f"import os\ntry: os.listdir({SPOOL + '/.given-up'!r})\nexcept OSError as e: print(e.strerror)"), "Permission denied", "nobody else sees it")
    tap.ok(f"0 delivered, {len(kept)} kept" in sweep("--all").splitlines()[-1], "spoor sweep --all tries it once more")
    for name in os.listdir(SPOOL):
        if name[0] != ".":
            shutil.rmtree(os.path.join(SPOOL, name))
    sweep("--all")
    tap.equal(waiting(MALLORY), [], "what is removed is forgotten")

    # --- users who hold things up ---
    job += 1
    path = folder(job, MALLORY)
    holder = subprocess.Popen([*as_user(MALLORY), "/usr/bin/python3", "-c", f"import fcntl, os, time; fcntl.flock(os.open({path!r}, 0), 2); time.sleep(60)"])
    started.append(holder)
    while not re.search(f":{os.stat(path).st_ino} ", open("/proc/locks", encoding="ascii").read()):
        time.sleep(0.05)
    end(path, MALLORY)
    tap.equal(waiting(MALLORY), [os.path.basename(path)], "a folder that its user has locked waits")
    holder.kill()
    holder.wait()
    sweep("--all")
    tap.equal(len(delivered(job)), 1, "and is delivered when it is not locked any more")
    job += 1
    stopped = end(folder(job, MALLORY), MALLORY, helper=helper_script("kill -STOP $$\n"), wait=False)
    deadline = time.monotonic() + 20
    while not running_script() and time.monotonic() < deadline:
        time.sleep(0.05)
    others = []
    for _ in range(5):
        job += 1
        others.append(job)
        end(folder(job, BOB), BOB)
    tap.equal([len(delivered(j)) for j in others], [1] * 5, "a user's helper is stopped: another user's traces are delivered")
    job += 1
    mine = end(folder(job, MALLORY), MALLORY)
    tap.equal((stopped.poll(), len(waiting(MALLORY))), (None, 2), "and that user's next step only leaves its note: one process for a user")
    stopped.kill()
    for pid in running_script():
        os.kill(pid, signal.SIGKILL)
    sweep("--all")
    tap.equal(waiting(MALLORY), [], "when it is gone, both are delivered")

    # --- limits, and who may look ---
    job += 1
    told = os.path.join(work, "told")
    os.mkdir(told)
    os.chmod(told, 0o1777)
    end(folder(job, MALLORY), MALLORY, helper=helper_script(f"cat /proc/self/limits >{told}/limits.$1\nexit 1\n"))
    with open(f"{told}/limits.collect", encoding="ascii") as file:
        limits = {line[:26].strip(): line[26:].split()[0] for line in file if line.startswith("Max")}
    tap.equal([limits[k] for k in ("Max cpu time", "Max file size", "Max data size", "Max core file size", "Max open files", "Max address space")],
              [str(CPU_MOST), str(224 * MIB), str(224 * MIB), "0", "256", str((224 + 48) * MIB)], "the limits of a helper")
    text = sweep("--all", "--helper", helper_script("printf '\\033[31mred\\n%02000d\\n' 1 >&2\nexit 1\n"))
    tap.ok("?[31mred" in text and "\033" not in text, "what a helper says is printable", text)
    tap.ok(max(len(line) for line in text.splitlines()) < 600, "and has an end")
    sweep("--all")

    look = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
found = []
for name in "mem", "environ", "maps", "cwd/x", "root/x", "fd":
    try:
        (os.listdir if name == "fd" else open)(f"/proc/%d/{name}")
        found.append(name)
    except PermissionError:
        pass
    except OSError as error:
        found.append(f"{name}: {error.strerror}")
if libc.ptrace(16, %d, 0, 0) == 0:
    found.append("ptrace")
    libc.ptrace(17, %d, 0, 0)
print(*found)
"""
    control = subprocess.Popen([*as_user(MALLORY), "sleep", "60"])
    secluded = subprocess.Popen([*as_user(MALLORY), HELPER, "collect"], stdin=subprocess.PIPE)
    started += [control, secluded]
    time.sleep(1)
    tap.ok("mem" in of_user(MALLORY, look % ((control.pid,) * 3)), "a user can look into their own process")
    tap.equal(of_user(MALLORY, look % ((secluded.pid,) * 3)), "", "a user cannot look into, or trace, a helper that is theirs")
    tap.equal(re.search(r"Max processes +(\d+)", open(f"/proc/{secluded.pid}/limits", encoding="ascii").read()).group(1), "0", "it starts no process")
    control.kill()
    secluded.kill()

    # --- room ---
    def decide(uid, job, by=policy):
        facts = f"job={job}\nstep=0\nuid={uid}\ngid={uid}\nnode=n1\nlocal_tasks=2\nstep_folder={job}.0.n1\n"
        return subprocess.run([HELPER, "decide", by, launch.preload()], input=facts, capture_output=True, text=True)

    for name in os.listdir(SPOOL):
        if name[0] != ".":
            shutil.rmtree(os.path.join(SPOOL, name))
    quota = os.path.join(work, "quota.json")
    with open(policy, encoding="utf-8") as file, open(quota, "w", encoding="utf-8") as to:
        to.write(file.read().replace('"version": 1,', '"version": 1, "spool_user": "8 MiB",'))

    def nested(path):
        for _ in range(80):
            path = os.path.join(path, "d")
            os.mkdir(path)
        with open(os.path.join(path, "x"), "wb") as file:
            file.write(b"x" * (16 * MIB))

    def full(path):
        with open(os.path.join(path, "x"), "wb") as file:
            file.write(b"x" * (16 * MIB))

    tap.equal(decide(MALLORY, 800, quota).returncode, 0, "a user with nothing in the spool is below \"spool_user\"")
    for what, make, mode in (("in a file", full, 0o700), ("below 80 folders", nested, 0o700), ("in a folder that its user cannot read", full, 0),
                             ("in a folder whose files its user cannot reach", full, 0o400)):
        path = folder(801, MALLORY, make)
        os.chmod(path, mode)
        done = decide(MALLORY, 802, quota)
        tap.ok(done.returncode != 0 and '"spool_user" is' in done.stderr, f"16 MiB {what} are above \"spool_user\"", done.stderr)
        tap.equal(decide(BOB, 803, quota).returncode, 0, "and are not another user's")
        for name in os.listdir(SPOOL):
            if name[0] != ".":
                shutil.rmtree(os.path.join(SPOOL, name))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=711", "tmpfs", SPOOL]).returncode == 0:
        try:
            path = folder(900, MALLORY, sparse("world-0000000000000001.spoor", 1 << 40))
            tap.equal(decide(MALLORY, 901).returncode, 0, "what is sparse takes no room: captured")
            with open(path + "/world-0000000000000002.spoor", "wb") as file:
                file.write(b"x" * (40 * MIB))
            done = decide(MALLORY, 902)
            tap.ok(done.returncode != 0 and "which is more than is left for all others" in done.stderr, "who holds more than is left for all others is not captured", done.stderr)
            tap.equal(decide(BOB, 903).returncode, 0, "the others are")
            os.rmdir(SPOOL + "/903.0.n1")
            subprocess.run(["chown", "-R", str(MALLORY), path], check=True)
            end(path, MALLORY)
            tap.equal((os.path.exists(path), decide(MALLORY, 904).returncode), (False, 0), "when the step ends, junk of that size is removed")
        finally:
            subprocess.run(["umount", "-l", SPOOL])
    else:
        tap.skip("a spool that fills up", "no tmpfs can be mounted")
finally:
    for process in started:
        if process.returncode is None:
            process.kill()
            process.wait()
    shutil.rmtree(work, ignore_errors=True)
print("#", f"{'what a step leaves':40} {'cpu s':>6} {'MiB':>5}")
for what, cpu, memory in table:
    print("#", f"{what:40} {cpu:6.2f} {memory // MIB:5}")
tap.done()
