/* SPDX-License-Identifier: BSD-3-Clause
 * pt2pt - every form of point-to-point communication, blocking and not
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, left, right;

static void modes(void)
{
	double a[64] = {0}, b[64];
	char attached[4 * (sizeof(a) + MPI_BSEND_OVERHEAD)];
	void *detached;
	int n;
	MPI_Request q[8];
	MPI_Status s[8];

	/* even ranks send first */
	for (int i = 1; i <= 20; i++) {
		if (rank % 2 == 0) {
			MPI_Send(a, i, MPI_DOUBLE, right, i, MPI_COMM_WORLD);
			MPI_Recv(b, 64, MPI_DOUBLE, left, i, MPI_COMM_WORLD, &s[0]);
			MPI_Get_count(&s[0], MPI_DOUBLE, &n);
			MPI_Ssend(a, i, MPI_DOUBLE, right, 100 + i % 3, MPI_COMM_WORLD);
			MPI_Recv(b, 64, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(b, 64, MPI_DOUBLE, left, i, MPI_COMM_WORLD, &s[0]);
			MPI_Send(a, i, MPI_DOUBLE, right, i, MPI_COMM_WORLD);
			MPI_Recv(b, 64, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Ssend(a, i, MPI_DOUBLE, right, 100 + i % 3, MPI_COMM_WORLD);
		}
	}
	MPI_Buffer_attach(attached, sizeof(attached));
	MPI_Bsend(a, 3, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
	MPI_Ibsend(a, 2, MPI_DOUBLE, right, 8, MPI_COMM_WORLD, &q[0]);
	MPI_Recv(b, 64, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &s[0]);
	MPI_Recv(b, 64, MPI_DOUBLE, left, 8, MPI_COMM_WORLD, &s[0]);
	MPI_Wait(&q[0], &s[0]);
	MPI_Buffer_detach(&detached, &n);
	/* ready sends: the receive is known to be there after the barrier */
	MPI_Irecv(b, 64, MPI_DOUBLE, left, 9, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(b + 32, 32, MPI_DOUBLE, left, 10, MPI_COMM_WORLD, &q[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Rsend(a, 5, MPI_DOUBLE, right, 9, MPI_COMM_WORLD);
	MPI_Irsend(a, 6, MPI_DOUBLE, right, 10, MPI_COMM_WORLD, &q[2]);
	MPI_Issend(a, 0, MPI_DOUBLE, right, 11, MPI_COMM_WORLD, &q[3]);
	MPI_Irecv(NULL, 0, MPI_DOUBLE, left, 11, MPI_COMM_WORLD, &q[4]);
	q[5] = MPI_REQUEST_NULL;
	MPI_Waitall(6, q, s);
	MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
	MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
	MPI_Wait(&q[5], MPI_STATUS_IGNORE);
}

static void exchanges(void)
{
	int a[16], b[16];
	MPI_Status s;

	memset(a, 0, sizeof(a));
	for (int i = 0; i < 5; i++) {
		MPI_Sendrecv(a, i, MPI_INT, right, i, b, 16, MPI_INT, left, i, MPI_COMM_WORLD, &s);
		MPI_Sendrecv(a, 2 * i, MPI_INT, left, 200 + i, b, 16, MPI_INT, MPI_ANY_SOURCE, 200 + i, MPI_COMM_WORLD,
		             MPI_STATUS_IGNORE);
		MPI_Sendrecv_replace(a, 16 - i, MPI_INT, right, 3, left, 3, MPI_COMM_WORLD, &s);
		/* a message of bytes into a receive of another type: the count is in units of the receive's type */
		MPI_Sendrecv(a, 16, MPI_BYTE, right, 4, b, 8, MPI_INT, left, 4, MPI_COMM_WORLD, &s);
	}
	MPI_Sendrecv(a, 1, MPI_INT, MPI_PROC_NULL, 0, b, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
	MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(a, 1, MPI_INT, 0, 1, b, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &s);
}

static void probes(void)
{
	char text[40] = "spoor";
	int flag, n;
	MPI_Status s;
	MPI_Message m;
	MPI_Request q;

	for (int i = 0; i < 6; i++) {
		MPI_Request out;

		MPI_Isend(text, 5 + i, MPI_CHAR, right, 20 + i, MPI_COMM_WORLD, &out);
		switch (i % 4) {
		case 0:
			MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
			MPI_Get_count(&s, MPI_CHAR, &n);
			MPI_Recv(text, n, MPI_CHAR, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			break;
		case 1:
			do {
				memset(&s, 0xff, sizeof(s)); /* MPICH 4.0 leaves some of it as it was */
				MPI_Iprobe(MPI_ANY_SOURCE, 20 + i, MPI_COMM_WORLD, &flag,
				           i < 4 ? MPI_STATUS_IGNORE : &s);
			} while (!flag);
			MPI_Recv(text, 40, MPI_CHAR, left, 20 + i, MPI_COMM_WORLD, &s);
			break;
		case 2:
			MPI_Mprobe(left, 20 + i, MPI_COMM_WORLD, &m, &s);
			MPI_Get_elements(&s, MPI_CHAR, &n);
			MPI_Mrecv(text, n, MPI_CHAR, &m, MPI_STATUS_IGNORE);
			break;
		case 3:
			do
				MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s);
			while (!flag);
			MPI_Imrecv(text, 40, MPI_CHAR, &m, &q);
			MPI_Wait(&q, &s);
			break;
		}
		MPI_Wait(&out, MPI_STATUS_IGNORE);
	}
	MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s);
	MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &s);
	MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &m, &s);
	MPI_Mrecv(text, 40, MPI_CHAR, &m, &s);
}

static void cancels(void)
{
	int x, flag;
	MPI_Request q[2];
	MPI_Status s;

	MPI_Irecv(&x, 1, MPI_INT, left, 999, MPI_COMM_WORLD, &q[0]);
	MPI_Request_get_status(q[0], &flag, &s);
	MPI_Cancel(&q[0]);
	MPI_Wait(&q[0], &s);
	MPI_Test_cancelled(&s, &flag);
	/* free: the request is forgotten, the message still goes */
	MPI_Irecv(&x, 1, MPI_INT, left, 30, MPI_COMM_WORLD, &q[0]);
	MPI_Isend(&rank, 1, MPI_INT, right, 30, MPI_COMM_WORLD, &q[1]);
	MPI_Request_free(&q[1]);
	do
		MPI_Request_get_status(q[0], &flag, MPI_STATUS_IGNORE);
	while (!flag);
	MPI_Test(&q[0], &flag, &s);
	MPI_Test(&q[0], &flag, &s);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	modes();
	exchanges();
	MPI_Barrier(MPI_COMM_WORLD);
	probes();
	MPI_Barrier(MPI_COMM_WORLD);
	cancels();
	if (rank == 0)
		printf("pt2pt: %d ranks\n", size);
	MPI_Finalize();
	return 0;
}
