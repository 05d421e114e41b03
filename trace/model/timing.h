/* SPDX-License-Identifier: BSD-3-Clause
 * timing - the times of all events of ranks, one by one (timing: full)
 *
 * A rank has a flow of codes (flow_code.h) for each of its sites, the times of its calls, and for each edge, what was
 * computed between them: both in the order of visits. With the order of the sites (the walk of the successor columns)
 * they give begin and end of each event. Where memory was used up, they end with an event, and later ones are in
 * histograms only, as all are.
 */
#ifndef SPOOR_TIMING_H
#define SPOOR_TIMING_H

#include "trace/model/trace.h"

#define TIMING_CALLS UINT32_MAX

/* Times from a site to the one that came next (to); of its calls if `to` is TIMING_CALLS. */
struct trace_flow {
	uint32_t from, to;
	uint64_t count; /* values; a rank that was killed may have one more than it has visits */
	uint8_t *bytes; /* malloc'ed */
	size_t size;
};

struct trace_timing {
	uint32_t rank, digits; /* a stream; flow_code.h */
	uint64_t events;       /* the first ones of the rank that have times */
	bool cut;              /* memory was used up */
	uint64_t ticks, ns;    /* so many ticks are so many ns */
	int64_t start;         /* when the first event began, ns since 1970 */
	struct trace_flow *flows;
	uint32_t flow_count, flow_capacity;
};

/* That of a rank, NULL: it has none. */
const struct trace_timing *timing_find(const struct trace *t, uint32_t rank);
/* Adds a rank, without flows; NULL: no memory. Valid until the next one is added. */
struct trace_timing *timing_add(struct trace *t, const struct trace_timing *head);
/* Adds a flow, and takes the bytes, in any case. Returns 0 or -1. */
int timing_add_flow_take(struct trace_timing *r, const struct trace_flow *flow);
/* Adds all of another trace; sites: their numbers here. Returns 0 or -1. */
int timing_merge(struct trace *into, const struct trace *from, const uint32_t *sites);
/* Canonical order: by rank; flows by site, calls behind the edges. */
void timing_order(struct trace *t);
void timing_free(struct trace *t);

#endif
