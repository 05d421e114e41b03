#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# emulated - what must be true on each processor: programs are exact and replayed, call paths whole, killed ranks salvaged, and traces read anywhere
"""`./check --emulated` runs it on another processor with qemu; on this machine's own it runs as well.

SPOOR_OTHER: a folder with a build of spoor for another processor, which runs here, and traces *.spoor that were made there. Both builds
must say the same of each trace. Where no tracer was built (`./check --readers`) that, and the golden traces, are all.
"""
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
import tap  # noqa: E402

OTHER = os.environ.get("SPOOR_OTHER")
EXACT = os.path.join(tap.SOURCE, "tests/exact")
LAYERS = os.path.join(tap.SOURCE, "tests/programs/ranked.c")
NAMES = ("pt2pt", "farm", "halo", "persistent", "collectives", "types", "objects", "windows", "modern", "f08")
SAYS = (["verify"], ["show"], ["show", "--sites"], ["show", "--json"], ["dump"], ["dump", "--times"])
SLOW = "300"  # seconds for a run


def own(name):
    return os.path.join(tap.BUILD, "tests/programs", name)


def exact(folder, title, program, *options):
    """Compares a program's trace with the flat log. Returns the path of the trace."""
    keep = os.path.join(folder, re.sub(r"\W+", "-", title))
    done = subprocess.run([sys.executable, EXACT, "--timeout", SLOW, "--keep", keep, *options, "--", *program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    tap.ok(done.returncode == 0, f"{title}: exactly the flat log", done.stdout.decode(errors="replace"))
    return os.path.join(keep, "trace.spoor")


def programs(folder):
    """Ten programs, in C and in Fortran."""
    import replaying  # pylint: disable=import-outside-toplevel # it needs what was installed
    for name in NAMES:
        if not os.path.exists(own(name)):
            tap.skip(name, "no Fortran compiler")
            continue
        trace = exact(folder, name, [own(name), *([os.path.join(folder, "file8")] if name == "f08" else [])])
        status, said = replaying.run([replaying.SPOOR, "replay", "--check", trace, *replaying.LAUNCHER], timeout=int(SLOW))
        tap.ok(status == 0 and "equal: " in said, f"{name}: the replay's trace is the same", said[-3000:])
        yield trace


def ways():
    """The functions from MPI_Allreduce up to main, for each way that tests/programs/ranked.c takes through its library."""
    for step in range(40):
        first, deep = (["layers_wrap_a"], step % 5) if step % 2 else ([], step % 3)
        yield " ".join((deep + 1) * ["layers_wrap_b"] + first + ["layers_reduce", "main"])


def paths(folder):
    """Libraries with frame pointers and without: what is between MPI and main is found in both."""
    for title, options in (("with frame pointers", ["-fno-omit-frame-pointer"]), ("without frame pointers", ["-fomit-frame-pointer"]),
                           ("optimised, without frame pointers", ["-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"])):
        library, trace = os.path.join(folder, "layers.so"), os.path.join(folder, "layers.spoor")
        subprocess.run(["mpicc.openmpi", "-O1", "-g", "-w", *options, "-DLAYERS", "-fPIC", "-shared", "-o", library, LAYERS], check=True)
        done = launch.mpirun(2, [own("ranked"), library], before=[launch.spoor(), "run", "-f", "-o", trace, "--"], timeout=int(SLOW))
        shown = subprocess.run([launch.spoor(), "show", "--sites", "--json", trace], stdout=subprocess.PIPE, check=False).stdout
        sites = [s for s in json.loads(shown or "{}").get("sites", []) if s["function"] == "MPI_Allreduce"]
        found = [" ".join(re.findall(r"\b(layers_\w+|main)\b", " ".join(map(str, s["path"])))) for s in sites]
        tap.ok(sorted(found) == sorted(set(ways())), f"a library {title}: its call paths are whole", done.stderr.decode(errors="replace"), *found)


def salvages(folder):
    """What ranks that were killed had recorded is what the flat logger wrote before."""
    for title, program, ranks in (("one of four ranks is killed", [os.path.join(tap.BUILD, "tests/crash"), "kill-one"], 4),
                                  ("all ranks are killed", [os.path.join(tap.BUILD, "tests/crash"), "kill-all"], 4),
                                  ("a rank with threads is killed", [own("crew"), "200", "die"], 2)):
        trace = exact(folder, title, program, "-n", str(ranks), "--status", "137", "--partial")
        shown = subprocess.run([launch.spoor(), "show", "--json", trace], stdout=subprocess.PIPE, check=False).stdout
        tap.ok(json.loads(shown or "{}").get("meta", {}).get("partial"), f"{title}: the trace says that it is partial", shown.decode()[:500])
        yield trace


def says(spoor, arguments, trace):
    done = subprocess.run([spoor, *arguments, trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def compare(title, traces):
    """What both builds say of each trace."""
    if not OTHER:
        tap.skip(title, "no other build is in SPOOR_OTHER")
        return
    other = os.path.join(OTHER, "spoor")
    for arguments in SAYS:
        wrong = [t for t in traces if says(launch.spoor(), arguments, t) != says(other, arguments, t)]
        tap.ok(not wrong, f"{title}: both builds say the same with spoor {' '.join(arguments)} ({len(traces)} traces)", *wrong)


def main():
    with tempfile.TemporaryDirectory(prefix="emulated-t-") as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        if os.path.exists(launch.preload()):
            traces = [*programs(folder), *salvages(folder)]
            paths(folder)
            compare("traces made here", traces)
        compare("golden traces", sorted(glob.glob(os.path.join(tap.SOURCE, "tests/golden/*.spoor"))))
        there = sorted(glob.glob(os.path.join(OTHER or folder, "*.spoor")))
        if there:
            compare("traces made there", there)
    tap.done()


if __name__ == "__main__":
    main()
