#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# threads - MPI_THREAD_MULTIPLE: each thread is traced exactly, also when it is killed, and under ThreadSanitizer
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

EXACT = os.path.join(tap.SOURCE, "tests/exact")
CREW = os.path.join(tap.BUILD, "tests/programs/crew")
# Open MPI is not built with ThreadSanitizer, which then cannot see what its threads do to keep apart. spoor's own frames are not suppressed.
OPEN_MPI = ("libmpi.so", "libopen-pal.so", "libopen-rte.so", "mca_", "libpmix.so")
SUPPRESSED = "".join(f"{kind}:{part}\n" for kind in ("race", "mutex", "deadlock") for part in OPEN_MPI)


def exact(title, keep, program, *options):
    done = subprocess.run([sys.executable, EXACT, "--keep", keep, *options, "--", *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    tap.ok(done.returncode == 0, title, done.stdout.decode(errors="replace"))


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def compiler():
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        return re.search(r"^MPICC = (\S+)", f.read(), re.M).group(1)


def readers(trace):
    """What readers say of a trace whose two ranks have five threads each."""
    dumped = spoor("dump", trace, "--rank", "1").stdout.splitlines()
    lines = {}
    for line in dumped:
        name, _, event = line.partition(": ")
        lines.setdefault(name, []).append(event)
    tap.ok(list(lines) == ["1", "1.1", "1.2", "1.3", "1.4"], "dump: a rank's threads one after the other", " ".join(lines))
    tap.ok(spoor("dump", trace, "--rank", "1", "--thread", "3").stdout.splitlines() == lines.get("1.3"), "dump --thread: one of them")
    tap.ok(any("@0" in line for line in lines["1.1"]) and any("@2" in line for line in lines["1"]), "requests of other threads say whose they are")
    ours = reader.Trace(trace)
    tap.ok(all(list(ours.dump(1 + 2 * k)) == lines[f"1.{k}" if k else "1"] for k in range(5)), "the independent reader agrees")
    verified = spoor("verify", trace)
    tap.ok(verified.returncode == 0 and "2 ranks" in verified.stdout, "verify: two ranks", verified.stdout + verified.stderr)
    tap.ok("2, 10 threads" in spoor("show", trace).stdout, "show: ten threads")
    for arguments, says in ((("--rank", "2"), "rank 2 does not exist: the trace has 2 ranks"), (("--rank", "1", "--thread", "5"), "no thread 5"),
                            (("--thread", "1"), "of which rank")):
        done = spoor("dump", trace, *arguments)
        tap.ok(done.returncode != 0 and says in done.stderr, f"dump {' '.join(arguments)}: told", done.stderr)
    if os.path.exists(os.path.join(tap.BUILD, "spoor-replay")):
        done = spoor("replay", trace)
        tap.ok(done.returncode != 0 and "several threads" in done.stderr, "replay refuses it, and says why", done.stderr)


def sanitized(folder):
    program, trace = os.path.join(folder, "instrumented"), os.path.join(folder, "tsan.spoor")
    built = subprocess.run([compiler(), "-std=gnu11", "-O1", "-g", "-fsanitize=thread", "-o", program, os.path.join(tap.SOURCE, "tests/programs/crew.c"),
                            "-lpthread"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    with open(os.path.join(folder, "suppressed"), "w", encoding="ascii") as f:
        f.write(SUPPRESSED)
    environment = {"TSAN_OPTIONS": f"suppressions={folder}/suppressed exitcode=66", "TMPDIR": folder}
    if built.returncode or launch.mpirun(2, [program, "50"], environment=environment).returncode:
        tap.skip("ThreadSanitizer", "the compiler has none, or the program does not run with it")
        return
    done = launch.mpirun(2, [program, "50"], before=[launch.spoor(), "run", "-o", trace, "--"], environment=environment)
    tap.ok(done.returncode == 0 and b"ThreadSanitizer" not in done.stderr, "it runs clean under ThreadSanitizer", done.stderr.decode(errors="replace")[:3000])
    tap.ok("10 threads" in spoor("show", trace).stdout, "and is traced with all its threads")


def main():
    with tempfile.TemporaryDirectory(prefix="threads-") as folder:
        exact("requests and communicators of other threads; threads that come and go", os.path.join(folder, "crew"), [CREW], "-n", "3")
        two = os.path.join(folder, "two")
        exact("the same with two ranks", two, [CREW, "50"], "-n", "2")
        readers(os.path.join(two, "trace.spoor"))
        exact("killed in the middle: all threads of all ranks are salvaged", os.path.join(folder, "killed"), [CREW, "1000", "die"], "-n", "2",
              "--status", "137", "--partial")
        exact("lossy, nothing is left out", os.path.join(folder, "lossy"), [CREW], "-n", "2", "--mode", "lossy:100000")
        sanitized(folder)
    tap.done()


if __name__ == "__main__":
    main()
