/* SPDX-License-Identifier: BSD-3-Clause
 * ocean - time steps of an ocean model, as in POP: a fixed part, and a solver whose number of iterations depends on the
 * data
 *
 * In the fixed part three fields are exchanged with the neighbours (the grid is closed from east to west). The solver
 * exchanges one field and adds up the residual of all ranks in each iteration, until it is small: about 9 to 20 times,
 * by the wind of the day. Every 50 steps rank 0 gathers diagnostics.
 */
#include "bench/apps/app.h"

enum { N = 12, FIELDS = 3, MOST = 60 };

typedef double field[N + 2][N + 2];

static field state[FIELDS], pressure, force;
static MPI_Comm comm;
static int side[4];
static MPI_Datatype column;

static void halo(field f)
{
	MPI_Request q[4];
	MPI_Irecv(&f[1][0], 1, column, side[2], 12, comm, &q[0]);
	MPI_Irecv(&f[1][N + 1], 1, column, side[3], 13, comm, &q[1]);
	MPI_Isend(&f[1][N], 1, column, side[3], 12, comm, &q[2]);
	MPI_Isend(&f[1][1], 1, column, side[2], 13, comm, &q[3]);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	MPI_Irecv(f[0], N + 2, MPI_DOUBLE, side[0], 10, comm, &q[0]);
	MPI_Irecv(f[N + 1], N + 2, MPI_DOUBLE, side[1], 11, comm, &q[1]);
	MPI_Isend(f[N], N + 2, MPI_DOUBLE, side[1], 10, comm, &q[2]);
	MPI_Isend(f[1], N + 2, MPI_DOUBLE, side[0], 11, comm, &q[3]);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

static void baroclinic(void)
{
	for (int k = 0; k < FIELDS; k++) {
		halo(state[k]);
		for (int i = 1; i <= N; i++)
			for (int j = 1; j <= N; j++)
				state[k][i][j] = 0.6 * state[k][i][j] +
				                 0.1 * (state[k][i - 1][j] + state[k][i][j - 1] + pressure[i][j]);
	}
}

/* Returns the number of iterations. */
static int barotropic(void)
{
	for (int n = 1;; n++) {
		double change = 0;
		field old;
		int64_t part, all; /* integers: every rank must come to the same end */
		halo(pressure);
		memcpy(old, pressure, sizeof old);
		for (int i = 1; i <= N; i++)
			for (int j = 1; j <= N; j++) {
				double x = (0.25 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) +
				            force[i][j]) /
				           1.6;
				change += x > old[i][j] ? x - old[i][j] : old[i][j] - x;
				pressure[i][j] = x;
			}
		part = (int64_t)(change * 0x1p30);
		MPI_Allreduce(&part, &all, 1, MPI_INT64_T, MPI_SUM, comm);
		if (all < (INT64_C(1) << 20) * 8 || n == MOST)
			return n;
	}
}

static uint64_t diagnostics(const struct app *app, uint64_t sum)
{
	double mean = state[0][1][1], *all = app->rank == 0 ? malloc((size_t)app->size * sizeof *all) : NULL;
	MPI_Gather(&mean, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, comm);
	if (all)
		sum = sum_add(sum, all, (size_t)app->size);
	free(all);
	return sum;
}

int main(int argc, char **argv)
{
	struct app app = app_begin("ocean", &argc, &argv);
	int dims[2] = {0, 0}, periods[2] = {0, 1};
	uint64_t sum = 0, weather = app.seed; /* the same on all ranks */

	MPI_Dims_create(app.size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
	MPI_Cart_shift(comm, 0, 1, &side[0], &side[1]);
	MPI_Cart_shift(comm, 1, 1, &side[2], &side[3]);
	MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);

	for (int step = 0; step < app.steps; step++) {
		double wind = random_unit(&weather);
		wind = wind * wind * wind * wind / app.size;
		for (int i = 1; i <= N; i++)
			for (int j = 1; j <= N; j++)
				force[i][j] = 0.98 * force[i][j] + wind * random_unit(&app.random);
		baroclinic();
		sum = sum * 31 + (uint64_t)barotropic();
		app_work(&app);
		if (step % 50 == 49)
			sum = diagnostics(&app, sum);
	}
	for (int i = 1; i <= N; i++)
		sum = sum_add(sum, &pressure[i][1], N);
	MPI_Type_free(&column);
	MPI_Comm_free(&comm);
	return app_end(&app, sum);
}
