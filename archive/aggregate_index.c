/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_index - sums over the traces of an archive, out of its index
 *
 * A worker asks for the traces of its jobs ordered by job: so a group counts a job when it is another one than its
 * last. What it finds of a run goes into all of its aggregates.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/aggregate_worker.h"
#include "archive/calls.h"
#include "archive/day_sums.h"
#include "archive/digest.h"
#include "archive/figure_row.h"
#include "archive/host_list.h"
#include "archive/query.h"

/* --- adding up --- */

/* Why a run is partial (negative: it is not), and what is said first of it. */
struct run_why {
	int reason;
	enum outcome cause;
};

static void add_run(struct aggregate_group *g, const uint128 *sum, int64_t job, struct run_why why)
{
	for (int i = 0; i < FIGURE_SUMS; i++)
		g->sum[i] += sum[i];
	g->sum[SUM_JOBS] += job != g->last_job;
	g->last_job = job;
	g->causes[why.cause]++;
	if (why.reason >= 0)
		g->reasons[why.reason]++;
}

static uint64_t count_at(sqlite3_stmt *s, int column)
{
	int64_t n = sqlite3_column_int64(s, column);
	return n > 0 ? (uint64_t)n : 0;
}

/* The other threads are about as far. */
static void report_progress(struct aggregate_worker *w)
{
	w->seen++;
	if (w->asked && w->asked->progress && w->seen % 1024 == 0)
		w->asked->progress(w->asked->context, w->seen < w->all ? w->seen : w->all, w->all);
}

/* --- runs --- */

/* What is asked of a run, in this order. Texts only where they are needed: each is looked up in a table. */
#define RUN_COLUMNS                                                                                           \
	"t.job, t.start_ns, t.end_ns, t.nodes, t.partial, CASE WHEN t.partial THEN t.reason END, s.version, " \
	"s.problem, s.sizes, s.verdict, s.cause"
#define IF_HUNG(column) "CASE WHEN s.unended_ns > 0 THEN " column " END"
#define HUNG_COLUMNS    "NULL, " IF_HUNG("t.name") ", " IF_HUNG("t.user") ", " IF_HUNG("t.exe_name")
enum {
	JOB,
	START,
	END,
	NODES,
	PARTIAL,
	REASON,
	MADE,
	PROBLEM,
	SIZES,
	VERDICT,
	CAUSE,
	NUMBERS,
	DAY = NUMBERS + FIGURES,
	NAME,
	USER,
	EXE,
	HOSTS,
	NODE,
	KEY
};

static const char *text_columns(const struct aggregate_worker *w)
{
	enum aggregate_by by = w->count == 1 ? w->a[0]->by : AGGREGATE_NODE;
	return by == AGGREGATE_JOB    ? "t.folder, t.name, t.user, t.exe_name, NULL, NULL"
	       : by == AGGREGATE_NODE ? HUNG_COLUMNS ", t.hosts, t.node"
	                              : HUNG_COLUMNS ", NULL, NULL";
}

static const char *const key_columns[] = {
	[AGGREGATE_ALL] = "''",
	[AGGREGATE_USER] = "t.user",
	[AGGREGATE_ACCOUNT] = "t.account",
	[AGGREGATE_PARTITION] = "t.partition",
	[AGGREGATE_EXECUTABLE] = "t.exe_name",
	[AGGREGATE_APPLICATION] = "application(t.application)",
	[AGGREGATE_JOB] = "t.job",
	[AGGREGATE_NODE] = "''",
	[AGGREGATE_MONTH] = "''",
	[AGGREGATE_FUNCTION] = "''",
	[AGGREGATE_SITE] = "''",
};

static void run_sums(sqlite3_stmt *s, const uint64_t *sizes, uint128 *sum)
{
	uint64_t start = count_at(s, START), end = count_at(s, END);
	const struct figure_run run = {.nodes = count_at(s, NODES),
	                               .wall_ns = start > 0 && end > start ? end - start : 0,
	                               .partial = count_at(s, PARTIAL) != 0,
	                               .sizes = sizes};
	union figures f;

	figure_row_read(&f, s, NUMBERS);
	figure_sums(&f, &run, sum);
}

