/* SPDX-License-Identifier: BSD-3-Clause
 * four - what MPI 4.0 added, as far as the library has it: sessions beside the world, partitioned communication
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PARTS 4
static int rank, size, wrong, out[PARTS], in[PARTS];

static void check(int right, const char *what)
{
	if (!right)
		printf("four: rank %d: %s is wrong\n", rank, what);
	wrong |= !right;
}

static void exchange(void)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size, got = -1, both = rank;
	MPI_Request r;

	MPI_Isendrecv(&rank, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(got == left, "MPI_Isendrecv");
	MPI_Isendrecv_replace(&both, 1, MPI_INT, left, 2, right, 2, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(both == right, "MPI_Isendrecv_replace");
}

static void partitions(void)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size, arrived = 0;
	MPI_Request r[2];

	MPI_Precv_init(in, PARTS, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Psend_init(out, PARTS, 1, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < PARTS; i++)
			out[i] = rank * 100 + turn * 10 + i;
		MPI_Startall(2, r);
		MPI_Pready(3, r[1]);
		MPI_Pready_range(0, 1, r[1]);
		MPI_Pready_list(1, (int[]){2}, r[1]);
		for (arrived = 0; !arrived;)
			MPI_Parrived(r[0], 1, &arrived);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		check(in[0] == left * 100 + turn * 10 && in[3] == in[0] + 3, "partitioned communication");
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

static void infos(void)
{
	MPI_Info info;
	MPI_Comm copy;
	MPI_Request r;
	char value[8] = "";
	int length = 0, flag = 0, n = 0;

	MPI_Info_create(&info);
	MPI_Info_set(info, "key", "value");
	MPI_Info_get_string(info, "key", &length, value, &flag);
	check(flag && length == 6, "the length of a value");
	MPI_Info_get_string(info, "key", &length, value, &flag);
	check(!strcmp(value, "value"), "a value");
	MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &copy, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_size(copy, &n);
	check(n == size, "MPI_Comm_idup_with_info");
	MPI_Comm_free(&copy);
	MPI_Info_free(&info);
}

static void session(const char *tag)
{
	MPI_Session s;
	MPI_Group group;
	MPI_Comm comm;
	int sum = 0, one = 1, sets = 0;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	MPI_Session_get_num_psets(s, MPI_INFO_NULL, &sets);
	check(sets >= 2, "the number of process sets");
	MPI_Group_from_session_pset(s, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Group_free(&group);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	check(sum == size, "the sum over a session's communicator");
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
}

int main(void)
{
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	exchange();
	partitions();
	infos();
	session("one");
	session("two");
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		puts("four: done");
	MPI_Finalize();
	return wrong;
}
#else
int main(void)
{
	MPI_Init(NULL, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	puts("four: this library has nothing of MPI 4");
	MPI_Finalize();
	return 0;
}
#endif
