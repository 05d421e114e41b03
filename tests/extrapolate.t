#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""extrapolate - the trace of a larger run, made of smaller ones, has the calls of that run; what follows no rule is named"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

# program, options, sizes, and the one that is foretold
EXACT = (("halo2d", (), (4, 9, 16), 25), ("halo2d", ("--periodic",), (4, 16), 36), ("halo3d", ("--periodic",), (8, 12, 18), 24),
         ("wavefront", (), (9, 16, 20), 30), ("fft", (), (4, 6, 12), 20), ("adi", (), (4, 16, 36), 64), ("cg", (), (4, 64), 16))
INIT, FINALIZE, SEND, ALLREDUCE = 0, 1, 2, 42  # of tests/virtual


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def alone(folder, program, ranks, *options):
    path = os.path.join(folder, f"{program}{''.join(options)}-{ranks}.spoor")
    if not os.path.exists(path):
        subprocess.run([launch.spoor(), "run", "-o", path, "--", os.path.join(tap.SOURCE, "bench", "alone"), str(ranks),
                        os.path.join(launch.BUILD, "bench", "apps", program), "3", *options], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, TMPDIR=folder, SPOOR_BUILD=launch.BUILD))
    return path


def extrapolated(folder, ranks, *arguments):
    path = os.path.join(folder, f"{len(os.listdir(folder))}-of-{ranks}.spoor")
    return path, spoor("extrapolate", *arguments, "--ranks", str(ranks), "-o", path)


def virtual(folder, size, steps):
    """steps: (site, ms of computation, ms in MPI, bytes, peer of a rank) of each rank."""
    path = os.path.join(folder, f"v{len(os.listdir(folder))}.spoor")
    lines = [f"size {size}"] + [f"{r} {INIT} 1 1" for r in range(size)]
    for site, computed, passed, bytes_, peer in steps:
        for r in range(size):
            values = f"{bytes_(r)} t {peer(r) - r} 0 w" if site < ALLREDUCE else f"0 {bytes_(r)} t s w"
            lines.append(f"{r} {site} {int(computed * 1e6)} {int(passed * 1e6)} {values}")
    lines += [f"{r} {FINALIZE} 1 1" for r in range(size)]
    subprocess.run([os.path.join(launch.BUILD, "tests", "virtual"), path], input="\n".join(lines) + "\n", text=True, check=True)
    return path


def first_difference(one, other):
    a, b = one.split("\n"), other.split("\n")
    return next(((x, y) for x, y in zip(a, b) if x != y), None if len(a) == len(b) else (len(a), len(b)))


def check_exact(folder, program, options, sizes, ranks):
    name = " ".join((program, *options)) + f" at {ranks} ranks, from {', '.join(map(str, sizes))}"
    path, done = extrapolated(folder, ranks, *(alone(folder, program, n, *options) for n in sizes))
    if not tap.equal((done.returncode, done.stderr), (0, ""), f"{name}: it is made"):
        return
    told, true = spoor("dump", path), spoor("dump", alone(folder, program, ranks, *options))
    tap.equal(first_difference(told.stdout, true.stdout), None, f"{name}: all events are those of the run")
    tap.equal(spoor("verify", path).returncode, 0, f"{name}: it is whole")


def check_use(folder):
    path, _ = extrapolated(folder, 25, *(alone(folder, "halo2d", n) for n in (4, 9, 16)))
    meta = json.loads(spoor("show", "--json", path).stdout)["meta"]
    tap.equal((meta["ranks"], meta["ranks_per_node"], meta["rule"], "world" in meta), (25, [25], "spoor extrapolate", False), "its metadata are its own")
    tap.equal(([t["ranks"] for t in meta["extrapolated"]["from"]], meta["extrapolated"]["guessed"]), ([4, 9, 16], 0), "and say what it was made of")
    for words in (("show",), ("why",), ("what-if",), ("stat",), ("proxy", "--no-run", "-o", os.path.join(folder, "proxy"))):
        done = spoor(*words, path)
        tap.equal((done.returncode, done.stderr), (0, ""), f"spoor {words[0]} takes it")
    done = spoor("export", "--simgrid", os.path.join(folder, "simgrid"), path)
    tap.equal((done.returncode, done.stderr), (0, ""), "so does spoor export")


