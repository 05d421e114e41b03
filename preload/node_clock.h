/* SPDX-License-Identifier: BSD-3-Clause
 * node_clock - the clocks of this process, as they are compared with those of other nodes (merge/clock_offset.h)
 */
#ifndef SPOOR_NODE_CLOCK_H
#define SPOOR_NODE_CLOCK_H

#include "merge/clock_offset.h"
#include "trace/record/record.h"

/* The clock by which events were timed is that of this record, when recording has ended. */
void node_clock_set(const struct record *r);
struct clock_reading node_clock_read(void);

#endif
