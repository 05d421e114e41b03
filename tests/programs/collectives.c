/* SPDX-License-Identifier: BSD-3-Clause
 * collectives - every blocking collective, with MPI_IN_PLACE and with arguments that only the root gives; then each
 * non-blocking one
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static int *a, *b, *counts, *displs, *ones, *places, *offsets;
static MPI_Datatype *types;

static void rooted(MPI_Comm comm, int root)
{
	int me = rank == root;

	MPI_Bcast(a, 8 + root, MPI_INT, root, comm);
	MPI_Gather(a, 2, MPI_INT, me ? b : NULL, me ? 2 : -1, me ? MPI_INT : MPI_DATATYPE_NULL, root, comm);
	MPI_Gather(me ? MPI_IN_PLACE : a, 2, MPI_INT, b, 2, MPI_INT, root, comm);
	MPI_Gatherv(a, rank + 1, MPI_INT, me ? b : NULL, me ? counts : NULL, me ? displs : NULL, MPI_INT, root, comm);
	MPI_Gatherv(me ? MPI_IN_PLACE : a, me ? 0 : rank + 1, me ? MPI_DATATYPE_NULL : MPI_INT, b, me ? counts : NULL,
	            me ? displs : NULL, MPI_INT, root, comm);
	MPI_Scatter(me ? b : NULL, me ? 3 : 0, MPI_INT, a, 3, MPI_INT, root, comm);
	MPI_Scatter(b, 3, MPI_INT, me ? MPI_IN_PLACE : a, 3, MPI_INT, root, comm);
	MPI_Scatterv(me ? b : NULL, me ? counts : NULL, me ? displs : NULL, MPI_INT, a, rank + 1, MPI_INT, root, comm);
	MPI_Scatterv(me ? b : NULL, me ? counts : NULL, me ? displs : NULL, MPI_INT, me ? MPI_IN_PLACE : a, rank + 1,
	             MPI_INT, root, comm);
	MPI_Reduce(a, me ? b : NULL, 4, MPI_INT, MPI_SUM, root, comm);
	MPI_Reduce(me ? MPI_IN_PLACE : a, me ? a : NULL, 5, MPI_INT, MPI_BXOR, root, comm);
}

static void all(MPI_Comm comm)
{
	MPI_Barrier(comm);
	MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, comm);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, comm);
	MPI_Allgatherv(a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, comm);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, comm);
	MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm);
	MPI_Alltoallv(a, ones, places, MPI_INT, b, ones, places, MPI_INT, comm);
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, ones, places, MPI_INT, comm);
	MPI_Alltoallw(a, ones, offsets, types, b, ones, offsets, types, comm);
	MPI_Allreduce(a, b, 4, MPI_INT, MPI_MAX, comm);
	MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_MIN, comm);
	MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter(MPI_IN_PLACE, a, ones, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, a, 1, MPI_INT, MPI_BOR, comm);
	MPI_Scan(a, b, 3, MPI_INT, MPI_SUM, comm);
	MPI_Scan(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, comm);
	MPI_Exscan(a, b, 3, MPI_INT, MPI_SUM, comm);
	MPI_Exscan(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM);
}

static void nonblocking(MPI_Comm comm, int root)
{
	int me = rank == root, n = 0, flag, step = 0;
	MPI_Request q[24];
	int *c[24];

	for (int i = 0; i < 24; i++)
		c[i] = calloc(8 * size + size * size, sizeof(int));
	MPI_Ibarrier(comm, &q[n++]);
	MPI_Ibcast(c[n], 8, MPI_INT, root, comm, &q[n]), n++;
	MPI_Igather(a, 2, MPI_INT, me ? c[n] : NULL, 2, MPI_INT, root, comm, &q[n]), n++;
	MPI_Igather(me ? MPI_IN_PLACE : a, 2, MPI_INT, c[n], 2, MPI_INT, root, comm, &q[n]), n++;
	MPI_Igatherv(a, rank + 1, MPI_INT, c[n], me ? counts : NULL, me ? displs : NULL, MPI_INT, root, comm, &q[n]),
		n++;
	MPI_Iscatter(me ? b : NULL, 3, MPI_INT, c[n], 3, MPI_INT, root, comm, &q[n]), n++;
	MPI_Iscatterv(b, me ? counts : NULL, me ? displs : NULL, MPI_INT, c[n], rank + 1, MPI_INT, root, comm, &q[n]),
		n++;
	MPI_Ireduce(a, me ? c[n] : NULL, 4, MPI_INT, MPI_SUM, root, comm, &q[n]), n++;
	MPI_Iallgather(a, 2, MPI_INT, c[n], 2, MPI_INT, comm, &q[n]), n++;
	MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c[n], counts, displs, MPI_INT, comm, &q[n]), n++;
	MPI_Ialltoall(a, 1, MPI_INT, c[n], 1, MPI_INT, comm, &q[n]), n++;
	MPI_Ialltoallv(a, ones, places, MPI_INT, c[n], ones, places, MPI_INT, comm, &q[n]), n++;
	MPI_Ialltoallw(a, ones, offsets, types, c[n], ones, offsets, types, comm, &q[n]), n++;
	MPI_Iallreduce(a, c[n], 4, MPI_INT, MPI_MAX, comm, &q[n]), n++;
	MPI_Iallreduce(MPI_IN_PLACE, c[n], 4, MPI_INT, MPI_MAX, comm, &q[n]), n++;
	MPI_Ireduce_scatter(a, c[n], ones, MPI_INT, MPI_SUM, comm, &q[n]), n++;
	MPI_Ireduce_scatter_block(a, c[n], 2, MPI_INT, MPI_SUM, comm, &q[n]), n++;
	MPI_Iscan(a, c[n], 3, MPI_INT, MPI_SUM, comm, &q[n]), n++;
	MPI_Iexscan(a, c[n], 3, MPI_INT, MPI_SUM, comm, &q[n]), n++;
	MPI_Wait(&q[3], MPI_STATUS_IGNORE);
	do
		MPI_Testall(n, q, &flag, MPI_STATUSES_IGNORE);
	while (!flag && step++ < 5);
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 24; i++)
		free(c[i]);
}

int main(int argc, char **argv)
{
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	a = calloc(8 * size + size * size, sizeof(int));
	b = calloc(8 * size + size * size, sizeof(int));
	counts = calloc(size, sizeof(int));
	displs = calloc(size, sizeof(int));
	ones = calloc(size, sizeof(int));
	places = calloc(size, sizeof(int));
	offsets = calloc(size, sizeof(int));
	types = calloc(size, sizeof(*types));
	for (int i = 0; i < size; i++) {
		counts[i] = i + 1;
		displs[i] = i * (i + 1) / 2;
		ones[i] = 1;
		places[i] = i;
		offsets[i] = i * sizeof(int);
		types[i] = i % 2 ? MPI_INT : MPI_INT32_T;
	}
	for (int i = 0; i < size; i++) /* the same type signature on both sides */
		types[i] = MPI_INT;
	for (int root = 0; root < size; root++)
		rooted(MPI_COMM_WORLD, root);
	for (int i = 0; i < 3; i++)
		all(MPI_COMM_WORLD);
	nonblocking(MPI_COMM_WORLD, size - 1);

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	int world = rank;
	MPI_Comm_rank(half, &rank);
	MPI_Comm_size(half, &size);
	rooted(half, size - 1);
	all(half);
	nonblocking(half, 0);
	MPI_Comm_free(&half);
	if (world == 0)
		printf("collectives: %d\n", b[0] != 1 << 30);
	MPI_Finalize();
	return 0;
}
