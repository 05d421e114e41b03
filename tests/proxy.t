#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# proxy - programs that spoor proxy writes compile without a warning and make the calls of the trace; what cannot be written is refused
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch  # noqa: E402
import tap  # noqa: E402
from proxying import WARNINGS, same, written  # noqa: E402
from replaying import LAUNCHER, SPOOR, run, trace  # noqa: E402

APPS = os.path.join(tap.BUILD, "bench/apps")
PROGRAMS = os.path.join(tap.BUILD, "tests/programs")


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def refused(title, arguments, *words):
    status, said = run([SPOOR, "proxy", *arguments])
    tap.ok(status != 0 and all(w in said for w in words), title, said)


def spawning(folder):
    """The trace of processes that spawn others; None: Open MPI cannot do that here, or hangs each time, as on a machine with much to do (tests/spawn.t).
    There is a trace of each world. That of the spawned ones is often the first, as they end before."""
    for attempt in range(5):
        path = os.path.join(folder, f"spawn-{attempt}.spoor")
        done = launch.mpirun(2, [os.path.join(PROGRAMS, "spawn")], before=[SPOOR, "run", "-o", path, "--"], timeout=40, mca=launch.WORLDS_MCA)
        worlds = [os.path.join(folder, f) for f in os.listdir(folder) if f.startswith(os.path.basename(path))]
        parents = [w for w in worlds if " MPI_Comm_spawn " in run([SPOOR, "dump", w, "--rank", "0"])[1]]
        if done.returncode == 0 and parents:
            return parents[0]
    return None


def part_of_ranks(folder, calls):
    """A program of three ranks with so many different calls in a Cartesian communicator of the last two: its neighbours are nobody, or not of their
    number in MPI_COMM_WORLD."""
    draw = random.Random(calls)
    lines = ["#include <mpi.h>", "int main(void)", "{", "static int b[9000]; int rank, left, right, two = 2, no = 0;", "MPI_Comm part, line = MPI_COMM_NULL; MPI_Request q[2];",
             "MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank);", "MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &part);",
             "if (rank) {", "MPI_Cart_create(part, 1, &two, &no, 0, &line); MPI_Cart_shift(line, 0, 1, &left, &right);"]
    for _ in range(calls):
        to, source = draw.sample(("left", "right"), 2)
        size, tag = draw.randrange(1, 4000), draw.randrange(9)
        lines.append(draw.choice((f"MPI_Sendrecv(b, {size}, MPI_INT, {to}, {tag}, b + 4096, {size}, MPI_INT, {source}, {tag}, line, MPI_STATUS_IGNORE);",
                                  f"MPI_Irecv(b + 4096, {size}, MPI_INT, {source}, {tag}, line, q); MPI_Isend(b, {size}, MPI_INT, {to}, {tag}, line, q + 1);"
                                  "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
                                  f"MPI_Send(b, {size}, MPI_INT, {to}, {tag}, line); MPI_Recv(b + 4096, {size}, MPI_INT, {source}, {tag}, line, MPI_STATUS_IGNORE);",
                                  f"MPI_Bcast(b, {size}, MPI_INT, {tag % 2}, line);")))
    program = os.path.join(folder, f"part{calls}")
    with open(program + ".c", "w", encoding="ascii") as f:
        f.write("\n".join(lines + ["}", "MPI_Finalize();", "}", ""]))
    subprocess.run(["mpicc", "-o", program, program + ".c"], check=True)
    return [program]


