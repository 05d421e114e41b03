/* SPDX-License-Identifier: BSD-3-Clause
 * rank_groups - ranks that behave alike
 *
 * Two ranks are of one group if three things are alike:
 *
 *     structure  they visit the same sites as often, in the same order: their columns have the same patterns
 *     volume     their counts are the same
 *     time       they compute for about as long (classes.h), and are in the calls of each site for about as long
 *                (means.h)
 *
 * What no class is known of is taken to be shared evenly. Costs the ranks times the columns and sites that differ
 * between them.
 */
#ifndef SPOOR_RANK_GROUPS_H
#define SPOOR_RANK_GROUPS_H

#include "trace/model/trace.h"

enum rank_group_sign { RANK_GROUP_STRUCTURE, RANK_GROUP_VOLUME, RANK_GROUP_TIME, RANK_GROUP_SIGNS };

struct rank_group {
	struct rankmap ranks; /* streams */
	uint64_t count;
	double events, compute_ns;      /* of a rank, the mean */
	double mpi_ns;                  /* the same, in MPI; -1: not known */
	double counts[TRACE_COUNTERS];  /* the same of what was counted while it computed */
	bool differs[RANK_GROUP_SIGNS]; /* from the first group */
	uint64_t sign[RANK_GROUP_SIGNS];
};

struct rank_groups {
	struct rank_group *groups; /* the largest first */
	size_t count;
};

/* Returns 0, or -1: no memory, or the reader's budget is used up. The caller frees it in any case. */
int rank_groups_make(struct rank_groups *g, const struct trace *t);
void rank_groups_free(struct rank_groups *g);

#endif
