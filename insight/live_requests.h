/* SPDX-License-Identifier: BSD-3-Clause
 * live_requests - the requests and the probed messages of one stream that are live: what each of them stands for
 *
 *     r0   LIVE_RECV, active: posted by MPI_Irecv, source=1 tag=3
 *     r1   LIVE_SEND, persistent: made by MPI_Send_init, waits for MPI_Start
 *     r2   LIVE_OTHER: MPI_File_iread
 */
#ifndef SPOOR_INSIGHT_LIVE_REQUESTS_H
#define SPOOR_INSIGHT_LIVE_REQUESTS_H

#include "insight/act.h"

enum live_kind {
	LIVE_NOTHING, /* there is none of this number */
	LIVE_NOBODY,  /* a message to or from MPI_PROC_NULL: done at once */
	LIVE_OTHER,   /* no message and no collective operation; or it is not known which one */
	LIVE_SEND,
	LIVE_RECV,
	LIVE_COLLECTIVE
};

struct live {
	uint32_t number;             /* of the handle */
	enum live_kind kind, second; /* second: of MPI_Isendrecv, the receive */
	bool persistent, active;     /* a persistent one waits for MPI_Start, if it is not active */
	bool cancelled;              /* MPI_Cancel: it may be done at once, or not */
	uint32_t partitions, ready;  /* of MPI_Psend_init; ready: since it was started */
	struct act act, other;       /* as they were begun; other: of `second` */
};

/* Zero-initialised is empty. */
struct lives {
	struct live **list; /* by number; NULL: there never was one */
	uint32_t count;
	uint64_t hash; /* of which ones there are, and whether they are persistent and active */
};

/* More at a time are damage, or a program that frees none. */
#define LIVES_MOST (INT64_C(1) << 20)

/* That of a handle; NULL: it is none, or there never was one of its number. */
struct live *live_find(const struct lives *l, int64_t number);
/* The same; makes it if it is not there. Returns 0; 1: it is no handle, or of too large a number; -1: no memory. */
int live_make(struct lives *l, int64_t number, struct live **out);
/* Before and after one of them is changed, so that `hash` follows. */
void live_changes(struct lives *l, const struct live *one);
void live_changed(struct lives *l, const struct live *one);
/* What all of them are, but for their order and for the client's marks: a hash. */
uint64_t lives_state(const struct lives *l);
void lives_free(struct lives *l);

#endif
