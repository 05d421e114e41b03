/* SPDX-License-Identifier: BSD-3-Clause
 * needs - what the events of the threads of a rank need of each other
 *
 * A schema names parameters and kinds, not directions; these follow from the standard's names: what a call makes is
 * called new..., or is its last handle if the function's name says that it makes one.
 */
#include "trace/read/needs.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/base/index.h"
#include "trace/model/stream.h"

enum part { PART_NONE, PART_USED, PART_MADE, PART_ENDED };
enum completes { COMPLETES_NONE, COMPLETES_ALL, COMPLETES_ANY, COMPLETES_SOME };

/* What the columns of a function are. */
struct manner {
	enum part part[SCHEMA_MAX];
	enum completes completes;
	bool persistent, fails;                      /* fails: it is the form of calls that returned an error */
	int request, requests, flag, index, indices; /* columns; -1: none */
};

struct object {
	uint64_t key;
	uint64_t uses; /* of a communicator, whose number is never another's: by events that did not come yet */
	uint32_t
		/* how many live: more than one if the order is not the true one, or if it was made twice
		 * (MPI_Comm_group) */
		lives;
	uint32_t maker;        /* the thread that made it last */
	bool made, persistent; /* made: a call that makes it was seen */
};

struct needs {
	const struct trace *trace;
	struct manner *manners; /* by function */
	struct object *objects;
	uint32_t count, capacity;
	struct index index;
	bool failed;
};

/* ---- functions ---- */

static bool name_is(const struct schema *s, const char *name)
{
	return s->function_length == strlen(name) && memcmp(s->function, name, s->function_length) == 0;
}

static bool name_has(const struct schema *s, const char *part)
{
	return memmem(s->function, s->function_length, part, strlen(part)) != NULL;
}

static bool column_is(const struct schema_column *c, const char *name)
{
	return c->length == strlen(name) && memcmp(c->name, name, c->length) == 0;
}

static bool is_handle(const struct schema_column *c)
{
	return strchr("ctgowfnemkqr", c->kind) != NULL;
}

/* Functions that make what their last handle is. Those whose result is called new... or has a name of its own need not
 * be here. */
