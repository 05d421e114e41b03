/* SPDX-License-Identifier: BSD-3-Clause
 * play - from the recorded values of an event to the arguments of a call: values, objects, requests, arrays
 */
#include "replay/play.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/team.h"
#include "trace/model/stream.h"

#define SCRATCH_SIZE (1 << 16)

void play_fail(struct play *p, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	error_set(p->error, "rank %u, event %" PRIu64 ", %.*s: %s", p->rank, p->event->number,
	          (int)p->event->schema->function_length, p->event->schema->function, text);
	longjmp(p->out, 1);
}

static void need(struct play *p, const void *memory)
{
	if (!memory)
		play_fail(p, "no memory");
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
			for (i = 0; i < play_name_count; i++)
				if (strlen(play_names[i].name) == n && memcmp(play_names[i].name, text, n) == 0)
					break;
			if (i == play_name_count || play_names[i].kind != PLAY_INTEGER)
				return false;
			*value |= play_names[i].value;
		}
		text += n + (text[n] == '|');
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct play_name *)a)->name, ((const struct play_name *)b)->name);
}

static int read_constants(struct play *p)
{
	const struct trace *t = p->trace;
	struct play_name *sorted = malloc(play_name_count * sizeof *sorted);

	p->constants = calloc((size_t)t->strings.count + 1, sizeof *p->constants);
	if (!p->constants || !sorted) {
		free(sorted);
		return -1;
	}
	memcpy(sorted, play_names, play_name_count * sizeof *sorted);
	qsort(sorted, play_name_count, sizeof *sorted, by_name);
	for (uint32_t i = 0; i < t->strings.count; i++) {
		struct play_constant *c = &p->constants[i];
		const char *text = (const char *)t->strings.items[i].bytes;
		struct play_name key = {text, 0, NULL, 0}, *found;

		c->absent = strcmp(text, "-") == 0;
		if (strcmp(text, "MPI_IN_PLACE") == 0)
			p->in_place = VALUE_CONSTANT + (int64_t)i;
		if (strncmp(text, "MPI_", 4) != 0)
			continue;
		found = bsearch(&key, sorted, play_name_count, sizeof *sorted, by_name);
		if (found) {
			c->kind = (uint8_t)found->kind;
			c->value = found->value;
			c->object.handle = found->handle;
		} else if (strchr(text, '|') && mask_value(text, &c->value)) {
			c->kind = PLAY_INTEGER;
		}
	}
	free(sorted);
	return 0;
}

int play_begin(struct play *p, const struct trace *t, uint32_t stream, struct error *error)
{
	*p = (struct play){
		.trace = t, .rank = stream_rank(t, stream), .stream = stream, .error = error, .in_place = VALUE_NONE};
	p->scratch = malloc(SCRATCH_SIZE);
	p->scratch_size = SCRATCH_SIZE;
	if (!p->scratch || read_constants(p) != 0)
		return error_set(error, "no memory");
	p->absent[PLAY_COMM].handle = MPI_COMM_NULL;
	p->absent[PLAY_TYPE].handle = MPI_BYTE; /* arguments that are not significant */
	p->absent[PLAY_GROUP].handle = MPI_GROUP_NULL;
	p->absent[PLAY_OP].handle = MPI_OP_NULL;
	p->absent[PLAY_WIN].handle = MPI_WIN_NULL;
	p->absent[PLAY_FILE].handle = MPI_FILE_NULL;
	p->absent[PLAY_INFO].handle = MPI_INFO_NULL;
	p->absent[PLAY_ERRHANDLER].handle = MPI_ERRHANDLER_NULL;
	p->absent[PLAY_MESSAGE].handle = MPI_MESSAGE_NULL;
	p->absent[PLAY_KEYVAL].handle = (void *)(intptr_t)MPI_KEYVAL_INVALID;
	return 0;
}

void play_end(struct play *p)
{
	for (int k = 0; k < PLAY_KINDS; k++) {
		for (size_t i = 0; i < p->tables[k].count; i++)
			free(p->tables[k].items[i]);
		free(p->tables[k].items);
	}
	if (p->region.at)
		munmap(p->region.at, p->region.size);
	free(p->region.offsets);
	free(p->constants);
	free(p->statuses);
	free(p->scratch);
}

void play_next(struct play *p, const struct event *e, bool failed)
{
	p->event = e;
	p->failed = failed;
	p->scratch_used = 0;
	while (p->scratch_more) {
		void *next = *(void **)p->scratch_more;

		free(p->scratch_more);
		p->scratch_more = next;
	}
}

