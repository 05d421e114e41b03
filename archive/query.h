/* SPDX-License-Identifier: BSD-3-Clause
 * query - a query to the index: SQL text with its values, made of conditions
 */
#ifndef SPOOR_QUERY_H
#define SPOOR_QUERY_H

#include "archive/catalog.h"

struct sqlite3_stmt;

/* Zero-initialised is empty. Texts are kept, not copied. */
struct query {
	char sql[32768]; /* longer is cut, and refused by SQLite */
	size_t used;
	struct {
		const char *text; /* NULL: a number */
		int64_t number;
	} values[512];
	int count;
};

/* Adds text as it is; it has no values. */
void query_append(struct query *q, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds " AND (condition)", with this value for each `?` in it: the text, or if that is NULL the number. */
void query_and(struct query *q, const char *condition, const char *text, int64_t number);
/* Adds what a trace must be; table trace is `t`. */
void query_filter(struct query *q, const struct catalog_filter *filter);

/* How many traces pass, whatever the limit; 0, too, if that cannot be known. */
int64_t query_count(struct catalog *c, const struct catalog_filter *filter);
/* When the first and the last of them began, in ns; false: there is none, or that is not known. */
bool query_span(struct catalog *c, const struct catalog_filter *filter, int64_t *first, int64_t *last);

/* Prepares it. Returns 0, or -1 with error set. The caller finalizes the statement. */
int query_prepare(const struct query *q, struct catalog *c, struct sqlite3_stmt **out, struct error *error);
/* A text of a row; "" for NULL. Valid until the next row. */
const char *query_text(struct sqlite3_stmt *s, int column);

/* A statement without values, for those that have them or for many uses. NULL with error set (unless that is NULL). */
struct sqlite3_stmt *query_statement(struct catalog *c, const char *sql, struct error *error);
/* The same, prepared once for each text: to be reset, and not finalized. */
struct sqlite3_stmt *query_kept(struct catalog *c, const char *sql, struct error *error);
/* Closes the database, with what is kept. */
void query_close(struct catalog *c);
/* Executes a statement: types has `i` (int64_t) or `s` (text or NULL) for each value. Returns 0, or -1 with error set.
 */
int query_execute(struct catalog *c, struct error *error, const char *sql, const char *types, ...);
/* Executes a prepared statement that gives no rows, and makes it ready for the next time. */
int query_step(struct catalog *c, struct sqlite3_stmt *s, struct error *error);
/* The first number of what a query finds. */
int64_t query_number(struct catalog *c, const char *sql, int64_t otherwise);
/* Sets error to what SQLite says. Returns -1. */
int query_failed(struct catalog *c, struct error *error);
/* Adds the functions that queries have: matches(GLOBS, TEXT), any_matches(GLOBS, HOSTS) of a list as host_list.h has
 * it, has_number(LIST, N), and application(NAME): the name that the policy gives to it (archive_applications). Globs
 * are separated by commas; "\," is a comma in one. */
void query_add_functions(struct catalog *c);

#endif
