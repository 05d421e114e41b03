#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# aggregate - what an archive says as a whole: against the rule by which its traces were made, and against what `spoor show` says of real ones
import collections
import contextlib
import csv
import io
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import launch as launcher  # noqa: E402
import tap  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
work = tempfile.mkdtemp(prefix="aggregate.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o711)
os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
NOW, HOUR = int(time.time()), 3.6e12
COUNT, DAYS = 500, 70


def spoor(*arguments, before=(), **more):
    return subprocess.run([*before, SPOOR, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=200, **more)


def aggregate(folder, *arguments, **more):
    run = spoor("aggregate", "--archive", folder, "--json", *arguments, **more)
    try:
        return json.loads(run.stdout)
    except ValueError:
        tap.ok(False, "aggregate " + " ".join(arguments), run.stdout[:500], run.stderr[:500])
        return {"total": {}, "groups": [], "sites": [], "skipped": []}


def close(a, b):
    if a is None or b is None or isinstance(a, (str, dict, list)):
        return a == b
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b))


def same(got, wanted, title):
    """Everything that is wanted is in got."""
    wrong = [f"{key}: {k}: {got.get(key, {}).get(k)} is not {v}" for key, values in wanted.items() for k, v in values.items()
             if not close(got.get(key, {}).get(k), v)]
    tap.ok(not wrong and set(got) == set(wanted), title, *wrong[:8], f"keys: {sorted(set(got) ^ set(wanted))[:8]}")


