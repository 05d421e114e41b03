/* SPDX-License-Identifier: BSD-3-Clause
 * request - symbols for live requests: r0, r1, ...
 *
 * A request is live from the call that creates it until the one that completes it; a persistent one until
 * MPI_Request_free. A new one takes the lowest number that is free, so a loop's requests have the same numbers in every
 * iteration. Several live requests may have the same handle (Open MPI has one request object for all that is sent to
 * MPI_PROC_NULL): then the oldest one is meant, and an array is resolved from left to right, each live request at most
 * once.
 *
 * What is completed behind the tracer's back (a layer that calls PMPI_Wait) stays live here. It takes a slot for each
 * handle that the library has, and then a node for each request, up to REQUEST_BEHIND of them. From then on, a handle
 * that comes again means that the oldest request with it is over.
 *
 * With several threads in MPI, a completed request's handle may be given to a new request of another thread before the
 * completing call has come back to us. Therefore a call that may complete requests claims what it was given: while
 * claimed, a live request is meant by nobody else. Every ref from request_find and request_find_all is given back by
 * request_end or request_release. A call that ends none looks only, and before it is made: in it, another thread may
 * complete the request.
 *
 * Then each thread has a table of its own, for the requests that it creates, and numbers of its own; its owner takes no
 * lock until another thread looks in it, which they do only for what they did not create themselves. A request of
 * another thread has the number of trace/model/stream.h: which thread's, and which there.
 */
#ifndef SPOOR_REQUEST_H
#define SPOOR_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_trait {
	REQUEST_RECV = 1,        /* its status describes a message; or, of a file, what was moved */
	REQUEST_PERSISTENT = 2,  /* completing it does not end it */
	REQUEST_FROM_NOBODY = 4, /* a receive from MPI_PROC_NULL; its status is one of few that are looked at closely */
	REQUEST_FILE = 8,        /* reads or writes a file: MPI writes the count into its status, and no source */
	REQUEST_MOVES = REQUEST_RECV | REQUEST_FROM_NOBODY | REQUEST_FILE
};

/* A live request as a call meant it. */
struct request_ref {
	uint64_t bits;
	/* of another thread: (that thread + 1) << 32 more. Or REQUEST_NONE: MPI_REQUEST_NULL; REQUEST_UNKNOWN: no
	 * memory, or may_be_new was false */
	int64_t number;
	uint8_t traits;
};
#define REQUEST_NONE    (-1)
#define REQUEST_UNKNOWN (-2)

/* With several threads in MPI: the calling thread is this one from now on. Called for thread 0 first, before there are
 * others. Without memory it uses thread 0's table. */
void request_thread(uint32_t thread);
/* A new live request; null is the handle bits of MPI_REQUEST_NULL, which is never live. Returns its number, or
 * REQUEST_NONE, or REQUEST_UNKNOWN. */
static inline int64_t request_new(uint64_t bits, uint64_t null, unsigned traits);
/* What handle bits mean now: the oldest live request that has them. One that was never seen becomes live if may_be_new.
 */
struct request_ref request_find(uint64_t bits, uint64_t null, bool may_be_new);
/* The same for a call that ends no request: also one that is claimed is meant, and none is claimed by this. One that
 * was never seen is REQUEST_UNKNOWN. */
struct request_ref request_look(uint64_t bits, uint64_t null);
/* As request_find for an array: fills n refs. Requests that were never seen become live. */
void request_find_all(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null);
/* The same for the usual case, that each handle is of one live request, or null: also tells the traits that any of them
 * has. False: refs mean nothing, request_find_all() is to be asked. */
static inline bool request_find_fast(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null,
                                     unsigned *traits);
static inline bool request_find_one(struct request_ref *ref, uint64_t bits);
/* The request is not live any more. Does nothing for a ref that has no number. */
static inline void request_end(const struct request_ref *ref);
/* It is still live. */
static inline void request_release(const struct request_ref *ref);
/* How many are live; for tests. */
size_t request_count(void);
/* Forgets everything and frees the memory; for tests. */
void request_reset(void);

/* ---- implementation: the usual cases are inline, since most events of most programs are about requests ---- */

#include "preload/numbering.h"

