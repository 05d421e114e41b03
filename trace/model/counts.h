/* SPDX-License-Identifier: BSD-3-Clause
 * counts - events that were counted (PAPI's) in calls and between them: histograms like those of times
 *
 * trace.counters lists what was counted; a site and an edge have an array of TRACE_COUNTERS histograms, by the number
 * of the counter, or none. Their values are counts where those of times are ns.
 */
#ifndef SPOOR_COUNTS_H
#define SPOOR_COUNTS_H

#include "trace/model/trace.h"

/* The number of the counter with that name (a string), added if it is not there; UINT32_MAX: there are TRACE_COUNTERS
 * others. */
uint32_t counts_number(struct trace *t, uint32_t name);
/* Puts ranks that counted it, and ranks that did not, to a counter. reason: a string of t, or 0; of several the first
 * in the order of bytes is kept. */
void counts_tell(struct trace *t, uint32_t counter, uint64_t ranks, uint64_t missing, uint32_t reason);
/* The array, made if it is not there; NULL: no memory. */
struct histogram *counts_make(struct histogram **counts);
void counts_free(struct histogram **counts);
/* Numbers of counters of the same trace. */
extern const uint32_t counts_same[TRACE_COUNTERS];
/* Adds histograms; numbers: those of the counters in `to`. Returns 0 or -1. */
int counts_add(struct histogram **to, const struct histogram *from, const uint32_t numbers[TRACE_COUNTERS]);

/* The table of another trace into that of `into`: numbers of strings and of counters. What more counters there are than
 * there can be is left out (UINT32_MAX): only jobs whose ranks have several policies have any. Returns 0. */
int counts_merge(struct trace *into, const struct trace *from, const uint32_t *strings,
                 uint32_t numbers[TRACE_COUNTERS]);
/* Makes counters without ranks of those in `from`, in the order of their numbers of strings. */
void counts_order(struct trace *into, const struct trace *from, const uint32_t *strings);

#endif
