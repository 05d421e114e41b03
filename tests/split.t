#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""split - where the time of the mini-applications went, by an ideal network: it adds up, agrees with SimGrid's simulation, and with a trace without all times"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

APPS = ("halo2d", "halo3d", "wavefront", "multigrid", "cg", "adi", "fft", "sort", "ocean", "amr", "farm")
RANKS, STEPS, RUNS = 4, 12, 4
PARTS = ("computation", "imbalance", "serialisation", "transfer")
SECOND, SUMS = 0.03, 0.08  # of the time: how far a second simulation may differ; and what is known without the times of all events
# nothing takes time but computation; every send is over at once, as on our ideal network
IDEAL = ("--cfg=smpi/send-is-detached-thresh:2000000000", "--cfg=smpi/async-small-thresh:2000000000", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
         "--cfg=smpi/os:0:0:0", "--cfg=smpi/or:0:0:0", "--cfg=smpi/ois:0:0:0")


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def split_of(trace):
    done = spoor("why", "--json", trace)
    return json.loads(done.stdout)["steps"][0]["split"] if done.returncode == 0 else None


def without_times(trace, out):
    """The same run without the times of all events: a reader leaves out chunks that it does not know."""
    with open(trace, "rb") as file:
        data = bytearray(file.read())
    count, found = struct.unpack_from("<I", data, 20)[0], False
    for i in range(count):
        at = 32 + 32 * i
        if data[at:at + 4] == b"FULL":
            data[at:at + 4] = b"XXXX"
            found = True
    struct.pack_into("<I", data, 24, zlib.crc32(bytes(data[32:32 + 32 * count])))
    struct.pack_into("<I", data, 28, zlib.crc32(bytes(data[0:28])))
    with open(out, "wb") as file:
        file.write(data)
    return found


def simgrid(trace, folder):
    """How long SimGrid says that the run takes if nothing but computation does, in ns; None, with why."""
    out = os.path.join(folder, "simgrid")
    shutil.rmtree(out, ignore_errors=True)
    done = spoor("export", trace, "--simgrid", out)
    if done.returncode != 0:
        return None, done.stderr
    with open(os.path.join(out, "platform.xml"), encoding="ascii") as file:
        text = re.sub(r'(latency|lat)="[^"]*"', r'\1="0s"', re.sub(r'(bandwidth|bw)="[^"]*"', r'\1="1e15Bps"', file.read()))
    with open(os.path.join(out, "platform.xml"), "w", encoding="ascii") as file:
        file.write(text)
    done = subprocess.run(["smpirun", "-np", str(RANKS), "-platform", "platform.xml", "-hostfile", "hostfile", *IDEAL, "-replay", "traces"], cwd=out,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    said = re.search(r"Simulation time ([\d.]+)", done.stdout)
    return (float(said[1]) * 1e9, "") if said and done.returncode == 0 else (None, done.stdout[-1500:])


def traced(app, trace):
    """Returns how the program ended, and the split of its trace, if there is one."""
    done = launch.mpirun(RANKS, [os.path.join(tap.BUILD, "bench/apps", app), str(STEPS)], before=[launch.spoor(), "run", "-f", "--timing", "full", "-o", trace, "--"],
                         timeout=300)
    return done, split_of(trace) if done.returncode == 0 and os.path.exists(trace) else None


def alike(split, other):
    return split and other and all(abs(other[k] - split[k]) <= SUMS for k in PARTS)


def main():
    if not os.path.exists(os.path.join(tap.BUILD, "bench/apps/amr")) or not shutil.which("mpirun"):
        tap.skip_all("the mini-applications are not built, or there is no mpirun")
    with tempfile.TemporaryDirectory(prefix="split-t-") as folder:
        for app in APPS:
            trace, plain = os.path.join(folder, app + ".spoor"), os.path.join(folder, app + "-plain.spoor")
            done, split = traced(app, trace)
            if not tap.ok(done.returncode == 0 and os.path.exists(trace), f"{app}: runs", done.stderr.decode(errors="replace")[-600:]):
                continue
            if not tap.ok(split and split["played"], f"{app}: is played", split):
                continue
            tap.ok(abs(sum(split[k] for k in PARTS) - 1) < 0.005 and all(0 <= split[k] <= 1 for k in PARTS), f"{app}: the parts add up", split)
            if shutil.which("smpirun"):
                ideal, why = simgrid(trace, folder)
                tap.ok(ideal and abs(ideal - split["ideal_ns"]) <= SECOND * split["run_ns"], f"{app}: SimGrid says the same within {100 * SECOND:.0f} points: {1e-6 * (ideal or 0):.3f} ms, here {1e-6 * split['ideal_ns']:.3f}",
                       why, ideal, split)
            else:
                tap.skip(f"{app}: a second simulation", "SimGrid is not installed")
            if tap.ok(without_times(trace, plain), f"{app}: has the times of all events"):
                other = split_of(plain)
                for _ in range(1, RUNS):  # means say nothing of a run from which other programs took the cores now and then
                    if not alike(split, other):
                        _, split = traced(app, trace)
                        without_times(trace, plain)
                        other = split_of(plain)
                tap.ok(alike(split, other), f"{app}: without them, within {100 * SUMS:.0f} points", split, other)
    tap.done()


if __name__ == "__main__":
    main()
