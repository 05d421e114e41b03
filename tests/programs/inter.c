/* SPDX-License-Identifier: BSD-3-Clause
 * inter - intercommunicators: point-to-point, every kind of collective, merging
 */
#include <mpi.h>
#include <stdio.h>

enum { N = 64 };

int main(int argc, char **argv)
{
	int rank, size, me, here, there, flag, a[N] = {0}, b[N], counts[N], displs[N];
	MPI_Comm local, inter, merged, copy;
	MPI_Group group;
	MPI_Request q;
	MPI_Status s;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	/* two ranks here, all others there: the sizes differ */
	int lower = rank < 2;
	MPI_Comm_split(MPI_COMM_WORLD, lower, rank, &local);
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, lower ? 2 : 0, 12, &inter);
	MPI_Comm_test_inter(inter, &flag);
	MPI_Comm_rank(inter, &me);
	MPI_Comm_size(inter, &here);
	MPI_Comm_remote_size(inter, &there);
	MPI_Comm_remote_group(inter, &group);
	MPI_Group_size(group, &flag);
	MPI_Group_free(&group);

	/* ranks are those of the other side */
	if (me == 0) {
		MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, b, N, MPI_INT, 0, 1, inter, &s);
		MPI_Isend(&rank, 1, MPI_INT, there - 1, 2, inter, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
	if (me == here - 1)
		MPI_Recv(b, N, MPI_INT, MPI_ANY_SOURCE, 2, inter, &s);

	for (int i = 0; i < there; i++) {
		counts[i] = 2;
		displs[i] = 2 * i;
	}
	/* the root is the first of the lower side */
	int root = lower ? me == 0 ? MPI_ROOT : MPI_PROC_NULL : 0;
	MPI_Bcast(a, 4, MPI_INT, root, inter);
	MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, root, inter);
	MPI_Gatherv(a, 2, MPI_INT, b, counts, displs, MPI_INT, root, inter);
	MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, root, inter);
	MPI_Scatterv(a, counts, displs, MPI_INT, b, 2, MPI_INT, root, inter);
	MPI_Reduce(a, b, 3, MPI_INT, MPI_SUM, root, inter);
	MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, inter);
	MPI_Allgatherv(a, 2, MPI_INT, b, counts, displs, MPI_INT, inter);
	MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, inter);
	MPI_Alltoallv(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, inter);
	MPI_Allreduce(a, b, 2, MPI_INT, MPI_MAX, inter);
	MPI_Barrier(inter);

	MPI_Comm_dup(inter, &copy);
	MPI_Comm_compare(inter, copy, &flag);
	MPI_Intercomm_merge(inter, lower, &merged);
	MPI_Comm_rank(merged, &me);
	MPI_Allreduce(&rank, b, 1, MPI_INT, MPI_SUM, merged);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&local);
	MPI_Comm_get_parent(&copy);
	if (rank == 0)
		printf("inter: %d\n", b[0]);
	MPI_Finalize();
	return 0;
}
