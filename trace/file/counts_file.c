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
#include "trace/model/packed.h"
#include "trace/model/packed_histogram.h"

/* All histograms of a counter, one after the other: those of the sites, each followed by those of its edges. */
struct each {
	const struct trace *t;
	struct trace *into;            /* NULL, or t, which is read and gets them */
	uint32_t counter, site, edge;  /* edge: + 1; 0: the site itself */
	struct trace_site room, *open; /* the site under way */
	bool failed;
};

static void close_site(struct each *e)
{
	if (e->open && e->into)
		e->failed |= packed_close_times(e->into, e->site, e->open) != 0;
	else if (e->open)
		packed_leave(e->t, &e->room);
	e->open = NULL;
}

static void open_site(struct each *e)
{
	if (e->into)
		e->open = packed_open_times(e->into, e->site, &e->room);
	else if (packed_look_times(e->t, e->site, &e->room))
		e->open = e->t->packing ? &e->room : &e->t->sites[e->site];
	e->failed |= !e->open;
}

static struct histogram **next(struct each *e)
{
	const struct trace *t = e->t;
	while (!e->failed && e->open && e->edge > e->open->edge_count) {
		close_site(e);
		e->site++;
		e->edge = 0;
	}
	if (e->failed || e->site == t->site_count)
		return NULL;
	if (!e->open)
		open_site(e);
	if (!e->open)
		return NULL;
	return e->edge++ == 0 ? &e->open->counts : &e->open->edges[e->edge - 2].counts;
}

/* The times that go with them: they say how many values to expect. */
static const struct histogram *times_of(const struct each *e)
{
	return e->edge == 1 ? &e->open->communicate : &e->open->edges[e->edge - 2].compute;
}

static struct histogram_place place(const struct each *e, const struct histogram_visits *visits, uint64_t all)
{
	uint32_t to = e->edge == 1 ? e->site : e->open->edges[e->edge - 2].to;
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
	struct each each = {.t = t, .counter = counter};
	while ((counts = next(&each)))
		all += *counts ? (*counts)[counter].sum : 0;
	w->failed |= each.failed;
	each = (struct each){.t = t, .counter = counter};
	while (b && (counts = next(&each))) {
		struct histogram_place p = place(&each, visits, all);
		histogram_put(&b->coder, &p, *counts ? &(*counts)[counter] : &none, times_of(&each)->count);
	}
	w->failed |= each.failed;
	entropy_block_put(w, b);
}

static void put_parts(struct writer *w, const struct trace *t, uint32_t counter)
{
	static const struct histogram none;
	struct each each = {.t = t, .counter = counter};
	for (struct histogram **counts; (counts = next(&each));)
		histogram_pack(w, *counts ? &(*counts)[counter] : &none);
	w->failed |= each.failed;
}

void counts_put(struct writer *w, const struct trace *t, bool final)
{
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
		if (final)
			put_compact(w, t, i, visits);
		else
			put_parts(w, t, i);
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
	struct each each = {.t = t, .into = t, .counter = counter};
	while (rv == 0 && (counts = next(&each))) {
		struct histogram one = {0};
		struct histogram_place p = place(&each, visits, 0);
		rv = histogram_get(&s->coder, &p, &one, times_of(&each)->count);
		if (rv != 0)
			histogram_free(&one);
		else
			rv = take(counts, counter, &one);
	}
	close_site(&each);
	return entropy_source_end(s) != 0 || each.failed ? -1 : rv;
}

static int get_parts(struct reader *r, struct trace *t, uint32_t counter)
{
	int rv = 0;
	struct each each = {.t = t, .into = t, .counter = counter};
	for (struct histogram **counts; rv == 0 && (counts = next(&each));) {
		struct histogram one = {0};
		rv = histogram_unpack(r, &one);
		if (rv != 0)
			histogram_free(&one);
		else
			rv = take(counts, counter, &one);
	}
	close_site(&each);
	return each.failed ? -1 : rv;
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
		rv = final ? get_compact(r, t, i, visits) : get_parts(r, t, i);
	}
	histogram_visits_free(visits, t);
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}
