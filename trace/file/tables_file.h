/* SPDX-License-Identifier: BSD-3-Clause
 * tables_file - the stored form of what sites refer to: strings and patterns, vectors, call paths (doc/trace-format.md)
 *
 * Reading returns 0, or -1: damaged, or no memory.
 */
#ifndef SPOOR_TABLES_FILE_H
#define SPOOR_TABLES_FILE_H

#include "trace/base/varint.h"
#include "trace/file/derive.h"
#include "trace/model/trace.h"

/* STRG, PATT: from number `from` on. */
void tables_put_pool(struct writer *w, const struct pool *p, uint32_t from);
int tables_get_pool(struct reader *r, struct pool *p);
/* VECT: those that are not left out (d). */
void tables_put_vectors(struct writer *w, const struct pool *p, const struct derivations *d);
int tables_get_vectors(struct reader *r, struct pool *p);
/* PATH. */
void tables_put_paths(struct writer *w, const struct trace *t);
int tables_get_paths(struct reader *r, struct trace *t);

#endif
