/* SPDX-License-Identifier: BSD-3-Clause
 * tree - merges the traces of all ranks at MPI_Finalize, along a binomial tree, under a deadline
 */
#ifndef SPOOR_TREE_H
#define SPOOR_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/real.h"
#include "trace/error.h"
#include "trace/trace.h"

struct tree {
	MPI_Comm comm;     /* private to spoor, with errors returned */
	int rank, size;    /* in comm */
	uint64_t deadline; /* CLOCK_MONOTONIC ns: nothing waits longer */
	uint32_t children; /* bit k: rank + 2^k has given us its trace */
};

/* Merges into *t (this rank's trace; NULL if it has none, then nobody has the whole) what the ranks below it in the tree have, and passes the
 * result on to the rank above. On rank 0, *t is the trace of all ranks then. Returns 0, or -1 with error set: a rank did not come, or failed; then nobody has the whole. */
int tree_merge(struct tree *tree, struct trace *t, struct error *error);

/* Tells all ranks, from rank 0 downwards, whether the whole trace was kept (`kept` counts on rank 0 only). Returns 0 if it was, -1 if not or
 * if the deadline passed without an answer: then this rank's arena must stay. */
int tree_settle(struct tree *tree, bool kept);

#endif
