/* SPDX-License-Identifier: BSD-3-Clause
 * text_table - the table `text` of the index, which has each text once: the others have its number
 */
#ifndef SPOOR_TEXT_TABLE_H
#define SPOOR_TEXT_TABLE_H

#include "archive/catalog.h"

struct sqlite3_stmt;

/* Zero-initialised is closed. */
struct text_table {
	struct catalog *c;
	struct sqlite3_stmt *find, *insert;
};

/* Returns 0, or -1 with error set. The caller closes it in any case. */
int text_table_open(struct text_table *t, struct catalog *c, struct error *error);
void text_table_close(struct text_table *t);
/* The number of a text, which is added if it is not there; 0 for the empty one. -1 with error set. */
int64_t text_table_id(struct text_table *t, const char *text, struct error *error);

#endif
