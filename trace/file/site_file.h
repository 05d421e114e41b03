/* SPDX-License-Identifier: BSD-3-Clause
 * site_file - the stored form of sites: functions, sites and object tables with their columns (doc/trace-format.md,
 * "SITE")
 */
#ifndef SPOOR_SITE_FILE_H
#define SPOOR_SITE_FILE_H

#include "trace/file/derive.h"
#include "trace/file/diagram_file.h"
#include "trace/model/trace.h"

/* Writes the chunk. d: what is not stored, because it follows from something else. Returns whether there are groups of
 * edits. */
bool sites_put(struct writer *w, struct diagram_file *diagrams, const struct trace *t, struct derivations *d);
/* Reads it. Strings, vectors, patterns, call paths and ranks are there already. needs: NULL, all columns; left_out: see
 * trace_decode_some. Returns 0, or -1: damaged, or no memory. */
int sites_get(struct reader *r, const struct diagram_file *diagrams, struct trace *t, trace_needs *needs,
              bool *left_out);

#endif
