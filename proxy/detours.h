/* SPDX-License-Identifier: BSD-3-Clause
 * detours - what ranks computed around polls that found nothing
 *
 * A program makes no polls that found nothing. What was computed between them is computed before the next call:
 *
 *     A  poll  poll  B      the detour from A to B is as long as the edges A - poll, poll - poll, poll - B
 *
 * Where the next call is a poll at the same site that did find something, the program polls there until it does, so
 * that it takes as long as it takes: then a detour ends with the first poll of that row.
 */
#ifndef SPOOR_PROXY_DETOURS_H
#define SPOOR_PROXY_DETOURS_H

#include "proxy/steps.h"
#include "trace/model/trace.h"

/* What is computed, in the mean of each edge. */
struct detour_sum {
	double ns, counts[TRACE_COUNTERS];
};

struct detours {
	struct steps steps;      /* from which site of the trace to which, and how often */
	struct detour_sum *sums; /* of each step: of all its detours */
	uint32_t capacity;
};

/* A rank on its way past polls. */
struct detour_walk {
	uint32_t from;              /* the last call that is made; SITE_NONE at first */
	uint32_t poll;              /* the last poll behind it, which found nothing; SITE_NONE */
	bool several;               /* there are others than those of its row */
	struct detour_sum row, all; /* to the first one of its row, and to itself */
};
#define SITE_NONE UINT32_MAX

void detours_poll(const struct trace *t, struct detour_walk *w, uint32_t site);
/* A call that is made. Returns 0, or -1: no memory. */
int detours_call(struct detours *d, const struct trace *t, struct detour_walk *w, uint32_t site);
void detours_free(struct detours *d);

#endif
