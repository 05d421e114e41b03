/* SPDX-License-Identifier: BSD-3-Clause
 * flow - the times of all visits, one by one: of a site's calls, or of the computations of an edge (timing: full)
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
#include "trace/model/flow_code.h"

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

#endif
