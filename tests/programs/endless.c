/* SPDX-License-Identifier: BSD-3-Clause
 * endless - call paths and strings without end: endless [PATHS [DEPTH [STRINGS [AFTER [MORE]]]]]
 *
 * Each of PATHS calls comes along another path of DEPTH frames. Then come STRINGS long strings, until memory is used
 * up, and at last functions that it has not called before, AFTER times each: seven, for which memory is held, and then,
 * unless MORE is 0, forty more: there cannot even be a place for them all. Any number of ranks.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = UINT64_C(88172645463325252);
static int calls;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * UINT64_C(0x2545f4914f6cdd1d) >> 33;
}

static __attribute__((noinline)) void left(int depth);

static __attribute__((noinline)) void right(int depth)
{
	int flag, n;
	if (depth > 0 && draw() & 1)
		left(depth - 1);
	else if (depth > 0)
		right(depth - 1);
	else if (draw() & 1)
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
	else
		MPI_Iprobe(MPI_ANY_SOURCE, (int)draw() & 1023, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	__asm__ volatile("" ::: "memory"); /* no jump in place of the call */
}

static void left(int depth)
{
	int n;
	if (depth > 0 && draw() & 1)
		left(depth - 1);
	else if (depth > 0)
		right(depth - 1);
	else
		MPI_Type_size(MPI_INT, &n);
	__asm__ volatile("" ::: "memory");
}

static void strings(int n)
{
	char value[250];
	MPI_Info info;
	MPI_Info_create(&info);
	for (int i = 0; i < n; i++) {
		for (size_t k = 0; k + 1 < sizeof value; k++)
			value[k] = (char)('a' + draw() % 26);
		value[sizeof value - 1] = '\0';
		MPI_Info_set(info, "key", value);
	}
	MPI_Info_free(&info);
}

static void others(void)
{
	MPI_Request request[2];
	MPI_Status status[2];
	int out[4] = {1, 2, 3, 4}, in[4], n, flag;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Initialized(&flag);
	MPI_Irecv(in, 4, MPI_INT, 0, 7, MPI_COMM_SELF, &request[0]);
	MPI_Isend(out, 1 + calls % 4, MPI_INT, 0, 7, MPI_COMM_SELF, &request[1]);
	MPI_Waitall(2, request, status);
	MPI_Get_count(&status[0], MPI_INT, &n);
	MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	calls++;
}

static void local_ones(void)
{
	int n, m, flag;
	char text[MPI_MAX_ERROR_STRING + MPI_MAX_PROCESSOR_NAME + MPI_MAX_OBJECT_NAME];
	MPI_Aint bound, extent;
	MPI_Get_version(&n, &m);
	MPI_Is_thread_main(&flag);
	MPI_Query_thread(&n);
	MPI_Finalized(&flag);
	MPI_Get_processor_name(text, &n);
	MPI_Comm_get_name(MPI_COMM_SELF, text, &n);
	MPI_Comm_compare(MPI_COMM_SELF, MPI_COMM_WORLD, &n);
	MPI_Comm_test_inter(MPI_COMM_SELF, &flag);
	MPI_Topo_test(MPI_COMM_SELF, &n);
	MPI_Pack_size(calls % 9, MPI_INT, MPI_COMM_SELF, &n);
	MPI_Type_get_extent(MPI_INT, &bound, &extent);
	MPI_Type_get_true_extent(MPI_INT, &bound, &extent);
	MPI_Type_get_name(MPI_INT, text, &n);
	MPI_Op_commutative(MPI_SUM, &flag);
	MPI_Error_class(MPI_ERR_TAG, &n);
	MPI_Error_string(MPI_ERR_TAG, text, &n);
}

static void made_ones(void)
{
	MPI_Group group;
	MPI_Datatype type;
	MPI_Comm comm;
	int n;
	MPI_Comm_group(MPI_COMM_SELF, &group);
	MPI_Group_size(group, &n);
	MPI_Group_rank(group, &n);
	MPI_Group_free(&group);
	MPI_Type_contiguous(4, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&type);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_name(comm, "another");
	MPI_Comm_free(&comm);
}

static void collective_ones(void)
{
	int out[4] = {1, 2, 3, 4}, in[4], n = 1 + calls % 4;
	MPI_Request request;
	MPI_Bcast(out, n, MPI_INT, 0, MPI_COMM_SELF);
	MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF);
	MPI_Scan(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	MPI_Exscan(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, 0, MPI_COMM_SELF);
	MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, 0, MPI_COMM_SELF);
	MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_SELF);
	MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_SELF);
	MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	MPI_Reduce_local(out, in, n, MPI_INT, MPI_SUM);
	MPI_Sendrecv(out, n, MPI_INT, 0, 8, in, n, MPI_INT, 0, 8, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Ibarrier(MPI_COMM_SELF, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int paths = argc > 1 ? atoi(argv[1]) : 3000, depth = argc > 2 ? atoi(argv[2]) : 240,
	    n = argc > 3 ? atoi(argv[3]) : 6000;
	int after = argc > 4 ? atoi(argv[4]) : 1000, more = argc > 5 ? atoi(argv[5]) : 1;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < paths; i++)
		left(depth);
	strings(n);
	for (int i = 0; i < after; i++)
		others();
	for (int i = 0; more && i < after; i++) {
		local_ones();
		made_ones();
		collective_ones();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	printf("%d calls\n", calls);
	return 0;
}
