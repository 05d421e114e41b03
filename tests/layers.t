#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# layers - every #include points the way of the data, and into a user's process comes nothing but libc
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# The headers of C11, POSIX, and Linux.
LIBC = re.compile(r"""(assert|byteswap|complex|ctype|dirent|dlfcn|elf|endian|errno|fcntl|features|fenv|float|fnmatch|ftw|getopt
    |glob|grp|inttypes|iso646|libgen|limits|link|locale|malloc|math|netdb|poll|pthread|pwd|regex|sched|search|semaphore|setjmp
    |signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|syslog|termios
    |threads|time|ucontext|unistd|wchar|x86intrin|cpuid|(sys|linux|arpa|netinet)/[a-z0-9_-]+)\.h$""", re.VERBOSE)

# Of trace/, what goes into a user's process.
ROOMS = ["trace/base", "trace/model", "trace/record", "trace/file"]

# By folder, or by file without its ending where that has a rule of its own: which of our headers it may include (folder,
# or a single header), and which libraries.
RULES = {
    "trace/base": (["trace/base"], []),
    "trace/model": (["trace/base", "trace/model"], []),
    "trace/record": (["trace/base", "trace/model", "trace/record"], []),
    "trace/file": (["trace/base", "trace/model", "trace/file"], []),
    "trace/read": (["trace"], []),
    "insight": (["trace", "insight"], []),
    "process": (["trace/base/error.h", "trace/base/number.h", "process"], []),
    "merge": (ROOMS + ["merge"], []),
    "gate": (["gate"], []),
    "preload": (ROOMS + ["gate/library.h", "gate/module.h", "merge", "policy/counter.h", "spank/handoff.h", "preload"], ["mpi.h", "mpi_functions.h", "mpi-ext.h", "emmintrin.h"]),  # the compiler's own
    "policy": (["trace", "insight/figures.def", "policy"], ["jansson.h"]),
    "policy/setting": (["trace/base/error.h", "trace/base/number.h", "policy/setting.h", "policy/counter.h"], []),
    "spank/handoff": (["trace/base/error.h", "trace/base/number.h", "spank/handoff.h", "trace/base/escape.h", "policy/mode.h", "policy/setting.h"], []),
    "spank": (["trace", "process", "policy", "deliver", "spank"], ["slurm/"]),
    "deliver": (["trace", "process", "merge", "policy", "archive", "deliver"], ["jansson.h"]),
    "archive": (["trace", "insight", "process", "merge", "archive"], ["jansson.h", "zstd.h", "sqlite3.h"]),
    "cmd/base/options": (["trace/base", "policy/suggest.h", "cmd/base"], []),
    "replay/spoor_replay": (["trace", "insight", "replay", "archive/codec_zstd.h", "cmd/base/replay_options.h"], ["mpi.h"]),
    "replay/starter": (["cmd/base/tasks.h", "process"], []),
    "replay": (["trace", "insight", "replay", "archive/codec_zstd.h"], ["mpi.h"]),
    "proxy": (["trace", "insight", "process", "proxy"], []),
    "cmd": (["trace", "process", "merge", "policy", "spank", "deliver", "archive", "insight", "proxy", "cmd"], ["jansson.h", "zstd.h", "elfutils/", "otf2/", "nettle/"]),
    "lib": (["trace", "insight", "archive", "cmd/base/cause_place.h", "cmd/base/diff_reasons.h", "cmd/base/diff_sites.h", "cmd/base/site_names.h", "cmd/base/trends.h", "lib"], []),
    "bench": (None, None),
    "tests": (None, None),
}


def rule(path):
    name = os.path.splitext(path)[0]
    while name and name not in RULES:
        name = os.path.dirname(name)
    return RULES.get(name)


def violations(path, text):
    """What is wrong with the #includes of a file, as a list of texts."""
    found = rule(path)
    if found is None:
        return [f"{path}: this folder has no rule in tests/layers.t"]
    ours, libraries = found
    if ours is None:
        return []
    wrong = []
    for quote, header in INCLUDE.findall(text):
        if quote == '"':
            if header == "config.h":
                wrong.append(f'{path}: "config.h" is there without being included')
            elif "/" not in header:
                wrong.append(f'{path}: "{header}" must be written from the top folder')
            elif not any(header == allowed or header.startswith(allowed + "/") for allowed in ours):
                wrong.append(f'{path}: must not include "{header}" (allowed: {", ".join(ours)})')
        elif not LIBC.match(header) and not any(header.startswith(library) for library in libraries):
            wrong.append(f"{path}: must not include <{header}> (allowed: libc{''.join(', ' + l for l in libraries)})")
    return wrong


# The folders with rules. Others of a build folder may be another test's, which is just unpacking there.
WITH_RULES = {name.split("/")[0] for name, (ours, _) in RULES.items() if ours is not None}


def is_build(folder):
    return os.path.exists(os.path.join(folder, "config.status"))


