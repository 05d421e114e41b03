/* SPDX-License-Identifier: BSD-3-Clause
 * dependencies - what the events of the threads of a rank need of each other
 */
#include "trace/read/dependencies.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/base/index.h"
#include "trace/model/stream.h"
#include "trace/read/completed.h"

enum part { PART_NONE, PART_USED, PART_MADE, PART_ENDED };

struct object {
	uint64_t key;
	uint64_t uses; /* of a communicator, whose number is never another's: by events that did not come yet */
	uint32_t
		/* how many live: more than one if the order is not the true one, or if it was made twice
		 * (MPI_Comm_group) */
		lives;
	uint32_t maker;        /* the thread that made it last */
	bool made, persistent; /* made: a call that makes it was seen */
	bool completed;        /* of a generalised request that lives: its user has completed it */
};

struct dependencies {
	const struct trace *trace;
	struct object *objects;
	uint32_t count, capacity;
	struct index index;
	bool failed;
};

/* ---- functions ---- */

static bool is_handle(const struct schema_column *c)
{
	return strchr("ctgowfnemkqr", c->kind) != NULL;
}

static enum part part_of(const struct schema_column *c)
{
	if (!is_handle(c) || c->name[0] == '.')
		return PART_NONE;
	if (c->direction == '>')
		return c->vector ? PART_NONE : PART_MADE;
	return c->direction == '!' && c->kind != 'r' ? PART_ENDED : PART_USED;
}

/* ---- objects ---- */

/* A request of the calling thread has its plain number, one of another thread says whose it is: here all do. */
static uint64_t key_of(const struct dependencies *n, uint32_t stream, char kind, int64_t value)
{
	if (kind == 'r' && value < STREAM_FOREIGN)
		value |= ((int64_t)stream_thread(n->trace, stream) + 1) << 32;
	return (uint64_t)(unsigned char)kind << 56 | ((uint64_t)value & (UINT64_MAX >> 8));
}

static bool key_equal(const void *context, uint32_t i)
{
	const struct {
		const struct dependencies *n;
		uint64_t key;
	} *k = context;
	return k->n->objects[i].key == k->key;
}

static struct object *object_find(const struct dependencies *n, uint64_t key)
{
	const struct {
		const struct dependencies *n;
		uint64_t key;
	} context = {n, key};
	uint32_t i = index_find(&n->index, hash_mix(17, key), key_equal, &context);
	return i == INDEX_NONE ? NULL : &n->objects[i];
}

static int object_add(struct dependencies *n, uint64_t key)
{
	struct object *o = object_find(n, key);
	if (o)
		return 0;
	if (!budget_grow(&n->objects, n->count, &n->capacity, sizeof *n->objects))
		return -1;
	n->objects[n->count] = (struct object){.key = key};
	return index_add(&n->index, hash_mix(17, key), n->count++);
}

static bool is_object(int64_t value)
{
	return value >= 0 && !value_is_constant(value) && value != VALUE_LOSSY;
}

/* ---- events ---- */

struct dependencies *dependencies_create(const struct trace *t)
{
	struct dependencies *n = budget_calloc(1, sizeof *n);
	if (!n)
		return NULL;
	n->trace = t;
	return n;
}

void dependencies_destroy(struct dependencies *n)
{
	if (!n)
		return;
	index_free(&n->index);
	budget_free(n->objects);
	budget_free(n);
}

int dependencies_learn(struct dependencies *n, uint32_t stream, const struct event *e)
{
	for (size_t i = 0; i < e->schema->count; i++) {
		char kind = e->schema->column[i].kind;
		enum part part = part_of(&e->schema->column[i]);
		bool made = part == PART_MADE, used = part == PART_USED && kind == 'c' && !e->schema->column[i].vector;
		if ((!made && !used) || !is_object(e->values[i]))
			continue;
		uint64_t key = key_of(n, stream, kind, e->values[i]);
		if (object_add(n, key) != 0)
			return -1;
		struct object *o = object_find(n, key);
		o->made |= made;
		o->uses += used;
	}
	return 0;
}

