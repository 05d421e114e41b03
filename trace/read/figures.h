/* SPDX-License-Identifier: BSD-3-Clause
 * figures - do the figures of a trace agree with each other? (doc/activity.md, "Times")
 *
 * What must hold for every trace, also for one that gave things up, or that killed ranks left:
 *
 *     calls     the visits of all sites are the events and the calls that were only counted
 *     a time    least <= mean <= most; its bins have its count and lie between least and most
 *     a site    least <= mean <= most of its ranks; it has no more times than visits
 *     totals    least <= mean <= most of the ranks; the elapsed time is the computation and the calls but MPI_Init;
 *               no more computation is between sites than there is in all
 */
#ifndef SPOOR_FIGURES_H
#define SPOOR_FIGURES_H

#include "trace/model/trace.h"

/* The time that all ranks had, in ns: what every share is of (doc/activity.md, "Times"). parts: the sum of all that is
 * known of them; streams: ranks, and their further threads; wall: how long the run took by its metadata, 0: not known.
 * Never less than the parts, so that no share is more than 1. */
uint64_t figures_all(uint64_t parts, uint64_t streams, uint64_t wall);

/* Returns 0, or -1 with error set: which ones do not. */
int figures_check(const struct trace *t, struct error *error);

#endif
