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
#define BUCKETS 65536
#define NOWHERE UINT32_MAX

struct search {
	const int64_t *values;
	const uint8_t *bits;
	uint32_t count;
	uint32_t *latest; /* of each bucket */
	uint32_t *before; /* of each place: the one before it in its chain */
	const struct copies_past *past;
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

/* The number so many places behind a place of the past, which the list follows. */
static int64_t past_value(const struct search *s, uint32_t place)
{
	return place < s->past->count ? s->past->values[place] : s->values[place - s->past->count];
}

/* How many bits a copy from so far in front saves; numbers: in front of it. */
static int64_t saved_by(const struct search *s, uint32_t at, uint32_t numbers, uint32_t from, uint32_t *length)
{
	uint32_t n = 0;
	int64_t saved = -(int64_t)(gamma_bits(from - 1, COPY_FROM_BITS) + gamma_bits(numbers, COPY_NUMBERS_BITS));
	if (from <= at)
		for (; at + n < s->count && s->values[at + n] == s->values[at + n - from]; n++)
			saved += s->bits[at + n];
	else
		for (; at + n < s->count && s->values[at + n] == past_value(s, s->past->count + at + n - from); n++)
			saved += s->bits[at + n];
	*length = n;
	return saved - (int64_t)gamma_bits(n, COPY_LENGTH_BITS);
}

/* How many bits a copy saves; *out is the one that saves most. numbers: in front of it. */
static int64_t best_copy(const struct search *s, uint32_t at, uint32_t numbers, struct copy *out)
{
	int64_t most = 0;
	bool any = at + LEAST <= s->count;
	uint32_t bucket = any ? bucket_of(s->values + at) : 0;
	const int pasts = s->past && s->past->count > 0 ? 1 : 0;
	for (int past = 0; any && past <= pasts; past++) {
		const uint32_t *before = past ? s->past->before : s->before;
		uint32_t other = past ? s->past->latest[bucket] : s->latest[bucket];
		for (int tries = 0; other != NOWHERE && tries < CHAIN; other = before[other], tries++) {
			uint32_t length, from = at - other + (past ? s->past->count : 0);
			int64_t saved = saved_by(s, at, numbers, from, &length);
			if (saved > most) {
				most = saved;
				*out = (struct copy){at, length, from};
			}
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

int copies_past_add(struct copies_past *p, const int64_t *values, uint32_t count)
{
	uint32_t first = p->count < LEAST ? 0 : p->count - LEAST + 1; /* where it was not known what follows */
	if (!p->latest) {
		if (!(p->latest = budget_malloc(BUCKETS * sizeof *p->latest)))
			return -1;
		memset(p->latest, 0xff, BUCKETS * sizeof *p->latest);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!budget_grow(&p->values, p->count, &p->value_capacity, sizeof *p->values) ||
		    !budget_grow(&p->before, p->count, &p->before_capacity, sizeof *p->before))
			return -1;
		p->values[p->count++] = values[i];
	}
	struct search s = {p->values, NULL, p->count, p->latest, p->before, NULL};
	add_places(&s, first, p->count);
	return 0;
}

void copies_past_free(struct copies_past *p)
{
	budget_free(p->values);
	budget_free(p->before);
	budget_free(p->latest);
}

int copies_find(struct copies *c, const int64_t *values, const uint8_t *bits, uint32_t count,
                const struct copies_past *past)
{
	struct search s = {values, bits, count, NULL, NULL, past};
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
