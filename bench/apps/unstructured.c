/* SPDX-License-Identifier: BSD-3-Clause
 * unstructured - a mesh that was cut at random, as UMT2k's: each rank has other neighbours, messages and work
 */
#include "bench/apps/app.h"

#define MOST_WORDS 2000

/* What two ranks exchange: the same on both. 0: they are no neighbours. */
static int words_between(const struct app *app, int a, int b)
{
	uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
	uint64_t state = app->seed * 7919 + low * (uint64_t)app->size + high;
	double often = app->size > 8 ? 6.0 / app->size : 0.6;
	if (a == b || (random_unit(&state) > often && high != low + 1))
		return 0;
	return 1 + (int)(MOST_WORDS * random_unit(&state));
}

int main(int argc, char **argv)
{
	struct app app = app_begin("unstructured", &argc, &argv);
	int count = 0;
	int *words = calloc((size_t)app.size, sizeof *words);
	MPI_Request *requests = malloc(2 * (size_t)app.size * sizeof(MPI_Request));
	double *sent = calloc(MOST_WORDS + 1, sizeof *sent),
	       *got = calloc((size_t)app.size * (MOST_WORDS + 1), sizeof *got);
	double work = 0.5 + 1.5 * random_unit(&app.random), sum = app.rank, all = 0;
	if (!words || !requests || !sent || !got)
		app_refuse(&app, "no memory");
	for (int i = 0; i < app.size; i++)
		words[i] = words_between(&app, app.rank, i);
	for (int step = 0; step < app.steps; step++) {
		count = 0;
		for (int i = 0; i < app.size; i++)
			if (words[i])
				MPI_Irecv(got + (size_t)i * (MOST_WORDS + 1), words[i], MPI_DOUBLE, i, 1,
				          MPI_COMM_WORLD, &requests[count++]);
		app_compute(&app, app.work * work);
		sent[0] = sum;
		for (int i = 0; i < app.size; i++)
			if (words[i])
				MPI_Isend(sent, words[i], MPI_DOUBLE, i, 1, MPI_COMM_WORLD, &requests[count++]);
		MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
		for (int i = 0; i < app.size; i++)
			sum += words[i] ? got[(size_t)i * (MOST_WORDS + 1)] / app.size : 0;
		sum /= 2;
		if (step % 5 == 4)
			MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
	free(words);
	free(requests);
	free(sent);
	free(got);
	return app_end(&app, sum_add(1, &all, 1));
}
