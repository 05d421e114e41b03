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
shutil.copy(os.path.join(GOLDEN, "1.0-full.spoor"), os.path.join(work, "halo.spoor"))
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
    full = spoor.open("halo.spoor")
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
    for i, ax in enumerate([plot.matrix(t), plot.histogram(t, site), plot.imbalance(t), plot.timeline(t), plot.scaling(jobs)]):
        assert ax.get_title() and ax.get_xlabel() and ax.get_ylabel()
        ax.figure.savefig(f"cache/{i}.png")""")

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
                read += 1
            except (spoor.Error, ValueError):
                refused += 1
    assert refused > 0, (read, refused)""", GOLDEN)
shutil.rmtree(work)
tap.done()
