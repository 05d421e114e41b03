#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# hostile-arena - the worst texts in what a killed rank has left, and in the rows of an index: nothing of them acts on a terminal, in a page or in a table
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import archive as store  # noqa: E402
import hostile  # noqa: E402
import launch  # noqa: E402
import tap  # noqa: E402

if os.geteuid() != 0:
    tap.skip_all("root must be there, and another user")
SPOOR, HELPER = os.path.join(tap.BUILD, "spoor"), os.path.join(tap.BUILD, "spoor-helper")
MALLORY = 61002
MARK = "Q" * 96  # stands in the arena for what is put there
WORST = {
    "escapes": b"\x1b[2J\x1b]0;x\x07\x1b[31mred\x7f\xc2\x9b1m\x9b1m",
    "markup": b"</title></style><script>alert(1)</script>\" onmouseover=\"x'&lt;",
    "a formula": b"=cmd|' /C calc'!A0",
    "lines": b"one\nspoor: forged\r\ntwo\xe2\x80\xa8three\tfour|five",
    "folders": b"../../../../../../etc/passwd",
    "directions": "a\u202egnp.exe\u2066\u200f\ufeff".encode(),
    "formats": b"%s%n%x%1000000d%p$(id)`id`;id",
    "NUL": b"a\0b\0\x1b[2J",
    "no UTF-8": b"\xff\xfe\x9b31m\xc3(\xed\xa0\x80\xf4\x90\x80\x80",
}
PROGRAM = """
#include <mpi.h>
#include <signal.h>
int main(int argc, char **argv)
{
	MPI_Comm comm;
	MPI_Info info;
	MPI_Datatype type;
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_name(comm, argv[1]);
	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Type_set_name(type, argv[1]);
	MPI_Type_commit(&type);
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", argv[1]);
	for (int i = 0; i < 20; i++)
		MPI_Barrier(comm);
	raise(SIGKILL);
}
"""
work = tempfile.mkdtemp(prefix="hostile-arena.", dir=os.environ.get("TMPDIR"))
os.chmod(work, 0o755)


def own(path, mode):
    os.chown(path, MALLORY, MALLORY)
    os.chmod(path, mode)
    return path


def view(user, *arguments, terminal=True):
    """(exit status, what it said)"""
    def before():
        os.environ.update(SPOOR_COLOR="never", LC_ALL="C.UTF-8", COLUMNS="200", SPOOR_PAGER="", TERM="dumb", HOME=work)
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
    if terminal:
        status, _, said, _ = hostile.terminal([SPOOR, *arguments], before)
        return os.waitstatus_to_exitcode(status), said.replace(b"\r\n", b"\n")
    done = subprocess.run([SPOOR, *arguments], preexec_fn=before, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def all_views(title, user, views, good=(0, 1)):
    wrong = []
    for arguments in views:
        status, said = view(user, *arguments, terminal=arguments[0] not in ("report", "export"))
        if status not in good or hostile.acts(said):
            wrong.append(f"spoor {' '.join(arguments)}: status {status}; {hostile.acts(said)}; {said[-300:]!r}")
    tap.ok(not wrong, f"{title}: nothing that acts, {'root' if not user else 'their user'}", *wrong)


# --- an arena, as a killed rank leaves it ---
with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as makefile:
    MPICC = re.search(r"^MPICC = (.+)", makefile.read(), re.M).group(1)
folder, spool = os.path.join(work, MARK), os.path.join(work, "spool")
os.mkdir(folder)
os.mkdir(spool)
with open(os.path.join(work, "program.c"), "w", encoding="ascii") as source:
    source.write(PROGRAM)
subprocess.run([MPICC, "-o", os.path.join(folder, MARK), os.path.join(work, "program.c")], check=True)
subprocess.run([os.path.join(folder, MARK), MARK], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
               env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SLURM_SPOOR_HANDOFF=f"1;mode=lossless;spool={spool}",
                        LD_PRELOAD=launch.preload()))
left = [name for name in os.listdir(spool) if name.endswith(".arena")]
tap.equal(len(left), 1, "a killed rank leaves an arena")
with open(os.path.join(spool, left[0]), "rb") as opened:
    arena = opened.read()
