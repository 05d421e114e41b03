/* SPDX-License-Identifier: BSD-3-Clause
 * trend - does an application take longer than it did, since when, and is a node slow? Logic alone: no files, no index
 *
 * A history is the times of runs that are alike, oldest first. Run i is compared with its reference: the
 * TREND_REFERENCE runs before it, without the last TREND_LAG of them, and none before the last change.
 *
 *     d_i    log of time i - median of the reference's logs, 3.5 % nearer to 0
 *     z_i    d_i / the spread of the reference's logs, cut to -3 .. 3
 *     S_i    max(0, S_(i-1) + z_i - 1)          CUSUM; and the same of -z for runs that became faster
 *     change when S_i > TREND_LIMIT and the median since S was 0 differs by 7 % or more
 *
 * Median and spread (median absolute deviation) do not see single outliers, nor does the cut sum: one run adds at most
 * 2. The limit is calibrated by simulation (tests/unit/trend.c). A slow drift moves the reference along, and is no
 * change.
 */
#ifndef SPOOR_TREND_H
#define SPOOR_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREND_REFERENCE 30 /* runs */
#define TREND_LAG       5
#define TREND_LEAST     8 /* runs in a reference; with fewer nothing is said */
#define TREND_LIMIT     6.5
#define TREND_EFFECT    0.07  /* log of the ratio */
#define TREND_DRIFT     0.035 /* of it, what a slow drift does within a reference: it is no change */
#define TREND_INPUT     1.1   /* runs whose numbers of events differ by more had other input */
#define TREND_SPREAD    0.015 /* the least spread: clocks and placement alone do that */

struct trend_change {
	size_t first, found;  /* the first run of the new level; the run with which it was certain */
	double before, after; /* medians: of the reference; of the runs from `first` on, up to the next change */
};

/* The median of n values, which are put in order; 0 of none. */
double trend_median(double *values, size_t n);
/* Changes in a history of positive times, oldest first; at most `most` of them. Returns how many, or -1: no memory. */
int trend_changes(const double *times, size_t n, struct trend_change *out, size_t most);

/* Which runs had input alike? events: of each run, in any order. Runs that differ by more than a tenth from all others
 * of a group are of another one. input[i] gets the number of the group of run i. Returns 0, or -1: no memory. */
int trend_inputs(const uint64_t *events, size_t n, unsigned *input);

/* A job on several nodes, for a node that was one of them. */
struct trend_seat {
	uint32_t nodes;   /* of the job */
	bool late;        /* the rank that the others waited for was on this node */
	double elsewhere; /* in what share of the application's jobs on other nodes the same rank was late; negative:
	                   * there were none */
};

struct trend_node {
	unsigned jobs, late; /* jobs that tell something; in which its ranks were late */
	double expected;     /* late jobs by chance, if all nodes were alike */
	double p;            /* of so many late jobs by chance */
};

/* A sign test: in a job, each of its nodes has the late rank with probability 1 / nodes. A rank that is late wherever
 * it sits is the application's doing, and no node's: where it was late in more than half of the jobs elsewhere, or
 * there are no others, the job is left out. */
void trend_node_test(struct trend_node *out, const struct trend_seat *seats, size_t n);
/* Is it slow, when so many nodes are looked at? Bonferroni: at most one false node in 1,000 looks. At
 * least three jobs are needed. */
bool trend_node_slow(const struct trend_node *node, size_t nodes);

#endif
