/* SPDX-License-Identifier: BSD-3-Clause
 * counts_file - the stored form of events that were counted (trace/model/counts.h): the chunk CNTR
 * (doc/trace-format.md)
 */
#ifndef SPOOR_COUNTS_FILE_H
#define SPOOR_COUNTS_FILE_H

#include "trace/model/trace.h"
#include "trace/base/varint.h"

/* Writes the chunk; in a final trace compact, with few bins. */
void counts_put(struct writer *w, const struct trace *t, bool final);
/* Reads it, after the times have been read. Returns 0, or -1: damaged, or no memory. */
int counts_get(struct reader *r, struct trace *t, bool final);

#endif
