/* SPDX-License-Identifier: BSD-3-Clause
 * diff_sites - the call sites of two traces side by side: what each of them did, and where they differ
 *
 *     diff_sites_make(&a, true, &error), diff_sites_make(&b, true, &error)    of each, a.trace and a.name are set
 *     diff_sites_match(&a, &b, &error)
 *     rows = diff_rows(&a, &b, &n)
 */
#ifndef SPOOR_DIFF_SITES_H
#define SPOOR_DIFF_SITES_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/base/diff_match.h"

struct diff_row {
	const struct diff_side *a, *b; /* one may be NULL */
	uint32_t site;                 /* of a, or of b if there is no a */
	bool flow;                     /* other sites follow */
	bool times;                    /* it, or what is computed before it, takes another time */
	double weight;                 /* ns a rank */
};

/* Fills in what is known of the sites of in->trace. bytes: also what they passed on, for which events are walked.
 * Returns 0, or -1 with error set. diff_sites_free in both cases, which leaves the trace alone. */
int diff_sites_make(struct diff_input *in, bool bytes, struct error *error);
void diff_sites_free(struct diff_input *in);
/* Which site of one is which of the other. Returns 0, or -1 with error set. */
int diff_sites_match(struct diff_input *a, struct diff_input *b, struct error *error);
/* A row for each site of a, with the one of b that it is, and for each other one of b: those that differ most first.
 * malloc'ed, NULL on no memory; *n gets their number. */
struct diff_row *diff_rows(const struct diff_input *a, const struct diff_input *b, size_t *n);
/* In anything but time. */
bool diff_row_differs(const struct diff_row *r);
/* Of a sum over all ranks: the mean. */
double diff_per_rank(const struct diff_input *in, uint64_t sum);

#endif
