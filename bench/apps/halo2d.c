/* SPDX-License-Identifier: BSD-3-Clause
 * halo2d - exchange with four neighbours on a 2D grid: rows as they lie, columns as a derived datatype
 *
 * Without --periodic the ranks at the edge have MPI_PROC_NULL as neighbours.
 */
#include "bench/apps/app.h"

enum { N = 16, SIDES = 4 };

static double grid[N + 2][N + 2], next[N + 2][N + 2];
static MPI_Datatype column;

static void exchange(MPI_Comm comm, const int *side)
{
	MPI_Request q[2 * SIDES];
	MPI_Irecv(&grid[0][1], N, MPI_DOUBLE, side[0], 0, comm, &q[0]);
	MPI_Irecv(&grid[N + 1][1], N, MPI_DOUBLE, side[1], 1, comm, &q[1]);
	MPI_Irecv(&grid[1][0], 1, column, side[2], 2, comm, &q[2]);
	MPI_Irecv(&grid[1][N + 1], 1, column, side[3], 3, comm, &q[3]);
	MPI_Isend(&grid[N][1], N, MPI_DOUBLE, side[1], 0, comm, &q[4]);
	MPI_Isend(&grid[1][1], N, MPI_DOUBLE, side[0], 1, comm, &q[5]);
	MPI_Isend(&grid[1][N], 1, column, side[3], 2, comm, &q[6]);
	MPI_Isend(&grid[1][1], 1, column, side[2], 3, comm, &q[7]);
	MPI_Waitall(2 * SIDES, q, MPI_STATUSES_IGNORE);
}

/* Returns the largest change of a cell. */
static double relax(void)
{
	double change = 0;
	for (int i = 1; i <= N; i++)
		for (int j = 1; j <= N; j++) {
			next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
			double d = next[i][j] > grid[i][j] ? next[i][j] - grid[i][j] : grid[i][j] - next[i][j];
			change = d > change ? d : change;
		}
	for (int i = 1; i <= N; i++)
		memcpy(&grid[i][1], &next[i][1], N * sizeof(double));
	return change;
}

int main(int argc, char **argv)
{
	struct app app = app_begin("halo2d", &argc, &argv);
	int dims[2] = {0, 0}, periods[2] = {app.periodic, app.periodic}, side[SIDES];
	MPI_Comm comm;

	MPI_Dims_create(app.size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
	MPI_Cart_shift(comm, 0, 1, &side[0], &side[1]);
	MPI_Cart_shift(comm, 1, 1, &side[2], &side[3]);
	MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	for (int i = 1; i <= N; i++)
		for (int j = 1; j <= N; j++)
			grid[i][j] = random_unit(&app.random);

	double change, most = 0;
	for (int step = 0; step < app.steps; step++) {
		exchange(comm, side);
		change = relax();
		app_work(&app);
		if (step % 10 == 9)
			MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
	}
	uint64_t sum = sum_add(0, &most, 1);
	for (int i = 1; i <= N; i++)
		sum = sum_add(sum, &grid[i][1], N);
	MPI_Type_free(&column);
	MPI_Comm_free(&comm);
	return app_end(&app, sum);
}
