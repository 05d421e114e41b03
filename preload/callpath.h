/* SPDX-License-Identifier: BSD-3-Clause
 * callpath - which call path led to this call, at one load a frame (DESIGN: memoised unwinding)
 *
 * The first time that a call (function, return address, stack pointer) is seen, the stack is unwound (unwind.h), and
 * the stack slots that hold the return addresses are remembered with what they hold. The next time the slots are
 * compared: if all hold the same return addresses, the call path is the same, and the site is known. Anything
 * else unwinds again.
 */
#ifndef SPOOR_CALLPATH_H
#define SPOOR_CALLPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames of a path; further ones are cut off (GAP_TOO_DEEP). */
#define CALLPATH_MAX 256

struct callpath_frame {
	const uintptr_t *slot; /* where the return address is on the stack; NULL: in no memory */
	uintptr_t address;     /* the return address */
	uintptr_t cfa;         /* where the callee's frame ends: the caller's stack pointer at the call */
};

/* The frames from the caller of the wrapper outwards. */
struct callpath {
	size_t count;
	int gap; /* enum path_gap: why frames further out are missing; 0: none are */
	struct callpath_frame frame[CALLPATH_MAX];
};

/* The memo: (key, return address, cfa, slots) -> value (not NULL). Bounded: when full it forgets everything. A program
 * comes by its calls in much the same order again and again: each entry knows which one was found after it, so that a
 * look-up is mostly one comparison.
 *
 * A slot that is compared must be there. Slots of the stack that a thread was started on are, as long as the caller's
 * frame is on it; such entries are steady, and only they are found by following. Other stacks (of a signal handler, of
 * a fiber) may have been unmapped since, and others be where they were: a slot there is looked at only after all that
 * are further in were right, and if the kernel says that it is there (stack.h). A memo that goes from one thread to
 * another must be cleared. */
struct memo;
/* Returns 0, or -1 (no memory). */
int memo_init(struct memo *m);
void memo_free(struct memo *m);
/* Adds what was just unwound, on the thread that calls. */
void memo_add(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa);
/* The same, to be found by memo_find alone. */
void memo_add_apart(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa);
/* What memo_find found last has another value from now on, and is like all others. */
void memo_change(struct memo *m, void *value);
void memo_clear(struct memo *m);
/* The same, and it takes no memory until something is added. */
void memo_rest(struct memo *m);
/* A search gives up soon from now on: there are many calls that the memo does not know. */
void memo_bound(struct memo *m);
/* The value for this call, or NULL: unwind. */
void *memo_find(struct memo *m, uint32_t key, void *return_address, void *cfa);
/* The same in steps, so that there is one jump to code for the right number of slots: memo_next is the entry that is
 * expected next (never NULL). Its `way` is memo_ways[its pairs of slots, at most MEMO_UNROLLED + 1], or, if nothing is
 * expected, a function that returns false. A way asks memo_is_next, with pairs known when it is compiled if they are at
 * most MEMO_UNROLLED. If that is true, the entry is found by memo_follow; if not, memo_other may know it, or else
 * memo_find. Where next to nothing is found, nothing is expected, and memo_ways' last one takes most calls and may find
 * the value itself (memo_rarely). */
struct memo_entry;
typedef bool memo_way(void *call, uint32_t key, void *return_address, void *cfa, void *context, struct memo_entry *e);
#define MEMO_UNROLLED 12
#define MEMO_RARE     (MEMO_UNROLLED + 2)
extern memo_way *const memo_ways[MEMO_RARE + 1] __attribute__((visibility("hidden"))); /* the caller's */
static inline struct memo_entry *memo_next(const struct memo *m);
static inline bool memo_is_next(const struct memo_entry *e, uint32_t key, void *return_address, void *cfa,
                                uint32_t pairs);
static inline void *memo_follow(struct memo *m, struct memo_entry *e);

/* ---- implementation ---- */

/* Two slots, with what they held. */
struct memo_pair {
	uintptr_t value[2];
	const uintptr_t *slot[2];
};

struct memo_entry {
	struct memo_entry *
		/* what was found after it the last time: a steady entry, or the one that is none; never NULL */
		followed;
	struct memo_entry *other; /* what was before that; never NULL */
	uintptr_t address, cfa;
	uint32_t key;
	uint16_t pairs;
	uint8_t steady, apart;
	void *value;
	struct memo_entry *next; /* with the same hash */
	memo_way *way;
	struct memo_pair pair[]; /* an odd one out is there twice */
};

