/* SPDX-License-Identifier: BSD-3-Clause
 * request_table - a thread's table of live requests: its lock, its slots, its nodes, its free numbers
 */
#include "preload/request_table.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/lock.h"
#include "trace/base/limits.h"
#include "trace/base/quiet.h"

struct request_table request_table = {.base = REQUEST_NO_BASE};

#define THREADS 4096 /* thread.h */
/* atomic; by thread */
static struct request_table *tables[THREADS] = {&request_table};
static uint32_t table_count = 1; /* atomic; of threads that have one, the last one's number and 1 */
/* the system has no barrier for all threads (request_table_begin_alone), or may not be asked for it */
static bool locks_only;
__thread struct request_table *request_table_mine __attribute__((tls_model("initial-exec")));

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

/* With the lock. Who gives up leaves the table shared: `busy` is what the owner has until it is out. */
static bool wait_for_owner(struct request_table *t, struct lock_wait *wait)
{
	if (t == request_table_mine)
		return true;
	if (!t->shared) {
		__atomic_store_n(&t->shared, true, __ATOMIC_SEQ_CST);
		barrier_all_threads();
	}
	while (__atomic_load_n(&t->busy, __ATOMIC_ACQUIRE))
		if (!lock_wait(wait, __atomic_load_n(&t->stuck, __ATOMIC_RELAXED)))
			return false;
	return true;
}

bool request_table_lock_shared(struct request_table *t)
{
	struct quiet before = quiet_begin();
	struct lock_wait wait = {.turns = 0};
	bool taken = true;

	while (taken && __atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
		taken = lock_wait(&wait, __atomic_load_n(&t->stuck, __ATOMIC_RELAXED));
	if (taken && !wait_for_owner(t, &wait)) {
		__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
		taken = false;
	}
	__atomic_store_n(&t->stuck, !taken, __ATOMIC_RELAXED);
	if (taken && __atomic_load_n(&t->late_count, __ATOMIC_ACQUIRE))
		request_end_late(t);
	quiet_end(before);
	return taken;
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
			uint32_t count = __atomic_load_n(&table_count, __ATOMIC_RELAXED);
			while (count <= thread && !__atomic_compare_exchange_n(&table_count, &count, thread + 1, false,
			                                                       __ATOMIC_RELEASE, __ATOMIC_RELAXED))
				;
		}
	}
	errno = saved;
	if (t && t->fast)
		request_table_stop_fast(t);
	request_table_mine = t;
}

struct request_table *request_table_of(uint32_t thread)
{
	return thread < THREADS ? __atomic_load_n(&tables[thread], __ATOMIC_ACQUIRE) : NULL;
}

uint32_t request_tables(void)
{
	return __atomic_load_n(&table_count, __ATOMIC_ACQUIRE);
}

