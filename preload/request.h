/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * A request is live from the call that creates it until the one that completes it; a persistent one until
 * MPI_Request_free. A new one takes the lowest number that is free, so a loop's requests have the same numbers in every
 * iteration. Several live requests may have the same handle (Open MPI has one request object for all that is sent to
 * MPI_PROC_NULL): then the oldest one is meant, and an array is resolved from left to right, each live request at most
 * once.
 *
 * With several threads in MPI, a completed request's handle may be given to a new request of another thread before the
 * completing call has come back to us. Therefore a call that may complete requests claims what it was given: while
 * claimed, a live request is meant by nobody else. Every ref from request_find and request_find_all is given back by
 * request_end or request_release. A call that ends none looks only, and before it is made: in it, another thread may complete the request.
 *
 * Then each thread has a table of its own, for the requests that it creates, and numbers of its own; its lock is nearly always free, since others look in
 * it only for what they did not create themselves. A request of another thread has the number of trace/stream.h: which thread's, and which there.
 */
#ifndef SPOOR_REQUEST_H
#define SPOOR_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_trait {
	REQUEST_RECV = 1,      /* its status describes a message */
	REQUEST_PERSISTENT = 2 /* completing it does not end it */
};

/* A live request as a call meant it. */
struct request_ref {
	uint64_t bits;
	int64_t number; /* of another thread: (that thread + 1) << 32 more. Or REQUEST_NONE: MPI_REQUEST_NULL; REQUEST_UNKNOWN: no memory, or may_be_new was false */
	uint8_t traits;
};
#define REQUEST_NONE    (-1)
#define REQUEST_UNKNOWN (-2)

/* With several threads in MPI: the calling thread is this one from now on. Called for thread 0 first, before there are others. Without memory it uses
 * thread 0's table. */
void request_thread(uint32_t thread);
/* A new live request; null is the handle bits of MPI_REQUEST_NULL, which is never live. Returns its number, or
 * REQUEST_NONE, or REQUEST_UNKNOWN. */
static inline int64_t request_new(uint64_t bits, uint64_t null, unsigned traits);
/* What handle bits mean now: the oldest live request that has them. One that was never seen becomes live if may_be_new.
 */
struct request_ref request_find(uint64_t bits, uint64_t null, bool may_be_new);
/* The same for a call that ends no request: also one that is claimed is meant, and none is claimed by this. One that was never seen is REQUEST_UNKNOWN. */
struct request_ref request_look(uint64_t bits, uint64_t null);
/* As request_find for an array: fills n refs. Requests that were never seen become live. */
void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null);
/* The same for the plain case, that each handle is of one live request: also tells the traits that any of them has. False: refs mean nothing,
 * request_find_all() is to be asked. */
static inline bool request_find_plain(struct request_ref *refs, const uint64_t *bits, size_t n, unsigned *traits);
/* The request is not live any more. Does nothing for a ref that has no number. */
static inline void request_end(const struct request_ref *ref);
/* It is still live. */
static inline void request_release(const struct request_ref *ref);
/* How many are live; for tests. */
size_t request_count(void);
/* Forgets everything and frees the memory; for tests. */
void request_reset(void);

/* ---- implementation: the plain cases are inline, since most events of most programs are about requests ---- */

#include "preload/numbers.h"

/* Two tables. `nodes`, by number: what is known of a live request, and the next younger one with the same handle.
 * `slots`, a hash table by handle (as in handle.c): the oldest and the youngest live request with that handle. For four
 * sends, of which the first and the last two are to MPI_PROC_NULL and share the handle P:
 *
 *     slots   P: first 0, last 3      Q: first 1, last 1
 *     nodes   0: next 2   1: -   2: next 3   3: -
 */
struct request_slot {
	uint64_t key; /* handle bits; 0: empty */
	int32_t first, last;
	int32_t cursor; /* the next one that an array with this epoch means; -1: all are taken */
	uint32_t epoch;
};

