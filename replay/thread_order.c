/* SPDX-License-Identifier: BSD-3-Clause
 * thread_order - the threads of a rank, and what they wait for
 */
#include "replay/thread_order.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay/thread_check.h"
#include "trace/base/index.h"
#include "trace/read/dependencies.h"
#include "trace/model/stream.h"
#include "trace/read/interleave.h"

/* So long a thread waits for the first call of the one before, which may be waiting for this one. */
#define FIRST_MS 300
/* Where the order is known: it is another thread's turn. More than anything of trace/read/dependencies.h. */
#define DEPENDENCY_TURN (DEPENDENCY_CERTAIN + 1)

struct thread {
	uint32_t stream;
	const struct event *event; /* that it waits to make, or makes */
	uint64_t until;            /* where the order is known: it is making a call that ended then; UINT64_MAX: none */
	bool waiting, chosen, begun, ended;
};

struct thread_order {
	const struct trace *trace;
	struct dependencies *dependencies;
	struct thread *threads; /* the first is thread 0 */
	int count;
	struct interleave *interleave; /* if the order is known: */
	struct interleaved next;       /* whose event is next */
	bool has_next;                 /* there is a next one */
	struct shared_object *shared;  /* while learning */
	size_t shared_count, shared_capacity;
	struct index index;
	struct handles_group handles;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};
static _Thread_local struct thread *own_thread;

/* ---- objects whose numbers are used again ---- */

/* The objects that had a number, one after the other. If several threads made them, or several others used them, it is
 * not known which one is meant. */
struct shared_object {
	uint64_t key;
	uint64_t made;
	uint32_t maker, user; /* the first ones; UINT32_MAX: none */
	bool makers, users;   /* there are others */
	uint32_t owner;       /* while a stream is looked at: it made it */
};

static bool shared_object_equal(const void *context, uint32_t i)
{
	const struct {
		const struct thread_order *m;
		uint64_t key;
	} *k = context;
	return k->m->shared[i].key == k->key;
}

static struct shared_object *shared_object(struct thread_order *m, uint64_t key)
{
	const struct {
		const struct thread_order *m;
		uint64_t key;
	} context = {m, key};
	uint32_t i = index_find(&m->index, hash_mix(3, key), shared_object_equal, &context);
	if (i != INDEX_NONE)
		return &m->shared[i];
	if (m->shared_count == m->shared_capacity) {
		struct shared_object *more = realloc(m->shared, (2 * m->shared_capacity + 64) * sizeof *more);
		if (!more)
			return NULL;
		m->shared = more;
		m->shared_capacity = 2 * m->shared_capacity + 64;
	}
	m->shared[m->shared_count] =
		(struct shared_object){.key = key, .maker = UINT32_MAX, .user = UINT32_MAX, .owner = UINT32_MAX};
	return index_add(&m->index, hash_mix(3, key), (uint32_t)m->shared_count) == 0 ? &m->shared[m->shared_count++]
	                                                                              : NULL;
}

static int see_object(struct thread_order *m, uint32_t stream, char kind, int64_t v, bool made)
{
	if (value_is_constant(v) || v == VALUE_LOSSY || v < 0)
		return 0;
	if (kind == 'r' && v < STREAM_FOREIGN)
		v |= ((int64_t)stream_thread(m->trace, stream) + 1) << 32;
	struct shared_object *s =
		shared_object(m, (uint64_t)(unsigned char)kind << 56 | ((uint64_t)v & (UINT64_MAX >> 8)));
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

static int see_event(struct thread_order *m, uint32_t stream, const struct event *e)
{
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		int64_t v = e->values[i];
		if (!strchr("towfnr", c->kind))
			continue;
		if (!c->vector) {
			if (see_object(m, stream, c->kind, v, dependencies_makes(e, i)) != 0)
				return -1;
			continue;
		}
		const struct pool_item *item =
			value_is_constant(v) || v == VALUE_LOSSY ? NULL : event_vector(m->trace, e, v);
		for (size_t k = 0; item && k + sizeof v <= item->size; k += sizeof v) {
			memcpy(&v, item->bytes + k, sizeof v);
			if (see_object(m, stream, c->kind, v, false) != 0)
				return -1;
		}
	}
	return 0;
}

