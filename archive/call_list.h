/* SPDX-License-Identifier: BSD-3-Clause
 * call_list - the call sites of traces, as the index keeps them (calls.h): one row for each, of whole tables for other
 * engines
 */
#ifndef SPOOR_CALL_LIST_H
#define SPOOR_CALL_LIST_H

#include "archive/catalog.h"

/* Valid during the call. */
struct call_row {
	const char *name, *user, *application; /* of the trace: "12.0.1" */
	const char *function, *frames; /* frames: innermost first; "": all sites of the function that are not kept */
	int64_t job, start_ns;
	int64_t site;                   /* its number in the trace; -1: as frames */
	double figures[FIGURE_COLUMNS]; /* those of calls; negative: not known, as all others are */
};

/* Calls row for each call site of the traces that pass, oldest trace first. What row returns, if it is not 0, ends it.
 * Returns that, or 0, or -1 with error set. The catalog must be locked, and have the digests. */
int call_list(struct catalog *c, const struct catalog_filter *filter, int (*row)(void *, const struct call_row *),
              void *context, struct error *error);

#endif
