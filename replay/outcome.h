/* SPDX-License-Identifier: BSD-3-Clause
 * outcome - MPI functions that come out as they did: the layer between a tracer (or none) and the MPI library
 *
 * What an MPI call does may depend on time: whose message MPI_ANY_SOURCE takes, which request MPI_Waitany completes,
 * whether MPI_Test sees a message already. The replay issues all calls with the parameters that were recorded. They
 * come here, having passed whatever tool is preloaded - which so sees what was recorded - and are made in the library
 * such that they end as they ended then:
 *
 *     MPI_Recv(MPI_ANY_SOURCE)     receives from the source of the recorded status
 *     MPI_Waitany                  waits for the request that was completed
 *     MPI_Test, flag=1             waits; flag=0: asks, and says that the request is not complete
 *     MPI_File_open(name)          opens a file of the scratch folder
 *
 * None of this can wait for something that does not come: what was seen then had happened before, and everything that
 * happened before is replayed. Before each call the replay says in replay_outcome how the event ended.
 *
 * Requests have handles of our own, the addresses of entries: two live ones never have the same (Open MPI's may).
 */
#ifndef SPOOR_OUTCOME_H
#define SPOOR_OUTCOME_H

#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#define OMPI_SKIP_MPICXX            1
#include <mpi.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

/* What becomes of a receive that was posted. */
enum fate_kind {
	FATE_NATURAL, /* not known, or nothing to care about: as the library does it */
	FATE_SOURCE,  /* it gets a message of this source */
	FATE_NEVER    /* it is cancelled before a message comes */
};
struct fate {
	enum fate_kind kind;
	int source;
};

/* What a request is, in the replay of a trace without order. */
enum entry_kind { ENTRY_PLAIN, ENTRY_RECV, ENTRY_PERSISTENT, ENTRY_PERSISTENT_SEND, ENTRY_PERSISTENT_RECV };

/* A live request. */
struct entry {
	enum entry_kind kind;
	bool drawn;       /* its number is not known: it is not in the player's table */
	bool sure;        /* a receive that gets a message: its source is not MPI_PROC_NULL */
	MPI_Request real; /* the library's; MPI_REQUEST_NULL: complete and gone */
	bool received;    /* it gets a message: to cancel it is too late */
	bool tracked;     /* a persistent receive that is started as another one each time: */
	MPI_Request own;  /* the library's persistent request, which is never started */
	void *buf;
	int count, source, tag;
	MPI_Datatype datatype; /* a duplicate */
	MPI_Comm comm;
};

struct outcome {
	bool natural;        /* as the library does it: the event returned an error, or nothing is known */
	int error;           /* the error class that the event returned; MPI_SUCCESS: none */
	struct entry *entry; /* where the request is to be kept that is made; NULL: MPI_REQUEST_NULL */
	int flag, index, count, source, tag;
	const int *indices;
	const char *text;
	long long size;
	/* For a receive that is posted now: what becomes of it. NULL: FATE_NATURAL always. */
	struct fate (*fate)(void *context, int source);
	void *context;
	bool every;  /* all receives are asked for, not only those from MPI_ANY_SOURCE */
	bool placed; /* buffers are where the replay says: what MPI_Free_mem gets is not what MPI_Alloc_mem gave */
	int node;    /* the same number for ranks that were on the same node */
	bool polling;
	bool lossy; /* a trace without order: lossy.c */
	/* a collective call of it whose counts may not fit, because ranks have different datatypes: move.c */
	bool mixed;
	bool sure;                        /* a receive: see struct entry */
	long long patience;               /* ns that a receive waits for a message that nothing is known of */
	bool (*arrived)(void *following); /* have all messages come that a receive is to wait for? */
	void (*forgive)(void *following); /* what has not come is not waited for any more */
	void *following;
	long long released; /* how often all ranks waited for each other, and went on */
	jmp_buf *out;
	MPI_Comm own;          /* of all ranks; for votes */
	long long progress;    /* events */
	void (*service)(void); /* called while waiting; NULL: nothing to do */
	const char *scratch;   /* folder for the application's files */
};
/* With the sum of this file in its name, from the Makefile: a program does not start with a library that has another
 * struct outcome. */
