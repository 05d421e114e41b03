/* SPDX-License-Identifier: BSD-3-Clause
 * end_state - where each rank stands at the end of its trace: what it sent and received, which requests are live,
 * which collectives it took part in, which locks and epochs of windows are open
 *
 *     rank 0   r0: MPI_Irecv source=1 tag=3, live     MPI_COMM_WORLD: 7 collectives, the last one MPI_Barrier
 *     rank 1   sent 2 to rank 0 with tag 8            MPI_COMM_WORLD: 6 collectives, the last one MPI_Allreduce
 *
 * Messages and requests are the execution's; what is kept of them here is counted over all ranks, or is what the
 * execution still holds when its stream ends. Its own are windows, files, groups and epochs, which no act is
 * about.
 *
 * One walk of each rank, in memory of what is live and of what message_counts keeps. Ranks are those of
 * MPI_COMM_WORLD, translated by the members of the communicator. Of a rank that is `unsure` something is not known:
 * nothing may be concluded from what it did not do.
 */
#ifndef SPOOR_INSIGHT_END_STATE_H
#define SPOOR_INSIGHT_END_STATE_H

#include "insight/execution.h"
#include "insight/message_counts.h"

/* Besides RANK_UNKNOWN (comms.h). */
#define RANK_ANY    (UINT32_MAX - 1) /* MPI_ANY_SOURCE */
#define RANK_NOBODY (UINT32_MAX - 2) /* MPI_PROC_NULL */
#define TAG_ANY     INT64_MIN

/* In what ranks meet: a communicator, or the n-th window or file that was made of one. */
#define SCOPE_UNKNOWN     UINT64_MAX
#define SCOPE_WINDOW(n)   (((uint64_t)(n) + 1) << 32)
#define SCOPE_MADE        (UINT64_C(1) << 60) /* windows and files that were made of a communicator, counted */
#define SCOPE_PARTITIONED (UINT64_C(1) << 62) /* messages of MPI_Psend_init */
#define SCOPE_EPOCH       (UINT64_C(1) << 61) /* MPI_Win_complete is sent, MPI_Win_post received by the target */
static inline uint32_t scope_comm(uint64_t scope)
{
	return (uint32_t)scope; /* COMM_UNKNOWN of SCOPE_UNKNOWN */
}

/* A trace with more is not looked at. Events are those that are walked: of a loop some turns (walk_repeats). */
#define END_RANKS  (UINT32_C(1) << 17)
#define END_EVENTS (UINT64_C(1) << 25)

enum end_request_kind { REQUEST_NONE, REQUEST_SEND, REQUEST_RECV, REQUEST_COLLECTIVE, REQUEST_OTHER };

struct end_request {
	enum end_request_kind kind; /* REQUEST_NONE: no such request is live */
	bool persistent, active;    /* a persistent one waits for MPI_Start, if it is not active */
	uint32_t site;              /* that made it */
	uint32_t peer;
	uint64_t scope;
	int64_t tag;
	uint64_t place; /* what is before it: messages of its key, receives of its stream, collectives */
	uint32_t partitions, ready;
};

/* A call with its arguments, as far as they are known. */
#define END_REQUESTS 64
struct end_call {
	const struct schema *schema; /* NULL: there is none */
	uint32_t site;
	uint64_t scope; /* of its communicator, window or file */
	uint32_t dest, source;
	int64_t tag, recv_tag; /* VALUE_NONE: not known, or it has none */
	int64_t root, group, rank;
	bool exclusive;
	uint32_t request_count;
	bool requests_known;            /* these are all of them */
	int64_t requests[END_REQUESTS]; /* numbers of the stream; VALUE_NONE: MPI_REQUEST_NULL */
};

#define UNSURE_LOSSY   1 /* columns have no order, or events were lost */
#define UNSURE_FAILED  2 /* calls failed: what became of them is not known */
#define UNSURE_THREADS 4 /* threads waited for requests of each other */

struct end_stream {
	uint32_t stream, rank;
	struct end_request *requests; /* by number; when the walk is over */
	uint32_t request_count;
	struct end_call polled; /* the last call, if it was one that found nothing: MPI_Test with flag=0 */
	uint64_t polls;         /* how many of these came last, one after another */
	bool finalized;
	uint32_t finalize_site;
};

/* Collectives of one rank in one scope, of which the last ones are known by what they were. */
#define END_LAST 4
struct end_collective {
	uint64_t scope, count;
	uint32_t rank;
	bool mixed; /* of several threads: in which order is not known */
	uint32_t stream;
	struct end_took {
		const struct mpi_function *function;
		int64_t root; /* VALUE_NONE: it has none, or that is not known */
	} last[END_LAST];     /* number n is at n % END_LAST */
};

