/* SPDX-License-Identifier: BSD-3-Clause
 * traffic_inside - what is known while all messages are counted: for traffic*.c alone
 */
#ifndef SPOOR_INSIGHT_TRAFFIC_INSIDE_H
#define SPOOR_INSIGHT_TRAFFIC_INSIDE_H

#include "insight/traffic_sums.h"
#include "insight/transfer.h"

enum counted { COUNTED_MESSAGE, COUNTED_ONE_SIDED, COUNTED_PASSED, COUNTED_READ, COUNTED_WRITTEN };

/* One call more, of a pair of ranks, or of a file. */
struct traffic_change {
	enum counted counted;
	uint32_t from, to;  /* ranks; of a file, its number in traffic.files, and the call site */
	bool counts, timed; /* of a file: as in struct transfer */
	uint64_t bytes;
};

/* What was counted since a mark of the walk (walk_repeats). */
struct traffic_turn {
	struct traffic_sums sums; /* at the mark */
	struct traffic_change *changes;
	uint32_t count, capacity;
	bool spoiled; /* it is too much */
	uint64_t state;
	uint64_t asks; /* events that are walked, before it is worth to look at the state again */
};

struct counting {
	struct traffic *m;
	const struct traffic_wish *wish;
	const struct trace *trace;
	struct traffic_cell *cells; /* open addressing; free where nothing was counted */
	size_t mask, count;
	struct traffic_turn turn;
	uint64_t done, told, all; /* events */
};

/* A collective of one rank. */
struct passing {
	const struct trace *trace;
	const struct comms *comms;
	const struct execution *execution;
	const struct event *event;
	const struct act *act;
	uint32_t self, size;
};

/* Returns 0, or -1 on no memory. */
int traffic_count(struct counting *c, const struct traffic_change *change);
/* The same of an act of any kind; if it is a collective, it is counted. p->size is set here. */
int traffic_collective(struct counting *c, struct passing *p);

/* traffic_turn.c: a new mark was made. state: of what the rank holds. */
void traffic_turn_begin(struct counting *c, uint64_t state);
/* What the turn since the mark did, so many times more. Returns 0, or -1 on no memory. */
int traffic_turn_repeat(struct counting *c, uint64_t turns);
/* Adds a change, of one call and of `times` of them. */
int traffic_add(struct counting *c, const struct traffic_change *change, uint64_t times);

#endif
