/* SPDX-License-Identifier: BSD-3-Clause
 * args - from the recorded values of an event to the arguments of a call
 */
#include "replay/args.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/calls.h"
#include "replay/lossy_messages.h"
#include "replay/allowance.h"
#include "replay/request_number.h"
#include "trace/model/stream.h"

#define SCRATCH_SIZE (1 << 16)

void args_fail(struct args *a, const char *format, ...)
{
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	error_set(a->error, "rank %u, event %" PRIu64 ", %.*s: %s", a->rank, a->event->number,
	          (int)a->event->schema->function_length, a->event->schema->function, text);
	longjmp(a->out, 1);
}

void args_fail_memory(struct args *a, const char *what)
{
	if (allowance_spent())
		args_fail(a,
		          "it takes more than %" PRIu64 " MiB of memory, which is the limit; if you trust who made the "
		          "trace, --limit 10 allows ten times as much",
		          allowance_spent() >> 20);
	args_fail(a, "no memory for %s", what);
}

void args_take(struct args *a, uint64_t bytes)
{
	if (!allowance_take(bytes))
		args_fail_memory(a, "a buffer");
}

static void need_memory(struct args *a, const void *memory)
{
	if (!memory)
		args_fail_memory(a, "an argument");
}

/* ---- begin and end ---- */

/* The value of "MPI_MODE_CREATE|MPI_MODE_RDWR|64"; false if a name is not known. */
static bool mask_value(const char *text, int64_t *value)
{
	for (*value = 0; *text;) {
		size_t n = strcspn(text, "|"), i;
		char *end;
		long long number = strtoll(text, &end, 10);
		if (end == text + n) {
			*value |= number;
		} else {
			for (i = 0; i < library_constant_count; i++)
				if (strlen(library_constants[i].name) == n &&
				    memcmp(library_constants[i].name, text, n) == 0)
					break;
			if (i == library_constant_count || library_constants[i].kind != CONSTANT_INTEGER)
				return false;
			*value |= library_constants[i].value;
		}
		text += n + (text[n] == '|');
	}
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct library_constant *)a)->name, ((const struct library_constant *)b)->name);
}

static int read_constants(struct args *a)
{
	const struct trace *t = a->trace;
	struct library_constant *sorted = malloc(library_constant_count * sizeof *sorted);
	a->constants = calloc((size_t)t->strings.count + 1, sizeof *a->constants);
	if (!a->constants || !sorted) {
		free(sorted);
		return -1;
	}
	memcpy(sorted, library_constants, library_constant_count * sizeof *sorted);
	qsort(sorted, library_constant_count, sizeof *sorted, compare_names);
	for (uint32_t i = 0; i < t->strings.count; i++) {
		struct args_constant *c = &a->constants[i];
		const char *text = (const char *)t->strings.items[i].bytes;
		struct library_constant key = {text, 0, NULL, 0}, *found;
		c->absent = strcmp(text, "-") == 0;
		if (strcmp(text, mpi_constant_name[CONST_MPI_IN_PLACE]) == 0)
			a->in_place = VALUE_CONSTANT + (int64_t)i;
		found = bsearch(&key, sorted, library_constant_count, sizeof *sorted, compare_names);
		if (found) {
			c->kind = (uint8_t)found->kind;
			c->value = found->value;
			c->object.handle = found->handle;
		} else if (strchr(text, '|') && mask_value(text, &c->value)) {
			c->kind = CONSTANT_INTEGER;
		}
	}
	free(sorted);
	return 0;
}

