/* SPDX-License-Identifier: BSD-3-Clause
 * drift - an imbalance that wanders: the busiest rank is another one every ten steps, and its neighbours have less
 */
#include "bench/apps/app.h"

/* How far a rank is from the busiest one, on a ring. */
static int distance(const struct app *app, int busiest)
{
	int far = abs(app->rank - busiest);
	return far < app->size - far ? far : app->size - far;
}

int main(int argc, char **argv)
{
	struct app app = app_begin("drift", &argc, &argv);
	double sum = app.rank + 1, all = 0;
	for (int step = 0; step < app.steps; step++) {
		double off = (double)distance(&app, step / 10 % app.size) / app.size;
		app_compute(&app, app.work * (1 + 3 * (1 - 2 * off)));
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		sum = all / app.size / 2 + app.rank;
	}
	return app_end(&app, sum_add(1, &all, 1));
}
