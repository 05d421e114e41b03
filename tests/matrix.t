#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# matrix - every setting that the tracer gets, with every mode and with little memory, over all test programs: the program does what it does untraced
"""Each program runs untraced once, and then under combinations of settings: output and exit status must be the same, and `spoor verify` must take the
trace; what is lossless and has its usual memory must be exact, too.

Each program meets every pair of values of what decides about the columns of its calls (COLUMNS), and over all programs every pair of values of any two
settings comes. SPOOR_MATRIX=pairs: every pair of any two for each program. SPOOR_MATRIX=all: for each program the product of COLUMNS (some hours)."""
import concurrent.futures
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

EXACT = os.path.join(tap.SOURCE, "tests/exact")
RANKS = 2
VALUES = {
    "mode": ("lossless", "lossy:0", "lossy:30"),
    "structure": ("exact", "lossy"),
    "buffers": ("off", "on"),
    "memory": ("8MiB", "1MiB"),
    "timing": ("histogram", "aggregate", "full", "full:0.01"),
    "counters": ("", "perf::TASK-CLOCK", "perf::PAGE-FAULTS,perf::TASK-CLOCK"),
    "site_tolerance": ("0", "2"),
    "site_ignore": ("", "libc.so,*main*"),
    "bins": ("8", "1", "64"),
    "containers": ("skip", "trace"),
    "deadline": ("10", "60"),
}
COLUMNS = ("mode", "structure", "buffers", "memory")

# Not here: `known` (measures time), `spawn` and `births` (several worlds, tests/spawn.t), `reuse` (needs slow.so), the ends of `ends` that are no good ones.
PROGRAMS = [(name, []) for name in ("pt2pt", "collectives", "comms", "types", "objects", "persistent", "windows", "errors", "inter", "pcoll", "farm", "halo", "many", "old",
                                    "mixed", "started", "fixed", "modern", "turns", "threads")]
PROGRAMS += [(name, ["{folder}/file"]) for name in ("files", "shared", "buffers", "f08", "more", "more8", "rest", "rest8")]
PROGRAMS += [("names", ["{folder}"]), ("random", ["7", "300"]), ("crew", ["20"]), ("endless", ["300", "20"]), ("odd", ["deep"]), ("odd", ["alloca"]), ("odd", ["places"]), ("wrong", ["returned"]),
             ("wrong8", ["returned"])]
PROGRAMS += [("broken", [way, "return"]) for way in ("handles", "pointers", "numbers", "twice", "leaks", "truncated", "wrong", "requests", "objects")]
PROGRAMS += [("ends", [way]) for way in ("normal", "exit3", "fork", "empty")]

HANGS = ("names",)  # connecting worlds, in Open MPI 4.1, now and then, traced or not: then once more
UNORDERED = ("threads",)  # threads take their numbers in any order; those of `crew` only numbers of buffers
RANKS_OF = {"inter": 4}
# What Open MPI says of a rank that crashed names processes and addresses; which rank of the farm works more is chance.
VARIES = re.compile(r"\[[\w.-]+:\d+\]|0x[0-9a-f]+|\[\d+,\d+\]|(?<=^farm: got )\d+", re.M)
# Each rank's standard error goes to a file of its own: mpirun says something, too.
APART = ["sh", "-c", 'exec "$@" 2>"$0/$OMPI_COMM_WORLD_RANK"']


def pairs_of(names):
    return {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in VALUES[a] for y in VALUES[b]}


def covered(row, names):
    return {((a, row[a]), (b, row[b])) for a, b in itertools.combinations(names, 2)}


def rows_for(wanted, names, dice):
    """Rows in which all wanted pairs of these settings come; the rest of a row is by chance. Greedy: the best of some candidates."""
    wanted, rows = set(wanted), []
    while wanted:
        begin = dict(dice.choice(sorted(wanted)))
        candidates = [{name: begin.get(name) or dice.choice(VALUES[name]) for name in VALUES} for _ in range(40)]
        rows.append(max(candidates, key=lambda row: len(wanted & covered(row, names))))
        wanted -= covered(rows[-1], names)
    return rows


def plan():
    """For each program its rows."""
    dice, which = random.Random(20261122), os.environ.get("SPOOR_MATRIX", "")
    if which == "pairs":
        return [rows_for(pairs_of(VALUES), VALUES, dice) for _ in PROGRAMS]
    if which == "all":
        return [[{**{name: dice.choice(VALUES[name]) for name in VALUES}, **dict(zip(COLUMNS, values))} for values in itertools.product(*(VALUES[c] for c in COLUMNS))]
                for _ in PROGRAMS]
    return [rows_for(pairs_of(COLUMNS), COLUMNS, dice) for _ in PROGRAMS]


def options_of(row):
    return [f"--{name}={value}" for name, value in row.items() if value]


