/* SPDX-License-Identifier: BSD-3-Clause
 * steps - which call site follows on which in a walk, and how often
 */
#include "proxy/steps.h"

#include <stdlib.h>

#include "trace/base/budget.h"

struct step_key {
	const struct steps *steps;
	uint32_t from, to;
};

static bool step_equal(const void *context, uint32_t i)
{
	const struct step_key *k = context;
	return k->steps->each[i].from == k->from && k->steps->each[i].to == k->to;
}

uint32_t steps_number(struct steps *s, uint32_t from, uint32_t to)
{
	struct step_key key = {s, from, to};
	uint64_t hash = hash_mix(hash_mix(7, from), to);
	uint32_t i = index_find(&s->index, hash, step_equal, &key);
	if (i != INDEX_NONE)
		return i;
	if (!budget_grow(&s->each, s->count, &s->capacity, sizeof *s->each) ||
	    index_add(&s->index, hash, s->count) != 0)
		return INDEX_NONE;
	s->each[s->count] = (struct nest_edge){from, to, 0};
	s->content += hash;
	return s->count++;
}

int steps_add(struct steps *s, uint32_t from, uint32_t to, uint64_t times)
{
	uint32_t i = steps_number(s, from, to);
	if (i == INDEX_NONE)
		return -1;
	s->each[i].count += times;
	return 0;
}

int steps_add_all(struct steps *s, const struct steps *other)
{
	for (uint32_t i = 0; i < other->count; i++)
		if (steps_add(s, other->each[i].from, other->each[i].to, other->each[i].count) != 0)
			return -1;
	return 0;
}

void steps_free(struct steps *s)
{
	budget_free(s->each);
	index_free(&s->index);
	*s = (struct steps){.count = 0};
}

static int compare_steps(const void *a, const void *b)
{
	const struct nest_edge *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

void steps_sort(struct steps *s)
{
	if (s->count)
		qsort(s->each, s->count, sizeof *s->each, compare_steps);
	index_free(&s->index);
}

int step_kinds_add(struct step_kinds *k, struct steps *rank)
{
	int rv = 0;
	uint32_t i = 0;
	while (i < k->count && (k->each[i].count != rank->count || k->each[i].content != rank->content))
		i++;
	if (i < k->count) {
		rv = steps_add_all(&k->each[i], rank);
	} else if (k->too_many || k->count == STEP_KINDS) {
		step_kinds_free(k);
		k->too_many = true;
	} else if (budget_grow(&k->each, k->count, &k->capacity, sizeof *k->each)) {
		k->each[k->count++] = *rank;
		return 0;
	} else {
		rv = -1;
	}
	steps_free(rank);
	return rv;
}

void step_kinds_free(struct step_kinds *k)
{
	for (uint32_t i = 0; i < k->count; i++)
		steps_free(&k->each[i]);
	budget_free(k->each);
	*k = (struct step_kinds){.count = 0};
}
