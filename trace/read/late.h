/* SPDX-License-Identifier: BSD-3-Clause
 * late - the rank that the others wait for
 */
#ifndef SPOOR_LATE_H
#define SPOOR_LATE_H

#include "trace/read/activity.h"

/* The rank that comes last to the calls of a site that wait for all: the one that spends least time there, if the
 * others wait for it at least half of the time that they are in the call. False: there is none. */
bool late_at_site(const struct trace *t, const struct trace_site *s, uint32_t *rank);
/* That of the site at which ranks wait most, if this is 1 % of the trace's time or more. Without such a site: the rank
 * that computes longest, if that is a tenth more than the mean. activity: of the trace. False: there is none. */
bool late_in_trace(const struct trace *t, const struct site_activity *activity, uint32_t *rank);

#endif