/* What keeps it from being used? */
static enum dependency to_use(const struct dependencies *n, uint32_t stream, char kind, int64_t value)
{
	const struct object *o = is_object(value) ? object_find(n, key_of(n, stream, kind, value)) : NULL;
	return !o || !o->made || o->lives ? DEPENDENCY_NONE : kind == 'c' ? DEPENDENCY_CERTAIN : DEPENDENCY_NUMBER;
}

static enum dependency most(enum dependency a, enum dependency b)
{
	return a > b ? a : b;
}

/* Once for each life of a generalised request, by whichever thread. */
static bool completes_own(const struct event *e)
{
	return e->schema->mpi->function == FN_MPI_Grequest_complete;
}

enum dependency dependencies_of(const struct dependencies *n, uint32_t stream, const struct event *e)
{
	enum dependency need = DEPENDENCY_NONE;
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		enum part part = part_of(c);
		if (part == PART_NONE)
			continue;
		if (c->vector) {
			const struct pool_item *item =
				is_object(e->values[i]) ? event_vector(n->trace, e, e->values[i]) : NULL;
			for (size_t k = 0; item && k < item->size / sizeof(int64_t); k++)
				need = most(need, to_use(n, stream, c->kind, array_element(item, k)));
			continue;
		}
		const struct object *o =
			is_object(e->values[i]) ? object_find(n, key_of(n, stream, c->kind, e->values[i])) : NULL;
		if (completes_own(e) && o && o->completed) /* the next one of this number is meant */
			need = most(need, DEPENDENCY_NUMBER);
		if (part != PART_MADE)
			need = most(need, to_use(n, stream, c->kind, e->values[i]));
		else if (o && o->lives && (c->kind == 'r' || (strchr("twf", c->kind) && o->maker == stream)))
			need = most(need, DEPENDENCY_NUMBER);
		if (part == PART_ENDED && c->kind == 'c' && o && o->uses > 0)
			need = DEPENDENCY_CERTAIN;
	}
	return need;
}

static bool failed(const struct event *e)
{
	return e->schema->at[PARAMETER_ERROR] >= 0;
}

bool dependencies_ends(const struct event *e)
{
	int freed = e->schema->at[PARAMETER_FREED];
	return freed >= 0 && part_of(&e->schema->column[freed]) == PART_ENDED && !failed(e);
}

bool dependencies_makes(const struct event *e, size_t column)
{
	return part_of(&e->schema->column[column]) == PART_MADE;
}

static void end_object(struct dependencies *n, uint32_t stream, char kind, int64_t value, bool freed)
{
	struct object *o = is_object(value) ? object_find(n, key_of(n, stream, kind, value)) : NULL;
	if (o && (freed || !o->persistent) && o->lives > 0)
		o->lives--;
}

static void complete(struct dependencies *n, uint32_t stream, const struct event *e)
{
	struct completed c = completed_begin(n->trace, e);
	int request = e->schema->at[PARAMETER_REQUEST];
	int64_t value;
	size_t status;
	if (request >= 0 && e->schema->column[request].direction == '!')
		end_object(n, stream, 'r', e->values[request], true);
	while (completed_next(&c, &value, &status))
		end_object(n, stream, 'r', value, false);
}

void dependencies_take(struct dependencies *n, uint32_t stream, const struct event *e)
{
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		enum part part = part_of(c);
		if (part == PART_ENDED && !failed(e))
			end_object(n, stream, c->kind, e->values[i], true);
		struct object *o = part != PART_NONE && is_object(e->values[i])
		                           ? object_find(n, key_of(n, stream, c->kind, e->values[i]))
		                           : NULL;
		if (o && part == PART_USED && o->uses > 0) {
			o->uses--;
		} else if (o && part == PART_MADE) {
			o->lives = c->kind == 'r' ? 1 : o->lives + 1;
			o->persistent = e->schema->mpi->form == FORM_PERSISTENT;
			o->maker = stream;
			o->completed = false;
		}
		if (o && completes_own(e))
			o->completed = true;
	}
	complete(n, stream, e);
}
