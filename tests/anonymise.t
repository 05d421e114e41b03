#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# anonymise - no name of the original is left anywhere in what was anonymised; pseudonyms are stable; the trace can still be shown and replayed
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import meta  # noqa: E402
import reader  # noqa: E402
import tap  # noqa: E402
from replaying import LAUNCHER  # noqa: E402

SPOOR = os.path.join(tap.BUILD, "spoor")
KEY = "3b1f0c9a5d7e42868f0e9d1c2b3a4958"
FACTS = {"job_name": "wombatjob", "user": "wombatuser", "account": "wombataccount", "cluster": "wombatcluster", "partition": "wombatpartition",
         "qos": "wombatqos", "reservation": "wombatreservation", "container": "/wombat/image.sif", "node": "wombat17.site", "node_list": "wombat[17-18]",
         "hosts": ["wombat17.site", "wombat18.site"], "rule": "wombatrule", "rule_where": "/wombat/policy.json:17", "rule_reason": "a wombat said so",
         "command": ["./wombat", "--wombat", "wombat"], "job": 987654321, "uid": 4187654321, "mpi_library": "Open MPI v4.1.4, package: Open MPI wombat@wombathost",
         "something_new": "wombatnew", "nested": {"wombatkey17": 1, "deep": ["wombatdeep"]}, "state": "wombat state!"}


def run(*command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **more)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def content(path):
    """All bytes of a file or folder; of a trace, of its chunks as well."""
    data = b""
    if os.path.isdir(path):
        for folder, _, files in os.walk(path):
            for name in files:
                data += b"\n" + name.encode() + b"\n" + content(os.path.join(folder, name))
        return data
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\x89SPOOR"):
        data += b"\n".join(part for part in reader.chunks(data).values() if isinstance(part, bytes))
    return data


def strings(path):
    with open(path, "rb") as file:
        part = reader.Bytes(reader.chunks(file.read())["STRG"])
    return {part.bytes(part.uint()) for _ in range(part.uint())}


def secrets(trace, folder):
    """Words that stand in the original: none of them may stand in what was made of it."""
    words = {b"wombat", b"987654321", b"4187654321", b"secretcode", b"name\" with", os.path.basename(folder).encode(), os.environ.get("USER", "wombat").encode()}
    for text in strings(trace):
        if re.search(rb"\.so|/", text):
            words |= {part for part in re.split(rb"[/:]", text) if len(part) > 5}
    host = socket.gethostname().encode()
    words |= {host} if len(host) > 4 else set()
    return {w for w in words if len(w) > 4} - {b"prefix"}  # a word of SimGrid's platforms, too


def survivors(path, words):
    data = content(path)
    return sorted(w for w in words if w in data or w.hex().encode() in data)


def survivors_in(text, words):
    return sorted(w for w in words if w.decode(errors="replace") in text)


def make(folder, name):
    program, trace = os.path.join(folder, "secretcode"), os.path.join(folder, name + ".spoor")
    shutil.copy(os.path.join(tap.BUILD, "tests/programs", name), program)
    arguments = [os.path.join(folder, "wombatfile.dat")] if name == "files" else []
    for _ in range(3):  # Open MPI 4.1 crashes in its collective writing, now and then: then once more
        done = launch.mpirun(4, [program, *arguments], before=[SPOOR, "run", "-f", "-o", trace + "-", "--"], cwd=folder, timeout=60)
        if done.returncode == 0:
            break
    if not tap.ok(done.returncode == 0 and os.path.exists(trace + "-"), f"{name}: a trace of it", done.stderr.decode(errors="replace")):
        return None
    meta.replace(trace + "-", trace, lambda facts: facts.update(FACTS))
    return trace


