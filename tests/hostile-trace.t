#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# hostile-trace - the worst texts in a trace's metadata, through every command: nothing of them acts on a terminal, in a page, a table, or a metric
import contextlib
import csv
import email
import email.policy
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
import archive as store  # noqa: E402
import browser  # noqa: E402
import hostile  # noqa: E402
import meta  # noqa: E402
import tap  # noqa: E402

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
except ImportError:
    openmetrics = None
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
    return process.wait(), hostile.PROGRESS.sub(b"", data).replace(b"\r\n", b"\n")


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


def tokens(folder):
    """(what the C program of a folder has outside of comments and strings, its strings that begin as ours, its name, its Makefile)"""
    name, = [n[:-2] for n in os.listdir(folder) if n.endswith(".c")]
    with open(os.path.join(folder, name + ".c"), encoding="latin-1") as file:
        text = file.read()
    found = re.findall(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|[\d.]\w*|\S', text, re.DOTALL)
    outside = ["STRING" if t.startswith('"named') else t for t in found if not t.startswith(("/*", "//"))]
    with open(os.path.join(folder, "Makefile"), encoding="latin-1") as file:
        return outside, {t for t in found if t.startswith('"named')}, name, file.read()


def eval_c(strings):
    """What strings of C are: characters, and three octal digits."""
    return {re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m.group(1), 8)]), s.encode("latin-1")[1:-1]) for s in strings}


def views(trace, archive):
    yield from (("show", trace), ("show", "--json", trace), ("show", "--sites", trace), ("show", "--loops", trace), ("show", "--matrix", trace),
                ("show", "--last", trace), ("show", "--archive", archive, "99"), ("why", trace), ("why", "--line", trace), ("why", "--json", trace),
                ("what-if", trace), ("what-if", "--json", trace),
                ("dump", trace), ("stat", trace), ("verify", trace), ("diff", trace, trace), ("export", "--chrome", "-", trace),
                ("place", "--nodes-like", "1:1:4096", trace), ("place", "--json", trace), ("report", "-o", "-", trace))
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

with open(os.path.join(work, "coded.spoor"), "wb") as opened_code:
    opened_code.write(store.container(store.metadata(8, 1700000000), [(n, d, len(d)) for n, d in store.program(8, named=b"named ")]))
status, said = spoor("proxy", "--no-run", "--time-only", "-o", os.path.join(work, "code"), os.path.join(work, "coded.spoor"))
tap.ok(status == 0, "a program of a trace that means no harm", said)
clean_code = tokens(os.path.join(work, "code"))
shutil.rmtree(os.path.join(work, "code"))

def check_code(name, data):
    """A trace whose strings are bytes: as a program in C, and in files of other formats. Returns the trace."""
    folder = os.path.join(work, "code")
    coded = os.path.join(work, "coded.spoor")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(coded)
    with open(coded, "wb") as file:
        file.write(store.container(store.metadata(8, 1700000000), [(n, d, len(d)) for n, d in store.program(8, module=b"/opt/app_" + data, named=b"named " + data)]))
    status, said = spoor("proxy", "--no-run", "--time-only", "-o", folder, coded)
    found = tokens(folder) if status == 0 else None
    tap.ok(status == 0 and found[0] == clean_code[0], f"{name}: the program of spoor proxy has the same tokens outside of strings", said[:500])
    tap.ok(found and eval_c(found[1]) == {b"named " + data}, f"{name}: and the same string", found and found[1])
    makefile_ok = found and re.fullmatch(r"[A-Za-z0-9_]+", found[2]) and found[3].replace(found[2], "NAME") == clean_code[3].replace(clean_code[2], "NAME")
    tap.ok(makefile_ok, f"{name}: its Makefile has the same rules", found and found[2:])
    shutil.rmtree(folder, ignore_errors=True)
    for form, out in (("--otf2", os.path.join(work, "otf2")), ("--simgrid", os.path.join(work, "simgrid"))):
        status, said = spoor("export", form, out, coded)
        printed = b""
        if status == 0 and form == "--otf2":
            printed = subprocess.run(["otf2-print", "-G", out + "/traces.otf2"], capture_output=True, check=True).stdout if shutil.which("otf2-print") else b""
        for root, _, files in os.walk(out if status == 0 and form == "--simgrid" else ""):
            for file in files:
                with open(os.path.join(root, file), "rb") as opened:
                    printed += opened.read()
        tap.ok(status in (0, 1) and not hostile.acts(said) and not hostile.acts(printed), f"{name}: export {form}", status, hostile.acts(said), hostile.acts(printed))
        shutil.rmtree(out, ignore_errors=True)
    return coded


