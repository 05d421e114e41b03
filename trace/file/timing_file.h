/* SPDX-License-Identifier: BSD-3-Clause
 * timing_file - the stored form of the times of all events (trace/model/timing.h): the chunk FULL (doc/trace-format.md)
 */
#ifndef SPOOR_TIMING_FILE_H
#define SPOOR_TIMING_FILE_H

#include "trace/model/trace.h"
#include "trace/base/varint.h"

/* Writes the chunk; in a final trace entropy-coded. */
void timing_put(struct writer *w, const struct trace *t, bool final);
/* Reads it, after the sites have been read. Returns 0, or -1: damaged, or no memory. */
int timing_get(struct reader *r, struct trace *t, bool final);

#endif
