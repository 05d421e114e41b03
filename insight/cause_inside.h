/* SPDX-License-Identifier: BSD-3-Clause
 * cause_inside - what the files of cause.h share: causes of waits, of single sites, and of traces that are not played
 */
#ifndef SPOOR_INSIGHT_CAUSE_INSIDE_H
#define SPOOR_INSIGHT_CAUSE_INSIDE_H

#include "trace/read/activity.h"

struct blame;
struct cause;
struct causes;

/* More are not told apart. */
#define CAUSES_MOST 64

struct cause_finder {
	struct causes *out;
	const struct trace *trace;
	struct site_activity activity;
	double *waited;            /* by site: what of its time is booked as waiting */
	double ends_ns;            /* of ranks that were at their ends while others ran */
	double late_ns;            /* of that: not for what others computed, but for their calls */
	double *computed;          /* by rank */
	double computed_all, busy; /* over all ranks; ranks that compute at a time, in the mean */
	struct error *error;
};

/* Adds it, or what it cost to one that is the same. Takes c->ranks; *c means nothing then. */
void cause_add(struct cause_finder *f, struct cause *c);
/* Adds what is waited for before calls of sites. Returns 0, or -1 on no memory. */
int cause_places(struct cause_finder *f, struct blame *b);
/* What ranks compute, by that. */
void cause_computed(struct cause_finder *f, const struct blame *b);
/* What sites took above what is waiting (f->waited). */
void cause_sites(struct cause_finder *f);
/* Waits by the sums of sites and ranks. Returns 0, or -1 with error set. */
int cause_estimate(struct cause_finder *f);

#endif