# What a browser makes of a page: elements, names of attributes, and the values of those that act.
ELEMENTS = """[...document.querySelectorAll('*')].map(e => [e.tagName, [...e.attributes].map(a =>
    /^(href|src|style|class|id|on)/.test(a.name) ? a.name + '=' + a.value : a.name)].join(' '))"""
chromium = browser.Browser(work, 180) if browser.find() else None


def seen(text):
    """(elements, as a browser has them; what its console said, and whom it asked)"""
    path = os.path.join(work, "page.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.open(path)
    return chromium.evaluate(ELEMENTS), chromium.complaints + [r for r in chromium.requests if not r.startswith(("file://" + path, "data:"))]


clean_seen = {what: seen(page) for what, (_, _, page) in clean_pages.items()} if chromium else {}


def check_browser(name, what, page):
    if not chromium:
        tap.skip(f"{name}: the page of the {what} in a browser", "there is no browser")
        return
    elements, said = seen(page)
    more = [e for e in elements if e not in clean_seen[what][0]]
    tap.ok(elements and not more and said == clean_seen[what][1], f"{name}: the page of the {what} has no more in a browser, which runs and asks for nothing", *more[:5], *said[:5])


def check_metrics(name, text):
    """As Prometheus' own parser has them, where that is (python3-prometheus-client)."""
    if not openmetrics:
        tap.skip(f"{name}: metrics as a parser has them", "there is no prometheus_client")
        return
    try:
        families = list(openmetrics(text))
    except ValueError as error:
        tap.ok(False, f"{name}: metrics as a parser has them", error)
        return
    labels = {tuple(sample.labels) for family in families for sample in family.samples}
    tap.ok(len(families) > 10 and all(family.name.startswith("spoor_") and family.type == "gauge" for family in families) and labels <= {(), ("partition",)},
           f"{name}: metrics as a parser has them", labels, *[family.name for family in families])


def check_mail(name, archive):
    """The page as a mail: two parts, and no header but ours."""
    out = os.path.join(work, "mail")
    status, said = spoor("report", "--archive", archive, "--mail", "admin@example.org", "-o", out)
    found = None
    if os.path.exists(out):
        with open(out, "rb") as file:
            message = email.message_from_bytes(file.read(), policy=email.policy.default)
        found = (list(message.keys()), [part.get_content_type() for part in message.walk()], message.defects)
        os.unlink(out)
    tap.ok(status == 0 and found == (["To", "Subject", "MIME-Version", "Content-Type"], ["multipart/alternative", "text/plain", "text/html"], []),
           f"{name}: a mail has our headers and parts", said, found)


for name, text in WORST.items():
    trace, archive = make(text, name.replace(" ", "-"))
    wrong = []
    for arguments in views(trace, archive):
        status, data = spoor(*arguments, terminal=arguments[0] in ("show", "why", "list", "dump", "diff"))
        if status < 0 or status > 2 or hostile.acts(data):
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(data)}")
    tap.ok(not wrong, f"{name}: nothing that acts on a terminal", *wrong)
    for what, arguments in (("trace", ("report", "-o", "-", trace)), ("archive", ("report", "--archive", archive, "-o", "-"))):
        status, found, page = tree(*arguments)
        extra = [e for e in found if e not in clean_pages[what][1]]
        tap.ok(status == 0 and not extra, f"{name}: the page of the {what} has no element and no attribute more", *extra[:5])
        if name != "length":  # a browser takes 10 s to lay out a word of 30,000 letters in each place
            check_browser(name, what, page)
    check_mail(name, archive)
    status, line = spoor("why", "--line", trace)
    tap.ok(status == 0 and re.fullmatch(rb"[ -!#%&(-\[\]-_a-{}~]{1,500}\n", line), f"{name}: a line for Slurm's AdminComment is one word in any shell's quotes", line)
    for arguments in (("list", "--archive", archive, "--csv", "--format", "job,name,account,partition,exe"), ("aggregate", "--archive", archive, "--by", "account", "--csv")):
        rows = list(csv.reader(io.StringIO(spoor(*arguments)[1].decode())))
        bad = [cell for row in rows for cell in row if cell[:1] in tuple("=+@\t\r") or (cell[:1] == "-" and cell != "-" and not re.fullmatch(r"-[\d.e+-]+", cell))]
        tap.ok(len(rows) == 2 and len({len(row) for row in rows}) == 1 and not bad, f"{name}: {arguments[0]} --csv is a row of texts", rows, *bad)
    metrics = os.path.join(work, "metrics")
    status, said = spoor("report", "--archive", archive, "--openmetrics", "-o", metrics)
    if os.path.exists(metrics):
        with open(metrics, encoding="utf-8", newline="\n") as file:
            lines = file.read().split("\n")
        bad = [line for line in lines[:-1] if not re.fullmatch(r'# (HELP|TYPE) [a-z_]+ .*|# EOF|[a-z_]+(\{partition="([^"\\\n]|\\["\\n])*"(,cause="[a-z-]+")?\})? [-+.e\d]+', line)]
        tap.ok(not bad, f"{name}: the metrics are OpenMetrics", *bad)
        check_metrics(name, "\n".join(lines))
        os.unlink(metrics)
    check_code(name, text.encode())
    chrome = json.loads(spoor("export", "--chrome", "-", trace)[1])
    tap.ok(len(chrome["traceEvents"]) > 10 and chrome["otherData"]["job_name"] == text, f"{name}: the export for Chrome is JSON with the same text", chrome["otherData"])
    shutil.rmtree(archive)

