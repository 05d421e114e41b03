/* SPDX-License-Identifier: BSD-3-Clause
 * thread_check - which traces of ranks with several threads cannot be replayed: those where an order matters that is
 * not known
 */
#ifndef SPOOR_THREAD_CHECK_H
#define SPOOR_THREAD_CHECK_H

#include "trace/model/trace.h"

/* Is the order of the events of all threads known (timing: full)? */
bool thread_check_has_order(const struct trace *t);
/* Why the trace cannot be replayed with its threads, maybe in text (of n bytes); NULL: it can, or no rank has
 * several. */
const char *thread_check_refusal(const struct trace *t, bool partial, char *text, size_t n);

#endif
