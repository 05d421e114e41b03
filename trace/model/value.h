/* SPDX-License-Identifier: BSD-3-Clause
 * value - what a column holds of one visit: a number, a named constant, or that it is not known
 */
#ifndef SPOOR_VALUE_H
#define SPOOR_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/varint.h"

/* Values from here up to VALUE_CONSTANT + 2^32 - 1 are named constants: VALUE_CONSTANT + index in the string pool. */
#define VALUE_CONSTANT INT64_MIN
/* No value: what is expected where nothing can be. */
#define VALUE_NONE (INT64_MIN + (INT64_C(1) << 32))

/* A value that is not known: its column is a tally (trace/model/tally.h). Never in a column of an arena. */
#define VALUE_LOSSY (VALUE_NONE + 1)

static inline bool value_is_constant(int64_t v)
{
	return v < VALUE_NONE;
}

/* The stored form (doc/trace-format.md, "value"). value_get sets bad if it is none. */
void value_put(struct writer *w, int64_t v);
int64_t value_get(struct reader *r);

/* A stretch of a dictionary: start, start + stride, ... */
struct dict_run {
	int64_t start, stride;
	uint64_t count;
	uint64_t first; /* dictionary index of start */
};

#endif