/* Two tables. `slots`, a hash table by handle (as in handle.c): the oldest and the youngest live request with that
 * handle. `nodes`, by number: what is known of a live request that shares its handle, and the next younger one. For
 * four sends, of which the first and the last two are to MPI_PROC_NULL and share the handle P:
 *
 *     slots   P: number 0 and others, last 3      Q: number 1
 *     nodes   0: next 2   2: next 3   3: -
 *
 * The usual case is a request with a handle of its own, in the slot that is its handle's home. It has no node as long
 * as there is one thread. */
struct request_slot {
	uint64_t key; /* handle bits; 0: empty */
	uint64_t
		/* of the oldest live request with that handle, | REQUEST_SHARED if there are others; of an empty slot
		 * REQUEST_EMPTY */
		number;
	int32_t last;   /* the youngest, if there are others */
	int32_t cursor; /* the next one that an array with this epoch means; -1: all are taken */
	uint32_t epoch;
	uint32_t traits; /* if there are no others */
};
#define REQUEST_SHARED (UINT64_C(1) << 62)
/* More than any program has live with one handle. They take 10 MB. */
#define REQUEST_BEHIND (UINT32_C(1) << 20)
#define REQUEST_EMPTY  UINT64_MAX

struct request_node {
	int32_t next; /* -1: none */
	uint8_t traits;
	bool claimed; /* only kept with several threads */
};

#define REQUEST_LATE 16
extern struct request_table {
	struct request_slot *slots; /* mask + 1 of them, and one more that is never empty */
	size_t mask;
	unsigned shift;
	bool fast; /* there is one thread, and memory: the inline functions may be used */
	/* The word of the numbers in which the lowest free ones are: those that are free, as bits, are base, base + 1,
	 * ... In `numbers` all of them count as taken. */
	uint64_t free;
	int64_t base; /* REQUEST_NO_BASE: there is no such word */
	/* What is above, of thread 0, the inline functions look at in all threads, and it stays as it is when there are
	 * several. */
	uint32_t epoch __attribute__((aligned(64)));
	uint32_t changes; /* counts what is done slowly: slots may be elsewhere since */
	uint32_t ends;    /* counts requests that ended: what a handle meant, it may not mean since */
	size_t displaced; /* slots that are not at home */
	struct request_node *nodes;
	size_t node_count;
	struct numbering numbers;
	size_t live;   /* requests, without what was done to `free` since the word was taken out, */
	unsigned out;  /* when so many were free in it */
	size_t behind; /* live requests that have the handle of an older one, and therefore no slot */
	uint32_t thread;
	int lock; /* with several threads */
	/* Requests that ended, or are claimed no more, while another thread had the lock: who has it next sees to
	 * them. What there is no room for stays live. */
	struct request_late {
		uint64_t bits;
		int32_t number;
		uint8_t state; /* atomic: enum in request.c */
	} late[REQUEST_LATE];
	uint32_t late_count; /* atomic */
	bool stuck;          /* atomic: as in lock.h */
	bool shared;         /* another thread looks in it: its owner takes the lock, too */
	bool busy;           /* its owner is in it without the lock; only the owner writes that */
} request_table __attribute__((visibility("hidden"))); /* thread 0's */
#define REQUEST_NO_BASE INT64_MAX

int64_t request_new_slowly(uint64_t bits, uint64_t null, unsigned traits);
void request_end_slowly(const struct request_ref *ref);
void request_release_slowly(const struct request_ref *ref);
void request_end_late(struct request_table *t); /* with the lock */
bool request_next_shared(struct request_table *t, struct request_slot *s, int64_t number, uint32_t *traits);
bool request_end_shared(struct request_table *t, struct request_slot *s, int64_t number);
extern bool handle_locking __attribute__((visibility("hidden"))); /* handle.h, which knows MPI: this file does not */

/* With the factor in memory: in a loop it takes no register. */
static inline uint64_t request_hash(uint64_t bits)
{
	static const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
#ifdef __x86_64__
	__asm__("imulq %1, %0" : "+r"(bits) : "m"(factor) : "cc");
	return bits;
#else
	return bits * factor;
#endif
}

static inline struct request_slot *request_home(const struct request_table *t, uint64_t key)
{
	return &t->slots[request_hash(key) >> t->shift];
}

