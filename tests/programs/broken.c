/* SPDX-License-Identifier: BSD-3-Clause
 * broken - programs that break the standard, one way each: what the library makes of that must be the same under a
 * tracer
 *
 *     broken WAY [return]          return: with MPI_ERRORS_RETURN, so that it goes on
 *     broken uninitialised KIND    a handle of this kind
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

/* A handle is used again after it was freed: by Open MPI's checks that is an error or, where it does not look, a null
 * handle. */
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
	said("recv truncated", (MPI_Send(a, 0, MPI_INT, rank, 3, MPI_COMM_WORLD),
	                        MPI_Recv(b, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
}

/* A communicator, or another object, of the wrong kind. */
static void wrong(void)
{
	MPI_Comm half, inter = MPI_COMM_NULL, c;
	MPI_Group g;
	int n[8] = {0};

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	said("rank of the larger communicator", MPI_Send(a, 1, MPI_INT, size - 1, 1, half));
	said("root of the larger communicator", MPI_Bcast(a, 1, MPI_INT, size - 1, half));
	said("coordinates of no grid", MPI_Cart_coords(half, 0, 8, n));
	said("shift of no grid", MPI_Cart_shift(half, 0, 1, &n[0], &n[1]));
	said("neighbours of no graph", MPI_Graph_neighbors_count(half, 0, n));
	said("neighbours of no distributed graph", MPI_Dist_graph_neighbors_count(half, &n[0], &n[1], &n[2]));
	said("exchange with no neighbours", MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, half));
	said("remote size of an intracommunicator", MPI_Comm_remote_size(half, n));
	said("merge of an intracommunicator", MPI_Intercomm_merge(half, 0, &c));
	if (size > 1) {
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
		MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
		said("scan over an intercommunicator", MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, inter));
		said("grid of an intercommunicator", MPI_Cart_create(inter, 1, &size, n, 0, &c));
		MPI_Comm_free(&inter);
	}
	MPI_Comm_group(half, &g);
	said("member that is none", MPI_Group_incl(g, 1, (int[]){size + 7}, &(MPI_Group){0}));
	said("member twice", MPI_Group_incl(g, 2, (int[]){0, 0}, &(MPI_Group){0}));
	MPI_Group_free(&g);
	MPI_Comm_free(&half);
	said("operation for another type", MPI_Allreduce(a, b, 1, MPI_FLOAT_INT, MPI_SUM, MPI_COMM_WORLD));
	said("MPI_IN_PLACE at a sender", MPI_Send(MPI_IN_PLACE, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
}

static void requests(void)
{
	MPI_Request r, idle[2];
	MPI_Status s;
	int flag, n;
	void *memory;

	MPI_Recv_init(b, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r);
	said("wait for what was not started", MPI_Wait(&r, &s));
	said("test what was not started", MPI_Test(&r, &flag, &s));
	said("free a request that was not started", MPI_Request_free(&r));
	MPI_Irecv(b, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &r);
	said("start what is not persistent", MPI_Start(&r));
	said("cancel", MPI_Cancel(&r));
	said("wait for what was cancelled", MPI_Wait(&r, &s));
	MPI_Irecv(b, 1, MPI_INT, rank, 78, MPI_COMM_WORLD, &r);
	said("free a live request", MPI_Request_free(&r));
	MPI_Send(a, 1, MPI_INT, rank, 78, MPI_COMM_WORLD);
	idle[0] = idle[1] = MPI_REQUEST_NULL;
	said("wait for nothing", MPI_Waitany(2, idle, &n, &s));
	said("no buffer to send from", MPI_Bsend(a, 1, MPI_INT, rank, 79, MPI_COMM_WORLD));
	said("no buffer to detach", MPI_Buffer_detach(&memory, &n));
	said("complete no request", MPI_Grequest_complete(MPI_REQUEST_NULL));
}

static void objects(void)
{
	MPI_Win w;
	MPI_File f = MPI_FILE_NULL;
	MPI_Info n;
	int flag, k = MPI_KEYVAL_INVALID;
	char text[MPI_MAX_ERROR_STRING], *value = text;

	MPI_Win_create(a, sizeof(a), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	said("put without an epoch", MPI_Put(b, 1, MPI_INT, rank, 0, 1, MPI_INT, w));
	said("unlock what is not locked", MPI_Win_unlock(rank, w));
	said("complete without a start", MPI_Win_complete(w));
	said("flush without a lock", MPI_Win_flush(rank, w));
	said("lock of no kind", MPI_Win_lock(4711, rank, 0, w));
	said("fence with an assertion that is none", MPI_Win_fence(0x40000000, w));
	said("negative unit", MPI_Win_create(a, 16, -1, MPI_INFO_NULL, MPI_COMM_SELF, &(MPI_Win){0}));
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
	said("free a null window", MPI_Win_free(&w));
	said("close no file", MPI_File_close(&f));
	said("read no file", MPI_File_read(f, b, 1, MPI_INT, MPI_STATUS_IGNORE));
	said("open with both modes",
	     MPI_File_open(MPI_COMM_SELF, "/tmp/x", MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &f));
	said("open what is not there",
	     MPI_File_open(MPI_COMM_SELF, "/nonexistent/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	said("delete what is not there", MPI_File_delete("/nonexistent/x", MPI_INFO_NULL));
	said("attribute of no key", MPI_Comm_get_attr(MPI_COMM_WORLD, k, &value, &flag));
	said("set a predefined attribute", MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL));
	MPI_Info_create(&n);
	memset(text, 'x', sizeof(text) - 1), text[sizeof(text) - 1] = 0;
	said("key that is too long", MPI_Info_set(n, text, "1"));
	said("empty key", MPI_Info_set(n, "", "1"));
	said("key that is not there", MPI_Info_delete(n, "nothing"));
	said("number of no key", MPI_Info_get_nthkey(n, 99, text));
	MPI_Info_free(&n);
	said("string of no code", MPI_Error_string(-12345, text, &flag));
	said("class of no code", MPI_Error_class(1 << 30, &flag));
	said("name of no communicator", MPI_Comm_set_name(MPI_COMM_NULL, "x"));
}

/* A handle that was never set, used once. */
static void garbage(const char *kind)
{
	union {
		MPI_Comm comm;
		MPI_Datatype type;
		MPI_Request request;
		MPI_Op op;
		MPI_Win win;
		MPI_File file;
		MPI_Group group;
		MPI_Info info;
	} h;
	int n;

	memset(&h, 0x5a, sizeof(h));
	if (!strcmp(kind, "comm"))
		MPI_Barrier(h.comm);
	else if (!strcmp(kind, "type"))
		MPI_Send(a, 1, h.type, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	else if (!strcmp(kind, "request"))
		MPI_Wait(&h.request, MPI_STATUS_IGNORE);
	else if (!strcmp(kind, "op"))
		MPI_Allreduce(a, b, 1, MPI_INT, h.op, MPI_COMM_WORLD);
	else if (!strcmp(kind, "win"))
		MPI_Win_fence(0, h.win);
	else if (!strcmp(kind, "file"))
		MPI_File_sync(h.file);
	else if (!strcmp(kind, "group"))
		MPI_Group_size(h.group, &n);
	else if (!strcmp(kind, "info"))
		MPI_Info_get_nkeys(h.info, &n);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"handles", handles}, {"pointers", pointers}, {"numbers", numbers},
	            {"twice", twice},     {"leaks", leaks},       {"truncated", truncated},
	            {"wrong", wrong},     {"requests", requests}, {"objects", objects}};
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
	if (argc > 2) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(way, ways[i].name))
			ways[i].run();
	if (!strcmp(way, "uninitialised"))
		garbage(argc > 2 ? argv[2] : "comm");
	if (!strcmp(way, "no message")) /* always fatal: of no communicator */
		MPI_Mrecv(b, 1, MPI_INT, &(MPI_Message){MPI_MESSAGE_NULL}, MPI_STATUS_IGNORE);
	if (!strcmp(way, "freed twice")) { /* by another copy of the handle */
		MPI_Comm c, d;

		MPI_Comm_dup(MPI_COMM_WORLD, &c);
		d = c;
		MPI_Comm_free(&c);
		MPI_Comm_free(&d);
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
