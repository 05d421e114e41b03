/* SPDX-License-Identifier: BSD-3-Clause
 * thread - the recorders of a rank's further threads
 *
 * Recorders are never destroyed: another thread may be in one whenever the process ends recording.
 */
#include "preload/thread.h"

#include <pthread.h>
#include <stdio.h>

#include "preload/clock.h"
#include "preload/detail.h"
#include "preload/left.h"
#include "preload/lock.h"
#include "preload/recorder.h"
#include "preload/recorder_internal.h"
#include "preload/stack.h"
#include "trace/base/limits.h"
#include "trace/base/quiet.h"

bool thread_several;

static struct {
	/* by number; [0] is not used. Atomic; NULL: it is being made, or cannot be */
	struct recorder *recorder[THREADS_MAX];
	bool taken[THREADS_MAX]; /* atomic: by a living thread */
	uint32_t count;          /* atomic; numbers that were ever taken, and 0 */
	char prefix[1200];
	void (*joined)(uint32_t thread);
	uint64_t memory; /* bytes that the arenas may still take together */
	struct error error;
	bool failed, failing; /* atomic: `error` is there, is being written */
	struct lock lock;     /* of turns */
} all = {.count = 1};

static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

/* Also in the last moments of a child of fork, where the lock may be held by nobody: there is no recorder_current then.
 * */
static void end_thread(void *recorder)
{
	struct recorder *r = recorder;
	bool records = __atomic_load_n(&recorder_current, __ATOMIC_ACQUIRE) != NULL,
	     is_half = recording.known == r && (recording.busy || (!recording.ready && !recording.frame));
	if (records && is_half) {
		/* A handler of a signal ended the thread while it recorded. What is half there stays so. */
		r->columns.failed = true;
		r->record->lost++;
	} else if (records && recording.known == r) {
		left_thread_ends(r);
	}
	recording = (struct recording){.ready = NULL};
	if (!records)
		return;
	lock_await(&all.lock);
	if (r->turn == &recording)
		r->turn = NULL;
	lock_give(&all.lock);
	if (r->record->thread == 0) {
		/* its stack may become another thread's */
		__atomic_store_n(&r->unloaded, true, __ATOMIC_RELEASE);
		arena_notice(&r->arena);
		return;
	}
	if (!is_half)
		__atomic_store_n(&all.taken[r->record->thread], false, __ATOMIC_RELEASE);
}

static void make_key(void)
{
	have_key = !pthread_key_create(&at_thread_end, end_thread);
}

/* Of a process without further threads in MPI no key is taken: its first thread's memory is there to the end, and so is
 * its stack. What it leaves by pthread_exit stays under way in the trace. */
void thread_uses(struct recorder *r)
{
	struct limits limits;
	if (!have_key)
		limits_read(&limits);
	/* below a filter of system calls, who asks which thread it is may be killed */
	if (!have_key && !limits.filtered && stack_is_first_thread())
		return;
	pthread_once(&once, make_key);
	if (have_key)
		pthread_setspecific(at_thread_end, r);
}

void thread_begin(const char *prefix, void (*joined)(uint32_t thread))
{
	struct recorder *r = recorder_current;
	if (thread_several || !r)
		return;
	snprintf(all.prefix, sizeof all.prefix, "%s", prefix);
	all.joined = joined;
	joined(0);
	all.memory = r->arena.size > r->arena.header->size ? r->arena.size - r->arena.header->size : 0;
	r->arena.shared = &all.memory;
	__atomic_store_n(&thread_several, true, __ATOMIC_RELEASE);
}

/* A thread's events need less than those of the rank together: a quarter of its memory each, and no more than that in
 * all; but a little each has for sure. */
static struct recorder *make_recorder(uint32_t number, struct error *error)
{
	char path[1300];
	const struct recorder *first = recorder_current;
	thread_arena(number, path, sizeof path);
	struct recorder *r = recorder_create(path, first->arena.size / 4, &all.memory, error);
	if (!r)
		return NULL;
	struct record *record = r->record;
	const struct record *of = first->record;
	r->columns.threshold = record->threshold = of->threshold;
	record->structure = of->structure;
	r->columns.structure = of->structure != 0;
	r->tolerance = first->tolerance;
	r->ignored = ignored_create(ignored_names(first->ignored));
	record->bins = of->bins;
	if (first->detail)
		detail_join(r, first);
	record->rank = of->rank;
	record->size = of->size;
	record->world = of->world;
	record->thread = number;
	/* one clock for all threads of the rank, also if it is killed: what is a tick is the same in all of them, or
	 * their times could not be compared */
	for (int i = 0; i < 2; i++) {
		record->clock_ticks[i] = of->clock_ticks[i];
		record->clock_ns[i] = of->clock_ns[i];
	}
	record->realtime_ns = of->realtime_ns;
	r->shared = false;
	arena_barrier();
	record->state = RECORD_INITIALIZED;
	return r;
}

