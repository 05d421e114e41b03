/* SPDX-License-Identifier: BSD-3-Clause
 * tolerate - sites of different ranks whose call paths differ in a few frames become one (the setting site_tolerance)
 *
 *     ranks 1-7   main -> exchange -> MPI_Send       tolerance 1: one site of ranks 0-7, with the path that
 *     rank 0      main -> exchange0 -> MPI_Send      comes first in the order of the trace
 *
 * Within a rank, the recorder does that. Only sites that have no rank in common become one here, so that each rank's
 * events stay what they were.
 */
#ifndef SPOOR_TOLERATE_H
#define SPOOR_TOLERATE_H

#include "trace/model/trace.h"

/* Of a trace in canonical order that is whole, but was not refined yet. Sites that are to be one have one function and
 * call path then, and become one when the trace is put in order again. Returns how many are part of others now, or -1:
 * no memory. */
int64_t tolerate_paths(struct trace *t, unsigned frames);

#endif
