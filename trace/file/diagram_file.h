/* SPDX-License-Identifier: BSD-3-Clause
 * diagram_file - the stored form of the nodes of all diagrams of a trace: the chunk MAPS (doc/trace-format.md)
 */
#ifndef SPOOR_DIAGRAM_FILE_H
#define SPOOR_DIAGRAM_FILE_H

#include "trace/model/diagram.h"
#include "trace/base/varint.h"

/* The diagrams of all maps of a trace. Zero-initialised is empty. */
struct diagram_file {
	struct diagram diagram;
	uint8_t *height; /* when read: how many levels are below each node */
};

void diagram_file_free(struct diagram_file *d);
/* Writes the chunk. */
void diagram_file_put(struct writer *w, const struct diagram_file *d);
/* How many bytes the nodes from `from` on take. */
size_t diagram_file_bytes(const struct diagram_file *d, uint32_t from);
/* Reads the chunk into an empty table. Returns 0, or -1: damaged, or no memory. The caller frees *d in any case. */
int diagram_file_get(struct reader *r, struct diagram_file *d);

#endif
