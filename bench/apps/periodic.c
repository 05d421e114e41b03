/* SPDX-License-Identifier: BSD-3-Clause
 * periodic - every tenth step takes ten times as long, on all ranks
 */
#include "bench/apps/app.h"

int main(int argc, char **argv)
{
	struct app app = app_begin("periodic", &argc, &argv);
	double sum = app.rank + 1, all = 0;
	for (int step = 0; step < app.steps; step++) {
		app_compute(&app, step % 10 == 9 ? 10.0 * app.work : app.work);
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		sum = all / app.size / 2 + app.rank;
	}
	return app_end(&app, sum_add(1, &all, 1));
}
