# SPDX-License-Identifier: BSD-3-Clause
"""cost - what tracing adds to an event: CPU time and instructions, base and traced in turn"""
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

import launch

# One process that talks to itself has nobody to yield to. Base and traced runs must have the same flags: what an idle process does
# changes what MPI_Test costs.
MCA = ["--mca", "mpi_yield_when_idle", "0", "--mca", "btl", "self,vader", "--mca", "pml", "ob1"]

# name, what, ns an event that tracing may add, or None; failure above; instructions that it may add
LOOPS = (
    ("self-1", "Irecv+Isend+Waitall, call depth 1", 60, 100, 300),
    ("self-8", "Irecv+Isend+Waitall, call depth 8", 60, 100, 300),
    ("self-20", "Irecv+Isend+Waitall, call depth 20", None, None, None),
    ("26-peers", "the same over 26 peers, tags, sizes", 120, None, None),
    ("26-at-once", "26 Irecv, 26 Isend, Waitall of 52", None, None, None),
    ("barrier", "MPI_Barrier on MPI_COMM_SELF", None, None, None),
    ("allreduce", "MPI_Allreduce on MPI_COMM_SELF", None, None, None),
    ("test", "MPI_Test, nothing there", 60, None, None),
    ("comm-rank", "MPI_Comm_rank", 60, None, None),
)

# What may be recorded besides, each in SETTINGS_LOOP: name, what, options. PAPI's events are those of this machine's hardware; where it has none, the stand-in
# of the tests counts instead, and the figure is what reading costs without PAPI's own share.
SETTINGS_LOOP = "self-8"
KERNEL, HARDWARE = "perf::TASK-CLOCK,perf::PAGE-FAULTS", "PAPI_TOT_INS,PAPI_TOT_CYC"
SETTINGS = (
    ("aggregate", "no distribution of times", ["--timing", "aggregate"]),
    ("histogram", "the standard", []),
    ("full", "all times, exact", ["--timing", "full"]),
    ("full:0.01", "all times, to 1 %", ["--timing", "full:0.01"]),
    ("clock", "one counter of the kernel", ["--counters", "perf::TASK-CLOCK"]),
    ("kernel", "two counters of the kernel", ["--counters", KERNEL]),
    ("papi", "two counters of PAPI", ["--counters", HARDWARE]),
)


class Failed(Exception):
    pass


def execute(program, folder, trace=None, timeout=900, options=(), environment=None, look=None):
    """Runs one process, traced if a file is given. Returns what it printed on stdout. look(trace) sees the trace."""
    command = launch.command(1, program, mca=MCA)
    if trace:
        command = [launch.spoor(), "run", *options, "-o", trace, "--", *command]
    done = subprocess.run(command, cwd=folder, env=dict(os.environ, PMIX_MCA_gds="hash", TMPDIR=folder, **(environment or {})), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    if done.returncode != 0:
        raise Failed(f"{program[0]} ended with status {done.returncode}: {done.stderr.decode(errors='replace').strip()[-500:]}")
    if trace:
        if not os.path.exists(trace):
            raise Failed(f"{program[0]} was not traced: {done.stderr.decode(errors='replace').strip()[-500:]}")
        if look:
            look(trace)
        os.unlink(trace)
    return done.stdout.decode(errors="replace")


def program(events, loops, place=None):
    """place: the folder of the program, if it is not the build's."""
    return [os.path.join(place or os.path.join(launch.BUILD, "bench"), "cost"), str(events), *loops]


def read_lines(text):
    """{loop: [events of the first run, of the second, ns of the first, of the second]}"""
    return {words[0]: [int(w) for w in words[1:]] for words in (line.split() for line in text.splitlines()) if len(words) == 5}


def cpu_times(loops, events, repetitions):
    """ns an event, of base and traced runs in turn."""
    runs = {name: {"base": [], "traced": []} for name in loops}
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        for _ in range(repetitions):
            for kind in ("base", "traced"):
                out = execute(program(events, loops), folder, os.path.join(folder, "trace.spoor") if kind == "traced" else None)
                for name, (n1, n2, t1, t2) in read_lines(out).items():
                    runs[name][kind].append((t1 + t2) / (n1 + n2))
    found = []
    for name, run in runs.items():
        added = [t - b for b, t in zip(run["base"], run["traced"])]
        base, traced = statistics.median(run["base"]), statistics.median(run["traced"])
        found.append({"loop": name, "base": base, "traced": traced, "added": statistics.median(added), "added_least": min(added),
                      "added_most": max(added), "ratio": traced / base, "repetitions": repetitions})
    return found


def notes(trace):
    """Why counters were not counted."""
    shown = subprocess.run([launch.spoor(), "show", "--json", trace], stdout=subprocess.PIPE)
    return json.loads(shown.stdout)["meta"].get("notes", []) if shown.returncode == 0 else []


def settings(events, repetitions, report):
    """ns that an event takes with each setting, base and all settings in turn. Returns (rows, failures)."""
    runs, environment, rows, missing = {"base": []}, {}, [], []
    stand_in = os.path.join(launch.BUILD, "tests/papi")
    report(f"CPU time of an event in {SETTINGS_LOOP} in ns, by what is recorded besides (median of repetitions in turn)")
    report(f"{'SETTING':<12}{'':<38}{'TRACED':>8}{'ADDED':>8}  {'LEAST..MOST':<14}")
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        trace = os.path.join(folder, "trace.spoor")

        def spent(*arguments, **more):
            n1, n2, t1, t2 = read_lines(execute(program(events, [SETTINGS_LOOP]), folder, *arguments, **more))[SETTINGS_LOOP]
            return (t1 + t2) / (n1 + n2)
        try:
            execute(program(100, [SETTINGS_LOOP]), folder, trace, options=["--counters", HARDWARE], look=lambda t: missing.extend(notes(t)))
            if missing and os.path.isdir(stand_in):
                environment = {"LD_LIBRARY_PATH": stand_in}
            for _ in range(repetitions):
                runs["base"].append(spent())
                for name, _, options in SETTINGS:
                    runs.setdefault(name, []).append(spent(trace, options=options, environment=environment if name == "papi" else None))
        except (Failed, OSError, KeyError, subprocess.TimeoutExpired) as e:
            report(f"failed: {e}")
            return rows, [str(e)]
    for name, what, _ in SETTINGS:
        added = [t - b for b, t in zip(runs["base"], runs[name])]
        rows.append({"setting": name, "base": statistics.median(runs["base"]), "traced": statistics.median(runs[name]), "added": statistics.median(added),
                     "added_least": min(added), "added_most": max(added), "stand_in": name == "papi" and bool(environment), "notes": missing if name == "papi" else []})
        spread = f"{min(added):.0f}..{max(added):.0f}"
        note = "(the tests' stand-in for libpapi)" if rows[-1]["stand_in"] else ""
        report(f"{name:<12}{what:<38}{rows[-1]['traced']:>8.1f}{rows[-1]['added']:>8.1f}  {spread:<14}{note}".rstrip())
    for note in missing:
        report(f"  {note}")
    report("")
    return rows, []


def profiles(folder):
    """Instructions between one mark() and the next, in order; the first is all up to the first mark."""
    found = []
    for path in glob.glob(os.path.join(folder, "profile.*.*")):
        with open(path, errors="replace") as f:
            text = f.read()
        count = re.search(r"^summary: (\d+)", text, re.M)
        if count and "desc: Trigger: --dump-before=mark" in text:
            found.append((int(path.rpartition(".")[2]), int(count[1])))
        os.unlink(path)
    return [count for _, count in sorted(found)]


def count_instructions(loops, events, traced, place, environment=None):
    """{loop: instructions an event}: the difference of a run and one twice as long."""
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        out = execute(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/profile.%p", "--dump-before=mark",
                       *program(events, loops, place)], folder, os.path.join(folder, "trace.spoor") if traced else None, environment=environment)
        lines, counts = read_lines(out), profiles(folder)
    if len(counts) != 3 * len(lines):
        raise Failed(f"callgrind wrote {len(counts)} profiles, expected {3 * len(lines)}")
    return {name: (counts[3 * i + 2] - counts[3 * i + 1]) / (n2 - n1) for i, (name, (n1, n2, _, _)) in enumerate(lines.items())}


