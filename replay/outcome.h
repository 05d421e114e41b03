/* SPDX-License-Identifier: BSD-3-Clause
 * outcome - how the event ended that is replayed now: what the layer between a tracer (or none) and the MPI library
 * is told
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
 *     MPI_File_read                says that it moved what it moved then, whatever the scratch folder's file has
 *
 * None of this can wait for something that does not come: what was seen then had happened before, and everything that
 * happened before is replayed. Before each call the replay says in replay_outcome how the event ended.
 *
 * Requests have handles of our own (request_number.h): two live ones never have the same (Open MPI's may).
 */
#ifndef SPOOR_OUTCOME_H
#define SPOOR_OUTCOME_H

#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#define OMPI_SKIP_MPICXX            1
#include <mpi.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bits of a handle, which is a pointer in one MPI library and an int in another; and the handle of these bits. */
#define HANDLE_BITS(handle)   ((void *)(intptr_t)(handle))
#define HANDLE_OF(type, bits) ((type)(intptr_t)(bits))

/* What becomes of a receive that was posted. */
enum match_kind {
	MATCH_ANY,    /* not known, or nothing to care about: as the library does it */
	MATCH_SOURCE, /* it gets a message of this source */
	MATCH_NONE    /* it is cancelled before a message comes */
};
struct match {
	enum match_kind kind;
	int source;
};

/* What a request is, in the replay of a trace without order. */
enum request_kind { REQUEST_PLAIN, REQUEST_RECV, REQUEST_PERSISTENT, REQUEST_PERSISTENT_SEND, REQUEST_PERSISTENT_RECV };

/* A live request. */
struct request {
	int number; /* its handle */
	enum request_kind kind;
	bool drawn;       /* its number in the trace is not known: it is in no table (live_handles.h) */
	bool live;        /* a call has made it, and none has completed it: of a trace without order */
	bool has_message; /* a receive that gets a message: its source is not MPI_PROC_NULL */
	MPI_Request real; /* the library's; MPI_REQUEST_NULL: complete and gone */
	bool received;    /* it gets a message: to cancel it is too late */
	bool from_nobody; /* a receive from MPI_PROC_NULL */
	bool of_file;     /* made by a function of MPI-IO */
	bool tracked;     /* a persistent receive that is started as another one each time: */
	MPI_Request own;  /* the library's persistent request, which is never started */
	void *buf;
	int count, source, tag;
	MPI_Datatype datatype; /* a duplicate */
	MPI_Comm comm;
};

struct outcome {
	bool by_library; /* as the library does it: the event returned an error, or nothing is known */
	int error;       /* the error class that the event returned; MPI_SUCCESS: none */
	bool refused;    /* for its arguments (error_refuses): it is not made again, what was wrong may not be known */
	jmp_buf *left;   /* the same of a call that did not return, but was left by longjmp: here; else NULL */
	struct request *request; /* where the request is to be kept that is made; NULL: MPI_REQUEST_NULL */
	int flag, index, count, source, tag;
	const int *indices;
	const int *sources, *tags;  /* of the statuses of an array; NULL: not known */
	long long moved;            /* bytes that a file call moved, or a request of one; less than 0: not known */
	const MPI_Count *all_moved; /* of the statuses of an array; NULL: not known */
	const char *text;
	long long size;
	/* For a receive that is posted now: what becomes of it. NULL: MATCH_ANY always. */
	struct match (*match)(void *context, int source);
	void *context;
	bool match_all; /* all receives are asked for, not only those from MPI_ANY_SOURCE */
	/* buffers are where the replay says: what MPI_Free_mem gets is not what MPI_Alloc_mem gave */
	bool known_buffers;
	int node; /* the same number for ranks that were on the same node */
	bool polling;
	bool lossy; /* a trace without order (lossy_messages.h), and what follows is of one: */
	/* a collective call whose counts may not fit, because ranks have different datatypes (byte_collective.h) */
	bool mixed_types;
	bool has_message;                    /* a receive: see struct request */
	long long timeout;                   /* ns that a receive waits for a message that nothing is known of */
	bool (*arrived)(void *senders);      /* have all messages come that a receive is to wait for? */
	void (*stop_waiting)(void *senders); /* what has not come is not waited for any more */
	void *senders;
	long long released; /* how often all ranks waited for each other, and went on */
	/* polling (poll.h), or lossy: */
	jmp_buf *out;
	MPI_Comm own;                  /* of all ranks; for votes */
	long long progress;            /* events */
	void (*receive_pending)(void); /* called while waiting; NULL: nothing to do */
	const char *scratch;           /* folder for the application's files */
};
/* With the sum of this file in its name, from the Makefile: a program does not start with a library that has another
 * struct outcome. */
#define replay_outcome REPLAY_OUTCOME
/* each thread has its own: what is for all of them is copied when it begins */
extern _Thread_local struct outcome replay_outcome;

/* How a call ends that is refused. */
static inline int outcome_refused(void)
{
	if (replay_outcome.left)
		longjmp(*replay_outcome.left, 1);
	return replay_outcome.error;
}

#endif
