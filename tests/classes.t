#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# classes - computations of several classes: what the independent reader finds of them, and how long replays compute
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

APPS = os.path.join(tap.BUILD, "bench/apps")
RANKS, STEPS, WORK = 3, 100, 1000  # us; programs sleep, so that a busy machine makes them longer and never shorter


def traced(folder, name, program, *options):
    path = os.path.join(folder, name + ".spoor")
    done = launch.mpirun(RANKS, program, before=[launch.spoor(), "run", *options, "-f", "-o", path, "--"], timeout=300)
    if done.returncode or not os.path.exists(path):
        print("# " + done.stderr.decode(errors="replace").replace("\n", "\n# "))
        return None
    return path


def application(folder, name, *options):
    return traced(folder, name + "".join(options), [os.path.join(APPS, name), str(STEPS), "1", str(WORK), "--sleep"], *options)


def main_edge(t):
    """The edge with classes that has most computations, and its classes."""
    edges = [(t.times[site]["edges"][to]["count"], (site, to)) for site, to in t.classes]
    return (max(edges)[1], t.classes[max(edges)[1]]) if edges else (None, None)


def mean(time):
    return time["sum"] / time["count"]


def keys_of(t, edge, classes, rank):
    """The class of each computation of the edge in a rank, in order."""
    walk = list(t.walk(rank))
    visits = sum(1 for pair in zip(walk, walk[1:]) if pair == edge)
    for ranks, pattern, dictionary in classes["groups"]:
        if rank in ranks:
            column = t.column([(ranks, pattern or None, dictionary)], rank)
            return [next(column) for _ in range(visits)] if pattern else [dictionary[0][1][rank]] * visits
    return []


