/* SPDX-License-Identifier: BSD-3-Clause
 * site_names - names of call sites by sorting their paths: what a site has in common with any other one, it has in
 * common with a neighbour
 */
#include "cmd/base/site_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct trace *sorted;

static int node_order(const struct trace_node *a, const struct trace_node *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Compares two paths from the innermost frame on. *a and *b are then the first nodes that differ, 0 behind the
 * outermost frame. */
static int walk_common(const struct trace *t, uint32_t *a, uint32_t *b)
{
	while (*a && *b) {
		int order = *a == *b ? 0 : node_order(&t->nodes[*a], &t->nodes[*b]);
		if (order)
			return order;
		*a = t->nodes[*a].parent;
		*b = t->nodes[*b].parent;
	}
	return (*a != 0) - (*b != 0);
}

static int site_order(const void *x, const void *y)
{
	const struct trace_site *a = &sorted->sites[*(const uint32_t *)x], *b = &sorted->sites[*(const uint32_t *)y];
	uint32_t p = a->node, q = b->node;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return walk_common(sorted, &p, &q);
}

/* How far out a node of a site's path is; one behind the outermost frame for 0. */
static uint32_t depth_of_node(const struct trace *t, uint32_t site, uint32_t node)
{
	uint32_t depth = 0;
	for (uint32_t k = t->sites[site].node; k != node && k; k = t->nodes[k].parent)
		depth++;
	return depth;
}

/* Of two neighbours: each is told from the other by the first frame that differs, or by its last one. */
static void tell_apart(struct site_names *n, uint32_t site, uint32_t other)
{
	const struct trace *t = n->trace;
	uint32_t a = t->sites[site].node, b = t->sites[other].node;
	if (t->sites[site].function != t->sites[other].function)
		return;
	walk_common(t, &a, &b);
	if (a && depth_of_node(t, site, a) > depth_of_node(t, site, n->differs[site]))
		n->differs[site] = a;
}

int site_names_make(struct site_names *n, const struct trace *t)
{
	uint32_t *order = malloc(((size_t)t->site_count + 1) * sizeof *order);
	*n = (struct site_names){.trace = t,
	                         .frames = frames_create(t),
	                         .differs = calloc((size_t)t->site_count + 1, sizeof *n->differs)};
	if (!order || !n->differs || !n->frames) {
		free(order);
		return -1;
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		order[i] = i;
		n->differs[i] = t->sites[i].node;
	}
	sorted = t;
	qsort(order, t->site_count, sizeof *order, site_order);
	for (uint32_t i = 0; i + 1 < t->site_count; i++) {
		tell_apart(n, order[i], order[i + 1]);
		tell_apart(n, order[i + 1], order[i]);
	}
	free(order);
	return 0;
}

void site_names_free(struct site_names *n)
{
	frames_destroy(n->frames);
	free(n->differs);
	*n = (struct site_names){0};
}

void site_names_text(const struct site_names *n, uint32_t site, char *out, size_t size)
{
	uint32_t node = n->trace->sites[site].node, differs = n->differs[site];
	size_t used = 0;
	out[0] = '\0';
	if (node && node != differs) {
		frames_function(n->frames, node, out, size);
		used = strlen(out);
		used += used + 4 < size ? (size_t)snprintf(out + used, size - used, " < ") : 0;
	}
	if (node)
		frames_text(n->frames, differs, out + used, size - used);
}