int args_begin(struct args *a, const struct trace *t, uint32_t stream, struct error *error)
{
	*a = (struct args){
		.trace = t, .rank = stream_rank(t, stream), .stream = stream, .error = error, .in_place = VALUE_NONE};
	a->scratch = malloc(SCRATCH_SIZE);
	a->scratch_size = SCRATCH_SIZE;
	if (!a->scratch || read_constants(a) != 0)
		return error_set(error, "no memory");
	a->absent[HANDLE_COMM].handle = HANDLE_BITS(MPI_COMM_NULL);
	a->absent[HANDLE_TYPE].handle = HANDLE_BITS(MPI_BYTE); /* arguments that are not significant */
	a->absent[HANDLE_GROUP].handle = HANDLE_BITS(MPI_GROUP_NULL);
	a->absent[HANDLE_OP].handle = HANDLE_BITS(MPI_OP_NULL);
	a->absent[HANDLE_WIN].handle = HANDLE_BITS(MPI_WIN_NULL);
	a->absent[HANDLE_FILE].handle = HANDLE_BITS(MPI_FILE_NULL);
	a->absent[HANDLE_INFO].handle = HANDLE_BITS(MPI_INFO_NULL);
	a->absent[HANDLE_ERRHANDLER].handle = HANDLE_BITS(MPI_ERRHANDLER_NULL);
	a->absent[HANDLE_MESSAGE].handle = HANDLE_BITS(MPI_MESSAGE_NULL);
	a->absent[HANDLE_KEYVAL].handle = HANDLE_BITS(MPI_KEYVAL_INVALID);
	return 0;
}

void args_end(struct args *a)
{
	handles_free(&a->handles);
	if (a->region.at)
		munmap(a->region.at, a->region.size);
	free(a->region.places);
	free(a->constants);
	free(a->statuses);
	free(a->scratch);
}

void args_next_event(struct args *a, const struct event *e, bool failed)
{
	a->event = e;
	a->failed = failed;
	a->scratch_used = 0;
	while (a->scratch_more) {
		void *next = *(void **)a->scratch_more;
		free(a->scratch_more);
		a->scratch_more = next;
	}
}

void *args_scratch(struct args *a, size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes <= a->scratch_size - a->scratch_used) {
		a->scratch_used += bytes;
		return a->scratch + a->scratch_used - bytes;
	}
	void **piece = malloc(bytes + 16);
	need_memory(a, piece);
	*piece = a->scratch_more;
	a->scratch_more = piece;
	return (char *)piece + 16;
}

/* ---- scalars ---- */

static const struct args_constant *constant_of(const struct args *a, int64_t v)
{
	return &a->constants[(uint64_t)v - (uint64_t)VALUE_CONSTANT];
}

static int64_t constant_value(struct args *a, int64_t v)
{
	const struct args_constant *c = constant_of(a, v);
	if (c->kind == HANDLE_NONE && !c->absent)
		args_fail(a, "%s is not known in this MPI library", trace_constant_name(a->trace, v));
	return c->value;
}

int64_t args_int(struct args *a, int64_t v)
{
	return __builtin_expect(!value_is_constant(v), 1) ? v : constant_value(a, v);
}

int64_t args_rank(struct args *a, int64_t v)
{
	return __builtin_expect(!value_is_constant(v), 1) ? v + a->event->base : constant_value(a, v);
}

const char *args_string(struct args *a, int64_t v)
{
	return value_is_constant(v) || v == VALUE_LOSSY ? NULL : (const char *)a->trace->strings.items[v].bytes;
}

/* ---- objects ---- */

struct object *args_object(struct args *a, enum handle_kind kind, int64_t v)
{
	if (value_is_constant(v)) {
		struct args_constant *c = &a->constants[(uint64_t)v - (uint64_t)VALUE_CONSTANT];
		if (c->absent && replay_outcome.refused)
			return &a->nothing;
		if (c->absent && kind == HANDLE_TYPE && a->failed) {
			a->null_type.handle = HANDLE_BITS(MPI_DATATYPE_NULL);
			return &a->null_type;
		}
		if (c->absent)
			return &a->absent[kind];
		if (c->kind != kind)
			args_fail(a, "%s is not known in this MPI library", trace_constant_name(a->trace, v));
		return &c->object;
	}
	struct object *o = handles_object(&a->handles, kind, v);
	if (!o)
		args_fail(a, "it uses %c%" PRId64 ", which no recorded call has made", "?ctgowfnemkqr"[kind], v);
	return o;
}

void args_bind(struct args *a, enum handle_kind kind, int64_t v, void *handle)
{
	if (value_is_constant(v))
		return;
	struct object *o = handles_own_object(&a->handles, kind, v);
	if (!o)
		args_fail_memory(a, "the number of a handle");
	if (kind == HANDLE_WIN) /* its memory was allocated just before */
		*o = (struct object){.handle = handle, .win.memory = o->win.memory};
	else if (!object_bind(o, handle))
		args_fail(a, "no memory for an object");
	if (kind == HANDLE_COMM && a->made_comm)
		a->made_comm(a->context, v, HANDLE_OF(MPI_Comm, handle));
}

