# SPDX-License-Identifier: BSD-3-Clause
"""wild - random MPI programs in C, with many call sites, for tests of what is made from their traces

Each statement that communicates is complete in itself: all ranks of its communicator come to it in the same order, with the same shared values, so that
nothing can deadlock. Values of one rank alone decide what has no partner, or what the partner need not know."""
import random

HEAD = """#include <mpi.h>
#include <stdlib.h>

enum { ROOM = 16384 };
static int in[8][ROOM], out[8][ROOM], ones[64], places[64], sizes[64];
static int rank, size;
static unsigned state;

/* Of this rank alone. */
static int own(int n)
{
	state = state * 1103515245u + 12345u;
	return (int)(state >> 16 & 0x7fff) % n;
}

static void combine(void *a, void *b, int *n, MPI_Datatype *type)
{
	(void)a, (void)b, (void)n, (void)type;
}

static void finish(int how, int n, MPI_Request *q)
{
	int flag = 0, index, count, done[16];
	MPI_Status s[16];

	switch (how) {
	case 0:
		MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
		break;
	case 1:
		for (int i = n - 1; i >= 0; i--)
			MPI_Wait(&q[i], &s[i]);
		break;
	case 2:
		for (int i = 0; i < n; i++)
			MPI_Waitany(n, q, &index, s);
		break;
	case 3:
		for (int left = n; left > 0; left -= count)
			MPI_Waitsome(n, q, &count, done, s);
		break;
	case 4:
		while (!flag)
			MPI_Testall(n, q, &flag, s);
		break;
	case 5:
		for (int left = n; left > 0; left -= flag && index != MPI_UNDEFINED)
			MPI_Testany(n, q, &index, &flag, s);
		break;
	case 6:
		for (int left = n; left > 0; left -= count > 0 ? count : 0)
			MPI_Testsome(n, q, &count, done, s);
		break;
	default:
		for (int i = 0; i < n; i++)
			for (flag = 0; !flag;)
				MPI_Test(&q[i], &flag, s);
	}
}

"""


