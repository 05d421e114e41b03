/* SPDX-License-Identifier: BSD-3-Clause
 * pieces - the stored form of rank maps: strided pieces, and repetitions of them in as many dimensions as there are
 *
 * The ranks of a 3D grid that have a neighbour above are, in rank order, an alternation of two pieces (some ranks that
 * have one, one that has none), repeated for each row, repeated for each plane. Stored like that, a map of a regular
 * grid has a size that does not depend on the size of the grid. In memory, maps are flat lists of pieces (rankmap.h).
 * Format: doc/trace-format.md, "Maps from rank to value".
 */
#ifndef SPOOR_PIECES_H
#define SPOOR_PIECES_H

#include "trace/model/rankmap.h"
#include "trace/base/varint.h"

/* Values: plain integers, named constants, and what does not fit into 62 bits. */
void value_put(struct writer *w, int64_t v);
int64_t value_get(struct reader *r);

/* With `values` false the map is a set: values are neither written nor read (0). */
void pieces_put(struct writer *w, const struct rankmap *m, bool values);
/* Reads what pieces_put wrote. references: as in struct rankmap_builder. Returns 0, or -1: damaged, or no memory. The
 * caller frees *m in any case. */
int pieces_get(struct reader *r, struct rankmap *m, bool values, bool references);

#endif
