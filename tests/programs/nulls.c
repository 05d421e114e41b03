/* SPDX-License-Identifier: BSD-3-Clause
 * nulls - calls that fail because of what a trace does not have, null pointers above all; infos with long and odd
 * values
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void count(int rc)
{
	failures += rc != MPI_SUCCESS;
}

static void outputs(void)
{
	MPI_Comm none = MPI_COMM_NULL;
	int n, *missing = NULL;

	count(MPI_Comm_rank(MPI_COMM_WORLD, missing));
	count(MPI_Comm_size(MPI_COMM_WORLD, missing));
	count(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
	count(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
	count(MPI_Comm_group(MPI_COMM_WORLD, NULL));
	count(MPI_Comm_free(&none));
	count(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &n));
	count(MPI_Comm_test_inter(MPI_COMM_WORLD, NULL));
	count(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, NULL));
	count(MPI_Comm_set_name(MPI_COMM_WORLD, NULL));
	count(MPI_Type_contiguous(2, MPI_INT, NULL));
	count(MPI_Type_size(MPI_INT, NULL));
	count(MPI_Type_commit(NULL));
	count(MPI_Type_free(NULL));
	count(MPI_Type_free(&(MPI_Datatype){MPI_DATATYPE_NULL}));
	count(MPI_Type_free(&(MPI_Datatype){MPI_INT}));
	count(MPI_Type_indexed(2, NULL, NULL, MPI_INT, &(MPI_Datatype){MPI_DATATYPE_NULL}));
	count(MPI_Group_size(MPI_GROUP_NULL, &n));
	count(MPI_Group_free(NULL));
	count(MPI_Group_free(&(MPI_Group){MPI_GROUP_NULL}));
	count(MPI_Op_create(NULL, 1, &(MPI_Op){MPI_OP_NULL}));
	count(MPI_Op_free(&(MPI_Op){MPI_SUM}));
	count(MPI_Get_processor_name(NULL, &n));
	count(MPI_Initialized(NULL));
	count(MPI_Error_class(1000000, &n));
	count(MPI_Dims_create(7, 2, NULL));
	count(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, NULL, 0, &none));
	count(MPI_Errhandler_free(&(MPI_Errhandler){MPI_ERRHANDLER_NULL}));
	count(MPI_Comm_create_errhandler(NULL, NULL));
	count(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL));
}

static void messages(int rank, int size)
{
	int a[4] = {rank}, b[4], n, right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Request request = MPI_REQUEST_NULL;

	count(MPI_Send(NULL, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
	count(MPI_Send(a, 1, MPI_DATATYPE_NULL, right, 1, MPI_COMM_WORLD));
	count(MPI_Send(a, 1, MPI_INT, right, 1, MPI_COMM_NULL));
	count(MPI_Isend(NULL, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request));
	count(MPI_Isend(a, 1, MPI_INT, right, 1, MPI_COMM_WORLD, NULL));
	count(MPI_Irecv(NULL, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
	count(MPI_Recv(NULL, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	count(MPI_Sendrecv(NULL, 1, MPI_INT, right, 1, b, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	count(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
	count(MPI_Waitany(2, NULL, &n, MPI_STATUS_IGNORE));
	count(MPI_Wait(NULL, MPI_STATUS_IGNORE));
	count(MPI_Testall(2, NULL, &n, MPI_STATUSES_IGNORE));
	count(MPI_Test(&request, NULL, MPI_STATUS_IGNORE));
	count(MPI_Start(&request));
	count(MPI_Request_free(&request));
	count(MPI_Cancel(&request));
	count(MPI_Probe(left, -7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	/* what follows is as it would be without all that */
	MPI_Sendrecv(a, 4, MPI_INT, right, 1, b, 4, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void collectives(int size)
{
	int a[4] = {0}, b[64], *counts = NULL;

	count(MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_NULL));
	count(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
	count(MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD));
	count(MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, MPI_COMM_WORLD));
	count(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
	count(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, size, MPI_COMM_WORLD));
	count(MPI_Allgatherv(a, 1, MPI_INT, b, counts, counts, MPI_INT, MPI_COMM_WORLD));
	count(MPI_Alltoallv(a, counts, counts, MPI_INT, b, counts, counts, MPI_INT, MPI_COMM_WORLD));
	count(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	count(MPI_Barrier(MPI_COMM_NULL));
	MPI_Barrier(MPI_COMM_WORLD);
}

