/* SPDX-License-Identifier: BSD-3-Clause
 * program - calls functions of MPI 4.0 and 4.1 on one process
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

void mpi_send_f08ts_(void **, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_send_f08ts_large_(void **, MPI_Count *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);

static int a[16], b[16];

static void fortran(void)
{
	void *descriptor[8] = {a};
	MPI_Fint type = MPI_Type_c2f(MPI_INT), zero = 0, tag = 9, comm = MPI_Comm_c2f(MPI_COMM_WORLD), three = 3;
	MPI_Count four = 4;
	MPI_Request r;

	MPI_Irecv(b, 16, MPI_INT, 0, 9, MPI_COMM_WORLD, &r);
	mpi_send_f08ts_(descriptor, &three, &type, &zero, &tag, &comm, NULL);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Irecv(b, 16, MPI_INT, 0, 9, MPI_COMM_WORLD, &r);
	mpi_send_f08ts_large_(descriptor, &four, &type, &zero, &tag, &comm, NULL);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void world(void)
{
	MPI_Request r[2];
	MPI_Status s;
	MPI_Count n = 2, n0, n1, n2, n3, big[1];
	MPI_Aint place = 3;
	MPI_Comm copy;
	MPI_Info info;
	MPI_Datatype t, types[1];
	char value[8];
	int flag, length = 0, combiner, source;

	MPI_Init(NULL, NULL);
	MPI_Irecv(b, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Send_c(a, 3, MPI_INT, 0, 1, MPI_COMM_WORLD);
	MPI_Request_get_status_all(1, r, &flag, MPI_STATUSES_IGNORE);
	MPI_Wait(&r[0], &s);
	MPI_Get_count_c(&s, MPI_INT, &n0);
	MPI_Status_get_source(&s, &source);
	MPI_Isend(a, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &r[0]);
	MPI_Recv_c(b, 4, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Isendrecv(a, 1, MPI_INT, 0, 3, b, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Allgatherv_c(a, 2, MPI_INT, b, &n, &place, MPI_INT, MPI_COMM_WORLD);
	MPI_Allreduce_init(MPI_IN_PLACE, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Start(&r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&r[0]);
	MPI_Precv_init(b, 2, 3, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Psend_init(a, 2, 3, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Startall(2, r);
	MPI_Pready(0, r[1]);
	MPI_Pready_list(1, (int[]){1}, r[1]);
	MPI_Parrived(r[0], 1, &flag);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copy, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Comm_free(&copy);
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", "value");
	MPI_Info_get_string(info, "key", &length, NULL, &flag);
	MPI_Info_get_string(info, "key", &length, value, &flag);
	MPI_Info_free(&info);
	MPI_Type_contiguous_c(5000000000, MPI_INT, &t);
	MPI_Type_get_envelope_c(t, &n0, &n1, &n2, &n3, &combiner);
	MPI_Type_get_contents_c(t, 0, 0, 1, 1, NULL, NULL, big, types);
	MPI_Type_free(&t);
	fortran();
	MPI_Finalize();
}

static void sessions(void)
{
	MPI_Session s;
	MPI_Group g;
	MPI_Comm c;
	char name[32];
	int length = 0, rank;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &length, NULL);
	MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &length, name);
	MPI_Group_from_session_pset(s, name, &g);
	MPI_Comm_create_from_group(g, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
	MPI_Group_free(&g);
	MPI_Comm_rank(c, &rank);
	MPI_Barrier(c);
	MPI_Comm_free(&c);
	MPI_Session_finalize(&s);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "sessions"))
		sessions();
	else
		world();
	puts("done");
	return 0;
}
