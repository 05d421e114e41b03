/* SPDX-License-Identifier: BSD-3-Clause
 * timeline - begin and end of the events of a rank, in order
 */
#include "trace/read/timeline.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/flow_code.h"
#include "trace/model/timing.h"

struct flow_reader {
	struct reader in;
	uint64_t left, previous;
	uint32_t from, to;
};

struct timeline {
	const struct trace_timing *timing;
	struct flow_reader *flows;
	struct index index; /* (from, to) -> flow */
	uint64_t event, ticks;
	uint32_t last; /* site */
};

struct pair {
	const struct timeline *line;
	uint32_t from, to;
};

static bool is_pair(const void *context, uint32_t i)
{
	const struct pair *p = context;
	return p->line->flows[i].from == p->from && p->line->flows[i].to == p->to;
}

static uint64_t pair_hash(uint32_t from, uint32_t to)
{
	return hash_mix(hash_mix(9, from), to);
}

struct timeline *timeline_open(const struct trace *t, uint32_t rank, bool *none)
{
	const struct trace_timing *r = timing_find(t, rank);
	struct timeline *l = r ? budget_calloc(1, sizeof *l) : NULL;
	*none = !r;
	if (!l)
		return NULL;
	l->timing = r;
	l->flows = budget_calloc(r->flow_count + UINT64_C(1), sizeof *l->flows);
	for (uint32_t i = 0; l->flows && i < r->flow_count; i++) {
		const struct trace_flow *f = &r->flows[i];
		l->flows[i] = (struct flow_reader){reader_of(f->bytes, f->size), f->count, 0, f->from, f->to};
		if (index_add(&l->index, pair_hash(f->from, f->to), i) != 0) {
			budget_free(l->flows);
			l->flows = NULL;
		}
	}
	if (!l->flows) {
		timeline_close(l);
		return NULL;
	}
	return l;
}

void timeline_close(struct timeline *l)
{
	if (!l)
		return;
	index_free(&l->index);
	budget_free(l->flows);
	budget_free(l);
}

/* Goes on by the next value of a flow. Returns 0, or 1: there is none. */
static int advance(struct timeline *l, uint32_t from, uint32_t to)
{
	uint32_t i = index_find(&l->index, pair_hash(from, to), is_pair, &(struct pair){l, from, to});
	if (i == INDEX_NONE || l->flows[i].left == 0)
		return 1;
	struct flow_reader *f = &l->flows[i];
	uint64_t ticks = flow_ticks(flow_next(&f->in, &f->previous, l->timing->digits), l->timing->digits);
	f->left--;
	if (f->in.bad || __builtin_add_overflow(l->ticks, ticks, &l->ticks) || l->ticks >> 62)
		return 1;
	return 0;
}

static uint64_t ns_of(const struct timeline *l)
{
	return (uint64_t)((uint128)l->ticks * l->timing->ns / l->timing->ticks);
}

int timeline_next(struct timeline *l, uint32_t site, uint64_t *begin, uint64_t *end)
{
	if (l->event >= l->timing->events || (l->event > 0 && advance(l, l->last, site) != 0)) {
		l->event = l->timing->events;
		return 1;
	}
	*begin = ns_of(l);
	if (advance(l, site, TIMING_CALLS) != 0) {
		l->event = l->timing->events;
		return 1;
	}
	*end = ns_of(l);
	l->last = site;
	l->event++;
	return 0;
}
