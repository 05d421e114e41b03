/* SPDX-License-Identifier: BSD-3-Clause
 * list_table - of `spoor list`: which columns it has, and their rows as a table or for programs
 */
#ifndef SPOOR_LIST_TABLE_H
#define SPOOR_LIST_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "archive/catalog.h"

enum list_form {
	LIST_TABLE,
	LIST_PARSABLE, /* a|b|c */
	LIST_CSV,
};

#define LIST_COLUMNS_MOST 32
/* Rows by which the widths of a table's columns are chosen: so many wait for that. */
#define LIST_ROWS_MEASURED 1000

struct list_column {
	const struct list_field *field; /* NULL: the key of the metadata */
	char key[32];
	int width; /* as was asked for; 0: as wide as what is in it. Negative: left-aligned */
};

struct list_table {
	FILE *out;
	enum list_form form;
	bool heading;
	int room; /* columns of the terminal; 0: no limit */
	struct list_column columns[LIST_COLUMNS_MOST];
	size_t count;
	bool metadata; /* some of them are of the metadata */
	/* the rows that wait */
	char **cells;
	size_t rows, told; /* of those that wait; of all */
	int widths[LIST_COLUMNS_MOST];
	bool measured, failed;
};

/* What --format takes: "job,user%20,state", also the keys of metadata. Returns 0, or -1: too many, or a word is none.
 */
int list_table_read_format(void *table, const char *text);
/* The columns that fit, where none were asked for. */
void list_table_choose(struct list_table *t);
/* metadata: of the trace, if a column needs it (t->metadata); may be NULL. Returns 0, or -1: no memory. */
int list_table_add(struct list_table *t, const struct catalog_row *row, const json_t *metadata);
/* Prints what waits, and frees it. Returns 0, or -1: no memory. */
int list_table_end(struct list_table *t);

#define LIST_FIELDS                                                                                            \
	"job, user, name, state, start, end, elapsed, ranks, nodes, size, mpi, reason, exe, a figure such as " \
	"wait_share, or a key of the metadata; with %N behind it at most N wide, with %-N left-aligned"

#endif
