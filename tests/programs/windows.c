/* SPDX-License-Identifier: BSD-3-Clause
 * windows - one-sided communication: fences, locks, post-start, atomics, shared and dynamic windows
 */
#include <mpi.h>
#include <stdio.h>

static int failed;

static void on_error(MPI_Win *win, int *code, ...)
{
	(void)win, (void)code;
	failed++;
}

static int delete (MPI_Win win, int keyval, void *value, void *extra)
{
	(void)win, (void)keyval, (void)value, (void)extra;
	return MPI_SUCCESS;
}

static void attributes(MPI_Win w)
{
	int keyval, other, flag;
	void *value;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete, &keyval, NULL);
	MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL);
	MPI_Win_set_attr(w, keyval, &failed);
	MPI_Win_get_attr(w, keyval, &value, &flag);
	MPI_Win_get_attr(w, other, &value, &flag);
	MPI_Win_delete_attr(w, keyval);
	MPI_Win_set_attr(w, other, &failed);
	MPI_Win_free_keyval(&other); /* goes with the window */
	MPI_Win_free_keyval(&keyval);
	MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &value, &flag);
	MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &value, &flag);
	MPI_Win_get_attr(w, MPI_WIN_MODEL, &value, &flag);
	MPI_Win_get_attr(w, MPI_WIN_BASE, &value, &flag);
	MPI_Win_get_attr(w, MPI_WIN_SIZE, &value, &flag);
}

static void handlers(MPI_Win w)
{
	MPI_Errhandler e, was;
	MPI_Info info;

	MPI_Win_get_errhandler(w, &was);
	MPI_Win_create_errhandler(on_error, &e);
	MPI_Win_set_errhandler(w, e);
	MPI_Win_call_errhandler(w, MPI_ERR_OTHER);
	MPI_Put(&failed, 1, MPI_INT, 1000000, 0, 1, MPI_INT, w);
	MPI_Win_set_errhandler(w, was);
	MPI_Errhandler_free(&e);
	MPI_Errhandler_free(&was);
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "false");
	MPI_Win_set_info(w, info);
	MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
	int rank, size, n, unit, flag, length, *memory, *shared, out[4] = {1, 2, 3, 4}, in[4], result[4], one = 1,
								 zero = 0;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Win w, v;
	MPI_Group world, others;
	MPI_Request q[4];
	MPI_Aint bytes;
	MPI_Info info;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int right = (rank + 1) % size, left = (rank + size - 1) % size;

	MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	MPI_Win_set_name(w, "window");
	MPI_Win_get_name(w, name, &length);
	MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT, w);
	for (int i = 0; i < 5; i++) {
		MPI_Put(out, 4, MPI_INT, right, 4 * i, 4, MPI_INT, w);
		MPI_Win_fence(0, w);
	}
	MPI_Get(in, 4, MPI_INT, left, 0, 4, MPI_INT, w);
	MPI_Accumulate(out, 2, MPI_INT, right, 30, 2, MPI_INT, MPI_SUM, w);
	MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);
	MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, w);

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w);
	MPI_Get_accumulate(out, 2, MPI_INT, result, 2, MPI_INT, right, 34, 2, MPI_INT, MPI_REPLACE, w);
	MPI_Win_flush(right, w);
	MPI_Fetch_and_op(&one, result, MPI_INT, right, 40, MPI_SUM, w);
	MPI_Win_flush_local(right, w);
	MPI_Compare_and_swap(&one, &zero, result, MPI_INT, right, 41, w);
	MPI_Win_unlock(right, w);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, w);
	MPI_Rput(out, 1, MPI_INT, right, 50, 1, MPI_INT, w, &q[0]);
	MPI_Rget(in, 1, MPI_INT, left, 51, 1, MPI_INT, w, &q[1]);
	MPI_Raccumulate(out, 1, MPI_INT, right, 52, 1, MPI_INT, MPI_SUM, w, &q[2]);
	MPI_Rget_accumulate(out, 1, MPI_INT, result, 1, MPI_INT, right, 53, 1, MPI_INT, MPI_NO_OP, w, &q[3]);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	MPI_Win_flush_all(w);
	MPI_Win_flush_local_all(w);
	MPI_Win_sync(w);
	MPI_Win_unlock_all(w);

	MPI_Win_get_group(w, &world);
	/* first: after MPI_Win_test, Open MPI 5.0.7 would wait for ever (tests/launch.py) */
	MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOCHECK, w);
	MPI_Win_wait(w);
	MPI_Group_incl(world, 1, &left, &others);
	MPI_Win_post(others, 0, w);
	MPI_Group_free(&others);
	MPI_Group_incl(world, 1, &right, &others);
	MPI_Win_start(others, 0, w);
	MPI_Put(out, 1, MPI_INT, right, 60, 1, MPI_INT, w);
	MPI_Win_complete(w);
	do
		MPI_Win_test(w, &flag);
	while (!flag);
	MPI_Group_free(&others);
	MPI_Group_free(&world);
	MPI_Win_get_info(w, &info);
	MPI_Info_free(&info);
	attributes(w);
	handlers(w);
	MPI_Win_free(&w);

	MPI_Win_allocate_shared(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &w);
	MPI_Win_shared_query(w, right, &bytes, &unit, &shared);
	MPI_Win_create(in, sizeof(in), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &v);
	MPI_Win_free(&v);
	MPI_Win_free(&w);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_attach(w, in, sizeof(in));
	MPI_Win_detach(w, in);
	MPI_Win_free(&w);
	MPI_Reduce(&result[0], &n, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("windows: %s %d\n", name, unit);
	MPI_Finalize();
	return 0;
}
