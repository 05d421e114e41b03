/* SPDX-License-Identifier: BSD-3-Clause
 * times - how long ranks compute between two calls, for all who play or replay a trace
 *
 * Where the trace has the times of all events (timing: full), they are taken, without what the tracer used.
 *
 * Else, how long is drawn from a histogram of the edge from one site to the next, by class and by the mean of the rank
 * (class_times.h), with a seed: the same seed draws the same. Draws are spread evenly over a histogram, so that already
 * a few of them have its mean. Ranks draw independently, or all at the same place in one visit, as they did when the
 * trace was recorded (together.h). The rank and the visit that had the longest or the shortest time have it here, and
 * nobody else (Preserving Time, ICS'08).
 *
 * Where memory was used up, some edges are missing. What the totals of the ranks have more than all edges is shared
 * evenly among the calls that no edge leads to.
 */
#ifndef SPOOR_INSIGHT_TIMES_H
#define SPOOR_INSIGHT_TIMES_H

#include "trace/model/trace.h"

/* What the ranks of a trace have in common. */
struct times;
/* One rank. */
struct rank_times;

/* exact: times of all events are taken where the trace has them: the events come as they are in it. NULL on no memory.
 * The trace must outlive it, and it its ranks. */
struct times *times_create(const struct trace *t, bool exact, uint64_t seed);
void times_destroy(struct times *t);
/* NULL on no memory. */
struct rank_times *rank_times_create(struct times *t, uint32_t rank);
void rank_times_destroy(struct rank_times *r);
/* Prepares all edges that the rank may take. Else each is prepared when it is first taken. */
void rank_times_prepare(struct rank_times *r);
/* To be told of the site of every event, in order. Returns how long the rank computed before it, in ns: 0 before the
 * first one. */
double rank_times_before(struct rank_times *r, uint32_t site);

#endif
