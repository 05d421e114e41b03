/* SPDX-License-Identifier: BSD-3-Clause
 * waits - how long ranks waited for others, by call site (doc/activity.md, "Waiting")
 *
 * Exact where the trace has the times of all events: each receive is compared with its send, each call of a collective
 * operation with those of the other ranks.
 *
 *     late sender      a receive, or the call that completes it, began before the send did
 *     late receiver    a send, or the call that completes it, began before the receive was posted, and ended no earlier
 *     collective       a call began before that of the last rank, of the root, or (of the root of a gather) of all
 *
 * Each is the time from the begin of the call that waits to the begin of the other one, and at most to its own end. A
 * call that completes several operations waits for the last one.
 *
 * Else it is an estimate from the histograms (trace/read/wait_site.h).
 */
#ifndef SPOOR_INSIGHT_WAITS_H
#define SPOOR_INSIGHT_WAITS_H

#include "trace/read/wait_site.h"

struct waits {
	uint64_t (*sites)[WAIT_KINDS]; /* ns of all ranks, by site; malloc'ed */
	uint64_t sum[WAIT_KINDS];
	bool exact;
};

/* More events than this are not looked at one by one: it takes 100 bytes of memory for each. */
#define WAITS_EVENTS (UINT64_C(1) << 20)

/* Returns 0, or -1 with error set. The caller frees it in any case. */
int waits_make(struct waits *w, const struct trace *t, struct error *error);
void waits_free(struct waits *w);

#endif
