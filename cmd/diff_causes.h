/* SPDX-License-Identifier: BSD-3-Clause
 * diff_causes - of `spoor diff`: how much longer one run took than the other, and why, from the causes of both
 *
 *     T = computation + lost      of a rank, in the mean, until the last one is at its end
 *
 * so that the difference is the sum of the differences of computation and of each kind of cause (insight/cause.h).
 */
#ifndef SPOOR_DIFF_CAUSES_H
#define SPOOR_DIFF_CAUSES_H

#include <jansson.h>

#include "cmd/base/diff_match.h"

/* Prints it; sites are matched. Nothing where a trace does not say how long its
 * ranks computed. Returns 0, or -1 with error set. */
int diff_causes(const struct diff_input *a, const struct diff_input *b, struct error *error);
/* The same for programs; null where it is not known. NULL: error set. */
json_t *diff_causes_json(const struct diff_input *a, const struct diff_input *b, struct error *error);

#endif
