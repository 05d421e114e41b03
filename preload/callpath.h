/* SPDX-License-Identifier: BSD-3-Clause
 * callpath - which call path led to this call, at one load a frame (DESIGN: memoised unwinding)
 *
 * The first time that a call (function, return address, stack pointer) is seen, the stack is unwound with the unwind tables, and
 * the stack slots that hold the return addresses are remembered with what they hold. The next time the slots are compared: if
 * all hold the same return addresses, the call path is the same, and the site is known. Anything else unwinds again.
 */
#ifndef SPOOR_CALLPATH_H
#define SPOOR_CALLPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames of a path; further ones are cut off (GAP_TOO_DEEP). */
#define CALLPATH_MAX 256

struct callpath_frame {
	const uintptr_t *slot; /* where the return address is on the stack */
	uintptr_t address;     /* the return address */
};

/* The frames from the caller of the wrapper outwards. */
struct callpath {
	size_t count;
	int gap; /* enum path_gap: why frames further out are missing; 0: none are */
	struct callpath_frame frame[CALLPATH_MAX];
};

/* Unwinds the stack of the calling thread, from the frame that return_address returns to, whose callee's frame ends at cfa. */
void callpath_unwind(struct callpath *path, void *return_address, void *cfa);

/* The memo: (key, return address, cfa, slots) -> value (not NULL). Bounded: when full it forgets everything. A program comes by its calls
 * in much the same order again and again: each entry knows which one was found after it, so that a look-up is mostly one comparison. */
struct memo;
struct memo *memo_create(void);
void memo_destroy(struct memo *m);
/* Adds what was just unwound. Running out of memory is no error: it is then unwound again next time. */
void memo_add(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa);
void memo_clear(struct memo *m);
/* The value for this call, or NULL: unwind. */
static inline void *memo_find(struct memo *m, uint32_t key, void *return_address, void *cfa);

/* ---- implementation ---- */

struct memo_entry {
	uintptr_t address, cfa;
	uint32_t key, slots;
	void *value;
	struct memo_entry *followed; /* what was found after it the last time; never NULL */
	struct memo_entry *next;     /* with the same hash */
	struct callpath_frame slot[];
};

struct memo {
	struct memo_entry *at; /* what was found last; never NULL */
	struct memo_entry **heads;
	uint8_t *pool;
	size_t used;
};

void *memo_search(struct memo *m, uint32_t key, uintptr_t address, uintptr_t cfa);

/* Do the slots hold what they held when the entry was made? */
static inline __attribute__((always_inline)) bool memo_holds(const struct memo_entry *e)
{
	const struct callpath_frame *s = e->slot;
	uint32_t n = e->slots;
#define SAME(i) (*s[i].slot == s[i].address)
	for (; n >= 8; n -= 8, s += 8)
		if (!SAME(0) || !SAME(1) || !SAME(2) || !SAME(3) || !SAME(4) || !SAME(5) || !SAME(6) || !SAME(7))
			return false;
	switch (n) { /* unrolled: this is most of what a call path costs */
	case 7:
		if (!SAME(6))
			return false; /* fall through */
	case 6:
		if (!SAME(5))
			return false; /* fall through */
	case 5:
		if (!SAME(4))
			return false; /* fall through */
	case 4:
		if (!SAME(3))
			return false; /* fall through */
	case 3:
		if (!SAME(2))
			return false; /* fall through */
	case 2:
		if (!SAME(1))
			return false; /* fall through */
	case 1:
		return SAME(0);
	default:
		return true;
	}
#undef SAME
}

static inline __attribute__((always_inline)) bool memo_is(const struct memo_entry *e, uint32_t key, uintptr_t address, uintptr_t cfa)
{
	return e->address == address && e->cfa == cfa && e->key == key && memo_holds(e);
}

static inline void *memo_find(struct memo *m, uint32_t key, void *return_address, void *cfa)
{
	struct memo_entry *e = m->at->followed;
	if (__builtin_expect(!memo_is(e, key, (uintptr_t)return_address, (uintptr_t)cfa), 0))
		return memo_search(m, key, (uintptr_t)return_address, (uintptr_t)cfa);
	m->at = e;
	return e->value;
}

#endif
