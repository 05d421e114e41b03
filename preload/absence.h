/* SPDX-License-Identifier: BSD-3-Clause
 * absence - for how long the process was off the processor between two calls: it slept, waited for files or for other
 * processes, or had no core
 *
 * How much processor time the process has used is asked for in front of a long computation and behind it: ABSENCE_NS
 * or more, so that less than 1 % of the time is spent on it. What passed in between and was not used is away. Threads
 * of the process count: one that waits for its workers is not away. It is never too much: of what was used since the
 * last reading, all may have been used between those calls.
 *
 * It takes a system call, which may be forbidden to a process (trace/base/limits.h). So it is only done at calls that
 * wait for others, in which the library makes system calls itself. Of the computations before other calls, the longest
 * one since the last reading is looked at then.
 *
 * Nothing of this is on the way of other events. That a computation was long is seen where its time is kept: no two
 * lengths of that size are plain (record_time.h), or the one before was as long. From then on the visits to the call
 * before it are `late` (call.h), for a while: they end on the slow way, and so does the next call begin.
 *
 * Who asks may lose the processor: the kernel looks whether others have waited long enough. That is no time of the
 * tracer; it belongs to the call.
 */
#ifndef SPOOR_ABSENCE_H
#define SPOOR_ABSENCE_H

#include "preload/recorder_internal.h"

#define ABSENCE_NS 250000

/* From here on; MPI is initialised, and both clocks were read. filtered: nothing is asked. */
void absence_start(struct recorder *r, bool filtered);
/* A call begins on the slow way: c->start was taken just now. */
void absence_look_before(struct recorder *r, struct call *c);
static inline void absence_before(struct recorder *r, struct call *c)
{
	c->late = c->site->unusual != 0;
	if (__builtin_expect(r->away.next, 0))
		absence_look_before(r, c);
}
/* A late call: its end was taken just now; then its event is complete. */
void absence_behind(struct recorder *r, struct call *c);
void absence_after(struct recorder *r, const struct call *c);
/* So many ticks passed between the last event and c; c is not counted yet. */
void absence_note(struct recorder *r, const struct call *c, uint64_t ticks);
static inline void absence_between(struct recorder *r, const struct call *c, uint64_t ticks)
{
	if (__builtin_expect(ticks >= r->away.least, 0) && !c->late)
		absence_note(r, c, ticks);
}

#endif