with tempfile.TemporaryDirectory() as folder:
    same(folder, "part", part_of_ranks(folder, 100), 3)
    for how in ("recv", "probe", "irecv", "waitany"):
        same(folder, f"foreman-{how}", [os.path.join(PROGRAMS, "foreman"), "60", how], differ="not by chance")
    path, text, source = same(folder, "halo2d", [os.path.join(APPS, "halo2d"), "20"])
    tap.ok("MPI_Waitall(8, &request[0]" in text and "? rank - 2 : MPI_PROC_NULL" in text, "a halo exchange can be read", text)
    longer = trace(folder, "longer", [os.path.join(APPS, "halo2d"), "200"])
    other, _ = written(folder, longer, "longer")
    calls = [t[t.find("int main("):].count("\n") for t in (other, text)]
    tap.equal(calls[0], calls[1], "ten times the steps, as many lines of calls")
    same(folder, "multigrid", [os.path.join(APPS, "multigrid"), "3"])
    _, stencil, _ = same(folder, "halo3d", [os.path.join(APPS, "halo3d"), "5"], 8)
    tap.ok(re.search(r"beside\(rank, list_\d+\[\w+\] >> \w+ & 1 \? list_\d+\[\w+\] : NOBODY\)", stencil), "neighbours in three dimensions: how far they are, and who has them",
           stencil)
    _, sort, _ = same(folder, "sort", [os.path.join(APPS, "sort"), "20"], 8)
    tap.ok("a[e] = a[e - 1] + of[e - 1]" in sort and "a[rank] = array_" in sort, "displacements are sums of counts; what is received is what others send", sort)
    _, sort, _ = same(folder, "sort-4", [os.path.join(APPS, "sort"), "200"])
    tap.equal((sort.count("a[e] = a[e - 1] + of[e - 1]"), sort.count("a[rank] = array_")), (2, 1), "so they are where arrays are short, and some of a rank come twice")
    _, adi, _ = same(folder, "adi", [os.path.join(APPS, "adi"), "3"], 9)
    tap.ok(re.search(r"tag = \(100 \+ \(\d \+ rank % 3 \+ rank / 3 - i\) % 3 \+ 3 \* ", adi) and "count = table_" in adi,
           "tags go round the grid of ranks; how much is sent follows from the tag", adi)
    sweeps, wavefront, _ = same(folder, "wavefront", [os.path.join(APPS, "wavefront"), "60"], 9)
    tap.ok(re.search(r"for \(long i = 0; i < 3; i\+\+\) \{\n\t+for \(long j = 0; j < 20; j\+\+\) \{\n\t+sweep\(\);\n\t+sweep_2\(\);\n\t+face\(\);\n", wavefront) and "switch (list_" not in wavefront,
           "loops of ranks of which each leaves out other calls", wavefront[wavefront.find("int main("):])
    status, said = run([SPOOR, "proxy", "--no-run", "--scale", "0.25", sweeps, "-o", os.path.join(folder, "sweeps.proxy")])
    tap.ok(status == 0 and ": 60 turns -> 15, 0.0 % more than 0.25" in said, "they are shortened", said)
    days, ocean, _ = same(folder, "ocean", [os.path.join(APPS, "ocean"), "400"])
    tap.ok(re.search(r"\n\tfor \(long i = 0; i < 8; i\+\+\) \{\n\t\tfor \(long j = 0; j < 50; j\+\+\) \{\n\t\t\thalo\(\);\n\t\t\tbarotropic\(\);\n\t\t\}\n\t\tif \(.*\n.*\n\t+MPI_Gather\(", ocean),
           "a call that one rank makes at a site of its own is in the loop of all", ocean[ocean.find("int main("):])
    status, said = run([SPOOR, "proxy", "--no-run", "--scale", "0.25", days, "-o", os.path.join(folder, "days.proxy")])
    tap.ok(status == 0 and ": 8 turns -> 2, 0.0 % more than 0.25" in said, "of which so many are left", said)
    named = os.path.join(folder, "README")
    shutil.copy(os.path.join(PROGRAMS, "comms"), named)
    _, large, readme = same(folder, "comms", [named])
    tap.ok("if (last ==" in text and "work_rows" not in text and "if (last ==" not in large and "work_rows" in large, "what is computed is a table where there are many call sites")
    _, calls, _ = same(folder, "collectives", [os.path.join(PROGRAMS, "collectives")], differ="not by chance")
    tap.ok("static void Gather(int site, " in calls and "int site, " not in text, "and calls that differ in their values only are calls of a function", calls)
    tap.equal(os.path.basename(readme), "proxy.c", "a program that is called README is called proxy")
    _, polls, _ = same(folder, "pt2pt", [os.path.join(PROGRAMS, "pt2pt")], differ="not by chance")
    tap.ok(re.search(r"do\n\t+compute\(\d+\);\n\t+while \(poll_", polls), "it polls until it finds what was found")

    same(folder, "unstructured", [os.path.join(APPS, "unstructured"), "20"], 1) # it waits for no request, and has none
    same(folder, "objects", [os.path.join(PROGRAMS, "objects")])
    same(folder, "reuse", [os.path.join(PROGRAMS, "reuse")]) # no call has a buffer
    os.environ["SCRATCH"] = os.path.join(folder, "scratch")
    os.mkdir(os.environ["SCRATCH"])
    file = os.path.join(folder, "file")
    same(folder, "files", [os.path.join(PROGRAMS, "files"), file], differ="not by chance")
    tap.ok(not os.path.exists(file) and not os.listdir(os.environ["SCRATCH"]), "its files are elsewhere, and are removed")
    _, text, _ = same(folder, "polls", [os.path.join(PROGRAMS, "polls")], differ="not by chance")
    tap.ok("poll_one(0, 1, &request[0])" in text, "polls that found nothing are not in the program", text)
    same(folder, "polls-long", [os.path.join(PROGRAMS, "polls"), "long"], differ="not by chance")
    path = trace(folder, "anyof", [launch.compiled(folder, "mpicc", "anyof.c")], 5)
    _, source = written(folder, path, "anyof")
    subprocess.run(["sed", "-i", "s/^#define SCALE 1$/#define SCALE 0/", source], check=True)
    status, said = run([SPOOR, "proxy", path, "--check", os.path.dirname(source), "--time-limit", "60", *LAUNCHER])
    tap.ok(status == 0 and re.search("not by chance +0\n", said), "of several messages that are there, it finds the one that was found", said[-2000:])
    endless = os.path.join(folder, "endless")
    os.mkdir(endless)
    with open(os.path.join(endless, "endless.c"), "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\n#include <signal.h>\n#include <unistd.h>\nint main(void)\n{\n\tMPI_Init(0, 0);\n"
                "\tsignal(SIGTERM, SIG_IGN);\n\tfor (;;)\n\t\tsleep(1);\n}\n")
    status, said = run([SPOOR, "proxy", path, "--check", endless, "--time-limit", "3", *LAUNCHER])
    left = [p for p in os.listdir("/proc") if p.isdigit() and folder in link(f"/proc/{p}/exe")]
    tap.ok(status == 1 and "was not done after 3 s" in said and not left, "a program without end is ended", said, left)

    quarter = trace(folder, "quarter", [os.path.join(APPS, "halo2d"), "150"])
    out = os.path.join(folder, "quarter.proxy")
    status, said = run([SPOOR, "proxy", "--no-run", "--scale", "0.25", quarter, "-o", out])
    with open(os.path.join(out, "README"), encoding="utf-8") as f:
        tap.ok(status == 0 and "150 turns -> 38, 1.3 % more than 0.25" in said and said in f.read(), "a quarter: so many turns are left", said)
    program = os.path.join(folder, "quarter")
    subprocess.run(["mpicc", *WARNINGS, "-o", program, os.path.join(out, "halo2d.c")], check=True)
    dumps = []
    for path_of in (quarter, trace(folder, "quarter.run", [program])):
        dumps.append([subprocess.run([SPOOR, "dump", path_of, "--rank", str(r)], stdout=subprocess.PIPE, text=True, check=True).stdout for r in range(4)])
    waits = [[d.count(" MPI_Waitall ") for d in one] for one in dumps]
    tap.equal(waits, [[150] * 4, [38] * 4], "its program makes them, and comes to its end")
    tap.ok(all(one.count(f) == other.count(f) for one, other in zip(*dumps) for f in (" MPI_Cart_create ", " MPI_Type_free ", " MPI_Finalize")),
           "what is in front of the loop and behind it is there")
    ring = os.path.join(folder, "ring.c") # a message each turn that is received in the next one: the loop may be shortened; sends of one loop that
    with open(ring, "w", encoding="ascii") as f: # another one receives: it may not
        f.write("#include <mpi.h>\nint main(void)\n{\n\tint rank, b = 0;\n\tMPI_Request q;\n\tMPI_Init(0, 0);\n\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                "\tMPI_Irecv(&b, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &q);\n\tfor (int i = 0; i < 40; i++) {\n"
                "\t\tMPI_Send(&b, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);\n\t\tMPI_Wait(&q, MPI_STATUS_IGNORE);\n"
                "\t\tMPI_Irecv(&b, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &q);\n\t}\n\tMPI_Send(&b, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);\n"
                "\tMPI_Wait(&q, MPI_STATUS_IGNORE);\n\tfor (int i = 0; i < 20; i++)\n\t\tMPI_Send(&b, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);\n"
                "\tfor (int i = 0; i < 20; i++)\n\t\tMPI_Recv(&b, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\tMPI_Finalize();\n}\n")
    subprocess.run(["mpicc", "-o", ring[:-2], ring], check=True)
    out = os.path.join(folder, "ring.proxy")
    status, said = run([SPOOR, "proxy", "--no-run", "--scale", "0.25", trace(folder, "ring", [ring[:-2]], 2), "-o", out])
    tap.equal(said, "the loop of MPI_Send: 40 turns -> 10, 0.0 % more than 0.25\n", "loops that leave messages behind stay as they are")
    subprocess.run(["mpicc", *WARNINGS, "-o", ring[:-2] + ".program", os.path.join(out, "ring.c")], check=True)
    status, said = run(launch.command(2, [ring[:-2] + ".program"]))
    tap.equal(status, 0, "the program comes to its end")

    out = os.path.join(folder, "amr.proxy")
    status, said = run([SPOOR, "proxy", "--no-run", "--scale", "0.25", trace(folder, "amr", [os.path.join(APPS, "amr"), "100"]), "-o", out])
    tap.equal(said, "the loop that ends with MPI_Waitall: 100 turns -> 25, 0.0 % more than 0.25\n", "turns in which each rank makes other calls end with one that all make")
    subprocess.run(["mpicc", *WARNINGS, "-o", os.path.join(folder, "amr.program"), os.path.join(out, "amr.c")], check=True)
    status, said = run(launch.command(4, [os.path.join(folder, "amr.program")]))
    tap.equal(status, 0, "the program comes to its end")

    killed = trace(folder, "killed", [os.path.join(PROGRAMS, "ends"), "abort"])
    out = os.path.join(folder, "killed.proxy")
    refused("a run that was ended", [killed, "-o", out], "did not come to MPI_Finalize", "--partial")
    status, said = run([SPOOR, "proxy", "--no-run", "--partial", killed, "-o", out])
    tap.ok(status == 0, "its program is written as far as all ranks came", said)
    status, said = run([SPOOR, "proxy", killed, "--check", out, *LAUNCHER])
    tap.ok(status == 0 and re.search("ranks that differ +0\n", said), "and makes these calls", said)

    halfway = os.path.join(folder, "halfway") # a communicator of all ranks in another order
    with open(halfway + ".c", "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\n#include <signal.h>\nint main(void)\n{\n\tint rank;\n\tMPI_Comm all;\n\tMPI_Init(0, 0);\n\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                "\tMPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all);\n\tfor (int i = 0; i < 50; i++)\n\t\tMPI_Barrier(all);\n\tif (rank == 1)\n\t\traise(SIGKILL);\n"
                "\tMPI_Barrier(all);\n\tMPI_Finalize();\n}\n")
    subprocess.run(["mpicc", "-o", halfway, halfway + ".c"], check=True)
    out = os.path.join(folder, "halfway.proxy")
    status, said = run([SPOOR, "proxy", "--no-run", "--partial", trace(folder, "halfway", [halfway], 2), "-o", out])
    with open(os.path.join(out, "README"), encoding="utf-8") as f:
        tap.ok(status == 0 and re.search("the run was ended: 106 of 10[67] calls", said) and said in f.read(), "it goes as far as the last call on a communicator of all ranks", said)

    tap.ok("work_spend(" in text and "SCALE 1" in text, "it computes")
    phases = trace(folder, "phases", [os.path.join(APPS, "phases"), "50", "1", "10000", "--sleep"], 2)
    alone = written(folder, phases, "phases")[0]
    tap.ok(re.search(r"case \d+: /\* MPI_Barrier \*/\n\t\tif \(last == \d+\)\n\t\t\treturn rank == 0 \? ", alone), "what one rank computes once", alone[:6000])
    shorter = os.path.join(folder, "phases.quarter")
    status, said = run([SPOOR, "proxy", "--no-run", "--scale", "0.25", phases, "-o", shorter])
    with open(os.path.join(shorter, "phases.c"), encoding="utf-8") as f:
        fewer = f.read()
    once, each = [[float(re.search(pattern, text)[1]) for text in (fewer, alone)] for pattern in
                  (r"MPI_Barrier \*/\n\t\tif \(last == \d+\)\n\t\t\treturn rank == 0 \? ([\d.e+]+)", r"#define SCALE ([\d.]+)")]
    tap.ok(re.search(" turns -> 1[23],", said) and abs(once[0] / once[1] - 0.25) < 1e-3 and each[1] == 1 and abs(each[0] - 1) < 0.01,
           "a quarter: what comes once and stays computes a quarter", said, once, each)
    cache = os.path.join(folder, "cache")
    os.environ["XDG_CACHE_HOME"] = cache
    status, said = run([SPOOR, "proxy", "--calibrate"])
    tap.ok(status == 0 and os.path.exists(os.path.join(cache, "spoor/blocks")) and "flops" in said, "the blocks are measured, and the result is kept", said)
    os.environ["CC"] = "false"
    refused("a compiler that does not work", ["--calibrate"], "false cannot compile")
    del os.environ["CC"]
    refused("measuring needs no trace", ["--calibrate", path], "needs no trace")

    os.environ["LD_LIBRARY_PATH"] = os.path.join(tap.BUILD, "tests/papi")
    status, said = run([SPOOR, "proxy", "--calibrate"])
    tap.ok(status == 0 and "PAPI_TOT_INS" in said, "with what PAPI counts", said)
    counted = trace(folder, "counted", [os.path.join(APPS, "halo2d"), "20"], options=["--counters", "PAPI_TOT_INS,PAPI_TOT_CYC"])
    out = os.path.join(folder, "counted.proxy")
    run([SPOOR, "proxy", "--no-run", counted, "-o", out])
    status, said = run([SPOOR, "proxy", counted, "--check", out, *LAUNCHER])
    tap.ok(status == 0 and re.search(r"\nPAPI_TOT_CYC +0 +0 +\+0.0 %\nPAPI_TOT_INS +0 +0 ", said), "--check counts what the trace has counted", said)
    del os.environ["LD_LIBRARY_PATH"]
    status, said = run([SPOOR, "proxy", counted, "--check", out, *LAUNCHER])
    tap.ok(status == 0 and re.search(r"\nPAPI_TOT_INS +0 +not counted\n", said), "or says that it cannot", said)
    kept = os.path.join(cache, "spoor/blocks")
    with open(kept, "w", encoding="ascii") as f:
        f.write("blocks 00000001\nns gone 1\n")
    refused("measurements of blocks that are others now", [counted, "-o", os.path.join(folder, "none")], kept, "found those of others", "--calibrate")

    archive = os.path.join(folder, "archive")
    os.makedirs(archive, 0o755)
    suites = os.path.join(folder, "suites")
    os.mkdir(suites, 0o755)
    os.chmod(folder, 0o755)
    subprocess.run([sys.executable, os.path.join(tap.SOURCE, "tests/archive.py"), archive, "6", "20", path, longer], check=True, stdout=subprocess.DEVNULL)
    status, said = run([SPOOR, "proxy", "--no-run", "--suite", "2", "--archive", archive, "-o", os.path.join(suites, "two")])
    with open(os.path.join(suites, "two/SUITE"), encoding="utf-8") as f:
        table = [line.rstrip("\n").split("\t") for line in f if line[0] != "#"]
    tap.ok(status == 0 and len(table) == 2 and abs(sum(float(line[0]) for line in table) - 1) < 1e-3 and
           all(os.path.exists(os.path.join(suites, "two", line[4], "Makefile")) for line in table), "a suite of two programs, with their shares", said, table)
    refused("a suite of a trace", ["--suite", "2", path, "-o", os.path.join(folder, "none")], "needs no trace")
    refused("a suite of nothing", ["--suite", "2", "--archive", archive, "--until", "2001-01-01", "-o", os.path.join(folder, "none")], "no traces")

    for app, steps, factor in (("halo2d", 100, 2), ("halo3d", 20, 3)):
        known, other = (trace(folder, f"{app}-{n}", [os.path.join(APPS, app), str(n)]) for n in (steps, int(steps * factor)))
        out = os.path.join(folder, f"{app}-steps")
        status, said = run([SPOOR, "proxy", known, "-o", out, "--steps", str(factor), *LAUNCHER])
        tap.ok(status == 0 and "turns -> " in said and "not run" not in said, f"{app}: a program with {factor} times the steps, which is run", said)
        status, said = run([SPOOR, "proxy", other, "--check", out, *LAUNCHER])
        tap.ok(status == 0 and re.search("ranks that differ +0\n", said), f"{app}: it makes the calls of the application with so many steps", said)
    for app, why in (("sort", "sendcounts of MPI_Alltoallv has no rule on rank"), ("farm", "ranks make other numbers of them")):
        refused(f"{app}: steps that are not alike", [trace(folder, app + "-alike", [os.path.join(APPS, app), "20"]), "--steps", "3", "-o", os.path.join(folder, "none")], why)
    tenth = os.path.join(folder, "tenth")
    with open(tenth + ".c", "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\nint main(int argc, char **argv)\n{\n\tint b[20] = {0};\n\tMPI_Init(&argc, &argv);\n\tfor (int i = 0; i < (argc > 1 ? 800 : 400); i++) {\n"
                "\t\tMPI_Bcast(b, 1 + i % 2, MPI_INT, 0, MPI_COMM_WORLD);\n\t\tif (i % 4 == 3)\n\t\t\tMPI_Barrier(MPI_COMM_WORLD);\n\t}\n"
                "\tMPI_Bcast(b, 20, MPI_INT, 0, MPI_COMM_WORLD);\n\tMPI_Finalize();\n}\n")
    subprocess.run(["mpicc", "-o", tenth, tenth + ".c"], check=True)
    out = os.path.join(folder, "tenth-steps")
    status, said = run([SPOOR, "proxy", trace(folder, "tenth", [tenth], 2), "-o", out, "--no-run", "--steps", "2"])
    status, more = run([SPOOR, "proxy", trace(folder, "tenth-80", [tenth, "80"], 2), "--check", out, *LAUNCHER])
    tap.ok(status == 0, "what comes in each fourth step still does, and what is behind the loop comes once", said, more)
    refused("steps in the middle", [trace(folder, "tenth", [tenth], 2), "--steps", "1.005", "-o", os.path.join(folder, "none")], "the loop of MPI_Bcast cannot have 100.5 turns")
    refused("fewer steps", ["x.spoor", "--steps", "0.5", "-o", os.path.join(folder, "none")], "at least 1")

    refused("a folder that is there", [path, "-o", folder], "is there already")
    refused("no folder", [path], "-o DIR")
    out = os.path.join(folder, "none")
    lossy = os.path.join(folder, "lossy.spoor")
    launch.mpirun(2, [os.path.join(APPS, "sort"), "30"], before=[SPOOR, "run", "--mode", "lossy:4", "-f", "-o", lossy, "--"])
    refused("a lossy trace", [lossy, "-o", out], "MPI_Alltoallv, whose values of sendcounts have no order (a lossy trace)")
    falling = os.path.join(folder, "falling") # requests 0 (8 times) 3 2 1 0
    with open(falling + ".c", "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\nint main(void)\n{\n\tint rank, b = 0, c[3], d[12];\n\tMPI_Request held[3], q[12];\n\tMPI_Init(0, 0);\n"
                "\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\tfor (int i = 0; i < 12; i++) {\n\t\tfor (int k = 0; k < 3 && i == 8; k++)\n"
                "\t\t\tMPI_Irecv(&c[k], 1, MPI_INT, rank, k, MPI_COMM_WORLD, &held[k]);\n\t\tif (i > 8) {\n\t\t\tMPI_Send(&b, 1, MPI_INT, rank, 11 - i, MPI_COMM_WORLD);\n"
                "\t\t\tMPI_Wait(&held[11 - i], MPI_STATUS_IGNORE);\n\t\t}\n\t\tMPI_Irecv(&d[i], 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &q[i]);\n\t\tif (i < 8) {\n"
                "\t\t\tMPI_Send(&b, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);\n\t\t\tMPI_Wait(&q[i], MPI_STATUS_IGNORE);\n\t\t}\n\t}\n\tfor (int i = 8; i < 12; i++) {\n"
                "\t\tMPI_Send(&b, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);\n\t\tMPI_Wait(&q[i], MPI_STATUS_IGNORE);\n\t}\n\tMPI_Finalize();\n}\n")
    subprocess.run(["mpicc", "-o", falling, falling + ".c"], check=True)
    same(folder, "falling-requests", [falling], 2)
    blocks = os.path.join(folder, "blocks")
    with open(blocks + ".c", "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\nstatic void both(int i)\n{\n\tint b[100] = {0};\n\tMPI_Send(b, 1 + i * i % 7, MPI_INT, 0, 1, MPI_COMM_WORLD);\n"
                "\tMPI_Send(b, 2 + i * i % 11, MPI_INT, 0, 2, MPI_COMM_WORLD);\n}\nint main(void)\n{\n\tint rank, b[100] = {0};\n\tMPI_Init(0, 0);\n"
                "\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\tfor (int i = 0; i < 40; i++) {\n\t\tMPI_Barrier(MPI_COMM_WORLD);\n"
                "\t\tif (rank && i * i % 5 == 1)\n\t\t\tboth(i);\n\t\tif (!rank && i * i % 5 == 1) {\n\t\t\tMPI_Recv(b, 100, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
                "\t\t\tMPI_Recv(b, 50 + i % 9, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\t\t}\n\t}\n\tMPI_Finalize();\n}\n")
    subprocess.run(["mpicc", "-o", blocks, blocks + ".c"], check=True)
    _, text, _ = same(folder, "blocks", [blocks], 2)
    tap.equal(len(re.findall(r"\n\t+if \(", text[text.find("int main("):])), 2, "calls with the same condition are in one block")
    sizes = os.path.join(folder, "sizes")
    with open(sizes + ".c", "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\nint main(int argc, char **argv)\n{\n\tint rank, b[50] = {0};\n\tMPI_Init(&argc, &argv);\n\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                "\tunsigned x = (unsigned)rank;\n\tfor (int i = 0; i < 200 && rank; i++) {\n\t\tx = x * 1103515245 + 12345;\n"
                "\t\tMPI_Send(b, i == 199 ? 1 : 1 + (int)(x >> 16) % 50, MPI_INT, 0, 1, MPI_COMM_WORLD);\n\t}\n\tfor (int i = 0; i < 600 && !rank; i++)\n"
                "\t\tMPI_Recv(b, argc > 1 && i == 599 ? 20 : 50, MPI_INT, 1 + i % 3, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\tMPI_Finalize();\n}\n")
    subprocess.run(["mpicc", "-o", sizes, sizes + ".c"], check=True)
    modes = ("--mode", "lossy:8", "--structure", "exact")
    drawn = trace(folder, "drawn", [sizes], options=modes)
    text, source = written(folder, drawn, "drawn")
    status, said = run([SPOOR, "proxy", drawn, "--check", os.path.dirname(source), *LAUNCHER])
    tap.ok(status == 0 and re.search("by chance +0\n.*parameters without order +1\nfunctions that differ +0\n", said, re.S),
           "sizes without order are drawn: so many calls, each size as often", said, text[-2000:])
    counts = []
    for name, path_of in [("recorded", trace(folder, "recorded", [sizes]))] + [(n, None) for n in ("1", "1", "2")]:
        if path_of is None:
            subprocess.run(["mpicc", *WARNINGS, "-DSEED=" + name, "-o", sizes + ".program", source], check=True)
            path_of = trace(folder, "seed", [sizes + ".program"])
        counts.append([int(n) for r in range(4) for n in re.findall(r"MPI_Send count=(\d+)", run([SPOOR, "dump", path_of, "--rank", str(r)])[1])])
    tap.ok(counts[1] == counts[2] and counts[1] != counts[3] and counts[1] != counts[0], "the same seed draws the same, another one does not", counts)
    tap.equal([(len(c), sum(c), 1 <= min(c) <= max(c) <= 50) for c in counts[1:]], [(600, sum(counts[0]), True)] * 3, "as many, as much in all")
    refused("sizes for which a receive has no room", [trace(folder, "room", [sizes, "less"], options=modes), "-o", out], "not all receives have room")
    later = spawning(folder)
    if later:
        refused("processes that come later", [later, "-o", out], "MPI_Comm_spawn: processes that come later have traces of their own")
    else:
        tap.skip("processes that come later", "mpirun crashes, or hangs, when a program spawns")
    files = trace(folder, "errors", [os.path.join(PROGRAMS, "errors")], 2)
    refused("calls that returned an error", [files, "-o", out], "which returned an error", "MPI_")
    tap.ok(not os.path.exists(out), "nothing is written then")
    with open(os.path.join(folder, "key"), "w", encoding="ascii") as f:
        f.write("0123456789abcdef\n")
    status, said = run([SPOOR, "proxy", "--no-run", path, "-o", out, "--anonymise", os.path.join(folder, "key")])
    found = subprocess.run(["grep", "-rl", "halo2d", out], stdout=subprocess.PIPE, check=False).stdout
    tap.ok(status == 0 and not found, "no name is left if it is anonymised", said, found)

    if shutil.which("mpicc.mpich"):
        os.environ.update(SPOOR_TEST_MPI="mpich", MPICC="mpicc.mpich")
        path = trace(folder, "large", [launch.compiled(folder, "mpicc.mpich", "large.c")])
        out = os.path.join(folder, "large.proxy")
        run([SPOOR, "proxy", "--no-run", path, "-o", out])
        status, said = run(["mpicc.mpich", *WARNINGS, "-o", os.path.join(folder, "large.program"), os.path.join(out, "large.c")])
        tap.ok(status == 0, "large counts: it compiles without a warning", said[-2000:])
        status, said = run([SPOOR, "proxy", path, "--check", out, "--", "mpiexec.hydra"])
        tap.ok(status == 0 and re.search("ranks that differ +0\n", said), "large counts: the program's events are those of the trace", said[-2000:])
    tap.done()
