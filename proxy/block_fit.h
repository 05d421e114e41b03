/* SPDX-License-Identifier: BSD-3-Clause
 * block_fit - how many turns of each block count what a computation counted
 */
#ifndef SPOOR_BLOCK_FIT_H
#define SPOOR_BLOCK_FIT_H

#include "proxy/calibration.h"
#include "trace/model/trace.h"

struct block_fit {
	unsigned count;
	unsigned counter[TRACE_COUNTERS]; /* of the trace: those that were measured of the blocks, too */
	const struct calibration_counter *measured[TRACE_COUNTERS];
	const double *ns;               /* of the blocks; NULL: were not measured */
	double nothing[TRACE_COUNTERS]; /* is counted where nothing is computed */
	bool pages;                     /* may the kernel be asked for pages? */
	const double *unlike;           /* how unlike programs each block is; NULL: blocks_unlike */
};

/* calibration must outlive it. Returns how many counters of the trace there are to fit. */
unsigned block_fit_begin(struct block_fit *f, const struct trace *t, const struct calibration *calibration);
/* Shows it what is counted between two calls, so that it finds what is counted where nothing is computed. */
void block_fit_nothing(struct block_fit *f, const double counts[TRACE_COUNTERS]);
/* counts: of one computation, by the counters of the trace; ns: how long it took, 0: unknown. Errors are relative, so
 * that each counter matters as much as another one. Of several ways to count the same, the one is taken that takes as
 * long. turns: not negative, not whole. Returns 0 or -1 (no memory). */
int block_fit_turns(const struct block_fit *f, const double counts[TRACE_COUNTERS], double ns, double turns[BLOCKS]);
/* What calls of the blocks count or take, besides their turns. */
double block_fit_calls(const double measured[BLOCKS_MEASURED], const double turns[BLOCKS]);

#endif
