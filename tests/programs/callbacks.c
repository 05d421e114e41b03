/* SPDX-License-Identifier: BSD-3-Clause
 * callbacks - error handlers, attributes and generalised requests that say when they are called: the same calls, in the
 * same order, with the same codes as without a tracer, to the end of MPI_Finalize
 *
 *     callbacks errors      own codes of callbacks, codes that are none, codes that the application added
 *     callbacks attributes  on MPI_COMM_WORLD and MPI_COMM_SELF, up to the end of MPI_Finalize
 *     callbacks arguments   odd ones that a library tolerates, and wrong ones
 *
 * Rank 0 prints; all ranks do the same.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int rank, size, a[64], b[64];
static MPI_Comm own;

static void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (rank == 0)
		vprintf(format, list), fflush(stdout);
	va_end(list);
}

#define TRY(call) (say("%s\n", #call), say("  = %d\n", (call)))

/* ---- callbacks ---- */

static const char *name_of(MPI_Comm comm)
{
	return comm == MPI_COMM_WORLD  ? "MPI_COMM_WORLD"
	       : comm == MPI_COMM_SELF ? "MPI_COMM_SELF"
	       : comm == own           ? "own"
	                               : "another";
}

static void comm_error(MPI_Comm *comm, int *code, ...)
{
	say("  handler of %s: %d\n", name_of(*comm), *code);
}

static void win_error(MPI_Win *win, int *code, ...)
{
	(void)win;
	say("  handler of a window: %d\n", *code);
}

static void file_error(MPI_File *file, int *code, ...)
{
	say("  handler of %s: %d\n", *file == MPI_FILE_NULL ? "MPI_FILE_NULL" : "a file", *code);
}

struct attribute {
	const char *name;
	int copied, deleted; /* what the callbacks return */
};

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	const struct attribute *x = extra;

	(void)keyval;
	say("  copy %s of %s\n", x->name, name_of(comm));
	*(void **)out = in;
	*flag = 1;
	return x->copied;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
	const struct attribute *x = extra;

	(void)keyval;
	(void)value;
	say("  delete %s of %s\n", x->name, name_of(comm));
	return x->deleted;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)type;
	return copy(MPI_COMM_NULL, keyval, extra, in, out, flag);
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
	(void)type;
	return delete (MPI_COMM_NULL, keyval, value, extra);
}

static int asked, freed, cancelled;

static int query(void *code, MPI_Status *status)
{
	say("  query\n");
	MPI_Status_set_elements(status, MPI_INT, 1);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = 0;
	status->MPI_TAG = 77;
	return asked + 0 * (code != NULL);
}

static int release(void *code)
{
	(void)code;
	say("  free\n");
	return freed;
}

static int cancel(void *code, int complete)
{
	(void)code;
	say("  cancel, %d\n", complete);
	return cancelled;
}

static MPI_Request generalised(int complete)
{
	MPI_Request q;

	MPI_Grequest_start(query, release, cancel, NULL, &q);
	if (complete)
		MPI_Grequest_complete(q);
	return q;
}

/* ---- ways ---- */

static void fail_attributes(int code)
{
	static struct attribute x[2];
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Datatype t, u = MPI_DATATYPE_NULL;
	int k;

	x[0] = (struct attribute){"that cannot be copied", code, 0};
	x[1] = (struct attribute){"that cannot be deleted", 0, code};
	for (int i = 0; i < 2; i++) {
		TRY(MPI_Comm_create_keyval(copy, delete, &k, &x[i]));
		TRY(MPI_Comm_set_attr(own, k, a));
		TRY(MPI_Comm_dup(own, &c));
		if (c != MPI_COMM_NULL)
			TRY(MPI_Comm_free(&c));
		TRY(MPI_Comm_set_attr(own, k, b));
		TRY(MPI_Comm_delete_attr(own, k));
		x[i].deleted = 0;
		TRY(MPI_Comm_delete_attr(own, k));
		TRY(MPI_Comm_free_keyval(&k));
		c = MPI_COMM_NULL;
	}
	x[0] = (struct attribute){"of a datatype", code, code};
	MPI_Type_contiguous(2, MPI_INT, &t);
	TRY(MPI_Type_create_keyval(copy_type, delete_type, &k, &x[0]));
	TRY(MPI_Type_set_attr(t, k, a));
	TRY(MPI_Type_dup(t, &u));
	TRY(MPI_Type_delete_attr(t, k));
	x[0].deleted = x[0].copied = 0;
	TRY(MPI_Type_delete_attr(t, k));
	TRY(MPI_Type_free(&t));
}

