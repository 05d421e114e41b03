/* SPDX-License-Identifier: BSD-3-Clause
 * classes_file - the stored form of the classes of computations: the chunk CLAS (doc/trace-format.md)
 */
#ifndef SPOOR_CLASSES_FILE_H
#define SPOOR_CLASSES_FILE_H

#include "trace/file/diagram_file.h"
#include "trace/model/trace.h"

/* Appends the chunk to w; nothing if no edge has classes. */
void classes_put(struct writer *w, struct diagram_file *maps, const struct trace *t, bool final);
/* Reads it into a trace that has SITE and HIST. Returns 0, or -1: damaged, or no memory. */
int classes_get(struct reader *r, const struct diagram_file *maps, struct trace *t, bool final);

#endif
