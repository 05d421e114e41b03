/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap_file - the stored form of rank maps and rank sets (doc/trace-format.md, "Maps from rank to value")
 *
 * All maps of a trace are written through one table of diagrams, whose nodes become the chunk MAPS; a reader has that
 * chunk first.
 */
#ifndef SPOOR_RANKMAP_FILE_H
#define SPOOR_RANKMAP_FILE_H

#include "trace/file/diagram_file.h"
#include "trace/model/rankmap.h"
#include "trace/base/varint.h"

/* A map begins with a number below this. */
#define RANKMAP_FILE_FORMS 3

/* Writes a map. The reader must know its ranks (the domain). */
void rankmap_file_put(struct writer *w, struct diagram_file *d, const struct rankmap *m);
/* Reads what rankmap_file_put wrote. references: all values are references. Returns 0, or -1: damaged, or no memory.
 * The caller frees *m in any case. */
int rankmap_file_get(struct reader *r, const struct diagram_file *d, struct rankmap *m, const struct rankmap *domain,
                     bool references);

/* Writes the ranks of a map, which are all in a domain that the reader knows. */
void rankmap_file_put_ranks(struct writer *w, struct diagram_file *d, const struct rankmap *m,
                            const struct rankmap *domain);
/* Reads them, as a map that is 0 everywhere. Returns 0, or -1: damaged, or no memory. The caller frees *m in any case.
 * */
int rankmap_file_get_ranks(struct reader *r, const struct diagram_file *d, struct rankmap *m,
                           const struct rankmap *domain);

#endif
