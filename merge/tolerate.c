/* SPDX-License-Identifier: BSD-3-Clause
 * tolerate - sites of different ranks whose call paths differ in a few frames become one
 *
 * A site that is to be part of another one gets its call path. Putting the trace in order again then makes one of
 * them, as it does with the sites of two traces. Sites are looked at in canonical order, so that the result depends on
 * nothing else; each is joined with the nearest of those before it, and of several with the first.
 */
#include "merge/tolerate.h"

#include "trace/base/budget.h"
#include "trace/model/packed.h"
#include "trace/model/rankset.h"

#define DEEPEST 512  /* frames that are compared: the tracer records fewer */
#define MOST    4096 /* sites of a trace: each is compared with all before it */

/* A site that others may join, with the ranks that it will have. */
struct joined {
	uint32_t site, function, node;
	struct rankmap ranks;
};

/* The nodes of a path, outermost first. Returns how many; 0 if they are too many. */
static size_t path_nodes(const struct trace *t, uint32_t node, uint32_t out[DEEPEST])
{
	size_t n = 0, k = 0;
	for (uint32_t at = node; at; at = t->nodes[at].parent)
		n++;
	if (n > DEEPEST)
		return 0;
	for (uint32_t at = node; at; at = t->nodes[at].parent)
		out[n - ++k] = at;
	return n;
}

/* In how many frames, counted from the outermost, two paths differ; more than `most` is most + 1. */
static size_t path_distance(const struct trace *t, uint32_t a, uint32_t b, size_t most)
{
	uint32_t x[DEEPEST], y[DEEPEST];
	size_t n = path_nodes(t, a, x), m = path_nodes(t, b, y), less = n < m ? n : m, distance = n + m - 2 * less;
	if (n == 0 || m == 0)
		return most + 1;
	for (size_t i = 0; i < less && distance <= most; i++)
		distance += t->nodes[x[i]].module != t->nodes[y[i]].module ||
		            t->nodes[x[i]].offset != t->nodes[y[i]].offset;
	return distance > most ? most + 1 : distance;
}

/* Have they no rank in common? -1: no memory. */
static int are_apart(const struct rankmap *a, const struct rankmap *b)
{
	struct rankmap common = {.level = 0};
	int rv = rankmap_restrict(&common, a, b) != 0 ? -1 : rankmap_empty(&common);
	rankmap_free(&common);
	return rv;
}

/* The site that site i becomes part of: its place in list; count: none. -1: no memory. */
static int64_t find_near(const struct trace *t, const struct joined *list, uint32_t count, const struct joined *one,
                         unsigned frames)
{
	size_t least = frames + (size_t)1;
	int64_t best = count;
	for (uint32_t k = 0; k < count && least > 0; k++) {
		size_t distance = list[k].function != one->function
		                          ? least
		                          : path_distance(t, list[k].node, one->node, least - 1);
		if (distance >= least)
			continue;
		int apart = are_apart(&list[k].ranks, &one->ranks);
		if (apart < 0)
			return -1;
		if (apart) {
			least = distance;
			best = k;
		}
	}
	return best;
}

/* Returns how many sites became part of others; -1: no memory. */
static int64_t join_near(struct trace *t, struct joined *list, unsigned frames)
{
	uint32_t count = 0;
	int64_t joined = 0;
	for (uint32_t i = 0; i < t->site_count && joined >= 0; i++) {
		struct joined *one = &list[count];
		*one = (struct joined){.site = i};
		packed_key(t, i, &one->function, &one->node);
		struct rankmap room;
		const struct rankmap *visits = packed_visits(t, i, &room);
		int rv = visits ? rankmap_fill(&one->ranks, visits, 0, false) : -1;
		rankmap_free(&room);
		if (rv != 0)
			return -1;
		int64_t at = one->node ? find_near(t, list, count, one, frames) : count;
		if (at < 0)
			joined = -1;
		if (at < 0 || at == count) {
			count++;
			continue;
		}
		joined = rankmap_union(&list[at].ranks, &list[at].ranks, &one->ranks) != 0 ? -1 : joined + 1;
		rankmap_free(&one->ranks);
		packed_set_node(t, i, list[at].node);
	}
	return joined;
}

int64_t tolerate_paths(struct trace *t, unsigned frames)
{
	if (frames == 0 || t->site_count > MOST)
		return 0;
	struct joined *list = budget_calloc(t->site_count + UINT64_C(1), sizeof *list);
	int64_t joined = list ? join_near(t, list, frames) : -1;
	for (uint32_t i = 0; list && i < t->site_count; i++)
		rankmap_free(&list[i].ranks);
	budget_free(list);
	return joined;
}
