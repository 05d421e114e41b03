/* SPDX-License-Identifier: BSD-3-Clause
 * random - a random program: nested loops, branches, varying parameters, random walks of MPI calls
 *
 *     random [SEED [EVENTS]]        about EVENTS statements (default 400) on any number of ranks
 *
 * From the seed a tree of statements is made, the same on all ranks; then it is executed. Every statement that
 * communicates is complete in itself and entered by all ranks in the same order with the same shared values (`both`),
 * so that nothing can deadlock. Values of one rank alone (`mine`) only decide what has no partner: how requests are
 * waited for, which local calls are made.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHILDREN = 5, DEPTH = 4, LOOPS = 8, BUFFER = 4096 };

enum kind {
	BLOCK,
	LOOP,
	BRANCH,
	WALK,
	RING,
	PAIRS,
	FUNNEL,
	COLLECTIVE,
	IMMEDIATE,
	LOCAL,
	PERSISTENT,
	SPLIT,
	TYPED,
	KINDS
};

struct node {
	enum kind kind;
	int a, b, c; /* of the statement: kinds, sizes, trip counts */
	int children;
	struct node *child[CHILDREN];
};

static uint64_t both_state, mine_state;
static int rank, size, budget;
static double out[BUFFER], in[BUFFER];
static int vector[64], ones[64], places[64];

static unsigned next_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned)(*state >> 33);
}

static int both(int n)
{
	return (int)(next_of(&both_state) % (unsigned)n);
}

static int mine(int n)
{
	return (int)(next_of(&mine_state) % (unsigned)n);
}

static struct node *make(int depth)
{
	struct node *t = calloc(1, sizeof(*t));

	t->kind = depth == 0 ? BLOCK : depth >= DEPTH ? RING + both(KINDS - RING) : LOOP + both(KINDS - LOOP);
	t->a = both(6);
	t->b = both(40);
	t->c = 1 + both(9);
	if (t->kind <= WALK || t->kind == SPLIT)
		t->children = depth >= DEPTH ? 0 : 1 + both(CHILDREN);
	for (int i = 0; i < t->children; i++)
		t->child[i] = make(depth + 1);
	return t;
}

static void drop(struct node *t)
{
	for (int i = 0; i < t->children; i++)
		drop(t->child[i]);
	free(t);
}

/* A parameter: constant, counting up with the loop, alternating, or drawn anew. Shared by all ranks. */
static int vary(const struct node *t, int i)
{
	switch (t->a) {
	case 0:
	case 1:
		return t->b;
	case 2:
		return t->b + i;
	case 3:
		return t->b + (i & 1) * 7;
	case 4:
		return t->b + both(3);
	default:
		return both(60);
	}
}

/* Completes n requests in a way that this rank draws. */
static void complete(int n, MPI_Request *q)
{
	int flag = 0, index, count, done[8];
	MPI_Status s[8];

	switch (mine(6)) {
	case 0:
		MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
		break;
	case 1:
		for (int i = n - 1; i >= 0; i--)
			MPI_Wait(&q[i], &s[i]);
		break;
	case 2:
		for (int i = 0; i < n; i++)
			MPI_Waitany(n, q, &index, mine(2) ? s : MPI_STATUS_IGNORE);
		break;
	case 3:
		for (int left = n; left > 0; left -= count)
			MPI_Waitsome(n, q, &count, done, s);
		break;
	case 4:
		while (!flag)
			MPI_Testall(n, q, &flag, s);
		break;
	default:
		for (int i = 0; i < n; i++)
			for (flag = 0; !flag;)
				MPI_Test(&q[i], &flag, MPI_STATUS_IGNORE);
	}
}

static void ring(MPI_Comm comm, int me, int n, const struct node *t, int i)
{
	int shift = 1 + t->c % (n > 1 ? n : 1), count = vary(t, i), tag = t->a == 2 ? i : t->b;
	MPI_Request q[4];
	int half = t->c % 2 ? 1 : 2;

	for (int k = 0; k < half; k++) {
		int up = (me + shift + k) % n, down = ((me - shift - k) % n + n) % n;

		MPI_Irecv(in + 1024 * k, 1024, MPI_DOUBLE, down, tag, comm, &q[2 * k]);
		MPI_Isend(out, count, MPI_DOUBLE, up, tag, comm, &q[2 * k + 1]);
	}
	complete(2 * half, q);
}

