/* SPDX-License-Identifier: BSD-3-Clause
 * day_sums - sums of whole days, kept in the index
 */
#include "archive/day_sums.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "archive/aggregate_worker.h"
#include "archive/archive.h"
#include "archive/digest.h"

#define NS     INT64_C(1000000000)
#define DAY_NS (86400 * NS)
/* Of the sums' bytes, of enum aggregate_by, and of what is added up. */
#define SUMS_VERSION (4 * (INT64_C(1) << 32) + digest_version())
/* A sum with more bytes for each trace of the day is not kept: the index would grow more than it saves. */
#define BYTES_MOST 32
/* More than a quarter of the traces in the rest: nothing is saved. */
#define REST_MOST 4
/* That a day was looked at, whatever came of it. */
#define LOOKED_AT (-1)

/* The questions; those of calls last (aggregate_worker.h). The months are made of the days as a whole. */
static const enum aggregate_by questions[] = {AGGREGATE_ALL,       AGGREGATE_USER,       AGGREGATE_ACCOUNT,
                                              AGGREGATE_PARTITION, AGGREGATE_EXECUTABLE, AGGREGATE_APPLICATION,
                                              AGGREGATE_NODE,      AGGREGATE_FUNCTION,   AGGREGATE_SITE};
#define QUESTIONS (sizeof questions / sizeof *questions)

static int rest_add(struct day_rest *r, int64_t day)
{
	if (r->count == r->room) {
		size_t room = r->room ? 2 * r->room : 512;
		int64_t *more = realloc(r->days, room * sizeof *more);
		if (!more)
			return -1;
		r->days = more;
		r->room = room;
	}
	r->days[r->count++] = day;
	return 0;
}

void day_rest_free(struct day_rest *rest)
{
	free(rest->days);
	*rest = (struct day_rest){.count = 0};
}

/* --- making them --- */

static int write_sum(struct catalog *c, int64_t day, int64_t by, const uint8_t *bytes, size_t size, struct error *error)
{
	sqlite3_stmt *s = query_statement(c, "INSERT OR REPLACE INTO day_sum VALUES (?, ?, ?, ?)", error);

	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, day);
	sqlite3_bind_int64(s, 2, by);
	sqlite3_bind_int64(s, 3, SUMS_VERSION);
	sqlite3_bind_blob64(s, 4, bytes, size, SQLITE_STATIC);
	int rv = query_step(c, s, error);
	sqlite3_finalize(s);
	return rv;
}

static int write_sums(struct catalog *c, int64_t day, struct aggregate *const *a, struct error *error)
{
	uint64_t traces = (uint64_t)a[0]->total.sum[SUM_TRACES];
	int rv = 0;

	for (size_t i = 0; i < QUESTIONS && rv == 0; i++) {
		uint8_t *bytes;
		size_t size;
		if (aggregate_encode(a[i], &bytes, &size))
			return error_set(error, "out of memory");
		if (i == 0 || size <= BYTES_MOST * traces)
			rv = write_sum(c, day, questions[i], bytes, size, error);
		free(bytes);
	}
	return rv;
}

/* In a transaction. */
static int make_day(struct catalog *c, int64_t day, struct error *error)
{
	static const char rest[] =
		"INSERT INTO day_rest SELECT ?1, id FROM stored_trace WHERE start_ns >= ?2 AND start_ns < ?3 AND job "
		"IN "
		"(SELECT o.job FROM stored_trace o WHERE o.job IN (SELECT job FROM stored_trace WHERE start_ns >= ?2 "
		"AND "
		"start_ns < ?3) GROUP BY o.job HAVING min(o.start_ns) < ?2 OR max(o.start_ns) >= ?3)";
	static const char counted[] = "SELECT count(*) FROM day_rest WHERE day = %" PRId64;
	struct catalog_filter all = CATALOG_FILTER_ALL;
	struct aggregate *a[QUESTIONS] = {NULL};
	struct aggregate_worker w = {.c = c, .filter = &all, .threads = 1, .day = day, .a = a, .count = QUESTIONS};
	char sql[100];
	int rv = query_execute(c, error, "DELETE FROM day_sum WHERE day = ?", "i", day) ||
	                         query_execute(c, error, "DELETE FROM day_rest WHERE day = ?", "i", day) ||
	                         query_execute(c, error, rest, "iii", day, day * DAY_NS, (day + 1) * DAY_NS)
	                 ? -1
	                 : 0;

	for (size_t i = 0; i < QUESTIONS && rv == 0; i++)
		rv = (a[i] = aggregate_create(questions[i])) ? 0 : error_set(error, "out of memory");
	if (rv == 0 && (rv = aggregate_work(&w)) != 0)
		error_set(error, "%s", w.error.text);
	snprintf(sql, sizeof sql, counted, day);
	if (rv == 0 && (uint64_t)query_number(c, sql, 0) <= w.rows / REST_MOST && a[0]->missing == 0)
		rv = write_sums(c, day, a, error);
	else if (rv == 0)
		rv = query_execute(c, error, "DELETE FROM day_rest WHERE day = ?", "i", day);
	if (rv == 0 && a[0]->missing == 0)
		rv = write_sum(c, day, LOOKED_AT, NULL, 0, error);
	for (size_t i = 0; i < QUESTIONS; i++)
		aggregate_destroy(a[i]);
	return rv;
}

