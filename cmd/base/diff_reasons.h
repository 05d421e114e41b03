/* SPDX-License-Identifier: BSD-3-Clause
 * diff_reasons - how much longer one run took than another, and why, from the causes of both (insight/cause.h)
 *
 *     T = computation + lost      of a rank, in the mean, until the last one is at its end
 *
 * so that the difference is the sum of the differences of computation and of each kind of cause.
 */
#ifndef SPOOR_DIFF_REASONS_H
#define SPOOR_DIFF_REASONS_H

#include "cmd/base/diff_match.h"
#include "cmd/base/site_names.h"
#include "insight/cause.h"

#define DIFF_PLACE 600

/* By enum cause_kind, and: */
enum { DIFF_COMPUTATION = CAUSES, DIFF_REASONS };

/* One side. */
struct diff_run {
	const struct diff_input *in;
	struct causes causes;
	struct site_names names;
	double run_ns;           /* until the last rank is at its end */
	double ns[DIFF_REASONS]; /* of a rank, in the mean */
};

/* What differs by a kind of cause. */
struct diff_reason {
	int reason;
	double ns; /* b has more, of a rank */
	char place[DIFF_PLACE];
};

struct diff_reasons {
	struct diff_run a, b;
	bool known;
	struct diff_reason list[DIFF_REASONS];
};

/* Sites are matched (diff_sites.h). Not known where a trace does not say how long its ranks computed. The largest
 * difference comes first. Returns 0, or -1 with error set. The caller frees it in any case. */
int diff_reasons_find(struct diff_reasons *c, const struct diff_input *a, const struct diff_input *b,
                      struct error *error);
void diff_reasons_free(struct diff_reasons *c);
/* "computation", "small-messages" */
const char *diff_reason_name(int reason);

#endif
