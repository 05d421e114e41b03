#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""slow-node - of sixteen nodes one computes a tenth slower: it is named within five jobs, also where nobody waits for it; and none is named that is not"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import launch  # noqa: E402
import tap  # noqa: E402
import unseen  # noqa: E402

NODES, JOBS, FALSE_ALARMS = [f"s{i:02}" for i in range(16)], 5, 200
SLOW, FACTOR, NOISE, STEPS = "s06", 1.10, 0.015, 10
APPS = ("even", "chain", "master")  # all wait for all; neighbours only; rank 0 and rank 5 have half as much again to do


def trace(folder, app, nodes, seed, slow=None):
    """A rank on each node."""
    size = len(nodes)
    v = unseen.Virtual(size, seed)
    for _ in range(STEPS):
        v.part = "step"
        for r in range(size):
            v.compute(r, 10 * (1.5 if app == "master" and r in (0, 5) else 1) * (FACTOR if nodes[r] == slow else 1) * v.draw.gauss(1, NOISE))
        if app == "chain":
            v.exchange(v.line(), "Waitall")
        else:
            v.meet("Allreduce")
    lines = f"size {size}\nhosts {' '.join(nodes)}\n" + "\n".join(v.lines + [f"{r} 1 1000 100000" for r in range(size)]) + "\n"
    path = os.path.join(folder, "x.spoor")
    done = subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), path], input=lines, text=True, check=False)
    return archive.chunks_of(path) if done.returncode == 0 else None


def fill(folder, root, jobs):
    """jobs: (app, nodes, slow) each, a job an hour."""
    begin = int(time.time()) - 3600 * len(jobs) - 86400
    for i, (app, nodes, slow) in enumerate(jobs):
        chunks, start = trace(folder, app, nodes, 1000 + i, slow), begin + 3600 * i
        if chunks is None:
            return False
        facts = archive.metadata(i + 1, start)
        facts.update(state="COMPLETED", exit_code=0, signal=0, partial=0, nodes=len(nodes), tasks=len(nodes), ranks=len(nodes), hosts=nodes,
                     ranks_per_node=[1] * len(nodes), exe=f"/bin/{app}", command=[f"/bin/{app}"], elapsed=1, end_ns=start * 10**9 + 10**9)
        archive.put(root, i + 1, start, archive.container(facts, chunks))
    return True


def slow_nodes(root):
    done = subprocess.run([launch.spoor(), "trend", "--json", "--archive", root], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    return [n["node"] for n in json.loads(done.stdout)["nodes"] if n["slow"]]


def placed(how, draw, i):
    return NODES if how == "in order" else draw.sample(NODES, len(NODES)) if how == "shuffled" else sorted(draw.sample(NODES, 8)) if i % 3 else draw.sample(NODES, 16)


with tempfile.TemporaryDirectory(prefix="slow-node-t-") as folder:
    os.chmod(folder, 0o711)  # root reads archives as somebody else
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    for how in ("in order", "shuffled"):
        for apps in (APPS[:1], APPS[1:2], APPS):
            draw, root = random.Random(7), os.path.join(folder, "-".join(apps) + how.replace(" ", "-"))
            os.mkdir(root, 0o755)
            tap.ok(fill(folder, root, [(apps[i % len(apps)], placed(how, draw, i), SLOW) for i in range(JOBS)]), f"{how}, {', '.join(apps)}: {JOBS} jobs")
            tap.equal(slow_nodes(root), [SLOW], f"{how}, {', '.join(apps)}: a node that is {100 * (FACTOR - 1):.0f} % slower is named after {JOBS} jobs")
    draw, root = random.Random(8), os.path.join(folder, "healthy")
    os.mkdir(root, 0o755)
    jobs = [(APPS[i % len(APPS)], placed(("in order", "shuffled", "some")[i // 3 % 3], draw, i), None) for i in range(FALSE_ALARMS)]
    tap.ok(fill(folder, root, jobs), f"{FALSE_ALARMS} jobs on nodes that are alike")
    tap.equal(slow_nodes(root), [], f"of {FALSE_ALARMS} jobs on nodes that are alike none is named")
tap.done()