/* From the first day on, by way of the index by start: which have no sums, and enough traces? */
static int list_days(struct catalog *c, const struct day_sums_update *u, struct day_rest *out, struct error *error)
{
	sqlite3_stmt *next = query_statement(c, "SELECT min(start_ns) FROM stored_trace WHERE start_ns >= ?", error),
		     *known = query_statement(c, "SELECT 1 FROM day_sum WHERE day = ? AND by = -1 AND version = ?",
	                                      error),
		     *many = query_statement(c,
	                                     "SELECT count(*) FROM (SELECT 1 FROM stored_trace WHERE start_ns >= ? AND "
	                                     "start_ns < ? LIMIT ?)",
	                                     error);
	int64_t last = u->now / 86400 - 1;
	int rv = next && known && many ? 0 : -1;

	for (int64_t day = 1; rv == 0 && day < last; day++) {
		sqlite3_bind_int64(next, 1, day * DAY_NS);
		bool more = sqlite3_step(next) == SQLITE_ROW && sqlite3_column_type(next, 0) != SQLITE_NULL;
		day = more ? sqlite3_column_int64(next, 0) / DAY_NS : last;
		sqlite3_reset(next);
		if (day >= last)
			break;
		sqlite3_bind_int64(known, 1, day);
		sqlite3_bind_int64(known, 2, SUMS_VERSION);
		sqlite3_bind_int64(many, 1, day * DAY_NS);
		sqlite3_bind_int64(many, 2, (day + 1) * DAY_NS);
		sqlite3_bind_int64(many, 3, (int64_t)u->least);
		if (sqlite3_step(known) != SQLITE_ROW && sqlite3_step(many) == SQLITE_ROW &&
		    (uint64_t)sqlite3_column_int64(many, 0) >= u->least)
			rv = rest_add(out, day) ? error_set(error, "out of memory") : 0;
		sqlite3_reset(known);
		sqlite3_reset(many);
	}
	sqlite3_finalize(next);
	sqlite3_finalize(known);
	sqlite3_finalize(many);
	return rv;
}

