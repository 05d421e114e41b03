/* SPDX-License-Identifier: BSD-3-Clause
 * catalog_list - of the index of an archive: the traces that pass a filter, and the files that are damaged
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "archive/figure_row.h"
#include "archive/job_state.h"
#include "archive/query.h"

const char *const catalog_sorts[] = {"start", "job", "user", "ranks", "nodes", "size", "elapsed", "exe", NULL};

static const char *const sort_columns[] = {
	"t.start_ns", "t.job", "t.user", "t.ranks", "t.nodes", "t.size", "t.end_ns - t.start_ns", "t.exe_name"};

/* --- texts --- */

/* Texts of table text by their numbers, each asked for once: few rows have one that no other row has. */
struct known_texts {
	struct catalog *catalog;
	struct sqlite3_stmt *ask;
	char **list;
	int64_t count;
	bool failed;
};

/* No index has more; anybody may have written one. */
#define TEXTS_MOST (INT64_C(1) << 28)

static int open_texts(struct known_texts *x, struct catalog *c, struct error *error)
{
	const int64_t most = query_number(c, "SELECT max(id) FROM text", 0);
	*x = (struct known_texts){.catalog = c, .count = most < TEXTS_MOST ? most + 1 : TEXTS_MOST};
	x->list = calloc((size_t)x->count, sizeof *x->list);
	x->ask = query_statement(c, "SELECT text FROM text WHERE id = ?", error);
	return !x->ask ? -1 : x->list ? 0 : error_set(error, "out of memory");
}

static void close_texts(struct known_texts *x)
{
	for (int64_t i = 0; x->list && i < x->count; i++)
		free(x->list[i]);
	free(x->list);
	sqlite3_finalize(x->ask);
}

/* The text of a number that is in a column of a row; NULL and 0 are "". */
static const char *text_of(struct known_texts *x, sqlite3_stmt *s, int column)
{
	const int64_t id = sqlite3_column_int64(s, column);
	if (id <= 0 || id >= x->count)
		return "";
	if (x->list[id])
		return x->list[id];
	sqlite3_bind_int64(x->ask, 1, id);
	char *text = strdup(sqlite3_step(x->ask) == SQLITE_ROW ? query_text(x->ask, 0) : "");
	sqlite3_reset(x->ask);
	x->failed |= !text;
	x->list[id] = text;
	return text ? text : "";
}

/* --- rows --- */

/* As the view trace has it (tables.c), with one look for all three. */
#define SLURM(column)                                                                                            \
	"CASE WHEN k.job IS NULL THEN CASE WHEN EXISTS (SELECT 1 FROM slurm_job) THEN 0 ELSE r." #column " END " \
	"WHEN k.uid = r.uid THEN k." #column " ELSE 0 END"

/* Without ".spoor". */
#define NAME "substr(f.file, 1, length(f.file) - 6)"

static void build_list_query(struct query *q, const struct catalog_filter *f, bool notes)
{
	size_t sort = 0;

	while (f->sort && catalog_sorts[sort] && strcmp(catalog_sorts[sort], f->sort))
		sort++;
	if (!catalog_sorts[sort])
		sort = 0;
	query_append(
		q,
		"SELECT f.folder, " NAME ", r.user, r.state, r.exe, r.job_name, %s, f.size, t.job, t.start_ns, "
		"t.end_ns, t.ranks, t.nodes, r.reason, r.unended, t.uid, r.application, t.array_job, t.array_task, "
		"t.het_job_id, %s, t.partial, s.version, s.problem, s.sizes, s.cause%s FROM trace t "
		"JOIN stored_trace r USING (id) JOIN stored_file f USING (id) LEFT JOIN summary s USING (id) "
		"LEFT JOIN slurm_job k ON k.job = r.job AND k.cluster = r.cluster WHERE 1",
		notes ? CATALOG_NOTE : "NULL", SLURM(account) ", " SLURM(partition) ", " SLURM(qos),
		figure_row_selected);
	query_filter(q, f);
	bool descending = f->reverse != !f->sort;
	query_append(q, " ORDER BY %s%s, " NAME, sort_columns[sort], descending ? " DESC" : "");
	if (f->limit > 0)
		query_append(q, " LIMIT %lld", (long long)f->limit);
}

