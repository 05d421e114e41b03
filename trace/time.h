/* SPDX-License-Identifier: BSD-3-Clause
 * time - histograms of durations (Preserving Time, ICS'08, section 3.2): in an arena, while they grow, and in a trace
 *
 * Values are sorted into log-linear bins: TIME_PER_OCTAVE bins between a power of two and the next, so that a bin is at most 1/8 wider than
 * its lower end, and everything that falls into one differs by less. Bins are made for the range of values that was seen and nothing else.
 *
 *     in the arena   struct record_time: counter ticks; sum, sum of squares and extremes exact; a bin is one word: how many, and the mean
 *     in a trace     struct trace_time: ns; each bin has count, sum, sum of squares, and the range that its values are in
 *     in the file    the same, but in a trace that is complete only k bins, about equally full (time_balance)
 *
 * All sums are integers, and a bin is found by the mean of what is in it, which is inside the bin whatever is added: the order in which
 * ranks are merged changes nothing.
 */
#ifndef SPOOR_TIME_H
#define SPOOR_TIME_H

#include "trace/arena.h"

__extension__ typedef unsigned __int128 uint128;

#define TIME_PER_OCTAVE 8
#define TIME_BINS 8     /* k: bins of a complete trace, unless the policy says otherwise */
#define TIME_BINS_MAX 64

/* Values of about the same size. */
struct time_bin {
	uint64_t count;    /* not 0 */
	uint64_t min, max; /* no value is outside; the range may be wider than needed by the width of a log-linear bin */
	uint64_t sum;
	uint128 squares; /* sum of squares */
};

/* Durations in ns, over all ranks and visits. */
struct trace_time {
	uint64_t count, sum, min, max; /* exact; the others mean nothing if count is 0 */
	uint32_t min_rank, max_rank;   /* a rank that had the extreme value, the lowest one */
	uint64_t min_visit, max_visit; /* and in which of its visits of the site that the time is of, from 0 (the first one) */
	uint128 squares;
	struct time_bin *bins; /* malloc'ed; by ascending mean; NULL if all that is known is above (traces of version 1.0) */
	uint32_t bin_count;
};

/* The log-linear bin of a value: 0 .. 511, monotonous. */
static inline unsigned time_index(uint64_t v)
{
	unsigned shift = (unsigned)__builtin_clzll(v | 1);
	return (63 - shift) * TIME_PER_OCTAVE + (unsigned)(v << shift >> 60 & (TIME_PER_OCTAVE - 1));
}

/* The smallest value of a bin; that of bin i + 1 is behind its largest. */
uint64_t time_floor(unsigned index);

void trace_time_free(struct trace_time *t);
/* `to` is overwritten. Returns 0, or -1 on no memory (`to` is empty then). */
int trace_time_copy(struct trace_time *to, const struct trace_time *t);
/* Adds t to `to`. Linear in the bins of both. Returns 0, or -1 on no memory (then `to` has the sums without the bins). */
int trace_time_add(struct trace_time *to, const struct trace_time *t);
/* Joins neighbouring bins until there are at most k: each full to about count / k, with the widest gaps between them where that costs
 * little. */
void trace_time_balance(struct trace_time *t, unsigned k);

/* In ns; 0 if there are no values. */
double trace_time_mean(const struct trace_time *t);
double trace_time_deviation(const struct trace_time *t);
/* The value that q (0 .. 1) of all values are not above: evenly spread inside the bin. */
double trace_time_quantile(const struct trace_time *t, double q);
double time_bin_mean(const struct time_bin *b);
double time_bin_deviation(const struct time_bin *b);

#endif
