/* SPDX-License-Identifier: BSD-3-Clause
 * counts - events that were counted in calls and between them
 */
#include "trace/file/counts.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/file/histogram.h"

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

struct trace_time *counts_make(struct trace_time **counts)
{
	if (!*counts)
		*counts = budget_calloc(TRACE_COUNTERS, sizeof **counts);
	return *counts;
}

void counts_free(struct trace_time **counts)
{
	for (unsigned i = 0; *counts && i < TRACE_COUNTERS; i++)
		trace_time_free(&(*counts)[i]);
	budget_free(*counts);
	*counts = NULL;
}

int counts_add(struct trace_time **to, const struct trace_time *from, const uint32_t numbers[TRACE_COUNTERS])
{
	for (unsigned i = 0; from && i < TRACE_COUNTERS; i++) {
		if (from[i].count == 0 || numbers[i] == UINT32_MAX)
			continue;
		if (!counts_make(to) || trace_time_add(&(*to)[numbers[i]], &from[i]) != 0)
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

/* All histograms of a counter, one after the other: those of the sites, each followed by those of its edges. */
struct each {
	const struct trace *t;
	uint32_t counter, site, edge; /* edge: + 1; 0: the site itself */
};

static struct trace_time **next(struct each *e)
{
	const struct trace *t = e->t;
	while (e->site < t->site_count && e->edge > t->sites[e->site].edge_count) {
		e->site++;
		e->edge = 0;
	}
	if (e->site == t->site_count)
		return NULL;
	struct trace_site *s = &t->sites[e->site];
	return e->edge++ == 0 ? &s->counts : &s->edges[e->edge - 2].counts;
}

/* The times that go with them: they say how many values to expect. */
static const struct trace_time *times_of(const struct each *e)
{
	const struct trace_site *s = &e->t->sites[e->site];
	return e->edge == 1 ? &s->communicate : &s->edges[e->edge - 2].compute;
}

static struct histogram_place place(const struct each *e, const struct histogram_visits *visits, uint64_t all,
                                    unsigned form)
{
	const struct trace_site *s = &e->t->sites[e->site];
	uint32_t to = e->edge == 1 ? e->site : s->edges[e->edge - 2].to;
	struct histogram_place p =
		histogram_place(e->t, &visits[e->site], &visits[to], e->edge == 1 ? 0 : HISTOGRAM_CONTEXTS, form);
	p.all = all;
	return p;
}

static void put_compact(struct writer *w, const struct trace *t, uint32_t counter,
                        const struct histogram_visits *visits)
{
	static const struct trace_time none;
	struct entropy_block *b = entropy_block_new();
	struct trace_time **counts;
	uint64_t all = 0;
	for (struct each each = {t, counter, 0, 0}; (counts = next(&each));)
		all += *counts ? (*counts)[counter].sum : 0;
	for (struct each each = {t, counter, 0, 0}; b && (counts = next(&each));) {
		struct histogram_place p = place(&each, visits, all, 0);
		histogram_put(&b->coder, &p, *counts ? &(*counts)[counter] : &none, times_of(&each)->count);
	}
	entropy_block_put(w, b);
}

void counts_put(struct writer *w, const struct trace *t, bool complete)
{
	static const struct trace_time none;
	struct histogram_visits *visits = histogram_visits_new(t);
	writer_uint(w, t->counter_count);
	for (uint32_t i = 0; i < t->counter_count; i++) {
		writer_uint(w, t->counters[i].name);
		writer_uint(w, t->counters[i].ranks);
		writer_uint(w, t->counters[i].missing);
		writer_uint(w, t->counters[i].reason);
	}
	writer_uint(w, complete);
	w->failed |= !visits;
	for (uint32_t i = 0; visits && i < t->counter_count; i++) {
		if (complete) {
			put_compact(w, t, i, visits);
			continue;
		}
		struct each each = {t, i, 0, 0};
		for (struct trace_time **counts; (counts = next(&each));)
			histogram_put_whole(w, *counts ? &(*counts)[i] : &none);
	}
	histogram_visits_free(visits, t);
}

/* Takes what was read, if there is anything. */
static int take(struct trace_time **counts, uint32_t counter, struct trace_time *one)
{
	if (one->count == 0 || !counts_make(counts)) {
		bool bad = one->count != 0;
		trace_time_free(one);
		return bad ? -1 : 0;
	}
	(*counts)[counter] = *one;
	return 0;
}

static int get_compact(struct reader *r, struct trace *t, uint32_t counter, const struct histogram_visits *visits,
                       unsigned form)
{
	int rv = 0;
	struct trace_time **counts;
	struct entropy_source *s = entropy_source_new(r, form & HISTOGRAM_LONG);
	if (!s)
		return -1;
	for (struct each each = {t, counter, 0, 0}; rv == 0 && (counts = next(&each));) {
		struct trace_time one = {0};
		struct histogram_place p = place(&each, visits, 0, form);
		rv = histogram_get(&s->coder, &p, &one, times_of(&each)->count);
		if (rv != 0)
			trace_time_free(&one);
		else
			rv = take(counts, counter, &one);
	}
	return entropy_source_end(s) != 0 ? -1 : rv;
}

int counts_get(struct reader *r, struct trace *t, uint32_t flags)
{
	unsigned form =
		histogram_form(flags) & ~(unsigned)HISTOGRAM_WHOLE_COUNTS; /* of these they are rounded in all files */
	int rv = 0;
	size_t n = reader_count(r);
	if (r->bad || n > TRACE_COUNTERS)
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint64_t name = reader_uint(r), ranks = reader_uint(r), missing = reader_uint(r),
			 reason = reader_uint(r);
		if (r->bad || name >= t->strings.count || reason >= t->strings.count ||
		    counts_number(t, (uint32_t)name) != i)
			return -1;
		counts_tell(t, (uint32_t)i, ranks, missing, (uint32_t)reason);
	}
	bool complete = reader_uint(r) != 0;
	struct histogram_visits *visits = histogram_visits_new(t);
	if (!visits)
		return -1;
	for (uint32_t i = 0; rv == 0 && i < n; i++) {
		if (complete) {
			rv = get_compact(r, t, i, visits, form);
			continue;
		}
		struct each each = {t, i, 0, 0};
		for (struct trace_time **counts; rv == 0 && (counts = next(&each));) {
			struct trace_time one = {0};
			rv = histogram_get_whole(r, &one);
			if (rv != 0)
				trace_time_free(&one);
			else
				rv = take(counts, i, &one);
		}
	}
	histogram_visits_free(visits, t);
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}
