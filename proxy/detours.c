/* SPDX-License-Identifier: BSD-3-Clause
 * detours - what ranks computed around polls that found nothing
 */
#include "proxy/detours.h"

#include "trace/base/budget.h"

static void add_edge(const struct trace *t, struct detour_sum *sum, uint32_t from, uint32_t to)
{
	const struct trace_edge *e = trace_edge_to(&t->sites[from], to);
	if (!e)
		return;
	sum->ns += histogram_mean(&e->compute);
	for (unsigned i = 0; e->counts && i < TRACE_COUNTERS; i++)
		sum->counts[i] += histogram_mean(&e->counts[i]);
}

void detours_poll(const struct trace *t, struct detour_walk *w, uint32_t site)
{
	uint32_t last = w->poll == SITE_NONE ? w->from : w->poll;
	if (last != SITE_NONE)
		add_edge(t, &w->all, last, site);
	if (w->poll == site)
		return;
	w->several |= w->poll != SITE_NONE;
	w->poll = site;
	w->row = w->all;
}

struct detour_key {
	const struct detours *detours;
	uint32_t from, to;
};

static bool is_detour(const void *context, uint32_t i)
{
	const struct detour_key *k = context;
	return k->detours->each[i].from == k->from && k->detours->each[i].to == k->to;
}

static struct detour *detour_of(struct detours *d, uint32_t from, uint32_t to)
{
	struct detour_key key = {d, from, to};
	uint64_t hash = hash_mix(hash_mix(7, from), to);
	uint32_t i = index_find(&d->index, hash, is_detour, &key);
	if (i != INDEX_NONE)
		return &d->each[i];
	if (!budget_grow(&d->each, d->count, &d->capacity, sizeof *d->each) ||
	    index_add(&d->index, hash, d->count) != 0)
		return NULL;
	d->each[d->count] = (struct detour){.from = from, .to = to};
	return &d->each[d->count++];
}

int detours_call(struct detours *d, const struct trace *t, struct detour_walk *w, uint32_t site)
{
	bool row = w->poll == site;
	if (w->poll != SITE_NONE && w->from != SITE_NONE && (!row || w->several)) {
		struct detour *x = detour_of(d, w->from, site);
		if (!x)
			return -1;
		if (!row)
			add_edge(t, &w->all, w->poll, site);
		const struct detour_sum *sum = row ? &w->row : &w->all;
		x->count++;
		x->sum.ns += sum->ns;
		for (unsigned i = 0; i < TRACE_COUNTERS; i++)
			x->sum.counts[i] += sum->counts[i];
	}
	*w = (struct detour_walk){.from = site, .poll = SITE_NONE};
	return 0;
}

void detours_free(struct detours *d)
{
	budget_free(d->each);
	index_free(&d->index);
}
