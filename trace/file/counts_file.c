/* SPDX-License-Identifier: BSD-3-Clause
 * counts_file - the stored form of events that were counted: the chunk CNTR
 *
 * Counter by counter, the histograms of all sites, each followed by those of its edges. How many values each has is
 * known from HIST: events are counted where they are timed, so that a count of values is mostly the bit "as expected".
 */
#include "trace/file/counts_file.h"

#include "trace/base/budget.h"
#include "trace/file/histogram_file.h"
#include "trace/model/counts.h"

/* All histograms of a counter, one after the other: those of the sites, each followed by those of its edges. */
struct each {
	const struct trace *t;
	uint32_t counter, site, edge; /* edge: + 1; 0: the site itself */
};

static struct histogram **next(struct each *e)
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
static const struct histogram *times_of(const struct each *e)
{
	const struct trace_site *s = &e->t->sites[e->site];
	return e->edge == 1 ? &s->communicate : &s->edges[e->edge - 2].compute;
}

static struct histogram_place place(const struct each *e, const struct histogram_visits *visits, uint64_t all)
{
	const struct trace_site *s = &e->t->sites[e->site];
	uint32_t to = e->edge == 1 ? e->site : s->edges[e->edge - 2].to;
	struct histogram_place p =
		histogram_place(e->t, &visits[e->site], &visits[to], e->edge == 1 ? 0 : HISTOGRAM_CONTEXTS);
	p.all = all;
	return p;
}

static void put_compact(struct writer *w, const struct trace *t, uint32_t counter,
                        const struct histogram_visits *visits)
{
	static const struct histogram none;
	struct entropy_block *b = entropy_block_new();
	struct histogram **counts;
	uint64_t all = 0;
	for (struct each each = {t, counter, 0, 0}; (counts = next(&each));)
		all += *counts ? (*counts)[counter].sum : 0;
	for (struct each each = {t, counter, 0, 0}; b && (counts = next(&each));) {
		struct histogram_place p = place(&each, visits, all);
		histogram_put(&b->coder, &p, *counts ? &(*counts)[counter] : &none, times_of(&each)->count);
	}
	entropy_block_put(w, b);
}

void counts_put(struct writer *w, const struct trace *t, bool final)
{
	static const struct histogram none;
	struct histogram_visits *visits = histogram_visits_new(t);
	writer_uint(w, t->counter_count);
	for (uint32_t i = 0; i < t->counter_count; i++) {
		writer_uint(w, t->counters[i].name);
		writer_uint(w, t->counters[i].ranks);
		writer_uint(w, t->counters[i].missing);
		writer_uint(w, t->counters[i].reason);
	}
	w->failed |= !visits;
	for (uint32_t i = 0; visits && i < t->counter_count; i++) {
		if (final) {
			put_compact(w, t, i, visits);
			continue;
		}
		struct each each = {t, i, 0, 0};
		for (struct histogram **counts; (counts = next(&each));)
			histogram_put_whole(w, *counts ? &(*counts)[i] : &none);
	}
	histogram_visits_free(visits, t);
}

/* Takes what was read, if there is anything. */
static int take(struct histogram **counts, uint32_t counter, struct histogram *one)
{
	if (one->count == 0 || !counts_make(counts)) {
		bool bad = one->count != 0;
		histogram_free(one);
		return bad ? -1 : 0;
	}
	(*counts)[counter] = *one;
	return 0;
}

static int get_compact(struct reader *r, struct trace *t, uint32_t counter, const struct histogram_visits *visits)
{
	int rv = 0;
	struct histogram **counts;
	struct entropy_source *s = entropy_source_new(r);
	if (!s)
		return -1;
	for (struct each each = {t, counter, 0, 0}; rv == 0 && (counts = next(&each));) {
		struct histogram one = {0};
		struct histogram_place p = place(&each, visits, 0);
		rv = histogram_get(&s->coder, &p, &one, times_of(&each)->count);
		if (rv != 0)
			histogram_free(&one);
		else
			rv = take(counts, counter, &one);
	}
	return entropy_source_end(s) != 0 ? -1 : rv;
}

int counts_get(struct reader *r, struct trace *t, bool final)
{
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
	struct histogram_visits *visits = histogram_visits_new(t);
	if (!visits)
		return -1;
	for (uint32_t i = 0; rv == 0 && i < n; i++) {
		if (final) {
			rv = get_compact(r, t, i, visits);
			continue;
		}
		struct each each = {t, i, 0, 0};
		for (struct histogram **counts; rv == 0 && (counts = next(&each));) {
			struct histogram one = {0};
			rv = histogram_get_whole(r, &one);
			if (rv != 0)
				histogram_free(&one);
			else
				rv = take(counts, i, &one);
		}
	}
	histogram_visits_free(visits, t);
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}
