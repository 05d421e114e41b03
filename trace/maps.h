/* SPDX-License-Identifier: BSD-3-Clause
 * maps - the stored form of rank maps and rank sets: as diagrams that share their nodes, or as pieces, whichever is shorter
 *
 * Format: doc/trace-format.md, "Maps from rank to value" and "MAPS". All maps of a trace are written through one table, whose nodes become
 * the chunk MAPS; a reader has that chunk first.
 */
#ifndef SPOOR_MAPS_H
#define SPOOR_MAPS_H

#include "trace/rankmap.h"
#include "trace/varint.h"

/* Zero-initialised is empty. */
struct map_table {
	struct rank_loom loom;
	uint8_t *height; /* of the nodes, when read */
};

void map_table_free(struct map_table *t);
void map_table_put(struct writer *w, const struct map_table *t);
/* Returns 0, or -1: damaged, or no memory. */
int map_table_get(struct reader *r, struct map_table *t);
/* How many bytes the nodes from `from` on take. (rank_loom_rollback takes them out again.) */
size_t map_table_bytes(const struct map_table *t, uint32_t from);

/* A map. Its ranks are known to the reader (the domain). */
void map_put(struct writer *w, struct map_table *t, const struct rankmap *m);
/* Reads what map_put wrote. references: all values are references. Returns 0, or -1: damaged, or no memory. The caller frees *m in any case. */
int map_get(struct reader *r, const struct map_table *t, struct rankmap *m, const struct rankmap *domain, bool references);
/* The ranks of a map, which are all in a domain that the reader knows. */
void map_put_ranks(struct writer *w, struct map_table *t, const struct rankmap *m, const struct rankmap *domain);
int map_get_ranks(struct reader *r, const struct map_table *t, struct rankmap *m, const struct rankmap *domain);
/* A map with its ranks, as a diagram. */
void map_put_diagram(struct writer *w, struct map_table *t, const struct rankmap *m);
int map_get_diagram(struct reader *r, const struct map_table *t, struct rankmap *m);

#endif
