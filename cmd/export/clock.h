/* SPDX-License-Identifier: BSD-3-Clause
 * clock - begin and end of every event of a rank, in ns: drawn from the histograms of its site and of the edge that led there
 *
 * Draws of one histogram are spread evenly over it (golden section), so that they have its mean, and depend on nothing but the trace: the same trace
 * gives the same times. The rank and the visit that had the longest or the shortest time have it here (Preserving Time, ICS'08). Where the trace knows
 * the rank's totals they are what it says: computation and calls are stretched until they are.
 *
 * 0 is the begin of the first MPI_Init; all ranks leave it at the same time. Times of different ranks are no more exact towards each other than that: a
 * message may arrive before it was sent.
 */
#ifndef SPOOR_EXPORT_CLOCK_H
#define SPOOR_EXPORT_CLOCK_H

#include "trace/walk.h"

struct clock;

/* Returns 0, or -1 with error set. Costs one walk of the rank if its totals are known. The caller destroys *out. */
int clock_create(struct clock **out, const struct trace *t, uint32_t stream, struct error *error);
void clock_destroy(struct clock *c);
/* To be told of every event, in order. */
void clock_event(struct clock *c, const struct event *e, uint64_t *begin, uint64_t *end);

#endif
