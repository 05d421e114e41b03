/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * Resolving an array walks each list once, by a cursor in the slot that is valid for this array only (its epoch).
 */
#include "preload/request.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/limits.h"
#include "trace/base/quiet.h"

struct request_table request_table = {.base = REQUEST_NO_BASE};

#define THREADS 4096 /* thread.h */
static struct request_table *tables[THREADS] = {
	&request_table}; /* atomic; by thread, NULL from the first on that has none */
static bool locks_only;  /* the system has no barrier for all threads (begin_alone), or may not be asked for it */
static __thread struct request_table *mine __attribute__((tls_model("initial-exec")));

static inline struct request_table *own_table(void)
{
	return __builtin_expect(handle_locking, 0) && mine ? mine : &request_table;
}

/* What handle_locking changes: all is done slowly, and each request has a node. */
static void stop_fast(struct request_table *t);

/* A table's owner takes no lock as long as no other thread has looked in it: it says that it is in it (`busy`), and
 * sees that it is alone (not `shared`). The first other thread makes it shared, which it is from then on, and waits
 * until the owner is out. The store and the load of the owner are in this order for the other thread because of the
 * barrier that the system makes in all threads of the process, so that the owner needs none. */
static bool begin_alone(struct request_table *t)
{
	__atomic_store_n(&t->busy, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(!__atomic_load_n(&t->shared, __ATOMIC_ACQUIRE), 1))
		return true;
	__atomic_store_n(&t->busy, false, __ATOMIC_RELEASE);
	return false;
}

/* A barrier in all threads of the process. Where a filter (of a later day than request_thread) may not let it through,
 * time does: what a CPU has stored, the others see long before. */
static void barrier_all_threads(void)
{
	struct limits limits;

	limits_read(&limits);
	while (!limits.filtered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) && errno == ENOMEM)
		sched_yield();
	if (limits.filtered)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* What is done under the lock takes less than going to sleep does. */
static __attribute__((noinline)) void lock_shared(struct request_table *t)
{
	struct quiet before = quiet_begin();

	while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	if (t != mine && !t->shared) {
		__atomic_store_n(&t->shared, true, __ATOMIC_SEQ_CST);
		barrier_all_threads();
		while (__atomic_load_n(&t->busy, __ATOMIC_ACQUIRE))
			sched_yield();
	}
	quiet_end(before);
}

static inline void lock_table(struct request_table *t)
{
	if (__builtin_expect(handle_locking, 0)) {
		if (t != mine || !begin_alone(t))
			lock_shared(t);
		if (t->fast)
			stop_fast(t);
	}
}

static inline void unlock_table(struct request_table *t)
{
	if (__builtin_expect(handle_locking, 0)) {
		if (t == mine && t->busy)
			__atomic_store_n(&t->busy, false, __ATOMIC_RELEASE);
		else
			__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
	}
}

void request_thread(uint32_t thread)
{
	struct request_table *t = thread < THREADS ? tables[thread] : NULL;
	int saved = errno;
	struct limits limits;

	if (thread == 0) {
		limits_read(&limits);
		t->shared = locks_only = limits.filtered ||
		                         syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
	}
	if (!t && thread < THREADS) {
		t = aligned_alloc(_Alignof(struct request_table), sizeof(*t));
		if (t) {
			*t = (struct request_table){.base = REQUEST_NO_BASE, .thread = thread, .shared = locks_only};
			__atomic_store_n(&tables[thread], t, __ATOMIC_RELEASE);
		}
	}
	errno = saved;
	if (t && t->fast)
		stop_fast(t);
	mine = t;
}

/* The table of a thread that may not be the calling one; NULL: there are no further ones. */
static struct request_table *table_of(uint32_t thread)
{
	return thread < THREADS ? __atomic_load_n(&tables[thread], __ATOMIC_ACQUIRE) : NULL;
}

