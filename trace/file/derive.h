/* SPDX-License-Identifier: BSD-3-Clause
 * derive - columns that follow from another column of the same site
 *
 * Programs compute displacements from counts, and pass one number as two parameters. In a file such a group of ranks is
 * not stored: it says from which column it follows, and how (doc/trace-format.md, "Derived groups"). In memory it is a
 * group like any other: what is made of the other column is compared with what is there when a trace is written, and
 * takes its place when it is read.
 */
#ifndef SPOOR_DERIVE_H
#define SPOOR_DERIVE_H

#include "trace/model/trace.h"

enum derive_kind {
	DERIVE_SAME,   /* all values are those of the other column */
	DERIVE_PREFIX, /* arrays: element i is the sum of the elements before i of the other column's array */
	/* arrays, ranks 0 .. n - 1, n elements each: element i of rank r is element r of rank i, as what is received is
	 * what the others send */
	DERIVE_TRANSPOSE,
	DERIVE_KINDS,
};

struct derivation {
	bool object;
	uint32_t site, column, group; /* what is not stored */
	uint32_t from, from_group;    /* a column before this one, and its group that has these ranks */
	enum derive_kind kind;
};

/* What is not stored, and what it leaves behind. Zero-initialised is empty. */
struct derivations {
	struct derivation *list; /* in the order of objects, site, column, group */
	uint32_t count, capacity;
	/* number of each vector in the file; UINT32_MAX: not stored; NULL: all are, by their own numbers */
	uint32_t *vectors;
	uint32_t vector_count; /* stored ones */
};

/* Finds all groups of a trace that follow from others. Linear in its values. Returns 0 or -1; the caller frees *d in
 * any case. */
int derive_find(struct derivations *d, const struct trace *t);
void derive_free(struct derivations *d);

/* Makes the group of these ranks that follows from a group that has them all. Vectors that are not there yet are added.
 * Returns 0; 1 if nothing follows (there is no such sum, not all ranks are there); or -1 on no memory. The caller frees
 * *out in any case. */
int derive_make(struct trace *t, const struct trace_group *from, enum reference reference, enum derive_kind kind,
                const struct rankmap *ranks, struct trace_group *out);
/* Writes how a group follows. */
void derive_put(struct writer *w, const struct derivation *d);
/* Reads it, for d->column of a site of which the columns before it are there. Returns 0, or -1: damaged. */
int derive_get(struct reader *r, struct derivation *d, const struct schema *schema, const struct trace_site *s);

#endif
