/* SPDX-License-Identifier: BSD-3-Clause
 * figure_row - the figures of a trace as columns of table summary
 */
#include "archive/figure_row.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

const char figure_row_selected[] =
#define FIGURE(ID, key, ...) ", s." #key
#include "insight/figures.def"
	;

void figure_row_read(union figures *f, sqlite3_stmt *s, int column)
{
	for (int i = 0; i < FIGURES; i++) {
		int64_t n = sqlite3_column_int64(s, column + i);
		f->number[i] = n > 0 ? (uint64_t)n : 0;
	}
}

void figure_row_bind(const union figures *f, sqlite3_stmt *s, int at)
{
	for (int i = 0; i < FIGURES; i++)
		sqlite3_bind_int64(s, at + i, f->number[i] > INT64_MAX ? INT64_MAX : (int64_t)f->number[i]);
}

void figure_row_write_sizes(char out[FIGURE_ROW_SIZES], const uint64_t sizes[ACTIVITY_SIZES])
{
	size_t n = 0;

	out[0] = '\0';
	for (int i = 0; i < ACTIVITY_SIZES; i++)
		if (sizes[i])
			n += (size_t)snprintf(out + n, FIGURE_ROW_SIZES - n, "%s%d:%" PRIu64, n ? " " : "", i,
			                      sizes[i]);
}

void figure_row_read_sizes(const char *text, uint64_t sizes[ACTIVITY_SIZES])
{
	unsigned class;
	uint64_t count;
	int used;

	memset(sizes, 0, ACTIVITY_SIZES * sizeof *sizes);
	for (; sscanf(text, "%u:%" SCNu64 "%n", &class, &count, &used) == 2; text += used)
		if (class < ACTIVITY_SIZES)
			sizes[class] += count;
}

/* --- an older index --- */

static bool has_column(struct catalog *c, const char *key)
{
	sqlite3_stmt *s = query_statement(c, "SELECT 1 FROM pragma_table_info('summary') WHERE name = ?", NULL);
	if (s)
		sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
	bool has = s && sqlite3_step(s) == SQLITE_ROW;
	sqlite3_finalize(s);
	return has;
}

bool figure_row_complete(struct catalog *c)
{
	for (int i = 0; i < FIGURES; i++)
		if (!has_column(c, figure_names[i].key))
			return false;
	return true;
}

int figure_row_complete_now(struct catalog *c, struct error *error)
{
	char sql[128];
	int rv = query_execute(c, error, "BEGIN IMMEDIATE", "");

	if (rv)
		return -1;
	for (int i = 0; i < FIGURES && rv == 0; i++)
		if (!has_column(c, figure_names[i].key)) {
			snprintf(sql, sizeof sql, "ALTER TABLE summary ADD COLUMN %s INTEGER", figure_names[i].key);
			rv = query_execute(c, error, sql, "");
		}
	rv = rv || query_execute(c, error, "UPDATE about SET value = 0 WHERE name = 'digest'", "") ||
	                     query_execute(c, error, "UPDATE summary SET version = 0", "") ||
	                     query_execute(c, error, "DELETE FROM day_sum", "")
	             ? -1
	             : 0;
	return query_execute(c, rv ? NULL : error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
}
