/* SPDX-License-Identifier: BSD-3-Clause
 * call - one MPI call becomes an event
 */
#include "preload/call.h"

#include <errno.h>

#include "preload/absence.h"
#include "preload/caller.h"
#include "preload/cost.h"
#include "preload/detail.h"
#include "preload/left.h"
#include "preload/lock.h"
#include "preload/site.h"
#include "preload/pool.h"
#include "preload/shortage.h"
#include "preload/stand_in.h"
#include "preload/session.h"
#include "preload/thread.h"
#include "trace/record/record_class.h"

_Static_assert(offsetof(struct recorder, head) == 0, "call_constant finds the constants without knowing more");
static struct record_edge no_edge = {.to = UINT32_MAX};
struct site call_nowhere = {.id = UINT32_MAX, .last_edge = &no_edge, .successor = {.expect = VALUE_NONE}};
__thread struct recording recording __attribute__((tls_model("initial-exec")));

/* The slow way into the arena. A call from a signal handler that comes inside is passed on and counted, not recorded;
 * on the fast way the thread is not `ready` then. False: another thread is there (lock.h). */
static bool enter_recorder(struct recorder *r)
{
	recording.busy = true;
	arena_barrier();
	if (r->shared && !recording.locked)
		recording.busy = recording.locked = lock_take(&r->lock);
	return recording.busy;
}

/* In a call that began: before MPI is initialised, others are in short steps. */
static void enter_recorder_again(struct recorder *r)
{
	while (!enter_recorder(r))
		;
}

static void leave_recorder(struct recorder *r)
{
	if (recording.locked) { /* not r->shared: that may end in between */
		recording.locked = false;
		lock_give(&r->lock);
	}
	arena_barrier();
	recording.busy = false;
}

/* May the site of a call be brief? Not where more is kept of a visit, where two values may be too many, or where it
 * could become no struct site when the call is complete. */
static bool may_be_brief(struct recorder *r)
{
	return !r->detail && !r->tolerance && r->columns.threshold >= BRIEF_VISITS && arena_room(&r->arena, EVENT_ROOM);
}

/* The site of a call; NULL: nothing more is recorded. brief: it may be a stand-in. */
static struct site *site_slowly(struct recorder *r, uint32_t function, void *return_address, void *cfa, bool brief)
{
	int saved = errno;
	uint64_t begin = clock_ticks();
	if (r->columns.failed) {
		r->record->lost++;
		return NULL;
	}
	shortage_make_room(r);
	if (r->detail || !clock_is_counter) /* so that the next one comes here, too */
		arena_notice(&r->arena);
	if (__atomic_exchange_n(&r->unloaded, false, __ATOMIC_ACQ_REL)) {
		memo_clear(&r->memo);
		ignored_forget(r->ignored);
		shortage_forget(r);
	}
	void *known = memo_asks(&r->memo) ? memo_find(&r->memo, function, return_address, cfa)
	                                  : shortage_known_site(r, function, return_address);
	struct site *s = known ? site_known(r, function, known, brief) : NULL;
	if (s && s == known) {
		r->before = clock_ticks() - begin;
	} else {
		if (!s && (!shortage_cuts_paths(r) || shortage_may_unwind(r)))
			s = site_unwind(r, function, return_address, cfa, brief);
		if (!s && !r->memo.rarely && shortage_frames(r) > 1)
			s = site_unwind_cut(r, function, return_address, cfa);
		if (!s)
			s = shortage_site(r, function, return_address);
		r->before = 0;
		if (!r->detail)
			cost_own(r, clock_ticks() - begin);
	}
	if (!s)
		r->record->lost++;
	errno = saved;
	return s;
}

/* Is the call one of the thread's whose turn it is, or may it take the turn? */
static bool has_turn(struct recorder *r, const struct recording *me, enum mpi_number f)
{
	if (__builtin_expect(__atomic_load_n(&r->turns, __ATOMIC_RELAXED), 0))
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see thread_turn */
	const struct recording *turn = __atomic_load_n(&r->turn, __ATOMIC_RELAXED);
	if (__builtin_expect(turn == me, 1))
		return true;
	if (turn && mpi_functions[f].any_thread) /* no event then */
		return false;
	if (thread_turn(r))
		return true;
	__atomic_fetch_add(&r->record->lost, 1, __ATOMIC_RELAXED);
	return false;
}

/* The same while MPI is not initialised and all threads share the recorder. Who initialises MPI has the turn from then
 * on: what another thread asks meanwhile might end when nobody shares it any more. */
