/* SPDX-License-Identifier: BSD-3-Clause
 * figure_row - the figures of a trace (insight/figure.h) as columns of table summary
 */
#ifndef SPOOR_FIGURE_ROW_H
#define SPOOR_FIGURE_ROW_H

#include "archive/query.h"
#include "insight/figure.h"
#include "trace/read/activity.h"

/* ", s.ranks, s.events, ...": to be selected, FIGURES of them. */
extern const char figure_row_selected[];

/* Reads them from a row, from this column on. What is NULL or negative is 0. */
void figure_row_read(union figures *f, struct sqlite3_stmt *s, int column);
/* Binds them from this question mark on. What is too large for SQLite becomes its largest number. */
void figure_row_bind(const union figures *f, struct sqlite3_stmt *s, int at);

/* "CLASS:COUNT CLASS:COUNT ...": messages by size class, as column sizes has them. Longer texts are cut. */
#define FIGURE_ROW_SIZES (ACTIVITY_SIZES * 24)
void figure_row_write_sizes(char out[FIGURE_ROW_SIZES], const uint64_t sizes[ACTIVITY_SIZES]);
void figure_row_read_sizes(const char *text, uint64_t sizes[ACTIVITY_SIZES]);

/* Has table summary of this index all columns? One that an older spoor made may lack some. */
bool figure_row_complete(struct catalog *c);
/* Adds those that it lacks; then no digest is of this version. Returns 0, or -1 with error set. */
int figure_row_complete_now(struct catalog *c, struct error *error);

#endif
