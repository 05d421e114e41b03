/* SPDX-License-Identifier: BSD-3-Clause
 * arrivals - the traces that came into the archive since some time
 */
#include "archive/arrivals.h"

#include <sqlite3.h>
#include <stdio.h>

#include "archive/day.h"
#include "archive/figure_row.h"
#include "archive/metadata.h"
#include "archive/query.h"

enum {
	FOLDER,
	NAME,
	USER,
	APPLICATION,
	OWNER,
	ARRIVED,
	NOTE,
	START,
	END,
	NODES,
	MADE,
	PARTIAL,
	SIZES,
	LATE_RANK,
	LATE_NODE,
	VERDICT,
	CAUSE,
	ACCOUNT,
	PARTITION,
	QOS,
	NUMBERS
};

/* Files of one user that are looked at: each is opened. */
#define USER_MOST 20000

/* A trace is in the folder of the day on which it arrived, which has an index; its time of arrival has none. Names of
 * days begin with a digit, and `:` is the character behind 9. */
static const char first[] =
	"SELECT t.folder, t.name, t.user, application(t.application), t.uid, f.ctime, " CATALOG_NOTE
	", t.start_ns, t.end_ns, t.nodes, s.version, t.partial, s.sizes, s.late_rank, s.late_node, s.verdict, s.cause, "
	"t.account, t.partition, t.qos";
static const char rest[] =
	" FROM (SELECT f.id AS id, row_number() OVER (PARTITION BY f.uid ORDER BY f.ctime, f.id) AS turn FROM text x "
	"CROSS JOIN stored_file f ON f.folder = x.id WHERE x.text >= ? AND x.text < ':' AND f.ctime >= ?) w CROSS JOIN "
	"stored_file f ON f.id = w.id CROSS JOIN trace t ON t.id = f.id LEFT JOIN summary s ON s.id = f.id WHERE "
	"w.turn <= ? AND s.problem IS NULL ORDER BY f.ctime, f.id";

static void read_figures(struct arrival *a, sqlite3_stmt *s)
{
	int64_t start = sqlite3_column_int64(s, START), end = sqlite3_column_int64(s, END);
	uint64_t wall = start > 0 && end > start ? (uint64_t)(end - start) : 0, sizes[ACTIVITY_SIZES];
	const struct figure_run run = {.nodes = (uint64_t)sqlite3_column_int64(s, NODES),
	                               .wall_ns = wall,
	                               .partial = sqlite3_column_int64(s, PARTIAL) != 0,
	                               .sizes = sizes};
	union figures f;

	figure_row_read(&f, s, NUMBERS);
	figure_row_read_sizes(query_text(s, SIZES), sizes);
	figure_values(&f, &run, a->figures);
	a->elapsed = wall ? (double)wall * 1e-9 : -1;
	a->late_rank = sqlite3_column_type(s, LATE_RANK) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, LATE_RANK);
}

int arrivals_each(struct catalog *c, int64_t since_ns, int (*take)(void *context, const struct arrival *a),
                  void *context, struct error *error)
{
	char day[DAY_SIZE] = "";
	sqlite3_stmt *s = NULL;
	struct query q = {.used = 0};
	int rc = SQLITE_DONE, rv = 0;

	query_append(&q, "%s%s%s", first, figure_row_selected, rest);
	if (query_prepare(&q, c, &s, error) != 0)
		return -1;
	day_of(since_ns / 1000000000 - 86400, day); /* the clocks of nodes and of file servers differ */
	sqlite3_bind_text(s, 1, day, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, since_ns);
	sqlite3_bind_int64(s, 3, USER_MOST);
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		char path[2 * PATH_MAX];
		struct error gone;
		snprintf(path, sizeof path, "%s/%s/%s.spoor", c->archive, query_text(s, FOLDER), query_text(s, NAME));
		struct metadata_sure sure = {query_text(s, USER), query_text(s, ACCOUNT), query_text(s, PARTITION),
		                             query_text(s, QOS)};
		json_t *metadata = metadata_read_noted(path, query_text(s, NAME), sqlite3_column_int64(s, OWNER), &sure,
		                                       query_text(s, NOTE), &gone);
		if (!metadata)
			continue;
		struct arrival a = {.folder = query_text(s, FOLDER),
		                    .name = query_text(s, NAME),
		                    .user = query_text(s, USER),
		                    .application = query_text(s, APPLICATION),
		                    .uid = sqlite3_column_int64(s, OWNER),
		                    .arrived = sqlite3_column_int64(s, ARRIVED),
		                    .metadata = metadata,
		                    .known = sqlite3_column_type(s, MADE) != SQLITE_NULL,
		                    .late_node = query_text(s, LATE_NODE),
		                    .verdict = query_text(s, VERDICT),
		                    .cause = query_text(s, CAUSE)};
		read_figures(&a, s);
		rv = take(context, &a);
		json_decref(metadata);
	}
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(c, error);
	sqlite3_finalize(s);
	return rv;
}