def check(folder, key, name):
    trace = make(folder, name)
    if not trace:
        return
    words = secrets(trace, folder)
    tap.ok(len(survivors(trace, words)) > 5, f"{name}: the original has them", survivors(trace, words))
    out = os.path.join(folder, "out")
    forms = [["export", "--chrome"], ["export", "--otf2"], ["export", "--simgrid"], ["report", "-o"]]
    for command, option in forms:
        status, _, err = run(SPOOR, command, trace, option, out, "--anonymise", key)
        if "built without OTF2" in err:
            tap.skip(f"{name}: {option}", "built without OTF2")
            continue
        if tap.ok(status == 0, f"{name}: {option} --anonymise", err):
            tap.equal(survivors(out, words), [], f"{name}: {option}: no name is left")
            (shutil.rmtree if os.path.isdir(out) else os.unlink)(out)
    again = os.path.join(folder, name + ".anonymous.spoor")
    status, _, err = run(SPOOR, "export", trace, "--spoor", again, "--anonymise", key)
    if not tap.ok(status == 0, f"{name}: --spoor --anonymise", err):
        return
    tap.equal(survivors(again, words), [], f"{name}: --spoor: no name is left, in compressed chunks neither")
    left = {s for s in strings(trace) & strings(again) if not re.fullmatch(rb"|-|\?|MPIX?_[A-Z0-9_|MPIX]+|native|internal|external32|[0-9][-0-9,/|+*]*|[@A-Za-z_0-9]+( \S+:\S+)*", s)}
    tap.equal(left, set(), f"{name}: --spoor: of the strings only names of the standard and of parameters are the same")
    ours = [line.split()[1:3] for line in run(SPOOR, "dump", trace)[1].splitlines()]
    theirs = [line.split()[1:3] for line in run(SPOOR, "dump", again)[1].splitlines()]
    tap.ok(ours == theirs and ours, f"{name}: the same calls in the same order")
    for command in (["verify"], ["show"], ["show", "--sites"], ["show", "--last"], ["stat"]):
        status, said, err = run(SPOOR, command[0], again, *command[1:])
        tap.ok(status == 0, f"{name}: spoor {' '.join(command)}", err)
        tap.equal([w for w in words if w.decode(errors="replace") in said and w.decode(errors='replace') not in again], [], f"{name}: spoor {' '.join(command)} says no name")
    if name == "halo":
        done = launch.mpirun(4, [os.path.join(tap.BUILD, "spoor-replay"), again], cwd=folder)
        tap.ok(done.returncode == 0, f"{name}: spoor-replay", done.stderr.decode(errors="replace"))
        stable(folder, trace, again, key)


def stable(folder, trace, again, key):
    twice, other = os.path.join(folder, "twice.spoor"), os.path.join(folder, "other.spoor")
    run(SPOOR, "export", trace, "--spoor", twice, "--anonymise", "env:WOMBATKEY", env=dict(os.environ, WOMBATKEY=KEY))
    tap.ok(content(twice) == content(again), "the same key, from the environment: the same bytes")
    with open(os.path.join(folder, "other.key"), "w", encoding="ascii") as file:
        file.write("another key, of another set\n")
    run(SPOOR, "export", trace, "--spoor", other, "--anonymise", os.path.join(folder, "other.key"))
    words = [set(re.findall(r"User +(\S+) \(as the trace says\)|Hosts +(.+)|Executable +(\S+)", run(SPOOR, "show", path)[1])) for path in (again, other)]
    tap.ok(words[0] and not words[0] & words[1], "another key: other pseudonyms", words)
    for value, why in (("/dev/null", "can be guessed"), (os.path.join(folder, "none"), "No such file"), ("env:WOMBATNONE", "is not set")):
        status, _, err = run(SPOOR, "export", trace, "--spoor", other + "-", "--anonymise", value)
        tap.ok(status == 1 and why in err and not os.path.exists(other + "-"), f"a bad key: {why}", err)
    tap.equal(run(SPOOR, "export", trace, "--spoor", other + "-")[0], 2, "--spoor without --anonymise")


