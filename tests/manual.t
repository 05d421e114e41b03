#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# manual - every command has a manual page that says what its --help does; completion knows every command and option
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")


def run(*command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def page(name):
    try:
        with open(os.path.join(tap.BUILD, "doc", name), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def plain(text):
    return re.sub(r"\\f[BRI]|\\&", "", text).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


OPTION = re.compile(r"^ {2,6}(?:-\w, )?(--[a-z][a-z0-9_-]+)", re.MULTILINE)
commands = re.findall(r"^  ([a-z-]+) +\S", run(SPOOR, "--help").stdout, re.MULTILINE)
tap.ok(len(commands) > 10, "commands")
pages = ["spoor.1", *(f"spoor-{name}.1" for name in commands), "spoor-policy.5", "spoor-trace.5", "spoor-events.5", "spoor-metadata.5", "spoor-index.5",
         "spoor-slurm.8", "libspoor.3"]
for name in commands:
    text = plain(page(f"spoor-{name}.1"))
    usage = run(SPOOR, name, "--help").stdout
    options = set(OPTION.findall(usage))
    tap.ok(text, f"spoor-{name}(1) is there (doc/Makemodule.am, spoor_commands)")
    tap.equal(sorted(options - set(re.findall(r"--[a-z][a-z0-9_-]+", text))), [], f"spoor-{name}(1) has every option of --help")
    synopsis = usage.splitlines()[0].replace("Usage: ", "")
    tap.ok(synopsis in text, f"spoor-{name}(1): the synopsis", synopsis)
documents = {}
for folder in ("", "doc", "doc/man"):
    for name in os.listdir(os.path.join(tap.SOURCE, folder)):
        if name.endswith(".md"):
            with open(os.path.join(tap.SOURCE, folder, name), encoding="utf-8") as file:
                documents[os.path.join(folder, name)] = file.read()
usages = "".join(run(SPOOR, name, "--help").stdout for name in commands)
named = set(re.findall(r"\b(?:lib)?spoor[a-z-]*\([1-9]\)", "".join(documents.values()) + usages + "".join(plain(page(name)) for name in pages)))
tap.equal(sorted(name for name in named if name.replace("(", ".").rstrip(")") not in pages), [], "manual pages that are named are there")
for name in pages:
    text = page(name)
    tap.equal(re.findall(r"\b(?:SYSCONF|PLUGIN|LOCALSTATE)DIR\b", text), [], f"{name}: folders are those of this installation")
    tap.ok(all(f".SH {section}" in text for section in ("NAME", "DESCRIPTION")), f"{name}: name and description")
    if shutil.which("groff"):
        problems = run("groff", "-man", "-Tutf8", "-ww", "-z", os.path.join(tap.BUILD, "doc", name)).stderr
        problems = "\n".join(line for line in problems.splitlines() if "adjust" not in line and "break" not in line)
        tap.ok(not problems, f"{name}: groff has nothing to say", problems)


for name, document in (("spoor-policy.5", "doc/policy.md"), ("spoor-slurm.8", "doc/spoor-slurm.md"), ("spoor-metadata.5", "doc/metadata.md")):
    headings = [word.strip(" `") for row in re.findall(r"^\|(.*)\|\n\|[-| ]+\|$", documents[document], re.MULTILINE) for word in row.split("|") if word.strip()]
    there = page(name)
    tap.ok(headings and all(re.search(r"\\fI(?:\\fB)?" + re.escape(word) + r"\\fR", there) for word in headings), f"{name}: the headings of its tables", headings)

# What the documents tell to type.
cron = [block for text in documents.values() for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE) if re.search(r"^ +[\d*]+( [\d*]+){4} +root ", block, re.MULTILINE)]
tap.ok(len(cron) > 3 and all("PATH=" in block for block in cron), "cron: its PATH need not have spoor", cron)
tap.equal(re.findall(r"spoor (?:dump|show|report|replay) \d{4}/\S+", documents["README.md"]), [], "README: traces are named by their jobs")
cluster = next(block for block in re.findall(r"(?:^    .*\n)+", documents["HACKING.md"], re.MULTILINE) if "tests/site start" in block)
tap.equal(re.findall(r"(?<!/path/to/spoor/)\btests/site\b", cluster), [], "HACKING: the cluster's commands work in the build folder")
tap.ok(os.access(os.path.join(tap.BUILD, re.search(r"srun .*? (tests/\S+);", cluster).group(1)), os.X_OK), "HACKING: its program is there")


def complete(*words_):
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _spoor; printf "%s\\n" "${COMPREPLY[@]}"'
    return run("bash", "-c", script, "bash", os.path.join(tap.SOURCE, "doc", "spoor.bash"), SPOOR, *words_).stdout.split()


tap.equal(sorted(set(complete("")) - {"--help", "--version"}), sorted(commands), "completion: the commands")
tap.equal(complete("li"), ["list"], "completion: the beginning of a command")
for name in commands:
    usage = run(SPOOR, name, "--help").stdout
    wanted = set(OPTION.findall(usage))
    offered = set(complete(name, "--"))
    tap.equal(sorted(offered - {"--help"}), sorted(wanted - {"--help"}), f"completion: the options of {name}, and no others")
tap.equal(complete("list", "--st"), ["--state"], "completion: the beginning of an option")
tap.equal(complete("export", "--ot"), ["--otf2"], "completion: an option with a digit")
tap.equal(complete("list", "--state", "F"), ["FAILED"], "completion: a choice")
tap.equal(complete("list", "--sort", ""), "start job user ranks nodes size elapsed exe".split(), "completion: keys to sort by")
tap.equal(complete("policy", "e"), ["explain"], "completion: policy explain")
tap.equal(complete("replay", "--compute", "s"), ["sleep", "spin"], "completion: the words of another command")
tap.equal(complete("aggregate", "--by", "no"), ["node"], "completion: what to add up by")

# What is wrong is said in one way: what, where, what was expected, and what to do.
for arguments, text in (
    (("show", "--rank", "-1", "x"), 'spoor show: --rank: expected a number from 0 to 2147483647, found "-1"; see `spoor show --help`'),
    (("prune", "--quota", "5X"), 'spoor prune: --quota: expected a size from 1 to 9223372036854775807 bytes, such as 1000, 8MiB or 500G, found "5X"; see `spoor prune --help`'),
    (("list", "--state", "gone"), 'spoor list: --state: expected COMPLETED (CD), FAILED (F), KILLED (K), TIMEOUT (TO), CANCELLED (CA), OUT_OF_MEMORY (OOM), NODE_FAIL (NF), PREEMPTED (PR), or a list of them, found "gone"; see `spoor list --help`'),
    (("export", "--flops", "0", "x"), 'spoor export: --flops: expected a number from 1 to 1e+18, found "0"; see `spoor export --help`'),
    (("list", "--elapsed", "-"), 'spoor list: --elapsed: expected a range of times such as 1h-, found "-"; see `spoor list --help`'),
    (("dump", "--rnak", "1"), "spoor dump: unknown option --rnak (nearest: --rank); see `spoor dump --help`"),
    (("dump", "-x"), "spoor dump: unknown option -x; see `spoor dump --help`"),
    (("dump", "--rank"), "spoor dump: --rank: expected R; see `spoor dump --help`"),
    (("stat", "--json=yes", "x"), "spoor stat: --json: has no argument; see `spoor stat --help`"),
    (("verify",), "spoor verify: expected FILE|JOB...; see `spoor verify --help`"),
    (("diff", "a", "b", "c"), "spoor diff: unexpected argument c; see `spoor diff --help`"),
    (("show", "--archive", "", "1"), 'spoor show: --archive: expected a text, found ""; see `spoor show --help`'),
    (("sweep", "--settled", "99999999999999999999"), 'spoor sweep: --settled: expected a number from 0 to 99999999, found "99999999999999999999"; see `spoor sweep --help`'),
):
    done = run(SPOOR, *arguments)
    tap.ok(done.returncode == 2 and done.stderr == text + "\n" and not done.stdout, "refused: " + " ".join(arguments), done.stderr)
tap.done()
