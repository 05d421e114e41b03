/* SPDX-License-Identifier: BSD-3-Clause
 * times_file - the chunk with the times of a trace: histograms of sites and edges, totals of ranks
 * (doc/trace-format.md, "HIST")
 *
 * A trace that lacks ranks may still be merged: its times are stored as they are. In a complete one, histograms have
 * few bins, what describes a bin is rounded to a few per cent of the bin's width, and the totals of ranks are rounded
 * to fractions of the range that they are in. Of each histogram, the count and the ranks of the extremes stay exact;
 * the sum has at least 12 bits, minimum and maximum are at most 1/128 of their distance from the mean further out, and
 * the visit that had them is told to 1/32. Encoding what was decoded gives the same bytes.
 */
#ifndef SPOOR_TIMES_FILE_H
#define SPOOR_TIMES_FILE_H

#include "trace/model/trace.h"
#include "trace/base/varint.h"

void times_put(struct writer *w, const struct trace *t, bool final);
/* Returns 0, or -1: damaged, or no memory. */
int times_get(struct reader *r, struct trace *t, bool final);

#endif
