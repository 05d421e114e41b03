#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# threads - MPI_THREAD_MULTIPLE: each thread is traced exactly, also when it is killed; in the order of time
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive  # noqa: E402
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

EXACT = os.path.join(tap.SOURCE, "tests/exact")
CREW = os.path.join(tap.BUILD, "tests/programs/crew")
CALLS = os.environ.get("SPOOR_THREADS", "5000")  # of each of four threads that call at the same time; HACKING.md


def exact(title, keep, program, *options):
    done = subprocess.run([sys.executable, EXACT, "--keep", keep, *options, "--", *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    tap.ok(done.returncode == 0, title, done.stdout.decode(errors="replace"))


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def readers(trace):
    """What readers say of a trace whose two ranks have five threads each."""
    dumped = spoor("dump", trace, "--rank", "1").stdout.splitlines()
    lines = {}
    for line in dumped:
        name, _, event = line.partition(": ")
        lines.setdefault(name, []).append(event)
    tap.ok(list(lines) == ["1", "1.1", "1.2", "1.3", "1.4"], "dump: a rank's threads one after the other", " ".join(lines))
    tap.ok(spoor("dump", trace, "--rank", "1", "--thread", "3").stdout.splitlines() == lines.get("1.3"), "dump --thread: one of them")
    tap.ok(any("@0" in line for line in lines["1.1"]) and any("@2" in line for line in lines["1"]), "requests of other threads say whose they are")
    ours = reader.Trace(trace)
    tap.ok(all(list(ours.dump(1 + 2 * k)) == lines[f"1.{k}" if k else "1"] for k in range(5)), "the independent reader agrees")
    verified = spoor("verify", trace)
    tap.ok(verified.returncode == 0 and "2 ranks" in verified.stdout, "verify: two ranks", verified.stdout + verified.stderr)
    tap.ok("2, 10 threads" in spoor("show", trace).stdout, "show: ten threads")
    for arguments, says in ((("--rank", "2"), "rank 2 does not exist: the trace has 2 ranks"), (("--rank", "1", "--thread", "5"), "no thread 5"),
                            (("--thread", "1"), "of which rank")):
        done = spoor("dump", trace, *arguments)
        tap.ok(done.returncode != 0 and says in done.stderr, f"dump {' '.join(arguments)}: told", done.stderr)
    if os.path.exists(os.path.join(tap.BUILD, "spoor-replay")):
        done = spoor("replay", trace)
        tap.ok(done.returncode != 0 and "collective calls on the same communicator" in done.stderr, "replay refuses it, and says why", done.stderr)


def ranks_in(value, found):
    """All members of JSON objects that are said to be ranks or threads, [(name, value)]."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "meta" and re.search(r"(^|_)(rank|thread)$", key) and isinstance(item, int):
                found.append((key, item))
            ranks_in(item, found)
    elif isinstance(value, list):
        for item in value:
            ranks_in(item, found)
    return found


def check_ranks(trace, other):
    """No command takes the number of a stream for a rank: two ranks with five threads each."""
    for view in ([], ["--sites"]):
        done = spoor("show", "--json", *view, trace)
        found = ranks_in(json.loads(done.stdout), []) if done.returncode == 0 else []
        wrong = [f for f in found if f[1] < 0 or f[1] >= (5 if f[0].endswith("thread") else 2)]
        tap.ok(len(found) > 20 and not wrong, f"show --json {' '.join(view)}: ranks are ranks", (wrong[:5], done.stderr[-300:]))
        names = [key for key, _ in found]
        tap.ok(all(names.count(key) == names.count(key[:-4] + "thread") for key in set(names) if key.endswith("rank")), "with their threads", names[:9])
    for view in (["--last"], ["--at", "1ms"]):
        places = json.loads(spoor("show", "--json", *view, trace).stdout)[view[0][2:]]
        ranks = [str(rank) for place in places for rank in place["ranks"]]
        tap.ok(len(ranks) == 10 and all(re.fullmatch(r"[01](\.[1-4])?", rank) for rank in ranks), f"show --json {view[0]}: ranks, and threads of ranks", ranks)
    matrix = json.loads(spoor("show", "--json", "--matrix", trace).stdout)["matrix"]
    tap.ok(matrix and all(row[0] < 2 and row[1] < 2 for row in matrix), "show --json --matrix: from rank to rank", matrix)
    said = spoor("show", "--matrix", trace).stdout
    tap.ok("messages" not in said and "not known" not in said, "show --matrix: also in communicators that another thread made", said)
    shown = json.loads(spoor("show", "--json", trace).stdout)
    tap.ok(shown["threads"] == 10 and shown["ranks"] == shown["summary"]["ranks"] == 2 and shown["meta"]["threads"] == 5, "show --json: two ranks, ten threads, five of a rank (the metadata, which list --json prints, too)")
    shown = json.loads(spoor("show", "--json", "--sites", trace).stdout)
    tap.ok(all(site["ranks"] <= 2 for site in shown["sites"]), "show --json: ranks of a site")
    tap.ok(json.loads(spoor("stat", "--json", trace).stdout)["ranks"] == 2, "stat --json: two ranks")
    done = spoor("diff", "--json", "--all", trace, other)
    sides = re.findall(r'"ranks": (\d+)', done.stdout)
    tap.ok(done.returncode in (0, 1) and all(int(n) <= 3 for n in sides), "diff --json: ranks of a site", (done.stdout[:300], done.stderr))
    page = trace + ".html"
    done = spoor("report", trace, "-o", page)
    with open(page, encoding="utf-8") as f:
        said = re.findall(r"rank (?:<strong>)?(\d+)(?:\.(\d+))?\b", f.read())
    tap.ok(done.returncode == 0 and said and all(int(rank) < 2 and int(thread or 0) < 5 for rank, thread in said), "report: ranks are ranks", said[:9])


def check_archive(trace, folder):
    """A trace with threads in an archive, as a job's."""
    kept, meta = os.path.join(folder, "archive"), json.loads(spoor("show", "--json", trace).stdout)["meta"]
    day = os.path.join(kept, meta["start"][:10].replace("-", "/"), str(os.geteuid()))  # the user's folder
    os.chmod(folder, 0o711)  # root reads an archive as nobody
    os.makedirs(day)
    archive.fill(kept, 1, 10)
    with open(os.path.join(day, "77.0.0.spoor"), "wb") as f:
        f.write(archive.container(dict(meta, job=77, step=0, cluster="wombat"), archive.chunks_of(trace)))
    os.environ.update(XDG_CACHE_HOME=os.path.join(folder, "cache"), SPOOR_ARCHIVE=kept)
    filters = {("--exe", "crew"): 1, ("--job", "77", "--ranks", "2"): 1, ("--job", "77", "--ranks", "3-"): 0, ("--cluster", "wombat", "--whole"): 1, (): 2}
    for options, wanted in filters.items():
        done = spoor("list", "--json", *options)
        tap.ok(done.returncode == 0 and len(done.stdout.splitlines()) == wanted, f"list {' '.join(options)}: {wanted}", done.stdout + done.stderr)
    done = spoor("list", "--job", "77", "--json")
    tap.ok(json.loads(done.stdout).get("threads") == 5 and json.loads(done.stdout)["ranks"] == 2, "list: two ranks, five threads", done.stdout)
    shown = json.loads(spoor("show", "--json", "77").stdout)["summary"]
    done = spoor("aggregate", "--json", "--by", "executable", "--exe", "crew")
    total = json.loads(done.stdout)["total"] if done.stdout else {}
    same = {key: shown[key] for key in ("messages", "bytes", "events", "load_balance", "parallel_efficiency")}
    tap.ok(total.get("traces") == 1 and all(abs(total[key] - value) <= 1e-12 * value for key, value in same.items()), "aggregate: what show says",
           (same, total, done.stderr))
    chrome = os.path.join(folder, "chrome.json")
    done = spoor("export", "77", "--chrome", chrome)
    with open(chrome, encoding="utf-8") as f:
        said = json.load(f)
    rows = {(e["pid"], e["tid"]) for e in (said["traceEvents"] if isinstance(said, dict) else said) if e.get("ph") in ("X", "B")}
    tap.ok(done.returncode == 0 and len(rows) == 10, "export of a job: a row for each of ten threads", (sorted(rows), done.stderr))
    done = spoor("export", "77", "--simgrid", os.path.join(folder, "simgrid"))
    tap.ok(done.returncode != 0 and "several threads" in done.stderr and not os.path.exists(os.path.join(folder, "simgrid")), "but not to SimGrid", done.stderr)
    for name in ("XDG_CACHE_HOME", "SPOOR_ARCHIVE"):
        del os.environ[name]


def flat_and_traced(title, folder, program, *options):
    """Runs a program on two ranks, traced with options, and compares each thread with the flat log. Returns the trace."""
    logs, trace = os.path.join(folder, title + ".logs"), os.path.join(folder, title + ".spoor")
    os.mkdir(logs)
    launch.mpirun(2, program, flatlog=os.path.join(tap.BUILD, "tests/flatlog/flatlog.so"), folder=logs, before=[launch.spoor(), "run", *options, "-o", trace, "--"],
                  environment={"TMPDIR": folder})
    done = subprocess.run([sys.executable, EXACT, "-n", "2", "--trace", trace, "--logs", logs], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    tap.ok(done.returncode == 0, f"{title}: exact in each thread", done.stdout.decode(errors="replace"))
    return trace


def numbers_of(lines, function, parameter):
    return [int(m[1]) for m in (re.search(rf" {function} .*\b{parameter}=(\d+)", line) for line in lines) if m]


def interleaved(trace, rank, mark):
    """The lines of --by-time, checked for what holds in any order: all events, each thread's in their order."""
    lines = spoor("dump", trace, "--rank", rank, "--by-time").stdout.splitlines()
    plain = spoor("dump", trace, "--rank", rank).stdout.splitlines()
    names = [line.partition(": ")[0] for line in lines]
    tap.ok(all(name.startswith(mark) and name.count("~") == len(mark) for name in names), f"rank {rank}: lines say whether the order is an estimate", names[:3])
    lines = [line[len(mark):] for line in lines]
    tap.ok(sorted(lines) == sorted(plain), f"rank {rank}: --by-time has all events")
    threads = sorted(set(line.partition(": ")[0] for line in plain), key=lambda n: [int(part) for part in n.split(".")])
    each = [line for thread in threads for line in lines if line.startswith(thread + ": ")]
    tap.ok(each == plain, f"rank {rank}: those of each thread are in their order")
    tap.ok("MPI_Init_thread" in lines[0] and "MPI_Finalize" in lines[-1], f"rank {rank}: from MPI_Init to MPI_Finalize")
    library = subprocess.run([os.path.join(tap.BUILD, "tests/library"), trace, rank, "time"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    tap.ok(library.stdout.splitlines() == [mark + line for line in lines], f"rank {rank}: the library gives the same order", library.stderr)
    return lines


def known_order(lines, estimate=False):
    """Are objects that threads hand to each other made, used, freed in this order? Of an estimate communicators, whose numbers mean one object only.
    Returns what is out of order."""
    lives, wrong, kind = set(), [], "c" if estimate else "[ct]"
    for line in lines:
        made = re.search(rf"\b(?:newcomm|newtype)=({kind}\d+)", line)
        freed = re.search(rf"MPI_(?:Comm|Type)_free (?:comm|datatype)=({kind}\d+)", line)
        if made:
            lives.add(made[1])
        wrong += [line for name in re.findall(rf"=({kind}\d+)\b", line) if name not in lives]
        if freed:
            lives.discard(freed[1])
    owners = {}
    for line in [] if estimate else lines:
        who, _, event = line.partition(": ")
        thread = who.partition(".")[2] or "0"
        for name in re.findall(r"\brequest=(r\d+(?:@\d+)?)", event):
            key = name if "@" in name else f"{name}@{thread}"
            if " MPI_Irecv " in event:
                wrong += [line] if key in owners else []
                owners[key] = True
            elif not owners.pop(key, None):
                wrong.append(line)
    return wrong


def check_order():
    """Threads that take turns: their true order is known."""
    turns = os.path.join(tap.BUILD, "tests/programs/turns")
    with tempfile.TemporaryDirectory(prefix="threads-") as folder:
        trace = flat_and_traced("full times and counters", folder, [turns], "--timing", "full", "--counters", "perf::TASK-CLOCK")
        for rank in "01":
            lines = interleaved(trace, rank, "")
            tags = numbers_of(lines, "MPI_Iprobe", "tag")
            tap.ok(tags == list(range(400)), f"rank {rank}: full times give the true order", [t for t in zip(range(400), tags) if t[0] != t[1]][:5])
            tap.ok(not known_order(lines), f"rank {rank}: and what follows from it", known_order(lines)[:2])
            times = [re.search(r" begin=([\d.]+) end=([\d.]+)$", line) for line in spoor("dump", trace, "--rank", rank, "--by-time", "--times").stdout.splitlines()]
            tap.ok(all(times) and all(float(a[1]) <= float(b[1]) for a, b in zip(times, times[1:])), f"rank {rank}: times of all threads from one begin")
            for thread in "0123":
                each = [re.search(r" begin=([\d.]+) end=([\d.]+)$", line)
                        for line in spoor("dump", trace, "--rank", rank, "--thread", thread, "--times").stdout.splitlines()]
                tap.ok(len(each) > 10 and all(each) and all(float(a[1]) <= float(a[2]) <= float(b[1]) for a, b in zip(each, each[1:])),
                       f"rank {rank}, thread {thread}: times go on")
            k = len(lines) // 2
            tap.ok(spoor("dump", trace, "--rank", rank, "--by-time", "--from", str(k), "--count", "3").stdout.splitlines() == lines[k:k + 3],
                   f"rank {rank}: --from and --count count the lines")
            at = spoor("dump", trace, "--rank", rank, "--by-time", "--at", f"{(float(times[k][1]) + float(times[k][2])) / 2:.9f}s", "--count", "1").stdout.splitlines()
            tap.ok(at and lines.index(at[0]) <= k, f"rank {rank}: --at", at)
        sites = json.loads(spoor("show", "--json", "--sites", trace).stdout)["sites"]
        counted = [(s["function"], s["calls"], s.get("counters", {}).get("perf::TASK-CLOCK", {}).get("count", 0)) for s in sites]
        if any(c[2] for c in counted):
            tap.ok(all(c[1] == c[2] for c in counted), "each call of each thread is counted", [c for c in counted if c[1] != c[2]])
        else:
            tap.skip("each call of each thread is counted", "the kernel does not count here")
        trace = flat_and_traced("plain", folder, [turns])
        for rank in "01":
            lines = interleaved(trace, rank, "~")
            tap.ok(not known_order(lines, True), f"rank {rank}: nothing comes before what it needs", known_order(lines, True)[:2])
        done = spoor("dump", trace, "--rank", "1", "--thread", "1", "--by-time")
        tap.ok(done.returncode != 0 and "--by-time is the order of all threads" in done.stderr, "--by-time and --thread: told", done.stderr)
        all_ranks = spoor("dump", trace, "--by-time").stdout.splitlines()
        tap.ok(len(all_ranks) == len(spoor("dump", trace).stdout.splitlines()), "--by-time of all ranks, one after the other")


def check_reuse(folder):
    """What one thread frees is another one's new object before the call that freed it is back."""
    keep, program = os.path.join(folder, "reuse"), [os.path.join(tap.BUILD, "tests/programs", name) for name in ("slow.so", "reuse")]
    os.environ["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"  # memory goes from thread to thread
    exact("handles that another thread has before the call that ended them is back", keep,
          ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"', *program, os.path.join(folder, "reuse.file")], "-n", "2")
    del os.environ["GLIBC_TUNABLES"]
    with open(os.path.join(keep, "output"), encoding="utf-8") as f:
        kinds = dict(line.split() for line in f if len(line.split()) == 2)
    again = [kind for kind, made in kinds.items() if made.isdigit() and kind != "reuse:"]
    tap.ok({"comm", "type"} <= set(again) and len(again) >= 5, "so it was with " + ", ".join(again), kinds)


def check_strangers(folder):
    """Below MPI_THREAD_MULTIPLE."""
    program = os.path.join(tap.BUILD, "tests/programs/strangers")
    exact("threads that take turns with MPI_THREAD_SERIALIZED: one sequence, whoever calls", os.path.join(folder, "strangers"), [program, "turns", "400"], "-n", "2")
    trace, calls = os.path.join(folder, "meanwhile.spoor"), 5000
    done = launch.mpirun(1, [program, "meanwhile", str(calls)], before=[launch.spoor(), "run", "-o", trace, "--"], environment={"TMPDIR": folder})
    tap.ok(done.returncode == 0 and b"strangers: done" in done.stdout, "a thread asks MPI_Initialized and MPI_Finalized while another communicates", done.stdout + done.stderr)
    verified = spoor("verify", trace)
    tap.ok(verified.returncode == 0, "the trace is whole", verified.stdout + verified.stderr)
    events = [line.split()[1:] for line in spoor("dump", trace, "--rank", "0").stdout.splitlines()]
    loop = [["MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Comm_size"][k % 4] for k in range(4 * 3 * calls)]
    tap.ok([e[0] for e in events if e[0] in loop[:4]] == loop, "no event of the other one is missing", len(events))
    tap.equal(json.loads(spoor("show", "--json", trace).stdout)["events_lost"], 0, "and none was lost")
    done = launch.mpirun(1, [program, "early", "500"], before=[launch.spoor(), "run", "-f", "-o", trace, "--"], environment={"TMPDIR": folder})
    tap.ok(done.returncode == 0 and b"strangers: done" in done.stdout, "a thread asks for the version while another initialises MPI, and afterwards",
           done.stdout + done.stderr)
    verified, asked = spoor("verify", trace), spoor("dump", trace, "--rank", "0").stdout.count(" MPI_Get_version")
    tap.ok(verified.returncode == 0 and asked == 0, "the trace is whole, and has what the one that initialises did", (verified.stderr, asked))
    done = launch.mpirun(1, [program, "wrong", "100000"], before=[launch.spoor(), "run", "-f", "-o", trace, "--"], environment={"TMPDIR": folder})
    tap.ok(done.returncode == 0 and b"strangers: done" in done.stdout, "two threads that call at the same time, against the standard", done.stdout + done.stderr)
    verified, shown = spoor("verify", trace), json.loads(spoor("show", "--json", trace).stdout)
    tap.ok(verified.returncode == 0 and shown["summary"]["events"] + shown["events_lost"] == 999999, "each call is recorded or counted as lost",
           (verified.stderr, shown["summary"]["events"], shown["events_lost"]))


def main():
    with tempfile.TemporaryDirectory(prefix="threads-") as folder:
        exact("requests and communicators of other threads; threads that come and go", os.path.join(folder, "crew"), [CREW], "-n", "3")
        two = os.path.join(folder, "two")
        exact("the same with two ranks", two, [CREW, "50"], "-n", "2")
        readers(os.path.join(two, "trace.spoor"))
        check_ranks(os.path.join(two, "trace.spoor"), os.path.join(folder, "crew", "trace.spoor"))
        check_archive(os.path.join(two, "trace.spoor"), folder)
        exact("killed in the middle: all threads of all ranks are salvaged", os.path.join(folder, "killed"), [CREW, "1000", "die"], "-n", "2",
              "--status", "137", "--partial")
        exact("lossy, nothing is left out", os.path.join(folder, "lossy"), [CREW], "-n", "2", "--mode", "lossy:100000")
        check_reuse(folder)
        check_strangers(folder)
        exact(f"four threads, {CALLS} calls each, at the same time", os.path.join(folder, "many"), [os.path.join(tap.BUILD, "bench/threads"), "4", CALLS],
              "-n", "1", "--timeout", "3000")
    check_order()
    tap.done()


if __name__ == "__main__":
    main()
