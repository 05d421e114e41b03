# SPDX-License-Identifier: BSD-3-Clause
"""abi - the same programs under Open MPI and under MPICH: bytes of their traces, instructions of an event"""
import os
import re
import statistics
import subprocess
import tempfile

import cost
import launch
import size

LIBRARIES = ("openmpi", "mpich")
SIZE_TARGET, COST_TARGET = 0.05, 0.10
STEPS = 100
GATE_LOOP, GATE_TARGET = "comm-rank", 1.5


def compiler():
    """MPICH's, as configured; None without MPICH."""
    with open(os.path.join(launch.BUILD, "Makefile"), encoding="utf-8") as f:
        found = re.search(r"^MPICH_CC = (\S+)", f.read(), re.M)
    return found and found.group(1)


def programs(names, folder):
    """The folder of each library's programs; MPICH's are compiled now."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    for name in names:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([compiler(), "-std=gnu11", "-O2", "-g", "-w", "-I", source, "-o", path, os.path.join(source, "bench", name + ".c")], check=True)
    return dict(zip(LIBRARIES, (os.path.join(launch.BUILD, "bench"), folder)))


def under(library, what, *arguments):
    """what(*arguments), with that library's launcher."""
    os.environ["SPOOR_TEST_MPI"] = library
    try:
        return what(*arguments)
    finally:
        del os.environ["SPOOR_TEST_MPI"]


def bytes_of(app, ranks, place):
    """The trace without the job's metadata, its events and sites: the run with the median of three, since noise decides on classes of time."""
    runs = [one_of(app, ranks, place) for _ in range(3)]
    return sorted(runs, key=lambda r: r["body"])[1]


def one_of(app, ranks, place):
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        trace = os.path.join(folder, "trace.spoor")
        done = launch.mpirun(ranks, [os.path.join(place, "apps", app), str(STEPS)], before=[launch.spoor(), "run", "-o", trace, "--"], timeout=900,
                             environment={"TMPDIR": folder})
        size.checksum(app, done)  # it came to its end; the last digits depend on the order in which a library adds up
        body, _, stat = size.body_of(trace)
    return {"body": body, "events": stat["events"], "sites": stat["sites"]}


def sizes(apps, ranks, places, report):
    rows, failures = [], []
    report(f"Bytes of traces without the job's metadata, {STEPS} steps")
    report(f"{'APPLICATION':<12}{'RANKS':>6}{'EVENTS':>9}{'OPEN MPI':>10}{'MPICH':>8}{'':>8}")
    for app in apps:
        for n in ranks:
            try:
                one, other = (under(library, bytes_of, app, n, places[library]) for library in LIBRARIES)
            except (size.Failed, OSError, subprocess.CalledProcessError) as e:
                failures.append(f"{app}, {n} ranks: {e}")
                report(f"{app:<12}{n:>6}  failed: {e}")
                continue
            share = other["body"] / one["body"] - 1
            rows.append({"app": app, "ranks": n, **dict(zip(LIBRARIES, (one, other))), "more": share})
            report(f"{app:<12}{n:>6}{one['events']:>9}{one['body']:>10}{other['body']:>8}{share:>+8.1%}   at most {SIZE_TARGET:.0%}: "
                   f"{'met' if share <= SIZE_TARGET else 'MISSED'}")
    report("")
    return rows, failures


def instructions(loops, events, places, report):
    rows, failures = [], []
    report("Instructions that tracing adds to an event")
    report(f"{'LOOP':<12}{'OPEN MPI':>10}{'MPICH':>8}{'':>8}")
    try:
        found = {library: {r["loop"]: r for r in under(library, cost.instructions, loops, events, places[library])} for library in LIBRARIES}
    except (cost.Failed, OSError, subprocess.TimeoutExpired) as e:
        report(f"failed: {e}")
        return rows, [str(e)]
    for name in loops:
        one, other = (found[library][name]["added"] for library in LIBRARIES)
        rows.append({"loop": name, "openmpi": one, "mpich": other, "more": other / one - 1})
        report(f"{name:<12}{one:>10.1f}{other:>8.1f}{other / one - 1:>+8.1%}   at most {COST_TARGET:.0%}: "
               f"{'met' if other / one - 1 <= COST_TARGET else 'MISSED'}")
    report("")
    return rows, failures


def of_gate(events, places, report):
    """What a call costs more in a process that has the gate, but is not traced: nothing but the gate is different."""
    rows, failures = [], []
    report("A call with the gate alone, untraced: instructions, and ns of CPU time, median of 7 pairs")
    report(f"{'LOOP':<12}{'MPI':<9}{'WITHOUT':>9}{'WITH':>7}{'MORE NS':>9}")
    for library in LIBRARIES:
        def spent(gate, place=places[library]):
            n1, n2, t1, t2 = cost.read_lines(cost.execute(cost.program(100 * events, [GATE_LOOP], place), tempfile.gettempdir(), environment=gate))[GATE_LOOP]
            return (t1 + t2) / (n1 + n2)
        with_it = {"LD_PRELOAD": launch.preload()}
        try:
            without, counted = (under(library, cost.count_instructions, [GATE_LOOP], events, False, places[library], gate)[GATE_LOOP] for gate in (None, with_it))
            more = statistics.median(under(library, spent, with_it) - under(library, spent, {}) for _ in range(7))
        except (cost.Failed, OSError, subprocess.TimeoutExpired) as e:
            failures.append(f"the gate, {library}: {e}")
            report(f"{GATE_LOOP:<12}{library:<9} failed: {e}")
            continue
        rows.append({"mpi": library, "without": without, "with": counted, "more_ns": more})
        report(f"{GATE_LOOP:<12}{library:<9}{without:>9.1f}{counted:>7.1f}{more:>+9.2f}   at most {GATE_TARGET} ns: {'met' if more <= GATE_TARGET else 'MISSED'}")
    report("")
    return rows, failures


def run(apps, ranks, loops, events, report):
    """Returns ({"size": [...], "instructions": [...], "gate": [...]}, failures)."""
    if not compiler():
        report("Under MPICH: spoor was built without it\n")
        return {}, []
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        places = programs(["cost", *("apps/" + app for app in apps)], folder)
        by_size, failed = sizes(apps, ranks, places, report)
        by_cost, more = instructions(loops, events, places, report)
        by_gate, still_more = of_gate(events, places, report)
    return {"size": by_size, "instructions": by_cost, "gate": by_gate}, failed + more + still_more
