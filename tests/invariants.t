#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# invariants - figures do not contradict each other, in traces that gave up what they could above all; and what is missing is said first
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import invariants  # noqa: E402
import launch  # noqa: E402
import tap  # noqa: E402

PROGRAMS = os.path.join(tap.BUILD, "tests/programs")
# program, ranks, options: complete; lossy; with threads; without enough memory, for edges, for sites, for anything
TRACES = (
    (["collectives"], 2, []),
    (["files", "file"], 2, []),
    (["windows"], 2, []),
    (["threads"], 2, []),
    (["random", "7", "300"], 2, ["--mode", "lossy:0", "--structure", "lossy"]),
    (["many"], 2, ["--memory", "1MiB"]),
    (["endless", "3000"], 2, ["--memory", "1MiB"]),
    (["endless", "300", "20"], 2, ["--memory", "1MiB"]),
    (["ends", "abort"], 2, []),
    (["ends", "kill"], 2, []),
    (["stuck", "2"], 3, []),
)


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)


def traced(folder, program, ranks, options):
    path = os.path.join(folder, "x.spoor")
    if os.path.exists(path):
        os.unlink(path)
    done = launch.mpirun(ranks, [os.path.join(PROGRAMS, program[0]), *program[1:]], before=[launch.spoor(), "run", *options, "-o", path, "--"], cwd=folder)
    return path if os.path.exists(path) else done.stderr.decode(errors="replace")[-600:]


def missing_is_said(path):
    """Of a program of whose calls most have no place: how much that is, in the first lines."""
    s = invariants.shown(path)["summary"]
    text, page = spoor("show", path).stdout, spoor("report", path, "-o", "-").stdout
    counted, unplaced = re.search(r"^Counted +(\d+) calls \(([\d.]+) %\)", text, re.M), re.search(r"^Unplaced .*\(([\d.]+) %\)", text, re.M)
    tap.ok(counted and int(counted[1]) == s["events_lost"] > 0 and unplaced and abs(float(unplaced[1]) - 100 * s["unplaced_ns"] / s["compute_ns"]) < 0.1,
           "show says how many calls were only counted, and how much computation has no place", text[:3000])
    tap.ok(text.index("Unplaced") < text.index("In MPI"), "before the figures that lack it")
    tap.ok(page.count("<strong>Missing in the figures:</strong>") == 2 and page.index("<strong>Missing in the figures:</strong>") < page.index("Where the ranks"), "report says it first")
    mpi = float(re.search(r"^In MPI [^(]*\(([\d.]+) %\)", text, re.M)[1])
    tap.ok(abs(mpi - 100 * s["mpi_ns"] / s["all_ns"]) < 1, "the share of MPI is of the time that ranks had", f"{mpi} %", s)


def main():
    with tempfile.TemporaryDirectory(prefix="invariants-t-") as folder:
        os.chmod(folder, 0o711)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        for program, ranks, options in TRACES:
            title = " ".join([*program, *options])
            path = traced(folder, program, ranks, options)
            if not tap.ok(path.startswith("/"), f"{title}: is traced", path):
                continue
            done = spoor("verify", path)
            tap.ok(done.returncode == 0, f"{title}: the trace agrees with itself", done.stderr)
            said = invariants.wrong(path)
            tap.ok(not said, f"{title}: and what is shown of it", *said)
            if program == ["endless", "3000"]:
                missing_is_said(path)
    tap.done()


if __name__ == "__main__":
    main()