struct request_table *request_table_owner(const struct request_ref *ref)
{
	return ref->number >> 32 ? request_table_of((uint32_t)(ref->number >> 32) - 1) : request_table_own();
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

/* So many at least. */
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

/* Up to 64 more requests come before the next look: the table is never more than half full. Nearly all requests may
 * have the handle of another one, and no slot. */
static bool slots_suffice(struct request_table *t)
{
	return grow_slots(t, 2 * (t->live - t->behind + 64));
}

void request_table_remove(struct request_table *t, struct request_slot *s)
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

void request_table_put_back(struct request_table *t)
{
	if (t->base == REQUEST_NO_BASE) /* other threads look at thread 0's base: it is not written then */
		return;
	t->numbers.taken[t->base / 64] = ~t->free;
	t->live += t->out;
	t->live -= (unsigned)__builtin_popcountll(t->free);
	t->base = REQUEST_NO_BASE;
	t->free = 0;
}

void request_table_take_out(struct request_table *t)
{
	struct numbering *n = &t->numbers;
	size_t w = n->first, most;

	if (handle_locking)
		return;
	while (w < n->words && n->taken[w] == UINT64_MAX)
		w++;
	most = (w + 1) * 64;
	t->fast = t->slots != NULL;
	if (w >= n->words || !grow_nodes(t, most) || !slots_suffice(t))
		return;
	n->first = w;
	t->base = (int64_t)w * 64;
	t->free = ~n->taken[w];
	t->out = (unsigned)__builtin_popcountll(t->free);
	n->taken[w] = UINT64_MAX;
}

void request_table_need_node(struct request_table *t, const struct request_slot *s)
{
	if (!handle_locking && !(s->number & REQUEST_SHARED))
		t->nodes[request_first_of(s)] = (struct request_node){-1, (uint8_t)s->traits, false};
}

void request_table_stop_fast(struct request_table *t)
{
	request_table_put_back(t);
	t->fast = false;
	for (size_t i = 0; i <= t->mask; i++)
		if (t->slots[i].key && !(t->slots[i].number & REQUEST_SHARED))
			t->nodes[request_first_of(&t->slots[i])] =
				(struct request_node){-1, (uint8_t)t->slots[i].traits, false};
}

/* The lowest free number, with a node, and with a slot if it needs one; or -1 without memory. */
static int32_t take_number(struct request_table *t)
{
	int32_t number = numbering_take(&t->numbers);

	t->live += number >= 0;
	if (number >= 0 && (!grow_nodes(t, (size_t)number + 1) || !slots_suffice(t))) {
		numbering_give(&t->numbers, number);
		t->live--;
		return -1;
	}
	return number;
}

void request_table_append(struct request_table *t, struct request_slot *s, int32_t number, unsigned traits)
{
	int32_t last = s->number & REQUEST_SHARED ? s->last : request_first_of(s);

	request_table_need_node(t, s);
	t->nodes[number] = (struct request_node){-1, (uint8_t)traits, false};
	t->nodes[last].next = number;
	t->behind++;
	s->number |= REQUEST_SHARED;
	s->last = number;
}

int32_t request_table_add(struct request_table *t, uint64_t bits, unsigned traits)
{
	int saved = errno;
	struct request_slot *s;
	int32_t number;

	request_table_put_back(t);
	t->changes++;
	number = take_number(t);
	errno = saved;
	if (number < 0)
		return REQUEST_UNKNOWN;
	s = request_table_find(t, bits);
	if (s) {
		request_table_append(t, s, number, traits);
	} else {
		t->nodes[number] = (struct request_node){-1, (uint8_t)traits, false};
		*empty_slot(t, bits) = (struct request_slot){.key = bits, .number = (uint64_t)number, .traits = traits};
	}
	request_table_take_out(t);
	errno = saved;
	return number;
}

int32_t request_table_claim(struct request_table *t, int32_t number)
{
	if (__builtin_expect(!handle_locking, 1))
		return number;
	while (number >= 0 && t->nodes[number].claimed)
		number = t->nodes[number].next;
	if (number >= 0)
		t->nodes[number].claimed = true;
	return number;
}

void request_table_next_epoch(struct request_table *t)
{
	if (!++t->epoch) /* wrapped */
		for (size_t i = t->epoch = 1; t->slots && i <= t->mask + 1; i++)
			t->slots[i - 1].epoch = 0;
}

size_t request_count(void)
{
	const struct request_table *t;
	size_t live = 0;

	for (uint32_t i = 0; i < request_tables(); i++) {
		if (!(t = request_table_of(i)))
			continue;
		live -= __builtin_popcountll(t->free);
		for (size_t w = 0; w < t->numbers.words; w++)
			live += __builtin_popcountll(t->numbers.taken[w]);
	}
	return live;
}

void request_reset(void)
{
	struct request_table *t;

	for (uint32_t i = 0; i < request_tables(); i++) {
		if (!(t = request_table_of(i)))
			continue;
		free(t->slots);
		free(t->nodes);
		numbering_reset(&t->numbers);
		if (i == 0) {
			request_table = (struct request_table){.base = REQUEST_NO_BASE, .ends = request_table.ends + 1};
		} else {
			tables[i] = NULL;
			free(t);
		}
	}
	table_count = 1;
	request_table_mine = NULL;
}