def check_times(folder):
    """Computation that is shared, a reduction that takes longer with the ranks."""
    def run(p):
        return virtual(folder, p, [(SEND, 640 / p, 1, lambda r: 100, lambda r: (r + 1) % p), (ALLREDUCE, 1, 0.25 * p, lambda r: 8, None)] * 4)
    path, done = extrapolated(folder, 64, *(run(p) for p in (4, 8, 16, 32)))
    if not tap.equal(done.stderr, "", "times: it is made"):
        return
    calls = {s["function"]: s for s in json.loads(spoor("show", "--json", path).stdout)["functions"]}
    told = calls["MPI_Allreduce"]["time_ns"] * 1e-9 / (4 * 64)
    tap.ok(abs(told - 0.016) < 0.0005, "the time of a call follows a law", told)


def check_shared(folder):
    """Strong scaling: all ranks together send as much at each size."""
    def run(p):
        return virtual(folder, p, [(SEND, 1, 1, lambda r: 48000 // p, lambda r: (r + 1) % p)] * 2)
    path, done = extrapolated(folder, 60, *(run(p) for p in (4, 8, 12)))
    told, true = spoor("dump", path), spoor("dump", run(60))
    tap.equal(first_difference(told.stdout, true.stdout), None, "what is shared out by the ranks")


def check_wrong(folder):
    two = [virtual(folder, p, [(SEND, 1, 1, lambda r: 100, lambda r, p=p: (r + 1) % p)]) for p in (4, 8)]
    noise = [virtual(folder, p, [(SEND, 1, 1, lambda r: hash((p, r * r % 7)) % 1000, lambda r, p=p: (r + 1) % p)]) for p in (16, 32, 40)]
    path, done = extrapolated(folder, 64, *noise)
    tap.ok(done.returncode == 1 and "MPI_Send at" in done.stderr and "count has no rule (16 ranks:" in done.stderr, "what follows no rule is named", done.stderr)
    tap.ok(not os.path.exists(path), "and nothing is written")
    path, done = extrapolated(folder, 64, *noise, "--nearest")
    tap.ok(done.returncode == 0 and "count has no rule" in done.stderr, "with --nearest it is made, and told", done.stderr)
    meta = json.loads(spoor("show", "--json", path).stdout)["meta"]
    tap.equal(meta["extrapolated"]["guessed"], 64, "the metadata say how much was guessed")
    other = virtual(folder, 12, [(SEND + 1, 1, 1, lambda r: 100, lambda r: (r + 1) % 12)] * 9)
    done = extrapolated(folder, 16, *two, other)[1]
    tap.ok(done.returncode == 1 and "different programs" in done.stderr, "different programs", done.stderr)
    done = extrapolated(folder, 16, two[0], two[0])[1]
    tap.ok(done.returncode == 1 and "another trace of 4 ranks" in done.stderr, "two traces of one size", done.stderr)
    done = spoor("extrapolate", *two, "-o", path)
    tap.ok(done.returncode == 2 and "--ranks" in done.stderr, "without --ranks", done.stderr)
    done = spoor("extrapolate", *two, "--ranks", "16")
    tap.ok(done.returncode == 2 and "-o" in done.stderr, "without -o", done.stderr)
    done = spoor("extrapolate", *two, "--ranks", "16", "-o", two[0])
    tap.ok(done.returncode == 1 and "exists already" in done.stderr, "nothing is overwritten", done.stderr)
    tap.equal(spoor("extrapolate", two[0], "--ranks", "16", "-o", path).returncode, 2, "one trace is not enough")
    done = extrapolated(folder, 16, two[0], os.path.join(folder, "none.spoor"))[1]
    tap.ok(done.returncode == 1 and "none.spoor" in done.stderr, "a file that is not there", done.stderr)


with tempfile.TemporaryDirectory() as work:
    for case in EXACT:
        check_exact(work, *case)
    check_use(work)
    check_times(work)
    check_shared(work)
    check_wrong(work)
tap.done()