/* A lock that is held, or an epoch that is open; of one rank. */
enum end_epoch_kind { EPOCH_LOCK, EPOCH_START, EPOCH_POST };
struct end_epoch {
	enum end_epoch_kind kind;
	uint64_t scope;
	uint32_t target; /* of a lock; RANK_ANY: MPI_Win_lock_all */
	bool exclusive;
	uint32_t *members, count; /* of the group */
};

struct end_rank {
	uint32_t unsure; /* UNSURE_ */
	bool wild;       /* a receive of any source or tag is live, or of one that is not known */
	struct end_epoch *epochs;
	uint32_t epoch_count;
	struct end_handle { /* windows, files, groups by their numbers */
		char kind;
		int64_t number;
		uint64_t scope;
		uint32_t *members, count; /* of a group; NULL: all of the communicator `scope`, or not known */
	} * handles;
	uint32_t handle_count;
};

/* What was counted since a mark of the walk: it is counted again for each turn that is left out. */
#define END_CHANGES (UINT32_C(1) << 18)
struct end_turn {
	struct end_change {
		struct message_key key; /* of a collective its scope alone */
		uint32_t sent, received;
		bool collective;
	} * changes;
	uint32_t count, capacity;
	bool spoiled;   /* something else was changed, or it is too much */
	uint64_t state; /* of what is live, at the mark */
	uint64_t polls;
	uint64_t asks; /* events, before it is worth to look at what is live again */
};

struct end_state {
	const struct trace *trace;
	struct calls calls;
	struct comms *comms;
	struct message_counts *messages;
	struct end_stream *streams; /* in ascending order */
	uint32_t stream_count;
	struct end_rank *ranks; /* by rank */
	struct end_collective *collectives;
	uint32_t collective_count, collective_capacity;
	struct index collective_index;
	uint64_t walked;             /* events */
	struct execution *execution; /* of the stream that is walked */
	struct end_turn turn;
};

/* Returns 0; 1: the trace has too many ranks, events or messages; or -1 with error set. The caller frees it in any
 * case. */
int end_state_make(struct end_state *x, const struct trace *t, struct error *error);
void end_state_free(struct end_state *x);
/* NULL: the stream is not in the trace. */
const struct end_stream *end_state_stream(const struct end_state *x, uint32_t stream);
/* NULL: the rank took part in none. */
const struct end_collective *end_state_collectives(const struct end_state *x, uint32_t rank, uint64_t scope);
/* The arguments of the call that a stream is in; its schema is NULL if it is in none. */
void end_state_call(const struct end_state *x, uint32_t stream, struct end_call *out);
/* How many receives are live with which a message of this key could be taken; with that of a call in flight. */
uint64_t end_state_posted(const struct end_state *x, const struct message_key *key);

/* --- for the walk: end_scope.c, end_call.c, end_turn.c --- */

typedef bool end_argument(void *context, int column, uint32_t element, int64_t *value);
/* The members of a group that a rank has, as ranks of MPI_COMM_WORLD, malloc'ed (budget_free); NULL: not known. */
uint32_t *end_group(const struct end_state *x, uint32_t rank, int64_t group, uint32_t *count);
/* What it says of columns, in the terms of struct end_call. base: what ranks are relative to. */
void end_call_fill(const struct end_state *x, uint32_t stream, int64_t base, struct end_call *out, end_argument *get,
                   void *context);
/* The requests of the call. */
void end_call_requests(struct end_call *out, end_argument *get, void *context);
/* The peer that a value of a column of kind p names. */
uint32_t end_peer(const struct end_state *x, uint32_t stream, uint64_t scope, int64_t value, int64_t base);
/* An event that is collective; *place: how many were before. Returns 0 or -1. */
int end_take_collective(struct end_state *x, uint32_t stream, const struct schema *s, uint64_t scope, int64_t root,
                        uint64_t *place);
/* Windows, files, groups, locks and epochs. Returns 0 or -1. */
int end_take_scope(struct end_state *x, uint32_t stream, const struct event *e, const struct end_call *call);
uint64_t end_scope(const struct end_state *x, uint32_t stream, const struct schema *s, end_argument *get,
                   void *context);
const struct end_epoch *end_epoch_find(const struct end_state *x, uint32_t rank, enum end_epoch_kind kind,
                                       uint64_t scope);
void end_rank_free(struct end_rank *r);
/* Messages. Returns 0 or -1. */
int end_count(struct end_state *x, const struct message_key *key, uint32_t sent, uint32_t received);
/* A collective of a stream was counted. */
void end_turn_collective(struct end_state *x, uint64_t scope);
/* A new mark was made. */
void end_turn_begin(struct end_state *x, const struct end_stream *s);
/* Since the mark one turn of a loop was walked. Counts `turns` more, and returns true; false: it left
 * something else behind than it found. Nothing was counted then. */
bool end_turn_repeat(struct end_state *x, struct end_stream *s, uint64_t turns);
/* Of that many more, of all that a rank and a scope did. */
int end_repeat_collective(struct end_state *x, uint32_t stream, uint64_t scope, uint64_t turns);

#endif
