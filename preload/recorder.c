/* SPDX-License-Identifier: BSD-3-Clause
 * recorder - turns MPI calls into events of this rank's arena
 */
#include "preload/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "preload/callpath.h"
#include "preload/clock.h"
#include "preload/module.h"
#include "preload/session.h"
#include "trace/index.h"
#include "trace/lossy.h"
#include "trace/reclaim.h"
#include "trace/record.h"
#include "trace/trace.h"

/* What an event may allocate without asking again. Larger things (a long vector, leaving a long loop) may still fail; then the event is taken
 * back and recording stops. */
#define EVENT_ROOM 24576
/* Of a site with its columns, about. */
#define SITE_SIZE UINT64_C(1200)
/* Memory is not reclaimed again before so many events. */
#define RECLAIM_EVENTS 10
/* Functions have a second schema, for calls that returned an error. */
#define FUNCTIONS (2 * FN_COUNT)
#define FUNCTION_ERROR FN_COUNT

bool clock_is_counter;
bool call_buffers;

struct recorder {
	struct arena arena;
	struct record *record;
	struct memo *memo;
	struct site *last;
	uint64_t last_end; /* ticks; 0: no event yet */
	/* What an event costs in ticks, as measured now and then: after its end, and before the next one's begin. It is no time of the application. */
	uint64_t cost, before, sample_at, sampled;
	bool cutting; /* the path that is looked up is short already */
	uint64_t reclaimed; /* events + 1 when memory was reclaimed the last time */
	uint64_t limit;    /* of the arena's used bytes, up to which an event may begin without asking for room; 0 to have it ask */
	struct columns columns;
	struct module_list modules;
	struct index strings, vectors, nodes, sites, edges;
	uint32_t functions[FUNCTIONS]; /* index in record.functions + 1 */
	uint32_t widths[FUNCTIONS];    /* columns */
	int64_t constants[MPI_CONSTANT_COUNT]; /* 0: not interned yet */
	struct site *objects[OBJECT_COUNT];
	bool shared, stopped;
	bool unloaded;      /* a file was unloaded: another one may be where it was, so that no address means what it meant */
	unsigned tolerance; /* frames by which the call paths of a site may differ */
	/* The call path that is being looked at: not on the stack, which may be that of a signal handler and small. */
	struct callpath path;
	struct record_node frames[CALLPATH_MAX + 1];
	pthread_mutex_t lock;
};

/* NULL while nothing is recorded. There is one recorder a process; it lives as long as the process. */
static struct recorder *current;

__thread struct recording recording __attribute__((tls_model("initial-exec")));
uint64_t call_generation;

/* The slow way into the arena. A call from a signal handler that comes inside is passed on and counted, not recorded; on the fast way the
 * thread is not `ready` then. */
static void enter(struct recorder *r)
{
	recording.busy = true;
	arena_barrier();
	if (r->shared)
		pthread_mutex_lock(&r->lock);
}

static void leave(struct recorder *r)
{
	if (r->shared)
		pthread_mutex_unlock(&r->lock);
	arena_barrier();
	recording.busy = false;
}

/* Pools. */

struct bytes {
	const struct recorder *recorder;
	const void *at;
	size_t n;
};

static bool string_equal(const void *context, uint32_t number)
{
	const struct bytes *b = context;
	const struct recorder *r = b->recorder;
	ref at = *(ref *)table_at(&r->arena, &r->record->strings, number, sizeof at);
	const struct record_string *s = arena_at(&r->arena, struct record_string, at);
	return s->length == b->n && memcmp(s->bytes, b->at, b->n) == 0;
}

static uint32_t intern_string(struct recorder *r, const void *bytes, size_t n)
{
	if (n == 0)
		return 0;
	uint64_t hash = hash_bytes(bytes, n);
	uint32_t i = index_find(&r->strings, hash, string_equal, &(struct bytes){r, bytes, n});
	if (i != INDEX_NONE)
		return i;
	i = arena_room(&r->arena, n + EVENT_ROOM) ? record_add_string(&r->arena, r->record, bytes, n) : UINT32_MAX;
	if (i == UINT32_MAX) {
		r->columns.failed = true;
		return 0;
	}
	index_add(&r->strings, hash, i);
	return i;
}

