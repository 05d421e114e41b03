#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# questions - what the tracer asks of the MPI library, and reads of a call's arguments, calls nothing of the application's and breaks nothing: the same calls of
# error handlers, attribute functions and generalised requests in the same order, the same codes, the same output
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import mpich_programs  # noqa: E402
import tap  # noqa: E402

PROGRAM = os.path.join(tap.BUILD, "tests/programs/callbacks")
RANKS = 2
OPTIONS = {"lossless": [], "lossy": ["--mode", "lossy:2"], "no order": ["--mode", "lossy:2", "--structure=lossy"], "buffers": ["--buffers=on"],
           "buffers, lossy": ["--buffers=on", "--mode", "lossy:2"], "little memory": ["--memory=1048576", "--buffers=on", "--timing=full"]}


def check(way, environment=None, noted="", program=PROGRAM):
    plain = launch.mpirun(RANKS, [program, way], environment=environment)
    title = way + (" that are not copied" if environment else "")
    tap.ok(plain.returncode == 0 and b": done" in plain.stdout, f"{title}: the program comes to its end", plain.stderr.decode(errors="replace"))
    for name, options in list(OPTIONS.items())[:None if program == PROGRAM else 1]:
        with tempfile.TemporaryDirectory(prefix="questions-t-") as folder:
            trace = os.path.join(folder, "x.spoor")
            traced = launch.mpirun(RANKS, [program, way], before=[launch.spoor(), "run", *options, "-o", trace, "--"], environment=environment)
            differs = [f"without: {a}, traced: {b}" for a, b in zip(plain.stdout.splitlines(), traced.stdout.splitlines()) if a != b][:5]
            tap.ok((traced.returncode, traced.stdout) == (plain.returncode, plain.stdout), f"{title}, {name}: the same", *differs,
                   traced.stderr.decode(errors="replace"))
            notes = sorted({line for line in traced.stderr.decode(errors="replace").splitlines() if line.startswith("tracer: ")})
            tap.equal(notes, [noted] if noted else [], f"{title}, {name}: merged in MPI_Finalize, or not")
            done = subprocess.run([launch.spoor(), "show", "--json", trace], stdout=subprocess.PIPE, check=False)
            meta = json.loads(done.stdout)["meta"] if done.returncode == 0 else {}
            tap.ok(meta.get("ranks") == RANKS and "partial" not in meta, f"{title}, {name}: the trace is whole", meta)


def no_communicator():
    """MPICH, of which the program takes all communicators that there are."""
    cc = mpich_programs.made("MPICH_CC")
    with tempfile.TemporaryDirectory(prefix="questions-t-") as folder:
        program = os.path.join(folder, "callbacks")
        if not cc or subprocess.run([cc, "-std=gnu11", "-w", "-o", program, os.path.join(launch.PROGRAMS, "callbacks.c")], check=False).returncode:
            tap.skip("communicators", "no MPICH")
            return
        os.environ["SPOOR_TEST_MPI"] = "mpich"
        check("communicators", noted="tracer: the MPI library makes no further communicator, in which to merge", program=program)
        del os.environ["SPOOR_TEST_MPI"]


def listed():
    """Every question in the sources is in doc/questions.md."""
    asked = set()
    for path in glob.glob(os.path.join(tap.SOURCE, "preload/*.[ch]")) + glob.glob(os.path.join(tap.SOURCE, "preload/abi/*.h")):
        with open(path, encoding="utf-8") as f:
            asked |= set(re.findall(r"real\.(MPI_\w+)", re.sub(r"/\*.*?\*/", "", f.read(), flags=re.DOTALL)))
    with open(os.path.join(tap.SOURCE, "doc/questions.md"), encoding="utf-8") as f:
        page = set(re.findall(r"`(MPI_\w+)`", f.read()))
    tap.ok(len(asked) > 20, "questions are found in the sources", sorted(asked))
    tap.equal(sorted(n for n in asked - page if not n.endswith("_f2c")), [], "each is in doc/questions.md")


def main():
    listed()
    check("errors")
    check("arguments")
    check("attributes", noted="tracer: MPI_COMM_WORLD has attributes that the application copies")
    check("attributes", {"CALLBACKS_NOT_COPIED": "1"})
    no_communicator()
    tap.done()


main()
