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

/* The memo: (key, return address, cfa, slots) -> value (not NULL). Bounded: when full it forgets everything. */
struct memo;
struct memo *memo_create(void);
void memo_destroy(struct memo *m);
/* Adds what was just unwound. Running out of memory is no error: it is then unwound again next time. */
void memo_add(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa);
void memo_clear(struct memo *m);

struct memo_entry {
	uint32_t key, slots;
	uintptr_t address, cfa;
	void *value;
	struct memo_entry *next; /* with the same hash */
	struct callpath_frame slot[];
};

struct memo {
	struct memo_entry **heads;
	uint8_t *pool;
	size_t used;
};

#define MEMO_HEADS 4096

static inline size_t memo_hash(uint32_t key, uintptr_t address, uintptr_t cfa)
{
	uint64_t h = (address ^ cfa << 17 ^ (uint64_t)key << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> 52);
}

/* The value for this call, or NULL: unwind. */
static inline void *memo_find(const struct memo *m, uint32_t key, void *return_address, void *cfa)
{
	uintptr_t address = (uintptr_t)return_address, frame = (uintptr_t)cfa;
	for (const struct memo_entry *e = m->heads[memo_hash(key, address, frame)]; e; e = e->next) {
		if (e->address != address || e->cfa != frame || e->key != key)
			continue;
		uint32_t i = 0;
		while (i < e->slots && *e->slot[i].slot == e->slot[i].address)
			i++;
		if (i == e->slots)
			return e->value;
	}
	return NULL;
}

#endif