def compute_ns(path):
    out = subprocess.run([launch.spoor(), "show", "--json", path], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["compute_ns"]


def whole(t, title):
    for (site, to), c in t.classes.items():
        count = sum(k["count"] for k in c["keys"].values())
        if c["keys"] and count != t.times[site]["edges"][to]["count"]:
            tap.ok(False, title, f"site {site}, edge to {to}: {count} of {t.times[site]['edges'][to]['count']}")
            return
    tap.ok(True, title)


def in_order(t, edge, c):
    """Of each rank, in how many steps the class is the one that the step's length has; None: ranks have no order."""
    keys = [keys_of(t, edge, c, rank) for rank in range(RANKS)]
    long = {k for k, time in c["keys"].items() if mean(time) > 5e6}
    return None if any(1 in mine for mine in keys) else [sum((k in long) == (i % 10 == 9 - 1) for i, k in enumerate(mine)) for mine in keys]


def periodic(folder):
    for _ in range(3):  # others may take the processors away meanwhile
        path = application(folder, "periodic")
        t = reader.Trace(path)
        edge, c = main_edge(t)
        right = c and in_order(t, edge, c)
        if right and min(right) >= 0.9 * (STEPS - 1):
            break
    whole(t, "periodic: all computations of an edge are in a class")
    if not tap.ok(c and len(c["keys"]) >= 2, "every tenth step is long: several classes"):
        return
    if right is None:
        tap.skip("each tenth one is long", "the machine is too busy: ranks have no order")
    else:
        tap.ok(min(right) >= 0.9 * (STEPS - 1), "each tenth one is long, on all ranks", f"{right} of {STEPS - 1}")
    again = traced(folder, "again", [os.environ["SPOOR_REPLAY"], path])
    first, second = compute_ns(path), compute_ns(again)
    tap.ok(0.9 * first < second, "the replay computes for as long", f"{first} ns, {second} ns")


def imbalanced(folder):
    path = application(folder, "imbalanced")
    t = reader.Trace(path)
    edge, c = main_edge(t)
    whole(t, "imbalanced: all computations of an edge are in a class")
    if not tap.ok(c is not None, "one rank has more work: classes"):
        return
    means = {}
    for rank in range(RANKS):
        counts = collections.Counter(keys_of(t, edge, c, rank))
        expected = sum(n * mean(c["keys"][k]) for k, n in counts.items()) / sum(counts.values())
        means[rank] = expected * (1 + c["means"].get(rank, 0) / 32)
    out = subprocess.run([launch.spoor(), "show", "--classes", "--json", path], stdout=subprocess.PIPE, check=True).stdout
    slow = [g for g in json.loads(out)["classes"] if g["list"] == "1"]
    tap.ok(slow and slow[0]["compute_ns"] > 3.6e8, "show --classes has a group for it", out.decode())
    tap.ok(means[1] > 3.6e6 and means[1] > max(means[0], means[2]), "it is rank 1, with four times the work", str(means))
    waits = [parts for site, parts in t.rank_means.items() if t.sites[site][0] == "MPI_Allreduce"]
    if tap.ok(len(waits) == 1 and waits[0][0] is not None, "what each rank spent in the call that waits for it", str(t.rank_means)):
        parts = {rank: t.mean_parts(waits[0][0], value) for rank, value in waits[0][1].items()}
        tap.ok(parts[1] < 0.7 * min(parts[0], parts[2]), "rank 1 waits least", str(parts))


def exact_times(folder):
    path = application(folder, "noise", "--timing", "full")
    again = traced(folder, "again", [os.environ["SPOOR_REPLAY"], path])
    first, second = compute_ns(path), compute_ns(again)
    tap.ok(0.97 * first < second, "times of all events are taken as they were", f"{first} ns, {second} ns")


def counted(folder):
    """What was counted is with the class of the computation: rank 1 has four times as many page faults in a step, however busy the machine is."""
    counter = "perf::PAGE-FAULTS"
    path = traced(folder, "counted", [launch.compiled(folder, "mpicc", "pages.c")], "--counters", counter)
    t = reader.Trace(path)
    edge, c = main_edge(t)
    if not tap.ok(c and c["counts"] and c["counts"][0], "one rank has more work: classes that were counted"):
        return
    means = {k: mean(time) for k, time in c["counts"][0].items() if time["count"]}
    tap.ok(max(means.values()) > 1.5 * min(means.values()), "a class has more on the counter than another", str(means))
    out = subprocess.run([launch.spoor(), "show", "--classes", "--json", path], stdout=subprocess.PIPE, check=True).stdout
    groups = json.loads(out)["classes"]
    more = [g["counters"][counter] for g in groups if g["list"] == "1"]
    others = [g["counters"][counter] for g in groups if g["list"] != "1"]
    if not more and len(groups) < RANKS:
        tap.skip("show --classes has it for the group", "the machine is too busy: another rank took as long")
    else:
        tap.ok(more and others and more[0] > max(others), "show --classes has it for the group", out.decode())
    counts = sum(k["count"] for k in c["counts"][0].values())
    tap.ok(counts <= t.counts[0][edge[0]]["edges"][edge[1]]["count"], "no more than the edge has")
    done = subprocess.run([launch.spoor(), "verify", path], stdout=subprocess.PIPE, check=False)
    tap.ok(done.returncode == 0, "the trace is good", done.stdout.decode())


def scaled(folder):
    path = application(folder, "phases")

    def replayed(scale):
        out = os.path.join(folder, "scaled.spoor")
        launcher = launch.command(RANKS, [])
        done = subprocess.run([launch.spoor(), "replay", "--check", "--compute", "sleep", "--scale", scale, "-o", out, path, "--", *launcher[1:launcher.index("-n")]],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        return (compute_ns(out) if os.path.exists(out) else 0), done.stdout.decode(errors="replace")
    plain, said = replayed("1")
    less, _ = replayed("solve=0")
    tap.ok(0 < less < 0.7 * plain, "--scale solve=0 leaves the solver's computation out", f"{plain} ns, {less} ns", said)
    _, said = replayed("dissolve=0")
    tap.ok("no call path has a function or a file `dissolve`" in said, "a name that there is not is refused", said)


def main():
    if not os.path.exists(os.path.join(APPS, "periodic")) or not shutil.which("mpirun"):
        tap.skip_all("the mini-applications are not built, or there is no mpirun")
    os.environ.setdefault("SPOOR_REPLAY", os.path.join(tap.BUILD, "spoor-replay"))
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory(prefix="spoor-classes-") as folder:
        periodic(folder)
        imbalanced(folder)
        exact_times(folder)
        counted(folder)
        scaled(folder)
    tap.done()


main()
