/* SPDX-License-Identifier: BSD-3-Clause
 * placing - the arrangement of ranks with the least between nodes that is found, and how good it can be
 *
 * First what goes between nodes counts, then what goes between the sockets of a node. Slurm's arrangements are among
 * those that the search begins with, so what it finds is never worse than they are; each node has as many ranks as in
 * theirs.
 */
#ifndef SPOOR_INSIGHT_PLACING_H
#define SPOOR_INSIGHT_PLACING_H

#include "insight/arrangement.h"

/* What is to be least; the other one decides where this is the same. */
enum placing_by { PLACING_BYTES, PLACING_MESSAGES };

#define PLACING_PLANES 32

struct placing {
	struct arrangement slurm[4 + PLACING_PLANES], found;
	struct arrangement_cost slurm_cost[4 + PLACING_PLANES], found_cost;
	size_t slurm_count, best; /* best: the one of slurm that costs least, the first of them */
	struct crossing bound;
	bool slurm_suffices; /* the best of Slurm's has no more between nodes than what was found */
};

/* Less than, equal to, greater than 0: a is better, as good, worse. */
int crossing_compare(const struct crossing *a, const struct crossing *b, enum placing_by by);
int arrangement_compare(const struct arrangement_cost *a, const struct arrangement_cost *b, enum placing_by by);

/* also: one more to begin with, as it ran, on the same machine; NULL: none. Takes about a second. Returns 0, or -1 on
 * no memory. The caller frees it in any case. */
int placing_make(struct placing *p, const struct peers *peers, const struct machine *m, const struct arrangement *also,
                 enum placing_by by);
void placing_free(struct placing *p);

#endif
