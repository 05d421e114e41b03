/* SPDX-License-Identifier: BSD-3-Clause
 * refine - gives ranks whose columns repeat different values at the same places one common pattern
 *
 * A rank at the border of a grid has MPI_PROC_NULL for two of its six neighbours: its pattern says that two values are
 * equal, the pattern of an inner rank does not. Their common refinement has a value of its own wherever one of them
 * has: six values, each a function of the rank. A grid's ranks then are one group, and not one for each kind of border.
 */
#ifndef SPOOR_REFINE_H
#define SPOOR_REFINE_H

#include "trace/model/trace.h"

/* Refines all columns of a site of a trace in canonical order, where that makes them smaller. Patterns that are no
 * longer used stay in the pool. Returns how many columns were changed, or -1 on no memory: the trace is then as exact
 * as before. */
int refine_site(struct trace *t, struct trace_site *s);

#endif
