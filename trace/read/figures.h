/* SPDX-License-Identifier: BSD-3-Clause
 * figures - do the figures of a trace agree with each other? (doc/activity.md, "Times")
 *
 * What must hold for every trace, also for one that gave things up, or that killed ranks left:
 *
 *     calls     the visits of all sites are the events and the calls that were only counted
 *     a time    least <= mean <= most <= sum; its bins have its count and its sum; who had the extremes was there
 *     a site    least <= mean <= most of its ranks, and no call took longer than the most; it has no more times, and no
 *               more computations behind it, than visits; no more waiting than time
 *     totals    least <= mean <= most of the ranks; their sum is that of single ranks; the elapsed time is the
 *               computation and the calls but MPI_Init; no call and no computation took longer than the longest run; no
 *               more computation is between sites than there is in all
 *     killed    ranks are in a call that did not end, or computed, but not both
 *     messages  those of each size, and those of unknown size, are all; no efficiency is more than 1
 */
#ifndef SPOOR_FIGURES_H
#define SPOOR_FIGURES_H

#include "trace/model/trace.h"

/* Returns 0, or -1 with error set: which ones do not. */
int figures_check(const struct trace *t, struct error *error);

#endif
