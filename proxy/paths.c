/* SPDX-License-Identifier: BSD-3-Clause
 * paths - which functions of the application the calls of a loop nest have in common
 */
#include "proxy/paths.h"

#include "trace/base/budget.h"

static int make_path(struct paths *p, const struct structure *s, uint32_t site)
{
	const struct trace *t = s->trace;
	uint32_t node = t->sites[s->sites[site].site].node, depth = 0;
	for (uint32_t n = node; n; n = t->nodes[n].parent)
		depth++;
	p->of_site[site] = budget_calloc(depth + UINT64_C(1), sizeof **p->of_site);
	if (!p->of_site[site])
		return -1;
	p->lengths[site] = depth ? depth - 1 : 0;
	for (uint32_t n = node; n; n = t->nodes[n].parent)
		p->of_site[site][--depth] = n;
	p->example[site] = site;
	return 0;
}

/* What a node's calls have in common, from what its children have. */
static void join_paths(struct paths *p, const struct loop_nest *nest, uint32_t node)
{
	bool any = false;
	for (uint32_t c = nest->nodes[node].first; c != NEST_NONE; c = nest->nodes[c].next) {
		if (c == 0)
			continue;
		if (c > nest->sites)
			join_paths(p, nest, c);
		if (!any) {
			p->lengths[node] = p->lengths[c];
			p->example[node] = p->example[c];
			any = true;
			continue;
		}
		uint32_t n = p->lengths[c] < p->lengths[node] ? p->lengths[c] : p->lengths[node], i = 0;
		while (i < n && paths_node(p, c, i) == paths_node(p, node, i))
			i++;
		p->lengths[node] = i;
	}
}

int paths_make(struct paths *p, const struct structure *s)
{
	p->sites = s->nest.sites;
	p->of_site = budget_calloc(s->nest.sites, sizeof *p->of_site);
	p->lengths = budget_calloc(s->nest.count, sizeof *p->lengths);
	p->example = budget_calloc(s->nest.count, sizeof *p->example);
	if (!p->of_site || !p->lengths || !p->example)
		return -1;
	for (uint32_t i = 1; i < s->nest.sites; i++)
		if (make_path(p, s, i) != 0)
			return -1;
	join_paths(p, &s->nest, s->nest.sites);
	return 0;
}

bool paths_go_on(const struct paths *p, const struct loop_nest *nest, uint32_t first, uint32_t end, uint32_t depth)
{
	for (uint32_t c = first; c != end && c != NEST_NONE; c = nest->nodes[c].next)
		if (p->lengths[c] <= depth || paths_node(p, c, depth) != paths_node(p, first, depth))
			return false;
	return true;
}

void paths_free(struct paths *p)
{
	for (uint32_t i = 0; p->of_site && i < p->sites; i++)
		budget_free(p->of_site[i]);
	budget_free(p->of_site);
	budget_free(p->lengths);
	budget_free(p->example);
}
