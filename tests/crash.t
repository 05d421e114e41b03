#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""crash - jobs in a real Slurm that end badly leave the trace of every surviving rank, exact up to the end, with the reason, and nothing in the spool

All jobs run at the same time. A row of the table that is printed in the end is a way to end."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

if os.geteuid() != 0:
    tap.skip_all("a cluster needs root")
BUILD, SOURCE = tap.BUILD, tap.SOURCE
SITE = os.environ.get("SPOOR_SITE") or os.path.join(BUILD, "site")
CRASH, FLATLOG = os.path.join(BUILD, "tests/crash"), os.path.join(BUILD, "tests/flatlog/flatlog.so")
RANKS, DEADLINE = 8, 3
work = tempfile.mkdtemp(prefix="crash.")
os.chmod(work, 0o755)
os.environ.pop("TMPDIR", None)


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def wait(seconds, condition):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.2)
    return condition()


def start():
    policy = os.path.join(work, "policy.json")
    with open(policy, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "mode": "lossless", "archive": "@SITE@/archive", "spool": "@SITE@/spool", "deadline": DEADLINE, "rules": []}, file)
    done = run(os.path.join(SOURCE, "tests/site"), "start", "-p", policy, BUILD)
    if done.returncode != 0:
        print("Bail out! no cluster with spoor:", done.stderr)
        sys.exit(1)
    text = run("bash", "-c", f"eval \"$('{SOURCE}/tests/site' env '{BUILD}')\" && env -0").stdout
    os.environ.update(item.split("=", 1) for item in text.split("\0") if "=" in item)


class Job:
    """One way to end. reason: what the metadata are to say; None: the trace is whole."""

    def __init__(self, name, arguments, reason, options=(), ranks=RANKS, whole=False, srun="", mpirun=False):
        self.name, self.reason, self.ranks, self.whole = name, reason, ranks, whole
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder + "/flat")
        start = "mpirun --oversubscribe --mca orte_tmpdir_base . " if mpirun else f"srun --kill-on-bad-exit=1 {srun} "
        script = f"""#!/bin/sh
{start}sh -c 'LD_PRELOAD={FLATLOG}:$LD_PRELOAD exec "$@"' sh {CRASH} {arguments}
{"exit $?" if mpirun else "exit 0"}
"""
        done = run("sbatch", "--parsable", "--trace=lossless", "--output=out", "-N4", "--ntasks-per-node=2", *options, cwd=self.folder, input=script,
                   env=dict(os.environ, FLATLOG_DIR=self.folder + "/flat"))
        self.id = done.stdout.strip()
        self.begin = time.monotonic()

    def ended(self):
        return "JobState=RUNNING" not in (shown := run("scontrol", "--oneliner", "show", "job", self.id).stdout) and \
            "JobState=PENDING" not in shown and "JobState=COMPLETING" not in shown and "JobState=CONFIGURING" not in shown

    def traces(self):
        return sorted(glob.glob(f"{SITE}/archive/*/*/*/*/{self.id}.*.spoor"))

    def spool(self):
        return glob.glob(f"{SITE}/spool/{self.id}.*")

    def running(self):
        return len(glob.glob(self.folder + "/flat/*.log")) == RANKS

    def step_daemon(self, node):
        """Process ids of this job's slurmstepd of step 0 on a node, and of its tasks."""
        daemons, tasks = [], []
        for path in glob.glob("/proc/[0-9]*"):
            try:
                with open(path + "/cmdline", "rb") as file:
                    line = file.read().replace(b"\0", b" ").decode(errors="replace")
                with open(path + "/environ", "rb") as file:
                    environ = file.read().split(b"\0")
            except OSError:
                continue
            if line.startswith(CRASH) and f"SLURM_JOB_ID={self.id}".encode() in environ and f"SLURMD_NODENAME={node}".encode() in environ:
                tasks.append(int(path[6:]))
        for task in tasks:  # its children
            with open(f"/proc/{task}/stat", encoding="utf-8") as file:
                daemon = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{daemon}/comm", encoding="utf-8") as file:
                if file.read().startswith("slurmstepd") and daemon not in daemons:
                    daemons.append(daemon)
        return daemons, tasks

    def check(self, seconds=60):
        problems = []
        if not wait(seconds, self.ended):
            problems.append("the job hangs")
        if not wait(40, lambda: not self.spool() and len(self.traces()) == 1):
            run("spoor", "list")
            if self.spool():
                problems.append("left in the spool: " + " ".join(os.listdir(self.spool()[0])))
        traces = self.traces()
        if len(traces) != 1:
            log = run("spoor", "doctor", self.id).stdout
            return problems + [f"{len(traces)} traces: " + " ".join(os.path.basename(t) for t in traces), log], "-", "-"
        shown = run("spoor", "show", "--json", traces[0])
        meta = json.loads(shown.stdout)["meta"] if shown.returncode == 0 else {}
        there = meta.get("ranks", 0) - meta.get("ranks_missing", 0)
        if there != self.ranks:
            problems.append(f"{there} ranks in the trace, expected {self.ranks}")
        if meta.get("reason") != self.reason:
            problems += [f"reason {meta.get('reason')}, expected {self.reason}", run("spoor", "doctor", self.id).stdout]
        if (meta.get("partial", 0) == 0) != (self.reason is None):
            problems.append(f"partial is {meta.get('partial')}")
        lost = [r for r in range(RANKS) if run("spoor", "dump", "--rank", str(r), traces[0]).returncode != 0]
        for rank in range(RANKS):
            if rank in lost:
                continue
            dumped = run("spoor", "dump", "--rank", str(rank), traces[0]).stdout.splitlines()
            with open(f"{self.folder}/flat/{rank}.log", encoding="utf-8") as file:
                flat = file.read().splitlines()
            if len(dumped) == len(flat) + 1:  # killed between the two loggers, or in the call that the flat logger writes when it comes back
                dumped.pop()
            if dumped != flat:
                at = next((i for i, (f, d) in enumerate(zip(flat, dumped)) if f != d), min(len(flat), len(dumped)))
                problems.append(f"rank {rank}: {len(dumped)} events, flat log {len(flat)}; event {at} differs: {dumped[at:at + 1]} {flat[at:at + 1]}")
        last = run("spoor", "show", "--last", traces[0])
        if last.returncode != 0 or " rank" not in last.stdout:
            problems.append("spoor show --last: " + last.stderr)
        return problems, f"{there} of {meta.get('ranks')}", meta.get("reason", "-")


