/* SPDX-License-Identifier: BSD-3-Clause
 * series_run - what the index knows of a run
 */
#include "archive/series_run.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/calls.h"
#include "archive/figure_row.h"
#include "archive/query.h"

static char *function_name(struct catalog *c, int64_t text, struct error *error)
{
	sqlite3_stmt *s = query_kept(c, "SELECT text FROM text WHERE id = ?", error);
	if (!s)
		return NULL;
	sqlite3_bind_int64(s, 1, text);
	char *name = strdup(sqlite3_step(s) == SQLITE_ROW ? query_text(s, 0) : "");
	sqlite3_reset(s);
	return name;
}

static int read_functions(struct series_figures *f, struct catalog *c, const void *bytes, size_t size,
                          struct error *error)
{
	struct calls_reader reader = calls_reader_of(bytes, size);
	struct calls_part sum;
	int rv;
	f->functions = calloc(DIGEST_FUNCTIONS, sizeof *f->functions);
	if (!f->functions)
		return error_set(error, "out of memory");
	while (f->count < DIGEST_FUNCTIONS && (rv = calls_next_function(&reader, &sum)) == 0) {
		struct series_function *to = &f->functions[f->count++];
		*to = (struct series_function){function_name(c, sum.function, error), sum.calls};
		if (!to->name)
			return error_set(error, "out of memory");
	}
	return 0; /* of bytes that are none, nothing more is known */
}

int series_run_read(struct series_figures *f, struct catalog *c, int64_t id, struct error *error)
{
	char sql[1024];
	*f = (struct series_figures){.count = 0};
	snprintf(sql, sizeof sql,
	         "SELECT c.packed%s FROM summary s LEFT JOIN calls c USING (id) WHERE s.id = ? AND s.problem IS NULL",
	         figure_row_selected);
	sqlite3_stmt *s = query_kept(c, sql, error);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, id);
	int rc = sqlite3_step(s), rv = rc == SQLITE_ROW ? 0 : 1;
	if (rc == SQLITE_ROW) {
		figure_row_read(&f->figures, s, 1);
		rv = read_functions(f, c, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), error);
	} else if (rc != SQLITE_DONE) {
		rv = query_failed(c, error);
	}
	sqlite3_reset(s);
	return rv;
}

void series_run_free(struct series_figures *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->functions[i].name);
	free(f->functions);
	*f = (struct series_figures){.count = 0};
}
