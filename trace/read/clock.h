/* SPDX-License-Identifier: BSD-3-Clause
 * clock - begin and end of every event of a rank, in ns: as the trace has them (timing: full), else drawn from the
 * histograms of its site and of the edge that led there
 *
 * Times of single events are as exact as they were recorded, and those of ranks stand to each other as the clocks of
 * their nodes did; threads of one rank have one clock.
 *
 * Draws of one histogram are spread evenly over it (golden section), so that they have its mean, and depend on nothing
 * but the trace: the same trace gives the same times. The rank and the visit that had the longest or the shortest time
 * have it here (Preserving Time, ICS'08). Where the trace knows the rank's totals they are what it says: what is drawn
 * of computation and calls is stretched until they are.
 *
 * 0 is the begin of the first MPI_Init. Where times are drawn all ranks leave it at the same time; times of different
 * ranks are no more exact towards each other than that: a message may arrive before it was sent.
 */
#ifndef SPOOR_TRACE_CLOCK_H
#define SPOOR_TRACE_CLOCK_H

#include "trace/read/walk.h"

struct clock;

/* Returns 0, or -1 with error set. Costs one walk of the rank if its totals are known and not all times are recorded.
 * The caller destroys *out. */
int clock_create(struct clock **out, const struct trace *t, uint32_t stream, struct error *error);
void clock_destroy(struct clock *c);
/* To be told of every event, in order. */
void clock_event(struct clock *c, const struct event *e, uint64_t *begin, uint64_t *end);
/* When time 0 was, in ns since 1970; false if there are no times of single events. */
bool clock_origin(const struct trace *t, int64_t *ns);
/* For whoever reads the export: "exact", "drawn from histograms", "exact for 100 of 250 events, the others drawn from
 * histograms". Returns out. */
#define CLOCK_SAYS 128
const char *clock_says(const struct trace *t, char out[CLOCK_SAYS]);

#endif