int day_sums_update(struct catalog *c, struct day_sums_update *u, struct error *error)
{
	struct day_rest days = {.count = 0};
	struct error locked = {""};
	int rv;

	u->made = 0;
	if (!c->writable || catalog_lock(c, CATALOG_SHARE, u->wait, &locked))
		return 1;
	rv = list_days(c, u, &days, error);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	for (size_t i = 0; i < days.count && rv == 0; i++) {
		if (u->progress)
			u->progress(u->context, i, days.count);
		rv = catalog_lock(c, CATALOG_CHANGE, u->wait, &locked) ? 1
		                                                       : query_execute(c, error, "BEGIN IMMEDIATE", "");
		if (rv == 0) {
			rv = make_day(c, days.days[i], error);
			rv = query_execute(c, rv ? NULL : error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
		}
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
		u->made += rv == 0;
	}
	day_rest_free(&days);
	return rv;
}

/* --- using them --- */

/* Only a condition on the time is answered by days. */
static bool only_time(const struct catalog_filter *f)
{
	return !f->user && !f->state && !f->exe && !f->account && !f->partition && !f->qos && !f->job_name &&
	       !f->cluster && !f->node && !f->mode && !f->rule && !f->jobs.count && f->ranks[0] <= 0 &&
	       f->ranks[1] < 0 && f->nodes[0] <= 0 && f->nodes[1] < 0 && f->elapsed[0] <= 0 && f->elapsed[1] < 0 &&
	       !f->partial && !f->whole;
}

/* Does the policy give names to applications? Two of a job may have one name then. */
static bool has_aliases(void)
{
	json_t *names = archive_applications();
	bool some = json_object_size(names) > 0;
	json_decref(names);
	return some;
}

/* The month of a whole day; NULL if it is in two, by our time zone. */
static const char *month_of_day(int64_t day, char out[AGGREGATE_MONTH_SIZE])
{
	char end[AGGREGATE_MONTH_SIZE];
	aggregate_month(day * 86400, out);
	return strcmp(out, aggregate_month(day * 86400 + 86399, end)) == 0 ? out : NULL;
}

/* Returns 0, 1 if the sum is of no use for the question, -1: no memory. */
static int take_sum(struct aggregate *a, int64_t day, const void *bytes, size_t size)
{
	char month[AGGREGATE_MONTH_SIZE];
	const char *key = a->by == AGGREGATE_MONTH ? month_of_day(day, month) : "";
	struct aggregate *sum = NULL;

	if (!key || aggregate_decode(&sum, bytes, size))
		return 1;
	int rv = 0;
	if (a->by == AGGREGATE_MONTH) { /* the whole day is one group */
		struct aggregate_group *g = aggregate_group(a, key);
		rv = g ? aggregate_merge_group(g, &sum->total) : -1;
	}
	rv = rv || aggregate_merge(a, sum) ? -1 : 0;
	aggregate_destroy(sum);
	return rv;
}

int day_sums_take(struct aggregate *a, struct catalog *c, const struct catalog_filter *filter, struct day_rest *rest,
                  struct error *error)
{
	enum aggregate_by by = a->by == AGGREGATE_MONTH ? AGGREGATE_ALL : a->by;
	int64_t first = filter->since > 0 ? (filter->since + 86399) / 86400 : 0,
		end = filter->until > 0 ? (filter->until + 1) / 86400
	                                : INT64_MAX; /* days first .. end - 1 are wholly asked for */
	int rv = 0;

	rest->first_ns = filter->since > 0 ? filter->since * NS : INT64_MIN;
	rest->past_ns = filter->until > 0 ? (filter->until + 1) * NS : INT64_MAX;
	if (!only_time(filter) || by == AGGREGATE_JOB || (by == AGGREGATE_APPLICATION && has_aliases()))
		return 0;
	sqlite3_stmt *s = query_statement(
		c, "SELECT day, bytes FROM day_sum WHERE by = ? AND version = ? AND day >= ? AND day < ? ORDER BY day",
		error);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, by);
	sqlite3_bind_int64(s, 2, SUMS_VERSION);
	sqlite3_bind_int64(s, 3, first);
	sqlite3_bind_int64(s, 4, end);
	while (rv >= 0 && sqlite3_step(s) == SQLITE_ROW) {
		int64_t day = sqlite3_column_int64(s, 0);
		rv = take_sum(a, day, sqlite3_column_blob(s, 1), (size_t)sqlite3_column_bytes(s, 1));
		if (rv == 0)
			rv = rest_add(rest, day);
	}
	sqlite3_finalize(s);
	return rv < 0 ? error_set(error, "out of memory") : 0;
}

/* The time between the days, as spans. */
int day_rest_prepare(const struct day_rest *rest, struct catalog *c, struct error *error)
{
	static const char make[] = "CREATE TEMP TABLE IF NOT EXISTS taken_day (day INTEGER PRIMARY KEY);"
				   "CREATE TEMP TABLE IF NOT EXISTS span (first INTEGER, past INTEGER);"
				   "DELETE FROM temp.taken_day; DELETE FROM temp.span";
	int64_t past = rest->first_ns;
	int rv = sqlite3_exec(c->db, make, NULL, NULL, NULL) == SQLITE_OK ? 0 : query_failed(c, error);

	for (size_t i = 0; i <= rest->count && rv == 0; i++) {
		int64_t first = i < rest->count ? rest->days[i] * DAY_NS : rest->past_ns;
		if (first > past)
			rv = query_execute(c, error, "INSERT INTO temp.span VALUES (?, ?)", "ii", past, first);
		if (rv == 0 && i < rest->count)
			rv = query_execute(c, error, "INSERT INTO temp.taken_day VALUES (?)", "i", rest->days[i]);
		past = first + DAY_NS * (i < rest->count);
	}
	return rv;
}

void day_sums_ask_day(struct query *q, int64_t day)
{
	query_and(q, "t.start_ns >= ?", NULL, day * DAY_NS);
	query_and(q, "t.start_ns < ?", NULL, (day + 1) * DAY_NS);
	query_and(q, "t.id NOT IN (SELECT id FROM day_rest WHERE day = ?)", NULL, day);
}

void day_sums_ask_rest(struct query *q)
{
	query_append(q, " AND t.id IN (SELECT x.id FROM temp.span r CROSS JOIN stored_trace x ON x.start_ns >= r.first "
	                "AND x.start_ns < r.past UNION ALL SELECT d.id FROM temp.taken_day k JOIN day_rest d USING "
	                "(day))");
}
