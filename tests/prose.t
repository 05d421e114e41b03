#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# prose - the documents are in plain English: short lines and sentences, no invented idiom, links that lead somewhere
import functools
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

COLUMNS = 120
WORDS = 25  # of a sentence
GLOSSARY = 40  # entries in HACKING.md
PATTERNS = ["README.md", "HACKING.md", "SECURITY.md", "NEWS.md", "bench/README.md", "doc/*.md", "doc/*.[1-8]", "doc/man/*.md"]

# What a file may have: sentences over WORDS words, lines over COLUMNS, idioms. These numbers only go down.
LONG = {}
WIDE = {}
ODD = {}

# Phrases that are no English, or that a reader must decode; and what to write instead.
IDIOMS = {
    r"(?<!there )\b(is|are) none\b": "say what is wrong: 'not a valid ...', 'does not count'",
    r"\b(had|has had|have had) (its|their) time\b": "'expired'",
    r"\b(made )?anew\b": "'again', 'recreated'",
    r"\bas ever\b": "'as before', 'as usual'",
    r"\bmay not enter\b": "'has no permission'",
    r"\bnobody's child\b": "'has no parent'",
    r"\b(go|goes|went) on to work\b": "'keep working'",
    r"\bwithout a word\b": "'silently'",
    r"\b(file|folder|descriptor|thread|process|communicator|library)s? of ours\b": "'of spoor', 'spoor has no ...'",
    r"\bin the way of\b": "'blocks', 'in the order of'",
    r"\bdealt out\b": "'distributed'",
    r"\bwhoever\b": "'a user who', 'the process that'",
    r"\bso many (times|frames|symbols)\b": "give the number a name",
    r"\bis not to be had\b": "'is not available'",
    r"\bdearest\b": "'most expensive'",
    r"\bcomes? by (each|all|its)\b": "'visits'",
    r"\bput away\b": "'moved'",
    r"\bfor good\b": "'permanently'",
    r"\bstands? in between\b": "'intercepts'",
    r"\bbegin of\b": "'start of', 'beginning of'",
    r"\bin step with\b": "'up to date with'",
    # private names of earlier versions
    r"\b(loom|weave|roster|rosters|widen|widened|joinery|humble|scout)\b": "the standard term",
}

FOLDERS = "archive|bench|cmd|deliver|demo|doc|etc|gate|lib|m4|merge|packaging|policy|preload|proxy|replay|spank|tests|trace"
ENDINGS = "md|t|c|h|py|sh|table|json|bash|conf|am|ac|list|cfg|spec|css"
PATH = re.compile(rf"(?<![\w./-])((?:{FOLDERS})/[\w./-]+\.(?:{ENDINGS})|(?:README|HACKING|SECURITY|NEWS)\.md)(?![\w-])")
TEST = re.compile(r"(?<![\w./*-])([a-z][\w-]*\.t)\b")
SECTION = re.compile(r'"([^"]+)" (?:in|of) `?((?:doc/|bench/)?[\w-]+\.md)|`?((?:doc/|bench/)?[\w-]+\.md)`?, "([^"]+)"')


def read(path):
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
        return file.read()


def there(path):
    return os.path.exists(os.path.join(tap.SOURCE, path)) or os.path.exists(os.path.join(tap.BUILD, path))


def documents():
    return sorted(os.path.relpath(path, tap.SOURCE) for pattern in PATTERNS for path in glob.glob(os.path.join(tap.SOURCE, pattern)))


def blocks(text, manual):
    """Paragraphs and list items, as (number of the first line, text). Not code, tables and headings."""
    found, fenced, blank = [], False, True
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"\\f[BRIP]|\\&", "", line).replace("\\-", "-") if manual else line
        if line.startswith("```") or (manual and re.match(r"\.(nf|fi)\b", line)):
            fenced, blank = line.startswith("```") and not fenced or line.startswith(".nf"), True
        elif fenced or not line.strip() or line.startswith(("#", "|", ".")) or (blank and line.startswith(("    ", "\t"))):
            blank = blank or not line.strip() or line.startswith(("#", "|", "."))
        elif blank or re.match(r"\s*([-*]|\d+\.) ", line):
            found.append((number, re.sub(r"^\s*([-*]|\d+\.) ", "", line)))
            blank = False
        else:
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip())
    return found


