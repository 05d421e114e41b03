/* SPDX-License-Identifier: BSD-3-Clause
 * broken - programs that break the standard, one way each: what the library makes of that must be the same under a tracer
 *
 *     broken WAY [return]      return: with MPI_ERRORS_RETURN, so that it goes on
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, a[64], b[64];

static void said(const char *what, int rc)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int n, class = rc;

	if (rc)
		MPI_Error_string(rc, text, &n), MPI_Error_class(rc, &class);
	if (rank == 0)
		printf("%s: %d %s\n", what, class, text);
	fflush(stdout);
}

static void handles(void)
{
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Datatype t = MPI_DATATYPE_NULL;
	MPI_Group g = MPI_GROUP_NULL;
	MPI_Op o = MPI_OP_NULL;
	MPI_Info n = MPI_INFO_NULL;
	MPI_Errhandler e = MPI_ERRHANDLER_NULL;
	int k = MPI_KEYVAL_INVALID;

	said("null communicator", MPI_Barrier(c));
	said("null datatype", MPI_Send(a, 1, t, 0, 1, MPI_COMM_WORLD));
	said("null operation", MPI_Allreduce(a, b, 1, MPI_INT, o, MPI_COMM_WORLD));
	said("free a null communicator", MPI_Comm_free(&c));
	said("free a null datatype", MPI_Type_free(&t));
	said("free a null group", MPI_Group_free(&g));
	said("free a null operation", MPI_Op_free(&o));
	said("free a null info", MPI_Info_free(&n));
	said("free a null error handler", MPI_Errhandler_free(&e));
	said("free a null request", MPI_Request_free(&r));
	said("free a null keyval", MPI_Comm_free_keyval(&k));
	said("start a null request", MPI_Start(&r));
	said("cancel a null request", MPI_Cancel(&r));
	said("free MPI_INT", (t = MPI_INT, MPI_Type_free(&t)));
	said("free MPI_COMM_WORLD", (c = MPI_COMM_WORLD, MPI_Comm_free(&c)));
	said("free MPI_SUM", (o = MPI_SUM, MPI_Op_free(&o)));
}

static void pointers(void)
{
	int flag, n;

	said("null request", MPI_Wait(NULL, MPI_STATUS_IGNORE));
	said("null flag", MPI_Test(&(MPI_Request){MPI_REQUEST_NULL}, NULL, MPI_STATUS_IGNORE));
	said("null array of requests", MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
	said("null array of requests, any", MPI_Waitany(2, NULL, &n, MPI_STATUS_IGNORE));
	said("null array of requests, test", MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
	said("null rank", MPI_Comm_rank(MPI_COMM_WORLD, NULL));
	said("null new communicator", MPI_Comm_dup(MPI_COMM_WORLD, NULL));
	said("null buffer", MPI_Send(NULL, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
	said("null new type", MPI_Type_contiguous(1, MPI_INT, NULL));
	said("null arrays", MPI_Type_create_struct(2, NULL, NULL, NULL, &(MPI_Datatype){0}));
	said("null ranks", MPI_Group_incl(MPI_GROUP_EMPTY, 2, NULL, &(MPI_Group){0}));
	said("null dims", MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, NULL, 0, &(MPI_Comm){0}));
	said("null key", MPI_Info_set(MPI_INFO_NULL, NULL, NULL));
}

static void numbers(void)
{
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Datatype t;
	int n;

	said("negative count", MPI_Send(a, -1, MPI_INT, 0, 1, MPI_COMM_WORLD));
	said("negative count of a collective", MPI_Bcast(a, -7, MPI_INT, 0, MPI_COMM_WORLD));
	said("negative count of requests", MPI_Waitall(-1, &r, MPI_STATUSES_IGNORE));
	said("negative incount", MPI_Waitsome(-1, &r, &n, b, MPI_STATUSES_IGNORE));
	said("negative tag", MPI_Send(a, 1, MPI_INT, 0, -9, MPI_COMM_WORLD));
	said("rank too large", MPI_Send(a, 1, MPI_INT, size, 1, MPI_COMM_WORLD));
	said("root too large", MPI_Bcast(a, 1, MPI_INT, size + 5, MPI_COMM_WORLD));
	said("negative root", MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, -30, MPI_COMM_WORLD));
	said("negative type count", MPI_Type_contiguous(-1, MPI_INT, &t));
	said("negative lengths", MPI_Type_indexed(-3, a, b, MPI_INT, &t));
	said("negative dimensions", MPI_Dims_create(-4, 2, a));
	said("negative colour", MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &(MPI_Comm){0}));
	said("uncommitted type", (MPI_Type_contiguous(2, MPI_INT, &t), MPI_Send(a, 1, t, 0, 1, MPI_COMM_WORLD)));
}

/* A handle is used again after it was freed: by Open MPI's checks that is an error or, where it does not look, a null handle. */
static void twice(void)
{
	MPI_Comm c, d;
	MPI_Request r;
	MPI_Datatype t;
	MPI_Info n, m;

	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	d = c;
	MPI_Comm_free(&c);
	said("free a communicator twice", MPI_Comm_free(&c));
	(void)d;
	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Type_free(&t);
	said("free a datatype twice", MPI_Type_free(&t));
	MPI_Info_create(&n);
	m = n;
	MPI_Info_free(&n);
	said("free an info twice", MPI_Info_free(&n));
	(void)m;
	MPI_Irecv(b, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	said("wait twice", MPI_Wait(&r, MPI_STATUS_IGNORE));
	said("free a completed request", MPI_Request_free(&r));
}

/* Requests that nobody completes, and objects that nobody frees. */
static void leaks(void)
{
	MPI_Request r[20];
	MPI_Comm c;
	MPI_Datatype t;
	MPI_Win w;

	for (int i = 0; i < 10; i++)
		MPI_Isend(a, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &r[i]);
	for (int i = 0; i < 5; i++)
		MPI_Irecv(b + i, 1, MPI_INT, (rank + size - 1) % size, 50 + i, MPI_COMM_WORLD, &r[10 + i]);
	for (int i = 0; i < 3; i++)
		MPI_Ibarrier(MPI_COMM_WORLD, &r[15 + i]);
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Win_create(a, sizeof(a), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
}

static void truncated(void)
{
	MPI_Request r[2];

	MPI_Irecv(b, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(b, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &r[1]);
	MPI_Send(a, 9, MPI_INT, rank, 1, MPI_COMM_WORLD);
	MPI_Send(a, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
	said("truncated", MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	said("recv truncated", (MPI_Send(a, 0, MPI_INT, rank, 3, MPI_COMM_WORLD), MPI_Recv(b, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"handles", handles}, {"pointers", pointers}, {"numbers", numbers}, {"twice", twice}, {"leaks", leaks}, {"truncated", truncated}};
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "before")) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		printf("went on\n");
		return 3;
	}
	if (!strcmp(way, "init")) { /* twice */
		MPI_Init(NULL, NULL);
		MPI_Init(NULL, NULL);
		printf("went on\n");
		return 4;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 2)
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(way, ways[i].name))
			ways[i].run();
	if (!strcmp(way, "uninitialised")) {
		MPI_Comm c;

		memset(&c, 0x5a, sizeof(c));
		MPI_Barrier(c);
	}
	if (!strcmp(way, "freed")) {
		MPI_Comm c, d;

		MPI_Comm_dup(MPI_COMM_WORLD, &c);
		d = c;
		MPI_Comm_free(&c);
		said("use a freed communicator", MPI_Barrier(d));
	}
	MPI_Finalize();
	if (!strcmp(way, "after")) {
		MPI_Barrier(MPI_COMM_WORLD);
		printf("went on\n");
	}
	if (!strcmp(way, "finalize"))
		MPI_Finalize();
	if (rank == 0)
		printf("%s: done\n", way);
	return 0;
}
