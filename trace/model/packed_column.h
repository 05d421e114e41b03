/* SPDX-License-Identifier: BSD-3-Clause
 * packed_column - rank maps and columns as bytes, for trace/model/packed.h and for who merges them as they are
 *
 * Reading returns 0, or -1: no memory. The caller frees what is there so far.
 */
#ifndef SPOOR_PACKED_COLUMN_H
#define SPOOR_PACKED_COLUMN_H

#include "trace/base/varint.h"
#include "trace/model/trace.h"

/* A map, node by node. */
void packed_nodes_put(struct writer *w, const struct rankmap *m);
int packed_nodes_get(struct reader *r, struct rankmap *m);
/* A map of ranks that its reader knows: `domain`. */
void packed_map_put(struct writer *w, const struct rankmap *m, const struct rankmap *domain);
int packed_map_get(struct reader *r, struct rankmap *m, const struct rankmap *domain, bool references);
/* A column of a site with these visits. */
void packed_column_put(struct writer *w, const struct trace_column *c, const struct rankmap *visits);
int packed_column_get(struct reader *r, struct trace_column *c, const struct rankmap *visits, enum reference reference);

/* Reads over a map that was put node by node, or over a column. Returns its bytes. */
struct reader packed_nodes_span(struct reader *r);
struct reader packed_column_span(struct reader *r);

/* What values and patterns (numbers in the pool; UINT32_MAX: no memory) are in another trace. */
struct packed_translation {
	int64_t (*value)(void *context, int64_t value, enum reference reference);
	uint32_t (*pattern)(void *context, uint32_t number);
	void *context;
};
/* Writes a column as it is in another trace, if it is in order, the same in all ranks of its site, and does not refer
 * to vectors: if another trace has it as well, then both together have it. Else returns false; what was written means
 * nothing then. */
bool packed_column_translate(struct reader column, struct writer *w, const struct packed_translation *x,
                             enum reference reference);

#endif
