/* SPDX-License-Identifier: BSD-3-Clause
 * produce - the events of ranks that never ran, recorded as those of others are
 */
#ifndef SPOOR_EXTRAPOLATE_PRODUCE_H
#define SPOOR_EXTRAPOLATE_PRODUCE_H

#include "cmd/extrapolate/predict.h"

#define PRODUCE_HOST "extrapolated" /* of all ranks */

struct durations;

struct producing {
	struct predictions *predictions;
	const struct durations *durations; /* durations.h; NULL: all times are 0 */
	struct world world;
	bool nearest;     /* where there is no rule, what a rank nearby had */
	uint64_t guessed; /* so many values */
};

/* The whole trace. Returns 0, or -1 with error set; or 1: what is missing is in the predictions. The caller frees *out
 * in any case. */
int produce_trace(struct producing *x, struct trace *out, struct error *error);

#endif