/* An equal share to each node. */
static int add_nodes(struct aggregate *a, sqlite3_stmt *s, const uint128 *sum, int64_t job, struct run_why why)
{
	const char *hosts = *query_text(s, HOSTS) ? query_text(s, HOSTS) : query_text(s, NODE);
	uint128 part[FIGURE_SUMS];
	char name[HOST_LIST_NAME] = "";
	size_t n = host_list_count(hosts), i = 0;
	struct host_range_list list = host_list_begin(hosts);

	for (int k = 0; k < FIGURE_SUMS; k++)
		part[k] = k == SUM_TRACES || k == SUM_PARTIAL || k == SUM_DEGRADED || n == 0 ? sum[k] : sum[k] / n;
	do { /* a job of which no host is known is of the one with no name */
		struct aggregate_group *g = host_list_next(&list, name) || i == 0 ? aggregate_group(a, name) : NULL;
		if (!g)
			return -1;
		add_run(g, part, job, why);
	} while (++i < n);
	return 0;
}

static int add_hung(struct aggregate *a, sqlite3_stmt *s, const uint128 *sum)
{
	struct aggregate_hung h = {(uint64_t)sum[SUM_NODE_UNENDED_NS], (char *)query_text(s, NAME),
	                           (char *)query_text(s, USER), (char *)query_text(s, EXE),
	                           (char *)query_text(s, VERDICT)};
	return h.node_ns ? aggregate_add_hung(a, &h) : 0;
}

const char *aggregate_month(int64_t seconds, char out[AGGREGATE_MONTH_SIZE])
{
	time_t t = (time_t)seconds;
	struct tm tm;
	if (t <= 0 || !localtime_r(&t, &tm) || !strftime(out, AGGREGATE_MONTH_SIZE, "%Y-%m", &tm))
		strcpy(out, "unknown");
	return out;
}

/* A run with its sums. key: of its group. */
static int add_run_to(struct aggregate *a, sqlite3_stmt *s, const char *key, const uint128 *sum, const uint64_t *sizes,
                      struct run_why why)
{
	char month[AGGREGATE_MONTH_SIZE];
	int64_t job = sqlite3_column_int64(s, JOB);

	add_run(&a->total, sum, job, why);
	if (aggregate_add_sizes(&a->total, sizes) || add_hung(a, s, sum))
		return -1;
	if (a->by == AGGREGATE_ALL || a->by >= AGGREGATE_FUNCTION)
		return 0;
	if (a->by == AGGREGATE_NODE)
		return add_nodes(a, s, sum, job, why);
	if (a->by == AGGREGATE_MONTH)
		key = aggregate_month(sqlite3_column_int64(s, START) / 1000000000, month);
	struct aggregate_group *g = aggregate_group(a, key);
	if (!g)
		return -1;
	add_run(g, sum, job, why);
	if (a->by != AGGREGATE_JOB)
		return aggregate_add_sizes(g, sizes);
	struct aggregate_example e = {(uint64_t)sum[SUM_NODE_NS],  (char *)query_text(s, DAY),
	                              (char *)query_text(s, NAME), (char *)query_text(s, USER),
	                              (char *)query_text(s, EXE),  0};
	return aggregate_example(g, &e);
}

static int add_row(struct aggregate_worker *w, sqlite3_stmt *s)
{
	uint128 sum[FIGURE_SUMS];
	uint64_t sizes[ACTIVITY_SIZES];
	bool missing = sqlite3_column_type(s, MADE) == SQLITE_NULL || sqlite3_column_int64(s, MADE) != digest_version(),
	     problem = sqlite3_column_type(s, PROBLEM) != SQLITE_NULL;
	struct run_why why = {-1, OUTCOME_UNKNOWN};
	int rv = 0;

	w->rows++;
	report_progress(w);
	if (!missing && !problem) {
		figure_row_read_sizes(query_text(s, SIZES), sizes);
		run_sums(s, sizes, sum);
		why.reason = sum[SUM_PARTIAL] ? aggregate_reason(query_text(s, REASON)) : -1;
		why.cause = outcome_named(query_text(s, CAUSE));
	}
	for (size_t i = 0; i < w->count && rv == 0; i++) {
		if (missing)
			w->a[i]->missing++;
		else if (problem)
			rv = aggregate_skip(w->a[i], query_text(s, PROBLEM));
		else
			rv = add_run_to(w->a[i], s, query_text(s, KEY + (int)i), sum, sizes, why);
	}
	return rv;
}

