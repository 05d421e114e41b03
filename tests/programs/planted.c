/* SPDX-License-Identifier: BSD-3-Clause
 * planted - programs that lose time for causes that are known; computation is sleep, so that cores do not matter
 *
 *     planted STEPS KIND[:NAME=VALUE...] [KIND...]
 *
 *     planted 60 imbalance:rank=1:slow=20:fast=5 small
 *
 * Each step does all kinds, one after another; of several, ranks meet after each. A value that is not named is that of
 * the table below. At the end rank 0 prints for each kind what the ranks lost in it, and the time that they had: the
 * time of its steps that was not computation, over all ranks, in s.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (64 << 20)
#define KINDS 4 /* at a time */

/* How much of it: times in ms. */
struct amount {
	double slow, fast;
	int rank, bytes, count;
};

static int rank, size;
static char *out, *in;
static double computed;

static __attribute__((noinline)) void compute(double ms)
{
	double begin = MPI_Wtime();
	if (ms > 0)
		usleep((useconds_t)(1000 * ms));
	computed += MPI_Wtime() - begin;
}

static void ring(int bytes)
{
	MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 7, in, bytes, MPI_BYTE, (rank + size - 1) % size, 7,
	             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void)
{
	double x = 1, y;
	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* All compute alike. */
static void efficient(const struct amount *a, int step)
{
	(void)step;
	compute(a->slow);
	reduce();
}

/* All compute alike, in some steps for longer. */
static void together(const struct amount *a, int step)
{
	compute(step % a->count == 0 ? a->slow : a->fast);
	ring(a->bytes);
	reduce();
}

/* One rank computes for longer than the others. */
static void imbalance(const struct amount *a, int step)
{
	(void)step;
	compute(rank == a->rank ? a->slow : a->fast);
	ring(a->bytes);
	reduce();
}

/* The upper half of the ranks does. */
static void half(const struct amount *a, int step)
{
	(void)step;
	compute(rank >= size / 2 ? a->slow : a->fast);
	reduce();
}

/* One rank does, wherever it computes. */
static void slow(const struct amount *a, int step)
{
	(void)step;
	compute(rank == a->rank ? a->slow : a->fast);
	ring(a->bytes);
	compute(rank == a->rank ? a->slow : a->fast);
	MPI_Bcast(out, a->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	compute(rank == a->rank ? a->slow : a->fast);
	reduce();
}

/* One rank computes for longer, and those who send to it wait for that. */
static void receiver(const struct amount *a, int step)
{
	(void)step;
	if (rank == a->rank) {
		compute(a->slow);
		for (int i = 1; i < size; i++)
			MPI_Recv(in, a->bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		compute(a->fast);
		MPI_Ssend(out, a->bytes, MPI_BYTE, a->rank, 0, MPI_COMM_WORLD);
	}
}

/* Rank 0 computes, then sends to all. */
static void serial(const struct amount *a, int step)
{
	(void)step;
	if (rank == 0) {
		compute(a->slow);
		for (int i = 1; i < size; i++)
			MPI_Send(out, a->bytes, MPI_BYTE, i, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(in, a->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		compute(a->fast);
	}
}

/* Rank 0 gathers, and writes while the others wait. */
static void writer(const struct amount *a, int step)
{
	(void)step;
	compute(a->fast);
	MPI_Gather(out, a->bytes, MPI_BYTE, in, a->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (rank == 0)
		compute(a->slow);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 decides, the others wait for its word, then compute. */
static void decide(const struct amount *a, int step)
{
	(void)step;
	if (rank == 0)
		compute(a->slow);
	MPI_Bcast(out, a->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	compute(a->fast);
}

/* A master hands out pieces of work, for each of which it computes. */
static void master(const struct amount *a, int step)
{
	(void)step;
	for (int i = 0; rank == 0 && i < a->count * (size - 1); i++) {
		MPI_Status s;
		MPI_Recv(in, a->bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
		compute(a->slow);
		MPI_Send(out, a->bytes, MPI_BYTE, s.MPI_SOURCE, 2, MPI_COMM_WORLD);
	}
	for (int i = 0; rank > 0 && i < a->count; i++) {
		compute(a->fast);
		MPI_Send(out, a->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
		MPI_Recv(in, a->bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* Small messages, and nothing else. */
static void small(const struct amount *a, int step)
{
	(void)step;
	for (int i = 0; i < a->count; i++)
		ring(a->bytes);
}

/* The same, begun first and completed together. */
static void requests(const struct amount *a, int step)
{
	MPI_Request request[2];
	(void)step;
	for (int i = 0; i < a->count; i++) {
		MPI_Irecv(in, a->bytes, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(out, a->bytes, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD, &request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	}
}

/* One rank computes at a time, then sends to the next one. */
static void pipeline(const struct amount *a, int step)
{
	if (rank > 0 || step > 0)
		MPI_Recv(in, a->bytes, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	compute(a->slow);
	MPI_Send(out, a->bytes, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD);
}

static void pipeline_end(const struct amount *a, int steps)
{
	if (rank == 0 && steps > 0)
		MPI_Recv(in, a->bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A sweep: each rank goes on when the one before it is done with its first piece. */
static void sweep(const struct amount *a, int step)
{
	(void)step;
	for (int i = 0; i < a->count; i++) {
		if (rank > 0)
			MPI_Recv(in, a->bytes, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		compute(a->slow);
		if (rank < size - 1)
			MPI_Send(out, a->bytes, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
	}
	reduce();
}

/* The ranks compute in turn; after each, all meet. */
static void turns(const struct amount *a, int step)
{
	(void)step;
	for (int i = 0; i < size; i++) {
		if (i == rank)
			compute(a->slow);
		MPI_Bcast(out, a->bytes, MPI_BYTE, i, MPI_COMM_WORLD);
	}
}

/* Another rank is slow in each step; over the run all are alike. */
static void moving(const struct amount *a, int step)
{
	compute(step % size == rank ? a->slow : a->fast);
	reduce();
}

/* Each rank draws how long it computes. */
static void noise(const struct amount *a, int step)
{
	unsigned seed = (unsigned)(step * 7919 + rank * 104729 + 17);
	rand_r(&seed);
	compute(a->fast + (a->slow - a->fast) * rand_r(&seed) / RAND_MAX);
	reduce();
}

/* Large messages between neighbours, hardly any computation. */
static void transfer(const struct amount *a, int step)
{
	(void)step;
	compute(a->fast);
	ring(a->bytes);
}

/* To all; bytes: of each piece. */
static void transpose(const struct amount *a, int step)
{
	(void)step;
	compute(a->fast);
	MPI_Alltoall(out, a->bytes, MPI_BYTE, in, a->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

/* Barriers that nothing needs. */
static void barriers(const struct amount *a, int step)
{
	(void)step;
	compute(a->fast);
	for (int i = 0; i < a->count; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* The same with the smallest of reductions. */
static void reductions(const struct amount *a, int step)
{
	(void)step;
	compute(a->fast);
	for (int i = 0; i < a->count; i++)
		reduce();
}

static const struct kind {
	const char *name;
	void (*step)(const struct amount *a, int step);
	struct amount amount; /* slow, fast, rank, bytes, count */
	void (*end)(const struct amount *a, int steps);
} kinds[] = {{"efficient", efficient, {5, 0, 0, 0, 0}, NULL},
             {"together", together, {30, 2, 0, 64, 10}, NULL},
             {"imbalance", imbalance, {10, 4, -2, 1024, 0}, NULL},
             {"half", half, {10, 4, 0, 0, 0}, NULL},
             {"slow", slow, {6, 2, 1, 512, 0}, NULL},
             {"receiver", receiver, {10, 2, 0, 4096, 0}, NULL},
             {"serial", serial, {10, 1, 0, 4096, 0}, NULL},
             {"writer", writer, {8, 4, 0, 4096, 0}, NULL},
             {"decide", decide, {6, 4, 0, 64, 0}, NULL},
             {"master", master, {2, 1, 0, 64, 3}, NULL},
             {"small", small, {0, 0, 0, 8, 200}, NULL},
             {"requests", requests, {0, 0, 0, 8, 200}, NULL},
             {"pipeline", pipeline, {3, 0, 0, 64, 0}, pipeline_end},
             {"sweep", sweep, {3, 0, 0, 64, 3}, NULL},
             {"turns", turns, {3, 0, 0, 64, 0}, NULL},
             {"moving", moving, {9, 3, 0, 0, 0}, NULL},
             {"noise", noise, {10, 1, 0, 0, 0}, NULL},
             {"transfer", transfer, {0, 0.1, 0, 4 << 20, 0}, NULL},
             {"transpose", transpose, {0, 0.1, 0, 1 << 20, 0}, NULL},
             {"barriers", barriers, {0, 1, 0, 0, 100}, NULL},
             {"reductions", reductions, {0, 1, 0, 0, 100}, NULL}};

/* "KIND:NAME=VALUE..." NULL: there is no such kind. */
static const struct kind *read_kind(char *text, struct amount *a)
{
	char *rest, *word = strtok_r(text, ":", &rest), *value;
	const struct kind *found = NULL;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (strcmp(word, kinds[k].name) == 0)
			found = &kinds[k];
	if (!found)
		return NULL;
	*a = found->amount;
	while ((word = strtok_r(NULL, ":", &rest)) && (value = strchr(word, '='))) {
		*value++ = '\0';
		if (strcmp(word, "slow") == 0)
			a->slow = atof(value);
		else if (strcmp(word, "fast") == 0)
			a->fast = atof(value);
		else
			*(*word == 'r' ? &a->rank : *word == 'b' ? &a->bytes : &a->count) = atoi(value);
	}
	if (a->rank < 0) /* from the end */
		a->rank += size;
	return found;
}

int main(int argc, char **argv)
{
	const struct kind *kind[KINDS];
	struct amount amount[KINDS];
	double lost[KINDS + 1] = {0}, all[KINDS + 1];
	int count = argc - 2 < KINDS ? argc - 2 : KINDS, steps = argc > 1 ? atoi(argv[1]) : 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	out = calloc(LARGE, 1);
	in = calloc(LARGE, 1);
	for (int k = 0; k < count; k++)
		if (!(kind[k] = read_kind(argv[2 + k], &amount[k])))
			MPI_Abort(MPI_COMM_WORLD, 2);
	for (int k = 0; k < count; k++) {
		memset(out, 1, (size_t)amount[k].bytes);
		memset(in, 1, (size_t)amount[k].bytes);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int i = 0; i <= steps; i++)
		for (int k = 0; k < count; k++) {
			double at = MPI_Wtime(), before = computed;
			if (i < steps)
				kind[k]->step(&amount[k], i);
			else if (kind[k]->end)
				kind[k]->end(&amount[k], i);
			if (count > 1 && i < steps)
				reduce();
			lost[k] += MPI_Wtime() - at - (computed - before);
		}
	double end = MPI_Wtime();
	MPI_Barrier(MPI_COMM_WORLD);
	lost[KINDS] = MPI_Wtime() - begin;
	if (count == 1) /* of several, ranks have met already */
		lost[0] += MPI_Wtime() - end;
	MPI_Reduce(lost, all, KINDS + 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int k = 0; rank == 0 && k < count; k++)
		printf("%s %.6f %.6f\n", kind[k]->name, all[k], all[KINDS]);
	MPI_Finalize();
	return 0;
}