void args_bind_all(struct args *a, enum handle_kind kind, int64_t v, const void *handles, size_t size)
{
	size_t n;
	const struct pool_item *item = args_elements(a, v, &n);
	for (size_t i = 0; i < n; i++)
		args_bind(a, kind, args_element(item, i),
		          size == sizeof(int) ? HANDLE_BITS(((const int *)handles)[i]) : ((void *const *)handles)[i]);
}

void args_unbind(struct args *a, enum handle_kind kind, int64_t v)
{
	struct object *o = value_is_constant(v) ? NULL : handles_object(&a->handles, kind, v);
	if (!o)
		return;
	if (kind == HANDLE_WIN)
		free(o->win.memory);
	object_unbind(o);
}

const struct pool_item *args_elements(const struct args *a, int64_t v, size_t *n)
{
	*n = 0;
	if (value_is_constant(v) || v == VALUE_LOSSY)
		return NULL;
	assert(v < ARGS_DRAWN + ARGS_DRAWN_ARRAYS);
	const struct pool_item *item =
		v >= ARGS_DRAWN ? &a->drawn[v - ARGS_DRAWN] : event_vector(a->trace, a->event, v);
	*n = item->size / sizeof(int64_t);
	return item;
}

void *args_handles(struct args *a, enum handle_kind kind, int64_t v, size_t size)
{
	size_t n;
	const struct pool_item *item = args_elements(a, v, &n);
	void *out = item ? args_scratch(a, n * size) : NULL;
	for (size_t i = 0; i < n; i++) {
		void *handle = args_object(a, kind, args_element(item, i))->handle;
		if (size == sizeof(int))
			((int *)out)[i] = HANDLE_OF(int, handle);
		else
			((void **)out)[i] = handle;
	}
	return out;
}

/* ---- requests ---- */

struct request *args_new_request(struct args *a, int64_t v)
{
	uint32_t thread, number;
	if (value_is_constant(v))
		return NULL;
	if (v == VALUE_LOSSY)
		return lossy_request_create();
	if (stream_foreign(v, &thread, &number)) {
		struct request *other = handles_other_request(&a->handles, thread, number);
		if (!other)
			args_fail(a, "it uses r%u of thread %u, which no recorded call has made", number, thread);
		return other;
	}
	struct request *own = handles_own_request(&a->handles, v);
	if (!own)
		args_fail_memory(a, "the number of a request");
	return own;
}

/* The i-th request of a call of which it is not known which ones it had: the oldest ones; persistent ones are started
 * in turn. drawn: of those of which it is not known which call made them. */
static struct request *pick_request(struct args *a, int i, bool drawn)
{
	static int turn;
	enum mpi_number function = a->event->schema->mpi->function;
	bool start = function == FN_MPI_Start || function == FN_MPI_Startall;
	struct request *r = lossy_request_pick(start ? turn++ : i, start, drawn);
	if (start && !r) {
		turn = 1;
		r = lossy_request_pick(0, true, drawn);
	}
	return r;
}

/* A request that a call uses; *unknown: so many of those before it, of the same call, are in nobody's table. A call may
 * have an order where those that made its requests have none: it is for as many of theirs. */
static struct request *used_request(struct args *a, int64_t v, int *unknown)
{
	if (v == VALUE_LOSSY)
		return pick_request(a, (*unknown)++, false);
	struct request *r = args_new_request(a, v), *other = NULL;
	if (r && replay_outcome.lossy && !r->live && (other = pick_request(a, *unknown, true)))
		++*unknown;
	return other ? other : r;
}

MPI_Request args_request(struct args *a, int64_t v)
{
	int unknown = 0;
	return request_handle(used_request(a, v, &unknown));
}

