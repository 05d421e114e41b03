#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# style - the tree is as the formatter makes it, lines, functions and files are short, and a name means one thing
import collections
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

COLUMNS, TAB = 120, 8
FUNCTION, FILE = 60, 500

# Not ours to lay out: the header of a library that has all of MPI 4.1.
FOREIGN = {"tests/mpi41/mpi.h"}

# What may be longer, and why. An entry that is not needed any more fails, too.
LONG_FUNCTIONS = {
}
LONG_FILES = {
}
# Programs of tests make one call after the other.
SEQUENCES = re.compile(r"tests/")

# A name that many files give to a function of their own cannot be found by looking for it. The programs of tests and
# benchmarks, each of which is one file and one process, may call theirs as they like. Of the headers in preload/abi/,
# which have the same functions, one is compiled.
ANYWHERE = {"main"}
ALONE = re.compile(r"(tests|bench|preload/abi)/")
SHARED = 2  # files that may have a function, or a structure, of one name


def sources():
    """The C files of the tree, as git knows them, or in a tarball, as they lie there."""
    found = subprocess.run(["git", "-C", tap.SOURCE, "ls-files", "*.c", "*.h"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           check=False, text=True).stdout.split()
    if not found:
        for folder, folders, files in os.walk(tap.SOURCE):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and not os.path.exists(os.path.join(folder, f, "config.status")))
            found += [os.path.relpath(os.path.join(folder, f), tap.SOURCE) for f in sorted(files) if f.endswith((".c", ".h"))]
    return [path for path in found if path not in FOREIGN]


def width(line):
    columns = 0
    for character in line:
        columns = columns // TAB * TAB + TAB if character == "\t" else columns + 1
    return columns


def functions(text):
    """(name, lines of its body, whether it is static) of each function, in a text that the formatter made."""
    lines = text.split("\n")
    start = None
    for i, line in enumerate(lines):
        if line == "{" and i and not re.match(r"(static |const |typedef )*(struct|enum|union)( \w+)?$", lines[i - 1]):
            start = i
        elif line.startswith("}") and start is not None:
            head = start - 1
            while head and not lines[head - 1].endswith((";", "}", "*/")) and lines[head - 1] and not lines[head - 1].startswith("#"):
                head -= 1
            signature = " ".join(lines[head:start])
            name = re.search(r"\b(?!__attribute__)(\w+)\(", signature)
            yield name.group(1) if name else "?", i - start - 1, signature.startswith("static ") and "inline" not in signature
            start = None


def only(found, allowed, what, most):
    """Nothing is longer than it may be but what has a reason, and no reason is left without its case."""
    tap.ok(not set(found) - set(allowed), f"no {what} has more than {most} lines", *(f"{name}: {n}" for name, n in found.items() if name not in allowed))
    tap.ok(not set(allowed) - set(found), f"each {what} that is allowed to be longer is", *sorted(set(allowed) - set(found)))


# The scanner sees what it must see.
EXAMPLE = "static int\nlong_name(int a,\n          int b)\n{\n\tx();\n\ty();\n}\n\nstruct s\n{\n\tint a;\n};\n\nvoid other(void)\n{\n}\n"
tap.equal(list(functions(EXAMPLE)), [("long_name", 2, True), ("other", 0, False)], "functions are found")
tap.equal(width("\ta\tb"), 17, "tabs count")

paths = sources()
texts = {}
for path in paths:
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
        texts[path] = file.read()

formatter = shutil.which("clang-format")
if formatter:
    wrong = []
    done = subprocess.run(["xargs", "-n", "60", "-P", "2", formatter, "--dry-run", "-Werror", "--ferror-limit=1"], input="\n".join(paths), stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, check=False, text=True, cwd=tap.SOURCE)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "[-Wclang-format-violations]" in line})
    tap.ok(done.returncode == 0, f"{len(paths)} files are as clang-format makes them (.clang-format)", *wrong)
else:
    tap.skip("files are as clang-format makes them", "clang-format is not installed")

wide = [f"{path}:{n}" for path, text in texts.items() for n, line in enumerate(text.split("\n"), 1) if width(line) > COLUMNS]
tap.ok(not wide, f"no line is wider than {COLUMNS} columns", *wide)

only({f"{path} {name}": n for path, text in texts.items() for name, n, _ in functions(text)
      if n > FUNCTION and not SEQUENCES.match(path)}, LONG_FUNCTIONS, "function", FUNCTION)
only({path: n for path, text in texts.items() for n in [text.count("\n")] if n > FILE}, LONG_FILES, "file", FILE)

places = collections.defaultdict(set)
for path, text in texts.items():
    if not ALONE.match(path):
        for name, _, static in functions(text):
            if name not in ANYWHERE:
                places[name].add(path)
often = {name: where for name, where in places.items() if len(where) > SHARED}
tap.ok(not often, f"at most {SHARED} files have a function of one name", *(f"{name}: {', '.join(sorted(where))}" for name, where in sorted(often.items())))

structs = collections.defaultdict(set)
for path, text in texts.items():
    if not ALONE.match(path):
        for name in re.findall(r"^(?:static )?(?:const )?(?:struct|union) (\w+)\s*\{", text, re.MULTILINE):
            structs[name].add(path)
often = {name: where for name, where in structs.items() if len(where) > SHARED}
tap.ok(not often, f"at most {SHARED} files have a structure of one name", *(f"{name}: {', '.join(sorted(where))}" for name, where in sorted(often.items())))

# What shows a noun, a file of cmd/, may be called after it.
files = collections.defaultdict(set)
for path in paths:
    if path.endswith(".c") and not ALONE.match(path) and not path.startswith("cmd/"):
        files[os.path.basename(path)].add(path)
often = {name: where for name, where in files.items() if len(where) > 1}
tap.ok(not often, "a source file's name is that of one file", *(f"{', '.join(sorted(where))}" for where in often.values()))
tap.done()
