/* SPDX-License-Identifier: BSD-3-Clause
 * sort - bucket sort of new random keys in each step, as in the IS benchmark: MPI_Alltoallv with counts that depend on
 * the data
 */
#include "bench/apps/app.h"

enum { KEYS = 512, BUCKETS = 256, KEY_BITS = 16 };

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Which rank gets each bucket, so that all get about the same number of keys. */
static void share(const int *total, int size, int *owner)
{
	int64_t before = 0, all = (int64_t)KEYS * size;
	for (int i = 0; i < BUCKETS; i++) {
		owner[i] = (int)(before * size / all);
		before += total[i];
	}
}

int main(int argc, char **argv)
{
	struct app app = app_begin("sort", &argc, &argv);
	size_t p = (size_t)app.size;
	int *send = calloc(4 * p, sizeof *send), *receive = send + p, *send_at = send + 2 * p,
	    *receive_at = send + 3 * p;
	uint32_t keys[KEYS], ordered[KEYS], *got = malloc(KEYS * p * sizeof *got);
	uint64_t sum = 0;

	if (!send || !got)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int step = 0; step < app.steps; step++) {
		int count[BUCKETS] = {0}, total[BUCKETS], owner[BUCKETS];
		for (int i = 0; i < KEYS; i++) { /* the mean of two: more in the middle than at the ends */
			uint64_t x = random_next(&app.random);
			keys[i] = (uint32_t)(((x & 0xffff) + (x >> 16 & 0xffff)) / 2);
			count[keys[i] >> (KEY_BITS - 8)]++;
		}
		MPI_Allreduce(count, total, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		share(total, app.size, owner);
		memset(send, 0, p * sizeof *send);
		for (int i = 0; i < BUCKETS; i++)
			send[owner[i]] += count[i];
		MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
		int n = 0;
		for (size_t i = 0, at = 0; i < p; i++) {
			send_at[i] = (int)at;
			receive_at[i] = n;
			at += (size_t)send[i];
			n += receive[i];
		}
		int next[BUCKETS], at = 0;
		for (int i = 0; i < BUCKETS; i++) {
			next[i] = at;
			at += count[i];
		}
		for (int i = 0; i < KEYS; i++)
			ordered[next[keys[i] >> (KEY_BITS - 8)]++] = keys[i];
		MPI_Alltoallv(ordered, send, send_at, MPI_UINT32_T, got, receive, receive_at, MPI_UINT32_T,
		              MPI_COMM_WORLD);
		qsort(got, (size_t)n, sizeof *got, by_value);
		app_work(&app);
		for (int i = 0; i < n; i += 16)
			sum = sum * 31 + got[i];
	}
	free(send);
	free(got);
	return app_end(&app, sum);
}
