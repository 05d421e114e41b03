# SPDX-License-Identifier: BSD-3-Clause
"""start - what tracing adds to a process before its first event and after its last one: CPU time, instructions, page faults"""
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile

import launch

HERE = os.path.dirname(os.path.abspath(__file__))
FEW, MANY = 10, 50  # processes, one after the other: what `spoor run` itself takes is in both

# name, what, the command for n processes (None: its CPU time is not measured), the command for one under callgrind, the number of ranks
ALONE = os.path.join(HERE, "alone")
EMPTY = os.path.join(launch.BUILD, "bench/empty")
LOOP = 'i=0; while [ $i -lt $0 ]; do "$@"; i=$((i + 1)); done'
CASES = (
    ("mpi", "MPI_Init, MPI_Finalize, one of two ranks", lambda n: ["sh", "-c", LOOP, str(n // 2), ALONE, "2", EMPTY], [EMPTY], "2"),
    ("mpi-1", "MPI_Init, MPI_Finalize, the only rank", lambda n: ["sh", "-c", LOOP, str(n), ALONE, "1", EMPTY], [EMPTY], "1"),
    ("no-mpi", "a process that does not call MPI", lambda n: ["sh", "-c", LOOP, str(n), "/bin/true"], ["/bin/true"], None),
    ("python", "Python that does not call MPI", None, ["/usr/bin/python3", "-c", "pass"], None),
)
INSTRUCTIONS_TARGET, FAULTS_TARGET = 12000, 6  # added to /bin/true: what others have more is the loader's, for each symbol that it looks up


def environment(folder, size=None, in_job=False):
    more = {"TMPDIR": folder, "SPOOR_BUILD": launch.BUILD, "PYTHONHASHSEED": "0"}
    if size:
        more.update(ALONE_SIZE=size, ALONE_RANK="0")
    if in_job:
        more.update(LD_PRELOAD=launch.preload(), SLURM_SPOOR_HANDOFF=f"1;mode=lossless;spool={folder}")
    return dict(os.environ, **more)


def seconds(command, traced):
    """CPU time of a command and of all that it starts."""
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = [launch.spoor(), "run", "-o", os.path.join(folder, "trace.spoor"), "--"] if traced else []
        subprocess.run(run + command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(folder), check=True, timeout=300)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def process_us(command, traced):
    return 1e6 * (seconds(command(MANY), traced) - seconds(command(FEW), traced)) / (MANY - FEW)


def instructions(program, size, traced):
    """Of one process, as `spoor run` starts it, or without MPI, as in a job."""
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        run = [launch.spoor(), "run", "-o", os.path.join(folder, "trace.spoor"), "--"] if traced and size else []
        library = os.path.join(launch.BUILD, "bench/alone.so")
        behind = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"', library] if size else []
        done = subprocess.run(run + behind + ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/profile", *program],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(folder, size, traced and not size), check=True, timeout=300)
    return int(re.search(rb"Collected : (\d+)", done.stdout)[1])


def faults(program, traced):
    """Minor page faults of a process without MPI: the median of some runs."""
    found = []
    with tempfile.TemporaryDirectory(prefix="spoor-bench-") as folder:
        env = environment(folder, in_job=traced)
        for _ in range(21):
            pid = os.posix_spawn(program[0], program, env)
            found.append(os.wait4(pid, 0)[2].ru_minflt)
    return int(statistics.median(found))


def verdict(added, name, target):
    return f"{added:>9} {'' if name != 'no-mpi' else 'met' if added <= target else 'MISSED':<7}"


def run(repetitions, report):
    """Returns (rows, failures)."""
    rows, failures = [], []
    report("To start and to end: CPU time of a process in us (median, base and traced in turn), and instructions")
    report(f"{'PROCESS':<10}{'':<42}{'BASE us':>9}{'TRACED':>9}{'ADDED':>9}{'INSTRUCTIONS':>14}{'ADDED':>9}{'FAULTS':>14}{'ADDED':>9}")
    for name, what, command, program, size in CASES:
        row = {"process": name}
        try:
            if command:
                pairs = [(process_us(command, False), process_us(command, True)) for _ in range(repetitions)]
                row.update(base_us=statistics.median(p[0] for p in pairs), traced_us=statistics.median(p[1] for p in pairs),
                           added_us=statistics.median(b - a for a, b in pairs))
            if shutil.which("valgrind"):
                row["instructions"] = instructions(program, size, False)
                row["instructions_added"] = instructions(program, size, True) - row["instructions"]
            if not size:
                row["faults"] = faults(program, False)
                row["faults_added"] = faults(program, True) - row["faults"]
        except (OSError, TypeError, subprocess.SubprocessError) as e:
            failures.append(f"start, {name}: {e}")
            report(f"{name:<10}{what:<42}  failed: {e}")
            continue
        rows.append(row)
        line = f"{name:<10}{what:<42}" + (f"{row['base_us']:>9.0f}{row['traced_us']:>9.0f}{row['added_us']:>9.0f}" if command else " " * 27)
        if "instructions" in row:
            line += f"{row['instructions']:>14}" + (f"{row['instructions_added']:>9}" if size else verdict(row["instructions_added"], name, INSTRUCTIONS_TARGET))
        if not size:
            line += f"{row['faults']:>7}" + verdict(row["faults_added"], name, FAULTS_TARGET)
        report(line.rstrip())
    return rows, failures
