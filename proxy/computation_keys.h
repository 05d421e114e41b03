/* SPDX-License-Identifier: BSD-3-Clause
 * computation_keys - of which class a rank's computations on an edge are, one after the other
 */
#ifndef SPOOR_PROXY_COMPUTATION_KEYS_H
#define SPOOR_PROXY_COMPUTATION_KEYS_H

#include "trace/model/pattern.h"
#include "trace/model/trace.h"

/* The keys of a rank's first visits, at most so many; one that is for all visits; CLASS_REST if it has none. patterns:
 * one for each of the trace's, parsed when first used. Returns how many; 0: no memory. */
size_t computation_keys(const struct trace *t, const struct trace_edge *e, uint32_t rank, struct pattern *patterns,
                        uint32_t *keys, size_t most);
/* NULL: there is no such class, or nothing in it. */
const struct trace_class *computation_class(const struct trace_edge *e, uint32_t key);
/* By how much the rank's mean is above what its classes say, in CLASS_PARTS of that. */
int64_t computation_rank_parts(const struct trace_edge *e, uint32_t rank);

#endif
