#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# promises - the tests that SECURITY.md names exist, are run, and have the points that it names
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402


def read(path):
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
        return file.read()


page = re.sub(r"\s+", " ", read("SECURITY.md"))
makefiles = "\n".join(read(os.path.relpath(p, tap.SOURCE)) for p in glob.glob(os.path.join(tap.SOURCE, "**/Makemodule.am"), recursive=True))
registered = set(re.findall(r"tests/\S+", " ".join(re.findall(r"^(?:spoor_tests|cluster_tests|\w+_unit_tests) *\+?=((?:.*\\\n)*.*)", makefiles, re.MULTILINE))))
HARM = "".join(read(os.path.relpath(p, tap.SOURCE)) for p in glob.glob(os.path.join(tap.SOURCE, "tests/harm/*.py")))

named = {n if n.startswith("tests/") else "tests/" + n for n in re.findall(r"[\w/-]+\.t\b", page)}
tap.ok(len(named) > 20, "tests are named")
tap.equal(sorted(n for n in named if not os.path.exists(os.path.join(tap.SOURCE, n))), [], "each of them exists")
tap.equal(sorted(n for n in named if n not in registered), [], "each of them is run")
units = set(re.findall(r"tests/unit/\w+", page))
tap.equal(sorted(u for u in units if u not in registered), [], "so are unit tests")

# Each statement of the sections that promise something names one: an item of a list, or a paragraph that is none.
silent = []
for section in ("What is protected", "Root", "A user's environment", "Untrusted input", "The harm matrix", "The attack matrix", "What a trace tells"):
    text = read("SECURITY.md").split(f"\n## {section}\n")[1].split("\n## ")[0]
    items = re.split(r"^(?:- |\d+\. )", text, flags=re.MULTILINE)
    silent += [f"{section}: {item[:70]!r}" for item in (items[1:] or items) if not re.search(r"\([^()]*(?:\w\.t\b|tests/unit/|\(unit\))", item)]
tap.equal(silent, [], "each statement names its test")

# "(prune.t: `names*`, `others`; attack.t: `more`)": the titles, as far as they are no pattern, are in the test.
missing = []
for test, titles in re.findall(r"([\w-]+\.t): ((?:`[^`]+`(?:, | and )?)+)", page):
    text = read("tests/" + test)
    text += HARM if test.startswith("harm") else ""
    text = re.sub(r"['\"]\s*\n\s*['\"]|\\(?=['\"])", "", text)
    for title in re.findall(r"`([^`]+)`", titles):
        if not all(part.strip() in text for part in re.split(r"\*|: ", title)):
            missing.append(f"{test}: {title}")
tap.equal(missing, [], "they have the points that are named")
tap.done()
