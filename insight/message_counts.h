/* SPDX-License-Identifier: BSD-3-Clause
 * message_counts - how many messages each rank sent to each other one, and how many of them were received
 *
 * By (source, destination, scope, tag), counts only: MPI receives the messages of one such key in the order in which
 * they were sent. What was sent and not received is under way, or waits at its destination.
 *
 *     rank 1 sent 3 with tag 7 to rank 0, which received 2 of them: 1 is there for MPI_Recv source=1 tag=7
 *
 * A scope is a communicator, or something else in which ranks notify each other (end_state.h).
 */
#ifndef SPOOR_INSIGHT_MESSAGE_COUNTS_H
#define SPOOR_INSIGHT_MESSAGE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message_key {
	uint64_t scope;
	int64_t tag;
	uint32_t source, dest; /* ranks in MPI_COMM_WORLD */
};

struct message_count {
	struct message_key key;
	uint64_t sent, received;
	uint64_t posted; /* receives of just this key that are live */
	uint32_t next;   /* of this destination, + 1; 0: it is the last */
};

struct message_counts;

/* More keys than this are not kept: then nothing is known. 64 MB. */
#define MESSAGE_KEYS (UINT32_C(1) << 20)

/* dests: destinations are below this. NULL on no memory. */
struct message_counts *message_counts_create(uint32_t dests);
void message_counts_destroy(struct message_counts *m);
/* Returns 0, or -1: no memory, or too many keys. */
int message_counts_add(struct message_counts *m, const struct message_key *key, uint64_t sent, uint64_t received);
/* A receive of this key is live. Returns as message_counts_add. */
int message_counts_post(struct message_counts *m, const struct message_key *key);
/* NULL: there was none. */
const struct message_count *message_counts_find(const struct message_counts *m, const struct message_key *key);
/* All of one destination: the first one (before is NULL), and the one after another; NULL at the end. */
const struct message_count *message_counts_next(const struct message_counts *m, uint32_t dest,
                                                const struct message_count *before);

static inline uint64_t message_count_pending(const struct message_count *c)
{
	return c && c->sent > c->received ? c->sent - c->received : 0;
}

#endif
