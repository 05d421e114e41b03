/* SPDX-License-Identifier: BSD-3-Clause
 * skeleton - the loops and calls of one stream, each once, with the ranges of how often
 *
 * Turns of a loop that differ in counts, in some calls, or in their order are one turn with ranges. For each node of
 * the loop nest (loop_nest.h) there is
 *
 *     total        calls of a site; turns of a loop
 *     runs         in how many turns of the parent it comes
 *     least, most  what one such run has of them: exact bounds, both of which occur
 */
#ifndef SPOOR_SKELETON_H
#define SPOOR_SKELETON_H

#include "trace/model/pattern.h"
#include "trace/read/loop_nest.h"

struct skeleton_range {
	uint64_t total, runs, least, most;
};

struct skeleton {
	struct loop_nest nest;
	struct skeleton_range *ranges; /* of each node; the whole has one turn */
	uint32_t *sites;               /* of each site of the nest, its number in the trace */
	struct nest_edge *edges;       /* between sites of the nest, and how often each is passed */
	size_t edge_count;
};

/* From the sequence of the sites (token = site + 1). Costs n log n in the size of the grammar. Returns 0, or -1 (no
 * memory, or there is a token 0). The caller frees it in any case. */
int skeleton_make(struct skeleton *s, const struct pattern *p);
void skeleton_free(struct skeleton *s);
/* In how many turns of its parent a node could come. */
uint64_t skeleton_turns(const struct skeleton *s, uint32_t node);
/* Chooses nodes, the ones with most calls, so that they and the gaps between them are at most `lines` lines (0: no
 * limit): sets shown[node]. A chosen node's parent is chosen, too. calls[node], if not NULL, becomes the number of
 * calls in a node. Returns 0 or -1 (no memory). */
int skeleton_choose(const struct skeleton *s, uint64_t lines, bool *shown, uint64_t *calls);

#endif
