/* SPDX-License-Identifier: BSD-3-Clause
 * pcoll - persistent collectives, which Open MPI 4.1 calls MPIX_Xyz_init: each is started three times
 */
#include <mpi.h>
#include <stdio.h>
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h> /* after mpi.h */
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

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
	INIT(Barrier)(comm, MPI_INFO_NULL, &r), run();
	INIT(Bcast)(out, 4, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	INIT(Gather)
	(rank == root ? MPI_IN_PLACE : out, 2, MPI_INT, in, 2, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	INIT(Gatherv)(out, 1, MPI_INT, in, ones, places, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	INIT(Scatter)
	(out, 2, MPI_INT, rank == root ? MPI_IN_PLACE : in, 2, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	INIT(Scatterv)(out, ones, places, MPI_INT, in, 1, MPI_INT, root, comm, MPI_INFO_NULL, &r), run();
	INIT(Reduce)(out, in, 3, MPI_INT, MPI_SUM, root, comm, MPI_INFO_NULL, &r), run();
	INIT(Allgather)(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	INIT(Allgatherv)(out, 1, MPI_INT, in, ones, places, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	INIT(Alltoall)(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	INIT(Alltoallv)(out, ones, places, MPI_INT, in, ones, places, MPI_INT, comm, MPI_INFO_NULL, &r), run();
	INIT(Alltoallw)(out, ones, bytes, types, in, ones, bytes, types, comm, MPI_INFO_NULL, &r), run();
	INIT(Allreduce)(MPI_IN_PLACE, in, 3, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &r), run();
	INIT(Reduce_scatter)(out, in, ones, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
	INIT(Reduce_scatter_block)(out, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
	INIT(Scan)(out, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
	INIT(Exscan)(out, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), run();
}

static void neighbours(void)
{
	MPI_Comm cart;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &cart);
	INIT(Neighbor_allgather)(out, 1, MPI_INT, in, 1, MPI_INT, cart, MPI_INFO_NULL, &r), run();
	INIT(Neighbor_allgatherv)(out, 1, MPI_INT, in, ones, places, MPI_INT, cart, MPI_INFO_NULL, &r), run();
	INIT(Neighbor_alltoall)(out, 1, MPI_INT, in, 1, MPI_INT, cart, MPI_INFO_NULL, &r), run();
	INIT(Neighbor_alltoallv)(out, ones, places, MPI_INT, in, ones, places, MPI_INT, cart, MPI_INFO_NULL, &r), run();
	INIT(Neighbor_alltoallw)
	(out, ones, distances, types, in, ones, distances, types, cart, MPI_INFO_NULL, &r), run();
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
	INIT(Bcast)(out, 4, MPI_INT, 0, half, MPI_INFO_NULL, &r), run();
	MPI_Comm_free(&half);
	if (size > 1)
		neighbours();
	if (rank == 0)
		printf("pcoll: done\n");
	MPI_Finalize();
	return 0;
}