# Bytes that are no text, in the strings of a trace (metadata are JSON).
for name, data in (("no UTF-8", b"\xff\xfe\x9b31m\xc3(\xed\xa0\x80\xf4\x90\x80\x80"), ("NUL", b"a\0b\0\x1b[2J"), ("a long one", b"/" + b"\x1bx" * 32768)):
    coded = check_code(name, data)
    wrong = []
    for arguments in (("show", coded), ("show", "--sites", coded), ("show", "--json", coded), ("why", coded), ("dump", "--count", "50", coded), ("stat", coded), ("verify", coded), ("diff", coded, clean),
                      ("report", "-o", "-", coded)):
        status, said = spoor(*arguments, terminal=arguments[0] in ("show", "why", "dump", "diff"))
        if status < 0 or status > 2 or hostile.acts(said):
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(said)}")
    tap.ok(not wrong, f"{name} in a trace: nothing that acts on a terminal", *wrong)

# Names of functions, of which a trace has its own list.
for name, data in (*((name, WORST[name].encode()) for name in ("escapes", "markup", "a formula", "lines", "directions", "formats")), ("no UTF-8", b"\xff\xfe\x9b31m\xc3(")):
    called = os.path.join(work, "called.spoor")
    with open(called, "wb") as file:
        file.write(store.container(store.metadata(8, 1700000000), [(n, d, len(d)) for n, d in store.program(8, function=b"MPI_" + data.replace(b" ", b"_").replace(b":", b";"))]))
    wrong = []
    for arguments in (*views(called, clean_archive), ("replay", called), ("proxy", "--no-run", "-o", os.path.join(work, "code"), called), ("diff", called, clean)):
        status, said = spoor(*arguments, terminal=arguments[0] not in ("report", "export"))
        if status < 0 or status > 2 or hostile.acts(said) or arguments[0] == "report" and b"<script>alert" in said:
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(said)}")
        if arguments[0] == "replay" and b"calls in this trace that cannot be replayed here" not in said or arguments[0] == "replay" and len(said.splitlines()) != 3:
            wrong.append(f"spoor replay: {said[-500:]!r}")
    tap.ok(not wrong, f"{name} as a function's name: nothing that acts on a terminal", *wrong)
    os.unlink(called)

# Exit notes, whose facts are their user's.
for name, text in ((name, WORST[name]) for name in ("escapes", "lines", "directions", "length")):
    trace, archive = make("plain", "note-" + name.replace(" ", "-"))
    note = {key: text for key in ("step", "node", "state", "reason", "exit_task", "partition", "account", "user", "what")}
    with open(os.path.join(os.path.dirname(trace), "99.0.n1.exit"), "w", encoding="utf-8") as file:
        json.dump(dict(note, job=99, step="0", exit_code=1, signal=9), file)
    with open(os.path.join(os.path.dirname(trace), "98.0.n1.exit"), "w", encoding="utf-8") as file:
        file.write(text)
    wrong = []
    for arguments in (("list", "--archive", archive), ("list", "--archive", archive, "--json"), ("show", "--archive", archive, "99"), ("why", "--archive", archive, "99"), ("index", "--archive", archive)):
        status, said = spoor(*arguments, terminal=True)
        if status < 0 or status > 2 or hostile.acts(said):
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(said)}")
    tap.ok(not wrong, f"{name} in exit notes: nothing that acts on a terminal", *wrong)
    shutil.rmtree(archive)

