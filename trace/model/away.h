/* SPDX-License-Identifier: BSD-3-Clause
 * away - for how long ranks were off the processor between two calls: they slept, waited for files, or had no core
 *
 *     rank 2    between MPI_Bcast (site 3) and MPI_Reduce (site 4)    1.2 s
 *
 * It is never more than it was, and only known of long computations (preload/absence.h). What is little is not kept
 * (AWAY_LEAST). Of a rank there are at most RECORD_AWAYS edges, those at which it was away for longest.
 */
#ifndef SPOOR_AWAY_MODEL_H
#define SPOOR_AWAY_MODEL_H

#include "trace/model/trace.h"

struct trace_away {
	uint32_t from, to, rank; /* sites; the stream */
	uint64_t us;
};

#define AWAY_LEAST UINT64_C(1000) /* us */
/* More than this of one rank is damage: a day times 2^11. */
#define AWAY_SANE (UINT64_C(1) << 48)
/* Numbers are rounded down to so many bits, so that those of ranks that are alike are equal. */
#define AWAY_BITS 5

uint64_t away_round(uint64_t value);
/* Adds some, without order. Returns 0 or -1. */
int away_add(struct trace *t, const struct trace_away *a);
/* Adds all of another trace; sites: their numbers here. Returns 0 or -1. */
int away_merge(struct trace *into, const struct trace *from, const uint32_t *sites);
/* Canonical order: by from, to, rank, each once. */
void away_order(struct trace *t);
/* For how long a rank was away between calls of two sites, at least: us; 0: not known. The trace is in order. */
uint64_t away_between(const struct trace *t, uint32_t from, uint32_t to, uint32_t rank);
void away_free(struct trace *t);

#endif
