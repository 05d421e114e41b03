/* SPDX-License-Identifier: BSD-3-Clause
 * team - the threads of a rank
 */
#include "replay/team.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay/scout.h"
#include "trace/model/flow_code.h"
#include "trace/base/index.h"
#include "trace/read/needs.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"
#include "trace/read/weave.h"

/* So long a thread waits for the first call of the one before, which may be waiting for this one. */
#define FIRST_MS 300
/* Where the order is known: it is another thread's turn. More than anything of trace/read/needs.h. */
#define NEED_TURN (NEED_CERTAIN + 1)

struct member {
	uint32_t stream;
	struct play *play;
	const struct event *event; /* that it waits to make */
	bool waiting, chosen, begun, ended;
};

struct team {
	const struct trace *trace;
	struct needs *needs;
	struct member *members; /* the first is thread 0 */
	int count;
	struct weave *weave;   /* if the order is known: */
	struct woven next;     /* whose event is next */
	bool woven;            /* there is a next one */
	struct shared *shared; /* while learning */
	size_t shared_count, shared_capacity;
	struct index index;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};
static _Thread_local struct member *me;

/* ---- what cannot be replayed ---- */

/* Calls of all members of a communicator, in which order matters. */
static bool is_collective(const struct schema *s)
{
	static const char *const names[] = {"arrier",
	                                    "cast",
	                                    "ather",
	                                    "catter",
	                                    "lltoall",
	                                    "educe",
	                                    "can",
	                                    "MPI_Comm_dup",
	                                    "MPI_Comm_idup",
	                                    "MPI_Comm_split",
	                                    "MPI_Comm_create",
	                                    "MPI_Cart_create",
	                                    "MPI_Cart_sub",
	                                    "MPI_Graph_create",
	                                    "MPI_Dist_graph_create",
	                                    "MPI_Win_create",
	                                    "MPI_Win_allocate",
	                                    "MPI_Intercomm_",
	                                    "MPI_File_open"};

	if (memmem(s->function, s->function_length, "MPI_Reduce_local", 16) ||
	    memmem(s->function, s->function_length, "_keyval", 7) ||
	    memmem(s->function, s->function_length, "_errhandler", 11) ||
	    memmem(s->function, s->function_length, "MPI_Cancel", 10))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (memmem(s->function, s->function_length, names[i], strlen(names[i])))
			return true;
	return false;
}

struct use {
	uint32_t rank, stream;
	int64_t comm;
};

static int by_comm(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->rank != y->rank   ? (x->rank < y->rank ? -1 : 1)
	       : x->comm != y->comm ? (x->comm < y->comm ? -1 : 1)
	                            : 0;
}

struct uses {
	struct use *at;
	size_t count, capacity;
	bool failed;
};

static void add_use(struct uses *u, const struct trace *t, uint64_t stream, int64_t comm)
{
	if (u->count == u->capacity) {
		struct use *more = realloc(u->at, (2 * u->capacity + 64) * sizeof *more);

		if (!more) {
			u->failed = true;
			return;
		}
		u->at = more;
		u->capacity = 2 * u->capacity + 64;
	}
	u->at[u->count++] = (struct use){stream_rank(t, stream), (uint32_t)stream, comm};
}

static void add_site(struct uses *u, const struct trace *t, const struct trace_site *s, size_t column)
{
	for (uint32_t g = 0; g < s->columns[column].count; g++) {
		const struct trace_group *group = &s->columns[column].groups[g];
		int64_t start, stride, unused;

		for (uint64_t r = 0; !group->lossy && rankmap_next(trace_group_ranks(group), &r, &unused); r++)
			for (uint32_t d = 0; d < group->count; d++) {
				stride = 0;
				if (!rankmap_get(&group->dict[d].start, (uint32_t)r, &start) ||
				    (group->dict[d].count > 1 &&
				     !rankmap_get(&group->dict[d].stride, (uint32_t)r, &stride)))
					continue;
				for (uint64_t k = 0; k < group->dict[d].count; k++)
					add_use(u, t, r, start + (int64_t)k * stride);
			}
	}
}

