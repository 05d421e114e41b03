#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scale - the laws of an application's figures: exact where they follow one, and what is said of sizes that were not run is true"""
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
import archive  # noqa: E402
import launch  # noqa: E402
import tap  # noqa: E402

EXACT = ("halo2d", "adi", "cg", "fft")
INIT, FINALIZE, SEND, SSEND, ALLREDUCE = 0, 1, 2, 10, 42  # of tests/virtual


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def scaled(paths, *options):
    done = spoor("scale", "--json", *options, *paths)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


def alone(folder, program, ranks):
    path = os.path.join(folder, f"{program}-{ranks}.spoor")
    subprocess.run([launch.spoor(), "run", "-o", path, "--", os.path.join(tap.SOURCE, "bench", "alone"), str(ranks),
                    os.path.join(launch.BUILD, "bench", "apps", program), "2"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, env=dict(os.environ, TMPDIR=folder, SPOOR_BUILD=launch.BUILD))
    return path


def virtual(folder, size, steps):
    """steps: (site, ms of computation, ms in MPI, bytes) of each rank."""
    path = os.path.join(folder, f"v{len(os.listdir(folder))}.spoor")
    lines = [f"size {size}"] + [f"{r} {INIT} 1 1" for r in range(size)]
    for site, computed, passed, size_ in steps:
        values = f"{size_} t {{to}} 0 w" if site < ALLREDUCE else f"0 {size_} t s w"
        lines += [f"{r} {site} {int(computed * 1e6)} {int(passed * 1e6)} " + values.format(to=(r + 1) % size - r) for r in range(size)]
    lines += [f"{r} {FINALIZE} 1 1" for r in range(size)]
    subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), path], input="\n".join(lines) + "\n", text=True, check=True)
    return path


def near(got, expected, part):
    return abs(got - expected) <= part * abs(expected)


def check_exact(folder, app):
    paths = [alone(folder, app, n) for n in (4, 16, 64, 256)]
    if not tap.ok(all(os.path.exists(p) for p in paths), f"{app}: it ran"):
        return
    told, true = scaled(paths[:3]), scaled(paths[1:])
    if not tap.ok("error" not in told and "error" not in true, f"{app}: it is told", told, true):
        return
    for figure in ("calls", "bytes"):
        law = told["total"][figure]
        tap.ok(law["exact"] and law["answer"] == "found", f"{app}: {figure} follow a law exactly", law)
        tap.equal(round(law["at"][1]["value"]), true["total"][figure]["values"][2], f"{app}: {figure} at 256 ranks are those of a run: {law['law']}")
        sites = {s["site"]: s[figure]["values"][2] for s in true["sites"]}
        wrong = {s["site"]: (s[figure]["law"], s[figure]["at"][1]["value"], sites[s["site"]]) for s in told["sites"]
                 if s["site"] in sites and not near(s[figure]["at"][1]["value"], sites[s["site"]], 1e-6)}
        tap.equal(wrong, {}, f"{app}: and those of each of {len(told['sites'])} call sites")
    tap.ok(told["match"] == "exact" and told["matched"] == 1 and not told["sites_not_in_all"], f"{app}: call sites are found again")


def runs(folder, work, sizes=(4, 8, 16, 32, 64), repeated=1, noise=0.0, seed=1):
    """work(p): the steps."""
    draw = random.Random(seed)
    return [virtual(folder, p, [(site, c * draw.gauss(1, noise), m * draw.gauss(1, noise), n) for site, c, m, n in work(p)])
            for p in sizes for _ in range(repeated)]