# What it must say, by the rule.
small = os.path.join(work, "small")
os.mkdir(small, 0o755)
archive.fill(small, COUNT, DAYS, 1, NOW)
START = {j: NOW - 86400 * DAYS + (j - 1) * (86400 * DAYS // COUNT) for j in range(1, COUNT + 1)}


def had(j):
    """The time that the ranks of a job had: as long as it ran, or what is known of them if that is more."""
    t = archive.totals(j)
    return max(archive.ranks(j) * (j % 5000) * 10**9, t["compute"] + t["overhead"] + sum(ns for _, ns, _ in t["functions"].values()))


def expect(jobs, share=1):
    """The numbers of a group of jobs; share: a part of each, rounded down."""
    s, reasons, sizes = collections.Counter(), collections.Counter(), collections.Counter()
    for j in jobs:
        t, nodes, ranks = archive.totals(j), 1 << j % 8, archive.ranks(j)
        part = nodes if share == "node" else 1
        mpi = sum(ns for name, (_, ns, _) in t["functions"].items() if name != "MPI_Init")
        add = {"node": had(j) * nodes // ranks, "mpi": mpi, "compute": t["compute"], "over": t["overhead"], "messages": t["messages"],
               "bytes": t["bytes"], "small": t["messages"] if archive.size(j) < 1024 else 0, "cpeak": t["compute_peak"], "rpeak": t["run_peak"],
               "nmpi": mpi * nodes // ranks, "nwait": t["wait"] * nodes // ranks, "nover": t["overhead"] * nodes // ranks, "ninit": t["functions"]["MPI_Init"][1] * nodes // ranks,
               "nidle": (t["compute_peak"] - t["compute"]) * nodes // ranks, "events": t["events"]}
        s.update({k: v // part for k, v in add.items()})
        s["traces"] += 1
        sizes[1 << archive.size(j).bit_length() - 1] += t["messages"]
        if j % 100 == 0:
            s["partial"] += 1
            reasons[archive.metadata(j, 0)["reason"]] += 1
    out = {"traces": s["traces"], "jobs": s["traces"], "node_hours": s["node"] / HOUR, "mpi_share": s["nmpi"] / s["node"], "unended_node_hours": 0,
           "mpi_node_hours": s["nmpi"] / HOUR, "init_node_hours": s["ninit"] / HOUR, "wait_node_hours": s["nwait"] / HOUR, "idle_node_hours": s["nidle"] / HOUR,
           "load_balance": s["compute"] / s["cpeak"], "communication_efficiency": s["cpeak"] / s["rpeak"],
           "parallel_efficiency": s["compute"] / s["rpeak"], "messages": s["messages"], "bytes": s["bytes"],
           "message_size": s["bytes"] / s["messages"], "small_messages": s["small"], "small_share": s["small"] / s["messages"],
           "overhead_node_hours": s["nover"] / HOUR, "overhead_share": s["nover"] / s["node"], "partial": s["partial"],
           "one_sided_bytes": 0, "read_bytes": 0, "written_bytes": 0, "counted_share": 0, "unplaced_share": 0,
           "events": s["events"], "degraded": 0, "unsized": 0, "events_lost": 0, "partial_reasons": dict(reasons)}
    if share == 1:
        out["sizes"] = [{"from": k, "to": 2 * k - 1, "messages": v} for k, v in sorted(sizes.items())]
    return out


def groups(jobs, *keys):
    found = collections.defaultdict(list)
    for j in jobs:
        for key in keys[0](j):
            found[key].append(j)
    return found


KEYS = {
    "user": lambda j: [archive.user(j)],
    "account": lambda j: [f"a{j % 7}"],
    "partition": lambda j: [("short", "long", "debug")[j % 3]],
    "executable": lambda j: [f"app{j % 11}"],
    "application": lambda j: [f"app{j % 11}"],
    "job": lambda j: [str(j)],
    "node": lambda j: [f"n{(j + i) % 1000}" for i in range(1 << j % 8)],
    "month": lambda j: [time.strftime("%Y-%m", time.localtime(START[j]))],
}
every = range(1, COUNT + 1)
for by, key in KEYS.items():
    answer = aggregate(small, "--by", by)
    wanted = {k: expect(jobs, {"node": "node", "job": 0}.get(by, 1)) for k, jobs in groups(every, key).items()}
    same({g[by]: g for g in answer["groups"]}, wanted, f"--by {by}: {len(wanted)} groups")
    if by == "user":
        same({"": answer["total"]}, {"": expect(every)}, "the total")
answer = aggregate(small, "--by", "executable", "--user", archive.user(1)[:-1] + "[1-3]", "--nodes", "2-8", "--since", "30d", "--exe", "app*")
jobs = [j for j in every if (j % 50 in (1, 2, 3) or archive.USERS == 1) and 2 <= 1 << j % 8 <= 8 and START[j] >= NOW - 30 * 86400]
same({g["executable"]: g for g in answer["groups"]}, {k: expect(v) for k, v in groups(jobs, KEYS["executable"]).items()}, "filters, as of spoor list")


def expect_calls(jobs, wanted, everything):
    s = collections.Counter()
    for j in jobs:
        t, nodes, ranks = archive.totals(j), 1 << j % 8, archive.ranks(j)
        calls, ns, passed = t["functions"][wanted]
        wait = t["wait"] if wanted == "MPI_Allreduce" else 0
        s.update(calls=calls, ns=ns, passed=passed, node=ns * nodes // ranks, wait=wait * nodes // ranks, traces=1,
                 peak=ranks * (archive.REDUCE_NS + archive.work(j)) if wanted == "MPI_Allreduce" else ns)
    return {"traces": s["traces"], "jobs": s["traces"], "calls": s["calls"], "time_s": s["ns"] * 1e-9, "node_hours": s["node"] / HOUR,
            "wait_node_hours": s["wait"] / HOUR, "unended_node_hours": 0, "passed_bytes": s["passed"], "imbalance": s["peak"] / s["ns"],
            "share": s["node"] / everything}


FUNCTIONS = ["MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Finalize"]
all_ns = sum(had(j) * (1 << j % 8) // archive.ranks(j) for j in every)
answer = aggregate(small, "--by", "function")
same({g["function"]: g for g in answer["groups"]}, {f: expect_calls(every, f, all_ns) for f in FUNCTIONS}, "--by function")
answer = aggregate(small, "--by", "site")
wanted = {(f, f"app{a}"): expect_calls([j for j in every if j % 11 == a], f, all_ns) for f in FUNCTIONS[1:] for a in range(11)}
same({(g["function"], g["executable"]): g for g in answer["groups"]}, wanted, "--by site")

# Other programs read the functions and call sites as doc/index.md says: this executes what is written there.
with open(os.path.join(tap.SOURCE, "doc", "index.md")) as page:
    reader = page.read().split("This reads them:\n")[1].split("\n## ")[0]
exec(textwrap.dedent(reader), said := {})
with contextlib.closing(sqlite3.connect(spoor("index", "--path", "--archive", small).stdout.strip())) as database:
    named = dict(database.execute("SELECT id, text FROM text"))
    places = dict(database.execute("SELECT place, function FROM place"))
    odd, least = [], 10**9
    for j, packed in database.execute("SELECT job, packed FROM calls JOIN trace USING (id)"):
        got = {named[f]: (calls, ns, passed) for f, _, _, calls, ns, _, passed, _, _ in said["calls"](packed)}
        waited = sum(part[7] for part in said["calls"](packed))
        kept = sorted(places[part[1]] for part in said["calls"](packed) if part[1])
        if got != archive.totals(j)["functions"] or waited != archive.totals(j)["wait"] or kept != sorted(FUNCTIONS[1:]):
            odd.append(f"{j}: {got} {waited} {kept}")
        least = min(least, j)
tap.ok(not odd and least == 1, "the reader of doc/index.md finds the same", *odd[:3])
tap.ok(any(g["frames"] == "app3+0x1040 < app3+0x1000" for g in answer["groups"]), "a site's frames", answer["groups"][:2])
answer = aggregate(small)
tap.ok(answer["by"] == "all" and len(answer["sites"]) == 44, "all together, with the call sites", str(answer)[:500])
same({"": answer["total"]}, {"": expect(every)}, "all together: the total")

# Order.
by_wait = sorted(every, key=lambda j: (-(archive.totals(j)["wait"] * (1 << j % 8) // archive.ranks(j)), j))
answer = aggregate(small, "--by", "job", "--sort", "wait", "--top", "7")
tap.equal([int(g["job"]) for g in answer["groups"]], by_wait[:7], "--sort wait --top 7")
tap.equal(answer["groups_all"], COUNT, "and how many there are")
answer = aggregate(small, "--by", "job", "--sort", "key", "--top", "3", "--reverse")
tap.equal([g["job"] for g in answer["groups"]], ["500", "499", "498"], "--sort key --reverse")
months = [g["month"] for g in aggregate(small, "--by", "month")["groups"]]
tap.equal(months, sorted(months), "months one after the other")
rows = list(csv.DictReader(io.StringIO(spoor("aggregate", "--archive", small, "--by", "user", "--csv").stdout)))
jsons = aggregate(small, "--by", "user")["groups"]
tap.ok(len(rows) == archive.USERS and all(close(float(row[k]), float(group[k])) for row, group in zip(rows, jsons) for k in row if k != "user"), "--csv says the same",
       rows[:1], jsons[:1])
for arguments, last in ((("--by", "job", "--sort", "overhead"), "TRACER-H"), (("--by", "site"), "AT"), ((), None)):
    near, far = os.openpty()
    subprocess.run([SPOOR, "aggregate", "--archive", small, "--top", "3", *arguments], stdin=subprocess.DEVNULL, stdout=far, timeout=60, env=dict(os.environ, COLUMNS="80"))
    os.close(far)
    text = os.read(near, 65536).decode()
    os.close(near)
    wide = [line for line in text.splitlines() if len(line) > 80]
    tap.ok(not wide and (last is None or text.split("\n")[0].split()[-1] == last), f"80 columns: {' '.join(arguments)}", *wide, text[:300])
table = spoor("aggregate", "--archive", small, "--by", "executable", "--sort", "small")
lines = table.stdout.splitlines()
tap.ok(table.returncode == 0 and not table.stderr and len(lines) == 12 and lines[0].split()[0] == "EXECUTABLE" and lines[0].split()[-1] == "SMALL" and
       len({len(line) for line in lines}) == 1, "the table has the column that it is sorted by", table.stdout, table.stderr)
table = spoor("aggregate", "--archive", small)
tap.ok(table.stdout.startswith("Traces       500 of 500 jobs,") and "MPI_Allreduce" in table.stdout and "Partial      5: " in table.stdout, "the summary",
       table.stdout)
for arguments in (("--by", "colour"), ("--by", "user", "--sort", "colour"), ("--by", "user", "--sort", "calls"), ("--by", "function", "--sort", "mpi"),
                  ("--sort", "wait"), ("--csv",), ("--by", "user", "--top", "x"), ("--ranks", "many"), ("--by", "user", "--csv", "--json")):
    run = spoor("aggregate", "--archive", small, *arguments)
    tap.ok(run.returncode == 2 and "spoor aggregate --help" in run.stderr and not run.stdout, "refused: " + " ".join(arguments), run.stderr)
run = spoor("aggregate", "--archive", work + "/nowhere")
tap.ok(run.returncode == 1 and "cannot be read" in run.stderr, "no archive", run.stderr)

# As one of several tasks: the first one does it.
for rank, printed in (("0", 1), ("3", 0)):
    run = spoor("aggregate", "--archive", small, env=dict(os.environ, SLURM_STEP_NUM_TASKS="4", SLURM_PROCID=rank))
    tap.ok(run.returncode == 0 and run.stdout.count("Node hours") == printed and not run.stderr, f"task {rank} of four", run.stdout, run.stderr)

# Traces that cannot be read: counted, told, and the others still there.
bad = os.path.join(work, "bad")
os.mkdir(bad, 0o755)
archive.fill(bad, 10, 5, 1, NOW)
paths = {int(name.split(".")[0]): os.path.join(folder, name) for folder, _, names in os.walk(bad) for name in names if name.endswith(".spoor")}
with open(paths[3], "r+b") as file:  # the metadata are good
    file.seek(-100, 2)
    file.write(b"\xff" * 50)
with open(paths[4], "r+b") as file:
    head = bytearray(file.read(32))
    struct.pack_into("<H", head, 8, 2)
    struct.pack_into("<I", head, 28, zlib.crc32(bytes(head[:28])))
    file.seek(0)
    file.write(head)
with open(paths[5], "r+b") as file:
    file.truncate(700)
with open(paths[7], "r+b") as file:  # of a later version that older readers would misread
    head = bytearray(file.read(32))
    struct.pack_into("<I", head, 16, 1 << 30)
    struct.pack_into("<I", head, 28, zlib.crc32(bytes(head[:28])))
    file.seek(0)
    file.write(head)
with open(paths[8], "r+b") as file:  # written by a machine that has the other byte order: no such file is ours
    head = bytearray(file.read(32))
    struct.pack_into(">HHIII", head, 8, *struct.unpack_from("<HHIII", head, 8))
    struct.pack_into(">I", head, 28, zlib.crc32(bytes(head[:28])))
    file.seek(0)
    file.write(head)
with open(os.path.join(os.path.dirname(paths[6]), ".11.0.0.spoor.77.tmp"), "wb") as file:
    file.write(b"being written")
run = spoor("aggregate", "--archive", bad, "--json")
answer = json.loads(run.stdout)
tap.equal((answer["total"]["traces"], len(answer["skipped"]), run.returncode), (5, 5, 1), "five of ten cannot be read")
tap.ok(all(any(f"{j}.0.0.spoor: " in text for text in answer["skipped"]) for j in (3, 4, 5, 7, 8)) and "5 files are damaged" in run.stderr and
       any("version 2" in text for text in answer["skipped"]), "and it says which, and why", answer["skipped"], run.stderr)
same({"": answer["total"]}, {"": expect([j for j in range(1, 11) if j not in (3, 4, 5, 7, 8)])}, "the others count")
os.unlink(paths[3])
tap.equal(aggregate(bad)["total"]["traces"], 5, "one that was removed")
os.unlink(paths[2])
tap.equal(aggregate(bad)["total"]["traces"], 4, "another one")

# An archive that grows meanwhile.
grows = os.path.join(work, "grows")
os.mkdir(grows, 0o755)
archive.fill(grows, 300, 10, 1, NOW)
writer = threading.Thread(target=archive.fill, args=(grows, 300, 10, 301, NOW))
writer.start()
counts = []
while writer.is_alive():
    run = spoor("aggregate", "--archive", grows, "--json")
    counts.append(json.loads(run.stdout)["total"]["traces"] if run.returncode in (0, 1) and run.stdout else run.stderr)
writer.join()
time.sleep(0.1)
tap.ok(all(isinstance(n, int) and 300 <= n <= 600 for n in counts), f"while it grows: {len(counts)} times", counts)
run = spoor("aggregate", "--archive", grows, "--json")
tap.equal((json.loads(run.stdout)["total"]["traces"], run.returncode), (600, 0), "and then all of them")

# Real traces: what `spoor show` says of each, added up.
real = os.path.join(work, "real")
os.mkdir(real, 0o755)
golden = os.path.join(tap.SOURCE, "tests/golden")
files = [os.path.join(golden, name) for name in sorted(os.listdir(golden)) if name.endswith(".spoor")]
for program, *more in (("files", os.path.join(work, "data")), ("windows",), ("endless", "3000")):  # the last one gives up events
    files.append(os.path.join(work, program + ".spoor"))
    launcher.mpirun(2, [os.path.join(tap.BUILD, "tests/programs", program), *more], before=[SPOOR, "run", "--memory", "1MiB", "-o", files[-1], "--"])
archive.fill(real, len(files), 2, 0, NOW, [archive.chunks_of(path) for path in files])
jobs = aggregate(real, "--by", "job")["groups"]
sums = collections.Counter()
tap.equal(len(jobs), len(files), f"{len(files)} real traces")
for number, path in enumerate(files):
    shown = json.loads(spoor("show", "--json", path).stdout)["summary"]
    group = next((g for g in jobs if g["job"] == str(number)), {})
    parts = sum(shown[k] for k in ("mpi_ns", "compute_ns", "init_ns", "overhead_ns", "unended_compute_ns"))
    spent = max(parts, shown["streams"] * (number % 5000) * 10**9)

    def in_nodes(ns):
        return ns * (1 << number % 8) // shown["streams"]
    wanted = {"messages": shown["messages"], "bytes": shown["bytes"], "events": shown["events"], "unsized": shown["messages_unsized"],
              "mpi_share": in_nodes(shown["mpi_ns"]) / in_nodes(spent) if spent else None, "load_balance": shown["load_balance"],
              "communication_efficiency": shown["communication_efficiency"], "parallel_efficiency": shown["parallel_efficiency"],
              "overhead_share": in_nodes(shown["overhead_ns"]) / in_nodes(spent) if spent else None,
              "one_sided_bytes": shown["one_sided"]["bytes"], "read_bytes": shown["read"]["bytes"], "written_bytes": shown["written"]["bytes"],
              "counted_share": shown["events_lost"] / (shown["events_lost"] + shown["events"]),
              "unplaced_share": shown["unplaced_ns"] / shown["compute_ns"] if shown["compute_ns"] else None}
    same({"": group}, {"": wanted}, f"{os.path.basename(path)}: what spoor show says")
    sums.update({k: wanted[k] or 0 for k in wanted if k.endswith("_bytes") or k in ("counted_share", "unplaced_share")})
tap.ok(all(sums[k] for k in ("one_sided_bytes", "read_bytes", "written_bytes", "counted_share")), "some moved bytes without messages, some lost events", dict(sums))
text = spoor("aggregate", "--archive", real).stdout
tap.ok(all(text.count("\n" + word) == 1 for word in ("Counted ", "One-sided ", "Files ")), "and it says so in the first lines", text)

# An application becomes slower: every run is like the others, but from the 31st on ranks compute 40 % longer.
trends = os.path.join(work, "trends")
os.mkdir(trends, 0o755)
often = archive.work
RUNS, SLOWER = 40, 30
begin = NOW - RUNS * 3600
for i in range(RUNS):
    job = 88 * i + 3
    archive.work = lambda j, factor=1.4 if i >= SLOWER else 1 + 0.01 * (i % 3): int(10**9 * factor)
    facts = dict(archive.metadata(job, begin + 3600 * i), state="COMPLETED", partial=0, uid=archive.uid(3), exe="/usr/bin/python3.11", command=["python3.11", "/home/u/model.py", "in"])
    archive.put(trends, job, begin + 3600 * i, archive.container(facts, [(n, data, len(data)) for n, data in archive.program(job)]), archive.uid(3))
archive.work = often
run = spoor("trend", "--archive", trends, "--json")
answer = json.loads(run.stdout or '{"applications": []}')
found = answer["applications"][0] if answer["applications"] else {}
change = found.get("change", {})
tap.ok(len(answer["applications"]) == 1 and found["application"] == "model.py" and found["runs"] == RUNS, "trend: one application, by its script", run.stdout, run.stderr)
tap.ok(abs(change.get("share", 0) - 0.4) < 0.03 and change.get("since_ns") == (begin + 3600 * SLOWER) * 10**9, "trend: slower, since when, and how much", change)
tap.ok(change.get("cause") == "computation" and abs(change["after_s"] / change["before_s"] - 1.4) < 0.03, "trend: what takes longer", change)
run = spoor("trend", "--archive", trends, "--exe", "model.*")
tap.ok("1 of 1 applications are slower" in run.stdout and "computation:" in run.stdout and max(map(len, run.stdout.splitlines())) <= 80, "trend: in 80 columns",
       run.stdout, run.stderr)
run = spoor("report", "--archive", trends, "--mail", "a@example.org", "-o", "-")
tap.ok("\n  model.py  " in run.stdout, "mail: the script of an interpreter", run.stdout, run.stderr)
run = spoor("report", "--archive", trends, "-o", os.path.join(work, "trends.html"))
with open(os.path.join(work, "trends.html"), encoding="utf-8") as file:
    page = file.read()
section = page.partition('<section aria-labelledby="trends">')[2].partition("</section>")[0]
tap.ok("1 of 1 applications take longer" in section and "<strong>model.py</strong>" in section and "computation: " in section and re.search(r"\+(39|40|41)&nbsp;%", section)
       and 'href="#trends"' in page, "trend: on the page of the archive", section or run.stderr)
with open(os.path.join(tap.SOURCE, "etc/policy.json"), encoding="utf-8") as file:
    named = dict(json.load(file), applications={"model*": "MODEL 7"})
with open(os.path.join(work, "policy.json"), "w", encoding="utf-8") as file:
    json.dump(named, file)
os.chmod(work + "/policy.json", 0o644)
check = spoor("policy", "check", work + "/policy.json")
run = spoor("trend", "--archive", trends, "--exe", "MODEL*", "--json", env=dict(os.environ, SPOOR_POLICY=work + "/policy.json"))
tap.ok(check.returncode == 0 and json.loads(run.stdout or '{"applications": []}')["applications"][:1] and json.loads(run.stdout)["applications"][0]["application"] == "MODEL 7",
       "trend: an application's name in the policy", check.stderr, run.stdout, run.stderr)
run = spoor("aggregate", "--by", "application", "--csv", "--archive", trends, env=dict(os.environ, SPOOR_POLICY=work + "/policy.json"))
tap.equal([line.split(",")[0] for line in run.stdout.splitlines()], ["application", "MODEL 7"], "aggregate: by application")
tap.ok(spoor("list", "--archive", trends, "--limit", "1").stdout.rstrip().endswith(" model.py"), "list: the script of an interpreter")
run = spoor("trend", "--archive", trends, "--exe", "other")
tap.ok("enough runs to compare" in run.stdout and "0 of 0" not in run.stdout, "trend: of another application", run.stdout, run.stderr)
run = spoor("why", str(88 * (SLOWER + 2) + 3), "--archive", trends)
usual = " ".join(run.stdout.partition("Usual")[2].split())
tap.ok("the last 20 runs like it" in usual and "slower than usual; computation" in usual, "why: compared with the runs before", run.stdout, run.stderr)
text = spoor("why", str(88 * 10 + 3), "--archive", trends).stdout
tap.ok("as usual." in text, "why: a run as usual")
tap.ok("model.py, 32 ranks" in text, "why: the script of an interpreter", text)

# Everybody sees their own.
if os.geteuid() == 0:
    def other():
        os.setgroups([])
        os.setgid(65533)
        os.setuid(65533)
    archive.put(bad, 9000, NOW, archive.container(dict(archive.metadata(9000, NOW), uid=65533), archive.content(9000)), 65533)
    run = spoor("aggregate", "--archive", bad, "--json", preexec_fn=other, env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]})
    answer = json.loads(run.stdout or "{}")
    tap.equal((answer.get("total", {}).get("traces"), answer.get("unreadable")), (1, 0), "a user: their own traces, and nothing of the others")

    def owner():
        os.setgroups([])
        os.setgid(65533)
        os.setuid(archive.uid(3))
    home = os.path.join(work, "home")
    os.mkdir(home)
    os.chown(home, archive.uid(3), 65533)
    environment = {"HOME": home, "PATH": os.environ["PATH"]}
    spoor("trend", "--archive", trends, preexec_fn=owner, env=environment)
    run = spoor("report", str(88 * (SLOWER + 2) + 3), "--archive", trends, "-o", home + "/job.html", preexec_fn=owner, env=environment)
    with open(home + "/job.html", encoding="utf-8") as file:
        page = file.read()
    said = page.partition("Compared with earlier runs:")[2].partition("</p>")[0]
    tap.ok("the last 20 runs like it" in said and "slower than usual; computation" in said, "a job's page: compared with the runs before", said, run.stderr)
shutil.rmtree(work)
tap.done()
