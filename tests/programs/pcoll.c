/* SPDX-License-Identifier: BSD-3-Clause
 * pcoll - persistent collectives, which Open MPI 4.1 calls MPIX_Xyz_init: each is started three times
 */
#include <mpi.h>
#include <mpi-ext.h> /* after mpi.h */
#include <stdio.h>

#define MOST 32
static int rank, size, out[MOST * MOST], in[MOST * MOST], ones[MOST], places[MOST], bytes[MOST];
static MPI_Aint distances[MOST];
static MPI_Datatype types[MOST];
static MPI_Request r;

static void run(void)
{
	for (int i = 0; i < 3; i++) {
		MPI_Start(&r);
		if (i == 1)
			MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
		else
			MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&r);
}

static void plain(MPI_Comm comm, int root)
{
	MPIX_Barrier_init(comm, MPI_INFO_NULL, &r), run();
	MPIX_Bcast_init(out, 4, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	MPIX_Gather_init(rank == root ? MPI_IN_PLACE : out, 2, MPI_INT, in, 2, MPI_INT, root, comm, MPI_INFO_NULL, &r),
		run();
	MPIX_Gatherv_init(out, 1, MPI_INT, in, ones, places, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	MPIX_Scatter_init(out, 2, MPI_INT, rank == root ? MPI_IN_PLACE : in, 2, MPI_INT, root, comm, MPI_INFO_NULL, &r),
		run();
	MPIX_Scatterv_init(out, ones, places, MPI_INT, in, 1, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	MPIX_Reduce_init(out, in, 3, MPI_INT, MPI_SUM, root, comm, MPI_INFO_NULL, &r), run();
	MPIX_Allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	MPIX_Allgatherv_init(out, 1, MPI_INT, in, ones, places, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	MPIX_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	MPIX_Alltoallv_init(out, ones, places, MPI_INT, in, ones, places, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	MPIX_Alltoallw_init(out, ones, bytes, types, in, ones, bytes, types, comm, MPI_INFO_NULL, &r), run();
	MPIX_Allreduce_init(MPI_IN_PLACE, in, 3, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &r), run();
	MPIX_Reduce_scatter_init(out, in, ones, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
	MPIX_Reduce_scatter_block_init(out, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
	MPIX_Scan_init(out, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
	MPIX_Exscan_init(out, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
}

static void neighbours(void)
{
	MPI_Comm cart;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &cart);
	MPIX_Neighbor_allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, cart, MPI_INFO_NULL, &r), run();
	MPIX_Neighbor_allgatherv_init(out, 1, MPI_INT, in, ones, places, MPI_INT, cart, MPI_INFO_NULL, &r), run();
	MPIX_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, cart, MPI_INFO_NULL, &r), run();
	MPIX_Neighbor_alltoallv_init(out, ones, places, MPI_INT, in, ones, places, MPI_INT, cart, MPI_INFO_NULL, &r),
		run();
	MPIX_Neighbor_alltoallw_init(out, ones, distances, types, in, ones, distances, types, cart, MPI_INFO_NULL, &r),
		run();
	MPI_Comm_free(&cart);
}

int main(void)
{
	MPI_Comm half;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < MOST; i++) {
		ones[i] = 1;
		places[i] = i;
		distances[i] = bytes[i] = i * (int)sizeof(int);
		types[i] = MPI_INT;
	}
	plain(MPI_COMM_WORLD, size - 1);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
	MPIX_Bcast_init(out, 4, MPI_INT, 0, half, MPI_INFO_NULL, &r), run();
	MPI_Comm_free(&half);
	if (size > 1)
		neighbours();
	if (rank == 0)
		printf("pcoll: done\n");
	MPI_Finalize();
	return 0;
}