places = [m.start() for m in re.finditer(MARK.encode(), arena)]
tap.ok(len(places) > 4, "with names of the program, its arguments, its objects", len(places))


def step(job, data):
    """A step's folder with this arena; what its user's helper makes of it. Returns the traces in their folder of the archive."""
    path, home = os.path.join(work, f"{job}.0.n1"), os.path.join(DAY, str(MALLORY))
    os.mkdir(path)
    with open(os.path.join(path, left[0]), "wb") as out:
        out.write(data)
    own(os.path.join(path, left[0]), 0o600)
    own(path, 0o700)
    facts = {"job": job, "step": "0", "spool": path, "day": DAY, "uid": MALLORY, "gid": MALLORY, "node": "n1", "exit_code": 0, "signal": 9}
    done = subprocess.run(["setpriv", f"--reuid={MALLORY}", f"--regid={MALLORY}", "--clear-groups", HELPER, "collect"], input="".join(f"{k}={v}\n" for k, v in facts.items()),
                          capture_output=True, text=True, check=False, encoding="latin-1")
    shutil.rmtree(path)
    return [os.path.join(home, name) for name in os.listdir(home) if name.startswith(f"{job}.") and name.endswith(".spoor")], done


ARCHIVE = os.path.join(work, "archive")
DAY = os.path.join(ARCHIVE, time.strftime("%Y/%m/%d", time.gmtime()))
os.makedirs(os.path.join(DAY, str(MALLORY)), 0o755)
own(os.path.join(DAY, str(MALLORY)), 0o755)
job = 100
for name, text in WORST.items():
    job += 1
    whole = bytearray(arena)
    for at in places:
        whole[at:at + len(MARK)] = (text + b"z" * len(MARK))[:len(MARK)]
    traces, done = step(job, bytes(whole))
    tap.ok(len(traces) == 1, f"{name} in an arena: a trace", done.stdout, done.stderr)
    for trace in traces:
        page = os.path.join(work, f"{job}.html")
        views = [("verify", trace), ("show", trace), ("show", "--json", trace), ("show", "--sites", trace), ("show", "--loops", trace), ("show", "--last", trace),
                 ("show", "--matrix", trace), ("why", trace), ("why", "--line", trace), ("dump", trace), ("stat", trace), ("diff", trace, trace), ("where", trace),
                 ("export", "--chrome", "-", trace)]
        for user in (0, MALLORY):
            all_views(f"{name} in an arena", user, views)
        status, page = view(0, "report", "-o", "-", trace, terminal=False)
        tap.ok(status == 0 and not hostile.acts(page) and b"<script>alert" not in page and b"<img" not in page and not re.search(rb"<[^>]*\sonmouseover", page),
               f"{name} in an arena: a page", status, hostile.acts(page))
for title, user in (("the archive of them", 0), ("the archive of them", MALLORY)):
    all_views(title, user, [("list", "--archive", ARCHIVE), ("list", "--archive", ARCHIVE, "--json"), ("list", "--archive", ARCHIVE, "--csv", "--format", "job,name,command,exe"),
                            *[("aggregate", "--archive", ARCHIVE, "--by", by) for by in ("executable", "application", "site", "function", "node")],
                            ("trend", "--archive", ARCHIVE), ("report", "--archive", ARCHIVE, "-o", "-")])

