/* SPDX-License-Identifier: BSD-3-Clause
 * column_numbers - a column of numbers: what column.c and array.c have in common
 */
#ifndef SPOOR_PROXY_COLUMN_NUMBERS_H
#define SPOOR_PROXY_COLUMN_NUMBERS_H

#include "proxy/columns.h"
#include "proxy/fit.h"

/* A column with its values as numbers: of each rank its runs, or NULL, and its x. */
struct numbers {
	struct columns *c;
	struct runs **of_rank;
	bool *passes; /* of each rank: it comes by, if only with values that do not matter */
	int64_t *x;   /* NULL: the rank */
	const struct tree_node *x_name;
	bool visits;
	bool again;      /* a value may be asked for several times: it is none of a queue */
	bool kept;       /* constants are marked for peer() of the program, which adds something to the other values */
	bool shapes;     /* numbers_rules: ranks share an expression also if their runs have other lengths */
	bool local;      /* numbers_rules: an expression has a name of the function that it stands in */
	bool drawn;      /* numbers_rules: there is a table of runs */
	uint32_t groups; /* numbers_rules: so many expressions there were */
	int level;
	uint32_t rows; /* lists of the last numbers_list that was not relative: so many different ones */
};

/* A column as it was recorded. Each rank whose values are all absent, or have no order
 * (drawn.h), has none. Returns 0, or -1 with columns.error set.
 * The caller calls numbers_end in any case. */
int numbers_begin(struct numbers *n, struct columns *c, uint32_t column);
/* The same as another one, to be changed. */
int numbers_copy(struct numbers *n, const struct numbers *from);
void numbers_end(struct numbers *n);
/* Is it one value, on all ranks that have any, at all visits? */
bool numbers_uniform(const struct numbers *n, int64_t *value);
/* Do two ranks have runs of the same lengths? */
bool numbers_alike(const struct runs *a, const struct runs *b);
/* A hash of what numbers_alike compares. */
uint64_t numbers_hash(const struct runs *r);
/* Or such that can be written out with lengths that are functions of the rank? */
bool numbers_share(const struct runs *a, const struct runs *b);
/* Makes the expression. Returns 0, or -1 with columns.error set. */
int numbers_write(struct numbers *n, struct expression *out);
/* One way of that: rules for the ranks; shapes: those whose runs have other lengths may share one. Returns 0; 1: it
 * cannot be said so; -1: no memory. */
int numbers_rules(struct numbers *n, bool shapes, const struct tree_node **out);
/* Makes a table of runs, and what asks it for the next value. rows: of each run. Returns 0, or -1: no memory. */
int numbers_table(struct numbers *n, const struct tree_node **rows, const struct runs *r, const struct tree_node **out);
/* The values as lists (column_list.c); even: all ranks' are as long; relative: to the rank. Returns 0; 1: they cannot
 * be said so; -1: no memory. */
int numbers_list(struct numbers *n, bool even, bool relative, const struct tree_node **out);
/* The values as a queue (queues.h). Returns as numbers_list. */
int numbers_queue(struct numbers *n, const struct tree_node **out);
/* The values as digits that go round a grid (torus.h). Returns as numbers_list. */
int numbers_torus(struct numbers *n, const struct tree_node **out);
/* How functions of the rank are made. */
struct fit numbers_fit(struct numbers *n);
/* A number, or the name of a constant. */
const struct tree_node *numbers_value(const struct columns *c, int64_t v);
/* The same for a value of this column. */
const struct tree_node *numbers_element(const struct numbers *n, int64_t v);

#endif
