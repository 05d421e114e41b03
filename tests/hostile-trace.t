#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# hostile-trace - the worst texts in a trace's metadata, through every command: nothing of them acts on a terminal, in a page, a table, or a metric
import csv
import html.parser
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import meta  # noqa: E402
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
GOLDEN = os.path.join(tap.SOURCE, "tests/golden/1.0.spoor")
WORST = {
    "escapes": "\x1b[2J\x1b]0;x\x07\x1b[31mred\x7f\x9b1m",
    "markup": "</title></style><script>alert(1)</script><img src=x onerror='alert(2)'>\" onmouseover=\"x&lt;",
    "a formula": "=cmd|' /C calc'!A0",
    "a formula with +": "+1+cmd|x",
    "a formula with @": "@SUM(1)*cmd|x",
    "lines": "one\nspoor: forged\r\ntwo\u2028three\u0085four",
    "a metric": "x\"} 1\nforged{a=\"\\",
    "folders": "../../../../etc/passwd",
    "directions": "a\u202egnp.exe\u2066\u200f\ufeff",
    "formats": "%s%n%x%1000000d%p$(id)`id`",
    "length": "A" * 30000,
    "no text at all": "",
}
TEXTS = ("cluster", "job_name", "user", "account", "partition", "qos", "state", "reason", "exe", "exe_build_id", "mpi_library", "rule",
         "rule_where", "node_list", "mode", "application", "spoor_version", "step", "notes", "command", "hosts", "reservation", "container")