static struct record_vector *vector_at(const struct recorder *r, uint32_t i)
{
	return arena_at(&r->arena, struct record_vector, *(ref *)table_at(&r->arena, &r->record->vectors, i, sizeof(ref)));
}

static bool vector_equal(const void *context, uint32_t number)
{
	const struct bytes *b = context;
	const struct recorder *r = b->recorder;
	const struct record_vector *v = vector_at(r, number);
	return (const void *)v != r->arena.base && v->count == b->n && (b->n == 0 || memcmp(v->values, b->at, b->n * sizeof *v->values) == 0);
}

static uint32_t intern_vector(struct recorder *r, const int64_t *values, size_t n)
{
	uint64_t hash = hash_bytes(values, n * sizeof *values);
	uint32_t i = index_find(&r->vectors, hash, vector_equal, &(struct bytes){r, values, n});
	if (i != INDEX_NONE)
		return i;
	i = arena_room(&r->arena, n * sizeof *values + EVENT_ROOM) ? record_add_vector(&r->arena, r->record, values, n) : UINT32_MAX;
	if (i == UINT32_MAX) {
		r->columns.failed = true;
		return UINT32_MAX;
	}
	index_add(&r->vectors, hash, i);
	return i;
}

/* Sites. */

static uint32_t node_of(struct recorder *r, uint32_t parent, uint32_t module, uint64_t offset);

struct node_key {
	const struct recorder *recorder;
	struct record_node node;
};

static bool node_equal(const void *context, uint32_t number)
{
	const struct node_key *k = context;
	const struct record_node *n = table_at(&k->recorder->arena, &k->recorder->record->nodes, number, sizeof *n);
	return n->parent == k->node.parent && n->module == k->node.module && n->offset == k->node.offset;
}

static uint32_t node_of(struct recorder *r, uint32_t parent, uint32_t module, uint64_t offset)
{
	struct node_key k = {r, {parent, module, offset}};
	uint64_t hash = hash_mix(hash_mix(hash_mix(1, parent), module), offset);
	uint32_t i = index_find(&r->nodes, hash, node_equal, &k);
	if (i != INDEX_NONE)
		return i;
	if (r->record->stage[STAGE_PATHS] && !r->cutting)
		return UINT32_MAX; /* paths that are new are cut */
	i = table_add(&r->arena, &r->record->nodes, &k.node, sizeof k.node);
	if (i == UINT32_MAX)
		r->columns.failed = true;
	else
		index_add(&r->nodes, hash, i);
	return i;
}

static uint32_t module_of(struct recorder *r, struct module *m)
{
	/* the list may have been made anew since: find the module by its strings */
	struct record_module wanted = {intern_string(r, m->name, strlen(m->name)), intern_string(r, m->build_id, m->build_id_size)};
	for (uint32_t i = 0; i < r->record->modules.count; i++) {
		const struct record_module *known = table_at(&r->arena, &r->record->modules, i, sizeof *known);
		if (known->build_id == wanted.build_id && (known->build_id || known->name == wanted.name))
			return i;
	}
	return table_add(&r->arena, &r->record->modules, &wanted, sizeof wanted);
}

/* A call path as the record has it: nodes without parents, outermost first. Returns how many; 0 if there is no room. */
static size_t frames_of(struct recorder *r, const struct callpath *path, struct record_node frames[CALLPATH_MAX + 1])
{
	size_t n = 0;
	if (path->gap)
		frames[n++] = (struct record_node){.module = UINT32_MAX, .offset = (uint64_t)path->gap};
	for (size_t i = path->count; i-- > 0;) {
		uintptr_t address = path->frame[i].address;
		struct module *m = module_find(&r->modules, address);
		if (m && m->number == UINT32_MAX)
			m->number = module_of(r, m);
		if (m && m->number == UINT32_MAX)
			return 0;
		frames[n++] = m ? (struct record_node){.module = m->number, .offset = address - m->bias}
		                : (struct record_node){.module = UINT32_MAX, .offset = GAP_NO_MODULE};
	}
	return n;
}

/* The node of the innermost frame. */
static uint32_t path_of(struct recorder *r, const struct record_node *frames, size_t n)
{
	uint32_t at = 0;
	for (size_t i = 0; i < n && at != UINT32_MAX; i++)
		at = node_of(r, at, frames[i].module, frames[i].offset);
	return at;
}

