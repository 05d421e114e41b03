/* SPDX-License-Identifier: BSD-3-Clause
 * question - a question to the index
 */
#include "archive/question.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void question_say(struct question *q, const char *format, ...)
{
	va_list ap;

	if (q->used >= sizeof q->sql)
		return;
	va_start(ap, format);
	int n = vsnprintf(q->sql + q->used, sizeof q->sql - q->used, format, ap);
	va_end(ap);
	q->used += n > 0 ? (size_t)n : 0;
}

void question_and(struct question *q, const char *condition, const char *text, int64_t number)
{
	question_say(q, " AND (%s)", condition);
	for (const char *p = strchr(condition, '?'); p && q->count < 64; p = strchr(p + 1, '?')) {
		q->values[q->count].text = text;
		q->values[q->count++].number = number;
	}
}

static void ask_text(struct question *q, const char *condition, const char *value)
{
	if (value)
		question_and(q, condition, value, 0);
}

static void ask_number(struct question *q, const char *condition, int64_t value, bool wanted)
{
	if (wanted)
		question_and(q, condition, NULL, value);
}

void question_filter(struct question *q, const struct catalog_filter *f)
{
	ask_text(q, "matches(?, t.user)", f->user);
	ask_text(q, "t.state = upper(?)", f->state);
	ask_text(q, "matches(?, t.exe_name) OR matches(?, t.exe)", f->exe);
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
	ask_number(q, "t.job = ? OR t.array_job = ? OR t.het_job_id = ?", f->job, f->job > 0);
	ask_number(q, "t.ranks >= ?", f->ranks[0], f->ranks[0] > 0);
	ask_number(q, "t.ranks <= ?", f->ranks[1], f->ranks[1] >= 0);
	ask_number(q, "t.nodes >= ?", f->nodes[0], f->nodes[0] > 0);
	ask_number(q, "t.nodes <= ?", f->nodes[1], f->nodes[1] >= 0);
	ask_number(q, "t.end_ns - t.start_ns >= ? * 1000000000", f->elapsed[0], f->elapsed[0] > 0);
	ask_number(q, "t.end_ns - t.start_ns <= ? * 1000000000", f->elapsed[1], f->elapsed[1] >= 0);
	if (f->partial)
		question_and(q, "t.partial", NULL, 0);
	if (f->whole)
		question_and(q, "NOT t.partial", NULL, 0);
}

int question_prepare(const struct question *q, struct catalog *c, sqlite3_stmt **out, struct error *error)
{
	*out = NULL;
	if (q->used >= sizeof q->sql || sqlite3_prepare_v2(c->db, q->sql, -1, out, NULL) != SQLITE_OK)
		return error_set(error, "%s: the index: a question: %s", c->path,
		                 q->used >= sizeof q->sql ? "too long" : sqlite3_errmsg(c->db));
	for (int i = 0; i < q->count; i++) {
		if (q->values[i].text)
			sqlite3_bind_text(*out, i + 1, q->values[i].text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(*out, i + 1, q->values[i].number);
	}
	return 0;
}

const char *question_text(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);
	return text ? text : "";
}
