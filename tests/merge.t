#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""merge - spoor merge: the same bytes in any order, from arenas or from parts, and as the ranks themselves made them; and parts are joined once"""
import glob
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

BUILD = tap.BUILD
RANKS, NODES, ORDERS = 8, 3, 20
MPIRUN = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader", "--mca", "pml", "ob1"]
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SPOOR_PRELOAD=launch.preload())
work = tempfile.mkdtemp(prefix="merge.")
os.chmod(work, 0o755)
random.seed(1)


def spoor(*arguments, **more):
    return subprocess.run([os.path.join(BUILD, "spoor"), *arguments], capture_output=True, text=True, timeout=120, **more)


def run(name, command, deadline=30, ranks=RANKS):
    """Runs a program with the tracer. Returns (spool folder, folder with the arenas: they are linked before the ranks remove them)."""
    spool, kept = os.path.join(work, name), os.path.join(work, name + ".kept")
    os.mkdir(spool, 0o700)
    os.mkdir(kept, 0o700)
    over = threading.Event()

    def keep():
        while not over.wait(0.002):
            for path in glob.glob(os.path.join(spool, "rank-*-*-*.arena")):
                try:
                    os.link(path, os.path.join(kept, os.path.basename(path)))
                except OSError:
                    pass

    thread = threading.Thread(target=keep)
    thread.start()
    done = subprocess.run([*MPIRUN, "-n", str(ranks), "-x", "LD_PRELOAD=" + os.environ["SPOOR_PRELOAD"], "-x",
                           f"SLURM_SPOOR_HANDOFF=1;mode=lossless;spool={spool};deadline={deadline}", *command],
                          capture_output=True, text=True, timeout=120)
    over.set()
    thread.join()
    return spool, kept, done


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def metadata(path):
    return json.loads(spoor("show", "--json", path).stdout)["meta"]


def dump(path):
    return spoor("dump", path).stdout


# Calling it.
tap.equal(spoor("merge").returncode, 2, "no files: usage")
tap.equal(spoor("merge", "a").returncode, 2, "no output: usage")
tap.ok("neither a trace nor an arena" in spoor("merge", "/etc/passwd", "-o", work + "/x").stderr, "a file that is neither")
tap.ok("No such file" in spoor("merge", work + "/none", "-o", work + "/x").stderr, "a file that is not there")
tap.ok(not os.path.exists(work + "/x"), "nothing is written then")

# The same bytes, whatever the order, and as the ranks made them.
for app, arguments in (("halo3d", ["3"]), ("multigrid", ["2"]), ("sort", ["2"]), ("farm", ["20"])):
    program = os.path.join(BUILD, "bench/apps", app)
    spool, kept, done = run(app, [program, *arguments])
    worlds, arenas = glob.glob(spool + "/world-*.spoor"), sorted(glob.glob(kept + "/*.arena"))
    if not tap.ok(len(worlds) == 1 and len(arenas) == RANKS and not glob.glob(spool + "/*.arena"), f"{app}: the ranks merged themselves",
                  done.stderr, os.listdir(spool), os.listdir(kept)):
        continue
    online = os.path.join(work, app + ".online")
    spoor("merge", worlds[0], "-o", online)
    found = set()
    for order in range(ORDERS if app == "halo3d" else 5):
        random.shuffle(arenas)
        out = os.path.join(work, f"{app}.{order}")
        done = spoor("merge", *arenas, "-o", out)
        found.add(digest(out) if done.returncode == 0 else done.stderr)
    tap.equal(found, {digest(online)}, f"{app}: arenas in any order give what the ranks made, byte for byte")
    tap.equal(spoor("verify", online).returncode, 0, f"{app}: it is whole")

    # As parts of nodes: sealed, joined in any order.
    parts = []
    for node in range(NODES):
        folder = os.path.join(work, f"{app}.node{node}")
        os.mkdir(folder)
        part = os.path.join(work, f"{app}.part{node}")
        done = spoor("merge", *arenas[node::NODES], "-o", part)
        parts.append(part)
    tap.ok("ranks are missing" in done.stderr and spoor("verify", parts[0]).returncode == 0, f"{app}: a part is a trace, too", done.stderr)
    found = set()
    for order in range(6):
        random.shuffle(parts)
        out = os.path.join(work, f"{app}.joined{order}")
        done = spoor("merge", *parts, "-o", out)
        found.add((dump(out), os.path.getsize(out)) if done.returncode == 0 else done.stderr)
    tap.equal(len(found), 1, f"{app}: parts in any order give the same")
    tap.ok(dump(online) in {d for d, _ in found}, f"{app}: and it is the whole")
    tap.ok("there already" in spoor("merge", arenas[0], arenas[0], "-o", work + "/twice").stderr, f"{app}: no rank twice")
tap.ok("exists" in spoor("merge", online, "-o", online).stderr, "nothing is overwritten")
tap.equal(spoor("merge", "-f", online, "-o", online).returncode, 0, "unless one says so")
tap.ok("another MPI_COMM_WORLD" in spoor("merge", work + "/halo3d.part0", work + "/sort.part1", "-o", work + "/x").stderr, "not of two programs")

# In the archive: parts are joined once.
helper = os.path.join(BUILD, "spoor-helper")
day = os.path.join(work, "archive", time.strftime("%Y/%m/%d", time.gmtime()))
own = os.path.join(day, str(os.getuid()))
os.makedirs(own)
os.environ["SPOOR_ARCHIVE"] = os.path.join(work, "archive")
os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")


