#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# sanitize - programs built with the sanitizers run clean under the tracer, and are traced exactly
"""A few programs with AddressSanitizer and UndefinedBehaviorSanitizer, those with threads with ThreadSanitizer, on two ranks (`inter`: four), compared with the flat logger.

SPOOR_SANITIZE=all: all C programs. SPOOR_SANITIZE=tracer: also with the tracer itself built so, which takes some minutes; the builds are made in
SPOOR_SANITIZE_BUILDS if that is set, and found there the next time."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

EXACT = os.path.join(tap.SOURCE, "tests/exact")
SLOW = os.path.join(tap.BUILD, "tests/programs/slow.so")
ADDRESS, THREAD = "address,undefined", "thread"

# Not here: `broken` (reads what is not there, on purpose), `spawn` (tests/spawn.t starts it), `known` (measures time), `odd` but what it does without plugins.
PLAIN = {name: [] for name in ("pt2pt", "collectives", "comms", "types", "objects", "persistent", "windows", "errors", "inter", "pcoll", "farm", "halo", "many", "old",
                               "mixed", "started")}
PLAIN.update({"files": ["{file}"], "shared": ["{file}"], "buffers": ["{file}"], "names": ["{folder}"], "random": ["7", "300"], "ends": ["empty"], "odd": ["deep"]})
THREADED = {"crew": ["50"], "turns": [], "threads": [], "reuse": ["{file}"]}
QUICK = ("objects", "windows")
QUICK_THREADED = ("crew", "turns")

# Open MPI leaks, and is not built with ThreadSanitizer, which then cannot see what its threads do to keep apart. Nothing of spoor or the programs is suppressed.
OPEN_MPI = ("libmpi.so", "libopen-pal.so", "libopen-rte.so", "mca_", "libpmix.so", "libevent")
SUPPRESSED = "".join(f"{kind}:{part}\n" for kind in ("race", "mutex", "deadlock", "signal", "thread") for part in OPEN_MPI)
SAID = re.compile(r"runtime error|Sanitizer|ASan(?! doesn't fully support makecontext)")  # `many` does that


def configured(name):
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as f:
        return re.search(rf"^{name} = (.+)", f.read(), re.M).group(1)


def flags(kind):
    return ["-std=gnu11", "-O1", "-g", "-w", f"-fsanitize={kind}", "-fno-omit-frame-pointer"]


def runs(folder, kind):
    """Does the compiler have it, and do programs run with it here?"""
    path = os.path.join(folder, "empty")
    with open(path + ".c", "w", encoding="ascii") as f:
        f.write("int main(void) { return 0; }\n")
    built = subprocess.run([configured("MPICC"), *flags(kind), "-o", path, path + ".c"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return built.returncode == 0 and subprocess.run([path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def check(folder, kind, name, arguments, tracer):
    """One program, built so, traced by the tracer (None: as it is installed)."""
    program, keep = os.path.join(folder, name + "-" + kind[:4]), os.path.join(folder, "kept")
    title = f"{name}, {kind}" + (", the tracer, too" if tracer else "")
    if not os.path.exists(program):
        built = subprocess.run([configured("MPICC"), *flags(kind), "-o", program, os.path.join(tap.SOURCE, "tests/programs", name + ".c"), "-lpthread"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if not tap.ok(built.returncode == 0, f"{title}: compiles", built.stdout.decode(errors="replace")[-1000:]):
            return
    command = [program] + [a.format(folder=folder, file=os.path.join(folder, "file")) for a in arguments]
    # mpirun is not built so and keeps the tracer that is: in the ranks it is taken out behind the flat logger
    behind = ":".join([tracer] * bool(tracer) + [SLOW] * (name == "reuse"))
    if behind:
        command = ["sh", "-c", f'LD_PRELOAD="{"${LD_PRELOAD%%:*}" if tracer else "$LD_PRELOAD"}:$0" exec "$@"', behind, *command]
    environment = dict(os.environ, TMPDIR=folder, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1",
                       TSAN_OPTIONS=f"suppressions={folder}/suppressed exitcode=66")
    done = subprocess.run([sys.executable, EXACT, "--keep", keep, "-n", "4" if name == "inter" else "2", *["--unordered"] * (name == "threads"), "--timeout", "300", "--", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True, errors="replace", check=False)
    tap.ok(done.returncode == 0, f"{title}: traced exactly", done.stdout[-2000:])
    with open(os.path.join(keep, "output"), encoding="utf-8", errors="replace") as f:
        said = f.read()
    tap.ok(not SAID.search(said), f"{title}: runs clean", said[:3000])


def instrumented(folder, kind):
    """The tracer, built so."""
    build = os.path.join(os.environ.get("SPOOR_SANITIZE_BUILDS", folder), kind.split(",", maxsplit=1)[0])
    tracer, gate = (os.path.join(build, ".libs", name) for name in ("libspoor-openmpi.so", os.path.basename(launch.preload())))
    if not os.path.exists(tracer):
        os.makedirs(build, exist_ok=True)
        for what, command in (("configured", [os.path.join(tap.SOURCE, "configure"), "-q", "CC=" + configured("CC"), f"CFLAGS=-O1 -g -fno-omit-frame-pointer -fsanitize={kind}"]),
                              ("generated", ["sh", "-c", "make -s $(make -s --eval='list:; @echo $(BUILT_SOURCES)' list)"]), ("built", ["make", "-s", "libspoor-openmpi.la"])):
            done = subprocess.run(command, cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
            if not tap.ok(done.returncode == 0, f"the tracer, {kind}: {what}", done.stdout[-2000:]):
                return None
        os.symlink(launch.preload(), gate)  # it opens the tracer that is beside it
    return gate


def main():
    which = os.environ.get("SPOOR_SANITIZE", "")
    with tempfile.TemporaryDirectory(prefix="sanitize-") as folder:
        with open(os.path.join(folder, "suppressed"), "w", encoding="ascii") as f:
            f.write(SUPPRESSED)
        for kind, programs, quick in ((ADDRESS, {**PLAIN, **THREADED}, QUICK + QUICK_THREADED), (THREAD, THREADED, QUICK_THREADED)):
            if not runs(folder, kind):
                tap.skip(f"programs with {kind}", "the compiler has none, or programs do not run with it")
                continue
            for tracer in [None, instrumented(folder, kind)] if which == "tracer" else [None]:
                for name, arguments in programs.items():
                    if which or name in quick:
                        check(folder, kind, name, arguments, tracer)
    tap.done()


if __name__ == "__main__":
    main()
