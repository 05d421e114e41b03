/* SPDX-License-Identifier: BSD-3-Clause
 * cause - why a run took longer than its computation: each lost second belongs to one cause, at one place
 *
 *     imbalance          ranks compute longer than the others, over the run, and the others wait for them
 *     serial             one rank computes what the others do not (files, decisions, a master), and they wait for it
 *     serialised         ranks compute alike, but one after another: each needs what another one computes first
 *     imbalance-moving   ranks compute alike over the run, but not in each step, which waits for the slowest
 *     small-messages     messages of less than 1 KiB in the mean: each costs more than its bytes do
 *     transfer           larger messages, collective calls that move much, one-sided communication
 *     synchronisation    barriers, and collective calls that move hardly anything
 *     busy-cores         calls take much longer than what they move explains, as where their ranks have no core
 *     io                 files, by MPI's calls
 *     other-calls        other calls
 *
 * What ranks lose is all time that is not computation: in MPI's calls, and at their ends while others still run. In
 * calls of a site the part of it that an ideal network has as well (ideal.h) is waiting, which is booked on what is
 * computed meanwhile (blame.h). What is left is booked on the site itself. So all of it is booked once.
 *
 * Of a trace that cannot be played, waits are estimated (trace/read/wait_site.h), and booked by the totals of ranks.
 */
#ifndef SPOOR_INSIGHT_CAUSE_H
#define SPOOR_INSIGHT_CAUSE_H

#include "trace/model/trace.h"

enum cause_kind {
	CAUSE_IMBALANCE,
	CAUSE_SERIAL,
	CAUSE_SERIALISED,
	CAUSE_MOVING,
	CAUSE_SMALL,
	CAUSE_TRANSFER,
	CAUSE_SYNCHRONISATION,
	CAUSE_CORES,
	CAUSE_IO,
	CAUSE_OTHER,
	CAUSES
};

#define CAUSE_NOWHERE UINT32_MAX

struct cause {
	enum cause_kind kind;
	double ns;    /* lost by all ranks together */
	double share; /* of the time of all ranks */
	/* Where: what is computed between calls of `behind` and of `site`; the site itself, if behind is CAUSE_NOWHERE;
	 * if both are, it is not known. */
	uint32_t behind, site;
	uint32_t wait_site; /* where most of it is waited; CAUSE_NOWHERE */
	double place_ns;    /* of ns, at this place */
	/* Of imbalance and serial: who computes longer, ascending; what one of them computes there, and one of the
	 * others. */
	uint32_t *ranks, rank_count;
	double ranks_ns, others_ns;
	/* Of what is computed there, by those ranks if there are some: the part off the processor (0 .. 1). */
	double away;
	double queued_ns; /* for how long one of those ranks was ready to run, but had no core, in the whole run */
	double busy;      /* of serialised: how many ranks compute at a time, in the mean */
	/* Of those of a site: its calls, bytes that they send, and time. */
	uint64_t calls, bytes, site_ns;
};

struct causes {
	bool known;         /* false: the trace does not say how long ranks computed */
	bool played;        /* else it is estimated */
	double all_ns;      /* the time of all ranks, from the end of MPI_Init on */
	double lost_ns;     /* the sum over all causes */
	double ideal_ns;    /* the run on an ideal network; 0: it was not played */
	struct cause *list; /* most first */
	size_t count;
};

/* Not known of a trace that does not say how long ranks computed. Returns 0, or -1 with error set. The caller frees it
 * in any case. */
int causes_find(struct causes *c, const struct trace *t, struct error *error);
/* Where the time of all ranks went, as POP has it: shares that add up to 1 (known, and played). */
struct cause_split {
	double computation, imbalance, serialisation, transfer;
};
struct cause_split causes_split(const struct causes *c, const struct trace *t);
/* The same; a trace of more events is not played. */
int causes_find_within(struct causes *c, const struct trace *t, uint64_t events, struct error *error);
void causes_free(struct causes *c);
struct ideal;
struct site_activity;
/* The run on an ideal network, as causes have it: sends that took so long that they must have waited for their receives
 * do so there, if that is possible. *i: zero-initialised. Returns as ideal_make does. */
int causes_ideal(struct ideal *i, const struct trace *t, const struct site_activity *activity, struct error *error);
/* "small-messages" */
const char *cause_name(enum cause_kind kind);

#endif
