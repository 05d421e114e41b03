/* SPDX-License-Identifier: BSD-3-Clause
 * maps - the stored form of rank maps and rank sets: as diagrams that share their nodes, or as pieces, whichever is
 * shorter
 *
 * Format: doc/trace-format.md, "Maps from rank to value" and "MAPS". All maps of a trace are written through one table,
 * whose nodes become the chunk MAPS; a reader has that chunk first.
 */
#ifndef SPOOR_MAPS_H
#define SPOOR_MAPS_H

#include "trace/model/rankmap.h"
#include "trace/base/varint.h"

/* Zero-initialised is empty. */
#define MAPS_KNOWN 64
struct map_table {
	struct rank_loom loom;
	uint8_t *height; /* of the nodes, when read */
	uint32_t level;  /* of wide maps, which are for all ranks below 2^level */
	/* Writing: NULL, or maps may be for more ranks than they have to (trace/file/widen.h). The diagrams that were put
	 * last may cover the next map, too. */
	struct widening *widening;
	uint32_t known[MAPS_KNOWN], known_count;
};

void map_table_free(struct map_table *t);
/* All ranks are below 2^level. write: wide maps may be put (without memory for that none are). */
void map_table_level(struct map_table *t, uint32_t level, bool write);
/* A map. Its ranks are known to the reader (the domain). */
void map_put(struct writer *w, struct map_table *t, const struct rankmap *m);
/* Reads what map_put wrote. references: all values are references. Returns 0, or -1: damaged, or no memory. The caller
 * frees *m in any case. */
int map_get(struct reader *r, const struct map_table *t, struct rankmap *m, const struct rankmap *domain,
            bool references);
/* The ranks of a map, which are all in a domain that the reader knows. */
void map_put_ranks(struct writer *w, struct map_table *t, const struct rankmap *m, const struct rankmap *domain);
int map_get_ranks(struct reader *r, const struct map_table *t, struct rankmap *m, const struct rankmap *domain);
/* A map with its ranks, as a diagram. */
void map_put_diagram(struct writer *w, struct map_table *t, const struct rankmap *m);
int map_get_diagram(struct reader *r, const struct map_table *t, struct rankmap *m);

#endif
