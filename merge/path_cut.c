/* SPDX-License-Identifier: BSD-3-Clause
 * path_cut - call paths, cut to the innermost frames that tell sites apart
 */
#include "merge/path_cut.h"

#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/record/record.h"

enum { LEAST = 8 };

struct path {
	const struct trace_node *nodes;    /* of the trace */
	uint32_t at, function, node, keep; /* keep: frames that are to stay */
};

static int compare_nodes(const struct trace_node *a, const struct trace_node *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* From the innermost frame outwards. *same: how many are equal. */
static int compare_paths(const struct path *a, const struct path *b, uint32_t *same)
{
	uint32_t x = a->node, y = b->node;
	*same = 0;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	for (; x && y; x = a->nodes[x].parent, y = b->nodes[y].parent, ++*same) {
		int order = compare_nodes(&a->nodes[x], &b->nodes[y]);
		if (order)
			return order;
	}
	return (x > 0) - (y > 0);
}

static int by_frames(const void *a, const void *b)
{
	uint32_t same;
	return compare_paths(a, b, &same);
}

/* How many frames of each path are to stay. */
static void count_frames(struct path *paths, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		paths[i].keep = LEAST;
	qsort(paths, n, sizeof *paths, by_frames);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t same;
		compare_paths(&paths[i - 1], &paths[i], &same);
		for (struct path *p = &paths[i - 1]; p <= &paths[i]; p++)
			if (p->keep < same + 1)
				p->keep = same + 1;
	}
}

/* Adds what is to stay of a path. Returns its node, or UINT32_MAX. */
static uint32_t add_path(struct trace *t, const struct path *p, uint32_t *room)
{
	uint32_t depth = 0, at = p->node, node = 0;
	for (; at && depth < p->keep; at = p->nodes[at].parent)
		room[depth++] = at;
	if (at && p->nodes[at].parent == 0) /* a gap would take no less than the one frame that is left */
		room[depth++] = at;
	else if (at)
		node = trace_node(t, (struct trace_node){0, UINT32_MAX, GAP_SMALL});
	while (depth > 0 && node != UINT32_MAX) {
		const struct trace_node *n = &p->nodes[room[--depth]];
		node = trace_node(t, (struct trace_node){node, n->module, n->offset});
	}
	return node;
}

/* The paths of sites, and behind them those of objects, which stay as they are. */
static void list_paths(const struct trace *t, struct path *paths)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		*paths++ = (struct path){t->nodes, i, t->sites[i].function, t->sites[i].node, LEAST};
	for (uint32_t i = 0; i < t->object_count; i++)
		*paths++ = (struct path){t->nodes, i, t->objects[i].function, t->objects[i].node, UINT32_MAX};
}

/* The same paths, cut, as the nodes of another trace, if it has fewer than t. Returns as path_cut does. */
static int cut_paths(struct trace *out, const struct trace *t, struct path *paths, uint32_t *room)
{
	list_paths(t, paths);
	count_frames(paths, t->site_count);
	for (uint32_t i = 0; i < t->site_count + t->object_count; i++)
		if ((paths[i].node = add_path(out, &paths[i], room)) == UINT32_MAX)
			return -1;
	return out->node_count < t->node_count;
}

int path_cut(struct trace *t)
{
	struct trace cut = {.size = 0};
	struct path *paths = budget_malloc((t->site_count + (size_t)t->object_count + 1) * sizeof *paths);
	uint32_t *room = budget_malloc(((size_t)t->node_count + 1) * sizeof *room);
	int rv = paths && room && trace_init(&cut) == 0 ? cut_paths(&cut, t, paths, room) : -1;
	if (rv == 1) {
		struct trace old = *t;
		t->nodes = cut.nodes;
		t->node_index = cut.node_index;
		t->node_count = cut.node_count;
		t->node_capacity = cut.node_capacity;
		cut.nodes = old.nodes;
		cut.node_index = old.node_index;
		for (uint32_t i = 0; i < t->site_count + t->object_count; i++)
			*(i < t->site_count ? &t->sites[paths[i].at].node : &t->objects[paths[i].at].node) =
				paths[i].node;
	}
	trace_free(&cut);
	budget_free(paths);
	budget_free(room);
	return rv;
}