class Program:
    def __init__(self, name, arguments):
        self.title, self.name, self.ranks = " ".join([name, *arguments]), name, RANKS_OF.get(name, RANKS)
        self.path = os.path.join(tap.BUILD, "tests/programs", name)
        self.standard = name not in ("broken", "wrong", "wrong8")  # else the flat logger crashes, too, or sees other things in what is none
        self.folder = tempfile.mkdtemp(prefix="matrix-")
        self.command = [self.path, *(a.format(folder=self.folder) for a in arguments)]
        self.plain = None
        self.environment = {"TMPDIR": self.folder}  # else one mpirun removes Open MPI's folder when another one has just found it

    def said(self, output, errors):
        """What ranks print comes in any order."""
        for rank in os.listdir(errors):
            with open(os.path.join(errors, rank), "rb") as f:
                output += f.read()
        return sorted(VARIES.sub("", output.decode(errors="replace")).splitlines())

    def untraced(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as errors:
            done = launch.mpirun(self.ranks, [*APART, errors, *self.command], timeout=60, environment=self.environment)
            self.plain = done.returncode, self.said(done.stdout, errors)
        return done.returncode

    def verified(self, row):
        """Returns None, or what is wrong with the trace; status, and what the program said."""
        with tempfile.TemporaryDirectory(dir=self.folder) as errors:
            trace = os.path.join(errors + ".spoor")
            done = launch.mpirun(self.ranks, [*APART, errors, *self.command], before=[launch.spoor(), "run", *options_of(row), "-o", trace, "--"], timeout=60,
                                 environment=self.environment)
            checked = subprocess.run([launch.spoor(), "verify", trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            return (checked.stdout.decode() if checked.returncode else None), done.returncode, self.said(done.stdout, errors)

    def exact(self, row):
        """The same, of a trace that must be exact."""
        with tempfile.TemporaryDirectory(dir=self.folder) as errors:
            keep = errors + ".kept"
            done = subprocess.run([sys.executable, EXACT, "--keep", keep, "-n", str(self.ranks), "--status", str(self.plain[0]), "--timeout", "60",
                                   *[f"--set={o[2:]}" for o in options_of(row) if o != "--buffers=on"], *["--buffers"] * (row["buffers"] == "on"),
                                   *["--unordered"] * (self.name in UNORDERED or (self.name == "crew" and row["buffers"] == "on")), "--", *APART, errors, *self.command],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env={**os.environ, **self.environment})
            with open(os.path.join(keep, "output"), "rb") as f:
                output = self.said(f.read(), errors)
            wrong = done.stdout.decode(errors="replace")[-1500:] if done.returncode else None
            return wrong, 124 if wrong and "status 124," in wrong else self.plain[0], output

    def problem(self, row):
        exact = self.standard and row["mode"] == "lossless" and row["memory"] == "8MiB" and self.plain[0] == 0
        for _ in range(3):
            wrong, *outcome = (self.exact if exact else self.verified)(row)
            if outcome[0] != 124 or self.name not in HANGS:
                break
            print(f"# {self.title}: hangs, once more: {' '.join(options_of(row))}")
        if not wrong and tuple(outcome) != self.plain:
            wrong = f"status and output {outcome!r:.600}, untraced {self.plain!r:.600}"
        return wrong

    def problems(self, rows):
        for _ in range(3):
            if self.untraced() != 124 or self.name not in HANGS:
                break
        found = [f"{' '.join(options_of(row))}:\n{wrong}" for row in rows for wrong in [self.problem(row)] if wrong]
        shutil.rmtree(self.folder, ignore_errors=True)
        return found


def main():
    with open(os.path.join(tap.SOURCE, "policy/setting.h"), encoding="utf-8") as f:
        table = re.findall(r"^\tX\((\w+), .*, (TRACER|SITE),", f.read(), re.M)
    tap.equal(sorted(name for name, reach in table if reach == "TRACER"), sorted(set(VALUES) - {"mode"}), "every setting that the tracer gets is here")
    rows = plan()
    programs = [Program(name, arguments) for name, arguments in PROGRAMS]
    with concurrent.futures.ThreadPoolExecutor(4) as workers:
        found = [workers.submit(program.problems, some) if os.path.exists(program.path) else None for program, some in zip(programs, rows)]
        for program, some, future in zip(programs, rows, found):
            if future:
                tap.ok(not future.result(), f"{program.title}: {len(some)} combinations", *future.result()[:3])
            else:
                tap.skip(program.title, "it is not built: no Fortran compiler")
    there = set().union(*(covered(row, list(VALUES)) for some in rows for row in some))
    tap.equal(sorted(pairs_of(VALUES) - there), [], f"{sum(map(len, rows))} runs: every pair of values of any two settings")
    tap.done()


if __name__ == "__main__":
    main()