def sentences(block):
    block = re.sub(r"`[^`]*`", "Code", block)
    block = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", block).replace("*", "")
    return re.split(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]?(?:[A-Z0-9]|spoor\b|libspoor\b))", block)


def long_sentences(text, manual=False):
    """Each sentence with too many words: line of its paragraph, number of words, beginning."""
    found = []
    for number, block in blocks(text, manual):
        for sentence in sentences(block):
            count = sum(bool(re.search(r"\w", word)) for word in sentence.split())
            if count > WORDS:
                found.append(f"line {number}, {count} words: {sentence[:90]}")
    return found


def wide_lines(text):
    return [f"line {number}: {len(line.expandtabs())} columns" for number, line in enumerate(text.splitlines(), 1)
            if len(line.expandtabs()) > COLUMNS]


def idioms(text):
    prose = re.sub(r"\s+", " ", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL))
    return [f"'{match.group(0)}': {instead}" for pattern, instead in IDIOMS.items() for match in re.finditer(pattern, prose, re.IGNORECASE)]


def headings(text):
    return {re.sub(r"[`*]", "", line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}


def dead_links(path, text):
    """Links and paths that lead nowhere, and sections that are not there."""
    wrong = []
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" not in target and not target.startswith("#"):
            if not there(os.path.normpath(os.path.join(os.path.dirname(path), target.split("#")[0]))):
                wrong.append(f"link to {target}")
    for target in PATH.findall(text):
        if not there(target) and "NAME" not in target:
            wrong.append(f"file {target}")
    for target in TEST.findall(text):
        if not there("tests/" + target):
            wrong.append(f"test {target}")
    for match in SECTION.finditer(re.sub(r"\s+", " ", text)):
        title, target = (match.group(1), match.group(2)) if match.group(1) else (match.group(4), match.group(3))
        target = target if there(target) else os.path.join(os.path.dirname(path), target)
        if not there(target) or title not in headings(read(target)):
            wrong.append(f'section "{title}" of {target}')
    commands = re.search(r"^spoor_commands = (.*)$", read("doc/Makemodule.am"), re.MULTILINE)
    for name in re.findall(r"\bspoor-([a-z]+)\(1\)", text):
        if commands and name not in commands.group(1).split():
            wrong.append(f"manual page spoor-{name}(1)")
    return wrong


@functools.lru_cache(maxsize=None)
def help_of(*command):
    """What `spoor COMMAND --help` prints; None: there is no such command."""
    done = subprocess.run([os.path.join(tap.BUILD, "spoor"), *command, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def known_options(command):
    """The options of --help, and of what all commands know. None: there is no such command."""
    text = help_of(command)
    return None if text is None else set(re.findall(r"--[a-z][a-z-]+", text)) | {"--help", "--limit"}


def help_prose(text):
    """The paragraphs of --help between synopsis and options, and behind those; not lists of words ("Keys: ...")."""
    found = [block for block in re.split(r"\n\s*\n", text) if not block.startswith(" ") and not re.match(r"[A-Z][a-z]+: ", block)]
    return "\n\n".join(re.sub(r"^Usage: .*\n(       .*\n)*", "", block) for block in found + [text.split("\n\n")[0]])


def wrong_commands(text):
    """Commands `spoor NAME --OPTION` in examples and code that the program does not know."""
    wrong = []
    for line in re.findall(r"`[^`\n]+`", text) + re.findall(r"^    [^#\n]*", text, re.MULTILINE):
        for name, rest in re.findall(r"(?<![\w/.-])spoor ([a-z]+)(?![\w-])([^;&>#`]*)", line):
            options = known_options(name)
            if options is None:
                wrong.append(f"spoor {name}")
            else:
                wrong += [f"spoor {name} {option}" for option in re.findall(r"(?<=\s)--[a-z][a-z-]+", rest.split(" -- ")[0]) if option not in options]
    return wrong


def glossary(text):
    """The words of the glossary: its lines are `- **word**: what it means`."""
    section = re.search(r"^## Glossary\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^- \*\*([^*]+)\*\*:", section.group(1), re.MULTILINE) if section else []


# The checker sees what it must see.
many = "word " * 30
tap.equal(len(long_sentences(f"{many}.\n\n- {many}.\n- short.\n")), 2, "would be found: long sentences of a paragraph and of a list")
tap.equal(len(long_sentences(f"One. {'word ' * 20}. {'Word ' * 20}.\n")), 0, "several short sentences are not a long one")
tap.equal(len(long_sentences(f"# {many}\n\n    {many}\n\n| {many} |\n\n```\n{many}\n```\n")), 0, "headings, code and tables are no sentences")
tap.equal(len(long_sentences(f".SH X\n{many}.\n.nf\n{many}\n.fi\n", True)), 1, "would be found: a long sentence of a manual page")
tap.equal(len(wide_lines("x" * 120 + "\n" + "x" * 121 + "\n\t" + "x" * 113)), 2, "would be found: wide lines")
tap.equal(len(idioms("Patterns that\nare none, and files\nthat have had their time.")), 2, "would be found: idioms, also over a line's end")
tap.equal(idioms("`made anew`"), [], "what is quoted as code is no idiom")
tap.equal(len(dead_links("doc/x.md", "[a](none.md) [b](../README.md) tests/none.t `cmd/main.c` none.t spoor-none(1) \"None\" in doc/policy.md")),
          5, "would be found: links, files, tests, manual pages and sections that are not there")
tap.equal(wrong_commands("`spoor show --sites X` and `spoor frobnicate`\n\n    $ spoor show --colour; spoor list --user x\n"), ["spoor frobnicate", "spoor show --colour"],
          "would be found: commands and options that do not exist")
tap.equal(glossary("## Glossary\n- **a**: x\n- **b c**: y\n\n## More\n- **d**: z\n"), ["a", "b c"], "the glossary ends with its section")

for path in documents():
    text, manual = read(path), not path.endswith(".md")
    found = long_sentences(text, manual)
    tap.ok(len(found) <= LONG.get(path, 0), f"{path}: sentences of at most {WORDS} words (allowed: {LONG.get(path, 0)}, found: {len(found)})", *found)
    found = wide_lines(text)
    tap.ok(len(found) <= WIDE.get(path, 0), f"{path}: lines of at most {COLUMNS} columns (allowed: {WIDE.get(path, 0)}, found: {len(found)})", *found)
    found = idioms(text)
    tap.ok(len(found) <= ODD.get(path, 0), f"{path}: no idiom (allowed: {ODD.get(path, 0)}, found: {len(found)})", *found)
    found = dead_links(path, text)
    tap.ok(not found, f"{path}: what it refers to is there", *found)
    found = wrong_commands(text)
    tap.ok(not found, f"{path}: commands and options in it exist", *found)
commands = re.findall(r"^  ([a-z-]+) +\S", help_of(), re.MULTILINE)
for name in [(), *((one,) for one in commands)]:
    text = help_of(*name)
    found = long_sentences(help_prose(text)) + wide_lines(text) + idioms(text)
    tap.ok(not found, f"{' '.join(('spoor', *name))} --help: short sentences and lines, no idiom", *found)
listed = " ".join(re.findall(r"^nobase_dist_doc_DATA \+= ((?:.*\\\n)*.*)", "\n".join(read(os.path.relpath(path, tap.SOURCE)) for path in
                                                                                     glob.glob(os.path.join(tap.SOURCE, "**/Make*.am"), recursive=True)), re.MULTILINE))
tap.equal([path for path in documents() if path.endswith(".md") and not path.startswith("doc/man/") and path not in listed.split()], [],
          "make install installs all documents")
words = glossary(read("HACKING.md"))
tap.ok(0 < len(words) <= GLOSSARY, f"HACKING.md: a glossary of at most {GLOSSARY} words (found: {len(words)})")
tap.equal(sorted({w for w in words if words.count(w) > 1}), [], "HACKING.md: each word is explained once")
tap.done()
