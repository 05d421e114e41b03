/* SPDX-License-Identifier: BSD-3-Clause
 * app - what the mini-applications have in common: arguments, seeded numbers, busy computation, the checksum line
 *
 *     program STEPS [SEED [WORK]] [--periodic] [--weak] [--sleep]
 *
 * STEPS is the number of time steps, SEED (default 1) what all random numbers come from, WORK (default 0) the
 * microseconds of busy computation in each step; with --sleep it sleeps instead, for more ranks than cores. The last
 * line of a run is, on rank 0 of MPI_COMM_WORLD,
 *
 *     halo2d: 4 ranks, 1000 steps, checksum 0123456789abcdef
 *
 * and depends on nothing but the arguments and the number of ranks: so a traced run can be compared with one that is
 * not.
 *
 * If the environment variable APP_MEMORY names a folder, each rank leaves there a file RANK with the peak of its memory
 * in KiB, written when MPI_Finalize is over, and the bytes of heap that were in use before it.
 */
#ifndef SPOOR_BENCH_APP_H
#define SPOOR_BENCH_APP_H

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct app {
	const char *name;
	int rank, size; /* in MPI_COMM_WORLD */
	int steps;
	int work; /* us in each step */
	uint64_t seed;
	bool periodic;
	bool sleeps;     /* instead of computing */
	bool weak;       /* as much work for each rank, however many there are */
	uint64_t random; /* for random_next(); differs from rank to rank */
};

/* The next of a sequence of numbers that is good enough for tests (splitmix64). */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* In [0, 1). */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* Ends the program on all ranks alike; text says what is wrong. */
static inline void app_refuse(const struct app *app, const char *text)
{
	if (app->rank == 0)
		fprintf(stderr, "%s: %s\n", app->name, text);
	MPI_Finalize();
	exit(2);
}

/* For programs that cannot use every number of ranks. */
static inline void app_need(const struct app *app, bool ok, const char *what)
{
	char text[200];
	snprintf(text, sizeof text, "needs %s ranks, not %d", what, app->size);
	if (!ok)
		app_refuse(app, text);
}

static inline long app_number(const struct app *app, const char *text, long max)
{
	char *end, message[200];
	errno = 0;
	long n = strtol(text, &end, 10);
	snprintf(message, sizeof message,
	         "%.50s: expected a number from 0 to %ld\n"
	         "usage: %s STEPS [SEED [WORK]] [--periodic] [--weak] [--sleep]",
	         text, max, app->name);
	if (errno || end == text || *end || n < 0 || n > max)
		app_refuse(app, message);
	return n;
}

static inline struct app app_begin(const char *name, int *argc, char ***argv)
{
	struct app app = {.name = name, .seed = 1, .steps = 10};
	int given = 0;
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &app.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &app.size);
	for (int i = 1; i < *argc; i++) {
		const char *text = (*argv)[i];
		if (strcmp(text, "--periodic") == 0)
			app.periodic = true;
		else if (strcmp(text, "--weak") == 0)
			app.weak = true;
		else if (strcmp(text, "--sleep") == 0)
			app.sleeps = true;
		else if (given == 0)
			app.steps = (int)app_number(&app, text, INT_MAX), given++;
		else if (given == 1)
			app.seed = (uint64_t)app_number(&app, text, LONG_MAX), given++;
		else if (given == 2)
			app.work = (int)app_number(&app, text, INT_MAX), given++;
		else
			app_refuse(&app, "too many arguments\nusage: PROGRAM STEPS [SEED [WORK]] [--periodic] [--weak] "
			                 "[--sleep]");
	}
	app.random = app.seed * 1000003 + (uint64_t)app.rank;
	random_next(&app.random);
	return app;
}

/* Computes for `us` microseconds, as a program that does not communicate would. */
static inline void app_compute(const struct app *app, double us)
{
	struct timespec t;
	if (us <= 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	int64_t end = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + (int64_t)(us * 1000);
	if (app->sleeps) {
		t = (struct timespec){end / 1000000000, end % 1000000000};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
			;
		return;
	}
	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec < end);
}

/* For `work` microseconds. */
static inline void app_work(const struct app *app)
{
	app_compute(app, app->work);
}

/* Adds the bits of n numbers to a sum. */
static inline uint64_t sum_add(uint64_t sum, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		memcpy(&bits, &x[i], sizeof bits);
		sum = (sum ^ bits) * UINT64_C(0x100000001b3);
	}
	return sum;
}

static inline void app_tell_memory(const struct app *app, size_t heap)
{
	const char *folder = getenv("APP_MEMORY");
	struct rusage usage;
	char path[4096];
	if (!folder || getrusage(RUSAGE_SELF, &usage) != 0)
		return;
	snprintf(path, sizeof path, "%s/%d", folder, app->rank);
	FILE *f = fopen(path, "w");
	if (f) {
		fprintf(f, "%ld\n%zu\n", usage.ru_maxrss, heap);
		fclose(f);
	}
}

/* Prints the checksum of all ranks' sums and ends MPI. The value is for main to return. */
static inline int app_end(const struct app *app, uint64_t sum)
{
	uint64_t all = 0;
	MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (app->rank == 0)
		printf("%s: %d ranks, %d steps, checksum %016llx\n", app->name, app->size, app->steps,
		       (unsigned long long)all);
	struct mallinfo2 heap = mallinfo2();
	MPI_Finalize();
	app_tell_memory(app, heap.uordblks + heap.hblkhd);
	return 0;
}

#endif