/* Its owner's, for a ref with a number. */
static struct request_table *owner_table(const struct request_ref *ref)
{
	return ref->number >> 32 ? table_of((uint32_t)(ref->number >> 32) - 1) : own_table();
}

/* The number of a request in another thread's events. */
static int64_t number_in(const struct request_table *t, int32_t number)
{
	return t == own_table() || number < 0 ? number : ((int64_t)t->thread + 1) << 32 | number;
}

static inline int32_t first_of(const struct request_slot *s)
{
	return (int32_t)s->number;
}

static inline struct request_slot *find_slot(struct request_table *t, uint64_t key)
{
	if (__builtin_expect(!t->slots, 0))
		return NULL;
	for (size_t i = request_home(t, key) - t->slots;; i = (i + 1) & t->mask) {
		if (t->slots[i].key == key)
			return &t->slots[i];
		if (!t->slots[i].key)
			return NULL;
	}
}

/* The empty slot for a key that is in none. */
static struct request_slot *empty_slot(struct request_table *t, uint64_t key)
{
	struct request_slot *s = request_home(t, key), *at = s;

	while (at->key)
		at = &t->slots[(at - t->slots + 1) & t->mask];
	t->displaced += at != s;
	return at;
}

/* So many at least, for numbers below half of that: the table is never more than half full. */
enum { LEAST_SLOTS = 256, LEAST_NODES = 64 };

static bool grow_slots(struct request_table *t, size_t wanted)
{
	size_t old_count = t->slots ? t->mask + 1 : 0, count = old_count ? old_count : LEAST_SLOTS;
	struct request_slot *old = t->slots, *bigger;

	if (old_count >= wanted)
		return true;
	while (count < wanted)
		count *= 2;
	bigger = calloc(count + 1, sizeof(*bigger));
	if (!bigger)
		return false;
	for (size_t i = 0; i < count; i++)
		bigger[i].number = REQUEST_EMPTY;
	bigger[count].key = 1;
	t->slots = bigger;
	t->mask = count - 1;
	t->shift = 64 - __builtin_ctzl(count);
	t->displaced = 0;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].key)
			*empty_slot(t, old[i].key) = old[i];
	free(old);
	return true;
}

static void remove_slot(struct request_table *t, struct request_slot *s)
{
	size_t hole = s - t->slots;

	t->displaced -= s != request_home(t, s->key);
	for (size_t i = (hole + 1) & t->mask; t->slots[i].key; i = (i + 1) & t->mask) {
		size_t home = request_home(t, t->slots[i].key) - t->slots;

		if (((i - home) & t->mask) >= ((i - hole) & t->mask)) {
			t->slots[hole] = t->slots[i];
			t->displaced -= hole == home;
			hole = i;
		}
	}
	t->slots[hole].key = 0;
	t->slots[hole].number = REQUEST_EMPTY;
}

static bool grow_nodes(struct request_table *t, size_t wanted)
{
	size_t bigger = t->node_count ? t->node_count : LEAST_NODES;
	struct request_node *n;

	if (t->node_count >= wanted)
		return true;
	while (bigger < wanted)
		bigger *= 2;
	n = realloc(t->nodes, bigger * sizeof(*n));
	if (!n)
		return false;
	t->nodes = n;
	t->node_count = bigger;
	return true;
}

/* Puts the word of free numbers back. */
static void put_back(struct request_table *t)
{
	if (t->base == REQUEST_NO_BASE) /* other threads look at thread 0's base: it is not written then */
		return;
	t->numbers.taken[t->base / 64] = ~t->free;
	t->base = REQUEST_NO_BASE;
	t->free = 0;
}

/* Takes the word in which the lowest free numbers are, if there is memory for what they will be used for. */
static void take_out(struct request_table *t)
{
	struct numbering *n = &t->numbers;
	size_t w = n->first, most;

	if (handle_locking)
		return;
	while (w < n->words && n->taken[w] == UINT64_MAX)
		w++;
	most = (w + 1) * 64;
	t->fast = t->slots != NULL;
	if (w >= n->words || !grow_nodes(t, most) || !grow_slots(t, 2 * most))
		return;
	n->first = w;
	t->base = (int64_t)w * 64;
	t->free = ~n->taken[w];
	n->taken[w] = UINT64_MAX;
}

