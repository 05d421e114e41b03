/* SPDX-License-Identifier: BSD-3-Clause
 * message - what ranks say to each other in MPI_Finalize: numbers, and traces
 *
 * Nothing blocks: requests are tested until they are done. All ranks are here, and take what is sent to them whatever
 * else goes wrong, so that all requests get done. One that is given up nevertheless, since its peer must be dead
 * (tree.h), keeps its buffer for ever: the library may still write to it.
 *
 * A trace is a letter that says how long the rest is, and is answered by whether there is memory for it; then its
 * tables, as a container; then the bytes of its sites in pieces (trace/model/packed.h). So neither side ever has more
 * of them twice than one piece, and nobody waits for one who cannot take them.
 */
#ifndef SPOOR_MESSAGE_H
#define SPOOR_MESSAGE_H

#include "merge/clock_offset.h"
#include "preload/tree.h"

enum tag {
	TAG_SIZE = 1,
	TAG_ROOM,
	TAG_TRACE,
	TAG_SITES,
	TAG_CLOCK,
	TAG_ANSWER,
	TAG_LEADER,
	TAG_QUESTION,
	TAG_REPLY,
	TAG_HELLO /* + level */
};

/* Tests until the request is done. Returns 0, or -1: it is too late (CLOCK_MONOTONIC), or an error. */
int message_wait(uint64_t end, MPI_Request *request, MPI_Status *status);

/* A few bytes. Return 0 or -1. *source: from whom they came. */
int message_send(const struct tree *tree, int to, int tag, const void *bytes, size_t size);
int message_receive(const struct tree *tree, int from, int tag, void *bytes, size_t size, int *source);
int message_send_number(const struct tree *tree, int to, int tag, int value);
int message_receive_number(const struct tree *tree, int from, int tag, int *value, int *source);

/* Sends the trace, which is good for trace_free only then. NULL: says that this rank has failed, so that nobody waits.
 * Returns 0, or -1 with error set. */
int message_give(const struct tree *tree, int to, struct trace *t, struct error *error);
/* Merges what `from` gives into *t; NULL: tells that it does not take it. o: how its clock differs. Returns 0, or -1
 * with error set; *t is good for trace_free only then. */
int message_take(struct tree *tree, int from, struct trace *t, const struct clock_offset *o, struct error *error);

#endif
