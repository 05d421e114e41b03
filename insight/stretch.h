/* SPDX-License-Identifier: BSD-3-Clause
 * stretch - what ranks that are played do, one after another: they compute, or wait (simulate.h, ideal.h)
 */
#ifndef SPOOR_INSIGHT_STRETCH_H
#define SPOOR_INSIGHT_STRETCH_H

#include <stdint.h>

#define IDEAL_NOBODY UINT32_MAX

/* A stretch of a rank's time, which ended then. */
struct ideal_stretch {
	uint64_t end, ns;
	uint32_t behind, site; /* it computed between calls of these two sites, or waited in one of `site` */
	uint32_t from;         /* for the rank that it waited for; IDEAL_NOBODY: it computed */
};

struct ideal_rank {
	struct ideal_stretch *list; /* in order, without holes, from 0 */
	uint32_t count, capacity;
	uint64_t ns;
};

/* Of the ranks, as many as the trace has. And when all had come to a collective call that waits for all, ascending:
 * of operations that are played by what they mean. All of it is the owner's to free. */
struct stretches {
	struct ideal_rank *ranks;
	uint64_t *meets;
	uint32_t meet_count, meet_capacity;
};

#endif