/* The first one to fail says why. */
static void tell_failure(const struct error *error)
{
	if (__atomic_exchange_n(&all.failing, true, __ATOMIC_RELAXED))
		return;
	all.error = *error;
	__atomic_store_n(&all.failed, true, __ATOMIC_RELEASE);
}

/* The lowest number that nobody has. */
static uint32_t take_number(uint32_t most)
{
	uint32_t n = 1, count = __atomic_load_n(&all.count, __ATOMIC_RELAXED);
	while (n < most && __atomic_exchange_n(&all.taken[n], true, __ATOMIC_ACQUIRE))
		n++;
	while (n < most && count <= n &&
	       !__atomic_compare_exchange_n(&all.count, &count, n + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return n;
}

/* The free one with the lowest number, or a new one. No thread waits for another one that makes its own. The number of
 * one that cannot be made stays taken: nobody tries that again. */
static struct recorder *take_recorder(void)
{
	const uint32_t size = recorder_current->record->size,
		       most = THREADS_MAX < INT32_MAX / size ? THREADS_MAX : INT32_MAX / size;
	struct error error = {""};
	uint32_t n = take_number(most);
	struct recorder *r = n < most ? __atomic_load_n(&all.recorder[n], __ATOMIC_ACQUIRE) : NULL;
	if (r)
		return r;
	if (n >= most)
		error_set(&error, "more than %u threads in MPI: the calls of further ones are not recorded", n - 1);
	else if ((r = make_recorder(n, &error)))
		__atomic_store_n(&all.recorder[n], r, __ATOMIC_RELEASE);
	if (!r)
		tell_failure(&error);
	return r;
}

struct recorder *thread_recorder(void)
{
	struct recording *me = &recording;
	if (me->known || me->refused)
		return me->known;
	struct quiet before = quiet_begin();
	me->busy = true; /* a call from a signal handler must not come here again */
	struct recorder *r = take_recorder();
	if (r) { /* what the last thread left, and where: nothing of it is this one's */
		memo_clear(&r->memo);
		r->record->at.in_flight = 0;
		r->last_end = clock_ticks();
		arena_notice(&r->arena);
		thread_uses(r);
		all.joined(r->record->thread);
	}
	me->known = r;
	me->refused = !r;
	me->busy = false;
	quiet_end(before);
	return r;
}

/* What other processors were about to write is written: they need some ns for that, and are given 1 us. They would have
 * to pay for a fence at each event, and a system call that fences them may be forbidden. */
static void let_others_write(void)
{
	enum { WRITTEN_NS = 1000 };
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint64_t end = clock_ns(CLOCK_MONOTONIC) + WRITTEN_NS; clock_ns(CLOCK_MONOTONIC) < end;)
		;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Whoever begins an event says so, by not being `ready`, and asks after that: the fast way whether there is something
 * not calm, the slow way whose turn it is. Here it is the other way round. So one of two threads sees the other. Once
 * turns are taken all come by the slow way, which has a fence then: nobody has to wait. */
static bool take_turn(struct recorder *r)
{
	struct recording *me = &recording, *other = r->turn;
	if (other == me)
		return true;
	bool all_ask = !__atomic_exchange_n(&r->arena.mind->calm, false, __ATOMIC_SEQ_CST) && r->turns;
	__atomic_store_n(&r->turns, true, __ATOMIC_RELAXED);
	__atomic_store_n(&r->turn, me, __ATOMIC_SEQ_CST);
	if (!other)
		return true;
	if (!all_ask)
		let_others_write();
	if (__atomic_load_n(&other->ready, __ATOMIC_ACQUIRE))
		return true;
	__atomic_store_n(&r->turn, other, __ATOMIC_RELAXED);
	return false;
}

bool thread_turn(struct recorder *r)
{
	struct recording *me = &recording;
	pthread_once(&once, make_key);
	if (!have_key) /* nobody would say that a thread has ended, and its turn with it */
		return false;
	struct quiet before = quiet_begin();
	me->busy = true; /* a call from a signal handler must not come here again */
	bool taken = false;
	if (lock_take(&all.lock)) {
		taken = take_turn(r);
		lock_give(&all.lock);
	}
	me->busy = false;
	quiet_end(before);
	return taken;
}

struct recorder *thread_at(uint32_t n)
{
	if (n == 0)
		return recorder_current;
	return n < thread_count() ? __atomic_load_n(&all.recorder[n], __ATOMIC_ACQUIRE) : NULL;
}

uint32_t thread_count(void)
{
	return __atomic_load_n(&all.count, __ATOMIC_ACQUIRE);
}

void thread_arena(uint32_t n, char *path, size_t size)
{
	snprintf(path, size, "%s%u.arena", all.prefix, n);
}

const char *thread_failed(void)
{
	return __atomic_load_n(&all.failed, __ATOMIC_ACQUIRE) ? all.error.text : NULL;
}
