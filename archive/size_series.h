/* SPDX-License-Identifier: BSD-3-Clause
 * size_series - runs of an application in the index that differ in nothing but their size
 */
#ifndef SPOOR_SIZE_SERIES_H
#define SPOOR_SIZE_SERIES_H

#include "archive/command_mask.h"
#include "archive/catalog.h"
#include "archive/metadata.h"
#include "archive/series_choice.h"

#define SERIES_EACH 5 /* of a size: the newest ones */

struct series_run {
	int64_t id, ranks;
};

struct series {
	char application[METADATA_APPLICATION];
	char alike[COMMAND_MASK_SIZE]; /* the arguments, with `#` for numbers that differ */
	enum series_same same;
	struct series_run *runs; /* by ranks */
	size_t count, sizes;
	size_t series;     /* how many the application has */
	size_t left_out;   /* runs of other series, and older ones */
	double node_hours; /* of all runs of the application, as far as the index has read them */
};

/* Calls each for every application that has whole runs that the filter selects and that ended well, in no order. named:
 * as of series_choose. What it returns, if it is not 0, ends the walk. Returns that, or 0, or -1 with error set. The
 * catalog must be locked. */
int series_each(struct catalog *c, const struct catalog_filter *filter, bool named,
                int (*each)(void *context, const struct series *s), void *context, struct error *error);

#endif
