/* SPDX-License-Identifier: BSD-3-Clause
 * arrivals - the traces that came into the archive since some time, with the figures that the index has of them
 */
#ifndef SPOOR_ARRIVALS_H
#define SPOOR_ARRIVALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "archive/catalog.h"

/* Valid during the call. */
struct arrival {
	const char *folder, *name; /* YYYY/MM/DD/UID, JOB.STEP.N */
	const char *user, *application;
	int64_t uid;
	int64_t arrived; /* ns since 1970: the file's ctime, which its owner can make later, not earlier */
	const json_t *metadata;
	bool known;                      /* else the index has not read the trace yet: no figures */
	double elapsed;                  /* s; negative: not known */
	double figures[FIGURE_COLUMNS];  /* each in its unit; negative: not known */
	int64_t late_rank;               /* negative: there is none */
	const char *late_node, *verdict; /* "": not known */
	const char *cause;               /* what is said first of it (insight/outcome.h); "": not known */
};

/* Calls take for each, in the order of their arrival; traces that cannot be read are left out. What take returns, if
 * it is not 0, ends it. Returns that, or 0, or -1 with error set. The catalog is up to date, and locked
 * (CATALOG_SHARE). */
int arrivals_each(struct catalog *c, int64_t since_ns, int (*take)(void *context, const struct arrival *a),
                  void *context, struct error *error);

#endif
