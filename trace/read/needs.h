/* SPDX-License-Identifier: BSD-3-Clause
 * needs - what the events of the threads of a rank need of each other: which objects and requests they make, use and
 * end
 *
 * For an order of events that the trace does not know (weave.h). An object is a kind (doc/events.md, "Kinds") and a
 * number; a request's number is that of the thread that made it. Its life is from the call that made it to the one that
 * freed it; of a request, to the one that completed it, unless it is persistent. What was never seen to be made
 * (handles that another world or a library made) may be used at any time.
 *
 * Only communicators have numbers that are never used again: what is needed of them is certain. Of other numbers it is
 * not known which of several lives an event of another thread means; the first one that it can mean is taken, and where
 * that leads nowhere, the need was none. A thread that makes a datatype, a window or a file again under the same number
 * waits until the one before was freed.
 */
#ifndef SPOOR_NEEDS_H
#define SPOOR_NEEDS_H

#include "trace/read/walk.h"

struct needs;

enum need { NEED_NOTHING, NEED_NUMBER, NEED_CERTAIN };

/* NULL: no memory. The trace must outlive it. */
struct needs *needs_create(const struct trace *t);
void needs_destroy(struct needs *n);
/* Of each event of each thread, in any order, before the first needs_met: what it makes will be waited for. Returns 0,
 * or -1 on no memory. */
int needs_learn(struct needs *n, uint32_t stream, const struct event *e);
/* What keeps the event from being next? NEED_NOTHING: everything that it uses lives, what it ends is needed no more,
 * and the request that it makes has no other's number. */
enum need needs_what(const struct needs *n, uint32_t stream, const struct event *e);
/* Does it free an object? Is what column `column` of it names made by it? */
bool needs_ends(const struct event *e);
bool needs_makes(const struct event *e, size_t column);
/* It is next. */
void needs_take(struct needs *n, uint32_t stream, const struct event *e);

#endif
