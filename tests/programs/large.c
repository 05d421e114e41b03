/* SPDX-License-Identifier: BSD-3-Clause
 * large - functions with large counts; only MPI 4 libraries have them
 */
#include <mpi.h>

static void messages(int rank, int size)
{
	long in[8], out[8] = {0};
	MPI_Request r;

	for (int i = 0; i < 10; i++) {
		MPI_Irecv_c(in, 4, MPI_LONG, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &r);
		MPI_Send_c(out, 4, MPI_LONG, (rank + 1) % size, 1, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Bcast_c(in, 7, MPI_LONG, 0, MPI_COMM_WORLD);
		MPI_Allreduce_c(out, in, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	}
}

static void arrays(int rank, int size)
{
	long in[64], out[64] = {0};
	MPI_Count counts[8];
	MPI_Aint displs[8], bytes[8];
	MPI_Datatype types[8];

	for (int i = 0; i < size; i++) {
		counts[i] = i + 1;
		displs[i] = i * (i + 1) / 2;
		types[i] = MPI_LONG;
	}
	MPI_Allgatherv_c(out, rank + 1, MPI_LONG, in, counts, displs, MPI_LONG, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++) {
		counts[i] = 2;
		displs[i] = 2 * i;
		bytes[i] = 16 * i;
	}
	MPI_Alltoallv_c(out, counts, displs, MPI_LONG, in, counts, displs, MPI_LONG, MPI_COMM_WORLD);
	MPI_Alltoallw_c(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD);
	MPI_Reduce_scatter_c(out, in, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static void add(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
	(void)type;
	for (MPI_Count i = 0; i < *n; i++)
		((long *)inout)[i] += ((long *)in)[i];
}

static void objects(int rank)
{
	long in[8], out[8] = {0};
	char packed[256];
	MPI_Count at = 0, lengths[2] = {1, 2}, displs[2] = {0, 2};
	MPI_Datatype t, u;
	MPI_Op op;

	MPI_Type_contiguous_c(3, MPI_LONG, &t);
	MPI_Type_commit(&t);
	MPI_Type_indexed_c(2, lengths, displs, MPI_LONG, &u);
	MPI_Type_commit(&u);
	MPI_Sendrecv_c(out, 1, u, rank, 2, in, 1, u, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Pack_c(out, 2, t, packed, sizeof(packed), &at, MPI_COMM_WORLD);
	MPI_Pack_c(out, 1, t, packed, sizeof(packed), &at, MPI_COMM_WORLD);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
	MPI_Op_create_c(add, 1, &op);
	MPI_Allreduce_c(out, in, 3, MPI_LONG, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	messages(rank, size);
	arrays(rank, size);
	objects(rank);
	MPI_Finalize();
	return 0;
}
