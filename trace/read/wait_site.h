/* SPDX-License-Identifier: BSD-3-Clause
 * wait_site - how long ranks waited for others in the calls of a site, estimated from its histogram (doc/activity.md,
 * "Waiting")
 *
 *     late sender      in receives, and in calls that complete receives: above what the transfer takes
 *     late receiver    in sends, and in calls that complete sends only: the same
 *     collective       in calls that wait for all: above the least time of the site, that of a rank that came last
 *
 * What a transfer takes is the least time of the site, but no more than WAIT_LATENCY and a ns for each byte: in a site
 * at which ranks always wait, the least is a wait as well. With the times of all events, waits are exact
 * (insight/waits.h).
 */
#ifndef SPOOR_WAIT_SITE_H
#define SPOOR_WAIT_SITE_H

#include "trace/read/activity.h"

enum wait_kind { WAIT_LATE_SENDER, WAIT_LATE_RECEIVER, WAIT_COLLECTIVE, WAIT_KINDS };

#define WAIT_LATENCY 50000 /* ns */

/* ns of all ranks together, and what they waited for; 0: in calls of another kind. activity: of the site. Calls that
 * never ended are not in it. */
uint64_t wait_site(const struct trace *t, const struct trace_site *s, const struct activity *activity,
                   enum wait_kind *kind);

#endif
