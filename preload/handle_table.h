/* SPDX-License-Identifier: BSD-3-Clause
 * handle_table - the hash table of handles: from kind and bits to an entry
 *
 * Open addressing with linear probing; a power of two of slots, at most half of them used; removal moves later entries
 * back, so that there are no tombstones. An entry is 32 bytes: a look-up touches one cache line, seldom two. Key 0 is
 * an empty slot.
 *
 * With several threads (handle_locking), whoever changes the table or an entry has handle.c's lock, and writes entries
 * between handle_table_write_begin and _end. Whoever reads looks without the lock first (handle_table_peek).
 */
#ifndef SPOOR_HANDLE_TABLE_H
#define SPOOR_HANDLE_TABLE_H

#include "preload/handle.h"

struct handle_entry {
	uint64_t key; /* bits and kind, never 0 */
	int32_t number;
	uint32_t
		/* with several threads: the one (thread_self()) that is in a call that frees the object; 0: none */
		freer;
	union {
		struct {
			int32_t rank, size, peers;
			uint8_t inter;
		} comm; /* HANDLE_COMM */
		struct {
			int64_t type_size;   /* HANDLE_TYPE; -1: unknown yet */
			uint32_t references; /* not HANDLE_COMM: how often it was returned, and not freed yet */
		};
		uint64_t words[2];
	};
};

struct handle_table {
	size_t mask; /* slots - 1 */
	unsigned shift;
	struct handle_table *smaller; /* what it replaced: with several threads, one may be reading there */
	struct handle_entry slot[];
};
extern struct handle_table *handle_table __attribute__((visibility("hidden"))); /* NULL: nothing is in it */
extern unsigned handle_table_version __attribute__((visibility("hidden"))); /* atomic; odd while an entry is written */

/* Addresses use at most 57 bits; keyvals are small integers, and 0 is one. */
static inline uint64_t handle_table_key(enum handle_kind kind, uint64_t bits)
{
	return bits ^ (uint64_t)kind << 59;
}

/* The entry, or NULL. It is valid until the next entry is inserted or removed. */
static inline struct handle_entry *handle_table_find(uint64_t key);
/* With several threads, without the lock: a copy of the entry. False: there is none, or it is just being written, so
 * that whoever asks does so again under the lock. */
bool handle_table_peek(uint64_t key, struct handle_entry *out);
/* A new entry that is all zero but its number; a key that is already there is returned as it is. NULL: no memory. Keeps
 * errno. */
struct handle_entry *handle_table_insert(uint64_t key, int32_t number);
/* Other entries may be elsewhere from now on. */
void handle_table_remove(struct handle_entry *e);
/* Frees it all. */
void handle_table_clear(void);

/* Around every change of an entry that others may read. */
static inline void handle_table_write_begin(void)
{
	__atomic_store_n(&handle_table_version, handle_table_version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void handle_table_write_end(void)
{
	__atomic_store_n(&handle_table_version, handle_table_version + 1, __ATOMIC_RELEASE);
}

/* ---- implementation ---- */

static inline size_t handle_table_home(const struct handle_table *t, uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> t->shift;
}

static inline struct handle_entry *handle_table_find(uint64_t key)
{
	struct handle_table *t = handle_table;

	if (__builtin_expect(!t, 0))
		return NULL;
	for (size_t i = handle_table_home(t, key);; i = (i + 1) & t->mask) {
		if (t->slot[i].key == key)
			return &t->slot[i];
		if (!t->slot[i].key)
			return NULL;
	}
}

#endif
