/* SPDX-License-Identifier: BSD-3-Clause
 * node_clock - the clocks of this process, as they are compared with those of other nodes
 */
#include "preload/node_clock.h"

#include "preload/clock.h"

static struct {
	uint64_t ticks, span_ticks, span_ns;
	int64_t real;
} node_clock;

void node_clock_set(const struct record *r)
{
	node_clock.ticks = r->clock_ticks[0];
	node_clock.span_ticks = r->clock_ticks[1] - r->clock_ticks[0];
	node_clock.span_ns = r->clock_ns[1] - r->clock_ns[0];
	node_clock.real = r->realtime_ns;
}

struct clock_reading node_clock_read(void)
{
	double each = node_clock.span_ticks ? (double)node_clock.span_ns / (double)node_clock.span_ticks : 1;
	uint64_t ticks = clock_ticks();
	struct clock_reading now = {.real = (int64_t)clock_ns(CLOCK_REALTIME)};
	now.events = node_clock.real + (int64_t)((double)(ticks - node_clock.ticks) * each);
	return now;
}
