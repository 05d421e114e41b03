/* SPDX-License-Identifier: BSD-3-Clause
 * phases - a program of three phases: assembly, in which the ranks have different work; solver; output by one rank
 */
#include "bench/apps/app.h"

#define CYCLE 50 /* steps of the solver between two assemblies */

static __attribute__((noinline)) void assemble(const struct app *app, double *sum)
{
	app_compute(app, 5.0 * app->work * (1 + (double)app->rank / app->size));
	MPI_Bcast(sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void solve(const struct app *app, double *sum)
{
	double all = 0;
	app_compute(app, app->work);
	MPI_Allreduce(sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	app_compute(app, 0.5 * app->work);
	MPI_Allreduce(&all, sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	*sum /= app->size;
}

static __attribute__((noinline)) void output(const struct app *app, const double *sum)
{
	double all = 0;
	MPI_Reduce(sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (app->rank == 0)
		app_compute(app, 10.0 * app->work);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	struct app app = app_begin("phases", &argc, &argv);
	double sum = app.rank + 1;
	for (int step = 0; step < app.steps; step++) {
		if (step % CYCLE == 0)
			assemble(&app, &sum);
		solve(&app, &sum);
		if (step % CYCLE == CYCLE - 1)
			output(&app, &sum);
	}
	return app_end(&app, sum_add(1, &sum, 1));
}
