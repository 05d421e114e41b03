/* SPDX-License-Identifier: BSD-3-Clause
 * away - for how long ranks were off the processor between two calls
 */
#include "trace/model/away.h"

#include <stdlib.h>

#include "trace/base/budget.h"

uint64_t away_round(uint64_t value)
{
	int bits = value ? 64 - __builtin_clzll(value) : 0, low = bits > AWAY_BITS ? bits - AWAY_BITS : 0;
	return value >> low << low;
}

int away_add(struct trace *t, const struct trace_away *a)
{
	if ((t->away_count & (t->away_count - 1)) == 0) { /* a power of two: full */
		struct trace_away *more =
			budget_realloc(t->away, (t->away_count ? 2 * (size_t)t->away_count : 1) * sizeof *more);
		if (!more)
			return -1;
		t->away = more;
	}
	t->away[t->away_count++] = *a;
	return 0;
}

int away_merge(struct trace *into, const struct trace *from, const uint32_t *sites)
{
	for (uint32_t i = 0; i < from->away_count; i++) {
		struct trace_away a = from->away[i];
		a.from = sites[a.from];
		a.to = sites[a.to];
		if (away_add(into, &a) != 0)
			return -1;
	}
	return 0;
}

static int by_edge(const void *a, const void *b)
{
	const struct trace_away *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sites that are one now may have had edges of their own. */
void away_order(struct trace *t)
{
	uint32_t count = 0;
	if (t->away_count > 1)
		qsort(t->away, t->away_count, sizeof *t->away, by_edge);
	for (uint32_t i = 0; i < t->away_count; i++) {
		if (count && by_edge(&t->away[count - 1], &t->away[i]) == 0)
			t->away[count - 1].us += t->away[i].us;
		else
			t->away[count++] = t->away[i];
	}
	t->away_count = count;
}

uint64_t away_between(const struct trace *t, uint32_t from, uint32_t to, uint32_t rank)
{
	const struct trace_away key = {.from = from, .to = to, .rank = rank};
	const struct trace_away *found =
		t->away_count ? bsearch(&key, t->away, t->away_count, sizeof key, by_edge) : NULL;
	return found ? found->us : 0;
}

void away_free(struct trace *t)
{
	budget_free(t->away);
	t->away = NULL;
	t->away_count = 0;
}
