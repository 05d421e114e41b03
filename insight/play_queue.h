/* SPDX-License-Identifier: BSD-3-Clause
 * play_queue - who can go on while ranks are played: the earliest first, or the one that came last
 */
#ifndef SPOOR_INSIGHT_PLAY_QUEUE_H
#define SPOOR_INSIGHT_PLAY_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* A binary heap. Zero-initialised is empty, and the one that came last is first: that needs least memory. */
struct play_queue {
	bool timed; /* the earliest is first; of those of one time, the one that came first */
	struct play_ready {
		uint64_t at, came;
		uint32_t flow;
	} * list;
	uint32_t count, capacity;
	uint64_t came; /* so many ever did */
};

/* at: its time. Returns 0, or -1 on no memory. */
int play_queue_push(struct play_queue *q, uint32_t flow, uint64_t at);
/* Takes the first one out of a queue that is not empty. */
uint32_t play_queue_pop(struct play_queue *q);
/* May somebody of this time go on without coming before anybody in the queue? */
bool play_queue_is_first(const struct play_queue *q, uint64_t at);
void play_queue_free(struct play_queue *q);

#endif