/* A node for the one request with a handle. */
static void need_node(struct request_table *t, const struct request_slot *s)
{
	if (!handle_locking && !(s->number & REQUEST_SHARED))
		t->nodes[first_of(s)] = (struct request_node){-1, (uint8_t)s->traits, false};
}

static void stop_fast(struct request_table *t)
{
	put_back(t);
	t->fast = false;
	for (size_t i = 0; i <= t->mask; i++)
		if (t->slots[i].key && !(t->slots[i].number & REQUEST_SHARED))
			t->nodes[first_of(&t->slots[i])] =
				(struct request_node){-1, (uint8_t)t->slots[i].traits, false};
}

/* The lowest free number, with a node, and with a slot if it needs one; or -1 without memory. */
static int32_t take_number(struct request_table *t)
{
	int32_t number = numbering_take(&t->numbers);

	if (number >= 0 && (!grow_nodes(t, (size_t)number + 1) || !grow_slots(t, 2 * ((size_t)number + 1)))) {
		numbering_give(&t->numbers, number);
		return -1;
	}
	return number;
}

/* Links a request behind the others that have its handle. */
static void append_request(struct request_table *t, struct request_slot *s, int32_t number, unsigned traits)
{
	int32_t last = s->number & REQUEST_SHARED ? s->last : first_of(s);

	need_node(t, s);
	t->nodes[number] = (struct request_node){-1, (uint8_t)traits, false};
	t->nodes[last].next = number;
	s->number |= REQUEST_SHARED;
	s->last = number;
}

static int32_t add_request(struct request_table *t, uint64_t bits, unsigned traits)
{
	int saved = errno;
	struct request_slot *s;
	int32_t number;

	put_back(t);
	t->changes++;
	number = take_number(t);
	errno = saved;
	if (number < 0)
		return REQUEST_UNKNOWN;
	s = find_slot(t, bits);
	if (s) {
		append_request(t, s, number, traits);
	} else {
		t->nodes[number] = (struct request_node){-1, (uint8_t)traits, false};
		*empty_slot(t, bits) = (struct request_slot){.key = bits, .number = (uint64_t)number, .traits = traits};
	}
	take_out(t);
	errno = saved;
	return number;
}

/* The first of a list, from number on, that no other thread has claimed; -1: none. It is claimed then. */
static int32_t claim_request(struct request_table *t, int32_t number)
{
	if (__builtin_expect(!handle_locking, 1))
		return number;
	while (number >= 0 && t->nodes[number].claimed)
		number = t->nodes[number].next;
	if (number >= 0)
		t->nodes[number].claimed = true;
	return number;
}

/* No slot may look as if an array had visited it. */
static void next_epoch(struct request_table *t)
{
	if (!++t->epoch) /* wrapped */
		for (size_t i = t->epoch = 1; t->slots && i <= t->mask + 1; i++)
			t->slots[i - 1].epoch = 0;
}

int64_t request_new_slowly(uint64_t bits, uint64_t null, unsigned traits)
{
	struct request_table *t = own_table();
	struct request_slot *s;
	int32_t number;

	if (bits == null)
		return REQUEST_NONE;
	if (!bits)
		return REQUEST_UNKNOWN;
	if (t->free && (s = request_home(t, bits))->key == bits) { /* as with MPI_PROC_NULL */
		number = (int32_t)t->base + __builtin_ctzll(t->free);
		t->free &= t->free - 1;
		append_request(t, s, number, traits);
		return number;
	}
	lock_table(t);
	number = add_request(t, bits, traits);
	unlock_table(t);
	return number;
}

