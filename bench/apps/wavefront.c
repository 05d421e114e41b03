/* SPDX-License-Identifier: BSD-3-Clause
 * wavefront - pipelined sweeps over a 2D process grid, as in the LU benchmark or in transport codes
 *
 * In the lower sweep each plane waits for the ranks to the north and west and then lets those to the south and east go;
 * the upper sweep runs back. Ranks at the edge make no call there.
 */
#include "bench/apps/app.h"

enum { N = 8, PLANES = 8, NORTH = 0, SOUTH, WEST, EAST };

static double grid[PLANES][N][N];

static void sweep(MPI_Comm comm, int plane, int from_a, int from_b, int to_a, int to_b, bool back)
{
	double a[N] = {0}, b[N] = {0};
	if (from_a != MPI_PROC_NULL)
		MPI_Recv(a, N, MPI_DOUBLE, from_a, plane, comm, MPI_STATUS_IGNORE);
	if (from_b != MPI_PROC_NULL)
		MPI_Recv(b, N, MPI_DOUBLE, from_b, plane, comm, MPI_STATUS_IGNORE);
	for (int n = 0; n < N; n++)
		for (int m = 0; m < N; m++) {
			int i = back ? N - 1 - n : n, j = back ? N - 1 - m : m;
			a[j] = b[i] = grid[plane][i][j] = 0.5 * grid[plane][i][j] + 0.25 * (a[j] + b[i]);
		}
	if (to_a != MPI_PROC_NULL)
		MPI_Send(a, N, MPI_DOUBLE, to_a, plane, comm);
	if (to_b != MPI_PROC_NULL)
		MPI_Send(b, N, MPI_DOUBLE, to_b, plane, comm);
}

/* What lies on the edge of all planes goes to a neighbour. */
static void face(MPI_Comm comm, int from, int to, bool rows)
{
	double out[PLANES][N], in[PLANES][N];
	MPI_Request q;
	if (from != MPI_PROC_NULL)
		MPI_Irecv(in, PLANES * N, MPI_DOUBLE, from, 100, comm, &q);
	for (int k = 0; k < PLANES; k++)
		for (int i = 0; i < N; i++)
			out[k][i] = rows ? grid[k][N - 1][i] : grid[k][i][N - 1];
	if (to != MPI_PROC_NULL)
		MPI_Send(out, PLANES * N, MPI_DOUBLE, to, 100, comm);
	if (from == MPI_PROC_NULL)
		return;
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	for (int k = 0; k < PLANES; k++)
		for (int i = 0; i < N; i++)
			grid[k][rows ? 0 : i][rows ? i : 0] += 0.125 * in[k][i];
}

static double norm(void)
{
	double sum = 0;
	for (int i = 0; i < PLANES * N * N; i++)
		sum += (&grid[0][0][0])[i];
	return sum;
}

int main(int argc, char **argv)
{
	struct app app = app_begin("wavefront", &argc, &argv);
	int dims[2] = {0, 0}, periods[2] = {0, 0}, side[4];
	double all = 0, part;
	MPI_Comm comm;

	MPI_Dims_create(app.size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
	MPI_Cart_shift(comm, 0, 1, &side[NORTH], &side[SOUTH]);
	MPI_Cart_shift(comm, 1, 1, &side[WEST], &side[EAST]);
	for (int i = 0; i < PLANES * N * N; i++)
		(&grid[0][0][0])[i] = random_unit(&app.random);

	for (int step = 0; step < app.steps; step++) {
		for (int k = 0; k < PLANES; k++)
			sweep(comm, k, side[NORTH], side[WEST], side[SOUTH], side[EAST], false);
		for (int k = PLANES - 1; k >= 0; k--)
			sweep(comm, k, side[SOUTH], side[EAST], side[NORTH], side[WEST], true);
		face(comm, side[NORTH], side[SOUTH], true);
		face(comm, side[WEST], side[EAST], false);
		app_work(&app);
		if (step % 20 == 19) {
			part = norm();
			MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		}
	}
	uint64_t sum = sum_add(sum_add(0, &all, 1), &grid[0][0][0], PLANES * N * N);
	MPI_Comm_free(&comm);
	return app_end(&app, sum);
}
