/* SPDX-License-Identifier: BSD-3-Clause
 * why_sum - of `spoor why JOB`: which step of a job cost most, and what its steps lost together
 */
#ifndef SPOOR_WHY_SUM_H
#define SPOOR_WHY_SUM_H

#include "cmd/report/report.h"

/* ns of all ranks. Names of steps are the caller's. */
struct why_sum {
	double all_ns, lost_ns, kind_ns[CAUSES], most_ns[CAUSES];
	size_t steps;             /* that were read */
	const char *most[CAUSES]; /* the step with most of a cause; NULL */
	const char *dearest; /* the step with most rank time, and its part of that of all steps: set by the caller */
	double part;
};

void why_sum_add(struct why_sum *sum, const struct report *r, const char *step);
/* In words; steps: of the job. Returns out. */
#define WHY_SUM_TEXT 1200
const char *why_sum_text(const struct why_sum *sum, size_t steps, char out[WHY_SUM_TEXT]);
json_t *why_sum_json(const struct why_sum *sum);

#endif
