/* SPDX-License-Identifier: BSD-3-Clause
 * detours - what was computed around polls that found nothing is computed before the next call
 */
#include "proxy/detours.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

enum { A, B, POLL, OTHER, SITES };

static void set_edge(struct trace *t, uint32_t from, uint32_t to, uint64_t ns)
{
	trace_edge(&t->sites[from], to)->compute = (struct histogram){.count = 1, .sum = ns};
}

/* Passes sites, of which `made` are no polls in vain: a letter each, a small one in vain. */
static int pass(struct detours *d, const struct trace *t, const char *sites)
{
	struct detour_walk w = {.from = SITE_NONE, .poll = SITE_NONE};
	for (; *sites; sites++) {
		uint32_t site = *sites == 'A' ? A : *sites == 'B' ? B : (*sites | 32) == 'p' ? POLL : OTHER;
		if (*sites == 'p' || *sites == 'o')
			detours_poll(t, &w, site);
		else if (detours_call(d, t, &w, site) != 0)
			return -1;
	}
	return 0;
}

static bool has(const struct detours *d, uint32_t i, uint32_t from, uint32_t to, uint64_t count, double ns)
{
	const struct nest_edge *x = &d->steps.each[i];
	return i < d->steps.count && x->from == from && x->to == to && x->count == count && d->sums[i].ns > ns - 0.5 &&
	       d->sums[i].ns < ns + 0.5;
}

int main(void)
{
	struct trace t = {.site_count = SITES, .sites = calloc(SITES, sizeof *t.sites)};
	struct detours d = {.sums = NULL};
	uint64_t ns = 1;
	for (uint32_t from = 0; from < SITES; from++) /* A A 1, A B 2, A POLL 3, ...: 4 * from + to + 1 */
		for (uint32_t to = 0; to < SITES; to++)
			set_edge(&t, from, to, ns++);

	ok(pass(&d, &t, "ABAB") == 0 && d.steps.count == 0, "no polls, no detours");
	ok(pass(&d, &t, "pppA") == 0 && d.steps.count == 0, "nothing is in front of the first call");
	ok(pass(&d, &t, "ApppP") == 0 && d.steps.count == 0, "polls at a site that then finds something are waiting");
	ok(pass(&d, &t, "AppBApB") == 0 && has(&d, 0, A, B, 2, 3 + 11 + 10 + 3 + 10), "a detour, twice");
	ok(pass(&d, &t, "ApoppP") == 0 && has(&d, 1, A, POLL, 1, 3 + 12 + 15), "it ends where that waiting begins");
	ok(pass(&d, &t, "ApppO") == 0 && has(&d, 2, A, OTHER, 1, 3 + 11 + 11 + 12), "another one finds something");
	detours_free(&d);
	for (uint32_t i = 0; i < SITES; i++) {
		free(t.sites[i].edges);
		index_free(&t.sites[i].edge_index);
	}
	free(t.sites);
	return tap_end();
}
