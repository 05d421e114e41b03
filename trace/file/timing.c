/* SPDX-License-Identifier: BSD-3-Clause
 * timing - the times of all events of ranks, one by one
 */
#include "trace/file/timing.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/file/container.h"
#include "trace/base/entropy.h"
#include "trace/record/flow.h"
#include "trace/base/index.h"

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
	if (r->flow_count == r->flow_capacity) {
		uint32_t capacity = r->flow_capacity ? 2 * r->flow_capacity : 16;
		struct trace_flow *more = budget_realloc(r->flows, capacity * sizeof *more);
		if (!more) {
			budget_free(flow->bytes);
			return -1;
		}
		r->flows = more;
		r->flow_capacity = capacity;
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

/* The chunk. What is coded are the varints' values: each with how many bits the one before had as its context. */

static unsigned bits_of(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static unsigned context_of(uint64_t before)
{
	unsigned bits = bits_of(before);
	return bits < ENTROPY_CONTEXTS ? bits : ENTROPY_CONTEXTS - 1;
}

static void put_coded(struct writer *w, const struct trace_timing *r)
{
	struct entropy_block *b = entropy_block_new();
	for (uint32_t k = 0; b && k < r->flow_count; k++) {
		struct reader in = reader_of(r->flows[k].bytes, r->flows[k].size);
		uint64_t before = 0;
		for (uint64_t n = 0; n < r->flows[k].count; n++) {
			uint64_t v = reader_uint(&in);
			entropy_put_number(&b->coder, context_of(before), 63, v);
			before = v;
		}
		w->failed |= in.bad;
	}
	entropy_block_put(w, b);
}

void timing_put(struct writer *w, const struct trace *t, bool compact)
{
	writer_uint(w, compact);
	writer_uint(w, t->timing_count);
	for (uint32_t i = 0; i < t->timing_count; i++) {
		const struct trace_timing *r = &t->timing[i];
		writer_uint(w, r->rank);
		writer_uint(w, r->digits);
		writer_uint(w, r->events);
		writer_uint(w, r->cut);
		writer_uint(w, r->ticks);
		writer_uint(w, r->ns);
		writer_int(w, r->start);
		writer_uint(w, r->flow_count);
		for (uint32_t k = 0; k < r->flow_count; k++) {
			const struct trace_flow *f = &r->flows[k];
			writer_uint(w, f->from);
			writer_uint(w, f->to == TIMING_CALLS ? 0 : f->to + UINT64_C(1));
			writer_uint(w, f->count);
			if (!compact) {
				writer_uint(w, f->size);
				writer_bytes(w, f->bytes, f->size);
			}
		}
		if (compact)
			put_coded(w, r);
	}
}

/* No value takes less of the coded bytes than 1/107: seven bits that are as likely as can be. */
#define VALUES_PER_BYTE 128

static int get_coded(struct reader *r, struct trace_timing *to, bool slow)
{
	int rv = 0;
	struct entropy_source *s = entropy_source_new(r, slow);
	if (!s)
		return -1;
	uint64_t left = ((uint64_t)s->size + 8) * VALUES_PER_BYTE;
	for (uint32_t k = 0; rv == 0 && k < to->flow_count; k++) {
		struct trace_flow *f = &to->flows[k];
		struct writer out = {0};
		uint64_t before = 0;
		if (f->count > left) {
			rv = -1;
			break;
		}
		left -= f->count;
		for (uint64_t n = 0; n < f->count && !s->in.bad; n++) {
			before = entropy_number(&s->coder, context_of(before), 63);
			writer_uint(&out, before);
		}
		f->bytes = out.data;
		f->size = out.size;
		rv = out.failed || s->in.bad ? -1 : 0;
	}
	return entropy_source_end(s) != 0 ? -1 : rv;
}

static int get_flow(struct reader *r, const struct trace *t, struct trace_timing *to, bool compact)
{
	uint64_t from = reader_uint(r), next = reader_uint(r);
	struct trace_flow f = {.count = reader_uint(r)};
	if (r->bad || from >= t->site_count || next > t->site_count)
		return -1;
	f.from = (uint32_t)from;
	f.to = next ? (uint32_t)next - 1 : TIMING_CALLS;
	if (!compact) {
		size_t size = reader_count(r);
		const uint8_t *bytes = reader_bytes(r, size);
		f.bytes = bytes ? budget_malloc(size + 1) : NULL;
		if (!f.bytes)
			return -1;
		memcpy(f.bytes, bytes, size);
		f.size = size;
		struct reader check = reader_of(bytes, size);
		for (uint64_t n = 0; n < f.count && !check.bad; n++)
			reader_uint(&check);
		if (check.bad || check.at != check.end) {
			budget_free(f.bytes);
			return -1;
		}
	}
	return timing_add_flow_take(to, &f);
}

int timing_get(struct reader *r, struct trace *t, uint32_t flags)
{
	bool compact = reader_uint(r) != 0;
	for (size_t n = reader_count(r); n > 0; n--) {
		uint64_t rank = reader_uint(r), digits = reader_uint(r);
		struct trace_timing head = {
			.rank = (uint32_t)rank, .digits = (uint32_t)digits, .events = reader_uint(r)};
		int64_t events;
		head.cut = reader_uint(r) != 0;
		head.ticks = reader_uint(r);
		head.ns = reader_uint(r);
		head.start = reader_int(r);
		size_t flows = reader_count(r);
		if (r->bad || rank > UINT32_MAX || (digits != FLOW_EXACT && digits > FLOW_DIGITS_MAX) ||
		    head.ticks == 0 || head.ticks >> 62 || head.ns >> 62 || !rankmap_get(&t->events, rank, &events) ||
		    head.events > (uint64_t)events || (t->timing_count && t->timing[t->timing_count - 1].rank >= rank))
			return -1;
		struct trace_timing *to = timing_add(t, &head);
		for (; to && flows > 0; flows--)
			if (get_flow(r, t, to, compact) != 0)
				return -1;
		if (!to || (compact && get_coded(r, to, !(flags & CONTAINER_BRIEF)) != 0))
			return -1;
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* The events' times. */

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