# --- numbers of an arena: each word that is a small number becomes the worst ones, some at a time ---
used = struct.unpack_from("<Q", arena, 24)[0]
step_size, wrong, made = max(8, used // 60 // 8 * 8), [], 0
for i, at in enumerate(range(64, used - 8, step_size)):
    worst = (2**64 - 1, 2**63, 2**31 - 1, 2**32, 0xfffffff8, 0x1b5b324a1b5b324a)[i % 6]
    whole = bytearray(arena)
    struct.pack_into("<Q", whole, at, worst)
    job += 1
    begin = time.monotonic()
    traces, done = step(job, bytes(whole))
    if done.returncode < 0 or time.monotonic() - begin > 10 or hostile.acts(done.stderr.encode("latin-1")):
        wrong.append(f"at {at}: {worst:#x}: status {done.returncode}, {done.stderr[-200:]!r}")
    for trace in traces:
        made += 1
        for arguments in (("verify", trace), ("show", trace), ("dump", "--count", "30", trace)):
            status, said = view(MALLORY, *arguments)
            if status != 0 and arguments[0] == "verify" or status not in (0, 1) or hostile.acts(said):
                wrong.append(f"at {at}: {worst:#x}: spoor {arguments[0]}: status {status}: {said[-300:]!r}")
        os.unlink(trace)
tap.ok(not wrong, f"the worst numbers in an arena: {made} traces, all of them sound, or none", *wrong)

# --- an index, whose texts somebody has written ---
shutil.rmtree(ARCHIVE)
os.mkdir(ARCHIVE, 0o755)
store.fill(ARCHIVE, 30, 3, 1, int(time.time()))
view(0, "index", "--archive", ARCHIVE, terminal=False)
database = view(0, "index", "--path", "--archive", ARCHIVE, terminal=False)[1].decode().strip()
shutil.copy(database, os.path.join(work, "kept.db"))
for name, text in WORST.items():
    shutil.copyfile(os.path.join(work, "kept.db"), database)
    sql = sqlite3.connect(database)
    worst = text.decode(errors="surrogateescape").encode("utf-8", "surrogateescape")
    sql.execute("UPDATE text SET text = CAST(? || id AS TEXT) WHERE id > 0 AND id NOT IN (SELECT folder FROM stored_file)", (worst,))
    sql.execute("UPDATE stored_trace SET hosts = CAST(? AS TEXT), step = CAST(? AS TEXT)", (worst, worst))
    sql.execute("UPDATE summary SET verdict = CAST(? AS TEXT), late_node = CAST(? AS TEXT), late_rank = 7", (worst, worst))
    sql.execute("UPDATE place SET frames = CAST(? AS TEXT), function = CAST(? AS TEXT)", (worst, worst))
    sql.execute("INSERT OR REPLACE INTO damage SELECT id, CAST(? AS TEXT) FROM stored_file LIMIT 3", (worst,))
    sql.execute("DELETE FROM day_sum")
    sql.commit()
    sql.close()
    all_views(f"{name} in an index", 0, [("list", "--archive", ARCHIVE), ("list", "--archive", ARCHIVE, "--csv"), ("list", "--archive", ARCHIVE, "--parsable2", "--format", "job,name,user,state,exe"),
                                       *[("aggregate", "--archive", ARCHIVE, "--by", by) for by in ("user", "account", "partition", "executable", "application", "site", "function", "node")],
                                       ("aggregate", "--archive", ARCHIVE, "--by", "account", "--json"), ("trend", "--archive", ARCHIVE), ("report", "--archive", ARCHIVE, "-o", "-")])
for name, value in (("-1", -1), ("the largest", 2**63 - 1), ("the smallest", -2**63)):
    shutil.copyfile(os.path.join(work, "kept.db"), database)
    sql = sqlite3.connect(database)
    for table in ("stored_trace", "summary"):
        columns = [row[1] for row in sql.execute(f"PRAGMA table_info({table})") if row[2] == "INTEGER" and row[1] not in ("id", "version", "uid", "job", "user")]
        sql.execute(f"UPDATE {table} SET " + ", ".join(f"{c} = {value}" for c in columns))
    sql.execute("UPDATE calls SET packed = CAST(? AS BLOB)", (b"\xff" * 4000,))
    sql.execute("DELETE FROM day_sum")
    sql.commit()
    sql.close()
    all_views(f"{name} as each number of an index", 0, [("list", "--archive", ARCHIVE), ("list", "--archive", ARCHIVE, "--json"), ("aggregate", "--archive", ARCHIVE, "--by", "user"),
                                                      ("aggregate", "--archive", ARCHIVE, "--by", "site"), ("trend", "--archive", ARCHIVE), ("report", "--archive", ARCHIVE, "-o", "-")])
shutil.rmtree(work)
tap.done()