static uint32_t schema_width(const char *schema)
{
	uint32_t n = 0;
	for (; *schema; schema++)
		n += *schema == ' ';
	return n;
}

/* Makes the function known to the record. Returns false if there is no room. */
static bool function_known(struct recorder *r, uint32_t function)
{
	if (r->functions[function])
		return true;
	char schema[4096];
	const char *text = call_buffers ? mpi_schema_buffers[function % FN_COUNT] : NULL;
	if (!text)
		text = mpi_schema[function % FN_COUNT];
	size_t n = strlen(text);
	if (n + sizeof " error:i" > sizeof schema)
		return false;
	memcpy(schema, text, n + 1);
	if (function >= FUNCTION_ERROR) {
		memcpy(schema + n, " error:i", sizeof " error:i");
		n += sizeof " error:i" - 1;
	}
	uint32_t string = intern_string(r, schema, n);
	uint32_t i = string ? table_add(&r->arena, &r->record->functions, &string, sizeof string) : UINT32_MAX;
	if (i == UINT32_MAX)
		return false;
	r->functions[function] = i + 1;
	r->widths[function] = schema_width(schema);
	return true;
}

struct site_key {
	const struct recorder *recorder;
	uint32_t function, path;
};

static struct site *site_at(const struct recorder *r, const struct table *t, uint32_t i)
{
	return arena_at(&r->arena, struct site, *(ref *)table_at(&r->arena, t, i, sizeof(ref)));
}

static bool site_equal(const void *context, uint32_t number)
{
	const struct site_key *k = context;
	const struct site *s = site_at(k->recorder, &k->recorder->record->sites, number);
	return s->function == k->function && s->path == k->path;
}

/* The site of a function and a path; NULL if there is no room for a new one. */
static struct site *site_of(struct recorder *r, uint32_t function, uint32_t path)
{
	if (path == UINT32_MAX || !function_known(r, function))
		return NULL;
	struct site_key k = {r, r->functions[function] - 1, path};
	uint64_t hash = hash_mix(hash_mix(2, k.function), path);
	uint32_t i = index_find(&r->sites, hash, site_equal, &k);
	if (i != INDEX_NONE)
		return site_at(r, &r->record->sites, i);
	if (!arena_room(&r->arena, EVENT_ROOM + (r->widths[function] + 1) * sizeof(struct column)))
		return NULL;
	/* sites are never given back: they get a quarter of the memory, then paths are cut */
	if (r->record->sites.count * SITE_SIZE > r->arena.size / 4 && !r->record->stage[STAGE_PATHS])
		r->record->stage[STAGE_PATHS] = r->record->events + 1;
	ref at = record_new_site(&r->arena, k.function, path, r->widths[function]);
	if (!at)
		return NULL;
	struct site *s = arena_at(&r->arena, struct site, at);
	record_set_roles(s, mpi_schema[function % FN_COUNT]);
	s->id = r->record->sites.count;
	s->cost = (uint32_t)r->cost;
	if (table_add(&r->arena, &r->record->sites, &at, sizeof at) == UINT32_MAX)
		return NULL;
	index_add(&r->sites, hash, s->id);
	recorder_calibrate();
	return s;
}

/* Time that the recorder used itself, since the end of the last event: it is no computation. */
static void own_time(struct recorder *r, uint64_t ticks)
{
	r->record->own_ticks += ticks;
	r->last_end += ticks;
}

/* In how many frames, counted from the outermost, a known path and another one differ; not more than `most`. */
static size_t path_distance(const struct recorder *r, uint32_t path, const struct record_node *frames, size_t n, size_t most)
{
	size_t length = 0, distance;
	for (uint32_t at = path; at; at = ((struct record_node *)table_at(&r->arena, &r->record->nodes, at, sizeof *frames))->parent)
		length++;
	distance = n > length ? n - length : 0;
	for (size_t i = length; i > 0 && distance < most; i--) {
		const struct record_node *node = table_at(&r->arena, &r->record->nodes, path, sizeof *node);
		distance += i > n || node->module != frames[i - 1].module || node->offset != frames[i - 1].offset;
		path = node->parent;
	}
	return distance;
}