def deliver(node, arenas, job=7, **facts):
    folder = os.path.join(work, f"{job}.0.n{node}")
    os.makedirs(folder, 0o700, exist_ok=True)
    for path in arenas:
        shutil.copy(path, folder)
    told = {"job": job, "step": 0, "spool": folder, "day": day, "uid": os.getuid(), "node": f"n{node}", "nodes": NODES, "exit_code": 0, "signal": 0}
    told.update(facts)
    done = subprocess.run([helper, "collect"], input="".join(f"{k}={v}\n" for k, v in told.items()), capture_output=True, text=True, timeout=60)
    left = os.listdir(folder)
    return done.stdout + done.stderr, left


def archived():
    return sorted(os.listdir(own))


arenas = sorted(glob.glob(work + "/halo3d.kept/*.arena"))
said, left = deliver(0, arenas[0::NODES])
tap.equal((said, left, archived()), ("", [], ["7.0.0.n0.spoor"]), "the first node delivers a part")
m = metadata(own + "/7.0.0.n0.spoor")
tap.ok(m.get("partial") == 1 and m.get("reason") == "deadline" and m.get("ranks_missing") == RANKS - len(arenas[0::NODES]) and m.get("part") == "7.0.n0",
       "which says that it is one, and why", m)
shutil.copy(own + "/7.0.0.n0.spoor", work + "/first")
deliver(1, arenas[1::NODES], signal=11, exit_task=1)
tap.equal(archived(), ["7.0.0.n0.spoor", "7.0.0.n1.spoor"], "the second one as well")
said, left = deliver(2, arenas[2::NODES])
tap.equal((left, archived()), ([], ["7.0.0.spoor"]), "the last node joins them")
m = metadata(own + "/7.0.0.spoor")
tap.ok("partial" not in m and "reason" not in m and m.get("parts") == ["7.0.n0", "7.0.n1", "7.0.n2"] and m.get("signal") == 11 and m.get("state") == "KILLED",
       "what is whole is not partial; how the tasks ended stays", m)
tap.equal(dump(own + "/7.0.0.spoor"), dump(work + "/halo3d.online"), "every rank decodes exactly")
tap.equal(oct(os.stat(own + "/7.0.0.spoor").st_mode & 0o777), "0o440", "the mode is kept")

# A joiner that was killed after it published: its parts are still there.
shutil.copy(work + "/first", own + "/7.0.0.n0.spoor")
names = [json.loads(line)["name"] for line in spoor("list", "--json").stdout.splitlines()]
tap.equal((names, archived()), (["7.0.0"], ["7.0.0.spoor"]), "a part that is in the whole is only removed")

# A node is lost: what there is, is joined when the archive is listed.
for path in glob.glob(own + "/*"):
    os.unlink(path)
deliver(0, arenas[0::NODES])
deliver(2, arenas[2::NODES])
tap.equal(archived(), ["7.0.0.n0.spoor", "7.0.0.n2.spoor"], "a node is lost: two parts")
spoor("list")
tap.equal(archived(), ["7.0.0.spoor"], "spoor list joins them")
m = metadata(own + "/7.0.0.spoor")
tap.ok(m.get("partial") == 1 and m.get("parts") == ["7.0.n0", "7.0.n2"] and m.get("ranks_missing") == len(arenas[1::NODES]), "which is still partial", m)
tap.ok(f"{len(arenas[1::NODES])} ranks are not in this trace" in spoor("show", "--last", own + "/7.0.0.spoor").stdout, "spoor show --last says so")
deliver(1, arenas[1::NODES])
tap.equal((archived(), "partial" in metadata(own + "/7.0.0.spoor" if len(archived()) == 1 and os.path.exists(own + "/7.0.0.spoor") else glob.glob(own + "/*")[0])),
          (["7.0.1.spoor"], False), "the lost node comes back: the rest is joined")

# Two users have jobs of one number (two clusters): neither touches the other's.
if os.geteuid() == 0:
    for path in glob.glob(own + "/*"):
        os.unlink(path)
    deliver(0, arenas[0::NODES])
    os.chmod(own, 0o3777)
    os.makedirs(day + "/65534")
    os.chown(day + "/65534", 65534, 65534)
    for path in (own + "/7.0.0.n1.spoor", day + "/65534/7.0.0.n0.spoor"):
        shutil.copy(own + "/7.0.0.n0.spoor", path)
        os.chown(path, 65534, 65534)
    deliver(2, arenas[2::NODES], nodes=2)
    spoor("list")
    tap.equal((archived(), os.listdir(day + "/65534")), (["7.0.0.n1.spoor", "7.0.0.spoor"], ["7.0.0.n0.spoor"]),
              "another user's parts are not touched, not even in one's own folder")
else:
    tap.skip("another user's part is not touched", "not root")
# As many ranks as tables begin with
for ranks in (63, 64, 65):
    spool, _, done = run(f"ranks{ranks}", [os.path.join(BUILD, "bench/apps/halo2d"), "2"], ranks=ranks)
    left = sorted(name.split("-")[0] for name in os.listdir(spool))
    tap.ok(done.returncode == 0 and "tracer:" not in done.stderr and left == ["world"], f"{ranks} ranks merge in MPI_Finalize", str(left[:5]), done.stderr[-500:])
    shown = json.loads(spoor("show", "--json", os.path.join(spool, next(n for n in os.listdir(spool) if n.startswith("world")))).stdout)
    own = shown["rank_totals"]
    tap.ok([one["rank"] for one in own] == list(range(ranks)) and 0 < sum(one["elapsed_ns"] for one in own) and
           0.8 < sum(one["compute_ns"] for one in own) / shown["compute_ns"] < 1.2, f"{ranks} ranks: what each of them computed", str(own)[:500])

shutil.rmtree(work)
tap.done()