static int refuse_unclear(const struct thread_order *m, uint32_t rank, struct error *error)
{
	for (size_t i = 0; i < m->shared_count && !m->interleave; i++) {
		const struct shared_object *s = &m->shared[i];
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

static int learn_stream(struct thread_order *m, uint32_t stream, struct error *error)
{
	struct walk *walk;
	struct event e;
	int rv = walk_begin(&walk, m->trace, stream, error);
	for (size_t i = 0; i < m->shared_count; i++)
		m->shared[i].owner = UINT32_MAX;
	while (rv == 0 && (rv = walk_next(walk, &e, error)) == 0)
		if (dependencies_learn(m->dependencies, stream, &e) != 0 || see_event(m, stream, &e) != 0)
			rv = error_set(error, "no memory");
	walk_end(walk);
	return rv < 0 ? -1 : 0;
}

/* The event that is next has begun, or none has yet. */
static int next_interleaved(struct thread_order *m, struct error *error)
{
	int rv = interleave_next(m->interleave, &m->next, error);
	m->has_next = rv == 0;
	return rv < 0 ? -1 : 0;
}

int thread_order_create(struct thread_order **out, const struct trace *t, uint32_t rank, struct error *error)
{
	uint32_t stream, n = 0;
	struct thread_order *m;
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
	pthread_mutex_init(&m->handles.lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	m->trace = t;
	m->dependencies = dependencies_create(t);
	m->threads = calloc(n, sizeof *m->threads);
	if (!m->dependencies || !m->threads)
		rv = error_set(error, "no memory");
	for (uint32_t k = 0; rv == 0 && stream_next(t, rank, &k, &stream); k++) {
		m->threads[m->count++] = (struct thread){.stream = stream, .until = UINT64_MAX};
		rv = learn_stream(m, stream, error);
	}
	if (rv == 0 && thread_check_has_order(t))
		rv = interleave_begin(&m->interleave, t, rank, error) != 0 || next_interleaved(m, error) != 0 ? -1 : 0;
	if (rv == 0)
		rv = refuse_unclear(m, rank, error);
	if (rv != 0)
		thread_order_destroy(m);
	else
		*out = m;
	return rv;
}

void thread_order_destroy(struct thread_order *m)
{
	if (!m)
		return;
	dependencies_destroy(m->dependencies);
	interleave_end(m->interleave);
	index_free(&m->index);
	free(m->shared);
	pthread_mutex_destroy(&m->lock);
	pthread_mutex_destroy(&m->handles.lock);
	pthread_cond_destroy(&m->changed);
	free(m->threads);
	free(m);
}

int thread_order_count(const struct thread_order *m)
{
	return m ? m->count - 1 : 0;
}

uint32_t thread_order_stream(const struct thread_order *m, int i)
{
	return m->threads[i + 1].stream;
}

void thread_order_join(struct thread_order *m, struct live_handles *handles, uint32_t stream)
{
	for (int i = 0; i < m->count; i++)
		if (m->threads[i].stream == stream)
			own_thread = &m->threads[i];
	handles_join(handles, &m->handles, stream_thread(m->trace, stream));
}

static bool others_ended(const struct thread_order *m, const struct thread *k)
{
	for (int i = 0; i < m->count; i++)
		if (&m->threads[i] != k && !m->threads[i].ended)
			return false;
	return true;
}

/* Calls that had ended when the next one began end before it here, too: one that frees an object, say, whose number
 * the next one gives to another. */
static bool others_returned(const struct thread_order *m)
{
	for (int i = 0; i < m->count; i++)
		if (m->threads[i].until < m->next.begin)
			return false;
	return true;
}

/* What keeps it from making its event: enum dependency, or DEPENDENCY_TURN. */
static int need_of(const struct thread_order *m, const struct thread *k)
{
	if (m->interleave && m->has_next && (m->next.stream != k->stream || !others_returned(m)))
		return DEPENDENCY_TURN;
	if (k->event->schema->mpi->function == FN_MPI_Finalize && !others_ended(m, k))
		return DEPENDENCY_CERTAIN;
	return (int)dependencies_of(m->dependencies, k->stream, k->event);
}

/* If all wait, and for what does not come: the one that waits for the least. */
static void choose_thread(struct thread_order *m)
{
	struct thread *best = NULL;
	int least = INT_MAX;
	for (int i = 0; i < m->count; i++) {
		struct thread *k = &m->threads[i];
		if (k->ended)
			continue;
		if (!k->waiting || k->chosen || need_of(m, k) == DEPENDENCY_NONE)
			return;
		if (need_of(m, k) < least) {
			least = need_of(m, k);
			best = k;
		}
	}
	if (best) {
		best->chosen = true;
		pthread_cond_broadcast(&m->changed);
	}
}

/* The threads before have made their first calls. */
static void wait_for_first_calls(struct thread_order *m)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += FIRST_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	for (struct thread *k = own_thread - 1; own_thread > m->threads && !k->begun && !k->ended;)
		if (pthread_cond_timedwait(&m->changed, &m->lock, &until) != 0)
			break;
}

void thread_order_before(struct thread_order *m, const struct event *e)
{
	assert(own_thread && !own_thread->ended);
	pthread_mutex_lock(&m->lock);
	if (!own_thread->begun && own_thread > m->threads && !m->interleave)
		wait_for_first_calls(m);
	own_thread->event = e;
	while (need_of(m, own_thread) != DEPENDENCY_NONE && !own_thread->chosen) {
		own_thread->waiting = true;
		choose_thread(m);
		if (!own_thread->chosen)
			pthread_cond_wait(&m->changed, &m->lock);
		own_thread->waiting = false;
	}
	own_thread->chosen = false;
	if (!own_thread->begun && m->interleave)
		wait_for_first_calls(m);
	if (m->interleave && m->has_next && m->next.stream == own_thread->stream) {
		struct error error;
		own_thread->until = m->next.end;
		next_interleaved(m, &error);
		pthread_cond_broadcast(&m->changed);
	}
	if (dependencies_ends(e)) { /* nobody takes it from now on */
		dependencies_take(m->dependencies, own_thread->stream, e);
		pthread_cond_broadcast(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
}

void thread_order_after(struct thread_order *m, const struct event *e)
{
	pthread_mutex_lock(&m->lock);
	assert(own_thread->event == e);
	if (!dependencies_ends(e))
		dependencies_take(m->dependencies, own_thread->stream, e);
	own_thread->begun = true;
	own_thread->until = UINT64_MAX;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

void thread_order_end(struct thread_order *m)
{
	pthread_mutex_lock(&m->lock);
	own_thread->ended = true;
	choose_thread(m);
	pthread_cond_broadcast(&m->changed);
	while (!others_ended(m, own_thread) &&
	       own_thread > m->threads) { /* a thread that is gone leaves its number to the next one */
		bool further = true;
		for (int i = 1; i < m->count; i++)
			further &= m->threads[i].ended;
		if (further)
			break;
		pthread_cond_wait(&m->changed, &m->lock);
	}
	pthread_mutex_unlock(&m->lock);
}
