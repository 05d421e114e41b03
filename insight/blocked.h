/* SPDX-License-Identifier: BSD-3-Clause
 * blocked - what each thread of each rank waits for when its trace ends, as nodes of a wait-for graph
 *
 *     MPI_Recv source=3          rank 3, unless a message from it is there
 *     MPI_Recv MPI_ANY_SOURCE    any of the communicator
 *     MPI_Ssend dest=3           rank 3, unless it has posted the receive; of MPI_Send that is known only after a
 * while
 *     MPI_Waitall, MPI_Waitany   all, or any, of what its live requests wait for
 *     MPI_Barrier                all members that have taken part in fewer collectives of the communicator
 *     MPI_Bcast                  the root, if it did not come; else after a while any of those that did not come
 *     MPI_Win_lock               those that hold the lock; MPI_Win_complete, MPI_Win_wait: those of the group
 *     MPI_Finalize               all that are not in it
 *
 * Each doubt counts as that it can go on: what is found stuck then is stuck for certain. It stays so while ranks are
 * read one after another: whoever goes on first would need a message that had been sent before, and so was counted.
 */
#ifndef SPOOR_INSIGHT_BLOCKED_H
#define SPOOR_INSIGHT_BLOCKED_H

#include "insight/end_state.h"
#include "insight/wait_graph.h"

enum blocked_kind {
	BLOCKED_UNKNOWN,  /* it is not known where it is */
	BLOCKED_COMPUTES, /* it is in no call */
	BLOCKED_POLLS,    /* it calls MPI_Test or MPI_Iprobe again and again, which find nothing */
	BLOCKED_WAITS,    /* for what `node` waits for */
	BLOCKED_GOES_ON,  /* it is in a call that can end: what it waits for is there */
	BLOCKED_DOUBT,    /* it is in a call of which it is not known what it waits for: `doubt` says why */
};

struct blocked_stream {
	enum blocked_kind kind;
	uint64_t ns; /* for how long */
	uint32_t site;
	struct end_call call; /* its schema is NULL if it is in none */
	int64_t request;      /* of those that it waits for the first one that is not done; VALUE_NONE */
	const char *doubt;    /* "its arguments are not known" */
	uint32_t next_sender; /* the next stream, + 1, whose call in flight sends to the same rank; 0: it is the last */
};

struct blocked {
	struct end_state state;
	struct wait_graph *graph;
	struct blocked_stream *streams; /* by number in state.streams; which are the first nodes of the graph, too */
	uint32_t *rank_nodes;           /* by rank: it can go on when one of its threads can */
	uint32_t *senders;              /* by rank: the first stream, + 1, whose call in flight sends to it */
	bool unsure;                    /* is any rank? */
	uint32_t parts;                 /* nodes from this one on are parts of what somebody waits for */
	uint64_t patience;
	/* nodes that many wait for: members of a scope that have not come to a collective of it */
	struct blocked_meeting {
		uint64_t scope, place;
		enum wait_kind kind;
		uint32_t node;
	} * meetings;
	uint32_t meeting_count, meeting_capacity;
	struct index meeting_index;
};

#define PLACE_ANY      UINT64_MAX       /* of a meeting: all members of the communicator */
#define PLACE_FINALIZE (UINT64_MAX - 1) /* all ranks that are not in MPI_Finalize */

/* patience: a call that is longer in flight than so many ns waits, even if it could have gone on without. polls: what
 * polls waits as well, for what it looks for. Returns 0; 1: the trace is too large; -1 with error set. The caller
 * frees it in any case. */
int blocked_make(struct blocked *b, const struct trace *t, uint64_t patience, bool polls, struct error *error);
void blocked_free(struct blocked *b);
/* Has a member come to this collective of its scope, as far as it is known? *took: what it did there; NULL. */
bool blocked_came(const struct blocked *b, uint32_t rank, uint64_t scope, uint64_t place, struct end_took *took);
/* How many collectives of its scope the stream has done before the one that it is in, or waits for. False: none. */
bool blocked_collective(const struct blocked *b, uint32_t stream, uint64_t *scope, uint64_t *place);

/* --- for blocked.c alone: conditions.c --- */

/* What one wait comes to. */
enum condition_kind {
	CONDITION_MET,   /* it can go on */
	CONDITION_DOUBT, /* that is not known */
	CONDITION_MAYBE, /* it waits for `node`, or not at all: MPI_Send may be buffered */
	CONDITION_WAITS  /* for `node` */
};
struct condition {
	enum condition_kind kind;
	uint32_t node;
	const char *doubt;
};
/* Of a call that a stream is in. number: of the stream in state.streams. */
struct condition condition_of(struct blocked *b, uint32_t number, const struct end_call *call);
struct condition condition_of_collective(struct blocked *b, uint32_t rank, const struct mpi_function *f, uint64_t scope,
                                         uint64_t place, int64_t root);
struct condition condition_of_window(struct blocked *b, uint32_t rank, const struct end_call *call);
/* A node that waits for the members that have not come; WAIT_NODE_NONE with *met: all have. */
uint32_t condition_meeting(struct blocked *b, uint64_t scope, uint64_t place, enum wait_kind kind, bool *met);

static inline struct condition condition_met(void)
{
	return (struct condition){CONDITION_MET, WAIT_NODE_NONE, NULL};
}

static inline struct condition condition_doubt(const char *why)
{
	return (struct condition){CONDITION_DOUBT, WAIT_NODE_NONE, why};
}

/* node is WAIT_NODE_NONE if there was no memory: then nothing is known. */
static inline struct condition condition_waits(uint32_t node, bool certain)
{
	return node == WAIT_NODE_NONE ? condition_doubt("there was no memory")
	                              : (struct condition){certain ? CONDITION_WAITS : CONDITION_MAYBE, node, NULL};
}

#endif