/* Approximate call paths (ICS'13, section 3.3): the site of the function whose path differs least, in at most `tolerance` frames; of several
 * the oldest. NULL if there is none. */
static struct site *site_near(const struct recorder *r, uint32_t function, const struct record_node *frames, size_t n)
{
	struct site *best = NULL;
	size_t least = r->tolerance + (size_t)1;
	for (uint32_t i = 0; r->functions[function] && i < r->record->sites.count && least > 0; i++) {
		struct site *s = site_at(r, &r->record->sites, i);
		if (s->function != r->functions[function] - 1)
			continue;
		size_t distance = path_distance(r, s->path, frames, n, least);
		if (distance < least) {
			least = distance;
			best = s;
		}
	}
	return best;
}

/* The same, or of the innermost frame alone if the path is new and new ones are cut. */
static uint32_t path_or_cut(struct recorder *r, const struct record_node *frames, size_t n)
{
	uint32_t at = path_of(r, frames, n);
	if (at == UINT32_MAX && r->record->stage[STAGE_PATHS]) {
		const struct record_node cut[2] = {{.module = UINT32_MAX, .offset = GAP_TOO_DEEP}, frames[n - 1]};
		r->cutting = true;
		at = path_of(r, cut, 2);
		r->cutting = false;
	}
	return at;
}

/* The way of a call that the memo does not know. */
static __attribute__((noinline)) struct site *site_unwound(struct recorder *r, uint32_t function, void *return_address, void *cfa)
{
	int saved = errno;
	callpath_unwind(&r->path, return_address, cfa);
	size_t n = frames_of(r, &r->path, r->frames);
	struct site *s = r->tolerance && n ? site_near(r, function, r->frames, n) : NULL;
	if (!s && n)
		s = site_of(r, function, path_or_cut(r, r->frames, n));
	if (s)
		memo_add(r->memo, function, &r->path, s, cfa);
	errno = saved;
	return s;
}

/* The budget is used up: what was recorded until now is what the trace has. */
static __attribute__((noinline, cold)) void stop_full(struct recorder *r)
{
	if (!r->stopped) {
		r->stopped = true;
		r->record->flags |= RECORD_FULL;
		r->record->stage[STAGE_COUNTING] = r->record->events + 1;
	}
	r->limit = 0;
	r->record->lost++;
}

/* The site of a call; NULL: nothing more is recorded. */
/* What columns need to give up their order when the rest is used up. */
static uint64_t reserve(const struct recorder *r)
{
	return r->arena.header->size < r->arena.size ? 0 : r->arena.size / 16;
}

/* Is there memory for another event? When there is nearly none, the largest columns give up their order, and if that does not give much, call
 * paths that are new are cut. */
static bool room(struct recorder *r)
{
	if (arena_room(&r->arena, EVENT_ROOM + r->arena.size / 16))
		return true;
	uint64_t freed = r->record->events >= r->reclaimed + RECLAIM_EVENTS || !r->reclaimed ? record_reclaim(&r->columns, r->record) : 0;
	r->reclaimed = r->record->events + 1;
	if (freed < r->arena.size / 8 && !r->record->stage[STAGE_PATHS])
		r->record->stage[STAGE_PATHS] = r->record->events + 1;
	return arena_room(&r->arena, EVENT_ROOM);
}

static struct site *site_slowly(struct recorder *r, uint32_t function, void *return_address, void *cfa)
{
	int saved = errno;
	struct site *s = NULL;
	uint64_t begin = clock_ticks();
	if (!r->stopped && room(r)) {
		r->limit = r->arena.header->size - EVENT_ROOM - reserve(r);
		if (__atomic_exchange_n(&r->unloaded, false, __ATOMIC_ACQ_REL))
			memo_clear(r->memo);
		s = memo_find(r->memo, function, return_address, cfa);
		r->before = clock_ticks() - begin;
		if (!s) {
			s = site_unwound(r, function, return_address, cfa);
			own_time(r, clock_ticks() - begin);
		}
	}
	if (!s)
		stop_full(r);
	errno = saved;
	return s;
}

/* A call that is not what the memo thinks comes next, or that the thread was not ready for: its first one, one made inside of another (in a
 * callback, or a signal handler), or one of several threads that share a recorder. */
