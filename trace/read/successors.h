/* SPDX-License-Identifier: BSD-3-Clause
 * successors - do the successors of a rank lead through all of its events?
 *
 * Sites are nodes, and each visit but the last one leaves its site along an edge: the next value of its successor
 * column. Whoever follows them from the first site on comes through all events if, and only if,
 *
 *     1. each site is entered as often as it is visited (the first one once less): nobody gets stuck but at the end;
 *     2. from each site, the edges by which it is left for the last time lead to the last site: no edge is left over
 *
 * (van Aardenne-Ehrenfest and de Bruijn, 1951). Both follow from the patterns without a walk: cost is linear in the
 * trace, not in the number of events.
 */
#ifndef SPOOR_SUCCESSORS_H
#define SPOOR_SUCCESSORS_H

#include "trace/model/trace.h"

/* Of a stream of a trace that has passed trace_check. Returns 0, also if the order of some successors is not known; or
 * -1 with error set: the events do not fit together, or there is no memory. */
int successors_check(const struct trace *t, uint32_t stream, struct error *error);

#endif
