/* SPDX-License-Identifier: BSD-3-Clause
 * array_queue - arrays of a large program that have no rule: each visit takes the next one of a queue
 */
#include "proxy/array_queue.h"

#include "proxy/queues.h"
#include "trace/base/budget.h"

#define VISITS_MOST  65536
#define NUMBERS_MOST 65536 /* of a rank */

static const struct pool_item *next_array(const struct places *p, struct runs_walk *walk)
{
	return &p->n->c->structure->vectors.items[runs_next(walk)];
}

static uint64_t array_width(const struct pool_item *item)
{
	return item->size / sizeof(int64_t);
}

/* The arrays of a rank one behind the other, each with its length in front. Returns as array_queue_make. */
static int join_arrays(const struct places *p, const struct runs *runs, struct queue_list *out)
{
	uint64_t lead, period, all = 0, count = 0;
	if (!runs_length(runs, VISITS_MOST, &lead, &period))
		return 1;
	struct runs_walk walk = {.runs = runs}, again = walk;
	for (uint64_t i = 0; i < lead + period; i++) {
		out->lead = i == lead ? all : out->lead;
		all += 1 + array_width(next_array(p, &walk));
	}
	out->lead = period ? out->lead : all;
	out->period = all - out->lead;
	if (all > NUMBERS_MOST || !budget_step(all))
		return 1;
	if (!(out->values = budget_malloc(all * sizeof *out->values)))
		return -1;
	for (uint64_t i = 0; i < lead + period; i++) {
		const struct pool_item *item = next_array(p, &again);
		out->values[count++] = (int64_t)array_width(item);
		for (uint64_t k = 0; k < array_width(item); k++)
			out->values[count++] = places_number(item, k);
	}
	return 0;
}

static int make_lists(const struct places *p, struct queue_list *of_rank, bool *none, const struct tree_node **out)
{
	struct columns *c = p->n->c;
	uint32_t rows = 0;
	for (uint32_t r = 0; r < c->structure->ranks; r++) {
		none[r] = !p->n->of_rank[r];
		int rv = none[r] ? 0 : join_arrays(p, p->n->of_rank[r], &of_rank[r]);
		if (rv != 0)
			return rv;
	}
	if (queues_find_rows(of_rank, c->structure->ranks, &rows) != 0)
		return -1;
	int64_t number = rows ? queues_add(c->queues, of_rank, none, c->structure->ranks, rows) : -2;
	if (number < 0)
		return number == -1 ? -1 : 1;
	*out = queues_use(c->queues, c->tree, c->tables, (uint32_t)number);
	return 0;
}

int array_queue_make(const struct places *p, const struct tree_node **number)
{
	const uint32_t ranks = p->n->c->structure->ranks;
	*number = NULL;
	if (!p->n->c->queues || !places_are_numbers(p))
		return 1;
	struct queue_list *of_rank = budget_calloc(ranks, sizeof *of_rank);
	bool *none = budget_calloc(ranks, sizeof *none);
	int rv = of_rank && none ? make_lists(p, of_rank, none, number) : -1;
	for (uint32_t r = 0; of_rank && r < ranks; r++)
		budget_free(of_rank[r].values);
	budget_free(of_rank);
	budget_free(none);
	return rv;
}
