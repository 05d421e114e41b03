/* SPDX-License-Identifier: BSD-3-Clause
 * nodes - the stored form of the nodes of all diagrams of a trace: the chunk MAPS (doc/trace-format.md)
 */
#ifndef SPOOR_NODES_H
#define SPOOR_NODES_H

#include "trace/model/loom.h"
#include "trace/base/varint.h"

/* coded: with the entropy coder (trace/base/entropy.h), as in files of whole traces since version 1.4. */
void nodes_put(struct writer *w, const struct rank_loom *l, bool coded);
/* How many bytes the nodes from `from` on take when they are not coded. */
size_t nodes_bytes(const struct rank_loom *l, uint32_t from);
/* Reads the chunk into an empty loom. *height: how many levels are below each node, malloc'ed (the caller frees it in
 * any case). Returns 0, or -1: damaged, or no memory. */
int nodes_get(struct reader *r, struct rank_loom *l, uint8_t **height, bool coded);

#endif
