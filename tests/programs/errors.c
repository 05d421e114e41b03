/* SPDX-License-Identifier: BSD-3-Clause
 * errors - calls that fail, with errors returned: the program goes on
 */
#include <mpi.h>
#include <stdio.h>

static int code;

static int refuse(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)comm;
	(void)keyval;
	(void)extra;
	(void)in;
	(void)out;
	(void)flag;
	return code;
}

int main(int argc, char **argv)
{
	int rank, size, a[8] = {0}, b[8], n, rc, codes[8];
	MPI_Comm c;
	MPI_Request q[3];
	MPI_Status s[3];
	MPI_Datatype t;
	MPI_File f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int right = (rank + 1) % size, left = (rank + size - 1) % size, k = 0;

	codes[k++] = MPI_Send(a, 1, MPI_INT, size, 1, MPI_COMM_WORLD);
	codes[k++] = MPI_Send(a, -1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	codes[k++] = MPI_Send(a, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
	codes[k++] = MPI_Bcast(a, 1, MPI_INT, size + 1, MPI_COMM_WORLD);
	codes[k++] = MPI_Comm_rank(MPI_COMM_NULL, &n);
	codes[k++] = MPI_Irecv(a, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD, &q[0]);
	codes[k++] = MPI_Group_incl(MPI_GROUP_EMPTY, 1, a, &(MPI_Group){0});

	/* truncated: a blocking receive, one that is waited for, one of several */
	MPI_Isend(a, 8, MPI_INT, right, 2, MPI_COMM_WORLD, &q[0]);
	rc = MPI_Recv(b, 2, MPI_INT, left, 2, MPI_COMM_WORLD, &s[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Irecv(b, 2, MPI_INT, left, 3, MPI_COMM_WORLD, &q[0]);
	MPI_Send(a, 8, MPI_INT, right, 3, MPI_COMM_WORLD);
	rc |= MPI_Wait(&q[0], &s[0]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Irecv(b, 2, MPI_INT, left, 4, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(b + 4, 4, MPI_INT, left, 5, MPI_COMM_WORLD, &q[1]);
	MPI_Send(a, 4, MPI_INT, right, 5, MPI_COMM_WORLD);
	MPI_Send(a, 8, MPI_INT, right, 4, MPI_COMM_WORLD);
	MPI_Waitall(2, q, s);
	/* the numbers of the completed ones are free again */
	MPI_Irecv(b, 8, MPI_INT, left, 6, MPI_COMM_WORLD, &q[0]);
	MPI_Send(a, 8, MPI_INT, right, 6, MPI_COMM_WORLD);
	MPI_Wait(&q[0], &s[0]);

	/* an error of the program's own */
	MPI_Add_error_class(&n);
	MPI_Add_error_code(n, &code);
	MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &n, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, n, a);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_SELF, &c);
	MPI_Comm_delete_attr(MPI_COMM_SELF, n);
	MPI_Comm_free_keyval(&n);

	MPI_Type_vector(-1, 1, 1, MPI_INT, &t);
	MPI_File_open(MPI_COMM_SELF, "/nonexistent/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	MPI_Comm_split(MPI_COMM_WORLD, -3, 0, &c);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < k; i++)
		MPI_Error_class(codes[i], &codes[i]);
	if (rank == 0)
		printf("errors: %d %d %d %d %d %d %d, %d\n", codes[0], codes[1], codes[2], codes[3], codes[4], codes[5],
		       codes[6], rc != 0);
	MPI_Finalize();
	return 0;
}
