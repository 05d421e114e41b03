/* SPDX-License-Identifier: BSD-3-Clause
 * call_list - the call sites of traces, as the index keeps them
 */
#include "archive/call_list.h"

#include <sqlite3.h>

#include "archive/calls.h"
#include "archive/query.h"

enum { NAME, USER, APPLICATION, JOB, START, NODES, STREAMS, PACKED };

struct listing {
	struct catalog *catalog;
	int (*row)(void *context, const struct call_row *);
	void *context;
	struct error *error;
};

static void find_figures(const struct calls_part *p, sqlite3_stmt *s, double value[FIGURE_COLUMNS])
{
	uint128 sum[FIGURE_SUMS] = {0};
	int64_t nodes = sqlite3_column_int64(s, NODES), streams = sqlite3_column_int64(s, STREAMS);
	figure_sums_add_calls(&p->calls, nodes > 0 ? (uint64_t)nodes : 0, streams > 0 ? (uint64_t)streams : 0, sum);
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		value[i] = figure_columns[i].calls ? figure_value((enum figure_column)i, sum, true, 0) : -1;
}

/* One part, with its names. */
static int tell_part(const struct listing *l, sqlite3_stmt *s, const struct calls_part *p)
{
	sqlite3_stmt *place = query_kept(l->catalog, "SELECT function, frames FROM place WHERE place = ?", l->error);
	sqlite3_stmt *text = query_kept(l->catalog, "SELECT text FROM text WHERE id = ?", l->error);
	struct call_row r = {.name = query_text(s, NAME),
	                     .user = query_text(s, USER),
	                     .application = query_text(s, APPLICATION),
	                     .job = sqlite3_column_int64(s, JOB),
	                     .start_ns = sqlite3_column_int64(s, START),
	                     .site = p->place ? (int64_t)p->site : -1};
	if (!place || !text)
		return -1;
	sqlite3_bind_int64(place, 1, p->place);
	sqlite3_bind_int64(text, 1, p->function);
	const bool named = p->place && sqlite3_step(place) == SQLITE_ROW;
	r.function = sqlite3_step(text) == SQLITE_ROW ? query_text(text, 0) : "";
	r.frames = named ? query_text(place, 1) : "";
	find_figures(p, s, r.figures);
	int rv = l->row(l->context, &r);
	sqlite3_reset(place);
	sqlite3_reset(text);
	return rv;
}

static int tell_calls(const struct listing *l, sqlite3_stmt *s)
{
	struct calls_reader r =
		calls_reader_of(sqlite3_column_blob(s, PACKED), (size_t)sqlite3_column_bytes(s, PACKED));
	struct calls_part part;
	int rv = 0;
	while (rv == 0 && calls_next(&r, &part) == 0)
		rv = tell_part(l, s, &part);
	return rv;
}

int call_list(struct catalog *c, const struct catalog_filter *filter, int (*row)(void *, const struct call_row *),
              void *context, struct error *error)
{
	const struct listing l = {c, row, context, error};
	struct query q = {.used = 0};
	sqlite3_stmt *s;
	int rv = 0, rc = SQLITE_DONE;
	query_append(&q, "SELECT t.name, t.user, application(t.application), t.job, t.start_ns, t.nodes, s.streams, "
	                 "c.packed FROM trace t JOIN summary s USING (id) JOIN calls c USING (id) WHERE 1");
	query_and(&q, "s.problem IS NULL AND s.version = ?", NULL, digest_version());
	query_filter(&q, filter);
	query_append(&q, " ORDER BY t.start_ns, t.name");
	if (query_prepare(&q, c, &s, error) != 0)
		return -1;
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW)
		rv = tell_calls(&l, s);
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(c, error);
	sqlite3_finalize(s);
	return rv;
}