/* Did a thread complete requests of another one? */
static bool has_foreign(const struct trace *t)
{
	uint32_t thread, number;

	for (size_t i = 0; i < t->vector_pool.count; i++)
		for (size_t k = 0; k + sizeof(int64_t) <= t->vector_pool.items[i].size; k += sizeof(int64_t)) {
			int64_t v;

			memcpy(&v, t->vector_pool.items[i].bytes + k, sizeof v);
			if (stream_foreign(v, &thread, &number) && thread < stream_threads(t))
				return true;
		}
	for (uint32_t i = 0; i < t->site_count; i++)
		for (size_t k = 0; k < trace_schema(t, &t->sites[i])->count; k++)
			for (uint32_t g = 0;
			     trace_schema(t, &t->sites[i])->column[k].kind == 'r' && g < t->sites[i].columns[k].count;
			     g++) {
				const struct trace_group *group = &t->sites[i].columns[k].groups[g];
				int64_t v;
				uint64_t r = 0;

				for (uint32_t d = 0; !group->lossy && d < group->count; d++)
					for (r = 0; rankmap_next(&group->dict[d].start, &r, &v); r++)
						if (stream_foreign(v, &thread, &number))
							return true;
			}
	return false;
}

/* A communicator of one rank: with itself it always agrees. */
static bool alone(const struct trace *t, const struct use *u)
{
	struct error error;
	int64_t *sizes = NULL;
	size_t n = 0;

	if (value_is_constant(u->comm))
		return strcmp((const char *)t->strings.items[(uint64_t)u->comm - (uint64_t)VALUE_CONSTANT].bytes,
		              "MPI_COMM_SELF") == 0;
	bool one = walk_object(t, u->stream, "@comm", "size", &sizes, &n, &error) == 0 && u->comm >= 0 &&
	           (uint64_t)u->comm < n && sizes[u->comm] == 1;

	free(sizes);
	return one;
}

/* Is the order of the events of all threads known? */
static bool ordered(const struct trace *t)
{
	int64_t events;

	for (uint64_t r = 0; rankmap_next(&t->events, &r, &events); r++) {
		const struct trace_timing *timing = timing_find(t, (uint32_t)r);

		if (!timing || timing->digits != FLOW_EXACT || timing->events != (uint64_t)events)
			return false;
	}
	return true;
}

const char *team_impossible(const struct trace *t, bool partial, char *text, size_t n)
{
	struct uses u = {NULL, 0, 0, false};
	const char *why = NULL;
	bool every;

	if (stream_threads(t) < 2)
		return NULL;
	if (trace_has_lossy(t))
		return "its ranks called MPI in several threads (MPI_THREAD_MULTIPLE), and parameters have no order: "
		       "only one of both can be replayed";
	if (partial)
		return "its ranks called MPI in several threads (MPI_THREAD_MULTIPLE): it can be replayed as a whole "
		       "only, not with --partial";
	if (scout_needed(t, &every) && has_foreign(t)) /* whether the order is known or not */
		return "threads completed requests that other threads made, and there are receives from "
		       "MPI_ANY_SOURCE, or cancelled ones: which of them got which "
		       "message is known for requests of the own thread only";
	for (uint32_t i = 0; i < t->site_count && !ordered(t); i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);

		for (size_t k = 0; k < s->count && is_collective(s); k++)
			if (s->column[k].kind == 'c') {
				add_site(&u, t, &t->sites[i], k);
				break;
			}
	}
	qsort(u.at, u.count, sizeof *u.at, by_comm);
	for (size_t i = 1; i < u.count && !why; i++)
		if (by_comm(&u.at[i - 1], &u.at[i]) == 0 && u.at[i - 1].stream != u.at[i].stream &&
		    !alone(t, &u.at[i])) {
			const char *name = value_is_constant(u.at[i].comm)
			                           ? (const char *)t->strings
			                                     .items[(uint64_t)u.at[i].comm - (uint64_t)VALUE_CONSTANT]
			                                     .bytes
			                           : NULL;
			char number[32];

			snprintf(number, sizeof number, "c%lld", (long long)u.at[i].comm);
			snprintf(text, n,
			         "threads %u and %u of rank %u made collective calls on the same communicator (%s): in "
			         "which order is not in the "
			         "trace (it is with exact times of all events: timing: full)",
			         stream_thread(t, u.at[i - 1].stream), stream_thread(t, u.at[i].stream), u.at[i].rank,
			         name ? name : number);
			why = text;
		}
	free(u.at);
	return u.failed ? "no memory" : why;
}

