/* SPDX-License-Identifier: BSD-3-Clause
 * cost - loops of MPI calls in one process, for what an event costs
 *
 *     cost EVENTS [LOOP...]
 *
 * Runs each loop of the table below (or those named) three times: once to get warm, then for about EVENTS events, then
 * for twice as many. After each of these mark() is called, so that
 *
 *     valgrind --tool=callgrind --dump-before=mark cost EVENTS
 *
 * writes one profile for each. Prints a line for each loop: its name, the events of the second and third run, and the
 * CPU time of this process for them in ns:
 *
 *     self-8 600000 1200000 24000000 48000000
 *
 * The difference of the two runs is free of what a loop costs to begin and to end.
 *
 * The one process talks to itself: nothing waits, so CPU time is the cost of the calls alone.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIRECTIONS = 26 };

static char out[DIRECTIONS][64], in[DIRECTIONS][64];

/* Each loop makes about n events and returns how many it made. */

static long self(long n)
{
	MPI_Request q[2];
	long made = 0;
	for (; made < n; made += 3) {
		MPI_Irecv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, &q[0]);
		MPI_Isend(out, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, &q[1]);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	}
	return made;
}

/* The peer of a direction: a rank at the edge of a grid has nobody in 9 of its 26 directions. */
static int peer(int direction)
{
	return direction / 9 == 0 ? MPI_PROC_NULL : 0;
}

static long one_by_one(long n)
{
	MPI_Request q[2];
	long made = 0;
	while (made < n)
		for (int d = 0; d < DIRECTIONS; d++, made += 3) {
			MPI_Irecv(in, 2 * d + 1, MPI_BYTE, peer(d), d, MPI_COMM_SELF, &q[0]);
			MPI_Isend(out, 2 * d + 1, MPI_BYTE, peer(d), d, MPI_COMM_SELF, &q[1]);
			MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		}
	return made;
}

static long all_at_once(long n)
{
	MPI_Request q[2 * DIRECTIONS];
	long made = 0;
	for (; made < n; made += 2 * DIRECTIONS + 1) {
		for (int d = 0; d < DIRECTIONS; d++)
			MPI_Irecv(in[d], 2 * d + 1, MPI_BYTE, peer(d), d, MPI_COMM_SELF, &q[d]);
		for (int d = 0; d < DIRECTIONS; d++)
			MPI_Isend(out[d], 2 * d + 1, MPI_BYTE, peer(d), d, MPI_COMM_SELF, &q[DIRECTIONS + d]);
		MPI_Waitall(2 * DIRECTIONS, q, MPI_STATUSES_IGNORE);
	}
	return made;
}

static long barrier(long n)
{
	for (long i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_SELF);
	return n;
}

static long allreduce(long n)
{
	double x = 1, y;
	for (long i = 0; i < n; i++)
		MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	return n;
}

/* Asks for a message that comes only after the loop. */
static long test(long n)
{
	MPI_Request q;
	int flag;
	MPI_Irecv(in, 1, MPI_BYTE, 0, 5, MPI_COMM_SELF, &q);
	for (long i = 0; i < n; i++)
		MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
	MPI_Send(out, 1, MPI_BYTE, 0, 5, MPI_COMM_SELF);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	return n;
}

static long comm_rank(long n)
{
	int rank;
	for (long i = 0; i < n; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return n;
}

static const struct loop {
	const char *name;
	int depth; /* calls between main and the loop, with the loop */
	long (*run)(long n);
} loops[] = {
	{"self-1", 1, self},
	{"self-8", 8, self},
	{"self-20", 20, self},
	{"26-peers", 8, one_by_one},
	{"26-at-once", 8, all_at_once},
	{"barrier", 8, barrier},
	{"allreduce", 8, allreduce},
	{"test", 8, test},
	{"comm-rank", 8, comm_rank},
};

/* Where one run ends and the next begins. */
__attribute__((noinline)) static void mark(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static long deep(int depth, long (*run)(long), long n)
{
	volatile char frame[32];
	frame[0] = (char)depth;
	long made = depth > 1 ? deep(depth - 1, run, n) : run(n);
	frame[1] = frame[0];
	return made;
}

static int64_t cpu_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool wanted(const char *name, int argc, char **argv)
{
	bool found = argc <= 2;
	for (int i = 2; i < argc; i++)
		found |= strcmp(argv[i], name) == 0;
	return found;
}

static void measure(const struct loop *l, long n)
{
	long made[3];
	int64_t spent[3];
	for (int i = 0; i < 3;
	     /* by one call: another one would be another call path, to be unwound and recorded for the first time */
	     i++) {
		int64_t start = cpu_time();
		made[i] = deep(l->depth, l->run, i == 0 ? n / 10 + 100 : i * n);
		spent[i] = cpu_time() - start;
		mark();
	}
	printf("%s %ld %ld %lld %lld\n", l->name, made[1], made[2], (long long)spent[1], (long long)spent[2]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char *end = NULL;
	long n = argc > 1 ? strtol(argv[1], &end, 10) : 0;
	if (n < 1 || *end) {
		fprintf(stderr, "usage: cost EVENTS [LOOP...]\nLoops:");
		for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
			fprintf(stderr, " %s", loops[i].name);
		fputc('\n', stderr);
		return 2;
	}
	MPI_Init(&argc, &argv);
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
		if (wanted(loops[i].name, argc, argv))
			measure(&loops[i], n);
	MPI_Finalize();
	return 0;
}
