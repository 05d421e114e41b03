/* SPDX-License-Identifier: BSD-3-Clause
 * copies - what of a list of numbers stands further in front of it, too
 *
 * Places with the same LEAST numbers from there on are a chain, the latest one first. A copy is taken if it saves bits,
 * unless the one that begins at the next place saves more.
 */
#include "proxy/copies.h"

#include <stdbool.h>
#include <string.h>

#include "trace/base/budget.h"

#define LEAST   3  /* numbers of a copy */
#define CHAIN   48 /* places that are tried */
#define BUCKETS 4096
#define NOWHERE UINT32_MAX

struct search {
	const int64_t *values;
	const uint8_t *bits;
	uint32_t count;
	uint32_t *latest; /* of each bucket */
	uint32_t *before; /* of each place: the one before it in its chain */
};

static uint32_t bucket_of(const int64_t *values)
{
	uint64_t hash = 0;
	for (int i = 0; i < LEAST; i++)
		hash = (hash ^ (uint64_t)values[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 32) % BUCKETS;
}

static void add_places(struct search *s, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to && i + LEAST <= s->count; i++) {
		uint32_t *latest = &s->latest[bucket_of(s->values + i)];
		s->before[i] = *latest;
		*latest = i;
	}
}

/* How many bits a copy saves; *out is the one that saves most. numbers: in front of it. */
static int64_t best_copy(const struct search *s, uint32_t at, uint32_t numbers, struct copy *out)
{
	int64_t most = 0;
	uint32_t other = at + LEAST <= s->count ? s->latest[bucket_of(s->values + at)] : NOWHERE;
	for (int tries = 0; other != NOWHERE && tries < CHAIN; other = s->before[other], tries++) {
		uint32_t length = 0, from = at - other;
		int64_t saved =
			-(int64_t)(gamma_bits(from - 1, COPY_FROM_BITS) + gamma_bits(numbers, COPY_NUMBERS_BITS));
		for (; at + length < s->count && s->values[at + length] == s->values[other + length]; length++)
			saved += s->bits[at + length];
		saved -= (int64_t)gamma_bits(length, COPY_LENGTH_BITS);
		if (saved > most) {
			most = saved;
			*out = (struct copy){at, length, from};
		}
	}
	return most;
}

static int find_all(struct search *s, struct copies *c)
{
	uint32_t end = 0; /* of the last copy */
	for (uint32_t i = 0; i < s->count;) {
		struct copy now, next;
		int64_t saved = best_copy(s, i, i - end, &now);
		add_places(s, i, i + 1);
		if (saved == 0 || (i + 1 < s->count && best_copy(s, i + 1, i + 1 - end, &next) > saved + s->bits[i])) {
			i++;
			continue;
		}
		if (!budget_grow(&c->each, c->count, &c->capacity, sizeof *c->each))
			return -1;
		c->each[c->count++] = now;
		end = i + now.length;
		add_places(s, i + 1, end);
		i = end;
	}
	return 0;
}

int copies_find(struct copies *c, const int64_t *values, const uint8_t *bits, uint32_t count)
{
	struct search s = {values, bits, count, NULL, NULL};
	int rv = -1;
	c->count = 0;
	s.latest = budget_malloc(BUCKETS * sizeof *s.latest);
	s.before = budget_malloc((count + UINT64_C(1)) * sizeof *s.before);
	if (s.latest && s.before) {
		memset(s.latest, 0xff, BUCKETS * sizeof *s.latest);
		rv = find_all(&s, c);
	}
	budget_free(s.latest);
	budget_free(s.before);
	return rv;
}
