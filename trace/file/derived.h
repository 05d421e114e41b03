/* SPDX-License-Identifier: BSD-3-Clause
 * derived - the stored form of groups that follow from another column (trace/file/derive.h; doc/trace-format.md, "SITE")
 */
#ifndef SPOOR_DERIVED_H
#define SPOOR_DERIVED_H

#include "trace/file/derive.h"
#include "trace/base/varint.h"

/* What is read of one. */
struct derived {
	uint32_t column;           /* whose groups are made */
	uint32_t from, from_group; /* the other one; as many as it has: each of its groups makes one */
	enum derive_kind kind;     /* DERIVE_GRID is made when all columns were read */
	struct derive_grid grid;
	struct rankmap ranks;
};

/* all: the derivation is that of the column's first group, and its other groups follow in the same way from those with
 * their number. */
void derived_put(struct writer *w, const struct derivation *d, bool all, const struct trace_column *from);
/* Is that so of the groups of a column, whose derivations begin at d? */
bool derived_all(const struct derivations *d, uint32_t at, const struct trace *t, const struct trace_column *c);

/* Reads one of a column of a site, of which the columns before it are known. Returns 0, or -1: damaged, or no memory.
 * The caller frees *d in any case. */
int derived_get(struct reader *r, struct derived *d, const struct trace *t, const struct trace_site *s, uint32_t column,
                const struct rankmap *ranks);
/* Adds what it stands for to its column. needs, left_out: trace_decode_some. Returns 0 or -1. */
int derived_make(const struct derived *d, struct trace *t, struct trace_site *s, trace_needs *needs, bool *left_out);
void derived_free(struct derived *d);

#endif
