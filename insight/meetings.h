/* SPDX-License-Identifier: BSD-3-Clause
 * meetings - the messages and collective operations that are under way while all ranks are played (simulate.h)
 *
 * Each is known by a hash of what it is (64 bits).
 */
#ifndef SPOOR_INSIGHT_MEETINGS_H
#define SPOOR_INSIGHT_MEETINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEETING_NOBODY UINT32_MAX
/* So many may be under way. */
#define MEETINGS_MOST (1u << 19)

/* A message, or a collective operation. */
struct meeting {
	uint64_t key;           /* 0: free */
	uint64_t last, root_at; /* when the sender, or the last rank, came; and the root */
	uint32_t last_rank, root;
	uint32_t came, gone;  /* ranks */
	uint32_t waiting;     /* the first one that waits; MEETING_NOBODY */
	bool packed;          /* a message that goes with the one before */
	uint64_t bytes;       /* of a message; of what an operation passes on */
	uint64_t there, over; /* when all of a message is there; and its send is over, if that waits */
	uint32_t algorithm;   /* of an operation */
};

/* Zero-initialised is empty. */
struct meetings {
	struct meeting *table;
	size_t used, mask;
	bool much; /* there were too many */
};

/* The meeting of this key, made if it is not there. Valid until the next one. NULL: no memory, or too many. */
struct meeting *meetings_at(struct meetings *g, uint64_t key);
/* It is over. */
void meetings_end(struct meetings *g, struct meeting *m);
void meetings_free(struct meetings *g);

#endif
