#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""stuck - of a job that hangs until it is killed everybody says in which call, where, for how long, and who did not come"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import invariants  # noqa: E402
import launch  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402

STUCK = os.path.join(tap.BUILD, "tests/programs/stuck")
RANKS, SECONDS = 4, 3


def spoor(*arguments):
    return subprocess.run([launch.spoor(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)


def traced(folder, *arguments):
    path = os.path.join(folder, "x.spoor")
    if os.path.exists(path):
        os.unlink(path)
    launch.mpirun(RANKS, [STUCK, *arguments], before=[launch.spoor(), "run", "-o", path, "--"], cwd=folder)
    return path


def long_enough(seconds):
    """The launcher takes a second or two to see that a rank was killed, and to end the others."""
    return SECONDS - 0.2 < seconds < SECONDS + 5


def check(path, function, waiting, missing, title):
    """waiting: the ranks in the call; missing: what the verdict says of the last one."""
    shown = json.loads(spoor("show", "--json", path).stdout or "{}")
    if not tap.ok(shown.get("unended"), f"{title}: what did not end is known", spoor("show", path)):
        return
    call = max((x for x in shown["unended"] if x["call"]), key=lambda x: x["sum_ns"])
    tap.equal((call["function"], call["ranks"]), (function, waiting), f"{title}: the call, and the ranks in it")
    tap.ok("turn" in call["at"] and "stuck" in call["at"], f"{title}: its call path", call)
    each = call["sum_ns"] * 1e-9 / call["count"]
    tap.ok(long_enough(each), f"{title}: {SECONDS} seconds each", call)
    tap.ok(re.search(missing, shown.get("verdict", "")), f"{title}: the verdict", shown.get("verdict"))
    computed = [x for x in shown["unended"] if not x["call"]]
    tap.ok(len(computed) == 1 and computed[0]["ranks"] == str(RANKS - 1) and long_enough(computed[0]["sum_ns"] * 1e-9),
           f"{title}: what the last rank did", computed)
    s = shown["summary"]
    tap.ok(s["unended_ns"] > 0.5 * (s["all_ns"] - s["init_ns"]) and not any(x.get("late_rank") is not None for x in shown["balance"]),
           f"{title}: that is most of the time, and no other rank is blamed", s, shown["balance"])
    text, page = spoor("show", path).stdout, spoor("report", path, "-o", "-").stdout
    tap.ok(re.search(rf"^Never ended +{function} [a-z].*comm=MPI_COMM_WORLD: ", text, re.M) and re.search(rf"^{function} never ended ", text, re.M), f"{title}: show", text)
    tap.ok("Of the time before calls that never ended, " in page and re.search(r"Run time<small>(from MPI_Init to the end|of the ranks, in the mean)</small>", page),
           f"{title}: report: what efficiency is of", page[:3000])
    after = s["run_ns"] + (s["unended_ns"] + s["unended_compute_ns"]) / RANKS
    tap.equal("A slow start:" in page, s["init_ns"] / RANKS > max(0.1 * after, 5e9), f"{title}: a slow start is one of all that followed")
    line = spoor("why", "--line", path).stdout
    tap.ok(f"; calls that never ended {100 * s['unended_ns'] / s['all_ns']:.0f} %" in line and "efficiency" not in line, f"{title}: why --line", line)
    sites = spoor("show", "--sites", path).stdout
    order = [of for of in re.findall(r"^site \d+  (MPI_\w+)", sites, re.M) if of != "MPI_Init"]
    tap.equal(order[0], function, f"{title}: show --sites: it comes first")
    row = page.partition('<tr id="site')[2].partition("</tr>")[0]
    tap.ok(f"<strong>{function}</strong>" in row and f"never ended on {call['count']} rank" in row, f"{title}: and on the page", row)
    tap.ok(re.search(rf"^site \d+  {function} .* 0 calls, 0 ranks, .*\n    {call['count']} ranks? did not come back from it: {waiting}, [\d.]+ s together$", sites, re.M)
           or not re.search(rf"^site \d+  {function} .* 0 calls", sites, re.M), f"{title}: show --sites", sites)
    tap.ok(shown["verdict"] in page and "calls that never ended" in page, f"{title}: report", page[:3000])
    said = invariants.wrong(path) + ([] if spoor("verify", path).returncode == 0 else ["spoor verify"])
    tap.ok(not said, f"{title}: figures agree", *said)


def arguments(path):
    """{function: {parameter: {rank: value}}} of the calls that did not end, as the independent reader has it."""
    t = reader.Trace(path)
    return {t.sites[site][0]: known for site, call, known in t.unended if call}


def exported(path, folder):
    """In OTF2, a call that never ended is a region of its own, to the end."""
    out = os.path.join(folder, "otf2")
    said = spoor("export", path, "--otf2", out)
    if "built without OTF2" in said.stderr or not shutil.which("otf2-print"):
        tap.skip("OTF2", "no OTF2")
        return
    lines = subprocess.run(["otf2-print", out + "/traces.otf2"], stdout=subprocess.PIPE, check=False, text=True).stdout.splitlines()
    times = {}
    for line in lines:
        words = line.split()
        if "MPI_Bcast (never ended)" in line:
            times.setdefault(words[1], []).append(int(words[2]))
    tap.ok(sorted(times) == [str(r) for r in range(RANKS - 1)] and all(long_enough((t[1] - t[0]) * 1e-9) for t in times.values()),
           "OTF2: a region of its own", times, said.stderr, *lines[-8:])


def main():
    with tempfile.TemporaryDirectory(prefix="stuck-t-") as folder:
        os.chmod(folder, 0o711)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        last = RANKS - 1
        path = traced(folder, str(SECONDS))
        tap.equal(arguments(path), {"MPI_Bcast": {"count": dict.fromkeys(range(last), 1), "root": dict.fromkeys(range(last), last),
                                                  "comm": dict.fromkeys(range(last), "MPI_COMM_WORLD")}}, "a broadcast: its arguments")
        exported(path, folder)
        check(path, "MPI_Bcast", f"0-{last - 1}", rf"Rank {last} did not come: it computed for [.\d]+ s after MPI_Barrier", "a broadcast")
        path = traced(folder, str(SECONDS), "receive")
        verdicts = json.loads(spoor("show", "--json", path).stdout or "{}")
        calls = {x["function"]: x["ranks"] for x in verdicts.get("unended", ()) if x["call"]}
        tap.equal(calls, {"MPI_Recv": "0", "MPI_Barrier": f"1-{last - 1}"}, "a receive: who waits where")
        tap.equal(arguments(path), {"MPI_Recv": {"count": {0: 1}, "source": {0: last}, "tag": {0: 1}, "comm": {0: "MPI_COMM_WORLD"}},
                                    "MPI_Barrier": {"comm": dict.fromkeys(range(1, last), "MPI_COMM_WORLD")}}, "a receive: its arguments")
        last_said = spoor("show", "--last", path).stdout
        tap.ok(f"1 rank (0) in MPI_Recv count=1 source={last} tag=1 comm=MPI_COMM_WORLD, for " in last_said, "a receive: show --last", last_said)
        tap.ok("Ranks 0,3 did not come" in verdicts.get("verdict", ""), "and who keeps the others", verdicts.get("verdict"))
    tap.done()


if __name__ == "__main__":
    main()
