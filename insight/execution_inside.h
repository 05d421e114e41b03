/* SPDX-License-Identifier: BSD-3-Clause
 * execution_inside - what execution.c and execution_requests.c share
 */
#ifndef SPOOR_INSIGHT_EXECUTION_INSIDE_H
#define SPOOR_INSIGHT_EXECUTION_INSIDE_H

#include "insight/channels.h"
#include "insight/live_requests.h"
#include "insight/posted.h"

struct execution {
	struct act_caller caller;
	struct lives requests, messages;
	struct channels channels;
	struct posted posted;
	uint64_t begun, receives, unknown;
	struct act *list;
	uint32_t count, capacity;
	bool failed, foreign;
};

/* Adds an act to what the event did. No memory: failed. */
void execution_emit(struct execution *x, const struct act *act);
/* NULL: it is no handle, or no memory (failed). */
struct live *execution_live(struct execution *x, struct lives *l, int64_t number);
/* A send gets its number; a receive takes its place behind those before: which message it gets may not be known yet. */
void execution_number_send(struct execution *x, struct act *m);
void execution_post(struct execution *x, struct act *m);
/* act_address; what is not known is counted. */
bool execution_address(struct execution *x, struct act *m, int64_t who, int64_t tag);
/* The call has made a request: for an act, and possibly another one; NULL: for none. */
void execution_request(struct execution *x, const struct event *e, enum live_kind kind, const struct act *act,
                       enum live_kind second, const struct act *other);
/* MPI_Start, MPI_Startall; MPI_Wait and the like; MPI_Pready; MPI_Request_free; MPI_Cancel. */
void execution_start(struct execution *x, const struct event *e);
void execution_complete(struct execution *x, const struct event *e);
void execution_ready(struct execution *x, const struct event *e);
void execution_free(struct execution *x, const struct event *e);
void execution_cancel(struct execution *x, const struct event *e);

#endif
