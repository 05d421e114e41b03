/* SPDX-License-Identifier: BSD-3-Clause
 * lost - what a run lost, in three parts that add up: uneven work, waiting in turn, communication itself
 *
 * With the computation of the mean rank they are the run, as POP's efficiencies are its parts: load balance,
 * serialisation and transfer.
 */
#ifndef SPOOR_REPORT_LOST_H
#define SPOOR_REPORT_LOST_H

#include "cmd/report/report.h"

/* Shares of the run (summary.run_ns). */
struct lost {
	double imbalance;     /* the rank that computes most, above the mean */
	double serialisation; /* the ideal network (ideal.h), above that rank */
	double transfer;      /* the run, above the ideal network */
};

/* r: gathered. Returns false if it is not known. */
bool lost_find(struct lost *l, const struct report *r);

#endif
