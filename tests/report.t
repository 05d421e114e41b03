#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# report - the page of a trace says what spoor show --json says, opens in a browser without a complaint, fits narrow and wide windows, and runs nothing
import email
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive as store  # noqa: E402
import browser  # noqa: E402
import launch  # noqa: E402
import meta  # noqa: E402
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
GOLDEN = os.path.join(tap.SOURCE, "tests/golden")
HOSTILE = "<img src=x onerror=alert(1)>'\"&amp;</title><script>alert(2)</script>\u202e\x1b[31m"
VOID = {"meta", "link", "br", "img", "hr", "input"}


def spoor(*arguments):
    done = subprocess.run([SPOOR, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


class Page(html.parser.HTMLParser):
    """The figures of a page, its tags, and whether they are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.figures, self.tags, self.open, self.wrong, self.attributes = {}, set(), [], [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.attributes.update(attrs)
        if "data-figure" in attrs:
            self.figures[attrs["data-figure"]] = float(attrs["value"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(dict(attrs))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def expected(shown, name):
    """What spoor show --json has for a figure of the page."""
    parts = name.split(".")
    if parts[0] == "sites":
        return next(s for s in shown["sites"] if s["site"] == int(parts[1]))[parts[2]]
    if parts[0] == "matrix":
        cell = next(c for c in shown["matrix"] if c[:2] == [int(parts[1]), int(parts[2])])
        return cell[3 if parts[3] == "bytes" else 2]
    if parts[0] == "message_sizes":
        cell = next(c for c in shown["message_sizes"] if c[0] == int(parts[1]))
        return cell[1 if parts[2] == "messages" else 2]
    if parts[0] == "ranks":
        thread = int(parts[2]) if len(parts) == 4 else 0
        return next(r for r in shown["rank_totals"] if r["rank"] == int(parts[1]) and r.get("thread", 0) == thread)[parts[-1]]
    for part in parts:
        shown = shown[int(part)] if isinstance(shown, list) else shown[part]
    return shown


def figures(title, trace, page):
    shown = json.loads(spoor("show", trace, "--json")[1])
    for view in ("--sites", "--waits", "--matrix"):
        shown.update(json.loads(spoor("show", trace, view, "--json")[1]))
    wrong = []
    for name, value in page.figures.items():
        try:
            if abs(expected(shown, name) - value) > 1e-12 * abs(value):
                wrong.append(f"{name}: {value}, not {expected(shown, name)}")
        except (KeyError, StopIteration, IndexError, TypeError) as error:
            wrong.append(f"{name}: not in spoor show ({error!r})")
    tap.ok(not wrong and len(page.figures) > 10, f"{title}: {len(page.figures)} figures are those of spoor show --json", *wrong)


def shares(title, trace):
    """Functions, with MPI_Init and what never ended, are parts of the ranks' and threads' time: no more than all of it."""
    text = spoor("show", trace)[1].decode()
    found = [float(v) for v in re.findall(r"^MPI_\w+ .* (\d+\.\d)%", text.partition("\nFUNCTION")[2].partition("\n\n")[0], re.MULTILINE)]
    share = float(re.search(r"^In MPI .*\((\d+\.\d) %\)", text, re.MULTILINE).group(1))
    tap.ok(found and sum(found) <= 100 + 0.05 * len(found) and max(found) <= 100 and share <= 100, f"{title}: shares of all time", found, share)


def axe_source():
    """Of axe-core, where it is installed (NODE_PATH)."""
    for folder in os.environ.get("NODE_PATH", "").split(":"):
        path = os.path.join(folder, "axe-core", "axe.min.js")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    return None


AXE = axe_source()


def look(title, path, view):
    """The page in a browser, in windows of two sizes, light and dark."""
    tap.ok(os.path.getsize(path) < 300_000, f"{title}: under 300 kB", os.path.getsize(path))
    for width, height, dark in ((1280, 800, False), (390, 844, True)):
        view.complaints.clear()
        view.requests.clear()
        view.size(width, height, dark)
        view.open(path)
        wide = view.evaluate("document.documentElement.scrollWidth")
        tap.ok(wide <= width, f"{title}: fits into {width} pixels", f"{wide} wide", view.evaluate(
            "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('.wide')).slice(0, 5)"
            ".map(e => e.outerHTML.slice(0, 200)).join('\\n')"))
        tap.equal(view.complaints, [], f"{title}: {width}: nothing in the console")
        tap.equal([u for u in view.requests if not u.startswith("data:")], ["file://" + path], f"{title}: {width}: loads nothing")
        empty = view.evaluate("[...document.querySelectorAll('svg[role=img]')].filter(s => !s.querySelector('title') || s.getBoundingClientRect().width < 20).length")
        tap.equal(empty, 0, f"{title}: {width}: graphics have a title and are there")
        small = view.evaluate("[...document.querySelectorAll('svg text')].map(t => 12 * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b)).filter(px => px < 10.99)")
        tap.equal(small, [], f"{title}: {width}: text in graphics has 11 pixels")
        if AXE:
            tap.equal(view.axe(AXE), [], f"{title}: {width}: nothing serious for screen readers and keyboards")
        folder = os.environ.get("SPOOR_SCREENSHOTS")
        if folder:
            view.screenshot(os.path.join(folder, f"{title}-{width}.png"))
    first = view.evaluate("document.querySelector('.verdict').getBoundingClientRect().top")
    tap.ok(first < 400, f"{title}: the first screen says why", first)


def words(text):
    """Text without tags, as one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def why(title, trace, text):
    """spoor why and the page say the same, in 80 columns."""
    status, out, err = spoor("why", trace, "--json")
    step = json.loads(out)["steps"][0] if status == 0 else {"verdict": "?", "findings": []}
    page = words(text)
    missing = [f["text"] for f in step["findings"] if " ".join(f["text"].split()) not in page]
    tap.ok(status == 0 and step["verdict"] in page and not missing, f"{title}: the page has the verdict and the findings of spoor why", err, step["verdict"], *missing)
    printed = spoor("why", trace)[1].decode()
    wide = [line for line in printed.splitlines() if len(line) > 80 and " " in line[10:].strip()]
    tap.ok("Verdict" in printed and not wide, f"{title}: spoor why fits into 80 columns", *wide)
    cut = [line for line in printed.splitlines() if line.strip().startswith("%")]
    tap.ok(not cut, f"{title}: no line begins with the % of a number", *cut)


def findings():
    """Each finding is in the table once, and explained."""
    with open(os.path.join(tap.SOURCE, "cmd/report/findings.c"), encoding="utf-8") as file:
        source = file.read()
    titles = re.findall(r'\[FINDING_\w+\] =\s*\{"[\w-]+",\s*"([^"]+)"', source)
    with open(os.path.join(tap.SOURCE, "doc/glossary.md"), encoding="utf-8") as file:
        explained = re.findall(r"^- \*\*([^*]+)\*\*", file.read(), re.MULTILINE)
    tap.ok(len(titles) > 12, "findings: the table")
    tap.equal(sorted(set(titles) - set(explained)), [], "findings: doc/glossary.md explains all")


def report(title, trace, folder, view):
    path = os.path.join(folder, "page.html")
    status, _, err = spoor("report", trace, "-o", path)
    if not tap.ok(status == 0, f"{title}: a page", err):
        return ""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Page(text)
    tap.ok(not page.open and not page.wrong, f"{title}: tags are closed in order", page.open, page.wrong)
    tap.ok(not page.tags & {"script", "iframe", "img", "object", "embed", "form"} and not [a for a in page.attributes if a.startswith("on")],
           f"{title}: no scripts, nothing that loads", page.tags)
    figures(title, trace, page)
    shares(title, trace)
    why(title, trace, text)
    if view:
        look(title, path, view)
    return text


def hostile(folder, view):
    """Names that would run something in a page that does not escape them."""
    trace = os.path.join(folder, "hostile.spoor")
    program = os.path.join(folder, "<img src=x onerror=alert(3)>")
    shutil.copy(os.path.join(tap.BUILD, "tests/programs/halo"), program)
    done = launch.mpirun(2, [program], before=[SPOOR, "run", "-o", trace, "--"], cwd=folder)
    if not tap.ok(done.returncode == 0 and os.path.exists(trace), "hostile: a trace", done.stderr.decode(errors="replace")):
        return

    def change(facts):
        for key in ("job_name", "user", "account", "cluster", "node_list", "start", "state", "rule_reason"):
            facts[key] = HOSTILE
        facts.update(job=HOSTILE, hosts=[HOSTILE], command=[HOSTILE, {"a": HOSTILE}], elapsed=[HOSTILE], partial=1, reason=HOSTILE, exit_code=HOSTILE)

    meta.replace(trace, os.path.join(folder, "hostile2.spoor"), change)
    text = report("hostile", os.path.join(folder, "hostile2.spoor"), folder, view)
    tap.ok("&lt;img src=x onerror=alert(1)&gt;" in text and "onerror=alert(3)&gt;" in text, "hostile: names are shown as they are")
    tap.ok(not any(ord(c) < 32 and c != "\n" or c == "\u202e" for c in text), "hostile: no control characters, nothing that turns text round")


def comparison(folder, view):
    """The page of two traces says what spoor diff says."""
    a, b, path = os.path.join(folder, "halo.spoor"), os.path.join(folder, "farm.spoor"), os.path.join(folder, "both.html")
    status, _, err = spoor("report", b, "--against", a, "-o", path)
    if not tap.ok(status == 0, "comparison: a page", err):
        return
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page, shown = Page(text), json.loads(spoor("diff", a, b, "--json", "--all", "--top", "0")[1])
    tap.ok(not page.open and not page.wrong and not page.tags & {"script", "iframe", "img", "object", "embed", "form"}, "comparison: tags are closed in order, nothing runs", page.wrong)
    places = [r["place"] for r in shown["causes"]["reasons"] if r["ns"]]
    tap.equal([p for p in places if " ".join(p.split()) not in words(text)], [], "comparison: the reasons of spoor diff")
    wrong = [(i, side) for i, site in enumerate(shown["sites"][:40]) for side, n in (("a", shown["ranks"][0]), ("b", shown["ranks"][1]))
             if abs(page.figures.get(f"sites.{i}.ns_{side}", 0) - (site[side]["time_ns"] / n if site[side] else 0)) > 1]
    tap.equal((wrong, len(page.figures) > 20), ([], True), "comparison: the times of spoor diff")
    if view:
        look("comparison", path, view)
    tap.equal([spoor("report", *bad)[0] for bad in (["--archive", "--against", a, "-o", path], ["--against", a, "-o", path], [b, "--against", a, "--anonymise", "k", "-o", path])],
              [2, 2, 2], "comparison: is of two traces")
    tap.equal(spoor("report", b, "--against", os.path.join(folder, "none"), "-o", os.path.join(folder, "never.html"))[0], 1, "comparison: the other one is not there")


def archive(folder, view):
    """The page of an archive says what spoor aggregate says."""
    root = os.path.join(folder, "archive")
    start = 1772359200
    os.makedirs(root)
    for path in (folder, root):
        os.chmod(path, 0o755)
    for number in range(6):
        path = os.path.join(folder, "replaced")
        owner = store.uid(number % 2)
        meta.replace(os.path.join(folder, "halo.spoor"), path,
                     lambda facts, n=number: facts.update(job=n + 1, step="0", uid=store.uid(n % 2), account="<b onclick=x>&",
                                                          start="2026-03-01T10:00:00Z", start_ns=start * 10**9, end_ns=(start + 3600) * 10**9, elapsed=3600,
                                                          exe=f"/opt/<script>{n % 3}"))
        with open(path, "rb") as file:
            store.put(root, number + 1, start, file.read(), owner)
        os.unlink(path)
    store.put(root, 9, start, b"not a trace")
    path = os.path.join(folder, "site.html")
    status, _, err = spoor("report", "--archive", root, "-o", path)
    if not tap.ok(status == 0, "archive: a page", err):
        return
    with open(path, encoding="utf-8") as file:
        page = Page(file.read())
    tap.ok(not page.open and not page.wrong and "script" not in page.tags and "b" not in page.tags, "archive: tags are closed in order, names are no tags", page.open,
           page.wrong)
    shown = {by: json.loads(spoor("aggregate", "--archive", root, "--by", by, "--json")[1]) for by in ("user", "application", "month")}
    wrong = []
    for name, value in page.figures.items():
        view_, key, column = name.split("/") if name.count("/") == 2 else (name.split("/")[0], "", name.split("/")[-1])
        by = {"waiting": "user", "balancing": "application", "small": "application", "months": "month", "total": "user"}.get(view_)
        if by is None:
            continue
        source = shown[by]["total"] if view_ == "total" else next((g for g in shown[by]["groups"] if key in g.values()), {})
        if abs((source.get(column) or 0) - value) > 1e-9 * abs(value):
            wrong.append(f"{name}: {value}, not {source.get(column)}")
    tap.ok(not wrong and len(page.figures) > 30, f"archive: {len(page.figures)} figures are those of spoor aggregate --json", *wrong[:10])
    tap.ok(page.figures.get("total/jobs") == 6 and page.figures.get("total/node_hours") == 6, "archive: six jobs of an hour on a node", page.figures)
    if view:
        look("archive", path, view)
    tap.equal(spoor("report", "--archive", root, "-o", path, "--user", store.user(1), "-S", "2020-01-01")[0], 0, "archive: filters")
    starts = [json.loads(line)["start_ns"] for line in spoor("list", "--archive", root, "--json", "--user", store.user(1))[1].splitlines()]
    first, last = (time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(pick(starts) // 10**9)) for pick in (min, max))
    with open(path, encoding="utf-8") as file:
        tap.ok(f"</code>, only user {store.user(1)}, since 2020-01-01T00:00:00, started from {first} to {last}, page made " in file.read(),
               "archive: the page names its filters and its span")
    for month, jobs in (("2026-03", 6), ("2026-02", 0)):
        status, _, err = spoor("report", f"--archive={root}", f"--month={month}", "-o", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tap.ok(status == 0 and f"<h1>MPI jobs of {month}</h1>" in text and Page(text).figures.get("total/jobs", 0) == jobs, f"a month: {month}", err, Page(text).figures.get("total/jobs"))
    tap.equal([spoor("report", f"--archive={root}", *bad, "-o", path)[0] for bad in (["--month=2026-13"], ["--month=frog"], ["--month", os.path.join(folder, "halo.spoor")])], [2, 2, 2],
              "a month: is one, and of the archive")
    status, out, err = spoor("why", "3", "--archive", root)
    tap.ok(status == 0 and b"Job 3: 1 trace" in out, "why: a job", out, err)
    status, out, err = spoor("why", "3.0", "--archive", root, "--json")
    tap.ok(status == 0 and json.loads(out)["steps"][0]["meta"]["job"] == 3, "why: a step, as JSON", err)
    status, out, err = spoor("why", "3", "--archive", root, "--line")
    tap.ok(status == 0 and re.fullmatch(rb"[A-Z][ -~]{20,199}; MPI \d+ %; efficiency \d+ %(; late: rank \d.*)?\n", out) and not set(out) & set(b"\"'`$\\|"), "why: a line", out, err)
    colours(["why", "3", "--archive", root])
    colours(["list", "--archive", root])
    for wrong in ("77", "3.1", "no"):
        status, out, err = spoor("why", wrong, "--archive", root)
        tap.ok(status == 1 and wrong in err and not out, f"why: {wrong} is not there", out, err)
    status, out, err = spoor("report", "--archive", root, "--openmetrics", "-o", os.path.join(folder, "spoor.prom"))
    with open(os.path.join(folder, "spoor.prom"), encoding="utf-8") as file:
        text = file.read()
    values = {name: float(value) for name, value in re.findall(r'^(spoor_\w+)\{partition="[^"]*"\} (\S+)$', text, re.MULTILINE)}
    wrong = [line for line in text.splitlines() if not re.fullmatch(r'# (HELP|TYPE) spoor_\w+ .+|spoor_\w+(\{partition="[^"]*"(,cause="[a-z-]+")?\})? [0-9.e+-]+|# EOF', line)]
    tap.ok(status == 0 and not wrong and values.get("spoor_jobs") == 6 and values.get("spoor_node_hours") == 6, "archive: metrics", err, *wrong, values)
    with open(os.path.join(tap.SOURCE, "etc/grafana-spoor.json"), encoding="utf-8") as file:
        used = set(re.findall(r"spoor_(?!spool_)\w+", file.read()))  # those of spools: tests/sweep.t
    tap.equal(sorted(used - set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))), [], "archive: the dashboard asks for metrics that are there")
    tap.equal(spoor("report", "x.spoor", "--openmetrics", "-o", "-")[0], 2, "metrics are not of a trace")
    status, out, err = spoor("report", "--archive", root, "--mail", "hpc@example.org", "-o", "-")
    parts = {part.get_content_type(): part for part in email.message_from_bytes(out).walk()}
    plain, page = (parts[kind].get_payload(decode=True).decode() if kind in parts else "" for kind in ("text/plain", "text/html"))
    tap.ok(status == 0 and "6 jobs, 6.0 node hours" in plain and page.startswith("<!") and page.rstrip().endswith("</html>")
           and email.message_from_bytes(out)["To"] == "hpc@example.org" and max(map(len, out.splitlines())) <= 120, "archive: a mail", err, plain, page[-200:])
    tap.equal(spoor("report", "--archive", root, "--mail", "a@b\nBcc: c", "-o", "-")[0], 1, "archive: a mail has the headers that it should")
    if os.geteuid() == 0:
        own_pages(folder, root, view)
    recipe(root)
    nothing = os.path.join(folder, "nothing")
    os.mkdir(nothing, 0o755)
    status, _, err = spoor("report", "--archive", nothing, "-o", path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    tap.ok(status == 0 and "<table" not in text and "spoor doctor" in text, "archive: nothing in it: no empty tables, but what to do", err)
    status, _, err = spoor("report", "--archive", os.path.join(folder, "none"), "-o", os.path.join(folder, "never.html"))
    tap.ok(status == 1 and not os.path.exists(os.path.join(folder, "never.html")), "archive: that is not there", err)


def all_of(terminal):
    """What is in it, whose other end is closed; a read returns some of it."""
    text = b""
    try:
        while more := os.read(terminal, 65536):
            text += more
    except OSError:  # the end, as Linux has it
        pass
    os.close(terminal)
    return text


def widths():
    """The tables of spoor show in 80 columns."""
    near, far = os.openpty()
    subprocess.run([SPOOR, "show", os.path.join(GOLDEN, "1.0.spoor")], stdin=subprocess.DEVNULL, stdout=far, timeout=60, env=dict(os.environ, COLUMNS="80"))
    os.close(far)
    tables = all_of(near).decode().partition("FUNCTION")[2].splitlines()
    tap.ok(len(tables) > 20 and max(map(len, tables)) <= 80, "show: tables in 80 columns", *tables)


def colours(command):
    """As the environment says, and on terminals."""
    def coloured(terminal, **environment):
        near, far = os.openpty()
        run = subprocess.run([SPOOR, *command], stdin=subprocess.DEVNULL, stdout=far if terminal else subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60,
                             env=dict({k: v for k, v in os.environ.items() if k != "NO_COLOR"}, TERM="xterm", **environment))
        os.close(far)
        out = all_of(near)
        out = out if terminal else run.stdout
        return b"\033[3" in out
    tap.equal([coloured(True), coloured(True, NO_COLOR="1"), coloured(True, SPOOR_COLOR="never"), coloured(False), coloured(False, SPOOR_COLOR="always")],
              [True, False, False, False, True], f"{command[0]}: colours")


def own_pages(folder, root, view):
    """The app for Open OnDemand, called as a user: a list of the user's own jobs, and their pages."""
    home = os.path.join(folder, "home")
    os.mkdir(home, 0o700)
    os.chown(home, store.uid(1), store.uid(1))
    app = os.path.join(folder, "app")
    shutil.copytree(os.path.join(tap.SOURCE, "etc/ondemand"), app)
    code = """
import sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True
import passenger_wsgi
for name in ("", "/", "/4.0.0.html", "/../x.html", "/3.0.0.html"):
    said = []
    body = b"".join(passenger_wsgi.application({"PATH_INFO": name, "SCRIPT_NAME": "/pun"}, lambda *a: said.extend(a)))
    print(repr((said[0][:3], body.decode())))
"""

    def user():
        os.setgroups([])
        os.setgid(store.uid(1))
        os.setuid(store.uid(1))
    done = subprocess.run(["/usr/bin/python3", "-c", code, app], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, preexec_fn=user, timeout=120, cwd="/",
                          env={"HOME": home, "PATH": tap.BUILD + ":" + os.environ["PATH"], "SPOOR_ARCHIVE": root})
    answers = [eval(line) for line in done.stdout.splitlines()]
    if not tap.equal([status for status, _ in answers], ["301", "200", "200", "404", "404"], "own jobs: the app answers"):
        print("# " + done.stderr)
        return
    page = Page(answers[1][1])
    tap.equal((sorted(re.findall(r'<a href="([^"]*)"', answers[1][1])), page.open, page.wrong, "script" in page.tags), ([f"{n}.0.0.html" for n in (2, 4, 6)], [], [], False),
              "own jobs: a list of links, of nobody else")
    tap.ok("job 4" in answers[2][1] and not Page(answers[2][1]).wrong, "own jobs: a page")
    pages = os.path.join(home, ".cache/spoor/pages")
    tap.equal(os.stat(pages).st_mode & 0o777, 0o700, "own jobs: the pages are the user's alone")
    links(folder, root, pages)
    named_pages(folder)
    if view:
        view.size(1280, 900)
        view.open(os.path.join(pages, "index.html"))
        sizes = view.evaluate("[...document.querySelectorAll('.wide')].map(e => [e.scrollWidth, e.clientWidth])")
        tap.ok(sizes and all(whole <= seen for whole, seen in sizes), "own jobs: all columns of the list are seen", sizes)
    tap.equal(spoor("report", "--jobs", os.path.join(folder, "roots"), "--archive", root)[0], 1, "own jobs: not for root")


def links(folder, root, pages):
    """The page of an archive, beside pages of jobs, beside none, and for somebody else."""
    beside = os.path.join(folder, "beside")
    shutil.copytree(pages, beside)
    os.chmod(beside, 0o755)
    found = {}
    for where in ("beside/archive.html", "alone.html"):
        path = os.path.join(folder, where)
        if not tap.equal(spoor("report", "--archive", root, "-o", path)[0], 0, f"links: {where} is made"):
            return
        with open(path, encoding="utf-8") as file:
            text = file.read()
        page = Page(text)
        tap.ok(not page.open and not page.wrong, "links: tags are closed in order", page.open, page.wrong)
        found[where] = sorted(set(re.findall(r'<a href="([^"#]*)"', text)))
        if where[0] == "b":
            jobs = text[text.index('id="jobs"'):]
            tap.ok(re.search(r'<a href="4.0.0.html">4</a> <span class="dim">', jobs) and not re.search(r'<a [^>]*>3</a>', jobs), "links: of the jobs with a page", jobs[:2000])
    wanted = [f"{n}.0.0.html" for n in (2, 4, 6)]
    tap.equal((found["alone.html"], set(found["beside/archive.html"]) <= set(wanted), all(os.path.exists(os.path.join(beside, n)) for n in found["beside/archive.html"])),
              ([], True, True), "links: to pages that are there")
    tap.ok("4.0.0.html" in found["beside/archive.html"], "links: a job", found)


def named_pages(folder):
    """Jobs that the page of the archive names have a page, however old they are: of 120 jobs the large ones, which wait most."""
    if os.geteuid() != 0:
        return
    own = os.path.join(folder, "own")
    os.mkdir(own)
    os.chown(own, 61001, 61001)

    def user():
        os.setgroups([])
        os.setgid(61001)
        os.setuid(61001)

    def run(*command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=user, timeout=300, cwd="/",
                              env=dict(os.environ, HOME=own, SPOOR_ARCHIVE=os.path.join(own, "archive")))
        tap.equal(done.returncode, 0, f"named pages: {os.path.basename(command[0])} {command[1]}")
        tap.equal(done.stdout, b"", "named pages: nothing is said")
    pages = os.path.join(own, "pages")
    # not the one that runs this, which may be in a home
    run("/usr/bin/python3", os.path.join(tap.SOURCE, "tests/archive.py"), os.path.join(own, "archive"), "120")
    run(SPOOR, "report", "--jobs", pages)
    run(SPOOR, "report", "--archive", "-o", os.path.join(pages, "archive.html"))
    there = {int(name.split(".")[0]) for name in os.listdir(pages) if name[0].isdigit()}
    tap.equal(there, {7, 15, *range(21, 121)}, "named pages: those of the newest 100, and of the two older ones that wait most")
    with open(os.path.join(pages, "index.html"), encoding="utf-8") as file:
        listed = [int(job) for job in re.findall(r'<a href="(\d+)\.0\.0\.html">', file.read())]
    tap.equal(listed, sorted(there, reverse=True), "named pages: all are listed, the newest first")
    with open(os.path.join(pages, "archive.html"), encoding="utf-8") as file:
        text = file.read()
    for part, end in (("callsites", "<strong>MPI_"), ("jobs", '<th scope="row"')):
        section = text[text.index(f'<section aria-labelledby="{part}"'):]
        section = section[:section.index("</section>")]
        tap.equal((section.count("<a href="), section.count(end)), (15, 15), f"named pages: each of {part} is a link")


def recipe(root):
    """What the administrators' guide says about data frames."""
    with open(os.path.join(tap.SOURCE, "doc/admin-guide.md"), encoding="utf-8") as file:
        text = file.read()
    code = re.sub(r"^    ", "", text[text.index("    import json, sqlite3"):text.index("Where pandas and pyarrow")], flags=re.MULTILINE)
    before = {name: os.environ.get(name) for name in ("PATH", "SPOOR_ARCHIVE")}
    os.environ.update(PATH=tap.BUILD + ":" + os.environ["PATH"], SPOOR_ARCHIVE=root)
    names = {}
    try:
        exec(code, names)
        tap.equal((sorted(row["job"] for row in names["rows"]), sorted(job[0] for job in names["jobs"])), ([1, 2, 3, 4, 5, 6],) * 2, "the recipe for data frames")
        lines = re.findall(r"^    ((?:spoor|duckdb) .*(?:json|csv|parquet).*)$", text[text.index("**Data frames, Parquet.**"):text.index("    import json, sqlite3")], re.MULTILINE)
        tap.equal(len(lines), 4, "the recipe for Parquet has four lines")
        node = shutil.which("node") and subprocess.run(["node", "-e", "require('@duckdb/node-api')"], stderr=subprocess.DEVNULL).returncode == 0
        if node and not shutil.which("duckdb"):
            os.environ["PATH"] += ":" + os.path.join(tap.SOURCE, "tests")
        if not shutil.which("duckdb"):
            tap.skip("the recipe for Parquet", "needs DuckDB, which Debian does not have: the command, or @duckdb/node-api in NODE_PATH")
        else:
            with tempfile.TemporaryDirectory() as made:  # a damaged file of the archive makes the status of spoor list 1
                count = "duckdb -csv -noheader -c \"SELECT count(*), sum(job) FROM 'jobs.parquet'\""
                done = subprocess.run(["sh", "-c", "\n".join([*lines, count, count.replace("jobs", "users").replace(", sum(job)", "")])], cwd=made,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
                tap.ok(done.returncode == 0 and done.stdout.startswith("6,21\n"), "the recipe for Parquet", done.stdout, done.stderr)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def bad(folder):
    for name, content in (("empty", b""), ("other", b"<html>"), ("cut", open(os.path.join(GOLDEN, "1.0.spoor"), "rb").read()[:600])):
        path = os.path.join(folder, name + ".spoor")
        with open(path, "wb") as file:
            file.write(content)
        before = sorted(os.listdir(folder))
        status, _, err = spoor("report", path, "-o", os.path.join(folder, "never.html"))
        tap.ok(status == 1 and path in err, f"{name}: says what is wrong", err)
        tap.equal(sorted(os.listdir(folder)), before, f"{name}: nothing is left")
    status, _, err = spoor("report", os.path.join(GOLDEN, "1.0.spoor"), "-o", os.path.join(folder, "none/x.html"))
    tap.ok(status == 1 and "No such file" in err, "no folder for the page", err)
    tap.equal(spoor("report", os.path.join(GOLDEN, "1.0.spoor"))[0], 2, "no name for the page")


def threads(folder, view):
    """Threads go by their names, and are counted where means are taken over them."""
    trace = os.path.join(folder, "crew.spoor")
    done = launch.mpirun(2, [os.path.join(tap.BUILD, "tests/programs/crew"), "20"], before=[SPOOR, "run", "-o", trace, "--"])
    if not tap.ok(os.path.exists(trace), "crew: a trace of it", done.stderr.decode(errors="replace")):
        return
    text = report("crew", trace, folder, view)
    tap.ok(not re.search(r"\brank (<strong>)?([2-9]|\d\d)\b(?!\.)", text, re.IGNORECASE) and re.search(r">[01]\.[1-4]<", text), "crew: threads by their names",
           re.findall(r"rank (?:<strong>)?[2-9].{20}", text)[:5])
    tap.ok("save up to -" not in text, "crew: nothing negative is saved")


def run(folder, view):
    findings()
    threads(folder, view)
    for name, ranks, arguments, fails in (("halo", 4, [], False), ("farm", 3, [], False), ("ends", 3, ["abort"], True)):
        trace = os.path.join(folder, name + ".spoor")
        done = launch.mpirun(ranks, [os.path.join(tap.BUILD, "tests/programs", name), *arguments], before=[SPOOR, "run", "-o", trace, "--"])
        if not tap.ok(os.path.exists(trace) and fails == (done.returncode != 0), f"{name}: a trace of it", done.stderr.decode(errors="replace")):
            continue
        text = report(name, trace, folder, view)
        tap.equal("Where every rank was at the end" in text, fails, f"{name}: the ending")
    for name in sorted(n for n in os.listdir(GOLDEN) if n.endswith(".spoor")):
        report(name, os.path.join(GOLDEN, name), folder, view)
    hostile(folder, view)
    comparison(folder, view)
    archive(folder, view)
    bad(folder)
    widths()


def main():
    folder = tempfile.mkdtemp(prefix="report-t-")
    try:
        if browser.find():
            with browser.Browser(folder) as view:
                run(folder, view)
        else:
            tap.skip("pages in a browser", "no Chromium is installed")
            run(folder, None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