/* --- calls --- */

#define CALL_COLUMNS "t.job, t.nodes, s.streams, c.packed, t.id"
enum { CALL_JOB, CALL_NODES, CALL_STREAMS, CALL_PACKED, CALL_ID };

/* The group of a function or place: asked for once for each, and then found by its number. */
static struct aggregate_group *numbered_group(struct aggregate_worker *w, int64_t number)
{
	struct aggregate_group **known = (uint64_t)number < w->numbered ? &w->groups[number] : NULL;
	struct aggregate_group *g = known ? *known : NULL;
	char key[24];

	if (g)
		return g;
	sqlite3_bind_int64(w->key, 1, number);
	bool found = sqlite3_step(w->key) == SQLITE_ROW, site = w->calls->by == AGGREGATE_SITE;
	if (site)
		snprintf(key, sizeof key, "%016" PRIx64, found ? (uint64_t)sqlite3_column_int64(w->key, 0) : 0);
	g = aggregate_group(w->calls, site ? key : found ? query_text(w->key, 0) : "unknown function");
	sqlite3_reset(w->key);
	if (g && known)
		*known = g;
	return g;
}

/* The trace is looked up only where it may be the example. */
static int add_site_example(struct aggregate_worker *w, struct aggregate_group *g, uint64_t weight, int64_t id,
                            uint32_t site)
{
	sqlite3_bind_int64(w->example, 1, id);
	bool found = sqlite3_step(w->example) == SQLITE_ROW;
	struct aggregate_example e = {weight,
	                              (char *)query_text(w->example, 0),
	                              (char *)query_text(w->example, 1),
	                              (char *)query_text(w->example, 2),
	                              (char *)query_text(w->example, 3),
	                              site};
	int rv = found ? aggregate_example(g, &e) : 0;
	sqlite3_reset(w->example);
	return rv;
}

static int add_calls_part(struct aggregate_worker *w, sqlite3_stmt *s, const struct calls_part *part)
{
	bool site = w->calls->by == AGGREGATE_SITE;
	struct aggregate_group *g = numbered_group(w, site ? part->place : part->function);
	const union figure_calls *c = &part->calls;
	uint64_t all = c->ns + c->unended_ns;
	int64_t job = sqlite3_column_int64(s, CALL_JOB);

	if (!g)
		return -1;
	g->sum[SUM_TRACES]++;
	g->sum[SUM_JOBS] += job != g->last_job;
	g->last_job = job;
	figure_sums_add_calls(c, count_at(s, CALL_NODES), count_at(s, CALL_STREAMS), g->sum);
	if (!site || (g->example.name && g->example.weight > all))
		return 0;
	return add_site_example(w, g, all, sqlite3_column_int64(s, CALL_ID), part->site);
}

static int add_calls(struct aggregate_worker *w, sqlite3_stmt *s)
{
	struct calls_reader r =
		calls_reader_of(sqlite3_column_blob(s, CALL_PACKED), (size_t)sqlite3_column_bytes(s, CALL_PACKED));
	bool sites = w->calls->by == AGGREGATE_SITE;
	struct calls_part part;
	int rv = 0;

	report_progress(w);
	while (rv == 0 && (sites ? calls_next(&r, &part) : calls_next_function(&r, &part)) == 0)
		rv = sites && !part.place ? 0 : add_calls_part(w, s, &part);
	return rv;
}

/* Function and frames of the sites, once all are there. */
static int name_places(struct aggregate_worker *w)
{
	sqlite3_stmt *s = query_statement(w->c, "SELECT function, frames FROM place WHERE identity = ?", &w->error);
	int rv = 0;

	if (!s)
		return -1;
	for (size_t i = 0; i < w->calls->count && rv == 0; i++) {
		struct aggregate_group *g = w->calls->groups[i];
		sqlite3_bind_int64(s, 1, (int64_t)strtoull(g->key, NULL, 16));
		bool found = sqlite3_step(s) == SQLITE_ROW;
		g->function = strdup(found ? query_text(s, 0) : "");
		g->frames = strdup(found ? query_text(s, 1) : "-");
		sqlite3_reset(s);
		rv = g->function && g->frames ? 0 : error_set(&w->error, "out of memory");
	}
	sqlite3_finalize(s);
	return rv;
}