#define replay_outcome REPLAY_OUTCOME
/* each thread has its own: what is for all of them is copied when it begins */
extern _Thread_local struct outcome replay_outcome;

/* ---- poll.c: waiting that comes to an end ----
 *
 * A trace that is no whole run, and one without order, may have ranks that wait for what does not come. With
 * replay_outcome.polling all calls that wait are made in their non-blocking forms and asked for again and again. A rank
 * that waits, or is at its end, joins a vote on a communicator of our own; when all have joined, several times, and
 * none has done anything between, then nobody ever will. In a trace without order nobody then waits any more for
 * messages that have not come (lossy_await); only if that does not help either, it is the end. */

#define POLL_STUCK 2 /* what setjmp returns then */
/* One turn of waiting. Does not return when nobody goes on any more: jumps to *replay_outcome.out. */
void poll_turn(void);
/* As PMPI_Wait and PMPI_Waitall, with turns. */
int poll_wait(MPI_Request *real, MPI_Status *status);
int poll_waitall(int n, MPI_Request *real, MPI_Status *statuses);
/* Until all members have come here: before calls that have no non-blocking form. */
int poll_gate(MPI_Comm comm);
/* At the end: until nobody goes on any more. */
void poll_linger(void);

/* ---- gate.c: the same for windows and files, which have no non-blocking forms either ---- */

/* A window or file was made on this communicator. Collective. */
void gate_keep(void *handle, MPI_Comm comm);
/* Until all its members have come here. */
void gate_pass(void *handle);
/* It is gone. Collective. */
void gate_drop(void *handle);
/* MPI_Win_wait, for MPI_Win_test. */
int gate_win_wait(MPI_Win win);

/* ---- lossy.c: a trace without order ---- */

/* Messages may come in this communicator; they are counted by source, where that is not NULL, and nor is by_source,
 * which must stay where it is. */
void lossy_comm(MPI_Comm comm, long long *const *by_source);
/* For replay_outcome.service. */
void lossy_service(void);
int lossy_send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
/* Waits until all messages have come that are known to be under way. */
void lossy_await(void);
/* Awaits, and takes one of those that have come; sure: there is one, so it waits for that, for a while. */
int lossy_receive(MPI_Status *status, bool sure);
/* A request that was made: real is the library's, which is completed some time. */
int lossy_made(enum entry_kind kind, MPI_Request real, MPI_Request *request);
int lossy_made_init(enum entry_kind kind, const void *buf, int count, MPI_Datatype datatype, int peer, int tag,
                    MPI_Comm comm, MPI_Request *request);
int lossy_start(MPI_Request *request);
int lossy_complete(MPI_Request *request, MPI_Status *status);
void lossy_free(MPI_Request *request);
void lossy_keep(MPI_Request real);
void lossy_live(struct entry *e);
struct entry *lossy_entry(void);
struct entry *lossy_pick(int i, bool persistent);
/* All messages in a communicator are received, on all its ranks; MPI_COMM_NULL: in all of them, and all else is
 * complete. */
void lossy_drain(MPI_Comm comm);
void lossy_counts(long long *sent, long long *received);

/* ---- move.c: collective calls of a trace without order whose ranks have different datatypes ----
 *
 * Counts are drawn so that all ranks have the same ones. With different datatypes these are different sizes. So those
 * who send tell the others how many bytes come, and bytes are moved. It is complete when it returns, whatever the call.
 * */

enum move { MOVE_BCAST, MOVE_GATHER, MOVE_SCATTER, MOVE_ALLGATHER, MOVE_ALLTOALL };
struct side {
	const void *buf;
	int count;
	const int *counts; /* NULL: all are `count` */
	MPI_Datatype type;
};
int move_all(enum move kind, struct side send, struct side receive, int root, MPI_Comm comm);

/* For the generated functions: keeps a request that was made, and gives it its handle. Returns rc. */
int outcome_made(int rc, MPI_Request real, MPI_Request *request);

#endif
