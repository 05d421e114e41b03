/* SPDX-License-Identifier: BSD-3-Clause
 * computation_order - which times meet, of ranks that draw them and then wait for each other
 *
 * A rank draws each of its times once, in an order that a seed says. For how long ranks wait depends on what is drawn
 * in the same visit:
 *
 *     rank 0   1 3 1 3 1 3 1 3     rank 0   1 3 1 3 1 3 1 3
 *     rank 1   1 3 1 3 1 3 1 3     rank 1   1 1 3 3 1 1 3 3
 *     together: 16                 independent: 20
 *
 *     rank 1   3 1 3 1 3 1 3 1     apart: 24
 *
 * The trace says how long ranks waited, so that order is taken which is nearest. It is the same on all ranks, but that
 * each rank then changes places `apart` of 256 times, for each of some rounds and pairs of places. If `apart` is 256,
 * each rank begins at another place of all instead.
 */
#ifndef SPOOR_PROXY_COMPUTATION_ORDER_H
#define SPOOR_PROXY_COMPUTATION_ORDER_H

#include "proxy/computation.h"

/* Chooses `apart` and `seed`. `visits` are the same in all kinds. edge: its number in the program. patterns: as for
 * computation_kinds. Returns 0, or -1 on no memory. */
int computation_order(struct computation_kinds *kinds, const struct trace *t, const struct trace_site *from,
                      const struct trace_edge *e, struct pattern *patterns, unsigned edge);
/* What a rank of so many computes in a visit (from 0), ns: as the program does it. */
double computation_at(const struct computation *c, uint64_t visit, uint32_t rank, uint32_t size);

#endif