SAYS = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	char text[64] = "contents of a message", got[64];
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	strcat(text, getenv("WOMBATVARIABLE"));
	MPI_Sendrecv(text, 64, MPI_CHAR, !rank, 1, got, 64, MPI_CHAR, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Bcast(got, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Finalize();
}
"""


def tells(folder):
    """A trace has nothing of messages, nor of the environment."""
    program, trace = os.path.join(folder, "says"), os.path.join(folder, "says.spoor")
    with open(program + ".c", "w", encoding="ascii") as file:
        file.write(SAYS)
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as makefile:
        mpicc = re.search(r"^MPICC = (.+)", makefile.read(), re.MULTILINE).group(1)
    subprocess.run([mpicc, "-o", program, program + ".c"], check=True)
    os.environ["WOMBATVARIABLE"] = "wombatvalue"
    done = launch.mpirun(2, [program], before=[SPOOR, "run", "-f", "-o", trace, "--"], cwd=folder, timeout=60)
    del os.environ["WOMBATVARIABLE"]
    tap.ok(done.returncode == 0 and b"MPI_Sendrecv" in content(trace), "a program that sends what is in its environment", done.stderr.decode(errors="replace"))
    tap.equal(survivors(trace, {b"contents of a", b"wombatvalue", b"WOMBATVARIABLE"}), [], "its trace has neither messages nor the environment")


# Everything that a program can give a name to, and functions that say what they are for.
NAMED = """
#include <mpi.h>
#include <stdlib.h>
static int wombatbuffer[100];
static void wombat_combine(void *a, void *b, int *n, MPI_Datatype *type) { (void)a, (void)b, (void)n, (void)type; }
static __attribute__((noinline)) void wombat_exchange(MPI_Comm comm, int turn)
{
	MPI_Bcast(wombatbuffer, 1 + turn % 3, MPI_INT, 0, comm);
	MPI_Barrier(comm);
}
static __attribute__((noinline)) void wombat_write(const char *path, MPI_Info hints)
{
	MPI_File file;
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
	MPI_File_write_at_all(file, 0, wombatbuffer, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
}
int main(int argc, char **argv)
{
	MPI_Comm comm;
	MPI_Datatype type;
	MPI_Win window;
	MPI_Info hints;
	MPI_Op op;
	int in = 1, out;
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_name(comm, "wombatcomm");
	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Type_set_name(type, "wombattype");
	MPI_Type_commit(&type);
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "wombatkeyword", "wombathint");
	MPI_Win_create(wombatbuffer, sizeof wombatbuffer, 1, hints, comm, &window);
	MPI_Win_set_name(window, "wombatwindow");
	MPI_Op_create(wombat_combine, 1, &op);
	MPI_Allreduce(&in, &out, 1, MPI_INT, op, comm);
	for (int turn = 0; turn < CALLS; turn++) {
		wombat_exchange(comm, turn);
		MANY
	}
	wombat_write(argv[1], hints);
	MPI_Op_free(&op);
	MPI_Win_free(&window);
	MPI_Info_free(&hints);
	MPI_Type_free(&type);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
"""


def proxies(folder, key):
    """The program of an anonymised trace, small and large: it makes the calls, and has no name of the original in its text, its files or their names."""
    with open(os.path.join(tap.BUILD, "Makefile"), encoding="utf-8") as makefile:
        mpicc = re.search(r"^MPICC = (.+)", makefile.read(), re.MULTILINE).group(1)
    for size, many in (("small", ""), ("large", "".join(f"if (turn % {2 + i % 5} == 0) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm); MPI_Barrier(comm);\n" for i in range(60)))):
        program, trace, out = (os.path.join(folder, f"wombat{size}{end}") for end in ("code", ".spoor", ".proxy"))
        with open(program + ".c", "w", encoding="ascii") as file:
            file.write(NAMED.replace("CALLS", "20").replace("MANY", many))
        subprocess.run([mpicc, "-g", "-o", program, program + ".c"], check=True)
        done = launch.mpirun(2, [program, os.path.join(folder, "wombatfile.dat"), "wombatargument"], before=[SPOOR, "run", "-f", "-o", trace + "-", "--"], cwd=folder, timeout=60)
        if not tap.ok(done.returncode == 0, f"{size}: a trace of it", done.stderr.decode(errors="replace")):
            continue
        meta.replace(trace + "-", trace, lambda facts: facts.update(FACTS))
        status, _, err = run(SPOOR, "proxy", "--no-run", trace, "-o", out)
        if tap.ok(status == 0, f"{size}: its program", err):
            found = survivors(out, secrets(trace, folder) | {b"wombat_exchange", b"wombatcomm", b"wombatwindow", b"wombathint"})
            tap.ok(len(found) > 4, f"{size}: its program has names of the original", found)
            shutil.rmtree(out)
        status, said, err = run(SPOOR, "proxy", trace, "-o", out, "--anonymise", key, *LAUNCHER)
        if tap.ok(status == 0 and "not run" not in err, f"{size}: the program of the anonymised trace makes the same calls", err):
            tap.equal(survivors(out, secrets(trace, folder)), [], f"{size}: it has no name of the original")
            tap.equal(survivors_in(said + err, secrets(trace, folder)), [], f"{size}: nothing that is said of it has one")


def main():
    folder = tempfile.mkdtemp(prefix="wombatfolder-")
    try:
        key = os.path.join(folder, "key")
        with open(key, "w", encoding="ascii") as file:
            file.write(KEY + "\n")
        tells(folder)
        proxies(folder, key)
        for name in ("halo", "comms", "objects", "files"):
            check(folder, key, name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