struct memo {
	struct memo_entry *at;       /* what was found last, of those that may be followed; never NULL */
	struct memo_entry *found_at; /* by memo_find */
	struct memo_entry **heads;
	uint8_t *pool;
	size_t used;
	uint32_t most;          /* entries of one hash that are looked at; 0: all */
	uint32_t found, missed; /* lately */
	uint32_t asked;
	bool rarely;            /* next to nothing is found */
	struct memo_entry rare; /* at and expected then */
};

#define MEMO_RARELY 1024
/* May this call, that nothing is expected for, do without the memo? All may but a few. */
static inline bool memo_rarely(struct memo *m)
{
	return ++m->asked % MEMO_RARELY;
}
/* Asked after that: is this call one of the few? */
static inline bool memo_asks(const struct memo *m)
{
	return !m->rarely || m->asked % MEMO_RARELY == 0;
}

/* Do the slots hold what they held when the entry was made? This is most of what a call path costs. All are looked at,
 * and then it is decided: that takes fewer instructions. */
#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>

static inline __attribute__((always_inline)) __m128i memo_same(const struct memo_pair *p)
{
	__m128d held = _mm_loadh_pd(_mm_load_sd((const double *)(const void *)p->slot[0]),
	                            (const double *)(const void *)p->slot[1]);
	return _mm_cmpeq_epi32(_mm_castpd_si128(held), *(const __m128i *)(const void *)p->value);
}
#define MEMO_SAME     __m128i
#define MEMO_ALL_SAME _mm_set1_epi32(-1)
#define MEMO_STEP(i)                                                                                   \
	do {                                                                                           \
		same = _mm_and_si128(same, memo_same(&p[i]));                                          \
		__asm__ volatile(""                                                                    \
		                 : "+x"(same)                                                          \
		                 :                                                                     \
		                 : "memory"); /* one by one, in few registers: none has to be saved */ \
	} while (0)
#define MEMO_IS_SAME(v) (_mm_movemask_epi8(v) == 0xffff)
#else
static inline __attribute__((always_inline)) bool memo_same(const struct memo_pair *p)
{
	return *p->slot[0] == p->value[0] && *p->slot[1] == p->value[1];
}
#define MEMO_SAME       bool
#define MEMO_ALL_SAME   true
#define MEMO_STEP(i)    (same = same && memo_same(&p[i]))
#define MEMO_IS_SAME(v) (v)
#endif

static inline __attribute__((always_inline)) bool memo_holds(const struct memo_entry *e, uint32_t pairs)
{
	const struct memo_pair *p = e->pair;
	MEMO_SAME same = MEMO_ALL_SAME;
	for (; pairs >= 4; pairs -= 4, p += 4) {
		MEMO_STEP(0);
		MEMO_STEP(1);
		MEMO_STEP(2);
		MEMO_STEP(3);
	}
	if (pairs >= 1)
		MEMO_STEP(0);
	if (pairs >= 2)
		MEMO_STEP(1);
	if (pairs >= 3)
		MEMO_STEP(2);
	return MEMO_IS_SAME(same);
}

static inline __attribute__((always_inline)) bool memo_is(const struct memo_entry *e, uint32_t key, uintptr_t address,
                                                          uintptr_t cfa)
{
	return e->address == address && e->cfa == cfa && e->key == key;
}

static inline __attribute__((always_inline)) struct memo_entry *memo_next(const struct memo *m)
{
	return m->at->followed;
}

static inline __attribute__((always_inline)) bool memo_is_next(const struct memo_entry *e, uint32_t key,
                                                               void *return_address, void *cfa, uint32_t pairs)
{
	return memo_is(e, key, (uintptr_t)return_address, (uintptr_t)cfa) && memo_holds(e, pairs);
}

/* Where it is not that one: what was found at this place before it, if that is it. Else NULL. */
static inline struct memo_entry *memo_other(const struct memo *m, uint32_t key, void *return_address, void *cfa)
{
	struct memo_entry *at = m->at, *e = at->other;
	if (m->most || !memo_is_next(e, key, return_address, cfa, e->pairs))
		return NULL;
	at->other = at->followed;
	at->followed = e;
	return e;
}

static inline __attribute__((always_inline)) void *memo_follow(struct memo *m, struct memo_entry *e)
{
	m->at = e;
	return e->value;
}

#endif
