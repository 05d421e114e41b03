/* SPDX-License-Identifier: BSD-3-Clause
 * compute - the time between two calls: how long it is, and waiting for as long
 *
 * Where the trace has the times of all events (timing: full), they are taken.
 *
 * Else, how long is drawn from a histogram of the edge from one site to the next, by class and by the mean of the rank
 * (class_times.h), with a seed: the same seed draws the same. Draws are spread evenly over a histogram, so that already
 * a few of them have its mean. Ranks draw independently, or all at the same place in one visit, as they did when the
 * trace was recorded (together.h). The rank and the visit that had the longest or the shortest time have it here, and
 * nobody else (Preserving Time, ICS'08).
 *
 * Where memory was used up, some edges are missing. What the totals of the ranks have more than all edges is shared
 * evenly among the calls that no edge leads to.
 *
 * What the replay itself takes is taken off: whoever is late after one call waits less after the next, until that is
 * paid back.
 */
#ifndef SPOOR_COMPUTE_H
#define SPOOR_COMPUTE_H

#include "trace/model/trace.h"

enum compute_mode { COMPUTE_SLEEP, COMPUTE_SPIN, COMPUTE_NONE };

struct compute;

/* scales: by what the time before calls of each site is multiplied. exact: the events come as they are in the trace, so
 * that their times can be taken. NULL on no memory. The trace and `scales` must outlive it. */
struct compute *compute_create(const struct trace *t, uint32_t rank, enum compute_mode mode, const double *scales,
                               bool exact, uint64_t seed);
void compute_destroy(struct compute *c);
/* A call of this site begins: waits until then. */
void compute_wait(struct compute *c, uint32_t site);
/* It ended. */
void compute_call_ended(struct compute *c, uint32_t site);

#endif