static void attributes(void)
{
	int key = MPI_KEYVAL_INVALID, flag;
	void *value;

	count(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
	count(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL));
	count(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL));
	count(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
	count(MPI_Comm_free_keyval(&key));
	count(MPI_Comm_create_keyval(NULL, NULL, NULL, NULL));
	count(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, NULL));
}

static void windows(void)
{
	MPI_Win win;
	int a[4] = {0}, *memory;

	count(MPI_Win_create(a, sizeof a, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	count(MPI_Win_create(a, sizeof a, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win));
	MPI_Win_allocate(sizeof a, sizeof *a, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	count(MPI_Put(a, 1, MPI_INT, 1000, 0, 1, MPI_INT, win));
	count(MPI_Put(a, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
	count(MPI_Get(a, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
	MPI_Win_fence(0, win);
	count(MPI_Win_unlock(0, win));
	count(MPI_Win_get_group(win, NULL));
	MPI_Win_free(&win);
	count(MPI_Win_fence(0, MPI_WIN_NULL));
}

static void files(void)
{
	MPI_File file;
	MPI_Offset size;

	count(MPI_File_open(MPI_COMM_SELF, "absent", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
	count(MPI_File_open(MPI_COMM_SELF, "absent", MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
	count(MPI_File_delete("absent", MPI_INFO_NULL));
	count(MPI_File_get_size(MPI_FILE_NULL, &size));
	count(MPI_File_close(&(MPI_File){MPI_FILE_NULL}));
}

static void infos(void)
{
	MPI_Info info, other;
	char key[MPI_MAX_INFO_KEY + 8], *value = malloc(MPI_MAX_INFO_VAL + 8), small[4];
	int flag, n;

	count(MPI_Info_create(NULL));
	count(MPI_Info_free(&(MPI_Info){MPI_INFO_NULL}));
	count(MPI_Info_set(MPI_INFO_NULL, "a", "b"));
	MPI_Info_create(&info);
	memset(key, 'k', sizeof key);
	key[sizeof key - 1] = '\0';
	memset(value, 'v', MPI_MAX_INFO_VAL + 7);
	value[MPI_MAX_INFO_VAL + 7] = '\0';
	count(MPI_Info_set(info, key, "too long a key"));
	count(MPI_Info_set(info, "too long a value", value));
	count(MPI_Info_set(info, NULL, "no key"));
	count(MPI_Info_set(info, "no value", NULL));
	count(MPI_Info_set(info, "", "an empty key"));
	key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = '\0';
	MPI_Info_set(info, key, value);
	for (int i = 0; i < 30; i++) {
		snprintf(key, sizeof key, "key %d", i * 7 % 30);
		snprintf(value, MPI_MAX_INFO_VAL, "value %d", i);
		MPI_Info_set(info, key, value);
	}
	count(MPI_Info_get(info, "key 3", 3, small, &flag));
	count(MPI_Info_get(info, "key 3", -1, small, &flag));
	count(MPI_Info_get(info, NULL, 3, small, &flag));
	count(MPI_Info_get(info, "key 3", 3, NULL, &flag));
	count(MPI_Info_get_valuelen(info, "none", &n, &flag));
	count(MPI_Info_get_nthkey(info, 99, key));
	count(MPI_Info_get_nthkey(info, -1, key));
	count(MPI_Info_get_nkeys(info, &n));
	for (int i = 0; i < n; i++)
		MPI_Info_get_nthkey(info, i, key);
	count(MPI_Info_delete(info, "none"));
	MPI_Info_delete(info, "key 7");
	MPI_Info_dup(info, &other);
	MPI_Info_free(&info);
	MPI_Info_get_nkeys(other, &n);
	MPI_Info_free(&other);
	MPI_Comm_get_info(MPI_COMM_WORLD, &info);
	MPI_Info_get_nkeys(info, &n);
	MPI_Comm_set_info(MPI_COMM_WORLD, info);
	MPI_Info_free(&info);
	free(value);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	outputs();
	messages(rank, size);
	collectives(size);
	attributes();
	windows();
	files();
	infos();
	if (rank == 0)
		printf("nulls: %d calls failed\n", failures);
	MPI_Finalize();
	return 0;
}
