/* SPDX-License-Identifier: BSD-3-Clause
 * time - histograms of durations (Preserving Time, ICS'08, section 3.2): in an arena, while they grow, and in a trace
 *
 * Values are sorted into log-linear bins: TIME_PER_OCTAVE bins between a power of two and the next, so that a bin is at
 * most 1/8 wider than its lower end, and everything that falls into one differs by less. Bins are made for the range of
 * values that was seen and nothing else.
 *
 *     in the arena   struct record_time: counter ticks; sum, sum of squares and extremes exact; a bin is one word: how
 *                    many, and the mean
 *     in a trace     struct trace_time: ns; each bin has count, sum, sum of squares, and the range that its values are
 *                    in
 *     in the file    the same, but in a trace that is complete only k bins, about equally full (time_balance)
 *
 * All sums are integers, and a bin is found by the mean of what is in it, which is inside the bin whatever is added:
 * the order in which ranks are merged changes nothing.
 */
#ifndef SPOOR_TIME_H
#define SPOOR_TIME_H

#include "trace/base/arena.h"

__extension__ typedef unsigned __int128 uint128;

#define TIME_PER_OCTAVE 8
#define TIME_BINS       8 /* k: bins of a complete trace, unless the policy says otherwise */
#define TIME_BINS_MAX   64
#define TRACE_COUNTERS  8 /* events that can be counted: histograms of counts have the form of those of times */

/* Values of about the same size. */
struct time_bin {
	uint64_t count; /* not 0 */
	/* no value is outside; the range may be wider than needed by the width of a log-linear bin */
	uint64_t min, max;
	uint64_t sum;
	uint128 squares; /* sum of squares */
};

