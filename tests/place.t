#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""place - what goes from node to node, as it ran and as it might: counted again from the matrix, never worse than Slurm's, as good as annealing

    tests/place.t anneal SECONDS     compares with an annealer of its own that searches for so long for each program, and is no test
"""
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

APPS = (("adi",), ("cg",), ("fft",), ("halo2d",), ("halo3d",), ("halo3d", "--periodic"), ("multigrid",), ("wavefront",))
SEND, FINALIZE, SENDRECV = 2, 1, 30  # of tests/virtual


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def placed(path, *options):
    done = spoor("place", "--json", *options, path)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


def alone(folder, program, *options, ranks=64):
    """A trace of a mini-application."""
    path = os.path.join(folder, "-".join([program, *options]) + ".spoor")
    done = subprocess.run([launch.spoor(), "run", "-o", path, "--", os.path.join(tap.SOURCE, "bench", "alone"), str(ranks),
                           os.path.join(launch.BUILD, "bench", "apps", program), "4", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=dict(os.environ, TMPDIR=folder, SPOOR_BUILD=launch.BUILD))
    return path if done.returncode == 0 and os.path.exists(path) else None


def virtual(folder, size, sends, hosts=None):
    """A trace in which ranks send: (from, to, bytes) each."""
    path = os.path.join(folder, f"v{len(os.listdir(folder))}.spoor")
    lines = [f"size {size}"] + ([f"hosts {' '.join(hosts)}"] if hosts else [])
    lines += [f"{a} {SEND} 1000 1000 {n} t {b - a} 0 w" for a, b, n in sends] + [f"{r} {FINALIZE} 1000 1000" for r in range(size)]
    subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), path], input="\n".join(lines) + "\n", text=True, check=True)
    return path


def both(pairs, size=100):
    return [(x, y, size) for a, b in pairs for x, y in ((a, b), (b, a))]


def grid(side, periodic):
    """Faces of a cube of ranks, each pair once."""
    pairs = set()
    for r in range(side ** 3):
        at = (r // side ** 2, r // side % side, r % side)
        for d in range(3):
            there = list(at)
            there[d] += 1
            if periodic or there[d] < side:
                there[d] %= side
                pairs.add(tuple(sorted((r, there[0] * side ** 2 + there[1] * side + there[2]))))
    return sorted(pairs)


def matrix(path):
    """(a, b) -> [messages, bytes] of both directions."""
    cells = {}
    for a, b, messages, size in json.loads(spoor("show", "--matrix", "--json", path).stdout)["matrix"]:
        if a != b:
            cell = cells.setdefault((min(a, b), max(a, b)), [0, 0])
            cell[0] += messages
            cell[1] += size
    return cells


def crossing(cells, nodes):
    cut = [cell for (a, b), cell in cells.items() if nodes[a] != nodes[b]]
    return {"pairs": len(cut), "messages": sum(m for m, _ in cut), "bytes": sum(n for _, n in cut)}


def anneal(cells, nodes, rounds, seconds=None, seed=1):
    """The fewest bytes between nodes that exchanges of two ranks find, from nodes given."""
    draw, nodes, n = random.Random(seed), list(nodes), len(nodes)
    near = [{} for _ in range(n)]
    for (a, b), (_, size) in cells.items():
        near[a][b] = near[b][a] = size
    cut = best = sum(size for (a, b), (_, size) in cells.items() if nodes[a] != nodes[b])
    mean = max(1.0, sum(sum(x.values()) for x in near) / n / 2)
    end, i = time.time() + (seconds or 1e9), 0
    while i < rounds and time.time() < end:
        done = max(i / rounds, 1 - (end - time.time()) / seconds if seconds else 0)
        heat = mean * 0.005 ** done
        for _ in range(100):
            a, b = draw.randrange(n), draw.randrange(n)
            p, q = nodes[a], nodes[b]
            if p == q:
                continue
            change = 2 * near[a].get(b, 0)
            for c, size in near[a].items():
                change += size if nodes[c] == p else -size if nodes[c] == q else 0
            for c, size in near[b].items():
                change += size if nodes[c] == q else -size if nodes[c] == p else 0
            if change <= 0 or draw.random() < math.exp(-change / heat):
                nodes[a], nodes[b] = q, p
                cut += change
                best = min(best, cut)
        i += 100
    return best


def order(c):
    return c["between_nodes"]["bytes"], c["between_nodes"]["messages"]


def slurm(size, nodes, way):
    """Which node each rank has, of nodes that get as many."""
    each, plane = size // nodes, int(way.split("=")[1]) if "=" in way else 1
    return [r // each if way.startswith("block") else r // plane % nodes for r in range(size)]


def check_app(path, title):
    told = placed(path, "--nodes-like", "8:2:4")
    if not tap.ok("error" not in told, f"{title}: it is told", told.get("error")):
        return
    found, best = told["found"], min(told["slurm"], key=order)
    tap.equal(sorted(found["nodes"]), [n for n in range(8) for _ in range(8)], f"{title}: as many ranks on each node")
    tap.equal(sorted(zip(found["nodes"], found["sockets"])), [(n, s) for n in range(8) for s in range(2) for _ in range(4)],
              f"{title}: and on each socket")
    tap.ok(order(found) <= order(best), f"{title}: never worse than the best of Slurm's", order(found), order(best))
    tap.equal([s["placement"] for s in told["slurm"]], ["block:block", "block:cyclic", "cyclic:block", "cyclic:cyclic", "plane=2", "plane=4"], f"{title}: Slurm's")
    tap.equal([s["nodes"] for s in told["slurm"]], [slurm(64, 8, s["placement"]) for s in told["slurm"]], f"{title}: their nodes")
    tap.ok(order({"between_nodes": told["bound"]}) <= order(found), f"{title}: not better than its bound", told["bound"])
    cells = matrix(path)
    if title != "fft":  # whose bytes are collectives'
        for row in [*told["slurm"], found]:
            tap.equal(row["between_nodes"], crossing(cells, row["nodes"]), f"{title}: {row['placement']}, counted again")
        other = anneal(cells, found["nodes"], 30000)
        tap.ok(found["between_nodes"]["bytes"] <= 1.02 * other, f"{title}: a short annealing finds nothing better", found["between_nodes"], other)
    return told


def check_grids(folder):
    told = placed(virtual(folder, 64, both(grid(4, False))), "--nodes-like", "8:1:8")
    tap.equal((told["slurm"][0]["between_nodes"]["pairs"], told["found"]["between_nodes"]["pairs"]), (64, 48), "a cube of 4x4x4 ranks: pairs by block, and found")
    tap.equal((told["verdict"], told["slurm_suffices"]), ("gain", False), "that is a gain, which none of Slurm's has")
    tap.equal((told["best"], told["bound"]["bytes"]), (True, 48 * 200), "and no placement has less")
    periodic = virtual(folder, 64, both(grid(4, True)))
    for like, pairs in (("8:1:8", 96), ("4:1:16", 64), ("2:1:32", 32)):
        told = placed(periodic, "--nodes-like", like)
        tap.equal((told["slurm"][0]["between_nodes"]["pairs"], told["found"]["between_nodes"]["pairs"], told["verdict"]), (pairs, pairs, "none possible"),
                  f"the same, periodic, {like}: no gain is possible")
    told = placed(virtual(folder, 27, both(grid(3, False))), "--nodes-like", "9:1:3")
    tap.ok(told["bound"]["bytes"] <= told["found"]["between_nodes"]["bytes"] and told["best"] == (told["bound"]["bytes"] == told["found"]["between_nodes"]["bytes"]),
           "a bound is never above what was found", told["bound"], told["found"]["between_nodes"])
    everybody = virtual(folder, 16, [(a, b, 10) for a in range(16) for b in range(16) if a != b])
    told = placed(everybody, "--nodes-like", "4:1:4")
    tap.equal((told["verdict"], told["found"]["between_nodes"]["bytes"]), ("none possible", 10 * 16 * 12), "all with all alike: no gain is possible")
    tap.ok("No gain is possible" in spoor("place", "--nodes-like", "4:1:4", everybody).stdout, "which the text says")


def check_proofs(folder):
    """Of small graphs at random: a bound is never above the best of all divisions."""
    draw = random.Random(5)
    divisions = [set(c) for c in itertools.combinations(range(8), 4) if 0 in c]
    proved, wrong = 0, []
    for i in range(12):
        pairs = [(a, b) for a in range(8) for b in range(a) if draw.random() < 0.45]
        sizes = {pair: 100 * draw.randrange(1, 4) if i % 2 else 100 for pair in pairs}
        told = placed(virtual(folder, 8, [(a, b, n) for (a, b), n in sizes.items()]), "--nodes-like", "2:1:4")
        best = min(sum(n for (a, b), n in sizes.items() if (a in half) != (b in half)) for half in divisions)
        if told["bound"]["bytes"] > best or (told["best"] and told["found"]["between_nodes"]["bytes"] != best):
            wrong.append((told["bound"], best, sizes))
        proved += told["best"]
    tap.equal(wrong, [], f"random graphs: no bound is above the best of all divisions, and {proved} of 12 are proved to be the best")


def check_time(folder):
    """Ranks compute 10 ms and exchange 10 MB with another node, ten times: 10 ms at 1 GB/s, and 1 ms within a node; a run begins with its first call."""
    path, each = os.path.join(folder, "time.spoor"), 10 ** 7
    lines = ["size 4", "hosts a a b b"]
    lines += [f"{r} {SENDRECV} 10000000 10000000 {each} t {3 - 2 * r} 7 {each} t {3 - 2 * r} 7 w {3 - 2 * r} 7 {each}" for _ in range(10) for r in range(4)]
    lines += [f"{r} {FINALIZE} 1 1" for r in range(4)]
    subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), path], input="\n".join(lines) + "\n", text=True, check=True)
    told = placed(path)
    time_ = told["time"]
    tap.ok(time_ and 0.42 <= time_["saved"] <= 0.52 and 0.20 <= time_["saved_low"] <= 0.30 and time_["saved"] <= time_["saved_high"] <= 0.60,
           "what a placement saves of the run, of 9 of 19 ms", time_)
    tap.ok("% of the run (" in spoor("place", path).stdout, "the text says it", spoor("place", path).stdout)
    platform = os.path.join(folder, "platform.json")
    level = {"latency_ns": 0, "overhead_ns": 0, "gap_ns": 0}
    with open(platform, "w", encoding="utf-8") as file:
        json.dump({"name": "two ways", "levels": {"socket": {**level, "bytes_per_s": 10e9}, "node": {**level, "bytes_per_s": 10e9}, "switch": {**level, "bytes_per_s": 1e9}}}, file)
    told = placed(path, "--platform", platform)
    tap.ok(told["time"] and abs(told["time"]["saved"] - 9 / 19) < 0.001 and told["time"]["platform"] == "two ways", "on a network that is described: exactly", told)
    done = spoor("place", path, "--platform", os.path.join(folder, "none.json"))
    tap.ok(done.returncode == 1 and "none.json" in done.stderr, "a platform that is not there", done.stderr)
    one = virtual(folder, 64, both(grid(4, False)), ["a"] * 64)
    told = placed(one, "--nodes-like", "8:1:8")
    tap.ok(told["verdict"] == "gain" and told["time"] is None, "of a run on one node, the way between nodes is not known", told["time"])


def check_files(folder):
    """As it ran: 0 1 on a, 2 3 on b."""
    crossed = virtual(folder, 4, both([(0, 3), (1, 2)]), "a a b b".split())
    out = os.path.join(folder, "out")
    done = spoor("place", "-o", out, crossed)
    tap.equal((done.returncode, done.stderr), (0, ""), "files are written")
    told = placed(crossed)
    tap.equal((told["verdict"], told["slurm_suffices"], told["gain"], told["found"]["nodes"]), ("gain", False, 1.0, [0, 1, 1, 0]), "an order that Slurm has not")
    tap.equal(told["ran"]["between_nodes"], {"pairs": 2, "messages": 4, "bytes": 400}, "as it ran")

    def text(name):
        with open(os.path.join(out, name), encoding="utf-8") as file:
            return file.read()
    tap.equal(sorted(os.listdir(out)), ["MPICH_RANK_ORDER", "hostfile", "nodes", "rankfile", "srun"], "which files")
    tap.equal(text("hostfile"), "a\nb\nb\na\n", "the hosts by rank")
    tap.equal(text("nodes"), "0\n1\n1\n0\n", "the nodes by rank")
    tap.equal(text("MPICH_RANK_ORDER"), "0,3,1,2\n", "the ranks by place")
    tap.equal([line.split()[1] for line in text("rankfile").splitlines()], ["0=+n0", "3=+n0", "1=+n1", "2=+n1"], "the rank file")
    tap.ok(os.access(os.path.join(out, "srun"), os.X_OK), "the script can be run")
    again = spoor("place", "-o", out, crossed)
    tap.ok(again.returncode == 1 and "is there already" in again.stderr, "what is there stays", again.stderr)
    cyclic = virtual(folder, 4, both([(0, 2), (1, 3)]), "a a b b".split())
    tap.ok("srun --distribution=cyclic" in spoor("place", cyclic).stdout, "where Slurm can do it, its option is told")
    told = placed(virtual(folder, 4, both([(0, 1), (2, 3)]), "a a b b".split()))
    tap.equal((told["verdict"], told["gain"]), ("none possible", 0.0), "as it ran is best")
    told = placed(virtual(folder, 5, both([(0, 3), (0, 4), (3, 4), (1, 2)]), "a a a b b".split()))
    tap.equal((told["machine"]["ranks"], sorted(told["found"]["nodes"]), told["found"]["between_nodes"]["bytes"]), ([3, 2], [0, 0, 0, 1, 1], 0), "nodes keep as many ranks as they had")
    odd = os.path.join(folder, "odd")
    done = spoor("place", "-o", odd, virtual(folder, 4, both([(0, 3)]), "$(x) $(x) -b -b".split()))
    tap.ok(done.returncode == 0 and not os.path.exists(os.path.join(odd, "hostfile")), "names that are none get into no host file", done.stderr)
    big = placed(virtual(folder, 4, [(0, 1, 2 ** 31 - 1)] * 3 + [(2, 3, 1)] * 7, "a b a b".split()), "--least", "messages")
    tap.equal((big["least"], big["found"]["between_nodes"]["messages"]), ("messages", 0), "messages can be what counts")


def check_wrong(folder):
    path = virtual(folder, 4, both([(0, 1)]))
    for like in ("0:1:1", "2:1", "2:2:2:2", "x", "2:-1:4", "2:2:99999", "", ":::", "99999999999:1:1"):
        done = spoor("place", "--nodes-like", like, path)
        tap.ok(done.returncode == 2 and done.stderr, f"--nodes-like {like!r} is refused", done.stderr)
    for like, why in (("8:1:1", "4 ranks do not fill 8 nodes"), ("2:1:1", "4 ranks do not fit")):
        done = spoor("place", "--nodes-like", like, path)
        tap.ok(done.returncode == 1 and why in done.stderr, f"--nodes-like {like}: {why}", done.stderr)
    done = spoor("place", path)
    tap.ok(done.returncode == 0 or "--nodes-like" in done.stderr, "without hosts, it is said what is needed", done.stderr)
    damaged = os.path.join(folder, "damaged.spoor")
    with open(path, "rb") as file, open(damaged, "wb") as out:
        out.write(file.read()[:-40])
    for name in (damaged, os.path.join(folder, "none.spoor"), "999999"):
        done = spoor("place", name)
        tap.ok(done.returncode == 1 and done.stderr.startswith("spoor"), f"{os.path.basename(name)}: an error", done.stderr)
    path = os.path.join(folder, "lossy.spoor")
    lines = ["lossy", "size 4", "hosts a a b b"] + [f"0 {SEND} 1000 1000 100 t {to} 0 w" for to in (3, 1, 3)] + [f"{r} {FINALIZE} 1 1" for r in range(4)]
    subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), path], input="\n".join(lines) + "\n", text=True, check=True)
    lossy = placed(path)
    tap.ok(lossy["verdict"] == "none found" and lossy["lossy_not_counted"] + lossy["events_not_counted"] > 0, "of a lossy trace, what was not counted is told", lossy)
    silent = placed(virtual(folder, 4, []), "--nodes-like", "2:1:2")
    tap.equal((silent.get("verdict"), silent.get("gain")), ("none possible", 0.0), "where nobody sends, nothing is gained")


def compare(folder, seconds):
    for program in APPS:
        path = alone(folder, *program)
        found, cells = placed(path, "--nodes-like", "8:2:4")["found"]["between_nodes"]["bytes"], matrix(path)
        other = min(anneal(cells, slurm(64, 8, "block"), 10 ** 12, seconds / 2, seed) for seed in (1, 2))
        print(f"{' '.join(program):<20} found {found:>10}  annealed {other:>10}", flush=True)


with tempfile.TemporaryDirectory() as work:
    if sys.argv[1:2] == ["anneal"]:
        compare(work, float(sys.argv[2]))
        sys.exit()
    for app in APPS:
        trace = alone(work, *app)
        if not tap.ok(trace, f"{' '.join(app)}: it ran"):
            continue
        result = check_app(trace, " ".join(app))
        if app == ("halo3d",):
            tap.equal((result["slurm"][0]["between_nodes"]["pairs"], result["found"]["between_nodes"]["pairs"]), (340, 244), "halo3d: pairs by block, and found")
        if app == ("fft",):
            calls = json.loads(spoor("show", "--matrix", "--json", trace).stdout)
            tap.ok(not calls["matrix"] or result["found"]["between_nodes"]["messages"], "fft: what MPI_Alltoall passes is counted")
    check_grids(work)
    check_proofs(work)
    check_time(work)
    check_files(work)
    check_wrong(work)
tap.done()
