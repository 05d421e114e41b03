/* SPDX-License-Identifier: BSD-3-Clause
 * critical - which computations the length of a run hangs on, and who waits for whom
 */
#include "insight/critical.h"

#include <stdlib.h>

#include "insight/cause.h"
#include "insight/ideal.h"
#include "trace/base/budget.h"
#include "trace/read/activity.h"

/* --- the path --- */

/* The stretch in which a rank came to that moment: the first that ends then or later. Its number, or that of them. */
static uint32_t stretch_at(const struct ideal_rank *r, uint64_t at)
{
	uint32_t low = 0, high = r->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (r->list[middle].end < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool add_piece(struct critical *c, const struct critical_piece *p)
{
	if (!budget_grow(&c->path, c->path_count, &c->path_room, sizeof *c->path))
		return false;
	c->path[c->path_count++] = *p;
	return true;
}

static uint32_t last_rank(const struct ideal *i)
{
	uint32_t last = 0;
	for (uint32_t r = 1; r < i->size; r++)
		if (i->ranks[r].ns > i->ranks[last].ns)
			last = r;
	return last;
}

/* From the end to the begin. Ranks that wait for each other in a circle in one moment are left after each has come. */
static int follow_path(struct critical *c, const struct ideal *i, struct error *error)
{
	uint32_t rank = last_rank(i), turns = 0;
	uint64_t at = i->ranks[rank].ns;
	while (at > 0 && budget_step(1)) {
		const struct ideal_rank *r = &i->ranks[rank];
		const uint32_t n = stretch_at(r, at);
		const struct ideal_stretch *s = n < r->count ? &r->list[n] : NULL;
		const uint64_t begin = s ? s->end - s->ns : 0;
		if (s && s->from != IDEAL_NOBODY && s->from < i->size && turns++ < i->size) {
			rank = s->from;
			continue;
		}
		struct critical_piece p = {rank, CRITICAL_NOWHERE, CRITICAL_NOWHERE, begin, at - begin};
		if (s && s->from == IDEAL_NOBODY) {
			p.behind = s->behind;
			p.site = s->site;
		}
		if (!add_piece(c, &p))
			return error_set(error, "no memory");
		turns = 0;
		at = begin;
	}
	for (uint32_t k = 0; k < c->path_count / 2; k++) {
		struct critical_piece p = c->path[k];
		c->path[k] = c->path[c->path_count - 1 - k];
		c->path[c->path_count - 1 - k] = p;
	}
	return 0;
}

/* --- who waits for whom --- */

static int by_pair(const void *a, const void *b)
{
	const struct critical_wait *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static int by_length(const void *a, const void *b)
{
	const struct critical_wait *x = a, *y = b;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : by_pair(a, b);
}

/* Waits of one rank for one other at one site are one. They are sorted by that. */
static void join_waits(struct critical *c)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < c->wait_count; k++) {
		if (n && by_pair(&c->waits[n - 1], &c->waits[k]) == 0) {
			c->waits[n - 1].waits++;
			c->waits[n - 1].ns += c->waits[k].ns;
		} else {
			c->waits[n++] = c->waits[k];
		}
	}
	c->wait_count = n;
}

static int collect_waits(struct critical *c, const struct ideal *i, struct error *error)
{
	for (uint32_t r = 0; r < i->size; r++)
		for (uint32_t k = 0; k < i->ranks[r].count && budget_step(1); k++) {
			const struct ideal_stretch *s = &i->ranks[r].list[k];
			if (s->from == IDEAL_NOBODY || s->ns == 0)
				continue;
			if (!budget_grow(&c->waits, c->wait_count, &c->wait_room, sizeof *c->waits))
				return error_set(error, "no memory");
			c->waits[c->wait_count++] = (struct critical_wait){r, s->from, s->site, 1, s->ns};
		}
	if (c->wait_count == 0)
		return 0;
	qsort(c->waits, c->wait_count, sizeof *c->waits, by_pair);
	join_waits(c);
	qsort(c->waits, c->wait_count, sizeof *c->waits, by_length);
	return 0;
}

int critical_find(struct critical *c, const struct trace *t, struct error *error)
{
	struct site_activity activity = {.sites = NULL};
	struct ideal ideal = {.known = false};
	*c = (struct critical){.known = false};
	int rv = site_activity_make(&activity, t) == 0 ? causes_ideal(&ideal, t, &activity, error)
	                                               : error_set(error, "no memory");
	if (rv == 0 && ideal.known && ideal.size > 0) {
		c->known = true;
		c->run_ns = ideal.run_ns;
		rv = follow_path(c, &ideal, error);
		if (rv == 0)
			rv = collect_waits(c, &ideal, error);
	}
	ideal_free(&ideal);
	site_activity_free(&activity);
	return rv;
}

void critical_free(struct critical *c)
{
	budget_free(c->path);
	budget_free(c->waits);
	*c = (struct critical){.known = false};
}