static __attribute__((noinline)) bool begin_slowly(struct call *c, enum mpi_function f, void *return_address, void *cfa)
{
	struct recording *me = &recording;
	struct recorder *r = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	bool ready = me->ready != NULL;
	me->ready = NULL;
	if (!r) {
		if (!session_wake())
			return false;
		r = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
		if (!r)
			return false;
	}
	if (!ready) {
		/* a call from further out than the one that the thread is in: that one was left by longjmp */
		if (me->frame && (uintptr_t)cfa >= (uintptr_t)me->frame) {
			me->frame = NULL;
			me->depth = 0;
		} else if (me->busy || (me->known == r && !me->frame && !r->shared)) {
			__atomic_fetch_add(&r->record->lost, 1, __ATOMIC_RELAXED);
			return false;
		}
	}
	*c = (struct call){.rec = r, .slow = me->frame || r->shared, .level = me->depth, .outer_frame = me->frame};
	me->known = r;
	enter(r);
	c->site = site_slowly(r, f, return_address, cfa);
	if (c->site) {
		c->outer = r->record->in_flight;
		r->record->in_flight = arena_ref(&r->arena, c->site);
	}
	leave(r);
	if (!c->site) {
		if (!c->slow)
			me->ready = r;
		return false;
	}
	if (me->frame)
		me->depth++;
	me->frame = cfa;
	c->start = clock_ticks();
	return true;
}

/* The fast way calls nothing, so that it needs no registers saved: whatever is unusual is done all over by the slow way. */
bool call_begin_at(struct call *c, enum mpi_function f, void *return_address, void *cfa)
{
	struct recorder *r = recording.ready;
	if (__builtin_expect(!r || r->arena.header->used > r->limit, 0))
		return begin_slowly(c, f, return_address, cfa);
	struct memo_entry *e = r->memo->at->followed;
	if (__builtin_expect(!memo_is(e, f, (uintptr_t)return_address, (uintptr_t)cfa), 0))
		return begin_slowly(c, f, return_address, cfa);
	recording.ready = NULL;
	arena_barrier();
	r->memo->at = e;
	struct site *s = e->value;
	r->record->in_flight = arena_ref(&r->arena, s);
	c->rec = r;
	c->site = s;
	c->plain = 0;
	arena_barrier();
	recording.frame = cfa;
	c->start = clock_ticks();
	return true;
}

bool call_end_slowly(struct call *c, int rc)
{
	struct recorder *r = c->rec;
	if (c->slow)
		enter(r);
	if (rc != 0) {
		int saved = errno;
		uint32_t function = 0;
		while (function < FN_COUNT && r->functions[function] != c->site->function + 1)
			function++;
		struct site *s = site_of(r, function + FUNCTION_ERROR, c->site->path);
		errno = saved;
		c->failed = s != NULL;
		if (s)
			c->site = s;
		else
			r->columns.failed = true; /* the event will be taken back */
	}
	r->record->in_flight = arena_ref(&r->arena, c->site);
	c->next = c->site->column;
	return rc == 0;
}

void call_turn(struct call *c, int64_t value)
{
	column_turn(&c->rec->columns, c->next++, c->site->visits, value);
}

/* What the next column expects, or would if the run under way was over. */
const int64_t *call_expected_turn(struct call *c, size_t n)
{
	struct recorder *r = c->rec;
	int64_t candidates[2] = {column_guess(&r->columns, c->next), c->next->expect};
	for (int i = 0; i < 2; i++)
		if (candidates[i] >= 0 && candidates[i] < r->record->vectors.count) {
			const struct record_vector *v = vector_at(r, (uint32_t)candidates[i]);
			if (v->count == n)
				return v->values;
		}
	return NULL;
}

static void put_vector(struct call *c, uint32_t i)
{
	struct column *column = c->next;
	call_put(c, i);
	if (!c->failed)
		column_remember(column, i, (int64_t)(intptr_t)vector_at(c->rec, i));
}

