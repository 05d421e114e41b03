/* SPDX-License-Identifier: BSD-3-Clause
 * record_time - a histogram that grows in an arena, of counter ticks; its bins are those of trace/model/histogram.h
 */
#ifndef SPOOR_RECORD_TIME_H
#define SPOOR_RECORD_TIME_H

#include "trace/base/arena.h"
#include "trace/model/histogram.h"

/* Zeroed is empty. What it counts is what its bins count. */
struct record_time {
	/* The plain values, which need no more than counting: those v with v - low < width. They are no new extremes,
	 * neither 0 nor above TIME_EXACT, and their bins are in the window. Few values that are far from the others are
	 * kept apart, so that the window has no more bins than it is worth. The bin of index i is i + TIME_BIAS words
	 * behind `origin`, an address. These three follow from the others, and readers do not look at them. */
	uint64_t low, width;
	uintptr_t origin;
	uint64_t sum;
	uint64_t squares[2]; /* 128 bits, the low word first */
	/* The window: bins first .. first + count - 1, a word each: the sum of time_word(the bin) for each value, and
	 * of where inside the bin they are, in 1/TIME_PARTS of its width. So their number is the quotient, and the rest
	 * is the sum of the parts. These three are one word of the arena, so that they change together. */
	ref bins;
	uint16_t first, count;
	uint64_t min, max, min_visit, max_visit;
	ref spilled; /* struct record_spill: bins that are kept apart: far from the others, or words that were full */
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
/* What one value at the lower end of the bin of this index adds to its word: beside TIME_ONE the bits of that value as
 * a float (see below), which need not be taken off then. */
static inline uint64_t time_word(unsigned index);

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

/* A float has exponent and fraction side by side: they are histogram_index and, below that, where inside the bin the
 * value is. Exact for what is plain: 1 .. TIME_EXACT, some ms. Whatever takes longer can take a little longer to
 * record. */
#define TIME_EXACT ((UINT64_C(1) << 24) - 1)
#define TIME_BIAS  (127 * HISTOGRAM_PER_OCTAVE)

static inline uint64_t time_word(unsigned index)
{
	return TIME_ONE + (uint64_t)(index + TIME_BIAS) * TIME_PARTS;
}

static inline uint64_t time_bits(uint64_t ticks)
{
#ifdef __x86_64__
	/* the compiler would clear the register before, for processors that wait for what was in it; nothing was lately
	 * */
	float f;
	uint64_t bits;
	__asm__("cvtsi2ssl %2, %0\n\tmovd %0, %k1" : "=x"(f), "=r"(bits) : "r"((int32_t)ticks));
	return bits;
#else
	float f = (float)(int32_t)ticks;
	uint32_t bits;
	__builtin_memcpy(&bits, &f, sizeof bits);
	return bits;
#endif
}

static inline bool record_time_plain(const struct record_time *t, uint64_t ticks)
{
	return ticks - t->low < t->width;
}

static inline __attribute__((always_inline)) uint64_t record_time_count(struct record_time *t, uint64_t ticks)
{
	uint64_t bits = time_bits(ticks);
	uint64_t *bin = (uint64_t *)(t->origin + bits / TIME_PARTS * sizeof *bin); /* NOLINT: an address */
	uint64_t word = *bin += TIME_ONE | bits;
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
int record_time_extract(struct histogram *to, const struct arena *a, const struct record_time *t, double ns_per_tick,
                        uint32_t rank);

/* Adds one value, in ticks. Returns 0; -1 on no memory, or if it is no number of this world. */
int record_time_one(struct histogram *to, uint64_t ticks, double ns_per_tick, uint32_t rank, uint64_t visit);
/* A histogram of which only count and sum are known, in ticks: all values are the mean. Returns as above. */
int record_time_sum(struct histogram *to, uint64_t count, uint64_t sum, double ns_per_tick, uint32_t rank);

#endif
