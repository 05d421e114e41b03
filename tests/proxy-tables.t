#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# proxy-tables - numbers that follow from others are said once in the programs that spoor proxy writes; tables have one form, however long they are
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from proxying import masked, same, written  # noqa: E402
from replaying import trace  # noqa: E402

APPS = os.path.join(tap.BUILD, "bench/apps")


def compiled(folder, name, body):
    """A program of this body of main, which knows rank, size and i."""
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="ascii") as f:
        f.write("#include <mpi.h>\n#include <stdlib.h>\nint main(void)\n{\n\tint rank, size, i;\n\tMPI_Init(0, 0);\n\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
                "\tMPI_Comm_size(MPI_COMM_WORLD, &size);\n\tsize += i = 0;\n" + body + "\tMPI_Finalize();\n}\n")
    subprocess.run(["mpicc", "-o", path, path + ".c"], check=True)
    return [path]


with tempfile.TemporaryDirectory() as folder:
    for name, count in (("settle", "i < 3 ? i : 3"), ("settle-late", "i < 300 ? i * i % 97 : 5")):
        same(folder, name, compiled(folder, name, "\tchar b[1000];\n\tint n[2], d[2] = {0, 200};\n\tfor (i = 0; i < 320; i++) {\n"
                                    f"\t\tn[0] = n[1] = {count};\n\t\tMPI_Alltoallv(b, n, d, MPI_CHAR, b + 500, n, d, MPI_CHAR, MPI_COMM_WORLD);\n\t}}\n"), 2)
    rows = "\tchar b[4000];\n\tint n[4], d[4] = {0, 500, 1000, 1500}, m[4];\n\tfor (i = 0; i < 40; i++) {\n\t\tn[0] = 10 + i * i % 41;\n\t\tn[1] = i * (rank + 3) % 31;\n" \
        "\t\tn[2] = i * i * (rank + 5) % 37;\n\t\tn[3] = SUM - n[0] - n[1] - n[2];\n\t\tMPI_Alltoall(n, 1, MPI_INT, m, 1, MPI_INT, MPI_COMM_WORLD);\n" \
        "\t\tMPI_Alltoallv(b, n, d, MPI_CHAR, b + 2000, m, d, MPI_CHAR, MPI_COMM_WORLD);\n\t}\n"
    _, text, _ = same(folder, "rows", compiled(folder, "rows", rows.replace("SUM", "300")))
    tap.ok("\ta[3] = 300; /* less the others */\n" in text and "sendcounts_which = i;" in text, "what is left of a sum that is the same on all ranks", text)
    _, text, _ = same(folder, "no-rows", compiled(folder, "no-rows", rows.replace("SUM", "(rank == 3 && i == 7 ? 299 : 300)")))
    tap.ok("less the others" not in text, "not if one of them has another sum", text)
    _, text, _ = same(folder, "unstructured", [os.path.join(APPS, "unstructured"), "10"], 9)
    tap.ok(text.count("&request[started()]") == 2 and "MPI_Waitall(started(), &request[0]," in text, "ranks have other numbers of requests: they are numbered as they come", text)
    _, text, _ = same(folder, "amr", [os.path.join(APPS, "amr"), "40"])
    tap.ok(text.count("&request[started()]") >= 4 and text.count("MPI_Waitall(started(), &request[0],") == 2, "steps have other numbers of requests", text)
    once = "\tchar b[8000];\n\tint n[16], m[16], d[16];\n\tfor (i = 0; i < size; i++) {\n\t\td[i] = 250 * i;\n\t\tn[i] = (7 * rank * rank + i * i * rank + 3 * i) % 29;\n" \
        "\t\tm[i] = (7 * i * i + rank * rank * i + 3 * rank) % 29;\n\t}\n\tMPI_Alltoallv(b, n, d, MPI_CHAR, b + 4000, m, d, MPI_CHAR, MPI_COMM_WORLD);\n"
    _, text, _ = same(folder, "once", compiled(folder, "once", once), 16)
    tap.ok(re.search(r"a\[e\] = \(int\)table_\d+\[which\]\[rank\]\[e\];", text), "an array that is another one on each rank is one table, and no tables that nobody reads", text)
    types = "\tMPI_Datatype t, of[20];\n\tint n[20], k;\n\tMPI_Aint d[20];\n\tfor (i = 0; i < 6; i++) {\n\t\tfor (k = 0; k < 20; k++) {\n\t\t\tn[k] = 1 + (i * k) % 3;\n" \
        "\t\t\td[k] = 64 * k + i * k * k % 7 * 8;\n\t\t\tof[k] = k % 2 ? MPI_INT : MPI_DOUBLE;\n\t\t}\n\t\tMPI_Type_create_struct(20, n, d, of, &t);\n\t\tMPI_Type_free(&t);\n" \
        "\t\tfor (k = 0; k < 20; k++)\n\t\t\td[k] += i * i * k;\n\t\tMPI_Type_create_hindexed(20, n, d, MPI_INT, &t);\n\t\tMPI_Type_free(&t);\n\t}\n"
    same(folder, "types", compiled(folder, "types", types), 2)
    held = "\tMPI_Request q[40], held;\n\tint c = 0;\n\tfor (i = 0; i < 60; i++) {\n\t\tint k, n = i * i % 7 + rank;\n\t\tif (i % 9 == 3)\n" \
        "\t\t\tMPI_Irecv(&c, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &held);\n\t\tfor (k = 0; k < n; k++)\n\t\t\tMPI_Ibarrier(MPI_COMM_SELF, &q[k]);\n" \
        "\t\tMPI_Waitall(n, q, MPI_STATUSES_IGNORE);\n\t\tif (i % 9 != 5)\n\t\t\tcontinue;\n\t\tMPI_Send(&c, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);\n" \
        "\t\tMPI_Wait(&held, MPI_STATUS_IGNORE);\n\t}\n"
    _, text, _ = same(folder, "held", compiled(folder, "held", held))
    tap.ok("started()" not in text, "a request is held over others: they have their numbers", text)
    ends = "\tint a[9] = {0}, b[9], n = 20 + rank * rank * 3 % 17;\n\tfor (i = 0; i < 60; i++) {\n\t\tMPI_Allreduce(a, b, i < n ? 1 : 5, MPI_INT, MPI_SUM, MPI_COMM_SELF);\n" \
        "\t\tif (i < n - 9)\n\t\t\tMPI_Barrier(MPI_COMM_SELF);\n\t\tMPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);\n\t}\n"
    _, text, _ = same(folder, "ends", compiled(folder, "ends", ends))
    tap.ok(re.search(r"count = i < table_\d+\[rank\] \? 1 : 5;", text) and re.search(r"\tif \(i < table_\d+\[rank\]\) \{", text),
           "ranks that do the same, each so many times, share an expression", text)
    last = "\tint a[9] = {0}, b[9], n = 20 + rank * rank * 3 % 17;\n\tfor (i = 0; i < n; i++) {\n\t\tMPI_Allreduce(a, b, i < n - 2 ? 4 : 5, MPI_INT, MPI_SUM, MPI_COMM_SELF);\n" \
        "\t\tif (i < n - 1)\n\t\t\tMPI_Barrier(MPI_COMM_SELF);\n\t\tMPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);\n\t}\n"
    _, text, _ = same(folder, "last", compiled(folder, "last", last))
    tap.ok(re.search(r"for \(long i = 0; i < (table_\d+\[rank\]); i\+\+\) \{\n.*count = i < \1 - 2 \? 4 : 5;.*\tif \(i < \1 - 1\) \{", text, re.S),
           "the last turns are told by how many there are", text)
    _, text, _ = same(folder, "ocean", [os.path.join(APPS, "ocean"), "20"])
    tap.ok("draw(" not in text, "numbers that are not much longer than their runs are read where they stand", text)
    turns = "\tint a[99] = {0}, b[99];\n\tfor (i = 0; i < 24; i++) {\n\t\tMPI_Allreduce(a, b, rank ? 20 + i * i * (rank + 3) % 61 : 3 + i % 2, MPI_INT, MPI_SUM, MPI_COMM_SELF);\n\t}\n"
    _, text, _ = same(folder, "turns", compiled(folder, "turns", turns))
    tap.ok("[rank][at_most(i, 23)]" in text and "again_from" not in text, "what one rank does again and again is no period of ranks that do not", text)
    blocks = "".join("\tfor (i = 0; i < 24; i++) {\n\t\tMPI_Datatype t;\n\t\tint k, l[9], d[9], n = 3 + i * i % 5, c[99];\n\t\tfor (k = 0; k < n; k++) {\n"
                     f"\t\t\tl[k] = 1 + (i * i + rank * k + {place}) % 3;\n\t\t\td[k] = 7 * k + (i * k * k + rank + {place}) % 5;\n\t\t}}\n"
                     "\t\tif (i * i % 7 > 2)\n\t\t\tMPI_Barrier(MPI_COMM_SELF);\n\t\tMPI_Type_indexed(n, l, d, MPI_INT, &t);\n\t\tMPI_Type_commit(&t);\n"
                     f"\t\tMPI_Bcast(c, 1, t, 0, MPI_COMM_SELF);\n\t\tMPI_Type_free(&t);\n\t}}\n" for place in range(4))
    _, text, _ = same(folder, "many", compiled(folder, "many", "\tMPI_Barrier(MPI_COMM_SELF);\n" * 100 + blocks))
    tap.ok("= numbers(" in text and "array_" not in re.sub("array_of_", "", text), "a program of many calls takes arrays that have no rule from queues", text)
    tap.ok(text.count("MPI_Type_indexed(") == 1 and re.search(r"\n\t(\w+)\(.*\);\n\t\1\(.*\);\n\t\1\(.*\);\n\t\1\(", text[text.index("int main"):]),
           "statements that stand in four places are one function", text)
    for name, steps in (("ocean", 200), ("sort", 20), ("wavefront", 40)):
        runs = [written(folder, trace(folder, f"{name}-{n}", [os.path.join(APPS, name), str(n)]), f"{name}-{n}")[0] for n in (steps, 10 * steps)]
        lines = [masked(text).split("\n") for text in runs]
        other = [pair for pair in zip(*lines) if pair[0] != pair[1]]
        tap.ok(lines[0] == lines[1], f"{name}: ten times the steps are the same program but for numbers", other[:5])
    tap.done()
