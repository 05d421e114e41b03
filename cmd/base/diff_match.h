/* SPDX-License-Identifier: BSD-3-Clause
 * diff_match - of `spoor diff`: which site of one trace is which of another
 *
 * Sites are matched by their call paths: first where modules (build ids) and offsets are equal; of the rest, where
 * function, file and line of every frame are; of the rest, where functions and files are, in order of appearance, so
 * that a program that was changed and built anew finds its sites again.
 */
#ifndef SPOOR_DIFF_MATCH_H
#define SPOOR_DIFF_MATCH_H

#include <stdint.h>

#include "trace/model/trace.h"

#define DIFF_FRAME_SIZE 512

struct container;
struct frames;

enum match { MATCH_NONE, MATCH_EXACT, MATCH_LINE, MATCH_SYMBOL };

/* One site of one of the traces. */
struct diff_side {
	char *keys[MATCH_SYMBOL + 1];                      /* by how it is matched */
	uint64_t calls, ranks, bytes, time, compute, wait; /* times: ns; wait: estimated */
	enum match match;
	uint32_t other; /* site of the other trace, if it is matched */
};

struct diff_input {
	const char *name;
	struct container *container;
	struct trace trace;
	struct frames *names;
	struct diff_side *sites;
	uint64_t ranks;                 /* in the trace; at least 1 */
	uint64_t events, time, compute; /* as spoor show has them */
	uint64_t lost, unplaced;        /* what no site says more of: calls, computation (ns) */
};

extern const char *const diff_match_names[]; /* by enum match */

/* Makes the keys of a site: its call path as a text for each way of matching, malloc'ed. Returns 0, or -1 on no
 * memory. */
int diff_make_keys(struct diff_input *in, uint32_t site);
/* Pairs the sites that are still alone and have the same key, in order. Returns 0, or -1 on no memory. */
int diff_match_by(struct diff_input *a, struct diff_input *b, enum match m);

#endif
