/* SPDX-License-Identifier: BSD-3-Clause
 * site_names - names of call sites by sorting their paths: what a site has in common with any other one, it has in
 * common with a neighbour
 */
#include "cmd/base/site_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"

static const struct site_names *named; /* whose sites are being sorted */

static int node_order(const struct trace_node *a, const struct trace_node *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Passes the frames that two paths share, from the innermost on. Returns how many; *a and *b are then the first nodes
 * that differ, 0 behind the outermost frame. */
static uint32_t pass_shared(const struct trace *t, uint32_t *a, uint32_t *b)
{
	uint32_t shared = 0;
	for (; *a && *b && (*a == *b || node_order(&t->nodes[*a], &t->nodes[*b]) == 0); shared++) {
		*a = t->nodes[*a].parent;
		*b = t->nodes[*b].parent;
	}
	return shared;
}

static int site_order(const void *x, const void *y)
{
	const struct trace *t = named->trace;
	const struct trace_site *a = &t->sites[*(const uint32_t *)x], *b = &t->sites[*(const uint32_t *)y];
	uint32_t p = a->node, q = b->node;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	pass_shared(t, &p, &q);
	return p && q ? node_order(&t->nodes[p], &t->nodes[q]) : (p != 0) - (q != 0);
}

/* The number of innermost frames that two sites of the same MPI function share, and one; 0 for different functions. */
static uint32_t shared_frames(const struct trace *t, uint32_t site, uint32_t other)
{
	uint32_t a = t->sites[site].node, b = t->sites[other].node;
	return t->sites[site].function == t->sites[other].function ? pass_shared(t, &a, &b) + 1 : 0;
}

/* shared[k] is of the sorted sites k - 1 and k. A site shares with one further away the least of those between. Returns
 * the most frames, below a bound, that any other site shares with site k, and one; 0 if there is none. */
static uint32_t next_shared(const uint32_t *shared, uint32_t k, uint32_t below)
{
	uint32_t left = UINT32_MAX, right = UINT32_MAX;
	for (uint32_t i = k; shared[i] && left >= below; i--)
		left = shared[i] < left ? shared[i] : left;
	for (uint32_t i = k + 1; shared[i] && right >= below; i++)
		right = shared[i] < right ? shared[i] : right;
	left = left < below ? left : 0;
	right = right < below ? right : 0;
	return left > right ? left : right;
}

/* The frame behind those that are shared; the outermost one if the path ends there. */
static uint32_t node_behind(const struct trace *t, uint32_t site, uint32_t shared)
{
	uint32_t node = t->sites[site].node;
	while (--shared && t->nodes[node].parent)
		node = t->nodes[node].parent;
	return node;
}

static int differs_order(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	if (named->trace->sites[a].function != named->trace->sites[b].function)
		return named->trace->sites[a].function < named->trace->sites[b].function ? -1 : 1;
	for (int i = 0; i < SITE_NAMES_FRAMES; i++) {
		int order = node_order(&named->trace->nodes[named->differs[a][i]],
		                       &named->trace->nodes[named->differs[b][i]]);
		if (order)
			return order;
	}
	return 0;
}

/* Gives each site whose bound is not 0 one frame more by which it is told from others: the next one inwards. bounds, by
 * site: frames that are shared, and one, below which the next one is looked for. */
static void names_add_frame(struct site_names *n, const uint32_t *order, const uint32_t *shared, uint32_t *bounds,
                            int round)
{
	for (uint32_t k = 0; k < n->trace->site_count; k++) {
		uint32_t site = order[k];
		bounds[site] = bounds[site] ? next_shared(shared, k, bounds[site]) : 0;
		if (bounds[site])
			n->differs[site][round] = node_behind(n->trace, site, bounds[site]);
	}
}

/* Sites whose name no other one has are done: their bound becomes 0. */
static void names_mark_unique(const struct site_names *n, uint32_t *order, uint32_t *bounds)
{
	uint32_t count = n->trace->site_count;
	named = n;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort(order, count, sizeof *order, differs_order);
	for (uint32_t i = 0; i < count; i++)
		if ((i == 0 || differs_order(&order[i - 1], &order[i]) != 0) &&
		    (i + 1 == count || differs_order(&order[i], &order[i + 1]) != 0))
			bounds[order[i]] = 0;
}

/* work: four numbers for each site, and four more. */
static void names_find(struct site_names *n, uint32_t *work)
{
	uint32_t count = n->trace->site_count, *order = work, *shared = order + count + 1, *bounds = shared + count + 1;
	named = n;
	for (uint32_t i = 0; i < count; i++) {
		order[i] = i;
		n->differs[i][0] = n->trace->sites[i].node;
		bounds[i] = UINT32_MAX;
	}
	qsort(order, count, sizeof *order, site_order);
	for (uint32_t i = 1; i < count; i++)
		shared[i] = shared_frames(n->trace, order[i - 1], order[i]);
	shared[0] = shared[count] = 0;
	for (int round = 0; round < SITE_NAMES_FRAMES; round++) {
		names_add_frame(n, order, shared, bounds, round);
		names_mark_unique(n, bounds + count + 1, bounds);
	}
}

int site_names_make(struct site_names *n, const struct trace *t)
{
	uint32_t *work = malloc(((size_t)t->site_count + 1) * 4 * sizeof *work);
	*n = (struct site_names){.trace = t,
	                         .frames = frames_create(t),
	                         .differs = calloc((size_t)t->site_count + 1, sizeof *n->differs)};
	int rv = work && n->differs && n->frames ? 0 : -1;
	if (rv == 0)
		names_find(n, work);
	free(work);
	return rv;
}

void site_names_free(struct site_names *n)
{
	frames_destroy(n->frames);
	free(n->differs);
	*n = (struct site_names){0};
}

/* Adds a frame to a name, with its place or without. */
static void name_add(const struct site_names *n, uint32_t node, bool place, char *out, size_t size)
{
	size_t used = strlen(out);
	if (used && used + 4 < size)
		used += (size_t)snprintf(out + used, size - used, " < ");
	(place ? frames_text : frames_function)(n->frames, node, out + used, size - used);
}

void site_names_text(const struct site_names *n, uint32_t site, char *out, size_t size)
{
	uint32_t node = n->trace->sites[site].node, last = 0;
	int i = SITE_NAMES_FRAMES;
	out[0] = '\0';
	if (!node)
		return;
	while (n->differs[site][i - 1] == 0)
		i--;
	if (n->differs[site][i - 1] != node)
		name_add(n, node, false, out, size);
	for (; i > 0; last = n->differs[site][--i])
		if (n->differs[site][i - 1] != last)
			name_add(n, n->differs[site][i - 1], true, out, size);
}

int site_names_in_file(const char *path, uint32_t site, const char *function, char *out, size_t size)
{
	struct error error = {""};
	struct container *c = NULL;
	struct trace t = {.size = 0};
	int rv = -1;

	if (trace_open(&t, &c, path, &codec_zstd, &error) == 0 && site < t.site_count) {
		const struct trace_site *s = &t.sites[site];
		const struct schema *schema = trace_schema(&t, s);
		struct site_names names;
		bool known = site_names_make(&names, &t) == 0 && s->node && t.nodes[s->node].module != UINT32_MAX;
		if (known && strlen(function) == schema->function_length &&
		    memcmp(function, schema->function, schema->function_length) == 0) {
			site_names_text(&names, site, out, size);
			rv = 0;
		}
		site_names_free(&names);
	}
	trace_free(&t);
	container_destroy(c);
	return rv;
}