def sources(top, only=None):
    """Paths of the sources below top; only: in these of its folders."""
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and not is_build(os.path.join(folder, f)) and (only is None or folder != top or f in only))
        for name in sorted(files):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), top)


def scan(top, only=None):
    wrong, count = {}, {}
    for path in sources(top, only):
        if "/" not in path:
            continue
        with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
            top_folder = path.split("/")[0]
            count[top_folder] = count.get(top_folder, 0) + 1
            wrong.setdefault(top_folder, []).extend(violations(path, file.read()))
    return wrong, count


def folders_of(cell):
    """The folders and headers in a cell of HACKING.md's table: `a/` `b/{c,d}/` `e/f.h`."""
    found = set()
    for one in re.findall(r"`([^`]+)`", cell):
        head, braces, rest = one.partition("{")
        middle, _, tail = rest.partition("}")
        found |= {(head + m + tail).rstrip("/") for m in (middle.split(",") if braces else [""])}
    return found


def differences(text):
    """Where HACKING.md's table of folders and RULES differ. A folder may have several lines."""
    table = {}
    for names, cell in re.findall(r"^\| (`[^|]*/`) \| [^|]* \| ?([^|]*) \|$", text, re.MULTILINE):
        for name in folders_of(names):
            table[name] = table.get(name, set()) | ({"all"} if cell == "all" else folders_of(cell))
    wrong = []
    for name, got in table.items():
        ours = RULES[name][0] if name in RULES else []
        expected = {"all"} if ours is None else set(ours) - {name}
        if got != expected:
            wrong.append(f"{name}/: the table says {sorted(got)}, the rules say {sorted(expected)}")
    return wrong + [f"{name}/ has no line in the table" for name in RULES
                    if name not in table and os.path.isdir(os.path.join(tap.SOURCE, name))]


# The scanner sees what it must see.
BAD = [
    ("trace/base/a.c", '#include "merge/tree.h"'),
    ("trace/base/a.c", '#include "trace/model/trace.h"'),
    ("trace/file/a.c", '#include "trace/read/walk.h"'),
    ("merge/a.c", '#include "trace/read/walk.h"'),
    ("trace/a.c", ""),
    ("trace/file/a.h", "#include <zstd.h>"),
    ("merge/a.c", '#  include "preload/schema.h"'),
    ("preload/a.c", "#include <jansson.h>"),
    ("preload/a.c", '#include "spank/plugin.h"'),
    ("trace/record/a.c", "#include <unwind.h>"),
    ("cmd/a.c", '#include "preload/schema.h"'),
    ("archive/a.c", "#include <mpi.h>"),
    ("spank/handoff.c", "#include <slurm/spank.h>"),
    ("policy/a.c", '#include "policy.h"'),
    ("deliver/a.c", '#include "spank/config.h"'),
    ("elsewhere/a.c", ""),
]
for path, text in BAD:
    tap.ok(violations(path, text), f"would be found: {path}: {text or 'a folder without a rule'}")
with tempfile.TemporaryDirectory() as folder:
    os.makedirs(os.path.join(folder, "trace", "base", "deep"))
    with open(os.path.join(folder, "trace", "base", "deep", "a.c"), "w", encoding="utf-8") as file:
        file.write('#include <stdio.h>\n#include "trace/base/error.h"\n#include <mpi.h>\n')
    tap.equal(len(scan(folder)[0]["trace"]), 1, "would be found: a file in a folder below")
    os.makedirs(os.path.join(folder, "spoor-1", "trace"))
    os.symlink("gone", os.path.join(folder, "spoor-1", "trace", "b.c"))
    tap.equal({name: len(texts) for name, texts in scan(folder, WITH_RULES)[0].items()}, {"trace": 1}, "in a build folder, what others unpack there is not read")

tap.equal(folders_of("`a/` `b/{c,d}/` `e/f.h`"), {"a", "b/c", "b/d", "e/f.h"}, "a cell of HACKING.md's table is read")
tap.ok("gate/: the table says ['trace'], the rules say []" in differences("| `gate/` | x | `trace/` |\n"), "would be found: another rule in HACKING.md")
tap.ok("gate/ has no line in the table" in differences(""), "would be found: a folder that is not in HACKING.md")

# HACKING.md has the same table.
with open(os.path.join(tap.SOURCE, "HACKING.md"), encoding="utf-8") as file:
    hacking = file.read()
found = differences(hacking)
tap.ok(not found, "HACKING.md's table says what the rules say", *found)

# Nouns (a .c and its .h) that include each other in a circle, and folders that do, cannot be understood one after the other.
# These folders still have circles.
CIRCULAR = ["archive", "policy", "preload", "trace"]


