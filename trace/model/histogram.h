/* SPDX-License-Identifier: BSD-3-Clause
 * histogram - histograms of durations (Preserving Time, ICS'08, section 3.2)
 *
 * Values are sorted into log-linear bins: HISTOGRAM_PER_OCTAVE bins between a power of two and the next, so that a bin
 * is at most 1/8 wider than its lower end, and everything that falls into one differs by less. Bins are made for the
 * range of values that was seen and nothing else.
 *
 *     in the arena   trace/record/record_time.h: counter ticks; sum, sum of squares and extremes exact; a bin is one
 *                    word: how many, and the mean
 *     in a trace     struct histogram: ns; each bin has count, sum, sum of squares, and the range that its values are
 *                    in
 *     in the file    the same, but in a trace that is complete only k bins, about equally full (histogram_balance)
 *
 * All sums are integers, and a bin is found by the mean of what is in it, which is inside the bin whatever is added:
 * the order in which ranks are merged changes nothing.
 */
#ifndef SPOOR_HISTOGRAM_H
#define SPOOR_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;

#define HISTOGRAM_PER_OCTAVE 8
#define HISTOGRAM_BINS       8 /* k: bins of a complete trace, unless the policy says otherwise */
#define HISTOGRAM_BINS_MAX   64
#define TRACE_COUNTERS       8 /* events that can be counted: histograms of counts have the form of those of times */

/* Values of about the same size. */
struct histogram_bin {
	uint64_t count; /* not 0 */
	/* no value is outside; the range may be wider than needed by the width of a log-linear bin */
	uint64_t min, max;
	uint64_t sum;
	uint128 squares; /* sum of squares */
};

/* Durations in ns, over all ranks and visits. */
struct histogram {
	/* the others mean nothing if count is 0; what a complete trace rounds: times.h */
	uint64_t count, sum, min, max;
	uint32_t min_rank, max_rank; /* a rank that had the extreme value, the lowest one */
	/* and in which of its visits of the site that the time is of, from 0 (the first one) */
	uint64_t min_visit, max_visit;
	uint128 squares;
	struct histogram_bin
		*bins; /* malloc'ed; by ascending mean; NULL if all that is known is above (traces of version 1.0) */
	uint32_t bin_count;
};

/* The log-linear bin of a value: 0 .. 511, monotonous. */
static inline unsigned histogram_index(uint64_t v)
{
	unsigned shift = (unsigned)__builtin_clzll(v | 1);
	return (63 - shift) * HISTOGRAM_PER_OCTAVE + (unsigned)(v << shift >> 60 & (HISTOGRAM_PER_OCTAVE - 1));
}

/* The smallest value of a bin; that of bin i + 1 is behind its largest. */
uint64_t histogram_floor(unsigned index);

void histogram_free(struct histogram *t);
/* `to` is overwritten. Returns 0, or -1 on no memory (`to` is empty then). */
int histogram_copy(struct histogram *to, const struct histogram *t);
/* Adds t to `to`. Linear in the bins of both. Returns 0, or -1 on no memory (then `to` has the sums without the bins).
 * */
int histogram_add(struct histogram *to, const struct histogram *t);
/* Joins neighbouring bins until there are at most k, always the two whose joining loses least: few values, or values
 * close together. So a rare but distant group of values keeps a bin of its own, and a crowd is shared by several bins.
 * */
void histogram_balance(struct histogram *t, unsigned k);

/* In ns; 0 if there are no values. */
double histogram_mean(const struct histogram *t);
double histogram_deviation(const struct histogram *t);
/* The value at a place (0 .. 1) of all values but the extremes. Over all places they have the mean of these. */
double histogram_at(const struct histogram *t, double place);
/* A value for this visit of this rank, such that those of all visits have the histogram: its extremes where they were,
 * else one at the next place. *place: of the one before, 0 <= *place < 1; the first is the caller's to choose. */
double histogram_draw(const struct histogram *t, uint32_t rank, uint64_t visit, double *place);
double histogram_bin_mean(const struct histogram_bin *b);
double histogram_bin_deviation(const struct histogram_bin *b);

#endif
