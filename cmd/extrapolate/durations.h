/* SPDX-License-Identifier: BSD-3-Clause
 * durations - the times of calls and computations at another number of ranks
 *
 * The mean time of a call site's calls, and of the computations between two, follow laws of the number of ranks
 * (insight/model.h), found from all traces. With fewer sizes than such a law needs, they are those of the largest one.
 */
#ifndef SPOOR_EXTRAPOLATE_DURATIONS_H
#define SPOOR_EXTRAPOLATE_DURATIONS_H

#include "proxy/steps.h"
#include "trace/base/error.h"
#include "trace/model/trace.h"

/* The calls of a site, or the computations between two, at one size. */
struct duration_seen {
	uint32_t from, to; /* sites of the model; to: UINT32_MAX: calls */
	uint32_t ranks;
	double mean; /* ns */
};

struct duration {
	uint32_t from, to;
	uint64_t ns;
};

struct durations {
	struct duration *each; /* by `from`, then `to`; malloc'ed */
	size_t count;
};

/* Sorts what was seen. Returns 0, or -1 on no memory. The caller frees it in any case. */
int durations_make(struct durations *d, struct duration_seen *seen, size_t count, uint32_t ranks);
void durations_free(struct durations *d);
/* Gives the only rank of a trace its times; model: of each site, its number in the model; next: which sites followed on
 * each other. Returns 0, or -1 with error set. */
int durations_put(const struct durations *d, struct trace *t, uint32_t rank, const uint32_t *model,
                  const struct steps *next, struct error *error);

#endif
