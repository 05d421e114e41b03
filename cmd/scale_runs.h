/* SPDX-License-Identifier: BSD-3-Clause
 * scale_runs - which runs of an application in the archive belong to one series, and differ in nothing but their size
 *
 * They are of one build or executable, and have arguments that are alike when each number is left out: `-n 64 in.dat`
 * and `-n 256 in.dat` are (archive/series_choice.h). Of several such series that with most sizes is taken, of these the
 * one with most runs.
 */
#ifndef SPOOR_SCALE_RUNS_H
#define SPOOR_SCALE_RUNS_H

#include <stddef.h>

#include "archive/catalog.h"
#include "archive/series_choice.h"

struct scale_runs {
	char **paths; /* malloc'ed, as the list is */
	size_t count;
	char *alike;     /* the arguments, with `#` for numbers that differ; malloc'ed */
	size_t series;   /* how many there were */
	size_t left_out; /* runs of other series, and older ones */
	size_t sizes;
	enum series_same same;
};
extern const char *const scale_same_names[]; /* by enum series_same: "build" */

/* Only whole runs that the filter selects, and that ended well. Returns 0, or -1 with error set, also if there are
 * none. The caller frees it in any case. */
int scale_runs_find(struct scale_runs *s, const char *archive, const struct catalog_filter *filter,
                    struct error *error);
void scale_runs_free(struct scale_runs *s);

#endif
