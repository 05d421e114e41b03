/* SPDX-License-Identifier: BSD-3-Clause
 * comms - the communicators of a job: which of the ranks' own c0, c1, ... are the same, and who is in them
 *
 * A trace names communicators rank by rank. All members of one make the same calls on its parent in the same order, so
 * that one is known by its parent, by how many were made of that before, and by what tells apart those that one call
 * makes: the color, the node, the coordinates that MPI_Cart_sub drops. Where that does not say it (MPI_Comm_create with
 * other groups on other ranks), the ranks in it do, taken in order.
 *
 * An intercommunicator has two groups, and a rank's peers are those of the other one. Each group is known by its own
 * communicator; the leaders' calls say which two belong together: MPI_Intercomm_create in the communicator in which the
 * leaders meet, MPI_Comm_accept and MPI_Comm_connect at a port. What is made of one of them is made alike by both. What
 * has to do with other worlds is not known.
 *
 * This is the one owner of communicators: executions (insight/execution.h) ask it.
 *
 * Costs one walk of each rank up to the last communicator that it makes; nothing if none is made.
 */
#ifndef SPOOR_COMMS_H
#define SPOOR_COMMS_H

#include "trace/read/call_fields.h"

#define COMM_WORLD   0
#define COMM_SELF    1 /* that of each rank */
#define COMM_UNKNOWN UINT32_MAX
#define RANK_UNKNOWN UINT32_MAX

struct comm {
	uint32_t size;
	uint32_t *members; /* ranks of MPI_COMM_WORLD; RANK_UNKNOWN: not in the trace; NULL: MPI_COMM_WORLD and _SELF */
	/* Of an intercommunicator: its other group. NULL: it is none. */
	uint32_t *remote, remote_size;
	uint8_t *second;  /* a bit for each rank of MPI_COMM_WORLD: those of `remote` */
	uint32_t parent;  /* COMM_UNKNOWN if it is not known */
	const char *name; /* that the program gave it; NULL */
};

struct comms;

/* Returns 0, or -1 with error set. The caller destroys *out. The trace must outlive it. */
int comms_make(struct comms **out, const struct calls *calls, struct error *error);
/* The same, if no more than so many events must be walked; else it returns 1. */
int comms_make_within(struct comms **out, const struct calls *calls, uint64_t events, struct error *error);
void comms_destroy(struct comms *c);
uint32_t comms_count(const struct comms *c);
const struct comm *comms_at(const struct comms *c, uint32_t number);
/* The communicator that a rank, any thread of it, calls by this value (of a column of kind c), or COMM_UNKNOWN. */
uint32_t comms_find(const struct comms *c, uint32_t stream, int64_t value);
bool comms_is_inter(const struct comms *c, uint32_t comm);
/* How many processes a rank (of MPI_COMM_WORLD) that is in a communicator talks to: of its other group, if there are
 * two. */
uint32_t comms_peers(const struct comms *c, uint32_t comm, uint32_t self);
/* The rank in MPI_COMM_WORLD of what `self`, which is one, calls this rank of a communicator; of COMM_SELF: `self`.
 * RANK_UNKNOWN if it is not known. */
uint32_t comms_world(const struct comms *c, uint32_t comm, int64_t rank, uint32_t self);
/* The rank that it has there itself. */
uint32_t comms_local(const struct comms *c, uint32_t comm, uint32_t world);
/* Is it of all ranks, in the order of MPI_COMM_WORLD? */
bool comms_is_world(const struct comms *c, uint32_t comm);

#endif