def visible(spool):
    """What is hidden there is root's (deliver/queue.h)."""
    return [name for name in os.listdir(spool) if name[0] != "."]


def sweep():
    return run("spoor", "sweep", "--all", "--settled", "0", "--helper", os.path.join(BUILD, "spoor-helper"))


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass


def memory_limit(daemon, size):
    """Puts a process and those that it will start into a memory cgroup of their own. Returns how to undo that, or None."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
        own = next((path for _, names, path in lines if "memory" in names.split(",")), None)
        top = "/sys/fs/cgroup/memory" + own if own else "/sys/fs/cgroup" + next(path for _, names, path in lines if not names)
        folder = f"{top}/spoor-crash-{os.getpid()}"
        os.mkdir(folder)
    except (OSError, StopIteration):
        return None

    def undo():
        with open(top + "/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(daemon))
        wait(20, lambda: not open(folder + "/cgroup.procs", encoding="utf-8").read())
        os.rmdir(folder)

    try:
        with open(folder + ("/memory.limit_in_bytes" if own else "/memory.max"), "w", encoding="utf-8") as file:
            file.write(str(size))
        with open(folder + "/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(daemon))
    except OSError:
        os.rmdir(folder)
        return None
    return undo


table = []


def row(what, job, seconds=60):
    problems, ranks, reason = job.check(seconds)
    tap.ok(not problems, what, *problems, *([run("scontrol", "--oneliner", "show", "job", job.id).stdout] if problems else []))
    table.append(f"{what:42} {ranks:>7} {reason:12} {'exact' if not problems else 'WRONG'}")


def hung_in(job):
    """What show says of a job, and the call in which most time was lost."""
    traces = job.traces()
    shown = json.loads(run("spoor", "show", "--json", *traces[:1]).stdout or "{}") if traces else {}
    return shown, max((x for x in shown.get("unended", ()) if x["call"]), key=lambda x: x["sum_ns"], default={})


def verdict(what):
    """Of a job that runs, or a trace, without the time."""
    said = run("spoor", "where", "--hung", "1s", what)
    found = re.search(r"^Verdict: [^.]*", re.sub(r" for [\d.]+ \w+ after", " for some time after", said.stdout), re.M)
    return found.group(0) if found else said.stdout + said.stderr


def named(job, *others):
    """A job that hung for about a minute is the dearest of the archive: everybody names the call, who was in it, who was not."""
    shown, call = hung_in(job)
    together = call.get("sum_ns", 0) + sum(hung_in(other)[1].get("sum_ns", 0) for other in others)  # at the same site
    tap.equal((call.get("function"), call.get("ranks")), ("MPI_Bcast", f"0-{RANKS - 2}"), "show names the call that never ended, and its ranks")
    tap.ok(40e9 < call.get("sum_ns", 0) / (RANKS - 1) < 200e9, "for about a minute each", call)
    tap.ok(f"Rank {RANKS - 1} did not come" in shown.get("verdict", ""), "and the rank that did not come", shown.get("verdict"))
    listed = run("spoor", "list", "--job", job.id).stdout
    tap.ok("time-limit:MPI_Bcast" in listed, "list says why it ended, and in which call", listed)
    tap.ok(f"A rank is gone: Rank {RANKS - 1} " in " ".join(run("spoor", "why", job.id).stdout.split()), "why names the rank, and says once that it is gone",
           run("spoor", "why", job.id).stdout)
    answer = json.loads(run("spoor", "aggregate", "--by", "site", "--sort", "unended", "--json").stdout or "{}")
    dearest = (answer.get("groups") or [{}])[0]
    tap.ok(dearest.get("function") == "MPI_Bcast" and "crash+0x" in dearest.get("frames", "") and
           abs(dearest["unended_node_hours"] * 3600 - together * 1e-9 * 4 / RANKS) < 1, "aggregate: the site of most calls that never ended, in node hours", dearest, call)
    text = run("spoor", "aggregate", "--sort", "wait", "--by", "user").stdout
    tap.ok("Jobs that hung" in text and "MPI_Bcast did not end" in text and any(h["trace"].startswith(job.id + ".") for h in answer.get("hung", ())),
           "and the job, with what it waited for", text)


try:
    start()
    # the slowest first: Slurm's time limit is a minute at least
    limit = Job("limit", "loop", "time-limit", ["--time=1"])
    launched = Job("launched", "loop", "time-limit", ["--time=1", "-N1", f"--ntasks-per-node={RANKS}"], mpirun=True)
    step = Job("step", "loop", "signal", srun="--time=1")  # slurmctld forgets steps when they end
    hang = Job("hang", "hang", "time-limit", ["--time=1"])
    bcast = Job("bcast", "bcast", "time-limit", ["--time=1"])
    cancel = Job("cancel", "bcast", "cancelled")
    stepd = Job("stepd", "loop", "node-lost")
    cut = Job("cut", "loop", "node-lost", ranks=RANKS - 1)
    jobs = [
        ("a rank is killed", Job("one", "kill-one", "signal")),
        ("all ranks are killed", Job("all", "kill-all", "signal")),
        ("MPI_Abort", Job("abort", "abort", "abort")),
        ("_exit(0) without MPI_Finalize", Job("exit0", "exit0", "exit")),
        ("segmentation fault", Job("segv", "segv", "signal")),
        ("a rank comes late to MPI_Finalize", Job("late", f"late {DEADLINE + 5}", None)),
    ]

    # slurmstepd is killed on one node; on the others the step then ends as usual. Of another job an arena is damaged as well.
    for job in (stepd, cut):
        tap.ok(wait(60, job.running), f"{job.name}: all ranks run")
        time.sleep(2)
        daemons, tasks = job.step_daemon("n3")
        tap.equal((len(daemons), len(tasks)), (1, 2), f"{job.name}: its slurmstepd and its tasks are found")
        kill(daemons)
        kill(tasks)
        if job is cut and wait(10, lambda: glob.glob(f"{SITE}/spool/{cut.id}.0.n3/rank-*.arena")):
            os.truncate(sorted(glob.glob(f"{SITE}/spool/{cut.id}.0.n3/rank-*.arena"))[0], 20000)
        run("scancel", job.id)
    tap.ok(wait(60, cancel.running), "cancel: all ranks run")
    time.sleep(3)
    run("scancel", cancel.id)
    seen = verdict(bcast.id)
    for what, job in jobs:
        row(what, job)
    row("a rank does not come to MPI_Bcast, scancel", cancel)
    shown, call = hung_in(cancel)
    tap.ok(call.get("function") == "MPI_Bcast" and call["sum_ns"] > 2e9 * (RANKS - 1) and f"Rank {RANKS - 1} did not come" in shown.get("verdict", ""),
           "show names the call that was cancelled, how long it took, and the rank that did not come", call, shown.get("verdict"))
    listed = run("spoor", "list", "--job", cancel.id).stdout
    tap.ok("cancelled:MPI_Bcast" in listed, "list does, too", listed)
    for job in (stepd, cut):
        wait(60, job.ended)
        wait(30, lambda: [os.path.basename(f) for f in job.spool()] in ([], [f"{job.id}.0.n3"]))
    swept = sweep()
    run("spoor", "list")
    row("slurmstepd is killed (swept later)", stepd)
    row("an arena is truncated", cut)
    # The kernel ends a process of a step that takes more memory than its cgroup has.
    with open(f"{SITE}/cluster/run/slurmd-n4.pid", encoding="utf-8") as file:
        undo = memory_limit(int(file.read()), 512 << 20)
    if undo:
        try:
            memory = Job("memory", "memory 10", "oom")
            wait(30, memory.running)
            time.sleep(3)
            seen = verdict(memory.id)
            row("out of memory", memory)
            tap.equal(("Rank gone: rank 7" in seen, verdict(*memory.traces()[:1])), (True, seen), "its verdict is what was seen while it ran")
        finally:
            undo()
    else:
        tap.skip("out of memory", "no memory cgroup can be made here")
    row("time limit", limit, 150)
    row("time limit of mpirun", launched, 60)
    listed = run("spoor", "list", "--noheader", "--job", launched.id).stdout
    tap.ok("TIMEOUT" in listed or " TO " in listed, "whose state is Slurm's", listed)
    row("time limit of the step", step, 60)
    row("a rank hangs before MPI_Finalize, time limit", hang, 30)
    row("a rank does not come to MPI_Bcast, time limit", bcast, 30)
    named(bcast, cancel)
    tap.equal(("Rank gone: rank 7" in seen, verdict(*bcast.traces()[:1])), (True, seen), "its verdict is what was seen while it ran")

    # The spool is full when the ranks finalize: what they recorded goes to the archive from memory.
    spool = os.path.join(SITE, "spool")
    if run("mount", "-t", "tmpfs", "-o", "size=192m,mode=711", "tmpfs", spool).returncode == 0:
        try:
            full = Job("full", "wait 4", None)
            if wait(30, full.running):
                time.sleep(1)
                run("dd", "if=/dev/zero", f"of={spool}/fill", "bs=1M")
            row("the spool is full", full)
        finally:
            run("rm", "-f", spool + "/fill")
            run("umount", "-l", spool)
    else:
        tap.skip("the spool is full", "no tmpfs can be mounted")

    wait(20, lambda: not visible(spool))
    tap.equal(visible(spool), [], "nothing is left in the spool")
    tap.equal(run("sinfo", "--noheader", "--format=%T").stdout.split(), ["idle"], "no node was drained")
finally:
    run(os.path.join(SOURCE, "tests/site"), "stop", BUILD)
    if tap._failed == 0:
        shutil.rmtree(work, ignore_errors=True)
for line in [f"{'WHAT':42} {'RANKS':>7} {'REASON':12} EVENTS", *table]:
    print("#", line)
tap.done()