# Numbers of the metadata, which are claims as texts are: each of them is the worst one, or no number at all.
def numbered(value, name):
    """A trace of job 99 whose numbers are all this value, in an archive."""
    trace, archive = make("plain", name)

    def change(facts):
        for key, old in list(facts.items()):
            if isinstance(old, (int, float)) and key not in ("version", "uid", "job"):
                facts[key] = value
    meta.replace(trace, trace + ".next", change)
    os.chmod(trace + ".next", 0o440)
    os.rename(trace + ".next", trace)
    return trace, archive


for name, value in (("-1", -1), ("the largest", 2**63 - 1), ("the smallest", -2**63), ("beyond the largest", 2**64), ("1e308", 1e308), ("-0.5", -0.5), ("a text", "7"), ("a list", [7]), ("null", None),
                    ("true", True), ("an object", {"a": {}})):
    trace, archive = numbered(value, "number-" + re.sub(r"\W", "_", name))
    wrong = []
    for arguments in views(trace, archive):
        status, said = spoor(*arguments, terminal=arguments[0] in ("show", "why", "list", "dump", "diff"))
        if status < 0 or status > 1 or hostile.acts(said) or re.search(rb"\b(nan|inf)\b", re.sub(rb"<[^>]*>", b"", said), re.IGNORECASE):
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(said)}; {said[-300:]!r}")
        if arguments[-1] == "--json" and status == 0:
            try:
                [json.loads(line) for line in (said.decode().splitlines() if arguments[0] == "list" else [said.decode()]) if line]
            except ValueError as error:
                wrong.append(f"spoor {' '.join(arguments)}: {error}")
    tap.ok(not wrong, f"{name} as each number of the metadata: nothing crashes, acts, or is no number", *wrong)
    shutil.rmtree(archive)

# Names of files and folders, as an argument and as what is found.
for name in ("escapes", "markup", "a formula", "lines", "directions", "formats"):
    text = WORST[name].replace("/", "|")[:100]
    trace, archive = make("plain", "named-" + name.replace(" ", "-"))
    below = os.path.join(work, text)
    os.rename(archive, below)
    folder = os.path.join(below, "2026/11/20", str(os.geteuid()))
    odd = os.path.join(folder, text + ".spoor")
    os.rename(os.path.join(folder, "99.0.0.spoor"), odd)
    for other in (f"98.0.{text}.exit", f"97.{text}.spoor"):
        with open(os.path.join(folder, other), "w", encoding="utf-8") as file:
            file.write("junk")
    wrong = []
    for arguments in (*views(odd, below), ("list", "--archive", os.path.join(below, text)), ("where", folder), ("merge", "-o", os.path.join(below, text, "x"), odd), ("prune", "--archive", below),
                      ("index", "--archive", below), ("show", "no" + odd), ("report", "-o", os.path.join(below, "no" + text, "page"), odd), ("export", "--otf2", odd, odd), ("proxy", "--no-run", "-o", odd, odd),
                      ("policy", "check", odd), ("aggregate", "--archive", below, "--by", text), ("list", "--archive", below, "--format", text), ("show", "--" + text, odd), (text,)):
        status, said = spoor(*arguments, terminal=arguments[0] not in ("report", "export"))
        if status < 0 or status > 2 or hostile.acts(said) or status == 0 and b"<script>alert" in said and arguments[0] == "report":
            wrong.append(f"spoor {arguments}: status {status}; {hostile.acts(said)}")
    tap.ok(not wrong, f"{name} in names of files, folders and options: nothing that acts on a terminal", *wrong)
    shutil.rmtree(below)