/* --- asking --- */

static void ask_share(struct query *q, const struct aggregate_worker *w)
{
	bool few = w->day != AGGREGATE_EVERY_DAY || w->rest; /* then their index is not that by job */

	query_filter(q, w->filter);
	if (w->day != AGGREGATE_EVERY_DAY)
		day_sums_ask_day(q, w->day);
	else if (w->rest)
		day_sums_ask_rest(q);
	if (w->threads > 1)
		query_append(q, " AND abs(t.job) %% %" PRIu64 " = %" PRIu64, w->threads, w->thread);
	query_append(q, few ? " ORDER BY +t.job" : " ORDER BY t.job");
}

static int run_query(struct aggregate_worker *w, const struct query *q,
                     int (*row)(struct aggregate_worker *, sqlite3_stmt *))
{
	sqlite3_stmt *s;
	int rc, rv = query_prepare(q, w->c, &s, &w->error);

	if (rv)
		return -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && (rv = row(w, s)) == 0)
		continue;
	if (rv)
		error_set(&w->error, "out of memory");
	else if (rc != SQLITE_DONE)
		rv = query_failed(w->c, &w->error);
	sqlite3_finalize(s);
	return rv ? -1 : 0;
}

/* Of functions or call sites. */
static int add_all_calls(struct aggregate_worker *w)
{
	bool sites = w->calls->by == AGGREGATE_SITE;
	struct query q = {.used = 0};

	query_append(&q,
	             "SELECT " CALL_COLUMNS " FROM trace t JOIN summary s USING (id) JOIN calls c USING (id) WHERE 1");
	query_and(&q, "s.problem IS NULL AND s.version = ?", NULL, digest_version());
	ask_share(&q, w);
	w->numbered =
		(size_t)query_number(w->c, sites ? "SELECT max(place) FROM place" : "SELECT max(id) FROM text", 0) + 1;
	if (w->numbered > 1 << 26 || !(w->groups = calloc(w->numbered, sizeof *w->groups)))
		w->numbered = 0; /* then they are found by their keys */
	w->key = query_statement(
		w->c, sites ? "SELECT identity FROM place WHERE place = ?" : "SELECT text FROM text WHERE id = ?",
		&w->error);
	w->example = query_statement(w->c, "SELECT folder, name, user, exe_name FROM trace WHERE id = ?", &w->error);
	int rv = !w->key || !w->example || run_query(w, &q, add_calls) || (sites && name_places(w)) ? -1 : 0;
	sqlite3_finalize(w->key);
	sqlite3_finalize(w->example);
	free(w->groups);
	w->groups = NULL;
	return rv;
}

int aggregate_work(struct aggregate_worker *w)
{
	struct query runs = {.used = 0};
	bool calls = w->a[w->count - 1]->by >= AGGREGATE_FUNCTION;
	int rv;

	if (w->asked && w->asked->progress)
		w->all = (uint64_t)query_number(w->c, "SELECT count(*) FROM stored_trace", 0) / w->threads *
		                 (calls ? 2 : 1) +
		         1;
	query_append(&runs, "SELECT " RUN_COLUMNS "%s, %s", figure_row_selected, text_columns(w));
	for (size_t i = 0; i < w->count; i++) /* a day's sums are without the names that the policy gives today */
		query_append(&runs, ", %s",
		             w->day != AGGREGATE_EVERY_DAY && w->a[i]->by == AGGREGATE_APPLICATION
		                     ? "t.application"
		                     : key_columns[w->a[i]->by]);
	query_append(&runs, " FROM trace t LEFT JOIN summary s USING (id) WHERE 1");
	ask_share(&runs, w);
	rv = run_query(w, &runs, add_row);
	w->all = 2 * w->rows + 1; /* with a filter there are fewer */
	for (size_t i = 0; i < w->count && rv == 0; i++) {
		w->calls = w->a[i];
		rv = w->calls->by >= AGGREGATE_FUNCTION ? add_all_calls(w) : 0;
	}
	return rv;
}
