/* SPDX-License-Identifier: BSD-3-Clause
 * search - where was a rank at a time? (Preserving Time, ICS'08, section 3.5)
 *
 * A rank's time is counted from the begin of MPI_Init. What each call and computation took is not known one by one:
 * they are given their means, stretched so that the rank's total is what it was.
 *
 * If the trace has the times of all events (timing.h), they are used, and each event up to the time is passed.
 *
 * The walk follows the successor columns. Its state is the site and the place in each of these columns: a stack of
 * grammar rules with the turns that are left of each. If it comes to a state that it was in before but for numbers of
 * turns, and each column needed turns of one rule only, then the steps between will repeat as long as there are turns:
 * all these repetitions are passed at once. Loops are found from the inside out, and each costs a few of its turns,
 * with its inner loops already passed over: so a search costs what the size of the successor columns costs, whatever
 * number of events they stand for.
 */
#ifndef SPOOR_SEARCH_H
#define SPOOR_SEARCH_H

#include "trace/model/trace.h"

struct moment {
	uint64_t event;    /* number of the event that is under way, or comes next */
	uint32_t site;     /* where it is */
	bool inside;       /* is the rank in the call? Else it computes before it. */
	double begin, end; /* of the call; ns */
	double total;      /* of the rank, ns; with times of all events the end of this one */
	uint64_t *visits;  /* malloc'ed: by site, how often the rank was there before this event; for walk_seek */
};

/* Finds where a rank was ns after it began. After its end, that is its last event. Returns 0, or -1 with error set. The
 * caller frees m->visits in any case. */
int search_time(struct moment *m, const struct trace *t, uint32_t rank, double ns, struct error *error);

#endif
