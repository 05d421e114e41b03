/* SPDX-License-Identifier: BSD-3-Clause
 * sites - the chunk with the sites of a trace: functions, sites and object tables with their columns
 * (doc/trace-format.md, "SITE")
 */
#ifndef SPOOR_SITES_H
#define SPOOR_SITES_H

#include "trace/file/derive.h"
#include "trace/file/maps.h"
#include "trace/model/trace.h"

/* d: what is not stored, because it follows from something else. Sets *rosters if there is a roster. */
void sites_put(struct writer *w, struct map_table *maps, const struct trace *t, struct derivations *d, bool whole,
               bool *rosters);
/* Strings, vectors, patterns, call paths and ranks are there already. needs: NULL, all columns; left_out: see
 * trace_decode_some. Returns 0, or -1: damaged, or no memory. */
int sites_get(struct reader *r, struct map_table *maps, struct trace *t, trace_needs *needs, bool *left_out);

#endif