/* ---- objects whose numbers are used again ---- */

/* The objects that had a number, one after the other. If several threads made them, or several others used them, it is
 * not known which one is meant. */
struct shared {
	uint64_t key;
	uint64_t made;
	uint32_t maker, user; /* the first ones; UINT32_MAX: none */
	bool makers, users;   /* there are others */
	uint32_t owner;       /* while a stream is looked at: it made it */
};

static bool shared_equal(const void *context, uint32_t i)
{
	const struct {
		const struct team *m;
		uint64_t key;
	} *k = context;

	return k->m->shared[i].key == k->key;
}

static struct shared *shared(struct team *m, uint64_t key)
{
	const struct {
		const struct team *m;
		uint64_t key;
	} context = {m, key};
	uint32_t i = index_find(&m->index, hash_mix(3, key), shared_equal, &context);

	if (i != INDEX_NONE)
		return &m->shared[i];
	if (m->shared_count == m->shared_capacity) {
		struct shared *more = realloc(m->shared, (2 * m->shared_capacity + 64) * sizeof *more);

		if (!more)
			return NULL;
		m->shared = more;
		m->shared_capacity = 2 * m->shared_capacity + 64;
	}
	m->shared[m->shared_count] =
		(struct shared){.key = key, .maker = UINT32_MAX, .user = UINT32_MAX, .owner = UINT32_MAX};
	return index_add(&m->index, hash_mix(3, key), (uint32_t)m->shared_count) == 0 ? &m->shared[m->shared_count++]
	                                                                              : NULL;
}

static int see(struct team *m, uint32_t stream, char kind, int64_t v, bool made)
{
	if (value_is_constant(v) || v == VALUE_LOSSY || v < 0)
		return 0;
	if (kind == 'r' && v < STREAM_FOREIGN)
		v |= ((int64_t)stream_thread(m->trace, stream) + 1) << 32;
	struct shared *s = shared(m, (uint64_t)(unsigned char)kind << 56 | ((uint64_t)v & (UINT64_MAX >> 8)));

	if (!s)
		return -1;
	if (made) {
		s->made++;
		s->makers |= s->maker != UINT32_MAX && s->maker != stream;
		s->maker = s->maker == UINT32_MAX ? stream : s->maker;
		s->owner = stream;
	} else if (s->owner != stream && (kind != 'r' || stream_thread(m->trace, stream) + 1 != (uint64_t)v >> 32)) {
		s->users |= s->user != UINT32_MAX && s->user != stream;
		s->user = s->user == UINT32_MAX ? stream : s->user;
	}
	return 0;
}

static int see_event(struct team *m, uint32_t stream, const struct event *e)
{
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		int64_t v = e->values[i];

		if (!strchr("towfnr", c->kind))
			continue;
		if (!c->vector) {
			if (see(m, stream, c->kind, v, needs_makes(e, i)) != 0)
				return -1;
			continue;
		}
		const struct pool_item *item =
			value_is_constant(v) || v == VALUE_LOSSY ? NULL : event_vector(m->trace, e, v);

		for (size_t k = 0; item && k + sizeof v <= item->size; k += sizeof v) {
			memcpy(&v, item->bytes + k, sizeof v);
			if (see(m, stream, c->kind, v, false) != 0)
				return -1;
		}
	}
	return 0;
}