# A policy that somebody sends, and what Slurm says of jobs: names are as their users like them.
SLURM = """import re, sys
text = open({text!r}, encoding="utf-8").read()
sys.argv += [""]
if "scontrol" in sys.argv[0]:
    print(f"JobId=17 JobName={{text}} UserId=x(0) JobState=RUNNING Reason={{text}} NodeList={{text}} Comment={{text}}")
elif "sacct" in sys.argv[0]:
    print("|".join(["17", text, "0"] + [text] * 8))
else:
    form = next((a.split("=", 1)[-1] for a in sys.argv if "%" in a), "%A")
    print(re.sub("%[.0-9]*([A-Za-z])", lambda m: {{"A": "17", "i": "17", "U": "0", "T": "RUNNING", "t": "R"}}.get(m.group(1), text), form))
"""
tools = os.path.join(work, "tools")
os.mkdir(tools, 0o755)
for name in ("squeue", "sinfo", "scontrol", "sacct", "srun"):
    with open(os.path.join(tools, name), "w", encoding="utf-8") as file:
        file.write(f"#!{sys.executable}\n" + SLURM.format(text=os.path.join(work, "said")))
    os.chmod(os.path.join(tools, name), 0o755)
path_before = os.environ["PATH"]
for name in ("escapes", "markup", "lines", "directions", "formats", "length"):
    text, wrong, sent = WORST[name], [], os.path.join(work, "sent.json")
    with open(sent, "w", encoding="utf-8") as file:
        json.dump({"version": 1, text: 1, "archive": "/" + text, "applications": {text: text}, "rules": [{"name": text, "match": {"user": text, text: text, "time": text}, "mode": text}], "hooks": [text]}, file)
    good = os.path.join(work, text[:50].replace("/", "|") + ".json")
    with open(good, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "rules": [{"name": "a", "match": {"job_name": "a"}, "mode": "off"}, {"name": "b", "match": {"job_name": "x"}, "mode": "lossy"}]}, file)
    with open(os.path.join(work, "said"), "w", encoding="utf-8") as file:
        file.write(text)
    os.environ["PATH"] = tools + ":" + path_before
    for arguments in (("policy", "check", sent), ("policy", "explain", "--policy", sent, "user=" + text), ("policy", "explain", "--policy", sent, text), ("policy", "check", good), ("policy", "explain", "--policy", good, "job_name=" + text), ("policy", "explain", "--policy", good, "job_name=x"),
                      ("top", "--once"), ("where", "17"), ("doctor",), ("doctor", "17"),
                      ("watch", "--notify", "true", "--state", os.path.join(work, "watched"))):
        status, said = spoor(*arguments, terminal=True)
        said = said.replace(b"\x1b[H\x1b[J", b"") if arguments[0] == "top" else said  # which clears the screen
        if status < 0 or status > 2 or hostile.acts(said):
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(said)}; {said[-300:]!r}")
    os.environ["PATH"] = path_before
    tap.ok(not wrong, f"{name} in a policy, and in what Slurm says: nothing that acts on a terminal", *wrong)

# All commands over another user's trace and archive: by root, who becomes that user, and by that user; each in a terminal.
MALLORY = 61002


def run_as(user, arguments, home):
    """(exit status, what a terminal got)"""
    def before():
        os.environ.update(SPOOR_COLOR="never", LC_ALL="C.UTF-8", COLUMNS="200", SPOOR_PAGER="", TERM="dumb", HOME=home, KEY="a key of which nobody guesses a word")
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
    status, _, said, _ = hostile.terminal([SPOOR, *arguments], before)
    return os.waitstatus_to_exitcode(status), said.replace(b"\r\n", b"\n")


def all_commands(trace, archive, out):
    yield from (words for words in views(trace, archive) if words[0] not in ("export", "report"))
    for option in ("--waits", "--classes", "--exact", "--at=1", "--hung=1"):
        yield ("show", *(["--loops"] if option == "--exact" else []), option, trace)
    yield from (("where", trace), ("merge", "-o", out + "/merged.spoor", trace), ("scale", trace, clean, trace), ("extrapolate", trace, clean, "--ranks", "8", "--nearest", "-o", out + "/large.spoor"),
                ("place", "--nodes-like", "1:1:4096", "-o", out + "/place", trace),
                ("diff", trace, clean), ("index", "--archive", archive), ("prune", "--archive", archive),
                ("report", "--archive", archive, "-o", out + "/site.html"), ("report", "-o", out + "/page.html", trace), ("export", "--chrome", out + "/chrome.json", trace),
                ("export", "--otf2", out + "/otf2", trace), ("export", "--simgrid", out + "/simgrid", trace), ("export", "--spoor", out + "/other.spoor", "--anonymise", "env:KEY", trace),
                ("proxy", "--no-run", "-o", out + "/proxy", trace), ("trend", "--archive", archive, "--json"), ("aggregate", "--archive", archive, "--by", "site", "--json"))