void *play_scratch(struct play *p, size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes <= p->scratch_size - p->scratch_used) {
		p->scratch_used += bytes;
		return p->scratch + p->scratch_used - bytes;
	}
	void **piece = malloc(bytes + 16);

	need(p, piece);
	*piece = p->scratch_more;
	p->scratch_more = piece;
	return (char *)piece + 16;
}

/* ---- scalars ---- */

static const struct play_constant *constant(const struct play *p, int64_t v)
{
	return &p->constants[(uint64_t)v - (uint64_t)VALUE_CONSTANT];
}

static const char *constant_name(const struct play *p, int64_t v)
{
	return (const char *)p->trace->strings.items[(uint64_t)v - (uint64_t)VALUE_CONSTANT].bytes;
}

static int64_t named(struct play *p, int64_t v)
{
	const struct play_constant *c = constant(p, v);

	if (c->kind == PLAY_NOTHING && !c->absent)
		play_fail(p, "%s is not known in this MPI library", constant_name(p, v));
	return c->value;
}

int64_t play_int(struct play *p, int64_t v)
{
	return __builtin_expect(!value_is_constant(v), 1) ? v : named(p, v);
}

int64_t play_rank(struct play *p, int64_t v)
{
	return __builtin_expect(!value_is_constant(v), 1) ? v + p->event->base : named(p, v);
}

const char *play_string(struct play *p, int64_t v)
{
	return value_is_constant(v) || v == VALUE_LOSSY ? NULL : (const char *)p->trace->strings.items[v].bytes;
}

/* ---- objects ---- */

static void *seen(const struct play *p, enum play_kind kind, int64_t v)
{
	return v < 0 || (uint64_t)v >= p->tables[kind].count ? NULL : p->tables[kind].items[v];
}

/* What a number stands for, made with this size if it is new. */
static void *place_own(struct play *p, enum play_kind kind, int64_t v, size_t size)
{
	struct play_table *t = &p->tables[kind];

	if (v < 0 || v > INT32_MAX)
		play_fail(p, "number %" PRId64 " of a handle", v);
	if ((uint64_t)v >= t->count) {
		size_t count = t->count ? t->count : 16;

		while (count <= (uint64_t)v)
			count *= 2;
		void **more = realloc(t->items, count * sizeof *more);

		need(p, more);
		memset(more + t->count, 0, (count - t->count) * sizeof *more);
		t->items = more;
		t->count = count;
	}
	if (!t->items[v])
		need(p, t->items[v] = calloc(1, size));
	return t->items[v];
}

static void *place(struct play *p, enum play_kind kind, int64_t v, size_t size)
{
	void *own = seen(p, kind, v);

	if (own)
		return own;
	if (p->team) /* others look into this table, too */
		team_lock(p->team);
	own = place_own(p, kind, v, size);
	if (p->team)
		team_unlock(p->team);
	return own;
}

struct object *play_object(struct play *p, enum play_kind kind, int64_t v)
{
	if (value_is_constant(v)) {
		struct play_constant *c = &p->constants[(uint64_t)v - (uint64_t)VALUE_CONSTANT];

		if (c->absent && kind == PLAY_TYPE && p->failed) {
			p->nothing.handle = MPI_DATATYPE_NULL;
			return &p->nothing;
		}
		if (c->absent)
			return &p->absent[kind];
		if (c->kind != kind)
			play_fail(p, "%s is not known in this MPI library", constant_name(p, v));
		return &c->object;
	}
	struct object *o = seen(p, kind, v);

	if ((!o || !o->handle) && p->team)
		o = team_object(p->team, kind, v);
	if (!o || !o->handle)
		play_fail(p, "it uses %c%" PRId64 ", which no recorded call has made", "?ctgowfnemkqr"[kind], v);
	return o;
}

void play_bind(struct play *p, enum play_kind kind, int64_t v, void *handle)
{
	if (value_is_constant(v))
		return;
	struct object *o = place(p, kind, v, sizeof *o);
	void *memory = kind == PLAY_WIN ? o->win.memory : NULL; /* allocated just before */

	*o = (struct object){.handle = handle};
	if (kind == PLAY_COMM && p->follow)
		follow_comm(p->follow, v, handle);
	if (kind == PLAY_WIN)
		o->win.memory = memory;
}