static int unclear(const struct team *m, uint32_t rank, struct error *error)
{
	for (size_t i = 0; i < m->shared_count && !m->weave; i++) {
		const struct shared *s = &m->shared[i];

		if (s->made > 1 && s->user != UINT32_MAX && (s->makers || s->users))
			return error_set(error,
			                 "it cannot be replayed: threads of rank %u made, passed on and ended objects "
			                 "of the same number (%c%u), and in which order is "
			                 "not in the trace (it is with exact times of all events: timing: full)",
			                 rank, (int)(s->key >> 56), (uint32_t)s->key);
	}
	return 0;
}

/* ---- the threads ---- */

static int learn(struct team *m, uint32_t stream, struct error *error)
{
	struct walk *walk;
	struct event e;
	int rv = walk_begin(&walk, m->trace, stream, error);

	for (size_t i = 0; i < m->shared_count; i++)
		m->shared[i].owner = UINT32_MAX;
	while (rv == 0 && (rv = walk_next(walk, &e, error)) == 0)
		if (needs_learn(m->needs, stream, &e) != 0 || see_event(m, stream, &e) != 0)
			rv = error_set(error, "no memory");
	walk_end(walk);
	return rv < 0 ? -1 : 0;
}

/* The event that is next has begun, or none has yet. */
static int go_on(struct team *m, struct error *error)
{
	int rv = weave_next(m->weave, &m->next, error);

	m->woven = rv == 0;
	return rv < 0 ? -1 : 0;
}

int team_create(struct team **out, const struct trace *t, uint32_t rank, struct error *error)
{
	uint32_t stream, n = 0;
	struct team *m;
	int rv = 0;

	*out = NULL;
	for (uint32_t k = 0; stream_next(t, rank, &k, &stream); k++)
		n++;
	if (n < 2)
		return 0;
	m = calloc(1, sizeof *m);
	if (!m)
		return error_set(error, "no memory");
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	m->trace = t;
	m->needs = needs_create(t);
	m->members = calloc(n, sizeof *m->members);
	if (!m->needs || !m->members)
		rv = error_set(error, "no memory");
	for (uint32_t k = 0; rv == 0 && stream_next(t, rank, &k, &stream); k++) {
		m->members[m->count++].stream = stream;
		rv = learn(m, stream, error);
	}
	if (rv == 0 && ordered(t))
		rv = weave_begin(&m->weave, t, rank, error) != 0 || go_on(m, error) != 0 ? -1 : 0;
	if (rv == 0)
		rv = unclear(m, rank, error);
	if (rv != 0)
		team_destroy(m);
	else
		*out = m;
	return rv;
}

void team_destroy(struct team *m)
{
	if (!m)
		return;
	needs_destroy(m->needs);
	weave_end(m->weave);
	index_free(&m->index);
	free(m->shared);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->changed);
	free(m->members);
	free(m);
}

int team_count(const struct team *m)
{
	return m ? m->count - 1 : 0;
}

uint32_t team_stream(const struct team *m, int i)
{
	return m->members[i + 1].stream;
}

void team_join(struct team *m, struct play *p)
{
	team_lock(m);
	for (int i = 0; i < m->count; i++)
		if (m->members[i].stream == p->stream) {
			me = &m->members[i];
			me->play = p;
		}
	team_unlock(m);
}

void team_lock(struct team *m)
{
	pthread_mutex_lock(&m->lock);
}

void team_unlock(struct team *m)
{
	pthread_mutex_unlock(&m->lock);
}

static bool is_finalize(const struct event *e)
{
	return e->schema->function_length == 12 && memcmp(e->schema->function, "MPI_Finalize", 12) == 0;
}

