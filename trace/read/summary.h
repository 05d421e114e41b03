/* SPDX-License-Identifier: BSD-3-Clause
 * summary - a job in a few numbers: what it sent, where its time went, how efficient it was
 *
 * Costs what the trace's size costs, not what its events would. Times are wall clock times of all ranks together,
 * unless they say otherwise; the tracer's own time is in none of them, and that of MPI_Init only in those of functions
 * and sites. Computation is what the totals of the ranks say (doc/activity.md, "Times"). The edges between sites lack
 * some of it where memory was used up. The efficiencies are those of the POP project:
 *
 *     load balance              mean over ranks of their computation / the most of a rank
 *     communication efficiency  the most computation of a rank / the run's time (of the rank that took longest)
 *     parallel efficiency       the product: how much of the ranks' time was computation
 */
#ifndef SPOOR_SUMMARY_H
#define SPOOR_SUMMARY_H

#include "trace/model/trace.h"
#include "trace/read/activity.h"

struct summary {
	uint32_t ranks; /* in the trace */
	uint64_t events, lost;
	uint64_t messages, bytes;            /* sent point to point; bytes of those whose size is known */
	uint64_t unsized;                    /* messages whose size is not known */
	uint64_t sizes[ACTIVITY_SIZES];      /* messages of each size class (activity.h) */
	uint64_t one_sided, one_sided_bytes; /* MPI_Put, MPI_Get, ...: calls, and bytes of those whose size is known */
	uint64_t one_sided_unsized;
	struct summary_file {
		uint64_t calls, bytes, unsized;
		uint64_t timed_bytes, ns; /* those of calls that return when it is done, and how long they took */
	} read, written;                  /* of files */
	uint64_t mpi_ns;                  /* in MPI, without MPI_Init; with unended_ns */
	uint64_t compute_ns, overhead_ns;
	uint64_t unplaced_ns; /* of compute_ns: before calls that no edge leads to; no site has it */
	uint64_t elapsed_ns;  /* mpi_ns and compute_ns, as the totals of the ranks have it */
	uint64_t init_ns;     /* in MPI_Init and MPI_Init_thread; it is in none of the others */
	/* From the start of processes to MPI_Init, of ranks of which it is known: how many; the sum, and the most with
	 * its rank. It is in none of the others. */
	uint64_t before_ranks, before_ns, before_max_ns;
	uint32_t before_max_rank;
	uint64_t away_ns; /* of compute_ns: off the processor, as far as it is known (trace/model/away.h) */
	/* Of killed ranks: in calls that never ended, which is a part of mpi_ns; and computation after the last call,
	 * in no other sum. */
	uint64_t unended_ns, unended_compute_ns;
	uint64_t streams;  /* ranks, and their further threads, that the times are of */
	uint64_t parts_ns; /* all of the above together, each once, and the tracer's own time */
	uint64_t all_ns;   /* the time that the ranks had: what shares are of (summary_all) */
	uint64_t run_ns;   /* of the rank that took longest, after MPI_Init, without what never ended */
	uint64_t wall_ns;  /* of the run by its metadata; without them the mean of the ranks' parts_ns */
	uint64_t compute_min_ns, compute_max_ns, overhead_min_ns, overhead_max_ns;
	uint32_t compute_min_rank, compute_max_rank, overhead_min_rank, overhead_max_rank;
	/* 0 .. 1; negative: not known (version 1.0, or no computation) */
	double load_balance, communication_efficiency, parallel_efficiency;
};

/* The time that all ranks had, in ns: what every share is of (doc/activity.md, "Times"). parts: the sum of all that is
 * known of them; streams: ranks, and their further threads; wall: how long the run took by its metadata, 0: not known.
 * Never less than the parts, so that no share is more than 1. */
uint64_t summary_all(uint64_t parts, uint64_t streams, uint64_t wall);

/* v: of the trace; NULL: they are made. Returns 0, or -1 on no memory (never with v). */
int summary_make(struct summary *s, const struct trace *t, const struct site_activity *v);

/* Learns how long the run took by its metadata, in ns, for all_ns. */
void summary_set_wall(struct summary *s, uint64_t wall_ns);

/* Computation of all ranks. *unplaced: how much of it no edge has. */
uint64_t summary_compute(const struct trace *t, uint64_t *unplaced);

/* The mean of that over the events that follow another one without an edge, in ns; 0: there is none. */
double summary_unplaced_mean(const struct trace *t);

/* What share of the calls (0 .. 1) was only counted: these are no events. */
double summary_lost_share(const struct summary *s);

/* How many ranks came back from calls of a site. One that was killed in its first call there is in the site's map of
 * visits, with none. */
uint64_t summary_ranks(const struct trace_site *s);
/* What a call that waits for all takes without a wait, ns: at least one of the ranks in each call comes last, so the
 * shortest times are no waits. Nor has the rank that takes least time in all its calls any to spare. The site has
 * calls with times. */
double summary_without_wait(const struct trace_site *s);

/* How unevenly the ranks of a site share its time: the most of a rank / the mean; 1 is even, 0 not known. *ranks: how
 * many there are. */
double summary_imbalance(const struct trace_site *s, uint64_t *ranks);

#endif
