/* SPDX-License-Identifier: BSD-3-Clause
 * node_times - how long the ranks of each node computed for equal work
 */
#include "insight/node_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insight/class_times.h"
#include "trace/base/budget.h"
#include "trace/model/host.h"
#include "trace/model/means.h"

#define TEXT_MOST   (NODE_TIMES_MOST * 6 + 1)
#define FACTOR_MOST 9.999

struct node_times {
	char (*names)[HOST_MAX];
	double own[NODE_TIMES_MOST], usual[NODE_TIMES_MOST]; /* ns: computed; for the same by the means of all */
	size_t count;
	bool failed;
};

static void add_host(void *context, const char *name, uint64_t ranks)
{
	struct node_times *n = context;
	(void)ranks;
	n->failed = n->failed || n->count == NODE_TIMES_MOST || !*name;
	if (!n->failed)
		snprintf(n->names[n->count++], HOST_MAX, "%s", name);
}

static size_t node_of_rank(const struct node_times *n, const struct trace *t, uint32_t rank, size_t last)
{
	char name[HOST_MAX];
	host_get(t, rank, name);
	if (last < n->count && strcmp(n->names[last], name) == 0)
		return last; /* ranks of a node mostly follow each other */
	size_t i = 0;
	while (i < n->count && strcmp(n->names[i], name) != 0)
		i++;
	return i;
}

static void add_ranks(struct node_times *n, const struct trace *t)
{
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE];
	const double mean = (double)compute->sum / (double)compute->count;
	size_t node = 0;
	for (uint32_t r = 0; r < t->size && !n->failed && budget_step(t->site_count); r++) {
		uint64_t own;
		double usual = 0;
		if (!trace_total_get(compute, r, &own))
			continue;
		for (uint32_t i = 0; i < t->site_count; i++)
			usual += class_times_behind(t, &t->sites[i], r, false);
		if ((node = node_of_rank(n, t, r, node)) == n->count)
			continue;
		n->own[node] += (double)own;
		n->usual[node] += usual > 0 ? usual : mean;
	}
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Node times as text, if each node has some. */
static char *factors_text(struct node_times *n)
{
	double factors[NODE_TIMES_MOST], sorted[NODE_TIMES_MOST];
	char text[TEXT_MOST] = "";
	size_t used = 0;
	for (size_t i = 0; i < n->count; i++) {
		if (n->usual[i] <= 0)
			return NULL;
		sorted[i] = factors[i] = n->own[i] / n->usual[i];
	}
	qsort(sorted, n->count, sizeof *sorted, by_time);
	double median = (sorted[(n->count - 1) / 2] + sorted[n->count / 2]) / 2;
	for (size_t i = 0; i < n->count && median > 0; i++) {
		double f = factors[i] / median;
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f", i ? " " : "",
		                         1000 * (f < FACTOR_MOST ? f : FACTOR_MOST));
	}
	return used ? strdup(text) : NULL;
}

char *node_times_text(const struct trace *t)
{
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE], *elapsed = &t->total[TOTAL_ELAPSED];
	char *text = NULL;
	if (!compute->count || (double)compute->sum < NODE_TIMES_WORTH * (double)elapsed->sum)
		return NULL;
	struct node_times *n = budget_calloc(1, sizeof *n);
	if (n && (n->names = budget_calloc(NODE_TIMES_MOST, sizeof *n->names)) && host_each(t, add_host, n) == 0 &&
	    !n->failed && n->count > 1) {
		add_ranks(n, t);
		text = factors_text(n);
	}
	if (n)
		budget_free(n->names);
	budget_free(n);
	return text;
}

size_t node_times_read(const char *text, double *out, size_t most)
{
	size_t n = 0;
	char *end;
	for (; *text; text = end + (*end == ' ')) {
		double value = strtod(text, &end);
		if (n == most || end == text || (*end && *end != ' ') || !(value > 0) || value >= 1e6)
			return 0;
		out[n++] = value / 1000;
	}
	return n;
}
