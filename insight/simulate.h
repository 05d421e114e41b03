/* SPDX-License-Identifier: BSD-3-Clause
 * simulate - how a job would run on a network: all ranks played in order, with the computation that was recorded
 *
 * A rank is played until it needs something that is not there: a message, or other ranks in a collective operation.
 * Whoever brings that wakes it. On an ideal network (network_ideal) nothing but computation takes time, so that a rank
 * waits only for what others compute first (ideal.h). On any other one messages cost what network.h says, and
 * collective operations are messages (algorithm.h); who is earliest is played first, so that ports are taken in order
 * of time.
 *
 * As in the trace: who got which message, and how often somebody asked in vain. Of calls that the network says nothing
 * of (files, one-sided communication), and of what libraries do in a call beside messages, a site may have its own
 * costs. A send waits for its receive if it is synchronous, or larger than the network's eager messages.
 *
 * Memory: what is under way, and what is asked for by rank and site. Time: that of the events, several times if
 * collective operations are many messages.
 */
#ifndef SPOOR_INSIGHT_SIMULATE_H
#define SPOOR_INSIGHT_SIMULATE_H

#include "insight/network.h"
#include "insight/stretch.h"

/* More events, or ranks, are not played. */
#define SIMULATE_EVENTS (UINT64_C(1) << 24)
#define SIMULATE_RANKS  8192

/* What is different from the trace at a site; bits. */
enum simulate_change {
	SIMULATE_LEFT_OUT = 1, /* its collective calls are not made */
	SIMULATE_PACKED = 2,   /* messages of one rank to another, without computation between them, are one */
	SIMULATE_READY = 4,    /* what its calls wait for is there already */
};

/* NULL: nothing of the kind. Costs and changes are by site. */
struct simulate_options {
	const struct network *network; /* not NULL */
	const struct seats *seats;     /* where the ranks sit; NULL: as in the trace */
	const bool *synchronous;       /* its sends wait for their receives; those of MPI_Ssend do in any case */
	const double *costs;           /* ns that each call takes by itself, before it does anything */
	const uint8_t *changes;        /* enum simulate_change */
	/* How long a rank computes before a call of a site, in place of ns. */
	double (*computing)(const void *context, uint32_t rank, uint32_t site, double ns);
	const void *context;
	bool sums;                   /* fill in `computed` and `visits` */
	struct stretches *stretches; /* to be filled in, of which `ranks` is there, all 0 */
};

struct simulation {
	bool known;            /* else all is 0: a trace that is not whole, lossy, of threads, or too large */
	bool eager;            /* not all sends could wait as they should: somebody would have waited for ever */
	uint64_t run_ns;       /* from the end of MPI_Init to that of the last rank */
	uint64_t *inside_ns;   /* by site: in its calls, of all ranks */
	uint64_t *computed_ns; /* by rank and site (rank * sites + site): what it computed before its calls; NULL */
	uint32_t *visits;      /* the same: how many of these are not 0; NULL */
	uint64_t messages;     /* that were sent, with those of collective operations */
};

/* What all runs of one trace have in common. */
struct simulator;
/* Returns 0, or -1 with error set. *out: NULL if the trace cannot be played. The trace must outlive it. events: that
 * are played at most. */
int simulator_create(struct simulator **out, const struct trace *t, uint64_t events, struct error *error);
void simulator_destroy(struct simulator *s);
/* It will be run several times: to be said before the first run. What events of a small trace come to is kept then.
 * Returns 0, or -1 with error set. */
int simulator_keep(struct simulator *s, struct error *error);
/* Returns 0, or -1 with error set. The caller frees *out in any case. */
int simulator_run(struct simulator *s, const struct simulate_options *o, struct simulation *out, struct error *error);
void simulation_free(struct simulation *s);

#endif
