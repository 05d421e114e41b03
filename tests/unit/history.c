/* SPDX-License-Identifier: BSD-3-Clause
 * history - unit test of archive/history.c: which runs are alike, what changed between them, and nodes
 */
#include "archive/history.h"

#include <math.h>
#include <sqlite3.h>

#include "tests/unit/packed.h"
#include "tests/unit/runs.h"

struct seen {
	unsigned count;
	char text[400];
};

static int see_history(void *context, const struct history *h)
{
	struct seen *s = context;
	size_t n = strlen(s->text);
	snprintf(s->text + n, sizeof s->text - n, "%s:%d:%zu:%.0f ", h->application, (int)h->ranks, h->count,
	         h->runs[h->count - 1].seconds);
	s->count++;
	return 0;
}

static void test_alike(void)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	struct error error = {""};
	struct seen s = {0, ""};
	for (int i = 1; i <= 3; i++) {
		put_run("/opt/halo", ", \"in\"", 4, "", i, 1000 + 10 * i);
		put_run("/opt/halo", ", \"in\"", 4, "", 10 * i, 5000);
		put_run("/opt/halo", ", \"in\"", 8, "", i, 1000);
		put_run("/opt/halo", ", \"other\"", 4, "", i, 1000);
		put_run("/usr/bin/python3.11", ", \"-m\", \"/home/solve.py\", \"-x\"", 4, "", i, 1000);
		put_run("/usr/lib/R/bin/exec/R", ", \"--no-echo\", \"--file=a/fit.R\"", 2, "", i, 7);
	}
	put_run("/opt/halo", ", \"in\"", 4, ", \"partial\": 1", 99, 1000);
	put_run("/opt/halo", ", \"in\"", 4, ", \"state\": \"FAILED\"", 99, 1000);
	put_run("/opt/once", "", 4, "", 1, 1000);
	ok(history_each(c, &f, 2, see_history, &s, &error) == 0 && s.count == 6, "six histories: %s%s", s.text,
	   error.text);
	ok(strstr(s.text, "halo:4:3:3 ") && strstr(s.text, "halo:4:3:30 ") && strstr(s.text, "halo:8:3:3 "),
	   "by input and ranks, the latest last, without partial and failed ones");
	ok(strstr(s.text, "solve.py:4:3:3 ") && strstr(s.text, "fit.R:2:3:3 "), "scripts by their names");
	s = (struct seen){0, ""};
	f.exe = "solve.*";
	ok(history_each(c, &f, 2, see_history, &s, &error) == 0 && s.count == 1, "--exe finds a script: %s", s.text);
}

/* Runs are read out of an index, in its order, without their rows: those are all over the file. */
static void test_plan(void)
{
	static const char plan[] =
		"EXPLAIN QUERY PLAN SELECT ranks, arguments, start_ns, run_ns, events, id FROM stored_trace r WHERE "
		"run_ns > 0 AND NOT partial AND (start_ns >= 1) AND (state IN (0, 7)) AND application IN (?) ORDER BY "
		"ranks, arguments, start_ns";
	struct error error = {""};
	sqlite3_stmt *s = query_statement(c, plan, &error);
	bool covering = false, sorted = false;
	while (s && sqlite3_step(s) == SQLITE_ROW) {
		covering = covering || strstr(query_text(s, 3), "COVERING INDEX trace_alike (application=?");
		sorted = sorted || strstr(query_text(s, 3), "B-TREE");
	}
	sqlite3_finalize(s);
	ok(covering && !sorted, "runs are in one stretch of an index");
}

/* What a digest says of a run is what its history says, and so is a later one that says nothing. */
static void test_again(void)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	struct error error = {""};
	struct seen s = {0, ""};
	int64_t id = 0;
	f.exe = "again";
	for (int i = 0; i < 3; i++)
		id = put_run("/opt/again", "", 4, "", 5, 1000);
	query_execute(c, &error, "INSERT OR REPLACE INTO summary (id, version, run_ns, events) VALUES (?, ?, ?, ?)",
	              "iiii", id, (int64_t)digest_version(), INT64_C(7000000000), INT64_C(1000));
	ok(history_each(c, &f, 2, see_history, &s, &error) == 0 && !strcmp(s.text, "again:4:3:7 "), "read again: %s",
	   s.text);
	s = (struct seen){0, ""};
	query_execute(c, &error, "INSERT OR REPLACE INTO summary (id, version, problem) VALUES (?, ?, 'cut')", "ii", id,
	              (int64_t)digest_version());
	ok(history_each(c, &f, 2, see_history, &s, &error) == 0 && !strcmp(s.text, "again:4:2:5 "), "damaged since: %s",
	   s.text);
	query_execute(c, &error, "DELETE FROM stored_file", "");
}

static void one_name(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	if (!strncmp((const char *)sqlite3_value_text(values[0]), "lmp", 3))
		sqlite3_result_text(context, "LAMMPS", -1, SQLITE_STATIC);
	else
		sqlite3_result_value(context, values[0]);
}

/* Runs of programs that the policy gives one name are alike, in the order of time. */
static void test_names(void)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	struct error error = {""};
	struct seen s = {0, ""};
	f.exe = "lmp*";
	for (int i = 1; i <= 3; i++) {
		put_run("/opt/lmp_mpi", "", 4, "", i, 1000);
		put_run("/opt/lmp_serial", "", 4, "", 10 * i, 1000);
		put_run("/opt/lmp_mpi", "", 8, "", i, 1000);
	}
	sqlite3_create_function(c->db, "application", 1, SQLITE_UTF8, NULL, one_name, NULL, NULL);
	ok(history_each(c, &f, 2, see_history, &s, &error) == 0 && !strcmp(s.text, "LAMMPS:4:6:30 LAMMPS:8:3:3 "),
	   "two programs of one name: %s", s.text);
	query_add_functions(c);
	query_execute(c, &error, "DELETE FROM stored_file", "");
}

