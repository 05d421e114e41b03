/* SPDX-License-Identifier: BSD-3-Clause
 * snapshot - a copy of a running process' arena
 *
 * Loads of this process are in the order in which they are written here, and stores of the other one become visible in
 * the order in which it made them: so the processors of x86 do it. Elsewhere the fence orders the loads.
 */
#include "trace/base/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/base/arena.h"

#define WORDS_MOST (UINT64_C(1) << 14) /* that change while the rest is copied */
#define ROUNDS     64                  /* times that all is compared */
#define READINGS   (UINT64_C(1) << 24) /* of single words that change */

struct snapshot {
	const volatile uint64_t *live; /* the mapped arena */
	uint64_t *copy;
	uint64_t count; /* words that are used */
	/* words that have changed: where, their values at two readings, and a bit for each word of the arena */
	uint32_t *moving;
	uint64_t *first, *second;
	uint8_t *is_moving;
	uint64_t moving_count;
	uint64_t readings; /* that are left */
};

/* 0: more than there is. An arena that is just made uses nothing yet. */
static uint64_t words_used(const struct snapshot *s, uint64_t size)
{
	uint64_t used = s->live[offsetof(struct arena_header, used) / sizeof(uint64_t)];
	if (used < sizeof(struct arena_header))
		used = sizeof(struct arena_header);
	return used <= size ? used / sizeof(uint64_t) : 0;
}

/* Copies what has changed since the last time; it is moving from now on. Returns how many words these are, of those
 * that were not. */
static uint64_t compare_all(struct snapshot *s)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < s->count; i++) {
		uint64_t now = s->live[i];
		if (now == s->copy[i] || s->is_moving[i / 8] >> i % 8 & 1)
			continue;
		s->copy[i] = now;
		found++;
		if (s->moving_count == WORDS_MOST)
			break;
		s->is_moving[i / 8] |= (uint8_t)(1 << i % 8);
		s->moving[s->moving_count++] = (uint32_t)i;
	}
	return found;
}

static void read_moving(const struct snapshot *s, uint64_t *to)
{
	for (uint64_t i = 0; i < s->moving_count; i++)
		to[i] = s->live[s->moving[i]];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Reads all words that move at one instant. False: they did not stay the same for so long. */
static bool read_together(struct snapshot *s)
{
	for (; s->readings > s->moving_count; s->readings -= s->moving_count + 1) {
		read_moving(s, s->first);
		read_moving(s, s->second);
		if (memcmp(s->first, s->second, s->moving_count * sizeof *s->first) == 0)
			return true;
	}
	return false;
}

/* A new copy: nothing is known to move. */
static void copy_all(struct snapshot *s, uint64_t size)
{
	s->count = words_used(s, size);
	for (uint64_t i = 0; i < s->count; i++)
		s->copy[i] = s->live[i];
	memset(s->is_moving, 0, size / (8 * sizeof(uint64_t)) + 1);
	s->moving_count = 0;
}

/* Invariant: a word that does not move is what was copied, at all times since. */
static bool settle(struct snapshot *s, uint64_t size)
{
	copy_all(s, size);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t found = compare_all(s);
		if (found > 0 && s->moving_count < WORDS_MOST)
			continue;
		if (s->moving_count == WORDS_MOST || words_used(s, size) != s->count) {
			copy_all(s, size);
			continue;
		}
		if (!read_together(s))
			return false;
		if (compare_all(s) > 0)
			continue;
		for (uint64_t k = 0; k < s->moving_count; k++)
			s->copy[s->moving[k]] = s->first[k];
		if (s->count > 0 && words_used(&(struct snapshot){.live = s->copy}, size) == s->count)
			return true;
	}
	return false;
}

bool snapshot_take(uint8_t *to, uint64_t size, int fd)
{
	struct snapshot s = {.copy = (uint64_t *)(void *)to, .readings = READINGS};
	void *live = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (live == MAP_FAILED)
		return false;
	s.live = live;
	s.moving = malloc(WORDS_MOST * sizeof *s.moving);
	s.first = malloc(WORDS_MOST * sizeof *s.first);
	s.second = malloc(WORDS_MOST * sizeof *s.second);
	s.is_moving = malloc(size / (8 * sizeof(uint64_t)) + 1);
	bool ok = s.moving && s.first && s.second && s.is_moving && settle(&s, size);
	free(s.moving);
	free(s.first);
	free(s.second);
	free(s.is_moving);
	munmap(live, size);
	return ok;
}
