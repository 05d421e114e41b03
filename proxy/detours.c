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

static int add_detour(struct detours *d, uint32_t from, uint32_t to, const struct detour_sum *sum)
{
	const uint32_t before = d->steps.count, i = steps_number(&d->steps, from, to);
	if (i == INDEX_NONE || (i == before && !budget_grow(&d->sums, before, &d->capacity, sizeof *d->sums)))
		return -1;
	if (i == before)
		d->sums[i] = (struct detour_sum){.ns = 0};
	d->steps.each[i].count++;
	d->sums[i].ns += sum->ns;
	for (unsigned k = 0; k < TRACE_COUNTERS; k++)
		d->sums[i].counts[k] += sum->counts[k];
	return 0;
}

int detours_call(struct detours *d, const struct trace *t, struct detour_walk *w, uint32_t site)
{
	bool row = w->poll == site;
	if (w->poll != SITE_NONE && w->from != SITE_NONE && (!row || w->several)) {
		if (!row)
			add_edge(t, &w->all, w->poll, site);
		if (add_detour(d, w->from, site, row ? &w->row : &w->all) != 0)
			return -1;
	}
	*w = (struct detour_walk){.from = site, .poll = SITE_NONE};
	return 0;
}

void detours_free(struct detours *d)
{
	steps_free(&d->steps);
	budget_free(d->sums);
}