void call_put_expected_turn(struct call *c, const int64_t *values)
{
	struct recorder *r = c->rec;
	int64_t candidates[2] = {column_guess(&r->columns, c->next), c->next->expect};
	for (int i = 0; i < 2; i++)
		if (candidates[i] >= 0 && candidates[i] < r->record->vectors.count && vector_at(r, (uint32_t)candidates[i])->values == values) {
			put_vector(c, (uint32_t)candidates[i]);
			return;
		}
}

void call_put_vector(struct call *c, const int64_t *values, size_t n)
{
	struct recorder *r = c->rec;
	if (c->next->lossy && (c->next->role & ROLE_KINDS) == ROLE_VECTOR) {
		lossy_put_vector(&r->columns, c->next++, c->site->visits, values, n);
		return;
	}
	uint32_t i = intern_vector(r, values, n);
	if (i != UINT32_MAX)
		put_vector(c, i);
}

void call_distrust(struct call *c)
{
	for (uint32_t i = 0; i < c->site->columns; i++)
		c->site->column[i].raw = VALUE_NONE;
	c->site->generation = __atomic_load_n(&call_generation, __ATOMIC_RELAXED);
}

void call_forget(void)
{
	__atomic_fetch_add(&call_generation, 1, __ATOMIC_RELAXED);
}

void call_put_string(struct call *c, const char *bytes, size_t n)
{
	call_put(c, intern_string(c->rec, bytes, n));
}

int64_t call_constant_named(struct call *c, const char *name)
{
	return VALUE_CONSTANT + intern_string(c->rec, name, strlen(name));
}

int64_t call_constant(struct call *c, enum mpi_constant k)
{
	struct recorder *r = c->rec;
	if (__builtin_expect(r->constants[k] == 0, 0))
		r->constants[k] = call_constant_named(c, mpi_constant_name[k]);
	return r->constants[k];
}

void call_put_absent_turn(struct call *c)
{
	call_put_raw(c, call_constant(c, CONST_ABSENT), CALL_ABSENT);
}

void call_put_error(struct call *c, enum mpi_constant error_class)
{
	if (c->failed)
		call_put(c, call_constant(c, error_class));
}

void call_object(struct call *c, enum object object, const int64_t *values, size_t n)
{
	struct recorder *r = c->rec;
	struct site *s = r->objects[object];
	if (!s) {
		const char *schema = mpi_object_schema[object];
		uint32_t string = intern_string(r, schema, strlen(schema));
		uint32_t function = string ? table_add(&r->arena, &r->record->functions, &string, sizeof string) : UINT32_MAX;
		ref at = function != UINT32_MAX ? record_new_site(&r->arena, function, 0, schema_width(schema)) : 0;
		if (!at || table_add(&r->arena, &r->record->objects, &at, sizeof at) == UINT32_MAX) {
			r->columns.failed = true;
			return;
		}
		s = r->objects[object] = arena_at(&r->arena, struct site, at);
		record_set_roles(s, schema);
	}
	for (size_t i = 0; i < n && i < s->columns; i++)
		column_put(&r->columns, &s->column[i], s->visits, values[i]);
	arena_barrier();
	s->visits++;
}

struct edge_key {
	const struct recorder *recorder;
	uint32_t from, to;
};

static bool edge_equal(const void *context, uint32_t at)
{
	const struct edge_key *k = context;
	const struct record_edge *e = arena_at(&k->recorder->arena, struct record_edge, at);
	return e->from == k->from && e->to == k->to;
}

/* The edge, or 0. Most sites have few. */
static ref edge_find(const struct recorder *r, const struct site *from, uint32_t to)
{
	ref at = from->edges;
	for (int i = 0; at && i < 4; i++) {
		const struct record_edge *e = arena_at(&r->arena, struct record_edge, at);
		if (e->to == to)
			return at;
		at = e->next;
	}
	if (!at)
		return 0;
	uint32_t found = index_find(&r->edges, hash_mix(hash_mix(3, from->id), to), edge_equal, &(struct edge_key){r, from->id, to});
	return found == INDEX_NONE ? 0 : found;
}