/* MPI_Send and MPI_Recv of a run, at these places. */
static void put_sites(int64_t id, const int64_t places[2], double send, double receive)
{
	char *names[] = {"MPI_Send", "MPI_Recv"};
	const double seconds[] = {send, receive};
	struct digest_function functions[2];
	struct digest_site sites[2];
	struct digest d = {.functions = functions, .sites = sites, .function_count = 2, .site_count = 2};
	int64_t ids[2];
	for (int i = 0; i < 2; i++) {
		union figure_calls calls = {.calls = 1, .ns = (uint64_t)(seconds[i] * 4e9)};
		functions[i] = (struct digest_function){names[i], calls};
		sites[i] = (struct digest_site){(uint32_t)(3 + 2 * i), names[i], 0, "f", calls};
		query_execute(c, NULL, "INSERT OR IGNORE INTO text (text) VALUES (?)", "s", names[i]);
		ids[i] = query_number(c,
		                      i ? "SELECT id FROM text WHERE text = 'MPI_Recv'"
		                        : "SELECT id FROM text WHERE text = 'MPI_Send'",
		                      0);
		query_execute(c, NULL,
		              "INSERT OR IGNORE INTO place (place, identity, function, frames) VALUES (?, ?, ?, 'f')",
		              "iis", places[i], places[i], names[i]);
	}
	put_calls(c, id, &d, ids, places);
}

static void test_cause(void)
{
	struct history_run runs[2][4];
	struct history_cause cause;
	struct error error = {""};
	char path[200];
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 4; i++) {
			int64_t id = put_run("/opt/cause", "", 4, "", 10, 100);
			runs[side][i] = (struct history_run){.id = id};
			put_sites(id, (const int64_t[]){70, 71}, side ? 1.4 : 1, side ? 1.9 : 2);
		}
	int rv = history_cause(c, runs[0], 4, runs[1], 4, true, &cause, &error);
	ok(rv == 0 && !strcmp(cause.what, "MPI_Send") && cause.site == 3 && fabs(cause.before - 1) < 1e-9 &&
	           fabs(cause.after - 1.4) < 1e-9,
	   "the site that takes longer: %s %g %g %s", cause.what, cause.before, cause.after, error.text);
	ok(history_path(c, cause.id, path, sizeof path) == 0 && strstr(path, ".spoor"), "and a run that has it: %s",
	   path);
	ok(history_cause(c, runs[0], 4, runs[1], 4, false, &cause, &error) == 0 && !strcmp(cause.what, "MPI_Recv"),
	   "the site that takes less");
	for (int i = 0; i < 4; i++)
		put_sites(runs[1][i].id, (const int64_t[]){72, 71}, 1.4, 1.9);
	ok(history_cause(c, runs[0], 4, runs[1], 4, true, &cause, &error) == 0 && !strcmp(cause.what, "MPI_Send") &&
	           cause.site == -1 && fabs(cause.before - 1) < 1e-9,
	   "another program file: by function");
	for (int i = 0; i < 4; i++)
		query_execute(c, NULL, "UPDATE summary SET compute_ns = 9 * compute_ns WHERE id = ?", "i",
		              runs[1][i].id);
	ok(history_cause(c, runs[0], 4, runs[1], 4, true, &cause, &error) == 0 && !strcmp(cause.what, "computation"),
	   "computation");
	ok(history_path(c, 99999, path, sizeof path) == -1, "no such run");
}

/* Jobs on n1 to n4; on n2 ranks are late. Half of them know its neighbours only. */
static void test_nodes(void)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	struct history_node *nodes = NULL;
	size_t count = 0;
	struct error error = {""};
	ok(history_nodes(c, &f, &nodes, &count, &error) == 0 && count == 0, "no nodes yet");
	history_free_nodes(nodes, count);
	for (int i = 0; i < 40; i++) {
		bool slow = i % 2;
		char more[200];
		snprintf(more, sizeof more, ", \"hosts\": [\"n1\", \"%s\", \"n3\", \"n4\"]", slow ? "n2" : "n5");
		int64_t id = put_run("/opt/nodes", "", 8, more, 1, 1);
		query_execute(c, &error, "UPDATE summary SET late_rank = ?, late_node = ?, wait_ns = 5 WHERE id = ?",
		              "isi", (int64_t)(slow ? 2 : i % 8),
		              slow        ? "n2"
		              : i % 8 < 2 ? "n1"
		              : i % 8 < 4 ? "n5"
		                          : "n3",
		              id);
	}
	ok(history_nodes(c, &f, &nodes, &count, &error) == 0 && count == 5, "five nodes %s", error.text);
	ok(count == 5 && !strcmp(nodes[0].name, "n2") && nodes[0].test.jobs == 20 && nodes[0].test.late == 20 &&
	           trend_node_slow(&nodes[0].test, count) && !trend_node_slow(&nodes[1].test, count),
	   "n2 is slow, and no other");
	history_free_nodes(nodes, count);
}

int main(void)
{
	c = catalog_empty();
	test_alike();
	test_plan();
	test_again();
	test_names();
	test_cause();
	test_nodes();
	catalog_close(c);
	return tap_end();
}
