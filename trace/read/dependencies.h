/* SPDX-License-Identifier: BSD-3-Clause
 * dependencies - what the events of the threads of a rank need of each other: which objects and requests they make, use
 * and end
 *
 * For an order of events that the trace does not know (interleave.h). An object is a kind (doc/events.md, "Kinds") and
 * a number; a request's number is that of the thread that made it. Its life is from the call that made it to the one
 * that freed it; of a request, to the one that completed it, unless it is persistent. What was never seen to be made
 * (handles that another world or a library made) may be used at any time.
 *
 * An execution (insight/execution.h) needs events in order. This finds an order, and knows of objects
 * only whether they live.
 *
 * Only communicators have numbers that are never used again: what is needed of them is certain. Of other numbers it is
 * not known which of several lives an event of another thread means; the first one that it can mean is taken, and where
 * that leads nowhere, the need was none. A thread that makes a datatype, a window or a file again under the same number
 * waits until the one before was freed.
 */
#ifndef SPOOR_DEPENDENCIES_H
#define SPOOR_DEPENDENCIES_H

#include "trace/read/walk.h"

struct dependencies;

enum dependency { DEPENDENCY_NONE, DEPENDENCY_NUMBER, DEPENDENCY_CERTAIN };

/* NULL: no memory. The trace must outlive it. */
struct dependencies *dependencies_create(const struct trace *t);
void dependencies_destroy(struct dependencies *n);
/* Of each event of each thread, in any order, before the first dependencies_of: what it makes will be waited for.
 * Returns 0, or -1 on no memory. */
int dependencies_learn(struct dependencies *n, uint32_t stream, const struct event *e);
/* What keeps the event from being next? DEPENDENCY_NONE: everything that it uses lives, what it ends is needed no more,
 * and the request that it makes has no other's number. */
enum dependency dependencies_of(const struct dependencies *n, uint32_t stream, const struct event *e);
/* Does it free an object? Is what column `column` of it names made by it? */
bool dependencies_ends(const struct event *e);
bool dependencies_makes(const struct event *e, size_t column);
/* It is next. */
void dependencies_take(struct dependencies *n, uint32_t stream, const struct event *e);

#endif
