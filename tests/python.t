#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# python - the package spoor: says what the commands say, its examples run, and nothing crashes the interpreter
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402

PYTHON = "/usr/bin/python3"  # that has Debian's numpy
LIBRARY = os.path.join(os.path.abspath(tap.BUILD), ".libs", "libspoor.so.1")
SPOOR = os.path.join(os.path.abspath(tap.BUILD), "spoor")
work = tempfile.mkdtemp(prefix="python.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o755)
# for a user who cannot enter the source tree
GOLDEN, PACKAGE = os.path.join(work, "golden"), os.path.join(work, "package")
shutil.copytree(os.path.join(tap.SOURCE, "tests", "golden"), GOLDEN)
shutil.copytree(os.path.join(tap.SOURCE, "python"), PACKAGE)
shutil.copy(os.path.join(tap.SOURCE, "tests", "archive.py"), work)
USER = 61000 if os.geteuid() == 0 else None  # root opens no archive


def python(program, *arguments, **more):
    """Runs a program as a user, with the package of the source tree."""
    environment = dict(os.environ, PYTHONPATH=PACKAGE, SPOOR_LIBRARY=LIBRARY, SPOOR_COMMAND=SPOOR, MPLBACKEND="Agg",
                       HOME=work, XDG_CACHE_HOME=os.path.join(work, "cache"), MPLCONFIGDIR=os.path.join(work, "cache"), PYTHONDONTWRITEBYTECODE="1")
    environment.update(more.pop("env", {}))
    user = dict(user=USER, group=USER, extra_groups=[]) if USER else {}
    return subprocess.run([PYTHON, *(("-c", program) if program else ()), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=work, env=environment, check=False, timeout=300, **user, **more)


def runs(title, program, *arguments, **more):
    done = python(program, *arguments, **more)
    tap.ok(done.returncode == 0, title, done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout


def spoor(*arguments):
    return json.loads(subprocess.run([SPOOR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout)


if python("import numpy, pandas, scipy.sparse, matplotlib").returncode:
    tap.skip_all("needs numpy, pandas, scipy and matplotlib for /usr/bin/python3")
for folder in ("archive", "cache"):
    os.mkdir(os.path.join(work, folder))
    if USER:
        os.chown(os.path.join(work, folder), USER, USER)
done = launch.mpirun(4, [os.path.join(tap.BUILD, "tests/programs/halo")], before=[SPOOR, "run", "--timing", "full", "-o", os.path.join(work, "halo.spoor"), "--"])
if not tap.ok(os.path.exists(os.path.join(work, "halo.spoor")), "a trace of halo", done.stderr.decode(errors="replace")):
    tap.done()
    sys.exit()
os.chmod(os.path.join(work, "halo.spoor"), 0o644)
if USER:  # not before: root writes no trace into another user's folder
    os.chown(work, USER, USER)
shutil.copy(os.path.join(GOLDEN, "1.0-full.spoor"), os.path.join(work, "crew.spoor"))
runs("an archive of 200 jobs", None, "archive.py", os.path.join(work, "archive"), "200")

# --- the same numbers as elsewhere ---

for name in ("1.0", "1.0-full", "1.0-arrays", "1.0-counters", "1.0-lossy", "1.0-part", "1.0-arm64"):
    path = os.path.join(GOLDEN, name + ".spoor")
    said = json.loads(runs(f"{name}: read", """if True:
        import json, sys, spoor
        with spoor.open(sys.argv[1]) as t:
            sites, matrix = t.sites(), t.matrix(sparse=False)
            streams = [(r, h) for r in range(t.ranks) for h in range(t.threads) if t.event_count(r, h)]
            print(json.dumps({"ranks": t.ranks, "figures": t.figures, "calls": int(sites["calls"].sum()), "ns": int(sites["ns"].sum()),
                "site_bytes": int(sites["bytes"].sum()), "messages": int(t.matrix("messages").sum()), "bytes": int(matrix.sum()),
                "events": [t.event_count(*s) for s in streams], "walked": [len(t.events(s[0], thread=s[1])["site"]) for s in streams],
                "sends": [int(t.acts(*s)["act"].isin(["send", "send begin"]).sum()) for s in streams]}))""", path) or "{}")
    if not said:
        continue
    shown = spoor("show", "--json", "--sites", path)
    cells = spoor("show", "--json", "--matrix", path)["matrix"]
    summary = spoor("show", "--json", path)
    tap.equal(said["figures"]["mpi_ns"], summary["mpi_ns"], f"{name}: time in MPI")
    tap.equal(said["figures"]["compute_ns"], summary["compute_ns"], f"{name}: computation")
    tap.equal(said["calls"], sum(site["calls"] for site in shown["sites"]), f"{name}: calls as spoor show has them")
    tap.equal(said["site_bytes"], sum(site["bytes"] for site in shown["sites"]), f"{name}: bytes of sites")
    tap.equal((said["messages"], said["bytes"]), (sum(c[2] for c in cells), sum(c[3] for c in cells)), f"{name}: the matrix")
    tap.equal(said["figures"]["events"], sum(said["events"]), f"{name}: events")
    lossy = name == "1.0-lossy"
    tap.ok(lossy or said["walked"] == said["events"], f"{name}: all events are read", said["walked"], said["events"])
    tap.ok(lossy or sum(said["sends"]) >= said["messages"], f"{name}: what was sent is in the acts", said["sends"], said["messages"])

dumped = [line.split(" ", 2) for line in
          subprocess.run([SPOOR, "dump", "--rank", "1", os.path.join(GOLDEN, "1.0.spoor")], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
read = json.loads(runs("events with arguments", """if True:
    import json, sys, spoor
    t = spoor.open(sys.argv[1])
    e = t.events(1, ["count", "tag", "dest", "source"])
    def word(v): return None if v in (spoor.ABSENT, spoor.UNKNOWN) else t.name(int(v)) or int(v)
    pieces = [int(s) for b in t.blocks(1, size=7) for s in b["site"]]
    assert pieces == e["site"].tolist()
    part = t.events(1, ["tag"], start=5, count=9)
    assert part["tag"].tolist() == e["tag"][5:14].tolist() and len(t.events(1, start=10**9)["site"]) == 0
    full = spoor.open("crew.spoor")
    e2 = full.events(0, times=True)
    assert (e2["begin"] <= e2["end"]).all() and e2["begin"][0] == 0
    assert full.events(0, start=5, count=6, times=True)["end"].tolist() == e2["end"][5:11].tolist()
    print(json.dumps([[t.function(int(s))] + [word(int(e[c][i])) for c in ("count", "tag", "dest", "source")] for i, s in enumerate(e["site"])]))""",
                       os.path.join(GOLDEN, "1.0.spoor")) or "[]")
wrong = []
for event, line in zip(read, dumped):
    text = " " + (line[2] if len(line) > 2 else "")
    values = [re.search(rf" {name}=(\S+)", text) for name in ("count", "tag", "dest", "source")]
    values = [None if v is None or v[1] == "-" else v[1] for v in values]
    if event[0] != line[1] or [None if v is None else str(v) for v in event[1:]] != values:
        wrong.append((event, line))
tap.ok(len(read) == len(dumped) > 0 and not wrong, "each argument as spoor dump has it", *wrong[:5])

# --- why, and comparisons: as the commands have them ---

said = json.loads(runs("why", """if True:
    import json, spoor
    t, other = spoor.open("halo.spoor"), spoor.open("crew.spoor")
    why, path, pairs = t.why(), t.critical_path(), t.waits_for()
    rows = lambda table: json.loads(table.to_json(orient="records", double_precision=15))
    print(json.dumps({"why": {k: v for k, v in why.items() if k != "causes"}, "causes": rows(t.causes()), "waits": rows(t.waits()), "what_if": rows(t.what_if()),
        "path": int(path["ns"].sum()), "whole": bool((path["begin_ns"] + path["ns"]).iloc[:-1].tolist() == path["begin_ns"].iloc[1:].tolist()),
        "pairs": int(pairs["ns"].sum()), "selves": int((pairs["waiter"] == pairs["late"]).sum()), "compare": rows(t.compare(other)),
        "same": rows(t.compare(t)), "reasons": rows(t.compare_causes(other)), "exact": rows(other.waits())}))""") or "{}")
step = spoor("why", "--json", "--least", "0", os.path.join(work, "halo.spoor"))["steps"][0]
tap.equal([(c["lost_ns"], round(c["share"], 9)) for c in step["findings"] if "lost_ns" in c], [(int(c["ns"]), round(c["share"], 9)) for c in said["causes"]],
          "causes: as spoor why has them")
tap.equal({k: v for k, v in step["split"].items() if k in said["why"]["split"]}, said["why"]["split"], "where the time went, too")
tap.equal((said["path"], said["whole"], step["split"]["ideal_ns"]), (int(said["why"]["ideal_ns"]), True, said["why"]["ideal_ns"]), "the critical path is as long as the ideal run, without holes")
tap.ok(said["pairs"] > 0 and said["selves"] == 0, "ranks wait for others", said["pairs"])
for name, file in (("waits", "halo"), ("exact", "crew")):
    shown = spoor("show", "--json", "--waits", os.path.join(work, file + ".spoor"))["waits"]
    keys = ("site", "late_sender_ns", "late_receiver_ns", "collective_ns", "unended_ns")
    tap.equal(sorted([w[k] for k in keys] for w in shown["sites"]), [[w[k] for k in keys] for w in said[name]], f"{file}: waits as spoor show has them")
told = spoor("what-if", "--json", os.path.join(work, "halo.spoor"))["what_if"]
tap.equal([(w["change"], w["run_ns"], round(w["saved"], 9), w.get("place", "") != "") for w in told],
          [(w["change"], w["run_ns"], round(w["saved"], 9), w["place"] != "") for w in said["what_if"]], "what if: as spoor what-if has it")
diff = spoor("diff", "--json", "--all", "--top", "0", os.path.join(work, "halo.spoor"), os.path.join(work, "crew.spoor"))
tap.equal([(s["function"], s["match"], *(s[x] and s[x]["time_ns"] for x in "ab")) for s in diff["sites"]],
          [(s["function"], s["match"], *(s["ns_" + x] if s["site_" + x] >= 0 else None for x in "ab")) for s in said["compare"]], "comparison: as spoor diff has it")
tap.equal([(r["cause"], r["ns"]) for r in diff["causes"]["reasons"]], [(r["cause"], int(r["change_ns"])) for r in said["reasons"]], "and why")
tap.ok(all(s["differs"] == "" and s["change_ns"] == 0 for s in said["same"]), "nothing differs from itself")
trend = json.loads(runs("trend", """if True:
    import json, spoor
    print(spoor.Archive("archive").trend(since=1).to_json(orient="records", double_precision=15))""") or "[]")
user = dict(user=USER, group=USER, extra_groups=[]) if USER else {}
done = subprocess.run([SPOOR, "trend", "--json", "--top", "0", "--since", "2000-01-01", "--archive", os.path.join(work, "archive")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                      env=dict(os.environ, HOME=work, XDG_CACHE_HOME=os.path.join(work, "cache")), **user)
tap.equal([(a["application"], a["ranks"], a["runs"], a["median_s"]) for a in json.loads(done.stdout or "{}").get("applications", [])],
          [(a["application"], a["ranks"], a["runs"], a["median_s"]) for a in trend], f"trend: as spoor trend has it {done.stderr}")

# --- the documentation ---

with open(os.path.join(tap.SOURCE, "doc", "python.md"), encoding="utf-8") as file:
    page = file.read()
for title, body in re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", page, re.MULTILINE):
    blocks = re.findall(r"((?:^    .*\n|^\n(?=    ))+)", body, re.MULTILINE)
    program = "\n".join(line[4:] for block in blocks for line in block.splitlines())
    if not program:
        continue
    tap.ok(len([line for line in program.splitlines() if line]) <= 10, f"{title}: ten lines")
    out = runs(title, "import spoor\n" + program, env={"SPOOR_ARCHIVE": os.path.join(work, "archive")})
    tap.ok(out.strip(), f"{title}: says something")
done = python("import doctest, spoor, spoor.plot; sys = __import__('sys'); sys.exit(doctest.testmod(spoor).failed)")
tap.ok(done.returncode == 0, "doctests", done.stdout, done.stderr)
undocumented = runs("help", """if True:
    import inspect, spoor, spoor.plot
    for what in (spoor.Trace, spoor.Archive, spoor.plot):
        for name, item in inspect.getmembers(what):
            item = item.fget if isinstance(item, property) else item
            if not name.startswith("_") and inspect.isfunction(item) and item.__module__.startswith("spoor"):
                missing = [p for p in inspect.signature(item).parameters.values() if p.annotation is p.empty and p.name != "self"]
                if not item.__doc__ or missing or inspect.signature(item).return_annotation is inspect.Signature.empty:
                    print(name, missing)""")
tap.equal(undocumented, "", "each function has a docstring and types")

# --- notebooks ---

NOTEBOOK = """if True:
    import json, sys
    import matplotlib.pyplot
    cells = [c for c in json.load(open(sys.argv[1]))["cells"] if c["cell_type"] == "code"]
    assert len(cells) > 2 and not any(c["outputs"] for c in cells)
    names = {}
    for number, cell in enumerate(cells):
        *first, last = "".join(cell["source"]).split("\\n")
        try:
            exec("\\n".join(first), names)
            shown = eval(last, names)
        except Exception as e:
            sys.exit(f"cell {number}: {type(e).__name__}: {e}")
        assert shown is not None and len(str(shown)) > 10, (number, shown)
    for i in matplotlib.pyplot.get_fignums():
        matplotlib.pyplot.figure(i).savefig(f"cache/{sys.argv[2]}{i}.png")
    print(len(matplotlib.pyplot.get_fignums()))"""
shutil.copytree(os.path.join(tap.SOURCE, "examples"), os.path.join(work, "examples"))
for name, pictures in (("job", 3), ("year", 1), ("versions", 1), ("scaling", 2)):
    out = runs(f"notebook {name}", NOTEBOOK, f"examples/{name}.ipynb", name, env={"SPOOR_ARCHIVE": os.path.join(work, "archive")})
    tap.equal(out.strip().splitlines()[-1:], [str(pictures)], f"notebook {name}: pictures")

# --- pictures ---

runs("pictures", """if True:
    import spoor, spoor.plot as plot
    t = spoor.open("halo.spoor")
    jobs = spoor.Archive("archive").jobs()
    site = int(t.sites().nlargest(1, "ns")["site"].iloc[0])
    for i, ax in enumerate([plot.matrix(t), plot.histogram(t, site), plot.imbalance(t), plot.steps(t), plot.timeline(t), plot.scaling(jobs)]):
        assert ax.get_title() and ax.get_xlabel() and ax.get_ylabel()
        ax.figure.savefig(f"cache/{i}.png")""")

# --- for Extra-P ---

lines = runs("Extra-P", """if True:
    import spoor
    n = spoor.to_extrap(["halo.spoor", "halo.spoor"], "cache/text")
    lines = open("cache/text").read().split("\\n")
    data = [l.split() for l in lines if l.startswith("DATA ")]
    assert n > 10 and lines[:2] == ["PARAMETER p", "POINTS (4)"] and len(data) == 2 * n == sum(l.startswith("REGION ") for l in lines), (n, lines[:9])
    assert all(len(d) == 3 and d[1] == d[2] for d in data)""")

# --- without the optional packages ---

runs("without pandas", """if True:
    import sys
    sys.modules["pandas"] = sys.modules["scipy"] = sys.modules["matplotlib"] = None
    import spoor
    t = spoor.open("halo.spoor")
    assert t.sites()["calls"].sum() > 0 and t.matrix(sparse=False).sum() > 0""")

# --- installed ---

made = subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", os.path.join(work, "venv")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      check=False)
if made.returncode:
    tap.skip("pip", "needs python3-venv")
else:
    there = os.path.join(work, "venv", "bin", "python")
    done = subprocess.run([there, "-m", "pip", "install", "--no-index", PACKAGE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    tap.ok(done.returncode == 0, "pip install, without a network", done.stdout)
    done = subprocess.run([there, "-c", "import spoor; assert spoor.__version__ == spoor.library_version()"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, SPOOR_LIBRARY=LIBRARY), cwd="/", check=False)
    tap.ok(done.returncode == 0, "import", done.stdout)

# --- what is wrong ---

for title, program, expected in (
        ("no file", "spoor.open('none.spoor')", "none.spoor"),
        ("no trace", "open('cache/bad', 'w').write('nothing'); spoor.open('cache/bad')", "bad"),
        ("bytes that are no trace", "spoor.open(b'SPOOR' * 100)", "trace"),
        ("no such rank", "spoor.open('halo.spoor').events(99)", "99"),
        ("a negative rank", "spoor.open('halo.spoor').acts(-1)", "-1"),
        ("no such site", "spoor.open('halo.spoor').histogram(10**9)", "site"),
        ("a closed trace", "t = spoor.open('halo.spoor'); t.close(); t.sites()", "closed"),
        ("sums by nothing", "spoor.Archive('archive').aggregate('frog')", "frog"),
        ("no such state", "spoor.Archive('archive').jobs(state='FROG')", "FROG"),
        ("no archive", "spoor.Archive('cache/none').jobs()", "none")):
    done = python("import spoor\n" + program)
    last = (done.stderr.strip().splitlines() or [""])[-1]
    tap.ok(done.returncode == 1 and last.startswith("spoor._library.Error: ") and expected in last, f"{title}: an exception that says so", done.returncode, last)

runs("damaged traces raise, or are read, and never crash", """if True:
    import os, random, sys, spoor
    draw = random.Random(7)
    folder = sys.argv[1]
    read = refused = 0
    whole_one = spoor.open(os.path.join(folder, "1.0.spoor"))
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".spoor"):
            continue
        with open(os.path.join(folder, name), "rb") as f:
            whole = f.read()
        for turn in range(30):
            bad = bytearray(whole)
            for _ in range(draw.randrange(1, 4)):
                bad[draw.randrange(len(bad))] = draw.randrange(256)
            if turn % 5 == 0:
                del bad[draw.randrange(len(bad)):]
            try:
                t = spoor.open(bytes(bad))
                t.sites(), t.figures, t.matrix(), t.acts(0), t.events(0, ["count", "tag"]), t.totals(), t.meta
                if turn % 6 == 1:
                    t.why(), t.waits(), t.what_if(), t.compare(whole_one), whole_one.compare_causes(t), t.waits_for(), t.critical_path()
                read += 1
            except (spoor.Error, ValueError):
                refused += 1
    assert refused > 0, (read, refused)""", GOLDEN)
shutil.rmtree(work)
tap.done()
