/* SPDX-License-Identifier: BSD-3-Clause
 * waited - unit test of archive/waited.c: the jobs that waited most, in order, out of an index alone
 */
#include "archive/waited.h"

#include <sqlite3.h>

#include "tests/unit/runs.h"

/* A trace of a job whose ranks waited so long in all. */
static void put_waiting(int job, int64_t wait_ns, int nodes, const char *problem)
{
	struct error error = {""};
	char more[40];
	snprintf(more, sizeof more, ", \"nodes\": %d", nodes);
	int64_t id = put_run("/opt/app", "", 4, more, 1, 1000);
	query_execute(c, &error, "UPDATE stored_trace SET job = ? WHERE id = ?", "ii", (int64_t)job, id);
	query_execute(c, &error,
	              "INSERT OR REPLACE INTO summary (id, version, wait_ns, streams, problem) VALUES (?, ?, ?, 4, ?)",
	              "iiis", id, (int64_t)digest_version(), wait_ns, problem);
	if (*error.text)
		printf("# %s\n", error.text);
}

static void test_order(void)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	struct error error = {""};
	put_waiting(101, 0, 1, NULL);
	ok(waited_narrow(&f, c, 3, &error) == 0 && f.jobs.count == 0, "no job waited: the filter stays as it is");
	put_waiting(102, 1000, 1, NULL);
	put_waiting(103, 600, 1, NULL);
	put_waiting(103, 600, 1, NULL);
	put_waiting(104, 900, 2, NULL); /* on two nodes, with as many ranks */
	put_waiting(105, INT64_MAX, 1, "damaged");
	ok(waited_narrow(&f, c, 3, &error) == 0 && f.jobs.count == 3 && f.jobs.items[0].job == 104 &&
	           f.jobs.items[1].job == 103 && f.jobs.items[2].job == 102,
	   "node time of all traces of a job; not of a damaged one %s", error.text);
	ok(waited_narrow(&f, c, 1, &error) == 0 && f.jobs.count == 3, "a filter that names jobs stays as it is");
	f.jobs.count = 0;
	f.user = "nobody";
	ok(waited_narrow(&f, c, 3, &error) == 0 && f.jobs.count == 0, "other conditions of the filter hold");
	f.user = NULL;
	ok(waited_narrow(&f, c, 1000, &error) == 0 && f.jobs.count == 3, "no more than a filter may name");
	put_waiting(106, INT64_MAX, 1000, NULL);
	put_waiting(106, INT64_MAX, 1000, NULL);
	f.jobs.count = 0;
	ok(waited_narrow(&f, c, 1, &error) == 0 && f.jobs.items[0].job == 106, "more than a number holds %s",
	   error.text);
}

static void test_plan(void)
{
	struct error error = {""};
	sqlite3_stmt *s = query_statement(
		c,
		"EXPLAIN QUERY PLAN SELECT t.job FROM trace t WHERE t.waited_ns > 0 AND (t.start_ns >= 1) GROUP BY "
		"t.job ORDER BY total(t.waited_ns) DESC LIMIT 3",
		&error);
	bool covering = false;
	while (s && sqlite3_step(s) == SQLITE_ROW)
		covering = covering || strstr(query_text(s, 3), "COVERING INDEX trace_waited");
	sqlite3_finalize(s);
	ok(covering, "no row is read");
}

int main(void)
{
	c = catalog_empty();
	test_order();
	test_plan();
	catalog_close(c);
	return tap_end();
}
