/* SPDX-License-Identifier: BSD-3-Clause
 * paths - which functions of the application the calls of a loop nest have in common
 */
#ifndef SPOOR_PROXY_PATHS_H
#define SPOOR_PROXY_PATHS_H

#include "proxy/structure.h"

struct paths {
	uint32_t **of_site; /* of each site of the nest: nodes of its call path, from the outermost on */
	uint32_t *lengths;  /* of each node: so many of them, without the last, its calls have in common */
	uint32_t *example;  /* of each node, a site in it */
	uint32_t sites;
};

/* Returns 0, or -1: no memory. The caller frees it in any case. */
int paths_make(struct paths *p, const struct structure *s);
void paths_free(struct paths *p);
/* Are all nodes from `first` to the one before `end` in one function that is called at this depth? */
bool paths_go_on(const struct paths *p, const struct loop_nest *nest, uint32_t first, uint32_t end, uint32_t depth);
/* The node of the call path at a depth that the calls in a node of the nest have in common. */
static inline uint32_t paths_node(const struct paths *p, uint32_t node, uint32_t depth)
{
	return p->of_site[p->example[node]][depth];
}

#endif
