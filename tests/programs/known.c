/* SPDX-License-Identifier: BSD-3-Clause
 * known - computation of known length between its calls, on two paths into one call; tells what it measured itself
 *
 *     known STEPS
 *
 * In each step a rank computes for 1 ms (the last rank for 2 ms) and reduces; then for 0.2 ms, or for 3 ms in every
 * tenth step, and reduces again, through the same function but from another place. Each rank prints one line: "RANK N
 * steady min max sum bimodal min max sum long compute run" (ns; long: how many of the second kind took more than 1.5
 * ms).
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct measured {
	uint64_t min, max, sum, longer;
};

/* Between two calls all is measured but the two readings of the clock themselves. */
static void compute(struct measured *m, uint64_t ns, uint64_t since)
{
	uint64_t end = now() + ns, t;
	while ((t = now()) < end) {
	}
	t -= since;
	m->min = m->sum && m->min < t ? m->min : t;
	m->max = m->max > t ? m->max : t;
	m->sum += t;
	m->longer += t > 1500000;
}

static __attribute__((noinline)) void reduce(double *x)
{
	double y;
	MPI_Allreduce(x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	*x = y / 2;
}

int main(int argc, char **argv)
{
	int rank, size, steps = argc > 1 ? atoi(argv[1]) : 50;
	struct measured steady = {0}, bimodal = {0};
	double x = 1;
	MPI_Init(&argc, &argv);
	uint64_t begin = now();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	uint64_t since = now();
	for (int i = 0; i < steps; i++) {
		compute(&steady, rank == size - 1 ? 2000000 : 1000000, since);
		reduce(&x);
		since = now();
		compute(&bimodal, i % 10 == 9 ? 3000000 : 200000, since);
		reduce(&x);
		since = now();
	}
	uint64_t run = now() - begin;
	printf("%d %d steady %llu %llu %llu bimodal %llu %llu %llu %llu %llu %llu\n", rank, steps,
	       (unsigned long long)steady.min, (unsigned long long)steady.max, (unsigned long long)steady.sum,
	       (unsigned long long)bimodal.min, (unsigned long long)bimodal.max, (unsigned long long)bimodal.sum,
	       (unsigned long long)bimodal.longer, (unsigned long long)(steady.sum + bimodal.sum),
	       (unsigned long long)run);
	fflush(stdout);
	MPI_Finalize();
	return x < 0;
}
