/* SPDX-License-Identifier: BSD-3-Clause
 * shorten - fewer turns of a program's loops
 *
 * Turns are left out of the trace, and then the program is written of what is left. Each rank makes the first turns of
 * a loop and the last one. A loop is shortened where all ranks that pass it make as many turns, and where what is left
 * out leaves nothing behind (balance.h); else the loops in it are tried, one by one. If none can be shortened, turns
 * end with a call that all ranks make equally often. If so many turns cannot be left out, fewer are.
 */
#ifndef SPOOR_PROXY_SHORTEN_H
#define SPOOR_PROXY_SHORTEN_H

#include <stdio.h>

#include "proxy/structure.h"
#include "proxy/work.h"

struct shortened {
	struct event_range *ranges; /* to be left out, in order */
	uint32_t count, capacity;
	struct work_left *whole; /* how often each edge came, before; in order */
	size_t whole_count;
};

/* Finds what to leave out, so that `factor` (below 1) of the turns are left; nothing if no loop can be shortened. Says
 * on `out` which loops are shortened, one a line. Returns 0, or -1 with error set. The caller frees it in any case. */
int shorten_loops(struct shortened *x, const struct trace *t, const struct taken_events *taken, double factor,
                  FILE *out, struct error *error);
/* s: the structure of what is left. Each visit that is left of an edge computes so much that all of them compute
 * work->scale times what the edge did. What edges without any visit did is made up for by all: that is work->scale
 * then. Sets work->left, which the caller frees (budget_free). Returns 0, or -1 on no memory. */
int shorten_work(const struct shortened *x, const struct structure *s, struct work_options *work);
void shorten_free(struct shortened *x);

#endif