void play_bind_all(struct play *p, enum play_kind kind, int64_t v, void **handles)
{
	if (value_is_constant(v))
		return;
	const struct pool_item *item = play_vector(p, v);

	for (size_t i = 0; i < item->size / sizeof(int64_t); i++) {
		int64_t number;

		memcpy(&number, item->bytes + i * sizeof number, sizeof number);
		play_bind(p, kind, number, handles[i]);
	}
}

void play_unbind(struct play *p, enum play_kind kind, int64_t v)
{
	struct object *o = seen(p, kind, v);

	if ((!o || !o->handle) && p->team)
		o = team_object(p->team, kind, v);
	if (!o)
		return;
	if (kind == PLAY_WIN) {
		free(o->win.memory);
		o->win.memory = NULL;
	}
	o->handle = NULL;
	o->asked = false;
}

/* The elements of an array; NULL if absent. */
static const struct pool_item *elements(struct play *p, int64_t v, size_t *n)
{
	*n = 0;
	if (value_is_constant(v) || v == VALUE_LOSSY)
		return NULL;
	const struct pool_item *item = play_vector(p, v);

	*n = item->size / sizeof(int64_t);
	return item;
}

static int64_t element(const struct pool_item *item, size_t i)
{
	int64_t v;

	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

void **play_handles(struct play *p, enum play_kind kind, int64_t v)
{
	size_t n;
	const struct pool_item *item = elements(p, v, &n);
	void **out = item ? play_scratch(p, n * sizeof *out) : NULL;

	for (size_t i = 0; i < n; i++)
		out[i] = play_object(p, kind, element(item, i))->handle;
	return out;
}

static void ask_comm(struct object *comm)
{
	int inter = 0, topology = MPI_UNDEFINED, n = 0, rank = 0, weighted;
	MPI_Comm c = comm->handle;

	PMPI_Comm_size(c, &comm->comm.size);
	PMPI_Comm_test_inter(c, &inter);
	comm->comm.peers = comm->comm.size;
	if (inter) {
		PMPI_Comm_remote_size(c, &comm->comm.peers);
		return;
	}
	PMPI_Topo_test(c, &topology);
	if (topology == MPI_CART) {
		PMPI_Cartdim_get(c, &n);
		comm->comm.indegree = comm->comm.outdegree = 2 * n;
	} else if (topology == MPI_GRAPH) {
		PMPI_Comm_rank(c, &rank);
		PMPI_Graph_neighbors_count(c, rank, &n);
		comm->comm.indegree = comm->comm.outdegree = n;
	} else if (topology == MPI_DIST_GRAPH) {
		PMPI_Dist_graph_neighbors_count(c, &comm->comm.indegree, &comm->comm.outdegree, &weighted);
	}
}

static struct object *asked_comm(struct object *comm)
{
	if (!__atomic_load_n(&comm->asked, __ATOMIC_ACQUIRE) && comm->handle && comm->handle != MPI_COMM_NULL) {
		ask_comm(comm);
		__atomic_store_n(&comm->asked, true, __ATOMIC_RELEASE);
	}
	return comm;
}

int play_peers(struct object *comm)
{
	return asked_comm(comm)->comm.peers;
}

int play_indegree(struct object *comm)
{
	return asked_comm(comm)->comm.indegree;
}

int play_outdegree(struct object *comm)
{
	return asked_comm(comm)->comm.outdegree;
}

/* ---- requests ---- */

struct entry *play_entry(struct play *p, int64_t v)
{
	if (value_is_constant(v))
		return NULL;
	if (v == VALUE_LOSSY)
		return lossy_entry();
	uint32_t thread, number;

	if (stream_foreign(v, &thread, &number)) {
		struct entry *other = p->team ? team_entry(p->team, thread, number) : NULL;

		if (!other)
			play_fail(p, "it uses r%u of thread %u, which no recorded call has made", number, thread);
		return other;
	}
	struct entry *e = seen(p, PLAY_REQUEST, v);

	if (!e) {
		e = place(p, PLAY_REQUEST, v, sizeof *e);
		e->real = e->own = MPI_REQUEST_NULL;
	}
	return e;
}

/* The i-th request of a call of which it is not known which ones it had: the oldest ones; persistent ones are started
 * in turn. */
static struct entry *unknown(struct play *p, int i)
{
	static int turn;
	bool start = p->event->schema->function_length >= 9 && memcmp(p->event->schema->function, "MPI_Start", 9) == 0;
	struct entry *e = lossy_pick(start ? turn++ : i, start);

	if (start && !e) {
		turn = 1;
		e = lossy_pick(0, true);
	}
	return e;
}

MPI_Request play_request(struct play *p, int64_t v)
{
	struct entry *e = v == VALUE_LOSSY ? unknown(p, 0) : play_entry(p, v);

	return e ? (MPI_Request)e : MPI_REQUEST_NULL;
}

MPI_Request *play_requests(struct play *p, int64_t v)
{
	size_t n;
	const struct pool_item *item = elements(p, v, &n);
	MPI_Request *out = play_scratch(p, (n + (size_t)p->request_count + 1) * sizeof *out);

	for (int i = 0; v == VALUE_LOSSY && i < p->request_count; i++) {
		struct entry *e = unknown(p, i);

		out[i] = e ? (MPI_Request)e : MPI_REQUEST_NULL;
	}

	for (size_t i = 0; i < n; i++)
		out[i] = play_request(p, element(item, i));
	return out;
}

/* ---- arrays ---- */

int play_length(struct play *p, int64_t v)
{
	size_t n;

	elements(p, v, &n);
	return v == VALUE_LOSSY ? p->request_count : (int)n;
}

int64_t play_sum(struct play *p, int64_t v)
{
	size_t n;
	const struct pool_item *item = elements(p, v, &n);
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += play_int(p, element(item, i));
	return sum;
}

#define ARRAY(function, type)                                                                                    \
	type *function(struct play *p, int64_t v, int ranks)                                                     \
	{                                                                                                        \
		size_t n;                                                                                        \
		const struct pool_item *item = elements(p, v, &n);                                               \
		type *out = item ? play_scratch(p, (n + 1) * sizeof *out) : NULL;                                \
		for (size_t i = 0; i < n; i++)                                                                   \
			out[i] = (type)(ranks ? play_rank(p, element(item, i)) : play_int(p, element(item, i))); \
		return out;                                                                                      \
	}
ARRAY(play_ints, int)
ARRAY(play_aints, MPI_Aint)
ARRAY(play_counts, MPI_Count)

int *play_weightss(struct play *p, int64_t v, int ranks)
{
	if (value_is_constant(v)) {
		const char *name = constant_name(p, v);

		return strcmp(name, "MPI_UNWEIGHTED") == 0      ? MPI_UNWEIGHTED
		       : strcmp(name, "MPI_WEIGHTS_EMPTY") == 0 ? MPI_WEIGHTS_EMPTY
		                                                : NULL;
	}
	return play_ints(p, v, ranks);
}

void *play_room(struct play *p, int64_t v, size_t size)
{
	size_t n;

	elements(p, v, &n);
	return play_scratch(p, (n + (size_t)p->request_count + 64) * size);
}

char *play_text(struct play *p, int64_t length)
{
	return play_scratch(p, length > 8192 ? (size_t)length + 1 : 8192);
}

/* ---- statuses ---- */

MPI_Status *play_statuses(struct play *p, int n)
{
	if ((size_t)n + 1 > p->status_capacity) {
		MPI_Status *more = realloc(p->statuses, ((size_t)n + 1) * 2 * sizeof *more);

		need(p, more);
		p->statuses = more;
		p->status_capacity = ((size_t)n + 1) * 2;
	}
	return p->statuses;
}

void play_status(struct play *p, MPI_Status *s, const int64_t *v, struct object *type, int64_t cancelled)
{
	memset(s, 0, sizeof *s);
	s->MPI_SOURCE = MPI_ANY_SOURCE;
	s->MPI_TAG = MPI_ANY_TAG;
	if (!value_is_constant(v[0]) || !constant(p, v[0])->absent) {
		int64_t count = play_int(p, v[2]);

		s->MPI_SOURCE = (int)play_rank(p, v[0]);
		s->MPI_TAG = (int)play_int(p, v[1]);
		if (!type)
			PMPI_Status_set_elements_x(s, MPI_BYTE, count);
		else if (count != MPI_UNDEFINED) /* of the datatype: bytes, as the library keeps it */
			PMPI_Status_set_elements_x(s, MPI_BYTE, count * play_type_size(type));
		else
			PMPI_Status_set_elements_x(s, MPI_BYTE, play_type_size(type) + 1); /* no whole number */
	}
	if (cancelled && !value_is_constant(cancelled))
		PMPI_Status_set_cancelled(s, 1);
}
