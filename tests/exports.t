#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# exports - what goes into other programs' processes needs only libc, and shows only the names that it must
#
# Names other than the patterns here are listed in tests/exports.list as "LIBRARY NAME".
# No two sources have an external name in common: a linker takes that of a program for that of a library, and says nothing.
import collections
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

SPANK = re.compile(r"(slurm_spank_[a-z_]+|plugin_name|plugin_type|plugin_version|spank_plugin_version)$")
NO_NAME = re.compile(r"(?!)")

# File; the names that it may define; the names that it may expect from the process.
LIBRARIES = {
    "libspoor-gate.so": (NO_NAME, NO_NAME),
    "libspoor-openmpi.so": (NO_NAME, NO_NAME),
    "libspoor-mpich.so": (NO_NAME, NO_NAME),
    "libspoor-abi.so": (NO_NAME, NO_NAME),
    "spoor.so": (SPANK, re.compile(r"(spank|slurm)_[a-z_]+$")),
    "spoor-tombstone.so": (SPANK, re.compile(r"spank_[a-z_]+$")),
}
TRACERS = [name for name in LIBRARIES if name not in ("libspoor-gate.so", "spoor.so", "spoor-tombstone.so")]
NEEDED = re.compile(r"(libc\.so\.6|ld-linux[-a-z0-9_]*\.so\.\d)$")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, LC_ALL="C")).stdout


def dynamic_names(path):
    """Defined names, strongly undefined names without a version of libc, as two sorted lists."""
    defined, undefined = [], []
    for line in output("nm", "-D", path).splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            if "@GLIBC_" not in name:
                undefined.append(name)
        elif kind not in "wv" and kind != "A":
            defined.append(name.split("@")[0])
    return sorted(defined), sorted(undefined)


listed = {}
with open(os.path.join(tap.SOURCE, "tests", "exports.list"), encoding="utf-8") as file:
    for line in file:
        if line.strip() and not line.startswith("#"):
            library, name = line.split()
            listed.setdefault(library, set()).add(name)

for library, (may_define, may_expect) in LIBRARIES.items():
    found = glob.glob(os.path.join(tap.BUILD, "**", ".libs", library), recursive=True)
    if library == "libspoor-mpich.so" and not found:  # there is no MPICH here
        continue
    if not tap.equal(len(found), 1, f"{library} was built once"):
        continue
    path = found[0]
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path))
    if library in TRACERS:  # what libc has is its own, or taken from libc itself (preload/own/libc.h)
        names = [line.split()[-1] for line in output("nm", "-D", "--undefined-only", path).splitlines()]
        tap.equal(names, [], f"{library} imports no name, which may be the program's")
        tap.equal(needed, [], f"{library} needs nothing")
    elif library == "libspoor-gate.so":  # loaded by every libc
        tap.equal(needed, [], f"{library} needs nothing")
        # where loaders keep their list of files; believed only if it is in the loader
        wanted = {line.split()[-1] for line in output("nm", "-D", "--undefined-only", path).splitlines()}
        tap.equal(wanted, {"_r_debug", "_dl_debug_addr"}, f"{library} asks the process for nothing else by name")
        tap.ok("No version information" in output("readelf", "-V", path), f"{library} asks for no version of a symbol")
    else:
        tap.ok(all(NEEDED.match(name) for name in needed), f"{library} needs only libc", *needed)
    tap.ok(not re.search(r"\((RPATH|RUNPATH|TEXTREL)\)", output("readelf", "-d", path)),
           f"{library} has no library path and no text relocations")

    defined, undefined = dynamic_names(path)
    tap.ok(defined, f"{library} exports something")
    others = [name for name in defined if not may_define.match(name)]
    tap.equal(others, sorted(listed.get(library, ())), f"{library} exports nothing else")
    strangers = [name for name in undefined if not may_expect.match(name)]
    tap.ok(not strangers, f"{library} expects nothing that may be missing", *strangers)

# What each program, or each library that is opened, has for itself.
OWN = re.compile(r"(main|MPI_[A-Z][A-Za-z_]+)$|" + SPANK.pattern)
FOLDERS = "gate preload spank policy trace process merge deliver archive replay proxy cmd lib"
objects = [os.path.join(folder, name) for top in FOLDERS.split()
           for folder, _, names in os.walk(os.path.join(tap.BUILD, top)) for name in names if name.endswith(".o")
           and "/preload/own" not in folder]  # which has libc's names, and is hidden in the tracers
sources = collections.defaultdict(set)
for line in output("nm", "--print-file-name", "--defined-only", "--extern-only", *objects).splitlines():
    path, _, symbol = line.partition(":")
    kind, name = symbol.split()[-2:]
    if kind in "TDBRC" and not OWN.match(name):  # one source is in several libraries: libtrace_la-pool.o, spoor_helper-pool.o
        folder, file = os.path.split(os.path.relpath(path, tap.BUILD).replace(".libs/", ""))
        source = os.path.join(folder, file.rsplit("-", 1)[-1])
        if any(os.path.exists(os.path.join(top, source[:-2] + ".c")) or source.startswith("abi/") for top in (tap.SOURCE, tap.BUILD)):  # else of a source that is gone
            sources[name].add(source)
# what preload/tracer.c includes is compiled alone for unit tests
with open(os.path.join(tap.SOURCE, "preload/tracer.c"), encoding="utf-8") as file:
    parts = {name[:-1] + "o" for name in re.findall(r'#include "(.*\.c)"', file.read())}
for where in sources.values():
    if "preload/tracer.o" in where:
        where -= parts
tap.ok(len(sources) > 1000, "names of functions are found", len(sources))
tap.equal([f"{name}: {' '.join(sorted(where))}" for name, where in sorted(sources.items()) if len(where) > 1], [],
          "no two sources have an external name in common")
tap.done()
