/* SPDX-License-Identifier: BSD-3-Clause
 * question - a question to the index: SQL text with its values, made of conditions
 */
#ifndef SPOOR_QUESTION_H
#define SPOOR_QUESTION_H

#include "archive/catalog.h"

struct sqlite3_stmt;

/* Zero-initialised is empty. Texts are kept, not copied. */
struct question {
	char sql[8192]; /* longer is cut, and refused by SQLite */
	size_t used;
	struct {
		const char *text; /* NULL: a number */
		int64_t number;
	} values[64];
	int count;
};

/* Adds text as it is; it has no values. */
void question_say(struct question *q, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds " AND (condition)", with this value for each `?` in it: the text, or if that is NULL the number. */
void question_and(struct question *q, const char *condition, const char *text, int64_t number);
/* Adds what a trace must be; table trace is `t`. */
void question_filter(struct question *q, const struct catalog_filter *filter);

/* Prepares it. Returns 0, or -1 with error set. The caller finalizes the statement. */
int question_prepare(const struct question *q, struct catalog *c, struct sqlite3_stmt **out, struct error *error);
/* A text of a row; "" for NULL. Valid until the next row. */
const char *question_text(struct sqlite3_stmt *s, int column);

#endif
