/* SPDX-License-Identifier: BSD-3-Clause
 * arrivals - the traces that came into the archive since some time
 */
#include "archive/arrivals.h"

#include <sqlite3.h>
#include <stdio.h>

#include "archive/day.h"
#include "archive/metadata.h"
#include "archive/query.h"
#include "trace/read/summary.h"

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
	MPI,
	WAIT,
	PARTS,
	STREAMS,
	EFFICIENCY,
	LATE_RANK,
	LATE_NODE,
	VERDICT,
	ACCOUNT,
	PARTITION,
	QOS
};

/* Files of one user that are looked at: each is opened. */
#define USER_MOST 20000

/* A trace is in the folder of the day on which it arrived, which has an index; its time of arrival has none. Names of
 * days begin with a digit, and `:` is the character behind 9. */
static const char sql[] =
	"SELECT t.folder, t.name, t.user, application(t.application), t.uid, f.ctime, " CATALOG_NOTE
	", t.start_ns, t.end_ns, t.nodes, s.version, s.mpi_ns, s.wait_ns, s.parts_ns, s.streams, "
	"CASE WHEN s.run_peak_ns > 0 THEN s.computed_ns * 1.0 / s.run_peak_ns END, s.late_rank, s.late_node, "
	"s.verdict, "
	"t.account, t.partition, t.qos"
	" FROM (SELECT f.id AS id, row_number() OVER (PARTITION BY f.uid ORDER BY f.ctime, f.id) AS turn FROM text x "
	"CROSS JOIN stored_file f ON f.folder = x.id WHERE x.text >= ? AND x.text < ':' AND f.ctime >= ?) w CROSS JOIN "
	"stored_file f ON f.id = w.id CROSS JOIN trace t ON t.id = f.id LEFT JOIN summary s ON s.id = f.id WHERE "
	"w.turn <= ? AND s.problem IS NULL ORDER BY f.ctime, f.id";

static void read_figures(struct arrival *a, sqlite3_stmt *s)
{
	int64_t start = sqlite3_column_int64(s, START), end = sqlite3_column_int64(s, END);
	uint64_t wall = start > 0 && end > start ? (uint64_t)(end - start) : 0,
		 streams = (uint64_t)sqlite3_column_int64(s, STREAMS);
	double all = (double)summary_all((uint64_t)sqlite3_column_int64(s, PARTS), streams, wall),
	       nodes = (double)sqlite3_column_int64(s, NODES);
	a->elapsed = wall ? (double)wall * 1e-9 : -1;
	a->node_hours = streams ? all / (double)streams * (nodes > 1 ? nodes : 1) / 3600e9 : -1;
	a->mpi = all > 0 ? 100 * (double)sqlite3_column_int64(s, MPI) / all : -1;
	a->wait = all > 0 ? 100 * (double)sqlite3_column_int64(s, WAIT) / all : -1;
	a->efficiency =
		sqlite3_column_type(s, EFFICIENCY) == SQLITE_NULL ? -1 : 100 * sqlite3_column_double(s, EFFICIENCY);
	a->late_rank = sqlite3_column_type(s, LATE_RANK) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, LATE_RANK);
}

int arrivals_each(struct catalog *c, int64_t since_ns, int (*take)(void *context, const struct arrival *a),
                  void *context, struct error *error)
{
	char day[DAY_SIZE] = "";
	sqlite3_stmt *s = query_statement(c, sql, error);
	int rc = SQLITE_DONE, rv = 0;

	if (!s)
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
		                    .verdict = query_text(s, VERDICT)};
		read_figures(&a, s);
		rv = take(context, &a);
		json_decref(metadata);
	}
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(c, error);
	sqlite3_finalize(s);
	return rv;
}
