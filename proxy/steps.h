/* SPDX-License-Identifier: BSD-3-Clause
 * steps - which call site follows on which in a walk, and how often; of each kind of ranks, and of all
 *
 * Ranks are of one kind if the same sites follow each other in all of them, however often.
 */
#ifndef SPOOR_PROXY_STEPS_H
#define SPOOR_PROXY_STEPS_H

#include "trace/base/index.h"
#include "trace/read/loop_nest.h"

#define STEP_KINDS 64 /* if there are more, none is kept */

struct steps {
	struct nest_edge *each; /* in the order of their first appearance */
	uint32_t count, capacity;
	struct index index;
	uint64_t content; /* a hash, without how often and in which order */
};

struct step_kinds {
	struct steps *each;
	uint32_t count, capacity;
	bool too_many;
};

/* The number of a step, which is added with a count of 0 if it is new. INDEX_NONE: no memory. */
uint32_t steps_number(struct steps *s, uint32_t from, uint32_t to);
/* Returns 0, or -1 on no memory. */
int steps_add(struct steps *s, uint32_t from, uint32_t to, uint64_t times);
int steps_add_all(struct steps *s, const struct steps *other);
void steps_free(struct steps *s);
/* Sorts by `from`, then `to`. Nothing may be added then. */
void steps_sort(struct steps *s);

/* Adds those of a rank, and frees them in any case. Returns 0, or -1 on no memory. */
int step_kinds_add(struct step_kinds *k, struct steps *rank);
void step_kinds_free(struct step_kinds *k);

#endif
