/* SPDX-License-Identifier: BSD-3-Clause
 * tree - merges the traces of all ranks at MPI_Finalize: the ranks of a node first, then the nodes, under a deadline
 *
 *     tree_meet     are all ranks here, and ready?
 *     tree_merge    ranks of a node along a binomial tree to its lowest rank, the node's leader; leaders along another
 *                   one to rank 0
 *     tree_settle   everybody learns whether the whole was kept
 *
 * Before MPI_Finalize nothing is said to any other rank: a rank that is not traced (no plugin on its node, a spool
 * without room, another tool in front, a static program) would never answer. What is said to a rank that never receives
 * it stays open in the MPI library, and some say so on the job's output. So nothing is said before all are known to be
 * here:
 *
 *   - On its own node a rank sees who is traced (neighbours.h). If one is not, it goes on at once. If these are all
 *     ranks of the world, they meet in shared memory (meeting.h): a rank that is traced and still computes is one for
 *     which the others wait in MPI_Finalize anyway. So they wait, nearly until the deadline.
 *   - Of other nodes nothing can be known without a message. Only with a library that ends without a word whatever is
 *     open (ABI_DROPS_OPEN: Open MPI's own ob1, not UCX) there is one: a reduction over all, for which nobody waits
 *     longer than a second. With others, each node's arenas stay, and are merged when the step has ended.
 *
 * Clocks of different nodes are never compared here; how long something took on one node is.
 *
 * From then on all take part until the end, whatever goes wrong on one: nothing is given up. Past the deadline nobody
 * begins anything that takes time.
 */
#ifndef SPOOR_TREE_H
#define SPOOR_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/real.h"
#include "trace/base/error.h"
#include "trace/model/trace.h"

struct tree {
	/* given */
	int rank, size;     /* in MPI_COMM_WORLD */
	uint64_t deadline;  /* CLOCK_MONOTONIC ns: nobody waits longer for a rank to come, nor begins anything */
	int64_t choice;     /* which of the policy's rules is for this rank; INT64_MAX: none in particular */
	const char *folder; /* in which the ranks of this node have their arenas */
	uint64_t world;     /* MPI_COMM_WORLD's number */
	uint32_t host;      /* the node's number */
	int expected;       /* ranks of this node, as the launcher says; 0: it does not */
	/* its own */
	int64_t first_choice; /* the least of all ranks */
	MPI_Comm comm;        /* private, with errors returned; MPI_COMM_NULL before all have met */
	uint64_t last;        /* nothing waits longer for a rank that has come: it must be dead, or on another node */
	int parent;           /* -1: rank 0 */
	int children[64];
	int child_count;
	bool timed;        /* this rank has times of all events */
	bool away;         /* the parent is on another node */
	bool compared[64]; /* the child is, and has such times: clocks are compared */
	/* ns that clocks of nodes were apart, at most, and how far that may be wrong; -1: they were not compared */
	int64_t clocks_apart, clocks_error;
	int quiet; /* how many of these are put away: the error handlers of MPI_COMM_WORLD, MPI_COMM_SELF */
	MPI_Errhandler handlers[2];
};

/* The application has made a partitioned operation. With Open MPI the next calls duplicate MPI_COMM_WORLD for it,
 * twice, on each rank where its progress comes to it: a duplicate made meanwhile is another one's here and there, and
 * who waits for it waits for ever (seen with 5.0.7). So nothing of ours is made on MPI_COMM_WORLD then. */
void tree_partitioned(void);

/* Waits until all ranks have come to MPI_Finalize. ready: this rank has a trace. Returns 0 if all are here and ready;
 * else -1 with error set. tree_end is to be called in any case. */
int tree_meet(struct tree *tree, bool ready, struct error *error);

/* Merges into *t (this rank's trace) what the ranks below it in the tree have, and passes the result on to the rank
 * above. On rank 0, *t is the trace of all ranks then; elsewhere it is used up. Only after tree_meet has succeeded.
 * Returns 0, or -1 with error set: a rank did not come, or failed; then nobody has the whole. */
int tree_merge(struct tree *tree, struct trace *t, struct error *error);

/* Is it past the deadline? */
bool tree_is_late(const struct tree *tree);

/* Tells all ranks, from rank 0 downwards, whether the whole trace was kept (`kept` counts on rank 0 only). Returns 0 if
 * it was, -1 if not or if the deadline passed without an answer: then this rank's arena must stay. */
int tree_settle(struct tree *tree, bool kept);

/* The application's error handlers are in force again. good: nothing is under way any more, and the communicator can be
 * given back. */
void tree_end(struct tree *tree, bool good);

#endif
