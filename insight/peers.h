/* SPDX-License-Identifier: BSD-3-Clause
 * peers - the ranks of a trace as a graph: who exchanges how much with whom, both directions together
 *
 *     rank 0 sends 100 bytes to rank 1 in 2 messages, rank 1 sends 8 bytes to rank 0 in 1:
 *     first = {0, 1, 2}, peer = {1, 0}, bytes = {108, 108}, messages = {3, 3}
 *
 * Each pair is there twice, once for each of the two. Messages are those of point-to-point and one-sided calls, and of
 * collectives whose arguments say the pairs (traffic.h). What a rank sends to itself is not in it.
 */
#ifndef SPOOR_INSIGHT_PEERS_H
#define SPOOR_INSIGHT_PEERS_H

#include "insight/traffic.h"

struct peers {
	uint32_t size;   /* ranks */
	uint64_t *first; /* by rank, and one more: where its peers begin */
	uint32_t *peer;  /* of each rank in no order */
	uint64_t *bytes, *messages;
	/* What goes between all pairs alike, over all ordered pairs of two ranks. */
	uint64_t uniform_bytes, uniform_messages;
};

/* Of `size` ranks; cells of others are left out. Returns 0, or -1 with error set. The caller frees it in any case. */
int peers_make(struct peers *p, const struct traffic *m, uint32_t size, struct error *error);
void peers_free(struct peers *p);

#endif
