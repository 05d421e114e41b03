/* SPDX-License-Identifier: BSD-3-Clause
 * unended_file - the stored form of what ranks were doing when they were killed (doc/trace-format.md, "OPEN")
 */
#ifndef SPOOR_UNENDED_FILE_H
#define SPOOR_UNENDED_FILE_H

#include "trace/base/varint.h"
#include "trace/file/diagram_file.h"
#include "trace/model/unended.h"

void unended_put(struct writer *w, struct diagram_file *maps, const struct trace *t);
/* Returns 0, or -1: damaged, or no memory. */
int unended_get(struct reader *r, const struct diagram_file *maps, struct trace *t);

#endif
