/* SPDX-License-Identifier: BSD-3-Clause
 * together - in each step all ranks compute for the same time, which is another one in each
 */
#include "bench/apps/app.h"

int main(int argc, char **argv)
{
	struct app app = app_begin("together", &argc, &argv);
	double sum = app.rank + 1, all = 0;
	uint64_t random = app.seed;
	for (int step = 0; step < app.steps; step++) {
		app_compute(&app, app.work * (0.2 + 1.6 * random_unit(&random)));
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		sum = all / app.size / 2 + app.rank;
	}
	return app_end(&app, sum_add(1, &all, 1));
}