/* The edge between two sites; NULL if there is no room for a new one. */
static struct record_edge *edge_of(struct recorder *r, struct site *from, const struct site *to)
{
	ref at = edge_find(r, from, to->id);
	if (!at) {
		if (r->record->stage[STAGE_PATHS]) /* there may be as many as pairs of sites */
			return NULL;
		at = arena_alloc(&r->arena, sizeof(struct record_edge));
		arena_commit(&r->arena);
		if (!at)
			return NULL;
		struct record_edge *e = arena_at(&r->arena, struct record_edge, at);
		e->next = from->edges;
		e->from = from->id;
		e->to = to->id;
		arena_barrier();
		from->edges = at;
		index_add(&r->edges, hash_mix(hash_mix(3, e->from), e->to), at);
	}
	from->last_edge = at;
	return arena_at(&r->arena, struct record_edge, at);
}

/* How much an event costs now: the one that has just been recorded, and what was measured of its begin. */
static __attribute__((noinline, cold)) void sample(struct recorder *r, const struct call *c)
{
	/* no round number of events: loops may be of such a length; the first events are not like the others */
	enum { EVERY = 61, FIRST = 16, SMOOTH = 8, OUTLIER = 16 };
	struct record *record = r->record;
	struct site *s = c->site;
	uint64_t now = clock_ticks(), after = now > c->end ? now - c->end : 0, cost = after + r->before;
	record->own_ticks += r->cost * (record->events - r->sampled);
	if (record->events <= FIRST || cost > OUTLIER * r->cost) {
		/* something that happens once, or another process had the processor; or events are dearer now than they were */
		record->own_ticks += after;
		r->last_end = now;
		r->cost = record->events > FIRST ? r->cost + r->cost / SMOOTH + 1 : r->cost && r->cost < cost ? r->cost : cost;
	} else {
		r->cost += cost / SMOOTH - r->cost / SMOOTH;
		s->cost = (uint32_t)(s->cost ? s->cost + cost / SMOOTH - s->cost / SMOOTH : cost);
	}
	r->sampled = record->events;
	r->sample_at = record->events < FIRST ? 0 : record->events + EVERY;
	if (!r->stopped)
		r->limit = 0; /* measure the next one's begin */
}

/* The event counts from here on. The order matters: see record.h. */
static inline void count_event(struct recorder *r, struct site *s, const struct call *c)
{
	struct record *record = r->record;
	r->last_end = c->end + s->cost;
	r->last = s;
	arena_barrier();
	s->visits++;
	arena_barrier();
	record->last = arena_ref(&r->arena, s);
	arena_barrier();
	record->events++;
	arena_barrier();
	record->in_flight = 0;
	arena_barrier();
	if (__builtin_expect(record->events >= r->sample_at, 0))
		sample(r, c);
}

static __attribute__((noinline)) void commit_slowly(struct call *c)
{
	struct recorder *r = c->rec;
	struct site *s = c->site, *last = r->last;
	if (last)
		column_put(&r->columns, &last->successor, last->visits - 1, s->id);
	else
		r->record->first = arena_ref(&r->arena, s);
	if (r->columns.failed) {
		stop_full(r);
	} else {
		/* with several threads there is no "previous call" whose end this computation began at */
		struct record_edge *e = last && !r->shared ? edge_of(r, last, s) : NULL;
		if (e)
			record_time_add(&r->arena, &e->compute, c->start > r->last_end ? c->start - r->last_end : 0, s->visits);
		record_time_add(&r->arena, &s->communicate, c->end > c->start ? c->end - c->start : 0, s->visits);
		count_event(r, s, c);
	}
	if (!c->slow) {
		recording.ready = r;
		return;
	}
	r->record->in_flight = c->outer;
	recording.frame = c->outer_frame;
	recording.depth = c->level;
	leave(r);
	if (!c->outer_frame && !r->shared)
		recording.ready = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
}

/* As call_begin_at: first everything is looked at, then everything is changed, or nothing. */
void call_commit(struct call *c)
{
	struct recorder *r = c->rec;
	struct site *s = c->site, *last = r->last;
	if (__builtin_expect(c->plain || !last || r->columns.failed || last->successor.expect != s->id, 0)) {
		commit_slowly(c);
		return;
	}
	struct record_edge *e = arena_at(&r->arena, struct record_edge, last->last_edge);
	if (__builtin_expect(!last->last_edge || e->to != s->id, 0)) {
		commit_slowly(c);
		return;
	}
	uint64_t compute = c->start > r->last_end ? c->start - r->last_end : 0, communicate = c->end - c->start;
	uint64_t *compute_bin = record_time_bin(&r->arena, &e->compute, compute);
	uint64_t *communicate_bin = record_time_bin(&r->arena, &s->communicate, communicate);
	if (__builtin_expect(!compute_bin || !communicate_bin, 0)) {
		commit_slowly(c);
		return;
	}
	record_time_count(&e->compute, compute_bin, compute);
	record_time_count(&s->communicate, communicate_bin, communicate);
	count_event(r, s, c);
	recording.ready = r;
}