class Program:
    def __init__(self, seed, kinds=None):
        self.draw = random.Random(seed)
        self.kinds = kinds  # so many kinds of statements; None: all. A program that found something has those that there were.
        self.lines = []
        self.functions = []
        self.depth = 1
        self.loops = 0
        self.comms = 0
        self.cost = 1     # so often the statements that are written now are executed
        self.calls = 0    # executed in a rank, about
        self.style = self.draw.choice(("few", "many"))

    def put(self, line):
        self.lines.append("\t" * self.depth + line)

    def count(self, calls):
        self.calls += calls * self.cost

    # ---- values ----

    def shared(self, most, loops):
        """The same on all ranks, from 0 to the one before most."""
        d, variables = self.draw, loops[-2:]
        kind = d.randrange(6) if variables else 0
        if kind <= 1:
            return str(d.randrange(most))
        i = d.choice(variables)
        if kind == 2:
            return f"({d.randrange(most)} + {d.randrange(1, 9)} * {i}) % {most}"
        if kind == 3:
            return f"({i} % {d.randrange(2, 6)} == {d.randrange(2)} ? {d.randrange(most)} : {d.randrange(most)})"
        if kind == 4:
            return "(({i} * {i} + {a} * {i}) % {most})".format(i=i, a=d.randrange(1, 50), most=most)
        j = variables[0]
        return f"({i} + {d.randrange(1, 7)} * {j}) % {most}"

    def mine(self, most):
        """What each rank may have for itself."""
        d = self.draw
        return d.choice((f"own({most})", f"rank % {most}", f"(rank * {d.randrange(1, 30)} + {d.randrange(most)}) % {most}", f"(rank == {d.randrange(4)} ? {d.randrange(most)} : {d.randrange(most)})"))

    # ---- statements; c: the communicator, its rank and its size ----

    def ring(self, c, loops):
        d = self.draw
        n, shift, tag = d.randrange(1, 4), self.shared(5, loops), self.shared(30, loops)
        self.put("{")
        self.depth += 1
        self.put(f"MPI_Request q[{2 * n}];")
        self.put(f"const int shift = 1 + ({shift}) % (n_{c} > 1 ? n_{c} - 1 : 1), tag = {tag};")
        any_source, any_tag = d.random() < 0.15, d.random() < 0.15
        for k in range(n):
            source = "MPI_ANY_SOURCE" if any_source else f"(me_{c} + n_{c} - shift) % n_{c}"
            self.put(f"MPI_Irecv(in[{k}], ROOM, MPI_INT, {source}, {'MPI_ANY_TAG' if any_tag else f'tag + {k}'}, {c}, &q[{k}]);")
        for k in range(n):
            self.put(f"MPI_{d.choice(('Isend', 'Isend', 'Issend'))}(out[{k}], {self.draw.choice((self.mine(60), self.shared(5000, loops)))}, MPI_INT, (me_{c} + shift) % n_{c}, tag + {k}, {c}, &q[{n + k}]);")
        self.put(f"finish({d.choice((str(d.randrange(8)), 'own(8)'))}, {2 * n}, q);")
        if any_source or any_tag or d.random() < 0.5: # else the message of a later statement may be taken
            self.put(f"MPI_Barrier({c});")
        self.depth -= 1
        self.put("}")
        self.count(3 * n + 2)

    def pairs(self, c, loops):
        d = self.draw
        mask, size, tag = self.shared(7, loops), self.shared(3000, loops), self.shared(20, loops)
        self.put("{")
        self.depth += 1
        self.put(f"const int with = me_{c} ^ (1 + ({mask})), to = with < n_{c} ? with : MPI_PROC_NULL;")
        if d.random() < 0.5:
            self.put(f"MPI_Sendrecv(out[0], {size}, MPI_INT, to, {tag}, in[0], ROOM, MPI_INT, to, {tag}, {c}, MPI_STATUS_IGNORE);")
        else:
            self.put(f"if (me_{c} < to)")
            self.put(f"\tMPI_Send(out[0], {size}, MPI_INT, to, {tag}, {c});")
            self.put("else if (to != MPI_PROC_NULL)")
            self.put(f"\tMPI_Recv(in[0], ROOM, MPI_INT, {d.choice(('to', 'to', 'MPI_ANY_SOURCE'))}, {tag}, {c}, MPI_STATUS_IGNORE);")
            self.put(f"MPI_Barrier({c});")
        self.depth -= 1
        self.put("}")
        self.count(2)

    def shift(self, c, loops):
        """Neighbours in a grid that is not periodic, or of which some ranks are no part."""
        d = self.draw
        self.comms += 1
        grid = f"g{self.comms}"
        self.put("{")
        self.depth += 1
        less = d.randrange(2)
        self.put(f"int dims[1] = {{n_{c} > 1 ? n_{c} - {less} : 1}}, periods[1] = {{{d.randrange(2)}}}, left, right;")
        self.put(f"MPI_Comm {grid};")
        self.put(f"MPI_Cart_create({c}, 1, dims, periods, 0, &{grid});")
        self.put(f"if ({grid} != MPI_COMM_NULL) {{")
        self.depth += 1
        self.put(f"MPI_Cart_shift({grid}, 0, {d.randrange(1, 3)}, &left, &right);")
        turns = d.choice((1, 3, 8))
        self.put(f"for (int t = 0; t < {turns}; t++) {{")
        self.depth += 1
        for _ in range(d.randrange(1, 4)):
            size, tag = self.shared(3000, [*loops, "t"]), self.shared(9, [*loops, "t"])
            a, b = d.choice((("left", "right"), ("right", "left")))
            if d.random() < 0.5:
                self.put(f"MPI_Sendrecv(out[0], {size}, MPI_INT, {a}, {tag}, in[0], ROOM, MPI_INT, {b}, {tag}, {grid}, MPI_STATUS_IGNORE);")
            else:
                self.put("MPI_Request q[2];") if self.lines[-1].endswith("{") else self.put("{ MPI_Request q[2];")
                opened = not self.lines[-1].strip() == "MPI_Request q[2];"
                self.put(f"MPI_Irecv(in[0], ROOM, MPI_INT, {b}, {tag}, {grid}, &q[0]);")
                self.put(f"MPI_Isend(out[0], {size}, MPI_INT, {a}, {tag}, {grid}, &q[1]);")
                self.put("MPI_Waitall(2, q, MPI_STATUSES_IGNORE);" + (" }" if opened else ""))
        self.depth -= 1
        self.put("}")
        self.put(f"MPI_Comm_free(&{grid});")
        self.depth -= 1
        self.put("}")
        self.depth -= 1
        self.put("}")
        self.count(5 + 6 * turns)

    def master(self, c, loops):
        """A farm of tasks: the answer goes to whoever asked."""
        d = self.draw
        jobs, tag, probes = d.randrange(3, 20), d.randrange(50), d.random() < 0.4
        root = self.shared(3, loops)
        self.put("{")
        self.depth += 1
        self.put("MPI_Status s;")
        self.put(f"const int root = ({root}) % n_{c}, end = {tag + 1}, jobs = {jobs};")
        self.put("int x = 0, sent = 0, busy = 0;")
        self.put(f"if (me_{c} == root) {{")
        self.put(f"\tfor (int w = 0; w < n_{c}; w++)")
        self.put(f"\t\tif (w != root) MPI_Send(&sent, 1, MPI_INT, w, {tag}, {c}), sent++, busy++;")
        self.put("\twhile (busy > 0) {")
        if probes:
            self.put(f"\t\tMPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, {c}, &s);")
            self.put(f"\t\tMPI_Recv(in[0], ROOM, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, {c}, &s);")
        else:
            self.put(f"\t\tMPI_Recv(in[0], ROOM, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, {c}, &s);")
        self.put(f"\t\tMPI_Send(&sent, 1, MPI_INT, s.MPI_SOURCE, sent < jobs ? {tag} : end, {c});")
        self.put("\t\tbusy -= sent >= jobs, sent++;")
        self.put("\t}")
        self.put("} else {")
        self.put(f"\tfor (;;) {{")
        self.put(f"\t\tMPI_Recv(&x, 1, MPI_INT, root, MPI_ANY_TAG, {c}, &s);")
        self.put("\t\tif (s.MPI_TAG == end) break;")
        self.put(f"\t\tMPI_Send(out[0], 1 + own(40), MPI_INT, root, {tag} + 2 + own(2), {c});")
        self.put("\t}")
        self.put("}")
        self.put(f"MPI_Barrier({c});")
        self.depth -= 1
        self.put("}")
        self.count(3 * jobs)

    def funnel(self, c, loops):
        d = self.draw
        root, tag = self.shared(3, loops), self.shared(9, loops)
        self.put("{")
        self.depth += 1
        self.put(f"const int root = ({root}) % n_{c};")
        self.put(f"if (me_{c} != root)")
        self.put(f"\tMPI_Send(out[0], {self.mine(50)}, MPI_INT, root, {tag}, {c});")
        self.put(f"for (int k = 1; me_{c} == root && k < n_{c}; k++) {{")
        self.put("\tMPI_Status s;")
        how = d.randrange(3)
        if how == 0:
            self.put(f"\tMPI_Recv(in[0], ROOM, MPI_INT, MPI_ANY_SOURCE, {tag}, {c}, &s);")
        elif how == 1:
            self.put(f"\tint flag = 0;")
            self.put(f"\twhile (!flag) MPI_Iprobe(MPI_ANY_SOURCE, {tag}, {c}, &flag, &s);")
            self.put(f"\tMPI_Recv(in[0], ROOM, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, {c}, &s);")
        else:
            self.put("\tMPI_Message m;")
            self.put(f"\tMPI_Mprobe(MPI_ANY_SOURCE, {tag}, {c}, &m, &s);")
            self.put("\tMPI_Mrecv(in[0], ROOM, MPI_INT, &m, &s);")
        self.put("}")
        self.put(f"MPI_Barrier({c});")
        self.depth -= 1
        self.put("}")
        self.count(4)

    def collective(self, c, loops):
        d = self.draw
        n, root = self.shared(600, loops), f"({self.shared(4, loops)}) % n_{c}"
        few = self.shared(20, loops)
        self.put(d.choice((
            f"MPI_Bcast(in[0], {n}, MPI_INT, {root}, {c});",
            f"MPI_Reduce(out[0], in[0], {n}, MPI_INT, MPI_SUM, {root}, {c});",
            f"MPI_Allreduce({d.choice(('out[0]', 'MPI_IN_PLACE'))}, in[0], {n}, MPI_INT, {d.choice(('MPI_MAX', 'MPI_SUM', 'MPI_MIN'))}, {c});",
            f"MPI_Gather(out[0], {few}, MPI_INT, in[0], {few}, MPI_INT, {root}, {c});",
            f"MPI_Scatter(out[0], {few}, MPI_INT, in[0], {few}, MPI_INT, {root}, {c});",
            f"MPI_Allgather(out[0], {few}, MPI_INT, in[0], {few}, MPI_INT, {c});",
            f"MPI_Alltoall(out[0], {few}, MPI_INT, in[0], {few}, MPI_INT, {c});",
            f"MPI_Scan(out[0], in[0], {n}, MPI_INT, MPI_SUM, {c});",
            f"MPI_Alltoallv(out[0], ones, places, MPI_INT, in[0], ones, places, MPI_INT, {c});",
            f"MPI_Barrier({c});",
        )))
        if d.random() < 0.25:
            self.put(f"for (int k = 0; k < n_{c}; k++) sizes[k] = ({few} + k * {d.randrange(5)}) % 16;")
            self.put(f"MPI_Allgatherv(out[0], sizes[me_{c}], MPI_INT, in[0], sizes, places, MPI_INT, {c});")
        self.count(1)

    def immediate(self, c, loops):
        n, root = self.shared(600, loops), f"({self.shared(4, loops)}) % n_{c}"
        self.put("{")
        self.put("\tMPI_Request q[3];")
        self.put(f"\tMPI_Iallreduce(out[0], in[0], {n}, MPI_INT, MPI_SUM, {c}, &q[0]);")
        self.put(f"\tMPI_Ibcast(in[1], {n}, MPI_INT, {root}, {c}, &q[1]);")
        self.put(f"\tMPI_Ibarrier({c}, &q[2]);")
        self.put(f"\tfinish({self.draw.choice((str(self.draw.randrange(8)), 'own(8)'))}, 3, q);")
        self.put("}")
        self.count(6)

    def persistent(self, c, loops):
        d = self.draw
        turns, size, tag = d.randrange(1, 9), self.shared(900, loops), self.shared(9, loops)
        self.put("{")
        self.put("\tMPI_Request q[2];")
        source = d.choice((f"(me_{c} + 1) % n_{c}", "MPI_ANY_SOURCE"))
        self.put(f"\tMPI_Recv_init(in[0], ROOM, MPI_INT, {source}, {tag}, {c}, &q[0]);")
        self.put(f"\tMPI_Send_init(out[0], {size}, MPI_INT, (me_{c} + n_{c} - 1) % n_{c}, {tag}, {c}, &q[1]);")
        self.put(f"\tfor (int k = 0; k < {turns}; k++) {{")
        self.put(d.choice(("\t\tMPI_Startall(2, q);", "\t\tMPI_Start(&q[0]);\n\t\tMPI_Start(&q[1]);")))
        self.put(f"\t\tfinish({d.choice((0, 1, 4, 7))}, 2, q);")
        self.put("\t}")
        self.put("\tMPI_Request_free(&q[0]);")
        self.put("\tMPI_Request_free(&q[1]);")
        self.put(f"\tMPI_Barrier({c});")
        self.put("}")
        self.count(4 + 3 * turns)

    def typed(self, c, loops):
        d = self.draw
        a, b = self.shared(9, loops), self.shared(5, loops)
        self.put("{")
        self.put("\tMPI_Datatype t;")
        self.put("\t" + d.choice((f"MPI_Type_vector(1 + {a}, 1 + {b}, 8, MPI_INT, &t);", f"MPI_Type_contiguous(1 + {a}, MPI_DOUBLE, &t);",
                                  f"MPI_Type_indexed(1 + ({a}) % 5, ones, places, MPI_INT, &t);")))
        self.put("\tMPI_Type_commit(&t);")
        self.put(f"\tMPI_Sendrecv(out[0], 1 + {b}, t, (me_{c} + 1) % n_{c}, 3, in[0], 60, t, (me_{c} + n_{c} - 1) % n_{c}, 3, {c}, MPI_STATUS_IGNORE);")
        self.put(f"\tMPI_Bcast(in[0], 1, t, 0, {c});")
        self.put("\tMPI_Type_free(&t);")
        self.put("}")
        self.count(5)

    def window(self, c, loops):
        d = self.draw
        if c != "all" or self.cost > 2: # Open MPI 4.1 with this BTL makes none of a part of the ranks, and takes long
            return
        turns = d.randrange(1, 40)
        self.put("{")
        self.depth += 1
        self.put("MPI_Win w;")
        self.put(f"MPI_Win_create(in[7], ROOM * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, {c}, &w);")
        self.put("MPI_Win_fence(0, w);")
        self.put(f"for (int k = 0; k < {turns}; k++)")
        size = self.shared(30, [*loops, "k"])
        self.put(d.choice((f"\tMPI_Get(out[6], {size}, MPI_INT, (me_{c} + 1) % n_{c}, 4 * k, {size}, MPI_INT, w);",
                           f"\tMPI_Put(out[6], {size}, MPI_INT, (me_{c} + 1) % n_{c}, {size}, {size}, MPI_INT, w);",
                           f"\tMPI_Accumulate(out[6], {size}, MPI_INT, (me_{c} + k) % n_{c}, 0, {size}, MPI_INT, MPI_SUM, w);")))
        self.put("MPI_Win_fence(0, w);")
        if d.random() < 0.5:
            self.put(f"MPI_Win_lock(MPI_LOCK_SHARED, me_{c}, 0, w);")
            self.put(f"MPI_Get(out[5], 3, MPI_INT, me_{c}, {self.shared(9, loops)}, 3, MPI_INT, w);")
            self.put(f"MPI_Win_unlock(me_{c}, w);")
            self.put(f"MPI_Barrier({c});")
        self.put("MPI_Win_free(&w);")
        self.depth -= 1
        self.put("}")
        self.count(4 + turns)

    def grid(self, c, loops):
        """Neighbours, rows and columns of a grid."""
        d = self.draw
        size, few = self.shared(400, loops), self.shared(12, loops)
        self.put("{")
        self.depth += 1
        self.put(f"int dims[2] = {{0, 0}}, periods[2] = {{{d.randrange(2)}, {d.randrange(2)}}}, keep[2] = {{{d.choice(('0, 1', '1, 0'))}}}, at[2], from, to;")
        self.put("MPI_Comm grid, row;")
        self.put(f"MPI_Dims_create(n_{c}, 2, dims);")
        self.put(f"MPI_Cart_create({c}, 2, dims, periods, 0, &grid);")
        self.put(f"MPI_Cart_coords(grid, me_{c}, 2, at);")
        self.put("MPI_Cart_sub(grid, keep, &row);")
        for _ in range(d.randrange(1, 4)):
            self.put(d.choice((f"MPI_Allreduce(out[0], in[0], {size}, MPI_INT, MPI_SUM, row);", f"MPI_Bcast(in[0], {size}, MPI_INT, 0, row);",
                               f"MPI_Neighbor_allgather(out[0], {few}, MPI_INT, in[0], {few}, MPI_INT, grid);",
                               f"MPI_Cart_shift(grid, {d.randrange(2)}, 1, &from, &to);\n" + "\t" * self.depth +
                               f"MPI_Sendrecv_replace(in[0], {size}, MPI_INT, to, {few}, from, {few}, grid, MPI_STATUS_IGNORE);")))
        self.put("MPI_Comm_free(&row);")
        self.put("MPI_Comm_free(&grid);")
        self.put("(void)from, (void)to;")
        self.depth -= 1
        self.put("}")
        self.count(12)

    def uneven(self, c, loops):
        """Collective operations with an array of counts."""
        d = self.draw
        few, root, step = self.shared(12, loops), f"({self.shared(4, loops)}) % n_{c}", d.randrange(4)
        self.put(f"for (int k = 0; k < n_{c}; k++)")
        self.put(f"\tsizes[k] = ({few} + k * {step}) % 16;")
        self.put(d.choice((f"MPI_Gatherv(out[0], sizes[me_{c}], MPI_INT, in[0], sizes, places, MPI_INT, {root}, {c});",
                           f"MPI_Scatterv(out[0], sizes, places, MPI_INT, in[0], sizes[me_{c}], MPI_INT, {root}, {c});",
                           f"MPI_Reduce_scatter(out[0], in[0], sizes, MPI_INT, MPI_SUM, {c});",
                           f"MPI_Reduce_scatter_block(out[0], in[0], {few}, MPI_INT, MPI_MAX, {c});",
                           f"MPI_Exscan(out[0], in[0], {few}, MPI_INT, MPI_SUM, {c});")))
        self.count(1)

    def group(self, c, loops):
        """A communicator of some ranks, made of a group."""
        d = self.draw
        self.put("{")
        self.depth += 1
        self.put("MPI_Group whole, part;")
        self.put("MPI_Comm some;")
        self.put(f"int list[1] = {{({self.shared(4, loops)}) % n_{c}}};")
        self.put(f"MPI_Comm_group({c}, &whole);")
        self.put(f"MPI_Group_{d.choice(('excl', 'incl'))}(whole, 1, list, &part);")
        self.put(f"MPI_Comm_create({c}, part, &some);")
        self.put("if (some != MPI_COMM_NULL) {")
        self.put(f"\tMPI_Allreduce(MPI_IN_PLACE, in[0], {self.shared(90, loops)}, MPI_INT, MPI_SUM, some);")
        self.put("\tMPI_Comm_free(&some);")
        self.put("}")
        self.put("MPI_Group_free(&part);")
        self.put("MPI_Group_free(&whole);")
        self.depth -= 1
        self.put("}")
        self.count(7)

    def modes(self, c, loops):
        """Sends of other modes, and a receive that is given up."""
        d = self.draw
        size, tag = self.shared(90, loops), self.shared(9, loops)
        self.put("{")
        self.depth += 1
        self.put("MPI_Request q;")
        self.put("MPI_Status s;")
        self.put("int n;")
        self.put(f"MPI_Irecv(in[0], ROOM, MPI_INT, (me_{c} + 1) % n_{c}, {tag}, {c}, &q);")
        self.put(f"MPI_Barrier({c});")
        self.put(f"MPI_{d.choice(('Rsend', 'Send', 'Ssend'))}(out[0], {size}, MPI_INT, (me_{c} + n_{c} - 1) % n_{c}, {tag}, {c});")
        self.put("MPI_Wait(&q, &s);")
        self.put("MPI_Get_count(&s, MPI_INT, &n);")
        if d.random() < 0.5:
            self.put(f"MPI_Irecv(in[0], 1, MPI_INT, me_{c}, 4711, {c}, &q);")
            self.put("MPI_Cancel(&q);")
            self.put("MPI_Wait(&q, &s);")
        self.depth -= 1
        self.put("}")
        self.count(8)

    def layouts(self, c, loops):
        """Datatypes of arrays: of lengths, places and datatypes, which differ from turn to turn."""
        d = self.draw
        n, turns, step = d.randrange(1, 24), d.choice((1, 2, 6)), d.randrange(4)
        self.put(f"for (int t = 0; t < {turns}; t++) {{")
        self.depth += 1
        self.put(f"MPI_Datatype type, kinds[{n}];")
        self.put(f"MPI_Aint far[{n}];")
        self.put(f"int many[{n}];")
        self.put(f"for (int k = 0; k < {n}; k++)")
        self.put(f"\tmany[k] = (k + t) % 3 + 1, far[k] = 64 * k + {d.choice(('0', 't * k % 7 * 8', f'{self.mine(30)} * 8'))}, kinds[k] = (k + {step} * t) % 2 ? MPI_INT : MPI_DOUBLE;")
        self.put(d.choice((f"MPI_Type_create_struct({n}, many, far, kinds, &type);", f"MPI_Type_create_hindexed({n}, many, far, kinds[0], &type);",
                           f"MPI_Type_create_hindexed_block({n}, 1, far, MPI_INT, &type);", "MPI_Type_create_hvector(2, 1, 16 * t + 8, kinds[0], &type);",
                           "MPI_Type_create_subarray(2, (int[]){9, 9}, (int[]){1 + t % 3, 4}, (int[]){t % 2, 3}, MPI_ORDER_C, MPI_INT, &type);")))
        self.put("MPI_Type_commit(&type);")
        self.put(f"MPI_Sendrecv(out[0], 1, type, (me_{c} + 1) % n_{c}, 3, in[0], 1, type, (me_{c} + n_{c} - 1) % n_{c}, 3, {c}, MPI_STATUS_IGNORE);")
        self.put("MPI_Type_free(&type);")
        self.depth -= 1
        self.put("}")
        self.count(4 * turns)

    def packed(self, c, loops):
        size, tag = self.shared(90, loops), self.shared(9, loops)
        self.put("{")
        self.put("\tint at = 0, most;")
        self.put(f"\tMPI_Pack_size(1 + {size}, MPI_INT, {c}, &most);")
        self.put(f"\tMPI_Pack(out[0], 1 + {size}, MPI_INT, out[1], ROOM, &at, {c});")
        self.put(f"\tMPI_Pack(out[0], 3, MPI_DOUBLE, out[1], ROOM, &at, {c});")
        self.put(f"\tMPI_Sendrecv(out[1], at, MPI_PACKED, (me_{c} + 1) % n_{c}, {tag}, in[1], ROOM, MPI_PACKED, (me_{c} + n_{c} - 1) % n_{c}, {tag}, {c}, MPI_STATUS_IGNORE);")
        self.put("\tat = 0;")
        self.put(f"\tMPI_Unpack(in[1], ROOM, &at, in[0], 1 + {size}, MPI_INT, {c});")
        self.put("}")
        self.count(5)

    def objects(self, c, loops):
        """Names, hints, attributes, operations."""
        d = self.draw
        self.put("{")
        self.depth += 1
        self.put("MPI_Comm named;")
        self.put("MPI_Info hints;")
        self.put("MPI_Op op;")
        self.put("int key, flag;")
        self.put("void *value;")
        self.put(f"MPI_Comm_dup({c}, &named);")
        name = d.choice(('rank % 2 ? "odd" : "even"', '"some"'))
        self.put(f"MPI_Comm_set_name(named, {name});")
        self.put("MPI_Info_create(&hints);")
        self.put(f'MPI_Info_set(hints, "key{d.randrange(3)}", "{d.randrange(99)}");')
        self.put("MPI_Info_free(&hints);")
        self.put("MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);")
        self.put(f"if ({self.mine(3)})")
        self.put("\tMPI_Comm_set_attr(named, key, &key);")
        self.put("MPI_Comm_get_attr(named, key, &value, &flag);")
        self.put("MPI_Comm_free_keyval(&key);")
        self.put(f"MPI_Op_create(combine, {d.randrange(2)}, &op);")
        self.put(f"MPI_Allreduce(out[0], in[0], {self.shared(90, loops)}, MPI_INT, op, named);")
        self.put("MPI_Op_free(&op);")
        self.put("MPI_Comm_free(&named);")
        self.depth -= 1
        self.put("}")
        self.count(12)

    def between(self, c, loops):
        """Two groups of ranks, and what they send each other."""
        d = self.draw
        size, tag = self.shared(90, loops), self.shared(9, loops)
        self.put(f"if (n_{c} > 1) {{")
        self.depth += 1
        self.put("MPI_Comm half, both;")
        self.put("int there, here;")
        self.put(f"MPI_Comm_split({c}, me_{c} % 2, me_{c}, &half);")
        self.put(f"MPI_Intercomm_create(half, 0, {c}, 1 - me_{c} % 2, {tag}, &both);")
        self.put("MPI_Comm_remote_size(both, &there);")
        self.put("MPI_Comm_rank(both, &here);")
        self.put("if (here < there)")
        self.put(f"\tMPI_Sendrecv(out[0], {size}, MPI_INT, here, {tag}, in[0], ROOM, MPI_INT, here, {tag}, both, MPI_STATUS_IGNORE);")
        if d.random() < 0.5:
            self.put(f"MPI_Allreduce(out[0], in[0], {size}, MPI_INT, MPI_SUM, both);")
        self.put("MPI_Comm_free(&both);")
        self.put("MPI_Comm_free(&half);")
        self.depth -= 1
        self.put("}")
        self.count(7)

    def branch(self, c, loops):
        """Calls of some ranks only."""
        d = self.draw
        k, tag = d.randrange(2, 4), self.shared(9, loops)
        turns = d.choice(("1", str(d.randrange(2, 7)), f"1 + me_{c} % 3"))
        self.put(f"if (me_{c} % {k} == 0 && me_{c} + 1 < n_{c})")
        self.put(f"\tfor (int t = 0; t < {turns}; t++)")
        self.put(f"\t\tMPI_Send(out[0], {self.mine(30)}, MPI_INT, me_{c} + 1, {tag}, {c});")
        self.put(f"if (me_{c} % {k} == 1)")
        self.put(f"\tfor (int t = 0; t < {turns.replace(f'me_{c}', f'(me_{c} - 1)')}; t++)")
        self.put(f"\t\tMPI_Recv(in[0], ROOM, MPI_INT, {d.choice((f'me_{c} - 1', 'MPI_ANY_SOURCE'))}, {tag}, {c}, MPI_STATUS_IGNORE);")
        if "ANY" in self.lines[-1]:
            self.put(f"MPI_Barrier({c});")
        self.count(3)

    def local(self, c, loops):
        d = self.draw
        self.put(f"for (int k = own(4); k > 0; k--) {{")
        self.put("\tint flag;")
        self.put("\t" + d.choice((f"MPI_Comm_size({c}, &flag);", f"MPI_Iprobe(MPI_ANY_SOURCE, 12345, {c}, &flag, MPI_STATUS_IGNORE);",
                                  f"MPI_Comm_rank({c}, &flag);", "MPI_Initialized(&flag);")))
        self.put("}")
        self.count(2)

    def split(self, c, loops, depth):
        d = self.draw
        self.comms += 1
        part = f"p{self.comms}"
        out = d.random() < 0.4
        color = f"me_{c} % {d.randrange(1, 4)}"
        if out:
            color = f"me_{c} == {d.randrange(3)} && n_{c} > 1 ? MPI_UNDEFINED : {color}"
        self.put("{")
        self.depth += 1
        self.put(f"MPI_Comm {part};")
        self.put(f"MPI_Comm_split({c}, {color}, {d.choice((f'me_{c}', f'-me_{c}', '0'))}, &{part});" if d.random() < 0.8 or out else f"MPI_Comm_dup({c}, &{part});")
        self.put(f"if ({part} != MPI_COMM_NULL) {{")
        self.depth += 1
        self.put(f"int me_{part}, n_{part};")
        self.put(f"MPI_Comm_rank({part}, &me_{part});")
        self.put(f"MPI_Comm_size({part}, &n_{part});")
        self.put(f"(void)me_{part}, (void)n_{part};")
        self.block(part, loops, depth + 1)
        self.put(f"MPI_Comm_free(&{part});")
        self.depth -= 1
        self.put("}")
        self.depth -= 1
        self.put("}")
        self.count(4)

    def loop(self, c, loops, depth):
        d = self.draw
        self.loops += 1
        i, turns = f"i{self.loops}", min(d.choice((2, 3, 5, 10, 30)), max(1, 40 // self.cost))
        inner = f"1 + {loops[-1]} % 4" if loops and d.random() < 0.3 else str(turns)
        self.put(f"for (int {i} = 0; {i} < {inner}; {i}++) {{")
        self.depth += 1
        self.cost *= turns
        if d.random() < 0.3:
            self.put(f"if ({i} % {d.randrange(2, 5)} == {d.randrange(2)}) {{")
            self.depth += 1
            self.block(c, [*loops, i], depth + 1)
            self.depth -= 1
            self.put("}")
        self.block(c, [*loops, i], depth + 1)
        self.cost //= turns
        self.depth -= 1
        self.put("}")

    def function(self, c, loops, depth):
        """Statements in a function of their own, that is called in one to three places."""
        name = f"part_{len(self.functions) + 1}"
        self.functions.append(None)
        at = len(self.functions) - 1
        lines, self.lines, deep, self.depth = self.lines, [], self.depth, 1
        self.cost *= 3
        self.block(c, ["v"], depth + 1)
        self.cost //= 3
        body = "\n".join(self.lines)
        self.lines, self.depth = lines, deep
        self.functions[at] = f"static void {name}(MPI_Comm {c}, int me_{c}, int n_{c}, int v)\n{{\n\t(void){c}, (void)me_{c}, (void)n_{c}, (void)v;\n{body}\n}}\n"
        for _ in range(self.draw.randrange(1, 4)):
            self.put(f"{name}({c}, me_{c}, n_{c}, {self.shared(9, loops)});")

    def block(self, c, loops, depth):
        d = self.draw
        plain = (self.ring, self.ring, self.pairs, self.shift, self.master, self.funnel, self.collective, self.collective, self.immediate, self.persistent, self.typed,
                 self.window, self.branch, self.branch, self.local, self.grid, self.uneven, self.group, self.modes, self.layouts, self.packed, self.objects,
                 self.between)
        for _ in range(d.randrange(1, 5)):
            if self.calls > 1000:
                return
            kind = d.random()
            if depth < 4 and kind < 0.22:
                self.loop(c, loops, depth)
            elif depth < 4 and kind < 0.30:
                self.split(c, loops, depth)
            elif depth < 4 and kind < 0.40:
                self.function(c, loops, depth)
            else:
                d.choice(plain[:self.kinds])(c, loops)

    def text(self):
        blocks = self.draw.randrange(2, 6) if self.style == "few" else self.draw.randrange(12, 40)
        for _ in range(blocks):
            self.block("all", [], 0)
        body = "\n".join(self.lines)
        return (HEAD + "\n".join(f.split("\n{")[0] + ";" for f in self.functions) + "\n\n" + "\n".join(self.functions) +
                "\nint main(int argc, char **argv)\n{\n\tconst MPI_Comm all = MPI_COMM_WORLD;\n\tMPI_Init(&argc, &argv);\n\tMPI_Comm_rank(all, &rank);\n\tMPI_Comm_size(all, &size);\n"
                "\tconst int me_all = rank, n_all = size;\n\tstate = (unsigned)rank + 1;\n\tfor (int i = 0; i < 64; i++)\n\t\tones[i] = 1, places[i] = 16 * i;\n"
                f"\t(void)me_all, (void)n_all;\n{body}\n\tMPI_Barrier(all);\n\tMPI_Finalize();\n\treturn 0;\n}}\n")


def program(seed, kinds=None):
    return Program(seed, kinds).text()


if __name__ == "__main__":
    import sys
    print(program(*map(int, sys.argv[1:])), end="")