static void fail_requests(int code)
{
	MPI_Request q[2];
	MPI_Status s[2];
	int n, flag, which[2];

	asked = code;
	q[0] = generalised(1);
	TRY(MPI_Wait(&q[0], &s[0]));
	q[0] = generalised(1);
	TRY(MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE));
	for (int ignored = 0; ignored < 2; ignored++) {
		for (int received = 0; received < 2; received++) {
			MPI_Status *all = ignored ? MPI_STATUSES_IGNORE : s, *one = ignored ? MPI_STATUS_IGNORE : s;

			say("a receive: %d, statuses ignored: %d\n", received, ignored);
#define BOTH                    \
	(q[0] = generalised(1), \
	 received ? MPI_Irecv(b, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &q[1]) : (q[1] = MPI_REQUEST_NULL, 0))
			BOTH;
			TRY(MPI_Waitall(2, q, all));
			BOTH;
			TRY(MPI_Testall(2, q, &flag, all));
			BOTH;
			TRY(MPI_Waitany(2, q, &n, one));
			TRY(MPI_Waitany(2, q, &n, one));
			BOTH;
			TRY(MPI_Testany(2, q, &n, &flag, one));
			TRY(MPI_Testany(2, q, &n, &flag, one));
			BOTH;
			TRY(MPI_Waitsome(2, q, &n, which, all));
			BOTH;
			TRY(MPI_Testsome(2, q, &n, which, all));
			BOTH;
			TRY(MPI_Request_get_status(q[0], &flag, one));
			TRY(MPI_Waitall(2, q, all));
		}
	}
	asked = 0, freed = code;
	q[0] = generalised(1);
	TRY(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	q[0] = generalised(1);
	TRY(MPI_Request_free(&q[0]));
	freed = 0, cancelled = code;
	q[0] = generalised(0);
	TRY(MPI_Cancel(&q[0]));
	TRY(MPI_Grequest_complete(q[0]));
	cancelled = 0;
	TRY(MPI_Cancel(&q[0]));
	TRY(MPI_Wait(&q[0], &s[0]));
}

