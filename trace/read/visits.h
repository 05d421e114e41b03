/* SPDX-License-Identifier: BSD-3-Clause
 * visits - the visits of one rank to one site: chosen columns in step, without following the rank's events
 *
 * Values come with a count of visits in which they are all alike, so that a site that is visited a million times with
 * one value is one step.
 */
#ifndef SPOOR_VISITS_H
#define SPOOR_VISITS_H

#include "trace/model/cursor.h"

struct visits {
	struct column_cursor cursors[SCHEMA_MAX];
	uint8_t columns[SCHEMA_MAX];
	size_t count;  /* columns */
	uint64_t left; /* visits that are still to come */
};

/* Adds a column, before visits_open; -1 is none. */
void visits_add(struct visits *v, int column);
/* patterns, own: as for column_cursor_open. Returns 0; 1: a column has no order, or there is nothing for this stream;
 * -1 on no memory or damage. The caller closes it in any case. */
int visits_open(struct visits *v, const struct trace *t, const struct trace_site *site, uint32_t stream,
                struct pattern *patterns, struct pool *own);
void visits_close(struct visits *v);
/* The values (by column of the schema) of the next visits that are all alike, and how many. Returns 0, 1 at the end, or
 * -1. */
int visits_next(struct visits *v, int64_t *values, uint64_t *times);

#endif
