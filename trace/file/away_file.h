/* SPDX-License-Identifier: BSD-3-Clause
 * away_file - the stored form of how long ranks were off the processor (doc/trace-format.md, "AWAY")
 */
#ifndef SPOOR_AWAY_FILE_H
#define SPOOR_AWAY_FILE_H

#include "trace/base/varint.h"
#include "trace/file/diagram_file.h"
#include "trace/model/trace.h"

bool away_has(const struct trace *t);
void away_put(struct writer *w, struct diagram_file *maps, const struct trace *t);
/* Returns 0, or -1: damaged, or no memory. */
int away_get(struct reader *r, const struct diagram_file *maps, struct trace *t);

#endif
