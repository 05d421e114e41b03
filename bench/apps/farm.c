/* SPDX-License-Identifier: BSD-3-Clause
 * farm - a master hands out tasks of different length and takes results from whoever is ready (MPI_ANY_SOURCE)
 *
 * A step is one task for each worker on average; which worker gets which task is not determined, the sum of the results
 * is.
 */
#include "bench/apps/app.h"

enum { TASK = 1, RESULT, STOP, MOST = 32 };

/* Returns the length of the result: it depends on the task. */
static int solve(const struct app *app, uint64_t task, uint64_t *result)
{
	uint64_t state = app->seed ^ task;
	int n = 1 + (int)(random_next(&state) % MOST), rounds = (int)(random_next(&state) % 2000);
	uint64_t x = state;
	for (int i = 0; i < rounds; i++)
		x = random_next(&state);
	for (int i = 0; i < n; i++)
		result[i] = random_next(&x);
	app_work(app);
	return n;
}

static uint64_t sum_of(const uint64_t *result, int n)
{
	uint64_t sum = 0;
	for (int i = 0; i < n; i++)
		sum += result[i];
	return sum;
}

static uint64_t master(const struct app *app)
{
	uint64_t next = 0, end = (uint64_t)app->steps * (uint64_t)(app->size - 1), result[MOST], sum = 0;
	int busy = 0;
	for (int i = 1; i < app->size; i++) {
		MPI_Send(&next, 1, MPI_UINT64_T, i, next < end ? TASK : STOP, MPI_COMM_WORLD);
		busy += next++ < end;
	}
	while (busy > 0) {
		MPI_Status status;
		int n;
		MPI_Recv(result, MOST, MPI_UINT64_T, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_UINT64_T, &n);
		sum += sum_of(result, n);
		bool more = next < end;
		MPI_Send(&next, 1, MPI_UINT64_T, status.MPI_SOURCE, more ? TASK : STOP, MPI_COMM_WORLD);
		next += more;
		busy -= !more;
	}
	return sum;
}

static void worker(const struct app *app)
{
	for (;;) {
		MPI_Status status;
		uint64_t task, result[MOST];
		MPI_Recv(&task, 1, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == STOP)
			return;
		int n = solve(app, task, result);
		MPI_Send(result, n, MPI_UINT64_T, 0, RESULT, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	struct app app = app_begin("farm", &argc, &argv);
	uint64_t sum = 0, result[MOST];
	if (app.size == 1) /* a farm of one does the work itself */
		for (int i = 0; i < app.steps; i++)
			sum += sum_of(result, solve(&app, (uint64_t)i, result));
	else if (app.rank == 0)
		sum = master(&app);
	else
		worker(&app);
	return app_end(&app, sum);
}