struct request_node {
	int32_t next; /* -1: none */
	uint8_t traits;
	bool claimed; /* only kept with several threads */
};

extern struct request_table {
	struct request_slot *slots;
	size_t mask;
	unsigned shift;
	uint32_t epoch;
	size_t used, room; /* room: how many slots may be used before the table grows; 0 while several threads use it */
	struct request_node *nodes;
	size_t node_count;
	struct numbers numbers;
	size_t live;
	uint32_t thread;
	int lock; /* with several threads */
} request_table __attribute__((visibility("hidden"))); /* thread 0's */

int32_t request_new_slowly(uint64_t bits, uint64_t null, unsigned traits);
void request_end_slowly(const struct request_ref *ref);
void request_release_slowly(const struct request_ref *ref);
extern bool handle_locking __attribute__((visibility("hidden"))); /* handle.h, which knows MPI: this file does not */

static inline size_t request_home(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> request_table.shift;
}

static inline int64_t request_new(uint64_t bits, uint64_t null, unsigned traits)
{
	struct request_table *t = &request_table;
	if (__builtin_expect(t->used >= t->room || bits == null || !bits, 0))
		return request_new_slowly(bits, null, traits);
	struct request_slot *s = &t->slots[request_home(bits)];
	size_t w = t->numbers.first;
	if (__builtin_expect(s->key || w >= t->numbers.words || !~t->numbers.taken[w], 0))
		return request_new_slowly(bits, null, traits);
	int bit = __builtin_ctzll(~t->numbers.taken[w]);
	int32_t number = (int32_t)(w * 64 + (size_t)bit);
	if (__builtin_expect((size_t)number >= t->node_count, 0))
		return request_new_slowly(bits, null, traits);
	t->numbers.taken[w] |= t->numbers.taken[w] + 1; /* the lowest bit that is 0 */
	t->nodes[number] = (struct request_node){-1, (uint8_t)traits, false};
	s->key = bits;
	s->first = s->last = number;
	s->epoch = 0; /* so that the cursor means nothing */
	t->used++;
	t->live++;
	return number;
}

static inline bool request_find_plain(struct request_ref *refs, const uint64_t *bits, size_t n, unsigned *traits)
{
	struct request_table *t = &request_table;
	struct request_slot *slots = t->slots;
	const struct request_node *nodes = t->nodes;
	unsigned shift = t->shift;
	uint32_t epoch = t->epoch + 1;
	if (__builtin_expect(!t->room || !epoch, 0))
		return false;
	t->epoch = epoch;
	*traits = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t key = bits[i];
		struct request_slot *s = &slots[key * 0x9e3779b97f4a7c15u >> shift];
		if (__builtin_expect(s->key != key || !key || s->first != s->last || s->epoch == epoch, 0))
			return false;
		s->epoch = epoch;
		refs[i].bits = key;
		refs[i].number = s->first;
		*traits |= refs[i].traits = nodes[s->first].traits;
	}
	return true;
}

static inline void request_end(const struct request_ref *ref)
{
	struct request_table *t = &request_table;
	int32_t number = (int32_t)ref->number;
	if (ref->number < 0)
		return;
	if (__builtin_expect(!t->room, 0)) {
		request_end_slowly(ref);
		return;
	}
	size_t i = request_home(ref->bits);
	struct request_slot *s = &t->slots[i];
	if (__builtin_expect(s->key != ref->bits || s->first != number || t->nodes[number].next >= 0 || t->slots[(i + 1) & t->mask].key, 0)) {
		request_end_slowly(ref);
		return;
	}
	s->key = 0;
	t->used--;
	t->live--;
	numbers_give(&t->numbers, number);
}

static inline void request_release(const struct request_ref *ref)
{
	if (__builtin_expect(handle_locking, 0))
		request_release_slowly(ref);
}

#endif