/* The life of the recorder. */

int recorder_start(const char *path, uint64_t memory, struct error *error)
{
	struct recorder *r = calloc(1, sizeof *r);
	if (!r)
		return error_set(error, "no memory for the recorder");
	if (arena_create(&r->arena, path, memory, error) != 0)
		goto fail;
	if (columns_init(&r->columns, &r->arena) != 0 || !(r->memo = memo_create()) || !(r->record = record_create(&r->arena))) {
		error_set(error, "no memory for the recorder");
		goto fail;
	}
	r->columns.record = r->record;
	r->record->threshold = UINT64_MAX;
	clock_is_counter = clock_has_counter();
	pthread_mutex_init(&r->lock, NULL);
	r->record->clock_ticks[0] = clock_ticks();
	r->record->clock_ns[0] = clock_ns(CLOCK_MONOTONIC);
	r->record->realtime_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	__atomic_store_n(&current, r, __ATOMIC_RELEASE);
	return 0;
fail:
	memo_destroy(r->memo);
	columns_free(&r->columns);
	arena_close(&r->arena);
	free(r);
	return -1;
}

void recorder_lossy(uint64_t threshold, bool structure)
{
	struct recorder *r = current;
	if (!r)
		return;
	r->columns.threshold = r->record->threshold = threshold;
	r->columns.structure = structure;
	r->record->structure = structure;
}

void recorder_bins(uint32_t bins)
{
	struct recorder *r = current;
	if (r)
		r->record->bins = bins;
}

void recorder_stop(void)
{
	/* calls of other threads that are under way end in the arena: it is never unmapped */
	struct recorder *r = current;
	__atomic_store_n(&current, NULL, __ATOMIC_RELEASE);
	if (r)
		r->limit = 0; /* whoever is ready for another call asks, and finds that there is no recorder */
	recording.ready = NULL;
}

void recorder_tolerate(unsigned frames)
{
	if (current)
		current->tolerance = frames;
}

void recorder_unloaded(void)
{
	struct recorder *r = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	if (!r)
		return;
	__atomic_store_n(&r->unloaded, true, __ATOMIC_RELEASE);
	r->limit = 0; /* the next call asks */
}

void recorder_calibrate(void)
{
	struct recorder *r = current;
	if (!r)
		return;
	r->record->clock_ticks[1] = clock_ticks();
	r->record->clock_ns[1] = clock_ns(CLOCK_MONOTONIC);
}

void recorder_identify(uint32_t rank, uint32_t size, uint64_t world, bool threads)
{
	struct recorder *r = current;
	if (!r)
		return;
	r->record->rank = rank;
	r->record->size = size;
	r->record->world = world;
	r->shared = threads;
	arena_barrier();
	r->record->state = RECORD_INITIALIZED;
	r->sample_at = 0; /* what this call's wrapper does besides recording is not cheap */
	recorder_calibrate();
}

int recorder_describe(const char *facts, size_t n, const char *host)
{
	struct recorder *r = current;
	if (!r)
		return -1;
	r->record->host = intern_string(r, host, strlen(host));
	ref at = arena_room(&r->arena, n + EVENT_ROOM) ? arena_alloc(&r->arena, sizeof(struct record_string) + n) : 0;
	arena_commit(&r->arena);
	if (!at)
		return -1;
	struct record_string *s = arena_at(&r->arena, struct record_string, at);
	s->length = (uint32_t)n;
	memcpy(s->bytes, facts, n);
	arena_barrier();
	r->record->facts = at;
	return 0;
}

void recorder_finalized(void)
{
	struct recorder *r = current;
	if (!r)
		return;
	recorder_calibrate();
	r->record->state = RECORD_FINALIZED;
}
