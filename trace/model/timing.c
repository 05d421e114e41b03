/* SPDX-License-Identifier: BSD-3-Clause
 * timing - the times of all events of ranks, one by one
 */
#include "trace/model/timing.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

const struct trace_timing *timing_find(const struct trace *t, uint32_t rank)
{
	for (uint32_t i = 0; i < t->timing_count; i++)
		if (t->timing[i].rank == rank)
			return &t->timing[i];
	return NULL;
}

struct trace_timing *timing_add(struct trace *t, const struct trace_timing *head)
{
	if ((t->timing_count & (t->timing_count - 1)) == 0) { /* a power of two: full */
		struct trace_timing *more =
			budget_realloc(t->timing, (t->timing_count ? 2 * (size_t)t->timing_count : 1) * sizeof *more);
		if (!more)
			return NULL;
		t->timing = more;
	}
	struct trace_timing *r = &t->timing[t->timing_count++];
	*r = *head;
	r->flows = NULL;
	r->flow_count = r->flow_capacity = 0;
	return r;
}

int timing_add_flow_take(struct trace_timing *r, const struct trace_flow *flow)
{
	if (!budget_grow(&r->flows, r->flow_count, &r->flow_capacity, sizeof *r->flows)) {
		budget_free(flow->bytes);
		return -1;
	}
	r->flows[r->flow_count++] = *flow;
	return 0;
}

int timing_merge(struct trace *into, const struct trace *from, const uint32_t *sites)
{
	for (uint32_t i = 0; i < from->timing_count; i++) {
		const struct trace_timing *r = &from->timing[i];
		struct trace_timing *to = timing_add(into, r);
		if (!to)
			return -1;
		for (uint32_t k = 0; k < r->flow_count; k++) {
			struct trace_flow flow = r->flows[k];
			flow.from = sites[flow.from];
			flow.to = flow.to == TIMING_CALLS ? flow.to : sites[flow.to];
			flow.bytes = budget_malloc(flow.size + 1);
			if (!flow.bytes)
				return -1;
			memcpy(flow.bytes, r->flows[k].bytes, flow.size);
			if (timing_add_flow_take(to, &flow) != 0)
				return -1;
		}
	}
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct trace_timing *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_site(const void *a, const void *b)
{
	const struct trace_flow *x = a, *y = b;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

void timing_order(struct trace *t)
{
	for (uint32_t i = 0; i < t->timing_count; i++)
		if (t->timing[i].flow_count > 1)
			qsort(t->timing[i].flows, t->timing[i].flow_count, sizeof *t->timing[i].flows, by_site);
	if (t->timing_count > 1)
		qsort(t->timing, t->timing_count, sizeof *t->timing, by_rank);
}

void timing_free(struct trace *t)
{
	for (uint32_t i = 0; i < t->timing_count; i++) {
		for (uint32_t k = 0; k < t->timing[i].flow_count; k++)
			budget_free(t->timing[i].flows[k].bytes);
		budget_free(t->timing[i].flows);
	}
	budget_free(t->timing);
	t->timing = NULL;
	t->timing_count = 0;
}
