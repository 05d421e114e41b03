/* SPDX-License-Identifier: BSD-3-Clause
 * packed_histogram - a histogram as bytes, as it is: in packed sites, and in the files of parts
 *
 * The form is in doc/trace-format.md, "In a part".
 */
#ifndef SPOOR_PACKED_HISTOGRAM_H
#define SPOOR_PACKED_HISTOGRAM_H

#include "trace/base/varint.h"
#include "trace/model/histogram.h"

void histogram_pack(struct writer *w, const struct histogram *t);
/* Into a zeroed one. Returns 0, or -1: damaged, or no memory. The caller frees it in any case. */
int histogram_unpack(struct reader *r, struct histogram *t);
/* A rank; UINT32_MAX if it is none. */
uint32_t histogram_unpack_rank(struct reader *r);

#endif