def instructions(loops, events, place=None):
    base, traced = (count_instructions(loops, events, kind, place) for kind in (False, True))
    return [{"loop": name, "base": base[name], "traced": traced[name], "added": traced[name] - base[name],
             "ratio": traced[name] / base[name]} for name in base]


def result(added, target, failure=None):
    if target is None:
        return ""
    verdict = "met" if added <= target else "FAILED" if failure and added > failure else "MISSED"
    return f"at most {target}: {verdict}"


def run(loops, events, repetitions, callgrind_events, report):
    """Prints both tables by report(text). Returns ({"cpu": [...], "instructions": [...]}, failures)."""
    found, failures, table = {}, [], {loop[0]: loop for loop in LOOPS}
    if repetitions:
        report("CPU time of an event in ns (median of repetitions, base and traced in turn; added: difference, least and most)")
        report(f"{'LOOP':<12}{'':<38}{'BASE':>8}{'TRACED':>8}{'RATIO':>7}{'ADDED':>8}  {'LEAST..MOST':<14}")
        try:
            found["cpu"] = cpu_times(loops, events, repetitions)
        except (Failed, OSError, subprocess.TimeoutExpired) as e:
            failures.append(str(e))
            report(f"failed: {e}")
        for r in found.get("cpu", ()):
            _, what, target, failure, _ = table[r["loop"]]
            spread = f"{r['added_least']:.0f}..{r['added_most']:.0f}"
            report(f"{r['loop']:<12}{what:<38}{r['base']:>8.1f}{r['traced']:>8.1f}{r['ratio']:>7.1f}{r['added']:>8.1f}  {spread:<14}"
                   f"{result(r['added'], target, failure)}".rstrip())
        report("")
    if callgrind_events and not shutil.which("valgrind"):
        report("Instructions of an event: not counted, valgrind is not installed\n")
    elif callgrind_events:
        report("Instructions of an event (valgrind --tool=callgrind)")
        report(f"{'LOOP':<12}{'':<38}{'BASE':>8}{'TRACED':>8}{'RATIO':>7}{'ADDED':>8}")
        try:
            found["instructions"] = instructions(loops, callgrind_events)
        except (Failed, OSError, subprocess.TimeoutExpired) as e:
            failures.append(str(e))
            report(f"failed: {e}")
        for r in found.get("instructions", ()):
            _, what, _, _, target = table[r["loop"]]
            report(f"{r['loop']:<12}{what:<38}{r['base']:>8.1f}{r['traced']:>8.1f}{r['ratio']:>7.1f}{r['added']:>8.1f}  {'':<14}"
                   f"{result(r['added'], target)}".rstrip())
        report("")
    return found, failures