static inline __attribute__((always_inline)) int64_t request_new(uint64_t bits, uint64_t null, unsigned traits)
{
	struct request_table *t = &request_table;
	uint64_t free = t->free;
	if (__builtin_expect(!free, 0))
		return request_new_slowly(bits, null, traits);
	if (__builtin_expect(bits == null, 0))
		return request_new_slowly(bits, null, traits);
	struct request_slot *s = request_home(t, bits);
	if (__builtin_expect(s->key != 0, 0))
		return request_new_slowly(bits, null, traits);
	int64_t number = t->base + (int64_t)numbering_lowest(free);
	t->free = free & (free - 1);
	s->key = bits;
	s->number = (uint64_t)number;
	s->traits = traits;
	return number;
}

/* A new array. False: the epochs are used up, and request_find_all begins them again. */
static inline bool request_next_epoch(struct request_table *t)
{
	if (__builtin_expect(t->epoch == UINT32_MAX, 0))
		return false;
	t->epoch++;
	return true;
}

static inline bool request_find_fast(struct request_ref *refs, const uint64_t *bits, size_t n, uint64_t null,
                                     unsigned *traits)
{
	struct request_table *t = &request_table;
	if (__builtin_expect(!t->fast, 0))
		return false;
	if (__builtin_expect(!request_next_epoch(t), 0))
		return false;
	uint32_t epoch = t->epoch;
	*traits = 0;
	for (size_t i = 0; i < n; i++) {
		struct request_slot *s = request_home(t, bits[i]);
		if (__builtin_expect(s->key != bits[i] || s->number & REQUEST_SHARED || s->epoch == epoch, 0)) {
			if (bits[i] != null)
				return false;
			refs[i] = (struct request_ref){.bits = null, .number = REQUEST_NONE};
			continue;
		}
		s->epoch = epoch;
		refs[i].bits = bits[i];
		refs[i].number = (int64_t)s->number;
		*traits |= refs[i].traits = (uint8_t)s->traits;
	}
	return true;
}

static inline bool request_find_one(struct request_ref *ref, uint64_t bits)
{
	const struct request_table *t = &request_table;
	if (__builtin_expect(!t->fast, 0))
		return false;
	const struct request_slot *s = request_home(t, bits);
	if (__builtin_expect(s->key != bits || s->number & REQUEST_SHARED, 0))
		return false;
	*ref = (struct request_ref){.bits = bits, .number = (int64_t)s->number, .traits = (uint8_t)s->traits};
	return true;
}

/* Says that a variable may have changed: it is read where it is then, and takes no register from one use to the
 * next. */
#define REQUEST_REREAD(variable) __asm__("" : "+m"(variable))

/* The bits of the i-th of a caller's handles, which are pointers, or integers of four bytes. */
static inline __attribute__((always_inline)) uint64_t request_bits(const void *handles, size_t size, size_t i)
{
	return size == sizeof(uint64_t) ? ((const uint64_t *)handles)[i]
	                                : (uint64_t)(int64_t)((const int32_t *)handles)[i];
}

/* What request_find_expected found; which numbers they have is known. */
#define REQUEST_FEW 64
struct request_found {
	uint64_t bits[REQUEST_FEW];
	struct request_slot *slot[REQUEST_FEW];
	uint32_t traits[REQUEST_FEW];
};

/* Do the n handles, of `size` bytes each, mean the requests with these numbers, which are not twice the same? At most
 * REQUEST_FEW. *traits: those that any of them has. */
static inline __attribute__((always_inline)) bool request_find_expected(struct request_found *found,
                                                                        const void *handles, size_t size,
                                                                        const int64_t *numbers, size_t n,
                                                                        unsigned *traits)
{
	struct request_table *t = &request_table;
	uint32_t all = 0;
	bool shared = false;
	if (__builtin_expect(!t->fast, 0))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = request_bits(handles, size, i);
		struct request_slot *s = request_home(t, bits);
		if (__builtin_expect(s->key != bits, 0))
			return false;
		uint32_t its = s->traits;
		if (__builtin_expect(s->number != (uint64_t)numbers[i], 0)) {
			uint32_t of_node;
			if (!shared && !request_next_epoch(t))
				return false;
			shared = true;
			if (!request_next_shared(t, s, numbers[i], &of_node))
				return false;
			its = of_node;
		}
		all |= its;
		found->traits[i] = its;
		found->bits[i] = bits;
		found->slot[i] = s;
	}
	*traits = all;
	return true;
}

