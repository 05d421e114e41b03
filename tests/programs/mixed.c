/* SPDX-License-Identifier: BSD-3-Clause
 * mixed - collectives in which ranks have different datatypes and counts for the same data, other roots and other sizes
 * each time
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 12
#define MOST  16

int main(int argc, char **argv)
{
	int rank, size, bad = 0;
	MPI_Datatype pair;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);

	int *own = malloc(2 * MOST * (size_t)size * sizeof *own), *all = malloc(2 * MOST * (size_t)size * sizeof *all);
	int *numbers = malloc((size_t)size * sizeof *numbers), *places = malloc((size_t)size * sizeof *places);
	MPI_Datatype type = rank % 2 ? pair : MPI_INT;
	int each = rank % 2 ? 1 : 2;

	for (int i = 0; i < 2 * MOST * size; i++)
		own[i] = rank;
	for (int step = 0; step < STEPS; step++) {
		int n = 1 + step * 7 % (MOST / 2), root = step % size;
		MPI_Request request;

		MPI_Bcast(own, n * each, type, root, MPI_COMM_WORLD);
		bad += own[0] != root;
		for (int i = 0; i < 2 * n; i++)
			own[i] = rank;
		MPI_Gather(own, n * each, type, all, 2 * n, MPI_INT, root, MPI_COMM_WORLD);
		bad += rank == root && all[2 * n * (size - 1)] != size - 1;
		MPI_Gather(rank == root ? MPI_IN_PLACE : own, n * each, type, all, n, pair, root, MPI_COMM_WORLD);
		MPI_Scatter(all, n, pair, rank == root ? MPI_IN_PLACE : own, n * each, type, root, MPI_COMM_WORLD);
		for (int i = 0; i < size; i++) {
			numbers[i] = each * (1 + (i + step) % 3);
			places[i] = each * MOST * i;
		}
		MPI_Gatherv(own, each * (1 + (rank + step) % 3), type, all, numbers, places, type, root,
		            MPI_COMM_WORLD);
		MPI_Allgatherv(own, each * (1 + (rank + step) % 3), type, all, numbers, places, type, MPI_COMM_WORLD);
		MPI_Alltoall(own, n * each, type, all, n, pair, MPI_COMM_WORLD);
		MPI_Ialltoall(own, n, pair, all, n * each, type, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Reduce(rank == root ? MPI_IN_PLACE : own, own, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
		for (int i = 0; i < 2 * MOST * size; i++)
			own[i] = rank;
	}
	MPI_Type_free(&pair);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("mixed: %s\n", bad ? "wrong" : "right");
	MPI_Finalize();
	free(own);
	free(all);
	free(numbers);
	free(places);
	return bad != 0;
}
