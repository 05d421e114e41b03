/* SPDX-License-Identifier: BSD-3-Clause
 * sampler - draws the values of one rank's columns that have no order (ScalaTrace II, ICS'13, section 3.5)
 *
 * A tally holds the values of all visits of all ranks of a group. Visit k of rank r is number n of all these visits,
 * and gets the value at position p(n) of the tally, where p is a permutation that the seed determines. So every value
 * is drawn as often as it came, over all ranks; the same seed draws the same; and every rank knows without a message
 * what another one draws.
 */
#ifndef SPOOR_SAMPLER_H
#define SPOOR_SAMPLER_H

#include "trace/model/trace.h"

struct sampler;

/* NULL on no memory. The trace must outlive it. */
struct sampler *sampler_create(const struct trace *t, uint32_t rank, uint64_t seed);
void sampler_destroy(struct sampler *d);
/* Has this column no order in this rank? */
bool sampler_is_lossy(struct sampler *d, uint32_t site, size_t column);
/* The value of a column in a visit of its site; 0 if the column has an order. */
int64_t sampler_value(struct sampler *d, uint32_t site, size_t column, uint64_t visit);
/* A drawn rank (kind p) of a communicator of `size` ranks: one that there is. */
int64_t sampler_rank(int64_t relative, int64_t base, int size);

/* The value at a place of a tally, of tally_count: over all places each bin has its values' number and sum. */
int64_t sampler_at(const struct tally *t, uint64_t place);
/* A permutation of 0 .. n - 1; factor: sampler_stride(n). */
uint64_t sampler_stride(uint64_t n);
uint64_t sampler_permute(uint64_t i, uint64_t n, uint64_t factor, uint64_t seed);
/* The group of a column that has no order; NULL: all have one. */
const struct trace_group *sampler_group(const struct trace_column *c);

#endif
