/* SPDX-License-Identifier: BSD-3-Clause
 * shorten - fewer turns of a program's loops
 *
 * Turns are left out of the trace, and then the program is written of what is left. Each rank makes the first turns of
 * a loop and the last one. A loop is shortened where all ranks that pass it make as many turns, and where what is left
 * out leaves nothing behind (balance.h); else the loops in it are tried, one by one. If so many turns cannot be left
 * out, fewer are.
 */
#ifndef SPOOR_PROXY_SHORTEN_H
#define SPOOR_PROXY_SHORTEN_H

#include <stdio.h>

#include "proxy/structure.h"

struct shortened {
	struct event_range *ranges; /* to be left out, in order */
	uint32_t count, capacity;
};

/* Finds what to leave out, so that `factor` (below 1) of the turns are left; nothing if no loop can be shortened. Says
 * on `out` which loops are shortened, one a line. *compute_ns: the time between the calls of the whole, as in struct
 * structure. Returns 0, or -1 with error set. The caller frees it in any case. */
int shorten_loops(struct shortened *x, const struct trace *t, const struct taken_events *taken, double factor,
                  FILE *out, double *compute_ns, struct error *error);
void shorten_free(struct shortened *x);

#endif
