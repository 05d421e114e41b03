/* SPDX-License-Identifier: BSD-3-Clause
 * query - a query to the index
 */
#include "archive/query.h"

#include <fnmatch.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/host_list.h"
#include "archive/job_state.h"

void query_append(struct query *q, const char *format, ...)
{
	va_list ap;

	if (q->used >= sizeof q->sql)
		return;
	va_start(ap, format);
	int n = vsnprintf(q->sql + q->used, sizeof q->sql - q->used, format, ap);
	va_end(ap);
	q->used += n > 0 ? (size_t)n : 0;
}

void query_and(struct query *q, const char *condition, const char *text, int64_t number)
{
	query_append(q, " AND (%s)", condition);
	for (const char *p = strchr(condition, '?'); p && q->count < (int)(sizeof q->values / sizeof q->values[0]);
	     p = strchr(p + 1, '?')) {
		q->values[q->count].text = text;
		q->values[q->count++].number = number;
	}
}

static void ask_text(struct query *q, const char *condition, const char *value)
{
	if (value)
		query_and(q, condition, value, 0);
}

static void ask_number(struct query *q, const char *condition, int64_t value, bool wanted)
{
	if (wanted)
		query_and(q, condition, NULL, value);
}

static void ask_states(struct query *q, const char *list)
{
	const char *between = " AND (";

	for (const char *name = list; name; name = *name ? name + 1 : NULL) {
		size_t n = strcspn(name, ",");
		const char *condition = job_state_condition(name, n);
		query_append(q, "%s%s", between, condition ? condition : "0");
		between = " OR ";
		name += n;
	}
	query_append(q, list ? ")" : "");
}

static void query_value(struct query *q, const char *text, int64_t number)
{
	if (q->count < (int)(sizeof q->values / sizeof q->values[0])) {
		q->values[q->count].text = text;
		q->values[q->count++].number = number;
	}
}

static void ask_job(struct query *q, const struct job_id *id)
{
	if (id->task >= 0) {
		query_append(q, "(t.array_job = ? AND t.array_job > 0 AND t.array_task = ?");
		query_value(q, NULL, id->job);
		query_value(q, NULL, id->task);
	} else if (id->component >= 0) {
		query_append(q, "(t.het_job_id = ? AND t.het_job_id > 0 AND t.job = ?");
		query_value(q, NULL, id->job);
		query_value(q, NULL, id->job + id->component);
	} else {
		query_append(q, "((t.job = ? OR (t.array_job = ? AND t.array_job > 0) OR (t.het_job_id = ? AND "
		                "t.het_job_id > 0))"); /* as their indexes want it */
		for (int i = 0; i < 3; i++)
			query_value(q, NULL, id->job);
	}
	if (id->step[0]) {
		query_append(q, " AND t.step = ?");
		query_value(q, id->step, 0);
	}
	if (id->trace[0]) {
		query_append(q, " AND matches(?, t.name)");
		query_value(q, id->trace, 0);
	}
	query_append(q, ")");
}

static void ask_jobs(struct query *q, const struct job_ids *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		query_append(q, i ? " OR " : " AND (");
		ask_job(q, &jobs->items[i]);
	}
	query_append(q, jobs->count ? ")" : "");
}

void query_filter(struct query *q, const struct catalog_filter *f)
{
	ask_text(q, "matches(?, t.user) OR has_number(?, t.uid)", f->user);
	ask_states(q, f->state);
	ask_text(q,
	         "matches(?, t.exe_name) OR matches(?, t.exe) OR matches(?, t.application) OR matches(?, "
	         "application(t.application))",
	         f->exe);
	ask_text(q, "matches(?, t.account)", f->account);
	ask_text(q, "matches(?, t.partition)", f->partition);
	ask_text(q, "matches(?, t.qos)", f->qos);
	ask_text(q, "matches(?, t.job_name)", f->job_name);
	ask_text(q, "matches(?, t.cluster)", f->cluster);
	ask_text(q, "any_matches(?, t.hosts) OR matches(?, t.node)", f->node);
	ask_text(q, "matches(?, t.mode)", f->mode);
	ask_text(q, "matches(?, t.rule)", f->rule);
	ask_number(q, "t.start_ns >= ? * 1000000000", f->since, f->since > 0);
	ask_number(q, "t.start_ns < (? + 1) * 1000000000", f->until, f->until > 0);
	ask_jobs(q, &f->jobs);
	ask_number(q, "t.ranks >= ?", f->ranks[0], f->ranks[0] > 0);
	ask_number(q, "t.ranks <= ?", f->ranks[1], f->ranks[1] >= 0);
	ask_number(q, "t.nodes >= ?", f->nodes[0], f->nodes[0] > 0);
	ask_number(q, "t.nodes <= ?", f->nodes[1], f->nodes[1] >= 0);
	ask_number(q, "t.end_ns - t.start_ns >= ? * 1000000000", f->elapsed[0], f->elapsed[0] > 0);
	ask_number(q, "t.end_ns - t.start_ns <= ? * 1000000000", f->elapsed[1], f->elapsed[1] >= 0);
	if (f->partial)
		query_and(q, "t.partial", NULL, 0);
	if (f->whole)
		query_and(q, "NOT t.partial", NULL, 0);
}

