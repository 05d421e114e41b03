/* SPDX-License-Identifier: BSD-3-Clause
 * column_value - what a column is at a call site, as C: an expression of the rank and of the visit, or an array
 */
#ifndef SPOOR_PROXY_COLUMN_VALUE_H
#define SPOOR_PROXY_COLUMN_VALUE_H

#include "proxy/columns.h"

/* An array: array_N(which) of the program, and length_N(which); or, if there is but one, its elements; or numbers(). */
struct array {
	struct expression which;
	bool none; /* it is never there, or `constant` */
	const struct tree_node *constant;
	const struct tree_node *elements; /* NULL: it is a function */
	const struct tree_node *queue;    /* what numbers() is given; NULL: it is none of a queue */
	struct definition *made, *length; /* array_N, length_N; length: NULL, if nobody asks */
	bool fixed;                       /* all have `most` elements */
	size_t most;
	bool contiguous; /* of requests: they are numbered from `first` on, without a gap */
	int64_t first;
};

/* The value of a column of scalars; of kind p as it is passed. base: the rank that such values are relative to. Of
 * a kind b: is it MPI_IN_PLACE? Returns 0, or -1 with error set. */
int column_scalar(struct columns *c, const struct proxy_site *site, const struct schema_column *column, uint32_t number,
                  const struct tree_node *base, struct expression *out);
/* How often a node comes in a turn of its parent: the same of a column that has no schema. */
int column_times(struct columns *c, uint32_t number, struct expression *out);
/* type: of the elements in C; lengths: is length_N needed? followers: so many arrays can be made of a function that
 * makes this one (array_rule.h). */
int column_array(struct columns *c, const struct schema_column *column, uint32_t number, const char *type, bool lengths,
                 size_t followers, struct array *out);
/* The most elements of an array in a column. */
size_t column_most(const struct columns *c, uint32_t number);

#endif