def check_times(folder):
    # weak scaling: 100 ms of each rank; an exchange of 5 ms; a reduction that takes 2 ms for each level; a site whose time grows with the ranks
    weak = runs(folder, lambda p: [(SEND, 100, 5, 1000), (ALLREDUCE, 1, 2 * math.log2(p), 8), (ALLREDUCE + 1, 0.001, 0.4 * p, 8)])
    told = scaled(weak)
    at = {a["ranks"]: a for a in told["at"]}
    tap.equal((told["scaling"], sorted(at)), ("weak", [128, 256, 1024]), "each rank has as much to do: weak scaling, at 2, 4 and 16 times the ranks")

    def rank_s(p):
        return (101.001 + 5 + 2 * math.log2(p) + 0.4 * p) / 1000
    for p, a in sorted(at.items()):
        tap.ok(near(a["rank_s"], rank_s(p), 0.05), f"the time of a rank at {p:.0f}", a, rank_s(p))
        tap.ok(near(a["core_hours"], p * rank_s(p) / 3600, 0.05), "what it costs", a)
        tap.ok(near(a["efficiency"], 0.101 / rank_s(p), 0.05), "how much of it is computation", a)
    half = next(p for p in range(64, 1024) if 0.101 / rank_s(p) < 0.5)
    tap.ok(told["useful_ranks"] and near(told["useful_ranks"], half, 0.1), "up to how many ranks half of the time is computation", told["useful_ranks"], half)
    worst = max(told["sites"], key=lambda s: s["share_ahead"] - s["share"])
    tap.ok("MPI_Allreduce" in worst["site"] and worst["MPI"]["terms"][-1]["power"] == 2, "what grows fastest", worst["site"], worst["MPI"]["law"])
    text = spoor("scale", *weak).stdout
    tap.ok("What grows fastest: MPI_Allreduce" in text and "weak scaling" in text and "core hours" in text, "the text says it", text)
    by_calls = sorted((s["calls"]["law"], s["bytes"]["law"]) for s in told["sites"])
    tap.ok(("1 p", "1000 p") in by_calls, "calls and bytes of a site", by_calls)
    # strong scaling: 6,400 ms are shared
    told = scaled(runs(folder, lambda p: [(SEND, 6400 / p, 1, 100), (ALLREDUCE, 6400 / p / 10, 3, 8)]))
    tap.equal(told["scaling"], "strong", "the ranks share what is to do: strong scaling")
    tap.ok(near(told["at"][2]["rank_s"], 7.04 / 1024 + 0.004, 0.05), "the time of a rank at 1,024", told["at"][2])
    # noise
    told = scaled(runs(folder, lambda p: [(SEND, 20, 1.5 * math.sqrt(p), 8)], repeated=5, noise=0.05, sizes=(4, 8, 16, 32, 64)))
    law, true = told["total"]["MPI"], 256 * 1.5 * 16 / 1000
    tap.ok(near(law["at"][1]["value"], true, 0.10), "with noise: p^3/2 at four times the largest size", law)
    tap.ok(law["at"][1]["low"] <= law["at"][1]["value"] * 1.02 and law["at"][1]["high"] >= law["at"][1]["value"] * 0.98 and
           law["at"][1]["low"] < law["at"][1]["high"], "and a range", law["at"][1])
    tap.equal(len(told["runs"]), 25, "runs of one size are runs")


def check_wrong(folder):
    def one(p):
        return [(SEND, 10, 1, 100)]
    few = runs(folder, one, sizes=(4, 8))
    done = spoor("scale", *few)
    tap.ok(done.returncode == 1 and "not enough sizes" in done.stderr, "two sizes are not enough", done.stderr)
    done = spoor("scale", *few, few[1], few[1])
    tap.ok(done.returncode == 1 and "not enough sizes" in done.stderr, "nor with more runs of them", done.stderr)
    other = runs(folder, lambda p: [(SSEND, 10, 1, 100)] * 18, sizes=(16,))
    done = spoor("scale", *few, *other)
    tap.ok(done.returncode == 1 and "different programs" in done.stderr, "different programs", done.stderr)
    three = runs(folder, one, sizes=(4, 8, 16))
    damaged = os.path.join(folder, "damaged.spoor")
    with open(three[0], "rb") as file, open(damaged, "wb") as out:
        out.write(file.read()[:-40])
    for name in (damaged, os.path.join(folder, "none.spoor"), "999999"):
        done = spoor("scale", *three, name)
        tap.ok(done.returncode == 1 and done.stderr.startswith("spoor"), f"{os.path.basename(name)}: an error", done.stderr)
    done = spoor("scale")
    tap.equal(done.returncode, 2, "no operands")
    silent = scaled(runs(folder, lambda p: [], sizes=(2, 4, 8)))
    tap.ok("error" not in silent and silent["total"]["bytes"]["exact"], "programs that do nothing", silent)


def check_archive(folder):
    """Runs of three sizes with two inputs, and more of one size, in an archive; and one that failed."""
    root = os.path.join(folder, "archive")
    os.mkdir(root, 0o755)
    words = [(p, ["solver", "-n", str(100 * p), name]) for p in (4, 8, 16) for name in ("a.dat", "b.dat")]
    words += [(32, ["solver", "-n", "9", "a.dat"])] + [(4, ["solver", "-n", "77", "a.dat"])] * 7
    for i, (p, command) in enumerate(words):
        begin = int(time.time()) - 86400 + 600 * i
        facts = archive.metadata(i + 1, begin)
        facts.update(state="FAILED" if p == 32 else "COMPLETED", exit_code=int(p == 32), signal=0, partial=0, nodes=1, tasks=p, ranks=p, hosts=["n1"],
                     ranks_per_node=[p], exe="/opt/solver", command=command, elapsed=1, end_ns=begin * 10**9 + 10**9)
        path = virtual(folder, p, [(SEND, 10 if command[-1] == "a.dat" else 20, 1, 100)])
        archive.put(root, i + 1, begin, archive.container(facts, archive.chunks_of(path)))
    told = scaled([], "--archive", root, "--exe", "solver")
    if tap.ok("error" not in told, "runs of an archive", told):
        tap.equal((told["arguments"], sorted(r["ranks"] for r in told["runs"])), ("-n # a.dat", [4, 4, 4, 4, 4, 8, 16]),
                  "those of a series, the newest ones of each size")
        tap.equal((told["scaling"], told["runs_left_out"]), ("weak", 6), "and no others")
        tap.ok('"-n # a.dat"' in spoor("scale", "--archive", root, "--exe", "solver").stdout, "the text says which")
    done = spoor("scale", "--archive", root, "--exe", "nothing")
    tap.ok(done.returncode == 1 and "no run of nothing" in done.stderr, "of another one there is none", done.stderr)
    done = spoor("scale", "--archive", root, "--exe", "solver", "x.spoor")
    tap.equal(done.returncode, 2, "--exe and traces do not go together")


