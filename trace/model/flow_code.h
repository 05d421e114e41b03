/* SPDX-License-Identifier: BSD-3-Clause
 * flow_code - what is kept of each time (timing: full)
 *
 * A time is kept as a *code*: the ticks themselves, or their logarithm, with 2^digits steps for each power of two
 * (Pilgrim, section 3.2, bins by exponents; here they are linear between powers of two, which needs no logarithm, and
 * their middle is at most E = 2^-(digits+1) off, relative to each time). Each time is rounded alone, so that a sum of
 * them - when an event began - is at most E off as well.
 *
 * In a flow, codes of ticks stand as they are, logarithms as the difference to the one before, which takes a byte
 * unless times differ by more than a factor of 2.
 */
#ifndef SPOOR_FLOW_CODE_H
#define SPOOR_FLOW_CODE_H

#include <stdint.h>

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

/* The next code of a flow. The reader's `bad` is set at its end. */
static inline uint64_t flow_next(struct reader *r, uint64_t *previous, unsigned digits)
{
	uint64_t v = reader_uint(r);
	return *previous = digits == FLOW_EXACT ? v : *previous + (uint64_t)unzigzag(v);
}

#endif