/* Partners by exclusive or; who has none talks to MPI_PROC_NULL. */
static void pairs(MPI_Comm comm, int me, int n, const struct node *t, int i)
{
	int partner = me ^ t->c, count = vary(t, i);
	MPI_Request q[4];

	if (partner >= n)
		partner = MPI_PROC_NULL;
	if (t->b % 3 == 0) {
		MPI_Sendrecv(out, count, MPI_INT, partner, i, in, BUFFER, MPI_INT, partner, i, comm, MPI_STATUS_IGNORE);
	} else if (t->b % 3 == 1) {
		MPI_Irecv(in, BUFFER, MPI_INT, partner, 1, comm, &q[0]);
		MPI_Irecv(in + 2048, BUFFER, MPI_INT, partner, 2, comm, &q[1]);
		MPI_Isend(out, count, MPI_INT, partner, 2, comm, &q[2]);
		MPI_Isend(out, count + 1, MPI_INT, partner, 1, comm, &q[3]);
		complete(4, q);
	} else {
		MPI_Sendrecv_replace(out, count, MPI_INT, partner, 9, partner, 9, comm, (MPI_Status[1]){{0}});
	}
}

/* Everybody sends to one rank, which takes them as they come. */
static void funnel(MPI_Comm comm, int me, int n, const struct node *t, int i)
{
	int root = (t->c + (t->a == 2 ? i : 0)) % n;
	MPI_Status s;

	if (me != root) {
		MPI_Send(out, mine(20), MPI_INT, root, 50 + t->b % 5, comm);
	} else {
		for (int k = 0; k < n - 1; k++) {
			if (mine(3) == 0) {
				MPI_Probe(MPI_ANY_SOURCE, 50 + t->b % 5, comm, &s);
				MPI_Recv(in, 64, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
			} else {
				MPI_Recv(in, 64, MPI_INT, MPI_ANY_SOURCE, 50 + t->b % 5, comm,
				         mine(2) ? &s : MPI_STATUS_IGNORE);
			}
		}
	}
	MPI_Barrier(comm);
}

static void collective(MPI_Comm comm, int me, int n, const struct node *t, int i)
{
	int count = vary(t, i), root = (t->c + i) % n;

	switch (t->b % 9) {
	case 0:
		MPI_Bcast(in, count, MPI_DOUBLE, root, comm);
		break;
	case 1:
		MPI_Reduce(me == root && t->c > 4 ? MPI_IN_PLACE : out, me == root ? in : NULL, count, MPI_INT, MPI_SUM,
		           root, comm);
		break;
	case 2:
		MPI_Allreduce(t->c > 5 ? MPI_IN_PLACE : out, in, count, MPI_INT, MPI_MAX, comm);
		break;
	case 3:
		MPI_Alltoall(out, count % 8, MPI_INT, in, count % 8, MPI_INT, comm);
		break;
	case 4:
		MPI_Gather(out, count % 8, MPI_INT, me == root ? in : NULL, count % 8, MPI_INT, root, comm);
		break;
	case 5:
		for (int k = 0; k < n; k++)
			vector[k] = 1 + (count + k) % 5;
		MPI_Allgatherv(out, vector[me], MPI_INT, in, vector, places, MPI_INT, comm);
		break;
	case 6:
		MPI_Scan(out, in, count, MPI_INT, MPI_MIN, comm);
		break;
	case 7:
		MPI_Alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, comm);
		break;
	default:
		MPI_Barrier(comm);
	}
}

static void immediate(MPI_Comm comm, int n, const struct node *t, int i)
{
	MPI_Request q[3];
	int count = vary(t, i);

	MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, comm, &q[0]);
	MPI_Ibcast(in + 2048, t->c, MPI_INT, i % n, comm, &q[1]);
	MPI_Ibarrier(comm, &q[2]);
	complete(3, q);
}

static void local(MPI_Comm comm)
{
	int flag, n, index;
	MPI_Request none = MPI_REQUEST_NULL;
	MPI_Datatype t;

	for (int k = mine(4); k > 0; k--) {
		switch (mine(5)) {
		case 0:
			MPI_Iprobe(MPI_ANY_SOURCE, 12345, comm, &flag, MPI_STATUS_IGNORE);
			break;
		case 1:
			MPI_Comm_size(comm, &n);
			break;
		case 2:
			MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
			break;
		case 3:
			MPI_Waitany(1, &none, &index, MPI_STATUS_IGNORE);
			break;
		default:
			MPI_Type_contiguous(1 + mine(9), MPI_INT, &t);
			MPI_Type_free(&t);
		}
	}
}