static bool makes_last(const struct schema *s)
{
	static const char *const names[] = {"MPI_Comm_group",
	                                    "MPI_Comm_remote_group",
	                                    "MPI_Win_get_group",
	                                    "MPI_File_get_group",
	                                    "MPI_File_open",
	                                    "MPI_Win_allocate",
	                                    "MPI_Win_allocate_c",
	                                    "MPI_Win_allocate_shared",
	                                    "MPI_Win_allocate_shared_c",
	                                    "MPI_Mprobe",
	                                    "MPI_Improbe",
	                                    "MPI_Session_init",
	                                    "MPI_Comm_spawn",
	                                    "MPI_Comm_spawn_multiple",
	                                    "MPI_Comm_join"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (name_is(s, names[i]))
			return true;
	return name_has(s, "_create");
}

static bool makes(const struct schema_column *c)
{
	return (c->length > 3 && memcmp(c->name, "new", 3) == 0) || column_is(c, "comm_cart") ||
	       column_is(c, "comm_graph") || column_is(c, "comm_dist_graph");
}

/* Functions that use the request that they name; all others that name one make it. */
static bool uses_request(const struct schema *s)
{
	static const char *const names[] = {"MPI_Wait",
	                                    "MPI_Test",
	                                    "MPI_Start",
	                                    "MPI_Cancel",
	                                    "MPI_Request_free",
	                                    "MPI_Request_get_status",
	                                    "MPI_Grequest_complete",
	                                    "MPI_Pready",
	                                    "MPI_Pready_range",
	                                    "MPI_Pready_list",
	                                    "MPI_Parrived"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (name_is(s, names[i]))
			return true;
	return false;
}

static bool ends(const struct schema *s)
{
	return (name_has(s, "_free") && !name_is(s, "MPI_Request_free")) || name_is(s, "MPI_Comm_disconnect") ||
	       name_is(s, "MPI_File_close") || name_is(s, "MPI_Session_finalize");
}

static enum completes completes(const struct schema *s)
{
	if (name_is(s, "MPI_Wait") || name_is(s, "MPI_Test") || name_is(s, "MPI_Waitall") ||
	    name_is(s, "MPI_Testall") || name_is(s, "MPI_Request_free"))
		return COMPLETES_ALL;
	if (name_is(s, "MPI_Waitany") || name_is(s, "MPI_Testany"))
		return COMPLETES_ANY;
	return name_is(s, "MPI_Waitsome") || name_is(s, "MPI_Testsome") ? COMPLETES_SOME : COMPLETES_NONE;
}

static void learn_function(struct manner *m, const struct schema *s)
{
	size_t last = s->count, first = s->count;
	*m = (struct manner){
		.completes = completes(s), .request = -1, .requests = -1, .flag = -1, .index = -1, .indices = -1};
	m->persistent = name_has(s, "_init");
	for (size_t i = 0; i < s->count; i++) {
		const struct schema_column *c = &s->column[i];
		int at = (int)i;
		m->fails |= column_is(c, "error");
		m->flag = column_is(c, "flag") ? at : m->flag;
		m->index = column_is(c, "index") ? at : m->index;
		m->indices = column_is(c, "indices") ? at : m->indices;
		if (!is_handle(c) || c->name[0] == '.')
			continue;
		m->part[i] = c->kind == 'r' && !c->vector && !uses_request(s) ? PART_MADE
		             : makes(c) && !c->vector                         ? PART_MADE
		                                                              : PART_USED;
		if (c->kind == 'r') {
			*(c->vector ? &m->requests : &m->request) = at;
			continue;
		}
		if (c->vector)
			continue;
		first = first == s->count ? i : first;
		last = i;
		if (c->kind == 'm' && (name_is(s, "MPI_Mrecv") || name_is(s, "MPI_Imrecv")))
			m->part[i] = PART_ENDED;
	}
	if (last < s->count && makes_last(s))
		m->part[last] = PART_MADE;
	if (first < s->count && ends(s))
		m->part[first] = PART_ENDED;
}

/* ---- objects ---- */

/* A request of the calling thread has its plain number, one of another thread says whose it is: here all do. */
static uint64_t key_of(const struct needs *n, uint32_t stream, char kind, int64_t value)
{
	if (kind == 'r' && value < STREAM_FOREIGN)
		value |= ((int64_t)stream_thread(n->trace, stream) + 1) << 32;
	return (uint64_t)(unsigned char)kind << 56 | ((uint64_t)value & (UINT64_MAX >> 8));
}

static bool key_equal(const void *context, uint32_t i)
{
	const struct {
		const struct needs *n;
		uint64_t key;
	} *k = context;
	return k->n->objects[i].key == k->key;
}

static struct object *find(const struct needs *n, uint64_t key)
{
	const struct {
		const struct needs *n;
		uint64_t key;
	} context = {n, key};
	uint32_t i = index_find(&n->index, hash_mix(17, key), key_equal, &context);
	return i == INDEX_NONE ? NULL : &n->objects[i];
}

static int add(struct needs *n, uint64_t key)
{
	struct object *o = find(n, key);
	if (o)
		return 0;
	if (n->count == n->capacity) {
		uint32_t capacity = n->capacity ? 2 * n->capacity : 64;
		struct object *more = budget_realloc(n->objects, capacity * sizeof *more);
		if (!more)
			return -1;
		n->objects = more;
		n->capacity = capacity;
	}
	n->objects[n->count] = (struct object){.key = key};
	return index_add(&n->index, hash_mix(17, key), n->count++);
}

static bool is_object(int64_t value)
{
	return value >= 0 && !value_is_constant(value) && value != VALUE_LOSSY;
}

/* ---- events ---- */

struct needs *needs_create(const struct trace *t)
{
	struct needs *n = budget_calloc(1, sizeof *n);
	if (!n)
		return NULL;
	n->trace = t;
	n->manners = budget_calloc((size_t)t->function_count + 1, sizeof *n->manners);
	if (!n->manners) {
		needs_destroy(n);
		return NULL;
	}
	for (uint32_t i = 0; i < t->function_count; i++)
		learn_function(&n->manners[i], &t->functions[i].schema);
	return n;
}

void needs_destroy(struct needs *n)
{
	if (!n)
		return;
	index_free(&n->index);
	budget_free(n->objects);
	budget_free(n->manners);
	budget_free(n);
}

static const struct manner *manner_of(const struct needs *n, const struct event *e)
{
	return &n->manners[n->trace->sites[e->site].function];
}

int needs_learn(struct needs *n, uint32_t stream, const struct event *e)
{
	const struct manner *m = manner_of(n, e);
	for (size_t i = 0; i < e->schema->count; i++) {
		char kind = e->schema->column[i].kind;
		bool made = m->part[i] == PART_MADE,
		     used = m->part[i] == PART_USED && kind == 'c' && !e->schema->column[i].vector;
		if ((!made && !used) || !is_object(e->values[i]))
			continue;
		uint64_t key = key_of(n, stream, kind, e->values[i]);
		if (add(n, key) != 0)
			return -1;
		struct object *o = find(n, key);
		o->made |= made;
		o->uses += used;
	}
	return 0;
}

/* The elements of an array of an event; *n is 0 if it is not known. */
static const uint8_t *elements(const struct needs *needs, const struct event *e, int column, size_t *n)
{
	*n = 0;
	if (column < 0 || !is_object(e->values[column]))
		return NULL;
	const struct pool_item *item = event_vector(needs->trace, e, e->values[column]);
	*n = item->size / sizeof(int64_t);
	return item->bytes;
}

static int64_t element(const uint8_t *bytes, size_t i)
{
	int64_t value;
	memcpy(&value, bytes + i * sizeof value, sizeof value);
	return value;
}

/* What keeps it from being used? */
static enum need to_use(const struct needs *n, uint32_t stream, char kind, int64_t value)
{
	const struct object *o = is_object(value) ? find(n, key_of(n, stream, kind, value)) : NULL;
	return !o || !o->made || o->lives ? NEED_NOTHING : kind == 'c' ? NEED_CERTAIN : NEED_NUMBER;
}

static enum need most(enum need a, enum need b)
{
	return a > b ? a : b;
}

enum need needs_what(const struct needs *n, uint32_t stream, const struct event *e)
{
	const struct manner *m = manner_of(n, e);
	enum need need = NEED_NOTHING;
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		if (m->part[i] == PART_NONE)
			continue;
		if (c->vector) {
			size_t count;
			const uint8_t *bytes = elements(n, e, (int)i, &count);
			for (size_t k = 0; k < count; k++)
				need = most(need, to_use(n, stream, c->kind, element(bytes, k)));
			continue;
		}
		const struct object *o =
			is_object(e->values[i]) ? find(n, key_of(n, stream, c->kind, e->values[i])) : NULL;
		if (m->part[i] != PART_MADE)
			need = most(need, to_use(n, stream, c->kind, e->values[i]));
		else if (o && o->lives && (c->kind == 'r' || (strchr("twf", c->kind) && o->maker == stream)))
			need = most(need, NEED_NUMBER);
		if (m->part[i] == PART_ENDED && c->kind == 'c' && o && o->uses > 0)
			need = NEED_CERTAIN;
	}
	return need;
}

bool needs_ends(const struct needs *n, const struct event *e)
{
	return ends(e->schema) && !manner_of(n, e)->fails;
}

bool needs_makes(const struct needs *n, const struct event *e, size_t column)
{
	return manner_of(n, e)->part[column] == PART_MADE;
}

static void end_object(struct needs *n, uint32_t stream, char kind, int64_t value, bool freed)
{
	struct object *o = is_object(value) ? find(n, key_of(n, stream, kind, value)) : NULL;
	if (o && (freed || !o->persistent) && o->lives > 0)
		o->lives--;
}

static void complete(struct needs *n, const struct manner *m, uint32_t stream, const struct event *e)
{
	size_t count, indices;
	const uint8_t *requests = elements(n, e, m->requests, &count), *which = elements(n, e, m->indices, &indices);
	if (m->completes == COMPLETES_NONE || (m->flag >= 0 && e->values[m->flag] != 1))
		return;
	if (m->request >= 0)
		end_object(n, stream, 'r', e->values[m->request], name_is(e->schema, "MPI_Request_free"));
	for (size_t k = 0; m->completes == COMPLETES_ALL && k < count; k++)
		end_object(n, stream, 'r', element(requests, k), false);
	for (size_t k = 0; m->completes == COMPLETES_SOME && k < indices; k++)
		if (element(which, k) >= 0 && (uint64_t)element(which, k) < count)
			end_object(n, stream, 'r', element(requests, (size_t)element(which, k)), false);
	if (m->completes == COMPLETES_ANY && m->index >= 0 && e->values[m->index] >= 0 &&
	    (uint64_t)e->values[m->index] < count)
		end_object(n, stream, 'r', element(requests, (size_t)e->values[m->index]), false);
}

void needs_take(struct needs *n, uint32_t stream, const struct event *e)
{
	const struct manner *m = manner_of(n, e);
	for (size_t i = 0; i < e->schema->count; i++) {
		char kind = e->schema->column[i].kind;
		if (m->part[i] == PART_ENDED && !m->fails)
			end_object(n, stream, kind, e->values[i], true);
		struct object *o = m->part[i] != PART_NONE && is_object(e->values[i])
		                           ? find(n, key_of(n, stream, kind, e->values[i]))
		                           : NULL;
		if (o && m->part[i] == PART_USED && o->uses > 0) {
			o->uses--;
		} else if (o && m->part[i] == PART_MADE) {
			o->lives = kind == 'r' ? 1 : o->lives + 1;
			o->persistent = m->persistent;
			o->maker = stream;
		}
	}
	complete(n, m, stream, e);
}
