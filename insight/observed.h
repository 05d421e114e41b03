/* SPDX-License-Identifier: BSD-3-Clause
 * observed - the network that a trace was recorded on, as far as its own times say: for simulate.h
 *
 *     o     the least that a call took that sends small messages
 *     L     of a small collective operation of all ranks the last one to come took at least one message time in each of
 *           its rounds: what that is above 2 o; without such a call, o
 *     g     o
 *     G     of calls with large messages, the least time for each byte, without what they waited on an ideal network
 *
 * The least is that of the fastest twentieth of a site's calls. All distances are alike then. What calls took beyond
 * that is not the network's: libraries, noise, contention, missing cores. It is each call site's own, found by
 * simulating the run and comparing, a few times.
 */
#ifndef SPOOR_INSIGHT_OBSERVED_H
#define SPOOR_INSIGHT_OBSERVED_H

#include "insight/simulate.h"
#include "trace/read/activity.h"

/* Of fewer bytes a message is small, and its time says nothing of the rate; of so many it is large. */
#define OBSERVED_SMALL 1024
#define OBSERVED_LARGE 65536

/* ideal: the same run on an ideal network. */
void observed_network(struct network *out, const struct trace *t, const struct site_activity *activity,
                      const struct simulation *ideal);
/* The time of calls of which no network says anything: files, one-sided communication, what is local. By site, for
 * simulate_options.costs: in the mean, in ns. */
void observed_costs(double *costs, const struct trace *t);
/* What calls of each site take beyond the network, by simulating the run, and comparing, at most `rounds` times; adds
 * to costs. It is no more than what they took above their waits on an ideal network: in a tree, others wait. Where the
 * run takes longer than it did, the network becomes faster. *base: the last run, to be freed by the caller in any case.
 * Returns 0, or -1 with error set. */
int observed_fit(double *costs, struct network *network, struct simulator *s, const struct trace *t,
                 const struct simulation *ideal, const struct seats *seats, int rounds, struct simulation *base,
                 struct error *error);

#endif