bool request_next_shared(struct request_table *t, struct request_slot *s, int64_t number, uint8_t *traits)
{
	if (!(s->number & REQUEST_SHARED))
		return false;
	if (s->epoch != t->epoch) {
		s->epoch = t->epoch;
		s->cursor = first_of(s);
	}
	if (s->cursor < 0 || s->cursor != number)
		return false;
	*traits = t->nodes[number].traits;
	s->cursor = t->nodes[number].next;
	return true;
}

/* Takes the oldest one off, if it is that. */
bool request_end_shared(struct request_table *t, struct request_slot *s, int64_t number)
{
	int32_t next;

	if (!(s->number & REQUEST_SHARED) || first_of(s) != number)
		return false;
	next = t->nodes[number].next;
	s->number = (uint64_t)next | (next == s->last ? 0 : REQUEST_SHARED);
	s->traits = t->nodes[next].traits;
	return true;
}

/* Looks in the tables of all other threads, in their order. Returns whether it was found; it is claimed then. */
static bool find_elsewhere(struct request_ref *ref)
{
	struct request_table *t;

	for (uint32_t i = 0; handle_locking && (t = table_of(i)); i++) {
		const struct request_slot *s;
		int32_t number = -1;

		if (t == own_table())
			continue;
		lock_table(t);
		s = find_slot(t, ref->bits);
		if (s)
			number = claim_request(t, first_of(s));
		if (number >= 0)
			ref->traits = t->nodes[number].traits;
		unlock_table(t);
		if (number >= 0) {
			ref->number = number_in(t, number);
			return true;
		}
	}
	return false;
}

/* It is not in the calling thread's table. */
static void find_other(struct request_ref *ref, bool may_be_new)
{
	struct request_table *t = own_table();

	if (find_elsewhere(ref))
		return;
	ref->number = REQUEST_UNKNOWN;
	if (!may_be_new)
		return;
	lock_table(t);
	ref->number = add_request(t, ref->bits, 0);
	if (ref->number >= 0)
		ref->number = claim_request(t, (int32_t)ref->number);
	unlock_table(t);
}

struct request_ref request_find(uint64_t bits, uint64_t null, bool may_be_new)
{
	struct request_ref ref = {.bits = bits, .number = REQUEST_NONE};
	struct request_table *t = own_table();
	const struct request_slot *s;

	if (bits == null)
		return ref;
	ref.number = REQUEST_UNKNOWN;
	if (!bits)
		return ref;
	lock_table(t);
	s = find_slot(t, bits);
	ref.number = s ? claim_request(t, first_of(s)) : REQUEST_NONE;
	if (ref.number >= 0) {
		need_node(t, s);
		ref.traits = t->nodes[ref.number].traits;
	}
	unlock_table(t);
	if (ref.number < 0)
		find_other(&ref, may_be_new);
	return ref;
}

/* The number of the oldest request in a table that has these bits, of those that are claimed or those that are not; -1:
 * none. */
static int32_t look_in(struct request_table *t, struct request_ref *ref, bool claimed)
{
	const struct request_slot *s;
	int32_t number = -1;

	lock_table(t);
	s = find_slot(t, ref->bits);
	if (s)
		need_node(t, s);
	for (number = s ? first_of(s) : -1; number >= 0 && t->nodes[number].claimed != claimed;
	     number = t->nodes[number].next)
		;
	if (number >= 0) {
		ref->traits = t->nodes[number].traits;
		ref->number = number_in(t, number);
	}
	unlock_table(t);
	return number;
}

struct request_ref request_look(uint64_t bits, uint64_t null)
{
	struct request_ref ref = {.bits = bits, .number = bits == null ? REQUEST_NONE : REQUEST_UNKNOWN};
	struct request_table *t;

	for (int claimed = 0; claimed <= (handle_locking ? 1 : 0) && bits != null && bits; claimed++) {
		if (look_in(own_table(), &ref, claimed) >= 0)
			return ref;
		for (uint32_t i = 0; handle_locking && (t = table_of(i)); i++)
			if (t != own_table() && look_in(t, &ref, claimed) >= 0)
				return ref;
	}
	return ref;
}