/* Of its summary, if that is there, and the trace could be read. */
static void read_figures(sqlite3_stmt *s, const struct catalog_row *r, double value[FIGURE_COLUMNS])
{
	uint64_t sizes[ACTIVITY_SIZES];
	const struct figure_run run = {
		.nodes = r->nodes > 0 ? (uint64_t)r->nodes : 0,
		.wall_ns = r->start_ns > 0 && r->end_ns > r->start_ns ? (uint64_t)r->end_ns - (uint64_t)r->start_ns : 0,
		.partial = sqlite3_column_int64(s, 23) != 0,
		.sizes = sizes};
	union figures f;

	for (int i = 0; i < FIGURE_COLUMNS; i++)
		value[i] = -1;
	if (sqlite3_column_type(s, 24) == SQLITE_NULL || sqlite3_column_type(s, 25) != SQLITE_NULL)
		return;
	figure_row_read_sizes(query_text(s, 26), sizes);
	figure_row_read(&f, s, 28);
	figure_values(&f, &run, value);
}

int catalog_list(struct catalog *c, const struct catalog_filter *filter, bool notes,
                 int (*row)(void *, const struct catalog_row *), void *context, struct error *error)
{
	struct query q = {.used = 0};
	sqlite3_stmt *s = NULL;
	int rv = 0, rc = SQLITE_DONE;

	struct known_texts texts;
	build_list_query(&q, filter, notes);
	if (open_texts(&texts, c, error) != 0 || query_prepare(&q, c, &s, error) != 0) {
		close_texts(&texts);
		return -1;
	}
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct catalog_row r = {.folder = text_of(&texts, s, 0),
		                        .name = query_text(s, 1),
		                        .user = text_of(&texts, s, 2),
		                        .state = text_of(&texts, s, 3),
		                        .exe = text_of(&texts, s, 4),
		                        .job_name = text_of(&texts, s, 5),
		                        .note = query_text(s, 6),
		                        .size = (uint64_t)sqlite3_column_int64(s, 7),
		                        .job = sqlite3_column_int64(s, 8),
		                        .start_ns = sqlite3_column_int64(s, 9),
		                        .end_ns = sqlite3_column_int64(s, 10),
		                        .ranks = sqlite3_column_int64(s, 11),
		                        .nodes = sqlite3_column_int64(s, 12),
		                        .reason = text_of(&texts, s, 13),
		                        .unended = text_of(&texts, s, 14),
		                        .cause = query_text(s, 27),
		                        .uid = sqlite3_column_int64(s, 15),
		                        .application = text_of(&texts, s, 16),
		                        .array_job = sqlite3_column_int64(s, 17),
		                        .array_task = sqlite3_column_int64(s, 18),
		                        .het_job = sqlite3_column_int64(s, 19),
		                        .account = text_of(&texts, s, 20),
		                        .partition = text_of(&texts, s, 21),
		                        .qos = text_of(&texts, s, 22)};
		r.state = job_state_word(r.state, r.reason);
		read_figures(s, &r, r.figures);
		rv = texts.failed ? error_set(error, "out of memory") : row(context, &r);
	}
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(c, error);
	sqlite3_finalize(s);
	close_texts(&texts);
	return rv;
}

size_t catalog_troubles(struct catalog *c, size_t most, void (*tell)(void *context, const char *text), void *context,
                        size_t *unreadable)
{
	sqlite3_stmt *s = query_statement(
		c,
		"SELECT problem FROM (SELECT id, folder, file, row_number() OVER (PARTITION BY uid ORDER BY folder, "
		"file) turn FROM damage CROSS JOIN file USING (id)) JOIN damage USING (id) ORDER BY turn, folder, file "
		"LIMIT ?",
		NULL);

	*unreadable = (size_t)query_number(c, "SELECT sum(unreadable) FROM folder", 0);
	if (s)
		sqlite3_bind_int64(s, 1, (int64_t)most);
	while (s && sqlite3_step(s) == SQLITE_ROW)
		tell(context, query_text(s, 0));
	sqlite3_finalize(s);
	return (size_t)query_number(c, "SELECT count(*) FROM damage", 0);
}