def check_all(folder):
    """Applications of an archive, from the index: what it says is what the traces themselves say; recompiled ones, few sizes, other numbers."""
    root = os.path.join(folder, "all")
    os.mkdir(root, 0o755)
    job = 0

    def add(p, name, build, arguments, steps, **facts):
        nonlocal job
        job += 1
        begin = int(time.time()) - 86400 + 60 * job
        told = archive.metadata(job, begin)
        told.update(state="COMPLETED", exit_code=0, signal=0, partial=0, nodes=1, tasks=p, ranks=p, hosts=["n1"], ranks_per_node=[p], exe=f"/opt/{name}",
                    command=[f"/opt/{name}", *arguments], exe_build_id=build, elapsed=1, end_ns=begin * 10**9 + 10**9, **facts)
        return archive.put(root, job, begin, archive.container(told, archive.chunks_of(virtual(folder, p, steps))))

    def weak(p):
        return [(SEND, 100, 5, 1000), (ALLREDUCE, 1, 2 * math.log2(p), 8), (ALLREDUCE + 1, 0.001, 0.4 * p, 8)]

    large = [add(p, "large", f"build{i % 2}", ["-n", str(p * 10), "--steps", "7"], weak(p)) for p in (4, 8, 16, 32, 64) for i in range(2)]
    for p in (4, 8, 16):
        add(p, "other", f"b{p}", ["-n", "1"], [(SEND, 640 / p, 1, 100)])   # compiled anew for each
        add(p, "steps", "s", ["--steps", "1"], [(SEND, 10, 1, 100)])
        add(p, "steps", "s", ["--steps", "2"], [(SEND, 20, 2, 100)])
    for p in (4, 8):
        add(p, "few", "f", [], [(SEND, 1, 1, 100)])
        add(p, "failed", "f", [], [(SEND, 1, 1, 100)])
    add(16, "failed", "f", [], [(SEND, 1, 1, 100)], reason="signal")
    told = scaled([], "--archive", root, "--all")
    if not tap.ok("error" not in told, "an archive is told", told):
        return
    apps = {a["application"]: a for a in told["applications"]}
    tap.equal((sorted(apps), told["applications_with_few_sizes"], told["applications"][0]["application"]), (["failed", "large", "other", "steps"], 1, "large"),
              "its applications, the largest first, without one that has too few sizes")
    tap.equal([(apps[a]["same"], apps[a]["arguments"], apps[a]["scaling"], sorted(r["ranks"] for r in apps[a]["runs"])) for a in ("large", "other", "steps")],
              [("build", "-n # --steps 7", "weak", [4, 8, 16, 32, 64]), ("executable", "-n 1", "strong", [4, 8, 16]), ("build", "--steps 2", "weak", [4, 8, 16])],
              "which runs are alike, and how they scale")
    one, files = apps["large"], scaled(large[1::2])
    for mine, true in zip(one["at"], files["at"]):
        tap.ok(mine["ranks"] == true["ranks"] and all(near(mine[k], true[k], 0.05) for k in ("core_hours", "efficiency", "rank_s")),
               f"at {mine['ranks']:.0f} ranks: what the traces say", mine, true)
    tap.ok(near(one["useful_ranks"], files["useful_ranks"], 0.1) and one["fastest"]["what"] == "MPI_Allreduce", "up to which size it is useful, and what grows fastest",
           one["useful_ranks"], files["useful_ranks"], one["fastest"])
    text = spoor("scale", "--archive", root, "--all", "--top", "1").stdout
    tap.ok(text.startswith("large\n") and "core hours" in text and "and 3 more applications" in text and "What grows fastest: MPI_Allreduce" in " ".join(text.split()), "the text says it", text)
    told = scaled([], "--archive", root, "--all", "--since", "1h")
    tap.ok("no runs" in told.get("error", ""), "of no runs nothing is said", told)
    tap.equal(spoor("scale", "--archive", root, "--all", large[0]).returncode, 2, "--all and traces do not go together")


def check_sure(folder):
    """One call of each rank: exact from four sizes on."""
    steps = [(SEND, 10, 1, 100)]
    for sizes, sure in (((4, 8, 16), False), ((4, 8, 16, 32), True)):
        paths = runs(folder, lambda p: steps, sizes=sizes)
        told, text = scaled(paths), spoor("scale", *paths).stdout
        tap.equal((told["total"]["calls"]["exact"], told["total"]["calls"]["checked"], "exactly" in text, "meets all 3 sizes" in text), (True, sure, sure, not sure),
                  f"a law that meets {len(sizes)} sizes")


with tempfile.TemporaryDirectory() as work:
    os.chmod(work, 0o711)  # root reads archives as somebody else
    os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
    check_archive(work)
    check_all(work)
    check_sure(work)
    check_times(work)
    check_wrong(work)
    for name in EXACT:
        check_exact(work, name)
tap.done()
