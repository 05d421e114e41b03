/* SPDX-License-Identifier: BSD-3-Clause
 * sample - two ranks; what the flat logger must say of them is written by hand in sample.0 and sample.1
 */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, a[4] = {0}, b[4], counts[2] = {1, 2}, displs[2] = {0, 1}, flag, n, index;
	MPI_Request q[3], p;
	MPI_Status s[3];
	MPI_Comm c;
	MPI_Datatype t;
	MPI_Message m;

	MPI_Initialized(&flag);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int other = 1 - rank;

	/* Open MPI has one handle for the first two: they are told apart by their age, within an array by their place.
	 * */
	MPI_Irecv(b, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[0]);
	MPI_Isend(a, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[1]);
	MPI_Irecv(b, 4, MPI_INT, other, MPI_ANY_TAG, MPI_COMM_WORLD, &q[2]);
	MPI_Ssend(a, 3, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
	MPI_Send(a, 3, MPI_INT, other, 5, MPI_COMM_WORLD);
	MPI_Wait(&q[2], &s[0]);
	MPI_Get_count(&s[0], MPI_INT, &n);
	MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
	/* a number that is free is taken again, the lowest first */
	MPI_Irecv(b, 4, MPI_BYTE, other, 6, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(b, 4, MPI_BYTE, other, 999, MPI_COMM_WORLD, &q[1]);
	MPI_Cancel(&q[1]);
	MPI_Wait(&q[1], MPI_STATUS_IGNORE);
	MPI_Test(&q[1], &flag, MPI_STATUS_IGNORE);
	MPI_Testany(1, &q[0], &index, &flag, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Send(a, 4, MPI_BYTE, other, 6, MPI_COMM_WORLD);
	MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
	MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
	MPI_Recv_init(b, 4, MPI_DOUBLE, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &p);
	MPI_Wait(&p, MPI_STATUS_IGNORE);
	MPI_Start(&p);
	MPI_Wait(&p, MPI_STATUS_IGNORE);
	MPI_Request_free(&p);
	MPI_Mprobe(MPI_PROC_NULL, 8, MPI_COMM_SELF, &m, MPI_STATUS_IGNORE);
	MPI_Sendrecv(a, 2, MPI_INT, other, 3, b, 4, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(b, 4, MPI_SHORT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &s[0]);

	/* only what is significant */
	MPI_Gatherv(rank ? (void *)a : MPI_IN_PLACE, 2, MPI_INT, b, rank ? NULL : counts, rank ? NULL : displs, MPI_INT,
	            0, MPI_COMM_WORLD);
	MPI_Scatter(a, 1, MPI_INT, rank ? MPI_IN_PLACE : b, 1, MPI_INT, 1, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);

	/* numbers are never used again, but for requests */
	for (int i = 0; i < 2; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 0, -rank, &c);
		if (c != MPI_COMM_NULL)
			MPI_Comm_free(&c);
	}
	MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){2}, (int[]){0}, 1, &c);
	MPI_Cart_shift(c, 0, 1, &a[0], &a[1]);
	MPI_Comm_set_name(c, "a \"row\"\n");
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MPI_Send(a, 1, MPI_INT, 2, 0, c);
	MPI_Irecv(a, 1, MPI_INT, 7, 0, c, &q[0]);
	MPI_Comm_free(&c);
	MPI_Type_create_hindexed(2, counts, (MPI_Aint[]){0, 16}, MPI_DOUBLE, &t);
	MPI_Type_free(&t);
	if (rank) {
		MPI_Wtime();
		MPI_Finalize();
	} else {
		MPI_Finalize();
		MPI_Finalized(&flag);
	}
	return 0;
}