static bool may_share(struct recorder *r, struct recording *me, enum mpi_number f)
{
	if (mpi_initializes(&mpi_functions[f]))
		__atomic_store_n(&r->turn, me, __ATOMIC_RELAXED);
	const struct recording *turn = __atomic_load_n(&r->turn, __ATOMIC_RELAXED);
	return !turn || turn == me || !mpi_functions[f].any_thread;
}

/* The recorder of a call that the thread is not ready for; NULL: the call is not recorded. *entry: when it was made. */
static struct recorder *recorder_for(struct recording *me, bool ready, enum mpi_number f, void *return_address,
                                     void *cfa, uint64_t *entry)
{
	struct recorder *r = __atomic_load_n(&recorder_current, __ATOMIC_ACQUIRE);
	bool known = me->known != NULL;
	*entry = clock_ticks();
	if (!r) {
		if (!session_wake())
			return NULL;
		r = __atomic_load_n(&recorder_current, __ATOMIC_ACQUIRE);
		if (!r)
			return NULL;
		*entry = clock_ticks(); /* it may be another clock */
	}
	if (!r->arena.mind->ours) {
		session_forked();
		return NULL;
	}
	if (thread_several) {
		struct recorder *mine = thread_recorder();
		if (!mine) {
			__atomic_fetch_add(&r->record->lost, 1, __ATOMIC_RELAXED);
			return NULL;
		}
		r = mine;
	}
	/* A signal handler interrupted the recorder; or left it by longjmp, and what it was about to write is half
	 * there. Which of the two, nobody can tell on all stacks. */
	if (!ready && (me->busy || (known && me->known == r && !me->frame && !r->shared))) {
		__atomic_fetch_add(&r->record->lost, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	if (!thread_several && !(r->shared ? may_share(r, me, f) : has_turn(r, me, f))) {
		me->ready = ready ? r : NULL;
		return NULL;
	}
	if (ready)
		return r;
	bool passed_on = false;
	if (me->frame && enter_recorder(r)) {
		left_look(r, return_address, cfa, *entry);
		passed_on = me->frame && caller_passes_on(&r->path);
		leave_recorder(r);
	}
	return passed_on ? NULL : r;
}

static inline __attribute__((always_inline)) bool begin_at(struct call *c, struct recorder *r, struct site *s,
                                                           void *cfa)
{
	struct record *record = r->record;
	record->at.in_flight = s->self;
	c->site = s;
	c->self_unusual = s->self_unusual;
	arena_barrier();
	recording.frame = cfa;
	record->since = c->start = clock_counter(); /* there is one: site_slowly sees to it */
	return true;
}

static inline __attribute__((always_inline)) bool begin_found(struct call *c, struct recorder *r, struct memo_entry *e,
                                                              void *cfa)
{
	return begin_at(c, r, memo_follow(&r->memo, e), cfa);
}

/* A call that is not what the memo thinks comes next (but maybe what did before), or that the thread was not ready for:
 * its first one, one inside of another (in a callback, a signal handler), or before MPI was initialised. */
bool call_begin_slowly(struct call *c, enum mpi_number f, void *return_address, void *cfa)
{
	struct recording *me = &recording;
	uint64_t entry;
	struct recorder *r = c->rec; /* when threads share one, there is none */
	struct memo_entry *e = r && r->arena.mind->calm ? memo_other(&r->memo, f, return_address, cfa) : NULL;
	if (e)
		return begin_found(c, r, e, cfa);
	r = recorder_for(me, r != NULL, f, return_address, cfa, &entry);
	if (!r)
		return false;
	*c = (struct call){.rec = r,
	                   .slow = me->frame || r->shared,
	                   .level = (short)me->depth,
	                   .outer_frame = me->frame,
	                   .detail = r->detail != NULL,
	                   .asks = !clock_is_counter,
	                   .entry = entry};
	if (!me->known && !r->shared) {
		me->known = r;
		thread_uses(r);
	}
	if (!enter_recorder(r)) {
		__atomic_fetch_add(&r->record->lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	r->record->passed.stamp = 0;
	if (c->detail)
		detail_enter(r);
	c->site = site_slowly(r, f, return_address, cfa, !c->slow && may_be_brief(r));
	if (c->site) {
		if (me->frame)
			left_nest(r);
		c->outer = r->record->at.in_flight;
		r->record->at.in_flight = c->site->self;
	}
	leave_recorder(r);
	if (!c->site) {
		if (!c->slow)
			me->ready = r;
		return false;
	}
	if (me->frame)
		me->depth++;
	me->frame = cfa;
	if (c->detail)
		detail_begin(r, c);
	r->record->since = c->start = clock_ticks();
	if (!c->slow)
		absence_before(r, c);
	return true;
}

/* Calls from so many frames: see memo_ways. */
#define WAY(name, pairs)                                                                                      \
	static bool name(void *c, uint32_t f, void *return_address, void *cfa, void *r, struct memo_entry *e) \
	{                                                                                                     \
		return __builtin_expect(memo_is_next(e, f, return_address, cfa, (pairs)), 1) &&               \
		       begin_found(c, r, e, cfa);                                                             \
	}
WAY(begin_0, 0)
WAY(begin_1, 1)
WAY(begin_2, 2)
WAY(begin_3, 3)
WAY(begin_4, 4)
WAY(begin_5, 5)
WAY(begin_6, 6)
WAY(begin_7, 7)
WAY(begin_8, 8)
WAY(begin_9, 9)
WAY(begin_10, 10)
WAY(begin_11, 11)
WAY(begin_12, 12)
WAY(begin_deep, e->pairs)

/* Call paths are cut, and hardly any is known: the call by its address alone. */
static bool begin_cut(void *c, uint32_t f, void *return_address, void *cfa, void *context, struct memo_entry *e)
{
	struct recorder *r = context;
	if (__builtin_expect(!memo_rarely(&r->memo) || !r->shortage, 0))
		return false;
	struct site *s = shortage_site_at(r->shortage, f, return_address);
	(void)e;
	return s && begin_at(c, r, s, cfa);
}

memo_way *const memo_ways[MEMO_RARE + 1] = {begin_0,  begin_1,  begin_2,  begin_3,    begin_4,
                                            begin_5,  begin_6,  begin_7,  begin_8,    begin_9,
                                            begin_10, begin_11, begin_12, begin_deep, begin_cut};

/* It calls nothing, so that it needs no registers saved: whatever is unusual is done all over by the slow way. */
bool call_begin_at(struct call *c, enum mpi_number f, void *return_address, void *cfa)
{
	struct recorder *r = recording.ready;
	c->rec = r; /* the slow way's: whether the thread was ready */
	if (__builtin_expect(!r, 0))
		return false;
	recording.ready = NULL;
	arena_barrier(); /* only now: see thread_turn */
	if (__builtin_expect(!r->arena.mind->calm, 0))
		return false;
	struct memo_entry *e = memo_next(&r->memo);
	return e->way(c, f, return_address, cfa, r, e);
}

/* A call that began while MPI was not initialised, in another thread than the one that did that meanwhile: it is this
 * thread's own event, without its call path. */
static __attribute__((noinline, cold)) struct recorder *adopt(struct call *c)
{
	struct recorder *r = thread_recorder();
	if (!r)
		return c->rec;
	enter_recorder(r); /* it is not shared */
	shortage_make_room(r);
	uint32_t function =
		shortage_is_counter(c->site) ? c->site->function : site_function_of(c->rec, c->site->function);
	struct site *s = site_get(r, function, 0);
	if (!s)
		s = shortage_site(r, function, NULL);
	leave_recorder(r);
	if (!s)
		return c->rec;
	c->rec = r;
	c->site = s;
	c->outer = 0;
	return r;
}

bool call_end_slowly(struct call *c, int rc)
{
	struct recorder *r = c->rec;
	c->end = clock_ticks();
	recording.frame = NULL;
	if (__builtin_expect(thread_several && recording.known != r, 0)) {
		r = adopt(c);
		c->detail = c->detail && r->detail;
	}
	if (c->late)
		absence_behind(r, c);
	if (c->detail)
		detail_end(r, c);
	if (c->slow)
		enter_recorder_again(r);
	if (rc != 0) {
		struct site *s =
			shortage_is_counter(c->site) ? c->site : site_of_error(r, c->site->function, c->site->path);
		c->failed = s != NULL;
		if (s)
			c->site = s;
		else
			r->columns.failed = true; /* not even memory to count it: nothing more is recorded */
	}
	r->record->at.in_flight = c->site->self;
	c->start |= CALL_SLOWLY;
	return rc == 0;
}

/* The same, as the last thing that is done: nothing has to be saved for it. */
static __attribute__((noinline, cold)) void sample_last(struct recorder *r, const struct call *c)
{
	cost_sample(r, c);
	recording.ready = r;
}

/* The event counts from here on. The order matters: see record.h. True: it is time for a sample. */
static inline bool count_event(struct recorder *r, struct site *s, const struct call *c)
{
	struct record *record = r->record;
	record->since = r->last_end = c->end + s->cost;
	r->last = s;
	arena_barrier();
	s->visits++;
	arena_barrier();
	record_at_set(&record->at, s->self, 0);
	arena_barrier();
	record->events++;
	arena_barrier();
	return record->events >= r->sample_at;
}

/* Says what follows the last event. Returns the edge; NULL: there is none, or the time is where it belongs. */
static struct record_edge *follow_last(struct recorder *r, const struct site *s, uint64_t compute)
{
	struct site *last = r->last;
	if (last == &call_nowhere) {
		r->record->first = s->self;
		return NULL;
	}
	if (stand_in_is(r, last))
		last = stand_in_follow(r, last, s, compute);
	if (!last)
		return NULL;
	cell_put(&r->columns, &last->successor, last->visits - 1, s->id);
	struct record_edge *e = r->columns.failed ? NULL : site_edge(r, last, s->id);
	if (e)
		record_edge_add(&r->columns, e, compute, s->visits);
	else
		r->record->loose_ticks += compute;
	return e;
}

static void commit_event(struct recorder *r, struct call *c)
{
	uint64_t compute = clock_between(r->last_end, c->detail ? c->entry : c->start),
		 communicate = c->end > c->start ? c->end - c->start : 0;
	struct site *s = c->site;
	struct record_edge *e = follow_last(r, s, compute);
	absence_between(r, c, compute);
	if (r->columns.failed) {
		r->record->lost++;
		return;
	}
	if (stand_in_is(r, s))
		stand_in_count(r, s);
	else
		time_cell_add(&r->arena, &s->communicate, record_no_times(&r->arena), communicate, s->visits);
	if (c->detail)
		detail_commit(r, c, e, communicate);
	if (count_event(r, s, c))
		cost_sample(r, c);
	if (c->detail)
		detail_leave(r, c);
}

static __attribute__((noinline)) void commit_slowly(struct call *c)
{
	struct recorder *r = c->rec;
	c->start &= ~CALL_SLOWLY;
	if (stand_in_is(r, c->site))
		c->site = stand_in_take(r, c->site, c->end > c->start ? c->end - c->start : 0);
	if (!c->site)
		r->record->lost++;
	else if (shortage_is_counter(c->site))
		shortage_count_call(r, c);
	else
		commit_event(r, c);
	if (c->late)
		absence_after(r, c);
	if (!c->slow) {
		recording.ready = r;
		return;
	}
	r->record->at.in_flight = c->outer;
	recording.frame = c->outer_frame;
	recording.depth = c->level;
	leave_recorder(r);
	if (!c->outer_frame && !r->shared && __atomic_load_n(&recorder_current, __ATOMIC_ACQUIRE))
		recording.ready = r;
}

/* After an event that had successors, but no memory for an edge: in a program with too many call paths. Its successors
 * may be in no order. At a site that only counts no time is plain. */
static __attribute__((noinline)) void commit_loosely(struct call *c)
{
	struct recorder *r = c->rec;
	struct site *s = c->site, *last = r->last;
	uint64_t compute = clock_between(r->last_end, c->start), communicate = c->end - c->start;
	struct record_time *call = s->communicate.at;
	if (last->edges || !record_time_plain(call, communicate) ||
	    (last->successor.expect != s->id && !cell_wait(r->arena.base, &last->successor, last->visits - 1, s->id))) {
		commit_slowly(c);
		return;
	}
	r->record->loose_ticks += compute;
	record_time_count(call, communicate);
	if (__builtin_expect(count_event(r, s, c), 0))
		cost_sample(r, c);
	recording.ready = r;
}

/* As call_begin_at: first everything is looked at, then everything is changed, or nothing. */
void call_commit(struct call *c)
{
	struct recorder *r = c->rec;
	struct site *s = c->site, *last = r->last;
	struct record_edge *e = last->last_edge;
	if (__builtin_expect(last->successor.expect != s->id || e->to != s->id, 0)) {
		commit_loosely(c);
		return;
	}
	/* where the clock went backwards, the difference is not plain */
	uint64_t compute = clock_between(r->last_end, c->start), communicate = c->end - c->start;
	struct record_time *edge = e->compute.at, *call = s->communicate.at;
	if (__builtin_expect(!record_time_plain(edge, compute) || !record_time_plain(call, communicate), 0)) {
		commit_slowly(c);
		return;
	}
	e->compute.few[0]++;
	arena_barrier();
	record_time_count(edge, compute);
	arena_barrier(); /* one after the other, in few registers: none has to be saved */
	record_time_count(call, communicate);
	arena_barrier();
	/* r and s are looked at again, rather than kept */
	r = c->rec;
	if (__builtin_expect(count_event(r, c->site, c), 0)) {
		sample_last(r, c);
		return;
	}
	recording.ready = r;
}
