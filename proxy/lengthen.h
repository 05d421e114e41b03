/* SPDX-License-Identifier: BSD-3-Clause
 * lengthen - more turns of a program's main loop
 *
 * That is the outermost loop in which most calls are. All ranks must make as many turns, and those at its end must be
 * alike (walk_repeats): so many more of them are put there. What comes before and behind it stays.
 */
#ifndef SPOOR_PROXY_LENGTHEN_H
#define SPOOR_PROXY_LENGTHEN_H

#include <stdio.h>

#include "proxy/structure.h"

/* s: as it is. Sets the loop of `taken`, and how many turns are added, so that there are `factor` (above 1) times as
 * many. Says on `out` which loop it is, in one line. Returns 0, or -1 with error set: there is no such loop. */
int lengthen_loop(struct taken_events *taken, const struct structure *s, double factor, FILE *out, struct error *error);
/* Does all that is in the loop go on in the longer one as it was before? What comes in every tenth turn, for example,
 * must still. Returns 0, or -1 with error set: it names what does not. */
int lengthen_check(const struct structure *s, const struct structure *longer, struct error *error);

#endif