def circles(arrows):
    """The circles of a graph, as sorted lists: its strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in sorted(arrows.get(node, ())):
            if to not in index:
                visit(to)
            if to in stack:
                low[node] = min(low[node], low[to])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return found


def circles_of(top):
    """Circles of nouns and of folders below top, as texts; what a folder of CIRCULAR takes part in is left out."""
    nouns, folders = {}, {}
    for path in sources(top):
        with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
            for quote, header in INCLUDE.findall(file.read()):
                if quote == '"' and "/" in path and "/" in header:
                    nouns.setdefault(os.path.splitext(path)[0], set()).add(os.path.splitext(header)[0])
                    if os.path.dirname(path) != os.path.dirname(header):
                        folders.setdefault(os.path.dirname(path), set()).add(os.path.dirname(header))
    return [", ".join(circle) for circle in circles(nouns) + circles(folders) if not any(node.split("/")[0] in CIRCULAR for node in circle)]


tap.equal(circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}}), [["b", "c"]], "would be found: a circle")
with tempfile.TemporaryDirectory() as folder:
    for path, text in (("lib/a.c", '#include "lib/b.h"'), ("lib/a.h", ""), ("lib/b.h", '#include "lib/a.h"'), ("gate/x/a.c", '#include "gate/b.h"'),
                       ("gate/c.c", '#include "gate/x/d.h"')):
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    tap.equal(circles_of(folder), ["lib/a, lib/b", "gate, gate/x"], "would be found: circles of nouns and of folders")
found = circles_of(tap.SOURCE)
tap.ok(not found, "no circles of #includes", *found)

# Folders by symbol: who defines what another one needs. The tracer's own functions of libc (preload/own) have libc's names: they are
# everybody's. What a lower folder lets an upper one define is named here.
DEFINED_ABOVE = {"arena_layout": "trace/base cannot know the structures that trace/record puts into an arena, and compares their fingerprint"}


def symbols(top, source):
    """{(folder, noun): (defined, needed)} of the objects in a build folder that have a source."""
    objects = {}
    for folder in sorted(WITH_RULES):
        for path, _, names in os.walk(os.path.join(top, folder)):
            for name in sorted(names):
                here, noun = os.path.relpath(path, top).removesuffix("/.libs"), name[:-2].split("-")[-1]
                if name.endswith(".o") and here != "preload/own" and os.path.exists(os.path.join(source, here, noun + ".c")):
                    objects[os.path.join(path, name)] = (here, noun)
    found = {noun: (set(), set()) for noun in objects.values()}
    listed = subprocess.run(["nm", "-A", "-P", "--extern-only", *objects], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    for line in listed.splitlines():
        path, name, kind = re.match(r"(.*?): (\S+) (\w)", line).groups()
        found[objects[path]][kind in "Uvw"].add(name)
    return found


def symbol_circles(found, allowed):
    """Circles of folders, as texts, with the symbols that make them."""
    owner, arrows, why = {}, {}, {}
    for noun, (defined, _) in found.items():
        for name in defined:
            owner.setdefault(name, set()).add(noun)
    for (folder, noun), (_, needed) in found.items():
        for name in needed - set(allowed):
            for other, definer in owner.get(name, set()) if len(owner.get(name, set())) == 1 else ():
                if other != folder:
                    arrows.setdefault(folder, set()).add(other)
                    why.setdefault((folder, other), []).append(f"{noun} needs {name} of {definer}")
    return [", ".join(circle) + "".join(f"\n  {a} -> {b}: {', '.join(sorted(texts)[:4])}" for (a, b), texts in sorted(why.items()) if {a, b} <= set(circle))
            for circle in circles(arrows)]


SAMPLE = {("a", "x"): ({"up"}, {"down"}), ("b", "y"): ({"down"}, {"up"}), ("c", "z"): (set(), {"up"})}
tap.ok(len(symbol_circles(SAMPLE, {})) == 1 and not symbol_circles(SAMPLE, {"up": ""}), "would be found: a circle of folders by symbol")
found = symbols(tap.BUILD, tap.SOURCE)
tap.ok(len(found) > 300, "objects are there", len(found))
wrong = symbol_circles(found, DEFINED_ABOVE)
tap.ok(not wrong, "no circles of folders by symbol", *wrong)
tap.equal([n for n in DEFINED_ABOVE if not any(n in needed for _, needed in found.values())], [], "what is defined above is needed below")

# The sources, and what was generated from them.
wrong, count = scan(tap.SOURCE)
if os.path.realpath(tap.BUILD) != os.path.realpath(tap.SOURCE):
    for folder, texts in scan(tap.BUILD, WITH_RULES)[0].items():
        wrong.setdefault(folder, []).extend(texts)
for folder in ("trace", "insight", "process", "merge", "gate", "preload", "policy", "spank", "deliver", "archive", "cmd"):
    tap.ok(count.get(folder), f"{folder}/ has sources")
for folder in sorted(wrong):
    tap.ok(not wrong[folder], f"{folder}/ includes only what it may", *wrong[folder])
tap.done()
