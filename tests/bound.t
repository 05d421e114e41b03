#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# bound - all lossy, a few tokens, and lossless: each trace says what each column is; a lossy one of ten times the steps stays below the short one's bound
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

APPS = ("halo2d", "halo3d", "wavefront", "multigrid", "cg", "adi", "fft", "sort", "ocean", "amr", "farm")
RANKS, STEPS = 4, 12
INFINITE = 4294967295


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def traced(folder, app, steps, *options):
    path = os.path.join(folder, f"{app}-{steps}-{len(os.listdir(folder))}.spoor")
    program = [os.path.join(tap.BUILD, "bench/apps", app), str(steps)]
    done = launch.mpirun(RANKS, program, before=[launch.spoor(), "run", *options, "-o", path, "--"], timeout=300)
    if not tap.ok(done.returncode == 0 and os.path.exists(path), f"{app} {' '.join(options)}: runs", done.stderr.decode(errors="replace")[-600:]):
        tap.done()
    stat = json.loads(spoor("stat", "--json", "--columns", path).stdout)
    return path, stat, stat["size"] - sum(p["stored"] for p in stat["parts"] if p["part"] == "META")


def kinds_of(stat):
    """{kind: columns}"""
    found = {}
    for site in stat["columns_of_sites"]:
        for column in site["columns"]:
            found[column["kind"]] = found.get(column["kind"], 0) + 1
    return found


def check_bound(folder, app, threshold):
    mode = ("--mode", f"lossy:{threshold}", "--structure", "lossy")
    _, short, _ = traced(folder, app, STEPS, *mode)
    path, long, size = traced(folder, app, 10 * STEPS, *mode)
    bound, now = short["bound"], long["bound"]
    what = f"{app}, lossy:{threshold}"
    tap.ok(size <= bound["bytes_most"] and size <= now["bytes_most"], f"{what}: {10 * STEPS} steps, {size} bytes of at most {bound['bytes_most']}", bound, now)
    tap.ok(now["entries"] <= now["entries_most"], f"{what}: {now['entries']} entries of at most {now['entries_most']}", now)
    if threshold == 0:
        text = spoor("stat", path).stdout
        tap.ok("\nBound " in text and f"at most {now['bytes_most']} bytes" in text, f"{what}: stat tells", text)


def check_kinds(folder, app):
    shown = {}
    for name, options in (("0", ("--mode", "lossy:0", "--structure", "lossy")), ("infinity", ("--mode", f"lossy:{INFINITE}")), ("lossless", ("--mode", "lossless"))):
        path, stat, _ = traced(folder, app, STEPS, *options)
        shown[name] = kinds_of(stat)
        columns = sum(shown[name].values())
        said = spoor("show", "--sites", path).stdout
        lines = [line for line in said.splitlines() if line.startswith("    columns: ")]
        text = spoor("stat", "--columns", path).stdout
        each = [line for line in text.splitlines() if line.startswith("  ") and any(k in line for k in ("constant", "in order", "lossy (", "nothing"))]
        tap.ok(len(lines) == stat["sites"] and len(each) == columns == stat["columns"], f"{app}, threshold {name}: show and stat tell of each of {columns} columns",
               lines[:2], len(each), columns)
        ordered = shown[name].get("pattern", 0)
        tap.ok(ordered == 0 if name == "0" else shown[name].get("lossy", 0) == 0, f"{app}, threshold {name}: {shown[name]}", shown)
        tap.ok(spoor("verify", path).returncode == 0, f"{app}, threshold {name}: can be read")
    tap.equal(shown["infinity"], shown["lossless"], f"{app}: a threshold that nothing reaches is lossless")


def main():
    if not os.path.exists(os.path.join(tap.BUILD, "bench/apps/amr")) or not shutil.which("mpirun"):
        tap.skip_all("the mini-applications are not built, or there is no mpirun")
    with tempfile.TemporaryDirectory(prefix="bound-t-") as folder:
        for app in APPS:
            for threshold in (0, 30) if app in ("sort", "amr", "farm", "ocean") else (0,):
                check_bound(folder, app, threshold)
        for app in ("multigrid", "sort"):
            check_kinds(folder, app)
    tap.done()


if __name__ == "__main__":
    main()
