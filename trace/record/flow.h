/* SPDX-License-Identifier: BSD-3-Clause
 * flow - the times of all visits, one by one: of a site's calls, or of the computations of an edge (timing: full)
 *
 * A time is kept as a *code*: the ticks themselves, or their logarithm, with 2^digits steps for each power of two
 * (Pilgrim, section 3.2, bins by exponents; here they are linear between powers of two, which needs no logarithm, and
 * their middle is at most E = 2^-(digits+1) off, relative to each time). Each time is rounded alone, so that a sum of
 * them - when an event began - is at most E off as well.
 *
 * In an arena a flow is a chain of blocks of varints: codes of ticks as they are; logarithms as the difference to the
 * one before, which takes a byte unless times differ by more than a factor of 2. A value is complete before `used`
 * tells of it: whatever kills the process, the first n values are there, n being the visits that are complete. There
 * may be one more.
 */
#ifndef SPOOR_FLOW_H
#define SPOOR_FLOW_H

#include <stdbool.h>

#include "trace/base/arena.h"
#include "trace/base/varint.h"

/* How times are rounded: FLOW_EXACT, or digits. */
#define FLOW_EXACT      255
#define FLOW_DIGITS_MAX 20

/* The digits for an error of at most so many millionths, 1 .. 500000; 0: FLOW_EXACT. */
unsigned flow_digits(uint64_t millionths);
/* The error in the worst case, relative. */
double flow_error(unsigned digits);
uint64_t flow_code(uint64_t ticks, unsigned digits);
/* The ticks that a code stands for: the middle of them. */
uint64_t flow_ticks(uint64_t code, unsigned digits);

/* Zeroed is empty. */
struct flow {
	ref first, last;   /* struct flow_block */
	uint64_t previous; /* code */
};

struct flow_block {
	ref next;
	uint32_t used, size, unused; /* bytes */
	uint8_t bytes[];
};

/* What a value takes of the arena at most. */
#define FLOW_ROOM 8192

/* Adds a code. Returns the bytes that the arena gave for it, 0 if it went into a block that was there, or -1: no room.
 * */
int64_t flow_add(struct arena *a, struct flow *f, uint64_t code, unsigned digits);
/* Appends all bytes of a flow, which may be damaged, to out. Returns the number of values, or -1. */
int64_t flow_extract(const struct arena *a, const struct flow *f, struct writer *out);

/* A flow in memory, as it is in the arena: the next code. The reader's `bad` is set at its end. */
static inline uint64_t flow_next(struct reader *r, uint64_t *previous, unsigned digits)
{
	uint64_t v = reader_uint(r);
	return *previous = digits == FLOW_EXACT ? v : *previous + (uint64_t)unzigzag(v);
}

#endif
