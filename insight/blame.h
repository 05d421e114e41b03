/* SPDX-License-Identifier: BSD-3-Clause
 * blame - for whose computation the ranks wait on an ideal network (ideal.h)
 *
 * While a rank waits, somebody computes what it waits for: the rank that it waits for, or, while that one waits itself,
 * the one that this one waits for, and so on. Each moment of a wait is booked on what is computed then (delay analysis
 * as of Boehme et al., ICPP 2010, moment by moment):
 *
 *     rank 0   computes 4 | waits 6 for 2  |           booked: 6 on what rank 2 computes before the call
 *     rank 1   computes 4 | waits 6 for 2  |                   6 on the same
 *     rank 2   computes 10                 |
 *
 * A rank that is at its end waits for the one that ends last.
 *
 * Between two calls in which all ranks meet, a part of the waits is as long as the rank that computes most computes
 * more than the others: this part is called uneven. It is booked on what that rank computes more than the mean of all,
 * before which calls that is: in the moment of the wait it may have come to something else, which it began late. The
 * rest of the waits is because ranks need what others compute first.
 */
#ifndef SPOOR_INSIGHT_BLAME_H
#define SPOOR_INSIGHT_BLAME_H

#include "insight/ideal.h"

/* What a rank computes between calls of two sites. */
struct blame_part {
	uint32_t behind, site, rank;
	uint64_t ns, visits;       /* that it computes */
	double squares;            /* of the visits */
	double uneven_ns, turn_ns; /* that others wait for that; because of uneven work, and for the rest */
	double length_ns;          /* how long a visit is, in the mean over turn_ns */
};

/* In which calls the waits for what is before a site are. */
struct blame_wait {
	uint32_t site, wait_site;
	double ns;
};

struct blame {
	struct blame_part *parts; /* by behind, site, rank */
	size_t part_count;
	struct blame_wait *waits; /* by site; most first */
	size_t wait_count;
	uint32_t meets; /* calls in which all ranks met */
};

/* factor: by site, and behind all sites of ranks that are at their end: what part of the waits there counts (0 .. 1),
 * because an ideal network may have more of them than there were. With more steps than are worth it some ranks' waits
 * are looked at, and stand for all. Returns 0, or -1 with error set. The caller frees it in any case. */
int blame_make(struct blame *b, const struct trace *t, const struct ideal *i, const double *factor,
               struct error *error);
void blame_free(struct blame *b);

#endif
