/* SPDX-License-Identifier: BSD-3-Clause
 * scale_all - `spoor scale --all`: how each application of an archive scales, by what the index knows
 */
#ifndef SPOOR_SCALE_ALL_H
#define SPOOR_SCALE_ALL_H

#include "archive/size_series.h"
#include "cmd/scaling.h"

struct scale_application {
	struct series series; /* runs NULL */
	struct scaling scaling;
};

struct scale_all {
	struct scale_application *list; /* by node hours */
	size_t count;
	size_t more; /* applications that could be told, too */
	size_t few;  /* those with too few sizes */
	double few_hours, all_hours;
};

/* The applications with most node hours, `top` of them (0: all). Their parts are computation and MPI functions.
 * Returns 0, or -1 with error set. The caller frees it in any case. */
int scale_all_find(struct scale_all *a, const char *archive, const struct catalog_filter *filter, size_t top,
                   struct error *error);
void scale_all_free(struct scale_all *a);

void scale_all_print(const struct scale_all *a);
/* New; NULL on no memory. */
json_t *scale_all_json(const struct scale_all *a);

#endif
