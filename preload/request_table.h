/* SPDX-License-Identifier: BSD-3-Clause
 * request_table - a thread's table of live requests: its lock, its slots, its nodes, its free numbers
 *
 * request.h explains the two tables. Each function that changes one is called with the lock (request_table_lock), which
 * only threads take, and does without memory what it can.
 */
#ifndef SPOOR_REQUEST_TABLE_H
#define SPOOR_REQUEST_TABLE_H

#include "preload/request.h"

extern __thread struct request_table *request_table_mine
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread's. */
static inline struct request_table *request_table_own(void)
{
	return __builtin_expect(handle_locking, 0) && request_table_mine ? request_table_mine : &request_table;
}

/* The table of a thread that may not be the calling one; NULL: it has none. */
struct request_table *request_table_of(uint32_t thread);
/* How many threads may have one. */
uint32_t request_tables(void);
/* Its owner's, for a ref with a number. */
struct request_table *request_table_owner(const struct request_ref *ref);

/* The slot that has these handle bits, or NULL. */
static inline struct request_slot *request_table_find(struct request_table *t, uint64_t key);
/* The slot is empty from now on; others may be elsewhere. */
void request_table_remove(struct request_table *t, struct request_slot *s);
/* Links a request behind the others that have its handle. */
void request_table_append(struct request_table *t, struct request_slot *s, int32_t number, unsigned traits);
/* A new live request. Returns its number, or REQUEST_UNKNOWN without memory. Keeps errno. */
int32_t request_table_add(struct request_table *t, uint64_t bits, unsigned traits);
/* The first of a list, from number on, that no other thread has claimed; -1: none. It is claimed then. */
int32_t request_table_claim(struct request_table *t, int32_t number);
/* Sees to it that the one request with a handle has a node. */
void request_table_need_node(struct request_table *t, const struct request_slot *s);
/* No slot looks as if an array had visited it. */
void request_table_next_epoch(struct request_table *t);

/* Puts the word of free numbers back, and takes the one in which the lowest ones are, if there is memory for what they
 * will be used for. */
void request_table_put_back(struct request_table *t);
void request_table_take_out(struct request_table *t);
/* What handle_locking changes: all is done slowly, and each request has a node. */
void request_table_stop_fast(struct request_table *t);

/* ---- implementation ---- */

static inline int32_t request_first_of(const struct request_slot *s)
{
	return (int32_t)s->number;
}

static inline struct request_slot *request_table_find(struct request_table *t, uint64_t key)
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

/* A table's owner takes no lock as long as no other thread has looked in it: it says that it is in it (`busy`), and
 * sees that it is alone (not `shared`). The first other thread makes it shared, which it is from then on, and waits
 * until the owner is out. The store and the load of the owner are in this order for the other thread because of the
 * barrier that the system makes in all threads of the process, so that the owner needs none. */
static inline bool request_table_begin_alone(struct request_table *t)
{
	__atomic_store_n(&t->busy, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(!__atomic_load_n(&t->shared, __ATOMIC_ACQUIRE), 1))
		return true;
	__atomic_store_n(&t->busy, false, __ATOMIC_RELEASE);
	return false;
}

bool request_table_lock_shared(struct request_table *t);

/* False: another thread has it, longer than anybody waits (lock.h). */
static inline __attribute__((warn_unused_result)) bool request_table_lock(struct request_table *t)
{
	if (__builtin_expect(handle_locking, 0)) {
		if ((t != request_table_mine || !request_table_begin_alone(t)) && !request_table_lock_shared(t))
			return false;
		if (t->fast)
			request_table_stop_fast(t);
	}
	return true;
}

static inline void request_table_unlock(struct request_table *t)
{
	if (__builtin_expect(handle_locking, 0)) {
		if (t == request_table_mine && t->busy)
			__atomic_store_n(&t->busy, false, __ATOMIC_RELEASE);
		else
			__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
	}
}

#endif
