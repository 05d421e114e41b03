/* SPDX-License-Identifier: BSD-3-Clause
 * halo - halo exchange on a grid that is not periodic: many requests to MPI_PROC_NULL; rows and columns of the grid
 */
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 30, N = 32 };

int main(int argc, char **argv)
{
	int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2], side[4];
	double out[4][N] = {{0}}, in[4][N], norm = 1, all;
	MPI_Comm grid, row, column;
	MPI_Request q[8];
	MPI_Status s[8];

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_coords(grid, rank, 2, coords);
	MPI_Cart_shift(grid, 0, 1, &side[0], &side[1]);
	MPI_Cart_shift(grid, 1, 1, &side[2], &side[3]);
	MPI_Cart_sub(grid, (int[]){0, 1}, &row);
	MPI_Comm_split(grid, coords[1], coords[0], &column);

	for (int step = 0; step < STEPS; step++) {
		for (int i = 0; i < 4; i++)
			MPI_Irecv(in[i], N, MPI_DOUBLE, side[i], i ^ 1, grid, &q[i]);
		for (int i = 0; i < 4; i++)
			MPI_Isend(out[i], N - step % 3, MPI_DOUBLE, side[i], i, grid, &q[4 + i]);
		if (step % 3 == 0) {
			MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
		} else if (step % 3 == 1) {
			MPI_Waitall(8, q, s);
		} else {
			for (int i = 0; i < 8; i++) {
				int index;
				MPI_Waitany(8, q, &index, &s[0]);
			}
		}
		if (step % 10 == 9)
			MPI_Allreduce(&norm, &all, 1, MPI_DOUBLE, MPI_MAX, grid);
	}
	/* one at a time, and in the reverse order: each handle means the oldest request */
	for (int i = 0; i < 4; i++)
		MPI_Irecv(in[i], N, MPI_DOUBLE, side[i], i ^ 1, grid, &q[i]);
	for (int i = 0; i < 4; i++)
		MPI_Isend(out[i], N, MPI_DOUBLE, side[i], i, grid, &q[4 + i]);
	for (int i = 7; i >= 0; i--)
		MPI_Wait(&q[i], i % 2 ? &s[i] : MPI_STATUS_IGNORE);

	/* a ring in the row, a shift in the column */
	int row_rank, row_size, column_rank, column_size, token = rank, other;
	MPI_Comm_rank(row, &row_rank);
	MPI_Comm_size(row, &row_size);
	MPI_Comm_rank(column, &column_rank);
	MPI_Comm_size(column, &column_size);
	MPI_Sendrecv(&token, 1, MPI_INT, (row_rank + 1) % row_size, 1, &other, 1, MPI_INT,
	             (row_rank + row_size - 1) % row_size, 1, row, MPI_STATUS_IGNORE);
	if (column_rank > 0)
		MPI_Recv(&other, 1, MPI_INT, column_rank - 1, 2, column, &s[0]);
	if (column_rank < column_size - 1)
		MPI_Send(&token, 1, MPI_INT, column_rank + 1, 2, column);
	MPI_Bcast(&token, 1, MPI_INT, row_size - 1, row);
	MPI_Reduce(&token, &other, 1, MPI_INT, MPI_SUM, 0, column);
	MPI_Comm_free(&row);
	MPI_Comm_free(&column);
	MPI_Comm_free(&grid);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		printf("halo: %d x %d\n", dims[0], dims[1]);
	MPI_Finalize();
	return 0;
}