/* Not in the calling thread's table: to be looked for when that is not locked. */
#define ELSEWHERE (-3)

static struct request_ref find_next(struct request_table *t, uint64_t bits, uint64_t null)
{
	struct request_ref ref = {.bits = bits, .number = bits == null ? REQUEST_NONE : REQUEST_UNKNOWN};
	struct request_slot *s;

	if (bits == null || !bits)
		return ref;
	s = find_slot(t, bits);
	if (s && s->epoch != t->epoch) {
		s->epoch = t->epoch;
		s->cursor = first_of(s);
		need_node(t, s);
	}
	ref.number = s ? claim_request(t, s->cursor) : REQUEST_NONE;
	if (ref.number < 0) {
		if (handle_locking) {
			ref.number = ELSEWHERE;
			return ref;
		}
		ref.number = add_request(t, bits, 0);
		s = find_slot(t, bits);
		if (ref.number < 0)
			return ref;
		s->epoch = t->epoch;
	}
	ref.traits = t->nodes[ref.number].traits;
	s->cursor = t->nodes[ref.number].next;
	return ref;
}

void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null)
{
	struct request_table *t = own_table();
	bool elsewhere = false;

	lock_table(t);
	next_epoch(t);
	for (size_t i = 0; i < n; i++) {
		refs[i] = find_next(t, bits[i], null);
		elsewhere |= refs[i].number == ELSEWHERE;
	}
	unlock_table(t);
	for (size_t i = 0; elsewhere && i < n; i++)
		if (refs[i].number == ELSEWHERE)
			find_other(&refs[i], true);
}

void request_end_slowly(const struct request_ref *ref)
{
	struct request_table *t = owner_table(ref);
	struct request_slot *s;
	int32_t number = (int32_t)ref->number, before = -1;
	int saved = errno;

	if (ref->number < 0 || !t)
		return;
	lock_table(t);
	s = find_slot(t, ref->bits);
	if (!s)
		goto out;
	need_node(t, s);
	for (int32_t at = first_of(s); at != number; at = t->nodes[at].next) { /* nearly always it is the first */
		before = at;
		if (t->nodes[at].next < 0)
			goto out;
	}
	int32_t next = t->nodes[number].next, first = before < 0 ? next : first_of(s);

	t->changes++;
	if (first < 0) {
		remove_slot(t, s);
	} else {
		int32_t last = next < 0 ? before : s->last;

		if (before >= 0)
			t->nodes[before].next = next;
		s->number = (uint64_t)first | (first == last ? 0 : REQUEST_SHARED);
		s->last = last;
		s->traits = t->nodes[first].traits;
	}
	put_back(t);
	numbering_give(&t->numbers, number);
	take_out(t);
	errno = saved;
out:
	unlock_table(t);
}

void request_release_slowly(const struct request_ref *ref)
{
	struct request_table *t = owner_table(ref);

	if (ref->number < 0 || !t)
		return;
	lock_table(t);
	t->nodes[(int32_t)ref->number].claimed = false;
	unlock_table(t);
}

size_t request_count(void)
{
	const struct request_table *t;
	size_t live = 0;

	for (uint32_t i = 0; (t = table_of(i)); i++) {
		live -= __builtin_popcountll(t->free);
		for (size_t w = 0; w < t->numbers.words; w++)
			live += __builtin_popcountll(t->numbers.taken[w]);
	}
	return live;
}

void request_reset(void)
{
	struct request_table *t;

	for (uint32_t i = 0; (t = table_of(i)); i++) {
		free(t->slots);
		free(t->nodes);
		numbering_reset(&t->numbers);
		if (i == 0) {
			request_table = (struct request_table){.base = REQUEST_NO_BASE};
		} else {
			tables[i] = NULL;
			free(t);
		}
	}
	mine = NULL;
}
