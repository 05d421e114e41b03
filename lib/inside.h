/* SPDX-License-Identifier: BSD-3-Clause
 * inside - what the files of libspoor share: what is behind its opaque structures
 */
#ifndef SPOOR_LIB_INSIDE_H
#define SPOOR_LIB_INSIDE_H

#include "lib/spoor.h"
#include "trace/base/budget.h"
#include "trace/file/container.h"
#include "trace/model/trace.h"
#include "trace/read/interleave.h"
#include "trace/read/timeline.h"
#include "trace/read/walk.h"

struct function {
	char *name;
	char *columns[SCHEMA_MAX]; /* with a NUL */
};

struct spoor_trace {
	struct container *container;
	struct trace trace;
	struct function *functions; /* by trace.functions */
	char *metadata;
};

struct spoor_walk {
	const struct spoor_trace *trace;
	struct walk *walk;             /* of one thread; NULL: */
	struct interleave *interleave; /* of all of a rank's; its last event: */
	struct interleaved interleaved;
	struct event event;
	uint32_t stream;
	struct timeline *times; /* opened when they are asked for first */
	uint64_t asked;         /* events whose times were asked for */
};

/* Fills a caller's error text, if there is room for one. */
void inside_say(char *error, const char *text);
/* The stream of a rank and thread; a number that no stream has if there is no such rank or thread. */
uint32_t inside_stream(const struct spoor_trace *t, uint32_t rank, uint32_t thread);
/* A string of the trace, "" if there is no such number. */
const char *inside_string(const struct trace *t, int64_t number);

/* ns in calls of a site that never ended. */
uint64_t inside_unended(const struct trace *t, uint32_t site);

/* The next event of a walk, which is then in it. Returns as spoor_walk_next. */
int inside_step(struct spoor_walk *w, char *text);

/* --- tables (lib/table.c) ---
 *
 *     t = table_create(columns, 5);
 *     for each row: table_row(t), table_integer(t, SITE, 5), ...       what is not put is 0, NaN or ""
 *     return table_done(t, error);
 *
 * Without memory nothing is put any more, and table_done says so.
 */

struct table_column {
	const char *name;
	enum spoor_type type;
};
/* A table with these columns, whose numbers are their places. NULL on no memory, which all of the following take. */
struct spoor_table *table_create(const struct table_column *columns, uint32_t n);
/* Adds one before the first row. `name` is not copied. Returns its number. */
uint32_t table_column(struct spoor_table *t, const char *name, enum spoor_type type);
void table_row(struct spoor_table *t);
/* Puts a value into the last row, at most once. */
void table_integer(struct spoor_table *t, uint32_t column, uint64_t value);
void table_number(struct spoor_table *t, uint32_t column, double value);
void table_text(struct spoor_table *t, uint32_t column, const char *text);
/* Returns the table, or NULL with `error` set, when it is freed: on no memory. */
struct spoor_table *table_done(struct spoor_table *t, char *error);

/* What reading costs at most: as of commands that look at all events. To be begun, then: */
struct budget inside_budget(void);
/* Ends it. Returns the table; or NULL, with `error` set and the table freed, if the limit has been reached, or if
 * something failed (NULL: nothing did). */
struct spoor_table *inside_finish(struct spoor_table *t, struct budget *budget, const struct error *failed,
                                  char *error);
extern const struct error inside_no_memory;

#endif
