/* SPDX-License-Identifier: BSD-3-Clause
 * trends - applications and nodes that became slower, out of the index
 */
#include "cmd/base/trends.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/site_names.h"
#include "trace/base/budget.h"

#define CHANGES 64 /* of a history */

/* The runs next to the last change, for its cause. */
static void put_change(struct trend_line *l, const struct history *h, const struct trend_change *c)
{
	size_t begin = c->first > TRENDS_CAUSE ? c->first - TRENDS_CAUSE : 0;
	l->since_ns = h->runs[c->first].start_ns;
	l->change = c->after / c->before - 1;
	l->before_count = c->first - begin;
	l->after_count = h->count - c->first < TRENDS_CAUSE ? h->count - c->first : TRENDS_CAUSE;
	memcpy(l->before, h->runs + begin, l->before_count * sizeof *l->before);
	memcpy(l->after, h->runs + c->first, l->after_count * sizeof *l->after);
}

/* What became slower, by what it costs; then the others, the latest first. */
static int compare_lines(const void *a, const void *b)
{
	const struct trend_line *x = a, *y = b;
	double p = x->change * x->median * (double)x->ranks, q = y->change * y->median * (double)y->ranks;
	bool slow = x->change > 0, other = y->change > 0;
	if (slow != other)
		return slow ? -1 : 1;
	if (slow && p != q)
		return p > q ? -1 : 1;
	return (x->last_ns < y->last_ns) - (x->last_ns > y->last_ns);
}

/* The better half stays. */
static void drop_half(struct trends *t)
{
	qsort(t->lines, t->count, sizeof *t->lines, compare_lines);
	t->count /= 2;
}

static int take_history(void *context, const struct history *h)
{
	struct trends *t = context;
	struct trend_change changes[CHANGES];
	double *times = malloc((h->count + 1) * sizeof *times);
	size_t last = t->last < h->count ? t->last : h->count;

	if (t->count == (t->most ? t->most : TRENDS_MOST))
		drop_half(t);
	if (!times || !budget_grow(&t->lines, t->count, &t->room, sizeof *t->lines)) {
		free(times);
		return -1;
	}
	for (size_t i = 0; i < h->count; i++)
		times[i] = h->runs[i].seconds;
	int n = trend_changes(times, h->count, changes, CHANGES);
	struct trend_line *l = &t->lines[t->count];
	*l = (struct trend_line){.ranks = h->ranks, .runs = h->count, .last = times[h->count - 1]};
	memcpy(l->application, h->application, sizeof l->application);
	l->last_ns = h->runs[h->count - 1].start_ns;
	l->cause.site = -1;
	l->median = trend_median(times + h->count - last, last);
	if (n > 0)
		put_change(l, h, &changes[n - 1]);
	t->count += n >= 0;
	t->all += n >= 0;
	t->slower += n > 0 && l->change > 0;
	free(times);
	return n < 0 ? -1 : 0;
}

static int find_causes(struct trends *t, struct catalog *c, struct error *error)
{
	int rv = 0;
	for (size_t i = 0; i < t->count && i < t->top && rv == 0; i++) {
		struct trend_line *l = &t->lines[i];
		if (l->change != 0)
			rv = history_cause(c, l->before, l->before_count, l->after, l->after_count, l->change > 0,
			                   &l->cause, error);
	}
	return rv;
}

void trends_find_places(struct trends *t, struct catalog *c)
{
	for (size_t i = 0; i < t->count && i < t->top; i++) {
		struct trend_line *l = &t->lines[i];
		char file[PATH_MAX], path[2 * PATH_MAX];
		if (l->cause.site < 0 || history_path(c, l->cause.id, file, sizeof file) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", c->archive, file);
		if (site_names_in_file(path, (uint32_t)l->cause.site, l->cause.what, l->at, sizeof l->at) != 0)
			*l->at = '\0';
	}
}

int trends_read(struct trends *t, struct catalog *c, struct error *error)
{
	int rv = history_each(c, t->filter, 2, take_history, t, error);
	if (rv == 0 && t->count)
		qsort(t->lines, t->count, sizeof *t->lines, compare_lines);
	if (rv == 0)
		rv = find_causes(t, c, error);
	return rv ? rv : history_nodes(c, t->filter, &t->nodes, &t->node_count, error);
}

size_t trends_slow_nodes(const struct trends *t)
{
	size_t n = 0;
	while (n < t->node_count && trend_node_slow(&t->nodes[n].test, t->node_count))
		n++;
	return n;
}

void trends_free(struct trends *t)
{
	history_free_nodes(t->nodes, t->node_count);
	budget_free(t->lines);
}
