/* SPDX-License-Identifier: BSD-3-Clause
 * halo3d - exchange with all 26 neighbours on a 3D grid: faces, edges and corners, each from one call in a nest of
 * three loops
 *
 * Without --periodic the neighbours outside of the grid are MPI_PROC_NULL.
 */
#include "bench/apps/app.h"

enum { N = 5, DIRECTIONS = 27, CENTRE = 13 };

static double grid[N + 2][N + 2][N + 2], next[N + 2][N + 2][N + 2];
static double out[DIRECTIONS][N * N], in[DIRECTIONS][N * N];

/* First and last cell, in one dimension, of what is sent (inside) or received (outside) in direction -1, 0 or 1. */
static void range(int direction, bool inside, int *first, int *last)
{
	*first = direction < 0 ? !!inside : direction > 0 ? N + !inside : 1;
	*last = direction == 0 ? N : *first;
}

/* Copies the cells of one direction to or from a buffer; returns how many they are. */
static int copy(int direction, double *buffer, bool inside)
{
	int first[3], last[3], n = 0;
	range(direction / 9 - 1, inside, &first[0], &last[0]);
	range(direction / 3 % 3 - 1, inside, &first[1], &last[1]);
	range(direction % 3 - 1, inside, &first[2], &last[2]);
	for (int i = first[0]; i <= last[0]; i++)
		for (int j = first[1]; j <= last[1]; j++)
			for (int k = first[2]; k <= last[2]; k++, n++) {
				if (inside)
					buffer[n] = grid[i][j][k];
				else
					grid[i][j][k] = buffer[n];
			}
	return n;
}

static void exchange(MPI_Comm comm, const int *neighbour)
{
	MPI_Request q[2 * DIRECTIONS];
	int n = 0;
	for (int x = -1; x <= 1; x++)
		for (int y = -1; y <= 1; y++)
			for (int z = -1; z <= 1; z++) {
				int d = 9 * (x + 1) + 3 * (y + 1) + z + 1;
				if (d == CENTRE)
					continue;
				int count = (x ? 1 : N) * (y ? 1 : N) * (z ? 1 : N);
				MPI_Irecv(in[d], count, MPI_DOUBLE, neighbour[d], DIRECTIONS - 1 - d, comm, &q[n++]);
			}
	for (int x = -1; x <= 1; x++)
		for (int y = -1; y <= 1; y++)
			for (int z = -1; z <= 1; z++) {
				int d = 9 * (x + 1) + 3 * (y + 1) + z + 1;
				if (d == CENTRE)
					continue;
				int count = copy(d, out[d], true);
				MPI_Isend(out[d], count, MPI_DOUBLE, neighbour[d], d, comm, &q[n++]);
			}
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
	for (int d = 0; d < DIRECTIONS; d++)
		if (d != CENTRE && neighbour[d] != MPI_PROC_NULL)
			copy(d, in[d], false);
}

static void relax(void)
{
	for (int i = 1; i <= N; i++)
		for (int j = 1; j <= N; j++)
			for (int k = 1; k <= N; k++)
				next[i][j][k] = 0.5 * grid[i][j][k] +
				                0.0625 * (grid[i - 1][j][k] + grid[i + 1][j][k] + grid[i][j - 1][k] +
				                          grid[i][j + 1][k] + grid[i][j][k - 1] + grid[i][j][k + 1] +
				                          grid[i - 1][j - 1][k - 1] + grid[i + 1][j + 1][k + 1]);
	memcpy(grid, next, sizeof grid);
}

int main(int argc, char **argv)
{
	struct app app = app_begin("halo3d", &argc, &argv);
	int dims[3] = {0, 0, 0}, periods[3] = {app.periodic, app.periodic, app.periodic}, at[3], neighbour[DIRECTIONS];
	MPI_Comm comm;

	MPI_Dims_create(app.size, 3, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &comm);
	MPI_Cart_coords(comm, app.rank, 3, at);
	for (int d = 0; d < DIRECTIONS; d++) {
		int there[3] = {at[0] + d / 9 - 1, at[1] + d / 3 % 3 - 1, at[2] + d % 3 - 1};
		bool outside = false;
		for (int i = 0; i < 3; i++)
			outside |= !app.periodic && (there[i] < 0 || there[i] >= dims[i]);
		neighbour[d] = MPI_PROC_NULL;
		if (!outside)
			MPI_Cart_rank(comm, there, &neighbour[d]);
	}
	for (int i = 1; i <= N; i++)
		for (int j = 1; j <= N; j++)
			for (int k = 1; k <= N; k++)
				grid[i][j][k] = random_unit(&app.random);

	for (int step = 0; step < app.steps; step++) {
		exchange(comm, neighbour);
		relax();
		app_work(&app);
	}
	uint64_t sum = sum_add(0, &grid[0][0][0], sizeof grid / sizeof(double));
	MPI_Comm_free(&comm);
	return app_end(&app, sum);
}
