/* SPDX-License-Identifier: BSD-3-Clause
 * packed_histogram - a histogram as bytes, inside of one process: for packed.c
 */
#ifndef SPOOR_PACKED_HISTOGRAM_H
#define SPOOR_PACKED_HISTOGRAM_H

#include "trace/base/varint.h"
#include "trace/model/histogram.h"

void histogram_pack(struct writer *w, const struct histogram *t);
/* Into a zeroed one. Returns 0, or -1 on no memory. */
int histogram_unpack(struct reader *r, struct histogram *t);

#endif