MPI_Request *args_requests(struct args *a, int64_t v)
{
	size_t n;
	int unknown = 0;
	const struct pool_item *item = args_elements(a, v, &n);
	if (args_is_nothing(a, v))
		return NULL;
	MPI_Request *out = args_scratch(a, (n + (size_t)a->request_count + 1) * sizeof *out);
	for (int i = 0; v == VALUE_LOSSY && i < a->request_count; i++)
		out[i] = request_handle(used_request(a, v, &unknown));
	for (size_t i = 0; i < n; i++)
		out[i] = request_handle(used_request(a, args_element(item, i), &unknown));
	return out;
}

/* ---- arrays ---- */

int args_length(struct args *a, int64_t v)
{
	size_t n;
	args_elements(a, v, &n);
	return v == VALUE_LOSSY ? a->request_count : (int)n;
}

int64_t args_sum(struct args *a, int64_t v)
{
	size_t n;
	const struct pool_item *item = args_elements(a, v, &n);
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += args_int(a, args_element(item, i));
	return sum;
}

#define ARRAY(function, type)                                                        \
	type *function(struct args *a, int64_t v, int ranks)                         \
	{                                                                            \
		size_t n;                                                            \
		const struct pool_item *item = args_elements(a, v, &n);              \
		type *out = item ? args_scratch(a, (n + 1) * sizeof *out) : NULL;    \
		for (size_t i = 0; i < n; i++)                                       \
			out[i] = (type)(ranks ? args_rank(a, args_element(item, i))  \
			                      : args_int(a, args_element(item, i))); \
		return out;                                                          \
	}
ARRAY(args_ints, int)
ARRAY(args_aints, MPI_Aint)
ARRAY(args_counts, MPI_Count)

int *args_weights(struct args *a, int64_t v, int ranks)
{
	if (trace_is_constant(a->trace, v, CONST_MPI_UNWEIGHTED))
		return MPI_UNWEIGHTED;
	return trace_is_constant(a->trace, v, CONST_MPI_WEIGHTS_EMPTY) ? MPI_WEIGHTS_EMPTY : args_ints(a, v, ranks);
}

void *args_room(struct args *a, int64_t v, size_t size)
{
	size_t n;
	args_elements(a, v, &n);
	return args_scratch(a, (n + (size_t)a->request_count + 64) * size);
}

char *args_text(struct args *a, int64_t length)
{
	return args_scratch(a, length > 8192 ? (size_t)length + 1 : 8192);
}

/* ---- statuses ---- */

static bool is_absent(struct args *a, int64_t v)
{
	return value_is_constant(v) && constant_of(a, v)->absent;
}

long long args_moved(int64_t v, struct object *type)
{
	int64_t count = value_is_constant(v) ? -1 : v;
	return count > 0 && type ? count * object_type(type)->type.size : count;
}

MPI_Status *args_statuses(struct args *a, int n)
{
	if ((size_t)n + 1 > a->status_capacity) {
		MPI_Status *more = realloc(a->statuses, ((size_t)n + 1) * 2 * sizeof *more);
		need_memory(a, more);
		a->statuses = more;
		a->status_capacity = ((size_t)n + 1) * 2;
	}
	return a->statuses;
}

void args_status(struct args *a, MPI_Status *s, const int64_t *v, struct object *type, int64_t cancelled)
{
	memset(s, 0, sizeof *s);
	s->MPI_SOURCE = MPI_ANY_SOURCE;
	s->MPI_TAG = MPI_ANY_TAG;
	if (!is_absent(a, v[0])) {
		s->MPI_SOURCE = (int)args_rank(a, v[0]);
		s->MPI_TAG = (int)args_int(a, v[1]);
	}
	if (!is_absent(a, v[2])) { /* a file call's has no source */
		int64_t count = args_int(a, v[2]);
		if (!type)
			PMPI_Status_set_elements_x(s, MPI_BYTE, count);
		else if (count != MPI_UNDEFINED) /* of the datatype: bytes, as the library keeps it */
			PMPI_Status_set_elements_x(s, MPI_BYTE, count * object_type(type)->type.size);
		else
			PMPI_Status_set_elements_x(s, MPI_BYTE, object_type(type)->type.size + 1); /* no whole number */
	}
	if (cancelled && !value_is_constant(cancelled))
		PMPI_Status_set_cancelled(s, 1);
}
