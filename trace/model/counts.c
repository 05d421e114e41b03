/* SPDX-License-Identifier: BSD-3-Clause
 * counts - events that were counted in calls and between them
 */
#include "trace/model/counts.h"

#include <string.h>

#include "trace/base/budget.h"

const uint32_t counts_same[TRACE_COUNTERS] = {0, 1, 2, 3, 4, 5, 6, 7};

uint32_t counts_number(struct trace *t, uint32_t name)
{
	for (uint32_t i = 0; i < t->counter_count; i++)
		if (t->counters[i].name == name)
			return i;
	if (t->counter_count == TRACE_COUNTERS)
		return UINT32_MAX;
	t->counters[t->counter_count] = (struct trace_counter){.name = name};
	return t->counter_count++;
}

static bool string_before(const struct trace *t, uint32_t a, uint32_t b)
{
	const struct pool_item *x = &t->strings.items[a], *y = &t->strings.items[b];
	size_t n = x->size < y->size ? x->size : y->size;
	int order = n ? memcmp(x->bytes, y->bytes, n) : 0;
	return order ? order < 0 : x->size < y->size;
}

void counts_tell(struct trace *t, uint32_t counter, uint64_t ranks, uint64_t missing, uint32_t reason)
{
	struct trace_counter *c = &t->counters[counter];
	c->ranks += ranks;
	c->missing += missing;
	if (reason && (!c->reason || string_before(t, reason, c->reason)))
		c->reason = reason;
}

struct histogram *counts_make(struct histogram **counts)
{
	if (!*counts)
		*counts = budget_calloc(TRACE_COUNTERS, sizeof **counts);
	return *counts;
}

void counts_free(struct histogram **counts)
{
	for (unsigned i = 0; *counts && i < TRACE_COUNTERS; i++)
		histogram_free(&(*counts)[i]);
	budget_free(*counts);
	*counts = NULL;
}

int counts_add(struct histogram **to, const struct histogram *from, const uint32_t numbers[TRACE_COUNTERS])
{
	for (unsigned i = 0; from && i < TRACE_COUNTERS; i++) {
		if (from[i].count == 0 || numbers[i] == UINT32_MAX)
			continue;
		if (!counts_make(to) || histogram_add(&(*to)[numbers[i]], &from[i]) != 0)
			return -1;
	}
	return 0;
}

int counts_merge(struct trace *into, const struct trace *from, const uint32_t *strings,
                 uint32_t numbers[TRACE_COUNTERS])
{
	for (uint32_t i = 0; i < from->counter_count; i++) {
		const struct trace_counter *c = &from->counters[i];
		numbers[i] = counts_number(into, strings[c->name]);
		if (numbers[i] != UINT32_MAX)
			counts_tell(into, numbers[i], c->ranks, c->missing, c->reason ? strings[c->reason] : 0);
	}
	return 0;
}

void counts_order(struct trace *into, const struct trace *from, const uint32_t *strings)
{
	for (uint32_t i = 0; i < from->counter_count; i++) {
		uint32_t best = UINT32_MAX;
		for (uint32_t k = 0; k < from->counter_count; k++) {
			uint32_t name = strings[from->counters[k].name];
			bool known = false;
			for (uint32_t n = 0; n < into->counter_count; n++)
				known |= into->counters[n].name == name;
			best = !known && name < best ? name : best;
		}
		if (best != UINT32_MAX)
			counts_number(into, best);
	}
}
