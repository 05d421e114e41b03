/* SPDX-License-Identifier: BSD-3-Clause
 * live_handles - what the numbers of handles in a trace stand for in the replay
 *
 * What a recorded call gave back as c3 is kept as communicator 3, and is passed wherever c3 was passed. Each thread of
 * a rank has tables of its own: threads may have made objects of the same number at the same time, where the recorded
 * ones had it one after the other. What a thread did not make itself it takes from the others' tables.
 */
#ifndef SPOOR_LIVE_HANDLES_H
#define SPOOR_LIVE_HANDLES_H

#include <pthread.h>
#include <stdint.h>

#include "replay/outcome.h"
#include "trace/model/mpi.h"

/* What a constant can be besides a handle of some kind. */
enum { CONSTANT_INTEGER = HANDLE_KINDS, CONSTANT_ERROR };

/* A handle, and what the replay has to know of what it stands for. */
struct object {
	void *handle; /* the handle's bits; NULL: not there */
	/* The library may return one handle several times (MPI_Comm_group): how often it did, and has not got it back.
	 */
	uint32_t references;
	struct object *older; /* what the same number stood for before, and is not freed either; malloc'ed */
	bool asked;           /* the library was asked for what follows */
	union {
		struct {
			int peers; /* processes that a call talks to: the remote group, if there is one */
			int indegree, outdegree;
		} comm;
		struct {
			MPI_Aint extent, true_lb, true_extent;
			MPI_Count size;
		} type;
		struct {
			void *memory; /* the application's, of MPI_Win_create; malloc'ed */
		} win;
	};
};

/* The tables of all threads of a rank. */
struct handles_group {
	pthread_mutex_t lock;
	struct live_handles *first;
};

struct live_handles {
	struct handle_table {
		void **items; /* by number: struct object, of requests struct request; NULL: never seen */
		size_t count;
	} tables[HANDLE_KINDS];
	struct handles_group *group; /* NULL: the rank has one thread */
	struct live_handles *next;   /* in the group */
	uint32_t thread;
};

/* Makes the tables of a thread known to the others of its rank. They stay valid until handles_free. */
void handles_join(struct live_handles *h, struct handles_group *group, uint32_t thread);
void handles_free(struct live_handles *h);

/* What this thread, or else another one, has under a number; NULL: nobody has. */
struct object *handles_object(const struct live_handles *h, enum handle_kind kind, int64_t number);
/* What this thread has under a number, made if it is not there: nothing, and no handle. NULL: no memory, or the
 * number is not one. */
struct object *handles_own_object(struct live_handles *h, enum handle_kind kind, int64_t number);
/* A recorded call returned the object, or freed it: then what its number stood for before comes back, if that was not
 * freed. object_bind returns false without memory. */
bool object_bind(struct object *o, void *handle);
void object_unbind(struct object *o);
/* A request of this thread, the same way; of another thread: NULL if there is none. */
struct request *handles_own_request(struct live_handles *h, int64_t number);
struct request *handles_other_request(const struct live_handles *h, uint32_t thread, uint32_t number);
/* Ends the sessions of all threads of the rank that are still open: a trace has no calls after MPI_Finalize, but
 * sessions may outlive it, and Open MPI's launcher takes a process that ends with one for one that has failed. */
void handles_end_sessions(const struct live_handles *h);

/* Of a communicator. */
int object_peers(struct object *comm);
int object_indegree(struct object *comm);
int object_outdegree(struct object *comm);
/* A datatype, with its extents and size (bytes of its data). */
struct object *object_type(struct object *type);

#endif