work = tempfile.mkdtemp(prefix="hostile-trace.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o755)


def make(text, name):
    """A trace, and an archive that has it as job 99."""
    def change(facts):
        for key in TEXTS:
            facts[key] = [text, text] if key in ("notes", "command", "hosts") else text
        facts.update(job=99, uid=os.geteuid(), start_ns=1700000000 * 10**9, end_ns=1700003600 * 10**9, nodes=2, ranks=4)
    folder = os.path.join(work, name, "2026/11/20", str(os.geteuid()))
    os.makedirs(folder)
    for path in (os.path.join(work, name), os.path.join(work, name, "2026"), os.path.join(work, name, "2026/11"), os.path.join(work, name, "2026/11/20"), folder):
        os.chmod(path, 0o755)
    trace = os.path.join(folder, "99.0.0.spoor")
    meta.replace(GOLDEN, trace, change)
    os.chmod(trace, 0o440)
    return trace, os.path.join(work, name)


def spoor(*arguments, terminal=False):
    env = dict(os.environ, SPOOR_COLOR="never", LC_ALL="C.UTF-8", COLUMNS="200", SPOOR_PAGER="", TERM="dumb")
    if not terminal:
        done = subprocess.run([SPOOR, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env=env)
        return done.returncode, done.stdout + done.stderr
    master, slave = pty.openpty()
    process = subprocess.Popen([SPOOR, *arguments], stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    data = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        data += part
    os.close(master)
    return process.wait(), data.replace(b"\r\n", b"\n")


def raw(data):
    """What acts on a terminal; "" if nothing does."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"no UTF-8: {error}"
    found = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)
    return f"{found.group()!r} in {text[max(0, found.start() - 60):found.end() + 20]!r}" if found else ""


class Page(html.parser.HTMLParser):
    """Elements and names of attributes, in their order."""

    def __init__(self, text):
        super().__init__()
        self.tree = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tree.append((tag, tuple(name for name, _ in attrs), tuple(v for n, v in attrs if n in ("href", "src", "style", "class"))))

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.tree.append(("/" + tag,))


def views(trace, archive):
    yield from (("show", trace), ("show", "--json", trace), ("show", "--sites", trace), ("show", "--loops", trace), ("show", "--matrix", trace),
                ("show", "--last", trace), ("show", "--archive", archive, "99"), ("why", trace), ("why", "--line", trace), ("why", "--json", trace),
                ("dump", trace), ("stat", trace), ("verify", trace), ("diff", trace, trace), ("export", "--chrome", "-", trace),
                ("report", "-o", "-", trace))
    for form in ((), ("--csv",), ("--json",), ("--parsable2",), ("--format", "job,name,account,partition,cluster,command")):
        yield ("list", "--archive", archive, *form)
    for by in ("user", "account", "partition", "executable", "application", "job", "site"):
        yield ("aggregate", "--archive", archive, "--by", by)
        yield ("aggregate", "--archive", archive, "--by", by, "--csv")
    yield ("aggregate", "--archive", archive, "--by", "account", "--json")
    yield ("trend", "--archive", archive)


def tree(*arguments):
    status, data = spoor(*arguments)
    text = data.decode(errors="replace")
    return status, Page(text).tree, text


clean, clean_archive = make("plain", "clean")
clean_pages = {"trace": tree("report", "-o", "-", clean), "archive": tree("report", "--archive", clean_archive, "-o", "-")}
tap.ok(all(status == 0 and len(t) > 50 for status, t, _ in clean_pages.values()), "pages of a trace that means no harm", *[t[2][:2000] for t in clean_pages.values()])

for name, text in WORST.items():
    trace, archive = make(text, name.replace(" ", "-"))
    wrong = []
    for arguments in views(trace, archive):
        status, data = spoor(*arguments, terminal=arguments[0] in ("show", "why", "list", "dump", "diff"))
        if status < 0 or status > 2 or raw(data):
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {raw(data)}")
    tap.ok(not wrong, f"{name}: nothing that acts on a terminal", *wrong)
    for what, arguments in (("trace", ("report", "-o", "-", trace)), ("archive", ("report", "--archive", archive, "-o", "-"))):
        status, found, page = tree(*arguments)
        extra = [e for e in found if e not in clean_pages[what][1]]
        tap.ok(status == 0 and not extra, f"{name}: the page of the {what} has no element and no attribute more", *extra[:5])
    for arguments in (("list", "--archive", archive, "--csv", "--format", "job,name,account,partition,exe"), ("aggregate", "--archive", archive, "--by", "account", "--csv")):
        rows = list(csv.reader(io.StringIO(spoor(*arguments)[1].decode())))
        bad = [cell for row in rows for cell in row if cell[:1] in tuple("=+@\t\r") or (cell[:1] == "-" and cell != "-" and not re.fullmatch(r"-[\d.e+-]+", cell))]
        tap.ok(len(rows) == 2 and len({len(row) for row in rows}) == 1 and not bad, f"{name}: {arguments[0]} --csv is a row of texts", rows, *bad)
    metrics = os.path.join(work, "metrics")
    status, said = spoor("report", "--archive", archive, "--openmetrics", "-o", metrics)
    if os.path.exists(metrics):
        with open(metrics, encoding="utf-8", newline="\n") as file:
            lines = file.read().split("\n")
        bad = [line for line in lines[:-1] if not re.fullmatch(r'# (HELP|TYPE) [a-z_]+ .*|# EOF|[a-z_]+(\{partition="([^"\\\n]|\\["\\n])*"\})? [-+.e\d]+', line)]
        tap.ok(not bad, f"{name}: the metrics are OpenMetrics", *bad)
        os.unlink(metrics)
    chrome = json.loads(spoor("export", "--chrome", "-", trace)[1])
    tap.ok(len(chrome["traceEvents"]) > 10 and chrome["otherData"]["job_name"] == text, f"{name}: the export for Chrome is JSON with the same text", chrome["otherData"])
    shutil.rmtree(archive)

# Whose it is, the file says.
forged, archive = make("vic1", "forged")
out = spoor("show", "--archive", archive, "99")[1].decode()
me = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
tap.ok(re.search(rf"^User +{re.escape(me)}$", out, re.MULTILINE) and re.search(r"^Claims user +vic1$", out, re.MULTILINE), "show: the user is the file's owner, and the other a claim", out)
shown = json.loads(spoor("show", "--json", forged)[1])["meta"]
tap.ok(shown["user"] == me and shown["claimed_user"] == "vic1", "show --json: the same", shown)
tap.ok(spoor("why", "--line", "--archive", archive, "--user", str(os.geteuid()), "99")[0] == 0, "why --user: its owner's trace")
status, out = spoor("why", "--line", "--archive", archive, "--user", "65534", "99")
tap.ok(status == 1 and b"no trace of such a job and user" in out, "why --user: nobody else's", out)
shutil.rmtree(work)
tap.done()