def written(out):
    """What acts in the texts that commands wrote."""
    for root, _, files in os.walk(out):
        for file in files:
            with open(os.path.join(root, file), "rb") as opened:
                data = opened.read()
            if not file.endswith((".spoor", ".otf2", ".def", ".evt", ".db")) and hostile.acts(data):
                yield f"{file}: {hostile.acts(data)}"


if os.geteuid() == 0:
    for name in ("escapes", "markup", "lines", "directions", "formats", "length"):
        trace, archive = make(WORST[name], "theirs-" + name.replace(" ", "-"))
        home = os.path.join(archive, "2026/11/20", str(MALLORY))
        meta.replace(trace, trace + ".theirs", lambda facts: facts.update(uid=MALLORY))
        os.rename(os.path.dirname(trace), home)
        os.rename(os.path.join(home, "99.0.0.spoor.theirs"), os.path.join(home, "99.0.0.spoor"))
        trace = os.path.join(home, "99.0.0.spoor")
        for path in (home, trace):
            os.chown(path, MALLORY, MALLORY)
        for user in (0, MALLORY):
            out, wrong = os.path.join(work, f"out-{user}"), []
            os.mkdir(out, 0o755)
            os.chown(out, user, user)
            for arguments in all_commands(trace, archive, out):
                status, said = run_as(user, arguments, out)
                if status < 0 or status > 1 or hostile.acts(said):
                    wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(said)}; {said[-300:]!r}")
            made = sorted(os.listdir(out))
            tap.ok(not wrong, f"{name}, every command over another's, {'by root' if not user else 'by that user'}: nothing that acts on a terminal", *wrong)
            tap.ok(not list(written(out)) and {"chrome.json", "otf2", "simgrid", "other.spoor", "proxy", "page.html", "merged.spoor"} <= set(made),
                   f"{name}: nor in what they wrote", *list(written(out)), made)
            shutil.rmtree(out)
        shutil.rmtree(archive)

# Whose it is, the file says.
forged, archive = make("vic1", "forged")
out = spoor("show", "--archive", archive, "99")[1].decode()
me = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
tap.ok(re.search(rf"^User +{re.escape(me)}$", out, re.MULTILINE) and re.search(r"^User +vic1 \(as the trace says\)$", out, re.MULTILINE),
       "show: the user is the file's owner, and the other a claim", out)
shown = json.loads(spoor("show", "--json", forged)[1])["meta"]
tap.ok(shown["user"] == me and shown["claimed_user"] == "vic1", "show --json: the same", shown)
# A file does not say what slurmdbd would.
tap.equal(re.findall(r"^(?:Account|Partition|QoS) .*", out, re.MULTILINE), [f"{label:12} vic1 (as the trace says)" for label in ("Account", "Partition", "QoS")],
          "show: so are account, partition and QoS")
tap.equal([(shown.get(key), shown[f"claimed_{key}"]) for key in ("account", "partition", "qos")], [(None, "vic1")] * 3, "show --json: the same")
for arguments in (("why", "--json"), ("export", "--chrome", "-")):
    tap.ok(not re.search(rb'"(user|account|partition|qos)": ?"vic1"', spoor(*arguments, forged)[1]), f"{' '.join(arguments)}: nor are they told as if they were so")
page = spoor("report", "-o", "-", forged)[1].decode()
tap.equal(re.findall(r"<dt>(User|Account|Partition|QoS)</dt><dd>vic1", page), [], "report: none is told as it were so")
tap.equal(re.findall(r"<dt>(\w+) as the trace says</dt><dd>vic1", page), ["User", "Account", "Partition", "QoS"], "report: they are claims")
tap.ok(spoor("why", "--line", "--archive", archive, "--user", str(os.geteuid()), "99")[0] == 0, "why --user: its owner's trace")
status, out = spoor("why", "--line", "--archive", archive, "--user", "65534", "99")
tap.ok(status == 1 and b"no trace of such a job and user" in out, "why --user: nobody else's", out)
if chromium:
    chromium.__exit__()
shutil.rmtree(work, ignore_errors=True)  # a browser that was ended may still write
tap.done()