int query_prepare(const struct query *q, struct catalog *c, sqlite3_stmt **out, struct error *error)
{
	*out = NULL;
	if (q->used >= sizeof q->sql || sqlite3_prepare_v2(c->db, q->sql, -1, out, NULL) != SQLITE_OK)
		return error_set(error, "%s: the index: a query: %s", c->path,
		                 q->used >= sizeof q->sql ? "too long" : sqlite3_errmsg(c->db));
	for (int i = 0; i < q->count; i++) {
		if (q->values[i].text)
			sqlite3_bind_text(*out, i + 1, q->values[i].text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(*out, i + 1, q->values[i].number);
	}
	return 0;
}

int64_t query_count(struct catalog *c, const struct catalog_filter *filter)
{
	struct query q = {.used = 0};
	sqlite3_stmt *s = NULL;

	query_append(&q, "SELECT count(*) FROM trace t WHERE 1");
	query_filter(&q, filter);
	int64_t count =
		query_prepare(&q, c, &s, NULL) == 0 && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	return count;
}

/* `which` of the starts: "min" or "max"; each alone is the first of index trace_start that passes the filter. */
static bool query_start(struct catalog *c, const struct catalog_filter *filter, const char *which, int64_t *out)
{
	struct query q = {.used = 0};
	sqlite3_stmt *s = NULL;

	query_append(&q, "SELECT %s(t.start_ns) FROM trace t WHERE t.start_ns > 0", which);
	query_filter(&q, filter);
	bool known = query_prepare(&q, c, &s, NULL) == 0 && sqlite3_step(s) == SQLITE_ROW &&
	             sqlite3_column_type(s, 0) != SQLITE_NULL;
	*out = known ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	return known;
}

bool query_span(struct catalog *c, const struct catalog_filter *filter, int64_t *first, int64_t *last)
{
	bool known = query_start(c, filter, "min", first);

	return query_start(c, filter, "max", last) && known;
}

const char *query_text(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);
	return text ? text : "";
}

/* --- statements --- */

int query_failed(struct catalog *c, struct error *error)
{
	return error_set(error, "%s: the index: %s", c->path, sqlite3_errmsg(c->db));
}

sqlite3_stmt *query_statement(struct catalog *c, const char *sql, struct error *error)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) != SQLITE_OK && error)
		query_failed(c, error);
	return s;
}

sqlite3_stmt *query_kept(struct catalog *c, const char *sql, struct error *error)
{
	for (unsigned i = 0; i < c->kept_count; i++)
		if (!strcmp(sqlite3_sql(c->kept[i]), sql))
			return c->kept[i];
	if (c->kept_count == CATALOG_KEPT) /* the oldest one */
		sqlite3_finalize(c->kept[0]), memmove(c->kept, c->kept + 1, --c->kept_count * sizeof c->kept[0]);
	sqlite3_stmt *s = query_statement(c, sql, error);
	if (s)
		c->kept[c->kept_count++] = s;
	return s;
}

void query_close(struct catalog *c)
{
	while (c->kept_count)
		sqlite3_finalize(c->kept[--c->kept_count]);
	sqlite3_close(c->db);
}

