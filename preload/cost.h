/* SPDX-License-Identifier: BSD-3-Clause
 * cost - what recording takes itself
 *
 * It is no time of the application. What an event costs is measured now and then, and taken from what follows it.
 */
#ifndef SPOOR_COST_H
#define SPOOR_COST_H

#include "preload/call.h"

/* Ticks that the recorder used since the end of the last event. */
void cost_own(struct recorder *r, uint64_t ticks);
/* How much an event costs now: the one that has just been recorded, and what was measured of its begin. */
void cost_sample(struct recorder *r, const struct call *c);

#endif
