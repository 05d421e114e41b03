/* SPDX-License-Identifier: BSD-3-Clause
 * means_file - the stored form of what each rank spent: the chunk MEAN (doc/trace-format.md)
 *
 * A part keeps what it has. In a final trace a map is as fine as its share of the budget allows, and what changes no
 * rank's time by 1/200 is not kept.
 */
#ifndef SPOOR_MEANS_FILE_H
#define SPOOR_MEANS_FILE_H

#include "trace/base/varint.h"
#include "trace/file/diagram_file.h"
#include "trace/model/trace.h"

/* others: bytes of the other chunks, of which all maps take a part. Nothing is written if there is nothing. */
void means_put(struct writer *w, struct diagram_file *maps, const struct trace *t, bool final, size_t others);
/* Returns 0, or -1: damaged, or no memory. */
int means_file_get(struct reader *r, const struct diagram_file *maps, struct trace *t);

#endif