/* The same where no handle is shared, in fewer instructions: it calls nothing, and needs so few registers that none
 * has to be saved. n: at least 1, t->fast is true. False: request_find_expected is to be asked. */
static inline __attribute__((always_inline)) bool request_find_alone(struct request_found *found, const void *handles,
                                                                     size_t size, const int64_t *numbers, size_t n,
                                                                     unsigned *traits)
{
	const struct request_table *t = &request_table;
	const unsigned shift = t->shift;
	uint32_t all = 0;
	size_t i = 0;
	do {
		uint64_t bits = request_bits(handles, size, i);
		struct request_slot *s = &t->slots[request_hash(bits) >> shift];
		if (__builtin_expect(s->key != bits, 0))
			return false;
		found->bits[i] = bits;
		if (__builtin_expect(s->number != (uint64_t)numbers[i], 0))
			return false;
		all |= s->traits;
		found->traits[i] = s->traits;
		found->slot[i] = s;
	} while (++i < n);
	*traits = all;
	return true;
}

/* Ends the i-th of them, if nothing was done slowly since then (`changes`). False: it takes request_end, here and from
 * now on. */
static inline __attribute__((always_inline)) bool request_end_expected(const struct request_found *found, size_t i,
                                                                       int64_t number)
{
	struct request_table *t = &request_table;
	struct request_slot *s = found->slot[i];
	uint64_t bit = (uint64_t)(number - t->base);
	if (__builtin_expect(bit >= 64, 0))
		return false;
	if (__builtin_expect(s->number == (uint64_t)number, 1)) {
		if (__builtin_expect(s[1].key && t->displaced, 0))
			return false;
		t->ends++;
		s->key = 0;
		s->number = REQUEST_EMPTY;
	} else if (!request_end_shared(t, s, number)) {
		return false;
	}
	t->free |= UINT64_C(1) << bit;
	return true;
}

/* The same for all n of them (at least 1) whose handle is null now. False: up to *done, the first that is not as easy.
 * In few registers, as request_find_alone. */
static inline __attribute__((always_inline)) bool request_end_alone(const struct request_found *found,
                                                                    const void *handles, size_t size,
                                                                    const int64_t *numbers, size_t *n, uint64_t null,
                                                                    size_t *done)
{
	struct request_table *t = &request_table;
	uint64_t freed = 0; /* not t->free: a signal handler may take a number meanwhile */
	size_t i = 0;
	t->ends++;
	do {
		if (__builtin_expect(request_bits(handles, size, i) == null, 1)) {
			struct request_slot *s = found->slot[i];
			uint64_t number = (uint64_t)numbers[i], bit = number - (uint64_t)t->base;
			if (__builtin_expect(bit >= 64 || s->number != number || (s[1].key && t->displaced), 0)) {
				*done = i;
				t->free |= freed;
				return false;
			}
			s->key = 0;
			s->number = REQUEST_EMPTY;
			freed = numbering_with(freed, bit);
		}
		REQUEST_REREAD(*n);
	} while (++i < *n);
	t->free |= freed;
	return true;
}

static inline void request_end(const struct request_ref *ref)
{
	struct request_table *t = &request_table;
	if (ref->number < 0)
		return;
	uint64_t bit = (uint64_t)(ref->number - t->base);
	if (__builtin_expect(bit < 64, 1)) { /* which it is not if the case is not the usual one */
		struct request_slot *s = request_home(t, ref->bits);
		if (__builtin_expect(s->key == ref->bits && s->number == (uint64_t)ref->number &&
		                             !(s[1].key && t->displaced),
		                     1)) {
			t->ends++;
			s->key = 0;
			s->number = REQUEST_EMPTY;
			t->free |= UINT64_C(1) << bit;
			return;
		}
	}
	request_end_slowly(ref);
}

static inline void request_release(const struct request_ref *ref)
{
	if (__builtin_expect(handle_locking, 0))
		request_release_slowly(ref);
}

#endif