/* Durations in ns, over all ranks and visits. */
struct trace_time {
	/* the others mean nothing if count is 0; what a complete trace rounds: times.h */
	uint64_t count, sum, min, max;
	uint32_t min_rank, max_rank; /* a rank that had the extreme value, the lowest one */
	/* and in which of its visits of the site that the time is of, from 0 (the first one) */
	uint64_t min_visit, max_visit;
	uint128 squares;
	struct time_bin
		*bins; /* malloc'ed; by ascending mean; NULL if all that is known is above (traces of version 1.0) */
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

/* In an arena: a histogram that grows, of counter ticks. Zeroed is empty. What it counts is what its bins count. */
struct record_time {
	/* The plain values, which need no more than counting: those v with v - low < width. They are no new extremes,
	 * neither 0 nor above TIME_EXACT, and their bins are in the window. The bin of index i is i + TIME_BIAS words
	 * behind `origin`, an address. These three follow from the others, and readers do not look at them. */
	uint64_t low, width;
	uintptr_t origin;
	uint64_t sum;
	uint64_t squares[2]; /* 128 bits, the low word first */
	/* The window: bins first .. first + count - 1, a word each: how many values << 43 | the sum of where inside the
	 * bin they are, in 1/TIME_PARTS of its width. These three are one word of the arena, so that they change
	 * together. */
	ref bins;
	uint16_t first, count;
	uint64_t min, max, min_visit, max_visit;
	ref spilled; /* struct record_spill: words that were full */
	uint32_t unused;
};

struct record_spill {
	ref next;
	uint32_t index;
	uint64_t count, parts;
};

#define TIME_PARTS (UINT64_C(1) << 20)
#define TIME_ONE   (UINT64_C(1) << 43)
#define TIME_FULL  (UINT64_C(1) << 63) /* half of what a word can count */

/* The rest of record_time_add: a value that is not plain. */
void record_time_turn(struct arena *a, struct record_time *t, uint64_t ticks, uint64_t visit);

/* Adds a value, which was that of this visit. To be called with room in the arena for TIME_ROOM bytes. Without room for
 * a bin the value is counted in the nearest one. */
#define TIME_ROOM 8192
static inline void record_time_add(struct arena *a, struct record_time *t, uint64_t ticks, uint64_t visit);

/* Its plain case in steps that call nothing: is the value plain? If so, it may be counted. Returns the bin's word.
 * record_time_empty must be called before TIME_FULL / TIME_ONE values were counted after one that made it TIME_FULL. */
static inline bool record_time_plain(const struct record_time *t, uint64_t ticks);
static inline uint64_t record_time_count(struct record_time *t, uint64_t ticks);
void record_time_empty(struct arena *a, struct record_time *t);

/* A float has exponent and fraction side by side: they are time_index and, below that, where inside the bin the value
 * is. Exact for what is plain: 1 .. TIME_EXACT, some ms. Whatever takes longer can take a little longer to record. */
#define TIME_EXACT ((UINT64_C(1) << 24) - 1)
#define TIME_BIAS  (127 * TIME_PER_OCTAVE)

static inline uint32_t time_bits(uint64_t ticks)
{
	float f;
	uint32_t bits;
#ifdef __x86_64__
	/* the compiler would clear the register before, for processors that wait for what was in it; nothing was lately
	 * */
	__asm__("cvtsi2ssl %1, %0" : "=x"(f) : "r"((int32_t)ticks));
#else
	f = (float)(int32_t)ticks;
#endif
	__builtin_memcpy(&bits, &f, sizeof bits);
	return bits;
}

static inline bool record_time_plain(const struct record_time *t, uint64_t ticks)
{
	return ticks - t->low < t->width;
}

static inline __attribute__((always_inline)) uint64_t record_time_count(struct record_time *t, uint64_t ticks)
{
	uint32_t bits = time_bits(ticks);
	uint64_t *bin = (uint64_t *)(t->origin + bits / TIME_PARTS * sizeof *bin); /* NOLINT: an address */
	uint64_t word = *bin += TIME_ONE + bits % TIME_PARTS;
	t->sum += ticks;
	t->squares[1] += __builtin_add_overflow(t->squares[0], ticks * ticks, &t->squares[0]);
	return word;
}

static inline void record_time_add(struct arena *a, struct record_time *t, uint64_t ticks, uint64_t visit)
{
	if (__builtin_expect(!record_time_plain(t, ticks), 0))
		record_time_turn(a, t, ticks, visit);
	else if (__builtin_expect(record_time_count(t, ticks) >= TIME_FULL, 0))
		record_time_empty(a, t);
}

/* The histogram in ns, as that of one rank. Everything in it is checked. Returns 0; -1 on no memory, or if it is
 * damaged. */
int trace_time_extract(struct trace_time *to, const struct arena *a, const struct record_time *t, double ns_per_tick,
                       uint32_t rank);

void trace_time_free(struct trace_time *t);
/* `to` is overwritten. Returns 0, or -1 on no memory (`to` is empty then). */
int trace_time_copy(struct trace_time *to, const struct trace_time *t);
/* Adds t to `to`. Linear in the bins of both. Returns 0, or -1 on no memory (then `to` has the sums without the bins).
 * */
int trace_time_add(struct trace_time *to, const struct trace_time *t);
/* Joins neighbouring bins until there are at most k, always the two whose joining loses least: few values, or values
 * close together. So a rare but distant group of values keeps a bin of its own, and a crowd is shared by several bins.
 * */
void trace_time_balance(struct trace_time *t, unsigned k);

/* In ns; 0 if there are no values. */
double trace_time_mean(const struct trace_time *t);
double trace_time_deviation(const struct trace_time *t);
/* The value that q (0 .. 1) of all values are not above: evenly spread inside the bin. */
double trace_time_quantile(const struct trace_time *t, double q);
/* A value for this visit of this rank, such that those of all visits have the histogram: its extremes where they were,
 * else one at the next place. *place: of the one before, 0 <= *place < 1; the first is the caller's to choose. */
double trace_time_draw(const struct trace_time *t, uint32_t rank, uint64_t visit, double *place);
double time_bin_mean(const struct time_bin *b);
double time_bin_deviation(const struct time_bin *b);

#endif
