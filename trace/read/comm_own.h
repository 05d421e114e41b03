/* SPDX-License-Identifier: BSD-3-Clause
 * comm_own - a communicator as one rank knows it, until it is found which of them are the same (comms.h)
 */
#ifndef SPOOR_COMM_OWN_H
#define SPOOR_COMM_OWN_H

#include "trace/read/comms.h"

/* How a communicator got its key. */
enum origin {
	ORIGIN_PARENT,  /* from its parent: one of several that were made of it */
	ORIGIN_MEMBERS, /* that, and counted by the members alone */
	ORIGIN_HALF,    /* of an intercommunicator: its local group's, from that group's communicator */
	ORIGIN_MERGED,  /* from an intercommunicator: the same from both halves */
};

/* A communicator as one rank knows it. */
struct own {
	uint64_t key;   /* 0: not known (yet) */
	uint64_t other; /* of an intercommunicator: the key that the other group has; 0: not known (yet) */
	uint32_t stream, symbol, number; /* number: of the communicator, once it is known */
	uint32_t home;                   /* the stream's rank */
	int64_t rank, size;              /* the stream's in it, of its own group */
	enum origin origin;
	bool inter;
	uint32_t parent; /* its place in comms.own, or one of those below */
	uint64_t branch; /* what tells it from others that were made of its parent */
	const char *name;
	/* of a leader of a half: where the leaders met, in which of two roles */
	uint32_t met;     /* the communicator's place; OWN_NONE: a port; or it is no leader */
	uint64_t meeting; /* 0: no leader */
	bool second;
	/* while the rank is walked */
	uint64_t made; /* how many communicators were made of it */
	int64_t *dims; /* of a cartesian one */
	size_t ndims;
};

#define OWN_NONE  UINT32_MAX
#define OWN_WORLD (UINT32_MAX - 1)
#define OWN_SELF  (UINT32_MAX - 2)

struct comms {
	const struct trace *trace;
	struct own *own; /* by stream, symbol; at the end by home, symbol */
	uint32_t count, capacity;
	struct comm *comms;
	uint32_t comm_count;
};

/* comm_scan.c: adds those that one stream makes. left: its calls that make or name one; *events: that may be walked.
 * Returns as comms_make_within. */
int comms_scan(struct comms *c, const struct calls *calls, uint32_t stream, uint64_t left, uint64_t *events,
               struct error *error);
/* Does the call give a communicator a name? */
static inline bool comm_is_named(const struct schema *s)
{
	return s->mpi->function == FN_MPI_Comm_set_name && s->at[PARAMETER_NAME] >= 0;
}
/* comm_keys.c: a key for each, the same for all members of a communicator, or of a group of an intercommunicator.
 * Returns 0, or -1 on no memory. */
int comm_keys_make(struct comms *c);
/* comm_groups.c: makes comms.comms of those with the same key. Returns 0, or -1 on no memory. */
int comm_groups_make(struct comms *c);

#endif
