/* SPDX-License-Identifier: BSD-3-Clause
 * absence - for how long the process was off the processor between two calls: it slept, waited for files or for other
 * processes, or had no core
 *
 * How much processor time the process has used is asked for where a call begins or ends, and it was not asked for
 * since ABSENCE_NS: so never beside short computations, and less than 0.3 % of the time is spent on it. What passed
 * between two calls and was not used is away. Threads of the process count: one that waits for its workers is not
 * away. It is never too much: of what was used since the last reading, all may have been used between those calls.
 *
 * It takes a system call, which may be forbidden to a process (trace/base/limits.h). So it is only done at calls that
 * wait for others, in which the library makes system calls itself. Of the computations before other calls, the longest
 * one since the last reading is looked at then.
 */
#ifndef SPOOR_ABSENCE_H
#define SPOOR_ABSENCE_H

#include "preload/recorder_internal.h"

#define ABSENCE_NS 250000

/* From here on; MPI is initialised, and both clocks were read. filtered: nothing is asked. */
void absence_start(struct recorder *r, bool filtered);
/* r->look_at has come, before a call of c->site; moves c->start behind what it did. */
void absence_before(struct recorder *r, struct call *c);
static inline void absence_between(struct recorder *r, struct call *c)
{
	if (__builtin_expect(c->start >= r->look_at, 0))
		absence_before(r, c);
}
/* The same behind a call; moves r->last_end. */
void absence_behind(struct recorder *r, const struct call *c);

#endif