static void errors(void)
{
	static char room[2 * MPI_BSEND_OVERHEAD];
	int class, code[2], n;
	char *place;
	MPI_Win w;
	MPI_File f = MPI_FILE_NULL;
	MPI_Errhandler of_windows, of_files;

	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code[0]);
	MPI_Add_error_code(MPI_ERR_BUFFER, &code[1]);
	/* Open MPI 4.1 returns a code that is none, and calls no handler */
	TRY(MPI_Buffer_attach(room, sizeof(room)));
	TRY(MPI_Buffer_attach(room, sizeof(room)));
	TRY(MPI_Buffer_detach(&place, &n));
	TRY(MPI_Buffer_detach(&place, &n));
	const int codes[] = {4711,  -30,     -1,      1 << 30,         MPI_ERR_LASTCODE, MPI_ERR_LASTCODE + 7,
	                     class, code[0], code[1], MPI_ERR_TRUNCATE};
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		say("code %d\n", codes[i]);
		fail_attributes(codes[i]);
		fail_requests(codes[i]);
		TRY(MPI_Comm_call_errhandler(own, codes[i]));
	}
	TRY(MPI_Send(a, 1, MPI_INT, size, 0, own));
	TRY(MPI_Send(a, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
	TRY(MPI_Send(a, 1, MPI_INT, size, 0, MPI_COMM_SELF));
	TRY(MPI_Barrier(MPI_COMM_NULL));
	TRY(MPI_Type_contiguous(-1, MPI_INT, &(MPI_Datatype){0}));
	MPI_Win_create_errhandler(win_error, &of_windows);
	MPI_Win_create(a, sizeof(a), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_set_errhandler(w, of_windows);
	TRY(MPI_Put(b, 1, MPI_INT, size + 1, 0, 1, MPI_INT, w));
	TRY(MPI_Win_unlock(size + 2, w));
	TRY(MPI_Win_fence(0x40000000, w));
	TRY(MPI_Win_free(&w));
	MPI_File_create_errhandler(file_error, &of_files);
	MPI_File_set_errhandler(MPI_FILE_NULL, of_files);
	TRY(MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	TRY(MPI_File_read(f, a, 1, MPI_INT, MPI_STATUS_IGNORE));
	TRY(MPI_File_delete("/nonexistent/file", MPI_INFO_NULL));
	MPI_Errhandler_free(&of_windows);
	MPI_Errhandler_free(&of_files);
}

/* The first thing that MPI_Finalize does, and MPI is still there: it may even communicate. */
static int at_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Errhandler e = MPI_ERRHANDLER_NULL;
	MPI_Request q;
	int one = 1, sum = 0;

	delete (comm, keyval, value, extra);
	TRY(MPI_Barrier(MPI_COMM_WORLD));
	TRY(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &e));
	say("  the handler of MPI_COMM_WORLD is its own: %d\n", e != MPI_ERRORS_ARE_FATAL && e != MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&e);
	TRY(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q));
	TRY(MPI_Wait(&q, MPI_STATUS_IGNORE));
	TRY(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	say("  sum %d, communicator %d\n", sum, (int)MPI_Comm_c2f(c));
	TRY(MPI_Comm_free(&c));
	TRY(MPI_Send(a, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
	return MPI_SUCCESS;
}

static void attributes(void)
{
	static struct attribute of_world = {"x", 0, 0}, of_self = {"at the end", 0, 0},
				plain = {"that is not copied", 0, 0}, late = {"whose keyval is freed", 0, 0};
	MPI_Comm c;
	int k;

	MPI_Comm_create_keyval(copy, at_end, &k, &of_self);
	MPI_Comm_set_attr(MPI_COMM_SELF, k, a);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &k, &plain);
	MPI_Comm_set_attr(MPI_COMM_WORLD, k, a);
	TRY(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	say("communicator %d\n", (int)MPI_Comm_c2f(c));
	TRY(MPI_Comm_free(&c));
	if (getenv("CALLBACKS_NOT_COPIED"))
		return;
	MPI_Comm_create_keyval(copy, delete, &k, &of_world);
	MPI_Comm_set_attr(MPI_COMM_WORLD, k, a);
	MPI_Comm_create_keyval(copy, delete, &k, &late);
	MPI_Comm_set_attr(MPI_COMM_WORLD, k, a);
	MPI_Comm_free_keyval(&k);
	TRY(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	TRY(MPI_Comm_free(&c));
}

/* n bytes of zeros, behind which there is nothing: whoever reads more crashes. */
static void *cliff(size_t n)
{
	char *page = mmap(NULL, 2 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(page + 65536, 65536, PROT_NONE);
	return page + 65536 - n;
}

static void arguments(void)
{
	enum { MANY = 1 << 28 };
	int *few = cliff(2 * sizeof(int)), n, flag, one = size, zero = 0, neighbour = rank;
	int(*ranges)[3] = cliff(sizeof(int[3]));
	MPI_Aint *places = cliff(sizeof(MPI_Aint));
	MPI_Datatype *types = cliff(sizeof(MPI_Datatype)), t;
	char *open_text = cliff(1), **commands = cliff(sizeof(char *)), text[8] = "";
	MPI_Comm c, grid, graph, weighted, unweighted;
	MPI_Group g, h;
	MPI_Status s;
	MPI_Info info;
	MPI_Request q;
	void *memory;
	int *volatile none = MPI_UNWEIGHTED; /* the compiler is not to look */

	types[0] = MPI_INT;
	open_text[0] = 'x';
	commands[0] = open_text;
	MPI_Comm_group(MPI_COMM_WORLD, &g);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &zero, 0, &grid);
	MPI_Graph_create(MPI_COMM_SELF, 1, &zero, &zero, 0, &graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &neighbour, &one, 1, &neighbour, &one, MPI_INFO_NULL, 0,
	                               &weighted);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &neighbour, none, 1, &neighbour, none, MPI_INFO_NULL, 0,
	                               &unweighted);

	/* tolerated: nothing is there, and nothing is looked at */
	TRY(MPI_Waitall(0, NULL, &s));
	TRY(MPI_Waitany(0, NULL, &n, &s));
	TRY(MPI_Waitsome(0, NULL, &n, NULL, NULL));
	TRY(MPI_Testsome(0, NULL, &n, NULL, NULL));
	TRY(MPI_Testall(0, NULL, &flag, NULL));
	TRY(MPI_Testany(0, NULL, &n, &flag, NULL));
	TRY(MPI_Group_incl(g, 0, NULL, &h));
	TRY(MPI_Group_excl(g, 0, NULL, &h));
	TRY(MPI_Group_range_incl(g, 0, NULL, &h));
	TRY(MPI_Group_translate_ranks(g, 0, NULL, g, NULL));
	TRY(MPI_Cart_get(grid, 0, NULL, NULL, NULL));
	TRY(MPI_Cart_get(grid, 5, a, a + 10, a + 20));
	TRY(MPI_Cart_coords(grid, 0, 0, NULL));
	TRY(MPI_Cart_map(MPI_COMM_WORLD, MANY, few, few, &n));
	TRY(MPI_Graph_map(MPI_COMM_WORLD, MANY, few, few, &n));
	TRY(MPI_Graph_neighbors(graph, 0, 0, NULL));
	TRY(MPI_Dist_graph_neighbors(weighted, 0, NULL, NULL, 0, NULL, NULL));
	TRY(MPI_Dist_graph_neighbors(weighted, 1, a, none, 1, b, none));
	TRY(MPI_Dist_graph_neighbors(unweighted, 1, a, none, 1, b, none));
	TRY(MPI_Dist_graph_neighbors(unweighted, 1, a, a + 5, 1, b, b + 5));
	TRY(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, NULL, MPI_INFO_NULL, 0, &c));
	TRY(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, 0, &c));
	TRY(MPI_Dims_create(1, 0, NULL));
	TRY(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &t));
	TRY(MPI_Type_create_struct(0, NULL, NULL, NULL, &t));
	TRY(MPI_Type_create_hindexed(0, NULL, NULL, MPI_INT, &t));
	MPI_Type_contiguous(2, MPI_INT, &t);
	TRY(MPI_Type_get_contents(t, 1, 0, 1, &n, NULL, types));
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", "value");
	TRY(MPI_Info_get(info, "key", 0, text, &flag));
	TRY(MPI_Info_get(info, "none", 5, NULL, &flag));
	TRY(MPI_Free_mem(NULL));
	TRY(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory));
	TRY(MPI_Unpack(a, 4, &zero, NULL, 0, MPI_INT, MPI_COMM_WORLD));
	TRY(MPI_Status_set_elements(NULL, MPI_INT, 1));
	TRY(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
	TRY(MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));

	/* refused before the arrays are looked at */
	TRY(MPI_Group_incl(g, MANY, few, &h));
	TRY(MPI_Group_excl(g, MANY, few, &h));
	TRY(MPI_Group_range_incl(g, MANY, ranges, &h));
	TRY(MPI_Group_translate_ranks(g, MANY, few, MPI_GROUP_NULL, few));
	TRY(MPI_Type_create_struct(MANY, few, places, types, NULL));
	TRY(MPI_Type_indexed(MANY, few, few, MPI_DATATYPE_NULL, &t));
	TRY(MPI_Type_create_hindexed(MANY, few, places, MPI_DATATYPE_NULL, &t));
	TRY(MPI_Type_create_indexed_block(MANY, 1, few, MPI_DATATYPE_NULL, &t));
	TRY(MPI_Type_create_subarray(MANY, few, few, few, MPI_ORDER_C, MPI_DATATYPE_NULL, &t));
	TRY(MPI_Graph_create(MPI_COMM_WORLD, MANY, few, few, 0, &c));
	TRY(MPI_Dist_graph_create(MPI_COMM_WORLD, MANY, few, few, few, few, MPI_INFO_NULL, 0, NULL));
	TRY(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, MANY, few, few, MANY, few, few, MPI_INFO_NULL, 0, NULL));
	TRY(MPI_Comm_set_name(MPI_COMM_NULL, open_text));
	TRY(MPI_Comm_set_name(MPI_COMM_NULL, (char *)16));
	TRY(MPI_Info_set(MPI_INFO_NULL, open_text, (char *)16));
	TRY(MPI_File_open(MPI_COMM_NULL, open_text, MPI_MODE_RDONLY, MPI_INFO_NULL, &(MPI_File){0}));
	TRY(MPI_Comm_spawn_multiple(MANY, commands, NULL, few, NULL, 0, MPI_COMM_NULL, &c, NULL));
	TRY(MPI_Comm_spawn(open_text, commands, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &c, NULL));

	/* null pointers for results, negative numbers, null handles */
	TRY(MPI_Comm_size(MPI_COMM_WORLD, NULL));
	TRY(MPI_Initialized(NULL));
	TRY(MPI_Testany(1, (q = MPI_REQUEST_NULL, &q), NULL, NULL, &s));
	TRY(MPI_Waitall(-1, &q, MPI_STATUSES_IGNORE));
	TRY(MPI_Waitsome(1, NULL, &n, few, &s));
	TRY(MPI_Group_translate_ranks(g, 1, NULL, g, few));
	TRY(MPI_Cart_shift(grid, 0, 1, NULL, &n));
	TRY(MPI_Dist_graph_neighbors_count(weighted, &n, NULL, NULL));
	TRY(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &flag));
	TRY(MPI_Comm_rank(MPI_COMM_NULL, &n));
	TRY(MPI_Group_size(MPI_GROUP_NULL, &n));
	TRY(MPI_Win_fence(0, MPI_WIN_NULL));
	TRY(MPI_Type_size(MPI_DATATYPE_NULL, &n));
	TRY(MPI_Error_class(4711, &n));
	TRY(MPI_Neighbor_alltoallv(a, NULL, NULL, MPI_INT, b, NULL, NULL, MPI_INT, weighted));
	TRY(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD));
	TRY(MPI_Cart_coords(graph, 0, 1, a));
	TRY(MPI_Graph_neighbors_count(graph, 7, &n));
	MPI_Comm_free(&weighted);
	MPI_Comm_free(&unweighted);
	MPI_Comm_free(&grid);
	MPI_Comm_free(&graph);
}

/* As many as there are: MPICH has some 2,000. */
static void communicators(void)
{
	MPI_Comm c;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	while (MPI_Comm_dup(MPI_COMM_WORLD, &c) == MPI_SUCCESS)
		continue;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	MPI_Errhandler handler;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_create_errhandler(comm_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	MPI_Errhandler_free(&handler);
	if (!strcmp(way, "errors"))
		errors();
	else if (!strcmp(way, "attributes"))
		attributes();
	else if (!strcmp(way, "arguments"))
		arguments();
	else if (!strcmp(way, "communicators"))
		communicators();
	MPI_Finalize();
	say("%s: done\n", way);
	return 0;
}