int query_execute(struct catalog *c, struct error *error, const char *sql, const char *types, ...)
{
	sqlite3_stmt *s = query_kept(c, sql, error);
	int rc = SQLITE_OK;
	va_list ap;

	if (!s)
		return -1;
	va_start(ap, types);
	for (int i = 0; types[i] && rc == SQLITE_OK; i++) {
		const char *text = types[i] == 's' ? va_arg(ap, const char *) : NULL;
		if (types[i] == 'i')
			rc = sqlite3_bind_int64(s, i + 1, va_arg(ap, int64_t));
		else
			rc = text ? sqlite3_bind_text(s, i + 1, text, -1, SQLITE_TRANSIENT)
			          : sqlite3_bind_null(s, i + 1);
	}
	va_end(ap);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	int rv = rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : query_failed(c, error);
	sqlite3_reset(s);
	return rv;
}

int query_step(struct catalog *c, sqlite3_stmt *s, struct error *error)
{
	int rc = sqlite3_step(s);

	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : query_failed(c, error);
}

int64_t query_number(struct catalog *c, const char *sql, int64_t otherwise)
{
	sqlite3_stmt *s = query_statement(c, sql, NULL);
	int64_t value = s && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : otherwise;

	sqlite3_finalize(s);
	return value;
}

/* --- functions --- */

/* Up to a comma that has no backslash before it. */
static size_t glob_length(const char *globs)
{
	size_t n = 0;

	while (globs[n] && globs[n] != ',')
		n += globs[n] == '\\' && globs[n + 1] ? 2 : 1;
	return n;
}

/* Does one of the globs match? In a list, none is longer than 1023 bytes. */
static bool any_glob_matches(const char *globs, const char *text)
{
	char one[1024];

	for (const char *p = globs;; p++) {
		size_t n = glob_length(p);
		if (p == globs && !p[n])
			return fnmatch(globs, text, 0) == 0;
		snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), p);
		if (fnmatch(one, text, 0) == 0)
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

static void sql_matches(sqlite3_context *context, int n, sqlite3_value **values)
{
	const char *globs = (const char *)sqlite3_value_text(values[0]),
		   *text = (const char *)sqlite3_value_text(values[1]);
	(void)n;
	sqlite3_result_int(context, globs && text && any_glob_matches(globs, text));
}

static void sql_any_matches(sqlite3_context *context, int n, sqlite3_value **values)
{
	const char *globs = (const char *)sqlite3_value_text(values[0]),
		   *text = (const char *)sqlite3_value_text(values[1]);
	struct host_range_list list = host_list_begin(text ? text : "");
	char one[HOST_LIST_NAME];
	bool found = false;
	(void)n;

	while (globs && !found && host_list_next(&list, one))
		found = any_glob_matches(globs, one);
	sqlite3_result_int(context, found);
}

static void sql_application(sqlite3_context *context, int n, sqlite3_value **values)
{
	json_t *names = sqlite3_user_data(context), *name;
	const char *text = (const char *)sqlite3_value_text(values[0]), *pattern;
	(void)n;

	json_object_foreach(names, pattern, name)
	{
		if (text && fnmatch(pattern, text, 0) == 0) {
			sqlite3_result_text(context, json_string_value(name), -1, SQLITE_TRANSIENT);
			return;
		}
	}
	sqlite3_result_value(context, values[0]);
}

static void forget_names(void *names)
{
	json_decref(names);
}

static void sql_has_number(sqlite3_context *context, int n, sqlite3_value **values)
{
	const char *list = (const char *)sqlite3_value_text(values[0]),
		   *number = (const char *)sqlite3_value_text(values[1]);
	size_t length = number ? strlen(number) : 0;
	bool found = false;
	(void)n;

	for (const char *p = list; length && p && *p && !found; p += strcspn(p, ","), p += *p == ',')
		found = strcspn(p, ",") == length && !strncmp(p, number, length);
	sqlite3_result_int(context, found);
}

void query_add_functions(struct catalog *c)
{
	sqlite3_create_function_v2(c->db, "application", 1, SQLITE_UTF8, archive_applications(), sql_application, NULL,
	                           NULL, forget_names);
	sqlite3_create_function(c->db, "matches", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_matches, NULL, NULL);
	sqlite3_create_function(c->db, "has_number", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_has_number, NULL,
	                        NULL);
	sqlite3_create_function(c->db, "any_matches", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_any_matches,
	                        NULL, NULL);
}
