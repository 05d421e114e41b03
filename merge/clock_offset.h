/* SPDX-License-Identifier: BSD-3-Clause
 * clock_offset - how far the clock of another node is from this one's, from messages there and back
 *
 * A message is sent at `sent`, the other node reads its clocks `there`, and the answer is here at `back`. If both ways
 * take the same time, its clocks were read in the middle. Of all rounds that with the shortest way counts:
 *
 *     sent 100   there 5,130   back 140     it is 5,130 - 120 = 5,010 ahead, give or take 20
 *
 * Two clocks are compared: that by which events are timed, which began as CLOCK_REALTIME and then went on with the
 * CPU's counter, and CLOCK_REALTIME itself. The first says how far the other node is ahead at the end. At the start it
 * was ahead by what its CLOCK_REALTIME is, if nobody has set that since: in between the counters went apart. So nothing
 * need be sent before the end.
 */
#ifndef SPOOR_CLOCK_OFFSET_H
#define SPOOR_CLOCK_OFFSET_H

#include "trace/model/trace.h"

/* Both at the same moment, in ns since 1970. */
struct clock_reading {
	int64_t events, real;
};

struct clock_offset {
	int64_t way;          /* of the best round, ns; < 0: there was none */
	int64_t events, real; /* the other node is ahead by this */
	int64_t at;           /* there.events of that round */
};

#define CLOCK_OFFSET_NONE ((struct clock_offset){.way = -1})

/* Another round. */
void clock_offset_add(struct clock_offset *o, struct clock_reading sent, struct clock_reading there,
                      struct clock_reading back);
/* Times of all events of a trace from that node, and from those that were brought to its clock, are brought to this
 * node's. No round: nothing happens. */
void clock_offset_apply(const struct clock_offset *o, struct trace *t);

#endif