static void persistent(MPI_Comm comm, int me, int n, const struct node *t)
{
	MPI_Request q[2];

	MPI_Recv_init(in, BUFFER, MPI_DOUBLE, (me + n - 1) % n, t->c, comm, &q[0]);
	MPI_Send_init(out, t->b, MPI_DOUBLE, (me + 1) % n, t->c, comm, &q[1]);
	for (int k = 0; k < t->c; k++) {
		MPI_Startall(2, q);
		complete(2, q);
	}
	MPI_Request_free(&q[mine(2)]);
	for (int k = 0; k < 2; k++)
		if (q[k] != MPI_REQUEST_NULL)
			MPI_Request_free(&q[k]);
}

static void typed(MPI_Comm comm, int me, int n, const struct node *t)
{
	MPI_Datatype d;

	MPI_Type_vector(1 + t->c, 1, 2 + t->a, MPI_DOUBLE, &d);
	MPI_Type_commit(&d);
	MPI_Sendrecv(out, 1 + t->b % 3, d, (me + 1) % n, 3, in, BUFFER / 128, d, (me + n - 1) % n, 3, comm,
	             (MPI_Status[1]){{0}});
	MPI_Type_free(&d);
}

static void run(const struct node *t, MPI_Comm comm, int i)
{
	int me, n;
	MPI_Comm part;

	if (budget-- <= 0)
		return;
	PMPI_Comm_rank(comm, &me);
	PMPI_Comm_size(comm, &n);
	switch (t->kind) {
	case BLOCK:
		for (int k = 0; k < t->children; k++)
			run(t->child[k], comm, i);
		break;
	case LOOP: {
		int trips = t->a == 5 ? 1 + both(t->c) : t->c;
		for (int j = 0; j < trips; j++)
			for (int k = 0; k < t->children; k++)
				run(t->child[k], comm, j);
		break;
	}
	case BRANCH: /* every c-th time the other way */
		run(t->child[i % t->c == 0 ? 0 : t->children - 1], comm, i);
		break;
	case WALK:
		for (int j = 0; j < t->c; j++)
			run(t->child[both(t->children)], comm, j);
		break;
	case RING:
		ring(comm, me, n, t, i);
		break;
	case PAIRS:
		pairs(comm, me, n, t, i);
		break;
	case FUNNEL:
		funnel(comm, me, n, t, i);
		break;
	case COLLECTIVE:
		collective(comm, me, n, t, i);
		break;
	case IMMEDIATE:
		immediate(comm, n, t, i);
		break;
	case LOCAL:
		local(comm);
		break;
	case PERSISTENT:
		persistent(comm, me, n, t);
		break;
	case TYPED:
		typed(comm, me, n, t);
		break;
	case SPLIT: {
		/* The parts run the same statements, each in its own communicator: what they draw must stay the same,
		 * so the shared state and the budget go on from where they were, whatever the part did. */
		uint64_t state = both_state;
		int left = budget;

		MPI_Comm_split(comm, me % (1 + t->c % 3), t->a % 2 ? me : -me, &part);
		for (int k = 0; k < t->children; k++)
			run(t->child[k], part, i);
		MPI_Comm_free(&part);
		both_state = state;
		next_of(&both_state);
		budget = left - 1;
		break;
	}
	case KINDS:
		break;
	}
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	int events = argc > 2 ? atoi(argv[2]) : 400;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	both_state = 0x9e3779b97f4a7c15u + seed * 0x2545f4914f6cdd1du;
	mine_state = both_state ^ (uint64_t)(rank + 1) * 0xda942042e4dd58b5u;
	for (int i = 0; i < 64; i++) {
		ones[i] = 1;
		places[i] = 8 * i;
	}
	for (budget = events; budget > 0;) {
		struct node *t = make(0);
		int times = 1 + both(12);

		for (int i = 0; i < times && budget > 0; i++)
			run(t, MPI_COMM_WORLD, i);
		drop(t);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("random: seed %u\n", seed);
	MPI_Finalize();
	return 0;
}
