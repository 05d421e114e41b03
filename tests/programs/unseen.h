/* SPDX-License-Identifier: BSD-3-Clause
 * unseen - what all programs of tests/unseen.py have in common
 *
 * How long each rank computes in each step of each part is a table that the generator wrote, and reckoned with. Each
 * part notes how long its ranks really computed, and how long the part took: at the end rank 0 prints for each part the
 * sums over all ranks (s), then the time that all ranks had.
 */
#ifndef SPOOR_TESTS_UNSEEN_H
#define SPOOR_TESTS_UNSEEN_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORLD  MPI_COMM_WORLD
#define ROOM   (32 << 20)
#define IGNORE MPI_STATUS_IGNORE

static int rank, size, part;
static char *out, *in;
static double computed[PARTS], took[PARTS], begun;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* No frame of its own in the call path. */
static inline __attribute__((always_inline)) void compute(double ms)
{
	double begin = now();
	if (ms <= 0)
		return;
#if SPIN
	while (now() - begin < 1e-3 * ms)
		;
#else
	struct timespec t = {(time_t)(1e-3 * ms), (long)(1e6 * ms) % 1000000000};
	nanosleep(&t, NULL);
#endif
	computed[part] += now() - begin;
}

static inline int right(void)
{
	return (rank + 1) % size;
}

static inline int left(void)
{
	return (rank + size - 1) % size;
}

static void begin_all(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	out = calloc(ROOM, 1);
	in = calloc(ROOM, 1);
	memset(out, 1, ROOM);
	memset(in, 1, ROOM);
	MPI_Barrier(WORLD);
	begun = now();
}

static void end_all(void)
{
	double mine[2 * PARTS + 1], all[2 * PARTS + 1];
	MPI_Barrier(WORLD);
	for (int i = 0; i < PARTS; i++) {
		mine[2 * i] = computed[i];
		mine[2 * i + 1] = took[i];
	}
	mine[2 * PARTS] = now() - begun;
	MPI_Reduce(mine, all, 2 * PARTS + 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
	for (int i = 0; rank == 0 && i < PARTS; i++)
		printf("part %.6f %.6f\n", all[2 * i], all[2 * i + 1]);
	if (rank == 0)
		printf("all %.6f\n", all[2 * PARTS]);
	MPI_Finalize();
}

#endif
