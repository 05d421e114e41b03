/* SPDX-License-Identifier: BSD-3-Clause
 * what_if - how long a run would take without each of its causes of lost time (cause.h), or on a better network: by
 * simulating it (simulate.h) with that one change
 *
 *     imbalance          work spread evenly; or those ranks as fast as the others are in the mean
 *     serial             all ranks do a part of it
 *     serialised         what the calls wait for is there already: at most that
 *     imbalance-moving   each rank computes in each step what it does in the mean
 *     small-messages     messages to one rank without computation between them are one
 *     transfer           twice the bandwidth (G and the node's rate halved)
 *     synchronisation    the calls are left out
 *     busy-cores         calls take what the network takes, and nothing more
 *     io                 calls for files take no time
 *     all                half the latency (L, o and g), twice the bandwidth, an ideal network
 *
 * What is changed is compared with the same run simulated without a change (base), not with the recorded one, so that
 * what the simulation does not know is in both.
 */
#ifndef SPOOR_INSIGHT_WHAT_IF_H
#define SPOOR_INSIGHT_WHAT_IF_H

#include "insight/cause.h"
#include "insight/network.h"

enum what_if_kind {
	WHAT_IF_EVEN,
	WHAT_IF_ALIKE,
	WHAT_IF_SHARED,
	WHAT_IF_READY,
	WHAT_IF_STEADY,
	WHAT_IF_PACKED,
	WHAT_IF_LEFT_OUT,
	WHAT_IF_CORES,
	WHAT_IF_FILES,
	WHAT_IF_LATENCY,
	WHAT_IF_BANDWIDTH,
	WHAT_IF_IDEAL,
	WHAT_IFS
};

struct what_if {
	enum what_if_kind kind;
	const struct cause *cause; /* of the causes that were given; NULL: of none */
	uint64_t run_ns;           /* that the changed run takes */
	double saved;              /* of the base; negative: it would take longer */
};

struct what_ifs {
	bool known;             /* false: the trace cannot be played */
	bool eager;             /* simulation.eager */
	bool observed;          /* the network is the trace's own */
	double recorded_ns;     /* how long the run took */
	uint64_t base_ns;       /* how long it takes here, without a change */
	struct network network; /* that it was simulated on */
	struct what_if *list;   /* most first */
	size_t count;
};

/* "packed" */
const char *what_if_name(enum what_if_kind kind);
/* causes: of the trace; they must outlive it. network: NULL: the trace's own. worth: causes that cost less than this
 * share of the time are not looked at. Returns 0, or -1 with error set. The caller frees it in any case. */
int what_ifs_find(struct what_ifs *w, const struct trace *t, const struct causes *causes, const struct network *network,
                  double worth, struct error *error);
void what_ifs_free(struct what_ifs *w);

#endif
