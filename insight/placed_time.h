/* SPDX-License-Identifier: BSD-3-Clause
 * placed_time - how long a run takes with its ranks at other places, by simulating it (simulate.h)
 *
 * A trace does not say how much faster messages are in a node than between nodes: its times are those of call sites.
 * Without a network that somebody describes, what messages took (observed.h) is taken for the way between nodes, and
 * three networks are tried:
 *
 *     within a node, messages cost half of that                                   the least
 *     within a node, messages take 0.5 us and 10 GB/s, if that is less             the most likely
 *     and all ranks of a node share one way out, as fast as that of one rank       the most
 *
 * Half a microsecond and 10 GB/s are what MPI libraries reach by shared memory, about. What else calls take is their
 * own, and the same in all places.
 */
#ifndef SPOOR_INSIGHT_PLACED_TIME_H
#define SPOOR_INSIGHT_PLACED_TIME_H

#include "insight/arrangement.h"
#include "insight/network.h"

/* Longer traces are not played. */
#define PLACED_TIME_EVENTS (UINT64_C(1) << 21)

struct placed_time {
	bool known;
	double saved, low, high; /* of the run; negative: it takes longer */
};

/* before, after: two placements on one machine, and their sockets are known or 0. network: NULL: the trace's own; then
 * it ran as in `before`, on several nodes. Returns 0, or -1 with error set. */
int placed_time_find(struct placed_time *p, const struct trace *t, const struct arrangement *before,
                     const struct arrangement *after, const struct machine *m, const struct network *network,
                     struct error *error);

#endif
