/* SPDX-License-Identifier: BSD-3-Clause
 * shim - conversions of values, and the functions that take functions of the application (tests/abi/shim.h)
 */
#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>

void *behind(const char *name)
{
	static void *library;
	void *found;

	if (!library) /* with its own functions in front of ours: it calls PMPI_Info_create itself */
		library = dlopen(getenv("SHIM_MPI") ? getenv("SHIM_MPI") : "libmpich.so.12",
		                 RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	found = library ? dlsym(library, name) : NULL;
	if (!found) {
		fprintf(stderr, "shim: %s\n", dlerror());
		abort();
	}
	return found;
}

/* ---- values ---- */

intptr_t pass_in(struct pairs p, intptr_t v)
{
	for (size_t i = 0; i < p.count; i++)
		if (p.pair[i].standard == v)
			return p.pair[i].own;
	return v;
}

intptr_t pass_out(struct pairs p, intptr_t v)
{
	for (size_t i = 0; i < p.count; i++)
		if (p.pair[i].own == v)
			return p.pair[i].standard;
	return v;
}

int mask_in(struct pairs p, int v)
{
	int own = 0;

	for (size_t i = 0; i < p.count; i++)
		own |= v & p.pair[i].standard ? (int)p.pair[i].own : 0;
	return own;
}

int mask_out(struct pairs p, int v)
{
	int standard = 0;

	for (size_t i = 0; i < p.count; i++)
		standard |= v & p.pair[i].own ? (int)p.pair[i].standard : 0;
	return standard;
}

intptr_t handle_in(struct pairs p, std_handle h)
{
	return (uintptr_t)h < 1024 ? pass_in(p, (intptr_t)h) : (intptr_t)h;
}

std_handle handle_out(struct pairs p, intptr_t h)
{
	return (std_handle)pass_out(p, h);
}

const void *buffer_in(const void *buffer)
{
	return buffer == (void *)1 ? MPI_IN_PLACE : buffer;
}

const int *weights_in(const int *weights)
{
	if (weights == (int *)10)
		return *(int **)behind("MPI_UNWEIGHTED");
	return weights == (int *)11 ? *(int **)behind("MPI_WEIGHTS_EMPTY") : weights;
}

void status_in(MPI_Status *own, const std_status *s)
{
	own->MPI_SOURCE = (int)pass_in(pairs_peer, s->MPI_SOURCE);
	own->MPI_TAG = (int)pass_in(pairs_tag, s->MPI_TAG);
	own->MPI_ERROR = s->MPI_ERROR;
	own->count_lo = s->internal[0];
	own->count_hi_and_cancelled = s->internal[1];
}

void status_out(std_status *s, const MPI_Status *own, int error_before)
{
	s->MPI_SOURCE = (int)pass_out(pairs_peer, own->MPI_SOURCE);
	s->MPI_TAG = (int)pass_out(pairs_tag, own->MPI_TAG);
	if (own->MPI_ERROR != error_before)
		s->MPI_ERROR = code_out(own->MPI_ERROR);
	s->internal[0] = own->count_lo;
	s->internal[1] = own->count_hi_and_cancelled;
}

int code_out(int code)
{
	int class = code;

	if (code == MPI_SUCCESS)
		return 0;
	BEHIND(MPI_Error_class)(code, &class);
	return class > MPI_ERR_LASTCODE || class & 0x40000000 ? code : (int)pass_out(pairs_error, class);
}

int code_in(int code)
{
	return (int)pass_in(pairs_error, code);
}

int peers(MPI_Comm comm)
{
	int inter = 0, n = 0;

	BEHIND(MPI_Comm_test_inter)(comm, &inter);
	(inter ? BEHIND(MPI_Comm_remote_size) : BEHIND(MPI_Comm_size))(comm, &n);
	return n;
}

int degree(MPI_Comm comm, int out)
{
	int kind = MPI_UNDEFINED, n[3] = {0}, rank;

	BEHIND(MPI_Topo_test)(comm, &kind);
	if (kind == MPI_CART) {
		BEHIND(MPI_Cartdim_get)(comm, n);
		return 2 * n[0];
	}
	if (kind == MPI_DIST_GRAPH) {
		BEHIND(MPI_Dist_graph_neighbors_count)(comm, &n[0], &n[1], &n[2]);
		return n[out];
	}
	BEHIND(MPI_Comm_rank)(comm, &rank);
	if (kind == MPI_GRAPH)
		BEHIND(MPI_Graph_neighbors_count)(comm, rank, n);
	return n[0];
}

/* ---- functions of the application ---- */

/* Where MPICH passes nothing of ours on to the function, there is one function of ours for each of it. */
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
enum { FUNCTIONS = 16 };

/* The number of a function; functions beyond the last one are mistaken for that. */
static int number_of(void *known[FUNCTIONS], void *f)
{
	int i = 0;

	while (i < FUNCTIONS - 1 && known[i] && known[i] != f)
		i++;
	known[i] = f;
	return i;
}

static void *operations[FUNCTIONS];
#define OPERATION(i)                                                                              \
	static void operation_##i(void *in, void *inout, int *n, MPI_Datatype *type)              \
	{                                                                                         \
		std_handle t = handle_out(pairs_type, (unsigned)*type);                           \
		((void (*)(void *, void *, int *, std_handle *))operations[i])(in, inout, n, &t); \
	}
EACH(OPERATION)
#define OPERATION_NAME(i) operation_##i,
static MPI_User_function *const operation[] = {EACH(OPERATION_NAME)};

DEFINE(int, MPI_Op_create, (void *f, int commute, std_handle *op))
{
	MPI_Op own = MPI_OP_NULL;
	int rc = BEHIND(MPI_Op_create)(operation[number_of(operations, f)], commute, &own);

	*op = handle_out(pairs_op, (unsigned)own);
	return code_out(rc);
}

/* An error handler of each kind of object. */
#define ERRHANDLERS(Kind, kind, BITS)                                                                                 \
	static void *kind##_handlers[FUNCTIONS];                                                                      \
	static void kind##_call(void *f, MPI_##Kind *object, int *code)                                               \
	{                                                                                                             \
		std_handle h = handle_out(pairs_##kind, BITS * object);                                               \
		int c = code_out(*code);                                                                              \
		((void (*)(std_handle *, int *, ...))f)(&h, &c);                                                      \
	}                                                                                                             \
	EACH(kind##_HANDLER)                                                                                          \
	static MPI_##Kind##_errhandler_function *const kind##_handler[] = {EACH(kind##_NAME)};                        \
	DEFINE(int, MPI_##Kind##_create_errhandler, (void *f, std_handle *errhandler))                                \
	{                                                                                                             \
		MPI_Errhandler own = MPI_ERRHANDLER_NULL;                                                             \
		int rc = BEHIND(MPI_##Kind##_create_errhandler)(kind##_handler[number_of(kind##_handlers, f)], &own); \
		*errhandler = handle_out(pairs_errhandler, (unsigned)own);                                            \
		return code_out(rc);                                                                                  \
	}
#define comm_HANDLER(i)                                                \
	static void comm_handler_##i(MPI_Comm *object, int *code, ...) \
	{                                                              \
		comm_call(comm_handlers[i], object, code);             \
	}
#define comm_NAME(i) comm_handler_##i,
#define win_HANDLER(i)                                               \
	static void win_handler_##i(MPI_Win *object, int *code, ...) \
	{                                                            \
		win_call(win_handlers[i], object, code);             \
	}
#define win_NAME(i) win_handler_##i,
#define file_HANDLER(i)                                                \
	static void file_handler_##i(MPI_File *object, int *code, ...) \
	{                                                              \
		file_call(file_handlers[i], object, code);             \
	}
#define file_NAME(i) file_handler_##i,
ERRHANDLERS(Comm, comm, (unsigned))
ERRHANDLERS(Win, win, (unsigned))
ERRHANDLERS(File, file, (intptr_t))

/* With attributes and generalized requests a pointer of ours is passed on. */
struct closure {
	void *f[3], *state;
};

static struct closure *make_closure(void *f, void *g, void *h, void *state)
{
	struct closure *c = malloc(sizeof *c);

	*c = (struct closure){{f, g, h}, state};
	return c;
}

#define KEYVALS(Kind, kind, handle, Own)                                                                              \
	static int kind##_copy(MPI_##Own object, int keyval, void *c, void *in, void *out, int *flag)                 \
	{                                                                                                             \
		const struct closure *closure = c;                                                                    \
		return code_in(((int (*)(std_handle, int, void *, void *, void *, int *))closure->f[0])(              \
			handle_out(pairs_##handle, (unsigned)object), keyval, closure->state, in, out, flag));        \
	}                                                                                                             \
	static int kind##_delete(MPI_##Own object, int keyval, void *value, void *c)                                  \
	{                                                                                                             \
		const struct closure *closure = c;                                                                    \
		return code_in(((int (*)(std_handle, int, void *, void *))closure->f[1])(                             \
			handle_out(pairs_##handle, (unsigned)object), keyval, value, closure->state));                \
	}                                                                                                             \
	DEFINE(int, MPI_##Kind##_create_keyval, (void *copy, void *delete, int *keyval, void *state))                 \
	{                                                                                                             \
		MPI_##Kind##_copy_attr_function *own =                                                                \
			copy == (void *)1 ? (MPI_##Kind##_copy_attr_function *)behind("MPIR_Dup_fn") : kind##_copy;   \
		return code_out(BEHIND(MPI_##Kind##_create_keyval)(copy ? own : NULL, delete ? kind##_delete : NULL,  \
		                                                   keyval, make_closure(copy, delete, NULL, state))); \
	}
KEYVALS(Comm, comm, comm, Comm)
KEYVALS(Type, type, type, Datatype)
KEYVALS(Win, win, win, Win)

DEFINE(int, MPI_Keyval_create, (void *copy, void *delete, int *keyval, void *state))
{
	return std_MPI_Comm_create_keyval(copy, delete, keyval, state);
}

static int grequest_query(void *c, MPI_Status *status)
{
	const struct closure *closure = c;
	std_status s;

	memset(&s, 0, sizeof s);
	status_out(&s, status, status->MPI_ERROR);
	int rc = ((int (*)(void *, std_status *))closure->f[0])(closure->state, &s);
	status_in(status, &s);
	return code_in(rc);
}

static int grequest_free(void *c)
{
	const struct closure *closure = c;

	return code_in(((int (*)(void *))closure->f[1])(closure->state));
}

static int grequest_cancel(void *c, int complete)
{
	const struct closure *closure = c;

	return code_in(((int (*)(void *, int))closure->f[2])(closure->state, complete));
}

DEFINE(int, MPI_Grequest_start, (void *query, void *free, void *cancel, void *state, std_handle *request))
{
	MPI_Request own = MPI_REQUEST_NULL;
	int rc = BEHIND(MPI_Grequest_start)(grequest_query, grequest_free, grequest_cancel,
	                                    make_closure(query, free, cancel, state), &own);

	*request = handle_out(pairs_request, (unsigned)own);
	return code_out(rc);
}

/* ---- others that do not follow from the table ---- */

/* MPICH's own library of this ABI has its internal names as well. */
int MPIR_Dup_fn(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
	return MPI_ERR_INTERN; /* nobody calls this one */
}

DEFINE(int, MPI_Pcontrol, (const int level, ...))
{
	(void)level;
	return 0;
}

DEFINE(int, MPI_Abi_get_version, (int *major, int *minor))
{
	*major = 1;
	*minor = 0;
	return 0;
}

DEFINE(int, MPI_Get_version, (int *version, int *subversion))
{
	*version = 5;
	*subversion = 0;
	return 0;
}

DEFINE(int, MPI_Error_class, (int code, int *class))
{
	int rc = BEHIND(MPI_Error_class)(code <= STD_MPI_ERR_LASTCODE ? code_in(code) : code, class);

	*class = (int)pass_out(pairs_error, *class);
	return code_out(rc);
}

DEFINE(int, MPI_Error_string, (int code, char *text, int *length))
{
	return code_out(BEHIND(MPI_Error_string)(code <= STD_MPI_ERR_LASTCODE ? code_in(code) : code, text, length));
}

DEFINE(int, MPI_Type_get_contents,
       (std_handle type, int integers, int addresses, int types, int *array_of_integers, MPI_Aint *array_of_addresses,
        std_handle *array_of_types))
{
	MPI_Datatype own = (MPI_Datatype)handle_in(pairs_type, type), *parts = malloc(sizeof *parts * (types + 1));
	int n[4], rc;

	rc = BEHIND(MPI_Type_get_contents)(own, integers, addresses, types, array_of_integers, array_of_addresses,
	                                   parts);
	if (rc == MPI_SUCCESS && BEHIND(MPI_Type_get_envelope)(own, &n[0], &n[1], &n[2], &n[3]) == MPI_SUCCESS)
		for (int i = 0; i < n[2] && i < types; i++)
			array_of_types[i] = handle_out(pairs_type, (unsigned)parts[i]);
	free(parts);
	return code_out(rc);
}

DEFINE(int, MPI_Type_match_size, (int class, int size, std_handle *type))
{
	int own = class == STD_MPI_TYPECLASS_REAL      ? MPI_TYPECLASS_REAL
	          : class == STD_MPI_TYPECLASS_INTEGER ? MPI_TYPECLASS_INTEGER
	                                               : MPI_TYPECLASS_COMPLEX;
	MPI_Datatype found = MPI_DATATYPE_NULL;
	int rc = BEHIND(MPI_Type_match_size)(own, size, &found);

	*type = handle_out(pairs_type, (unsigned)found);
	return code_out(rc);
}

DEFINE(int, MPI_Status_c2f, (const std_status *s, int *f))
{
	memcpy(f, s, sizeof *s);
	return 0;
}

DEFINE(int, MPI_Status_f2c, (const int *f, std_status *s))
{
	memcpy(s, f, sizeof *s);
	return 0;
}

DEFINE(double, MPI_Wtime, (void))
{
	return BEHIND(MPI_Wtime)();
}

DEFINE(double, MPI_Wtick, (void))
{
	return BEHIND(MPI_Wtick)();
}

DEFINE(MPI_Aint, MPI_Aint_add, (MPI_Aint base, MPI_Aint disp))
{
	return base + disp;
}

DEFINE(MPI_Aint, MPI_Aint_diff, (MPI_Aint a, MPI_Aint b))
{
	return a - b;
}
