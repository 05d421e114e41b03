/* SPDX-License-Identifier: BSD-3-Clause
 * suite_index - the runs of an archive, out of the index
 */
#include "archive/suite_index.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

#include "archive/digest.h"
#include "archive/query.h"

#define NS_PER_HOUR 3.6e12

/* Of a query with one max(), SQLite takes the other columns from the row that has it. */
static const char columns[] = "SELECT t.id, application(t.application) AS a, t.ranks, t.nodes, count(*), "
			      "sum(1.0 * s.run_ns * max(t.nodes, 1)) AS cost, max(1.0 * s.run_ns * max(t.nodes, 1)), "
			      "s.run_ns, s.mpi_ns, s.compute_ns, s.wait_ns, s.messages, s.bytes, s.events, "
			      "s.computed_ns * 1.0 / s.compute_peak_ns "
			      "FROM trace t JOIN summary s USING (id) WHERE 1";
enum column {
	ID,
	APPLICATION,
	RANKS,
	NODES,
	RUNS,
	COST,
	LONGEST,
	RUN,
	MPI,
	COMPUTE,
	WAIT,
	MESSAGES,
	BYTES,
	EVENTS,
	BALANCE
};

static double number_at(sqlite3_stmt *s, enum column column)
{
	double x = sqlite3_column_double(s, column);
	return isfinite(x) && x > 0 ? x : 0;
}

/* Where the run is: each number is from 0 to 1 in nearly all programs. */
static void place_run(sqlite3_stmt *s, struct suite_run *run)
{
	double all = number_at(s, MPI) + number_at(s, COMPUTE), messages = number_at(s, MESSAGES),
	       seconds = fmax(1e-3, number_at(s, RUN) * 1e-9 * fmax(1, number_at(s, RANKS)));
	const double features[SUITE_FEATURES] = {
		all > 0 ? number_at(s, COMPUTE) / all : 0,
		all > 0 ? number_at(s, WAIT) / all : 0,
		messages > 0 ? log2(1 + number_at(s, BYTES) / messages) / 24 : 0,
		log10(1 + messages / seconds) / 6,
		log10(1 + number_at(s, EVENTS) / seconds) / 6,
		log2(1 + number_at(s, RANKS)) / 16,
		number_at(s, BALANCE),
	};
	for (int i = 0; i < SUITE_FEATURES; i++)
		run->features[i] = features[i];
	run->weight = number_at(s, COST) / NS_PER_HOUR;
}

int suite_index_read(struct catalog *c, const struct catalog_filter *filter, struct suite_group *groups,
                     struct suite_run *runs, double *all, struct error *error)
{
	struct query q = {.used = 0};
	sqlite3_stmt *s = NULL;
	int n = 0, rc = SQLITE_DONE;
	*all = 0;
	query_append(&q, "%s", columns);
	query_filter(&q, filter);
	query_and(&q, "s.problem IS NULL AND s.version = ? AND s.run_ns > 0", NULL, digest_version());
	query_append(&q, " AND NOT t.partial AND t.state IN ('COMPLETED', '') "
	                 "GROUP BY a, t.ranks, t.arguments ORDER BY cost DESC, t.id");
	if (query_prepare(&q, c, &s, error) != 0)
		return -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		*all += number_at(s, COST) / NS_PER_HOUR;
		if (n == SUITE_RUNS)
			continue;
		struct suite_group *g = &groups[n];
		*g = (struct suite_group){.id = sqlite3_column_int64(s, ID),
		                          .ranks = sqlite3_column_int64(s, RANKS),
		                          .nodes = sqlite3_column_int64(s, NODES),
		                          .runs = sqlite3_column_int64(s, RUNS)};
		snprintf(g->application, sizeof g->application, "%s", query_text(s, APPLICATION));
		place_run(s, &runs[n++]);
	}
	if (rc != SQLITE_DONE)
		n = query_failed(c, error);
	sqlite3_finalize(s);
	return n;
}
