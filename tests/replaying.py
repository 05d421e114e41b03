# SPDX-License-Identifier: BSD-3-Clause
"""replaying - what tests of replays share: a program is traced, its trace is replayed and compared, or refused"""
import os
import signal
import subprocess

import launch
import tap


def prefix():
    """Where this build is installed."""
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        return next(line.split("=", 1)[1].strip() for line in f if line.startswith("prefix ="))


SPOOR = os.path.join(prefix(), "bin/spoor")
REPLAY = os.path.join(prefix(), "libexec/spoor/spoor-replay")
LAUNCHER = ["--", "mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), *launch.MCA]


def run(command, timeout=100, environment=None, cwd=None):
    """Returns the exit status, and what it said; 124 if it took too long, and then nothing of it is left. Once more where Open MPI crashed at its end."""
    status, said = run_once(command, timeout, environment, cwd)
    return run_once(command, timeout, environment, cwd) if status and launch.crashed_at_exit(said.encode()) else (status, said)


def run_once(command, timeout, environment, cwd):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                               env=dict(os.environ, **(environment or {})), cwd=cwd)
    try:
        out, _ = process.communicate(timeout=timeout)
        return process.returncode, out.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # mpirun ends its ranks
        try:
            out, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
        return 124, out.decode(errors="replace") + "took too long"


def trace(folder, name, program, ranks=4, options=(), cwd=None):
    """Traces a program. Returns the path of the trace."""
    path = os.path.join(folder, name + ".spoor")
    done = launch.mpirun(ranks, program, before=[SPOOR, "run", *options, "-f", "-o", path, "--"], cwd=cwd)
    if not os.path.exists(path):
        tap.ok(False, f"{name} is traced", done.stdout + done.stderr)
    return path


def check(folder, name, program, ranks=4, cwd=None, options=()):
    path = trace(folder, name, program, ranks, cwd=cwd, options=options)
    status, said = run([SPOOR, "replay", "--check", path, *LAUNCHER])
    tap.ok(status == 0 and "equal: " in said, f"{name}, {ranks} ranks: the replay's trace is the same", said[-3000:])
    return path


def refused(title, arguments, *words):
    """Nothing is started, and what is said has these words."""
    status, said = run([SPOOR, "replay", *arguments, "--", "echo", "STARTED"], timeout=60)
    tap.ok(status != 0 and all(w in said for w in words) and "STARTED" not in said, title, f"status {status}, expected the words {words}", said[-2000:])
