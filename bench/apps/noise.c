/* SPDX-License-Identifier: BSD-3-Clause
 * noise - a step takes a little more or less, and one in fifty, at random on each rank, five times as long
 */
#include "bench/apps/app.h"

int main(int argc, char **argv)
{
	struct app app = app_begin("noise", &argc, &argv);
	double sum = app.rank + 1, all = 0;
	for (int step = 0; step < app.steps; step++) {
		double more = random_unit(&app.random) < 0.02 ? 5 : 1;
		app_compute(&app, app.work * more * (0.9 + 0.2 * random_unit(&app.random)));
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		sum = all / app.size / 2 + app.rank;
	}
	return app_end(&app, sum_add(1, &all, 1));
}