static bool others_ended(const struct team *m, const struct member *k)
{
	for (int i = 0; i < m->count; i++)
		if (&m->members[i] != k && !m->members[i].ended)
			return false;
	return true;
}

/* What keeps it from making its event: enum need, or NEED_TURN. */
static int what(const struct team *m, const struct member *k)
{
	if (m->weave && m->woven && m->next.stream != k->stream)
		return NEED_TURN;
	if (is_finalize(k->event) && !others_ended(m, k))
		return NEED_CERTAIN;
	return (int)needs_what(m->needs, k->stream, k->event);
}

/* If all wait, and for what does not come: the one that waits for the least. */
static void choose(struct team *m)
{
	struct member *best = NULL;
	int least = INT_MAX;

	for (int i = 0; i < m->count; i++) {
		struct member *k = &m->members[i];

		if (k->ended)
			continue;
		if (!k->waiting || k->chosen || what(m, k) == NEED_NOTHING)
			return;
		if (what(m, k) < least) {
			least = what(m, k);
			best = k;
		}
	}
	if (best) {
		best->chosen = true;
		pthread_cond_broadcast(&m->changed);
	}
}

/* The members before have made their first calls. */
static void in_turn(struct team *m)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += FIRST_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	for (struct member *k = me - 1; me > m->members && !k->begun && !k->ended;)
		if (pthread_cond_timedwait(&m->changed, &m->lock, &until) != 0)
			break;
}

void team_enter(struct team *m, const struct event *e)
{
	team_lock(m);
	if (!me->begun && me > m->members && !m->weave)
		in_turn(m);
	me->event = e;
	while (what(m, me) != NEED_NOTHING && !me->chosen) {
		me->waiting = true;
		choose(m);
		if (!me->chosen)
			pthread_cond_wait(&m->changed, &m->lock);
		me->waiting = false;
	}
	me->chosen = false;
	if (!me->begun && m->weave)
		in_turn(m);
	if (m->weave && m->woven && m->next.stream == me->stream) {
		struct error error;

		go_on(m, &error);
		pthread_cond_broadcast(&m->changed);
	}
	if (needs_ends(e)) { /* nobody takes it from now on */
		needs_take(m->needs, me->stream, e);
		pthread_cond_broadcast(&m->changed);
	}
	team_unlock(m);
}

void team_leave(struct team *m, const struct event *e)
{
	team_lock(m);
	if (!needs_ends(e))
		needs_take(m->needs, me->stream, e);
	me->begun = true;
	pthread_cond_broadcast(&m->changed);
	team_unlock(m);
}

void team_leave_all(struct team *m)
{
	team_lock(m);
	me->ended = true;
	choose(m);
	pthread_cond_broadcast(&m->changed);
	while (!others_ended(m, me) && me > m->members) { /* a thread that is gone leaves its number to the next one */
		bool further = true;

		for (int i = 1; i < m->count; i++)
			further &= m->members[i].ended;
		if (further)
			break;
		pthread_cond_wait(&m->changed, &m->lock);
	}
	team_unlock(m);
}

/* ---- objects ---- */

struct object *team_object(struct team *m, enum play_kind kind, int64_t v)
{
	struct object *found = NULL;

	team_lock(m);
	for (int i = 0; i < m->count && !found; i++) {
		struct play *p = m->members[i].play;
		struct object *o = p && v >= 0 && (uint64_t)v < p->tables[kind].count ? p->tables[kind].items[v] : NULL;

		if (o && o->handle)
			found = o;
	}
	team_unlock(m);
	return found;
}

struct entry *team_entry(struct team *m, uint32_t thread, uint32_t number)
{
	struct entry *found = NULL;

	team_lock(m);
	for (int i = 0; i < m->count && !found; i++) {
		struct play *p = m->members[i].play;

		if (p && stream_thread(m->trace, p->stream) == thread && number < p->tables[PLAY_REQUEST].count)
			found = p->tables[PLAY_REQUEST].items[number];
	}
	team_unlock(m);
	return found;
}
