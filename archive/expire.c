/* SPDX-License-Identifier: BSD-3-Clause
 * expire - which files of an archive have had their time, by its index
 *
 * The files are gone through day by day, the oldest first, as often as the rules need. Of the files of a user that are
 * kept by their age, a quota takes those that come first; so of each user it is enough to know the last one that goes
 * (two: damaged files go before others, so they have a last one of their own). No file is kept in memory.
 */
#include "archive/expire.h"

#include <assert.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/day.h"
#include "archive/query.h"

/* An exit note may come before its trace; one whose trace did not come in so long is of none. */
#define NOTE_DAYS 7

/* Its place in the order in which files go. */
struct turn {
	char day[DAY_SIZE]; /* "": before all others */
	int64_t when, id;
};

struct candidate {
	struct turn turn;
	const char *folder, *name, *step; /* until the next one is read */
	uint64_t disk;
	int64_t uid, age, job, retention; /* age, retention: days */
	int64_t array_job, array_task, het_job;
	bool damaged, note, orphan;
};

enum quota { QUOTA_USER, QUOTA_ALL };

struct user {
	int64_t uid;
	uint64_t bytes;         /* of what stays */
	struct turn last[2][2]; /* that goes: [damaged][enum quota] */
};

struct expiry {
	struct catalog *catalog;
	const struct expire *rules;
	struct error *error;
	struct sqlite3_stmt *next_day, *of_day, *of_step;
	struct user *users; /* by uid */
	size_t user_count;
	uint64_t bytes; /* of what stays */
	bool any_damaged;
	int64_t now;
	/* What a walk is for. */
	bool damaged;
	uint64_t share;
	int (*file)(void *context, const char *folder, const char *name, uint64_t size, const char *why);
	void *context;
};

/* --- users --- */

/* Finds or adds a user. NULL: no memory. */
static struct user *user_of(struct expiry *e, int64_t uid)
{
	size_t from = 0, to = e->user_count;

	while (from < to) {
		size_t middle = (from + to) / 2;
		if (e->users[middle].uid == uid)
			return &e->users[middle];
		if (e->users[middle].uid < uid)
			from = middle + 1;
		else
			to = middle;
	}
	struct user *users = realloc(e->users, (e->user_count + 1) * sizeof *users);
	if (!users)
		return NULL;
	e->users = users;
	memmove(&users[from + 1], &users[from], (e->user_count++ - from) * sizeof *users);
	users[from] = (struct user){.uid = uid};
	return &users[from];
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* As many bytes as each user may have so that all of them together have the quota. Returns 0, or -1: no memory. */
static int equal_share(const struct expiry *e, uint64_t quota, uint64_t *share)
{
	uint64_t *bytes = malloc((e->user_count + 1) * sizeof *bytes), left = quota;

	*share = UINT64_MAX;
	if (!bytes)
		return -1;
	for (size_t i = 0; i < e->user_count; i++)
		bytes[i] = e->users[i].bytes;
	qsort(bytes, e->user_count, sizeof *bytes, by_number);
	for (size_t i = 0; i < e->user_count && *share == UINT64_MAX; i++) {
		uint64_t equal = left / (e->user_count - i);
		if (bytes[i] > equal)
			*share = equal; /* and so have all that follow more */
		left -= bytes[i];
	}
	free(bytes);
	return 0;
}

/* --- files --- */

/* A note's trace may be gone, or not have come. */
#define CANDIDATE                                                                                              \
	"SELECT x.text, f.file, f.disk, f.uid, coalesce(t.retention, 0), d.id IS NOT NULL, n.id IS NOT NULL, " \
	"coalesce(t.job, n.job), n.step, n.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM stored_trace o WHERE " \
	"o.job = n.job AND o.step = n.step AND o.uid = n.uid), coalesce(t.start_ns, f.mtime) AS at, f.id, "    \
	"coalesce(t.array_job, 0), coalesce(t.array_task, -1), coalesce(t.het_job_id, 0) FROM "
#define WHAT_IT_IS \
	" LEFT JOIN stored_trace t ON t.id = f.id LEFT JOIN note n ON n.id = f.id LEFT JOIN damage d ON d.id = f.id "

static int prepare(struct expiry *e)
{
	/* ':' comes after the digits, '0' after '/' */
	static const char next_day[] =
		"SELECT substr(text, 1, 10) FROM text WHERE text >= ?1 || '0' AND text < ':' AND text GLOB "
		"'[0-9][0-9][0-9][0-9]/[0-9][0-9]/[0-9][0-9]/*' ORDER BY text LIMIT 1";
	static const char of_day[] = CANDIDATE "text x CROSS JOIN stored_file f ON f.folder = x.id" WHAT_IT_IS
					       "WHERE x.text > ?1 || '/' AND x.text < ?1 || '0' ORDER BY at, f.id";
	static const char of_step[] = CANDIDATE
		"stored_trace s CROSS JOIN stored_file f ON f.id = s.id JOIN text x ON x.id = f.folder" WHAT_IT_IS
		"WHERE s.job = ?1 AND s.step = ?2 AND s.uid = ?3";

	e->next_day = query_statement(e->catalog, next_day, e->error);
	e->of_day = e->next_day ? query_statement(e->catalog, of_day, e->error) : NULL;
	e->of_step = e->of_day ? query_statement(e->catalog, of_step, e->error) : NULL;
	return e->of_step ? 0 : -1;
}

static struct candidate read_candidate(const struct expiry *e, sqlite3_stmt *s)
{
	struct candidate c = {.folder = query_text(s, 0),
	                      .name = query_text(s, 1),
	                      .step = query_text(s, 8),
	                      .disk = (uint64_t)sqlite3_column_int64(s, 2),
	                      .uid = sqlite3_column_int64(s, 3),
	                      .retention = sqlite3_column_int64(s, 4),
	                      .damaged = sqlite3_column_int(s, 5) != 0,
	                      .note = sqlite3_column_int(s, 6) != 0,
	                      .job = sqlite3_column_int64(s, 7),
	                      .orphan = sqlite3_column_int(s, 9) != 0,
	                      .array_job = sqlite3_column_int64(s, 12),
	                      .array_task = sqlite3_column_int64(s, 13),
	                      .het_job = sqlite3_column_int64(s, 14),
	                      .turn = {.when = sqlite3_column_int64(s, 10), .id = sqlite3_column_int64(s, 11)}};

	if (sqlite3_column_type(s, 7) == SQLITE_NULL) /* damaged: its name is all there is */
		c.job = strtoll(c.name, NULL, 10);

	c.age = day_age(c.folder, e->now);
	snprintf(c.turn.day, sizeof c.turn.day, "%.10s", c.folder);
	return c;
}

/* Calls visit for each file, in order. What it returns, if it is not 0, ends the walk. Returns that, or 0, or -1 with
 * error set. */
static int walk(struct expiry *e, int (*visit)(struct expiry *e, const struct candidate *c, struct user *user))
{
	char day[DAY_SIZE] = "";
	int rv = 0, rc = SQLITE_DONE;

	for (;;) {
		sqlite3_bind_text(e->next_day, 1, day, -1, SQLITE_TRANSIENT);
		rc = sqlite3_step(e->next_day);
		if (rc == SQLITE_ROW)
			snprintf(day, sizeof day, "%s", query_text(e->next_day, 0));
		sqlite3_reset(e->next_day);
		if (rc != SQLITE_ROW)
			break;
		sqlite3_bind_text(e->of_day, 1, day, -1, SQLITE_TRANSIENT);
		while (rv == 0 && (rc = sqlite3_step(e->of_day)) == SQLITE_ROW) {
			struct candidate c = read_candidate(e, e->of_day);
			struct user *user = user_of(e, c.uid);
			rv = user ? visit(e, &c, user) : error_set(e->error, "out of memory");
		}
		sqlite3_reset(e->of_day);
		if (rv != 0 || rc != SQLITE_DONE)
			break;
	}
	return rv != 0 || rc == SQLITE_DONE || rc == SQLITE_ROW ? rv : query_failed(e->catalog, e->error);
}

/* --- what goes --- */

static int compare_turns(const struct turn *a, const struct turn *b)
{
	int day = strcmp(a->day, b->day);

	if (day != 0)
		return day;
	return a->when != b->when ? (a->when < b->when ? -1 : 1) : (a->id > b->id) - (a->id < b->id);
}

static bool is_over(const struct candidate *c, const struct user *user, enum quota quota)
{
	return compare_turns(&c->turn, &user->last[c->damaged][quota]) <= 0;
}

/* As query.c has it for `spoor list --job`. */
static bool is_of_job(const struct candidate *c, const struct job_id *id)
{
	if (id->task >= 0)
		return c->array_job > 0 && c->array_job == id->job && c->array_task == id->task;
	if (id->component >= 0)
		return c->het_job > 0 && c->het_job == id->job && c->job == id->job + id->component;
	return c->job == id->job || (c->array_job > 0 && c->array_job == id->job) ||
	       (c->het_job > 0 && c->het_job == id->job);
}

static bool is_erased(const struct expire *rules, const struct candidate *c)
{
	if (rules->user >= 0 && c->uid != rules->user)
		return false;
	for (size_t i = 0; i < rules->jobs.count; i++)
		if (is_of_job(c, &rules->jobs.items[i]))
			return true;
	return rules->jobs.count == 0;
}

/* By what it says itself. */
static bool is_too_old(const struct expiry *e, const struct candidate *c)
{
	if (e->rules->erases)
		return is_erased(e->rules, c);
	return (e->rules->max_days > 0 && c->age > e->rules->max_days) || (c->retention > 0 && c->age > c->retention) ||
	       (c->orphan && c->age > NOTE_DAYS);
}

static bool goes(const struct expiry *e, const struct candidate *c, const struct user *user)
{
	return is_too_old(e, c) || is_over(c, user, QUOTA_USER) || is_over(c, user, QUOTA_ALL);
}

static int count_bytes(struct expiry *e, const struct candidate *c, struct user *user)
{
	if (!is_too_old(e, c)) {
		e->bytes += c->disk;
		user->bytes += c->disk;
		e->any_damaged |= c->damaged;
	}
	return 0;
}

static void let_go(struct expiry *e, const struct candidate *c, struct user *user, enum quota quota)
{
	assert(e->bytes >= c->disk && user->bytes >= c->disk); /* it was counted as staying */
	user->last[c->damaged][quota] = c->turn;
	e->bytes -= c->disk;
	user->bytes -= c->disk;
}

static int apply_user_quota(struct expiry *e, const struct candidate *c, struct user *user)
{
	if (c->damaged == e->damaged && user->bytes > e->rules->user_quota && !goes(e, c, user))
		let_go(e, c, user, QUOTA_USER);
	return 0;
}

/* Returns 1 when there is nothing left to do. */
static int apply_quota(struct expiry *e, const struct candidate *c, struct user *user)
{
	if (c->damaged == e->damaged && user->bytes > e->share && !goes(e, c, user))
		let_go(e, c, user, QUOTA_ALL);
	return e->bytes <= e->rules->quota;
}

/* What is damaged, then the oldest of each. */
static int apply_quotas(struct expiry *e)
{
	const struct expire *rules = e->rules;
	uint64_t most = 0;
	int rv = 0;

	for (size_t i = 0; i < e->user_count; i++)
		most = e->users[i].bytes > most ? e->users[i].bytes : most;
	for (int damaged = e->any_damaged; damaged >= 0 && rv == 0; damaged--) {
		e->damaged = damaged;
		if (rules->user_quota && most > rules->user_quota)
			rv = walk(e, apply_user_quota);
	}
	for (int damaged = e->any_damaged; damaged >= 0 && rv == 0 && rules->quota && e->bytes > rules->quota;
	     damaged--) {
		e->damaged = damaged;
		e->share = 0;
		if (!damaged && equal_share(e, rules->quota, &e->share))
			return error_set(e->error, "out of memory");
		rv = walk(e, apply_quota);
		rv = rv < 0 ? rv : 0;
	}
	return rv;
}

/* A note counts for all traces of its step: it goes with the last of them. Returns > 0: it goes; 0: it stays; -1 with
 * error set. */
static int goes_with_trace(struct expiry *e, const struct candidate *note)
{
	bool any = false, stays = false;
	int rc;

	sqlite3_bind_int64(e->of_step, 1, note->job);
	sqlite3_bind_text(e->of_step, 2, note->step, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(e->of_step, 3, note->uid);
	while ((rc = sqlite3_step(e->of_step)) == SQLITE_ROW) {
		struct candidate c = read_candidate(e, e->of_step);
		const struct user *user = user_of(e, c.uid);
		any = true;
		stays |= !user || !goes(e, &c, user);
	}
	sqlite3_reset(e->of_step);
	return rc == SQLITE_DONE ? any && !stays : query_failed(e->catalog, e->error);
}

static int tell_gone(struct expiry *e, const struct candidate *c, struct user *user)
{
	const struct expire *rules = e->rules;
	const char *damaged = c->damaged ? ", and it is damaged" : "";
	char why[96] = "";

	if (rules->erases && is_erased(rules, c))
		snprintf(why, sizeof why, "it is to be erased");
	else if (rules->max_days > 0 && c->age > rules->max_days)
		snprintf(why, sizeof why, "older than %" PRId64 " days", rules->max_days);
	else if (c->retention > 0 && c->age > c->retention)
		snprintf(why, sizeof why, "its retention of %" PRId64 " days is over", c->retention);
	else if (is_too_old(e, c))
		snprintf(why, sizeof why, "an exit note without a trace");
	else if (is_over(c, user, QUOTA_USER))
		snprintf(why, sizeof why, "its user's quota%s", damaged);
	else if (is_over(c, user, QUOTA_ALL))
		snprintf(why, sizeof why, "the archive's quota%s", damaged);
	else if (c->note) {
		int rv = goes_with_trace(e, c);
		if (rv < 0)
			return -1;
		if (rv > 0)
			snprintf(why, sizeof why, "its trace goes");
	}
	return why[0] ? e->file(e->context, c->folder, c->name, c->disk, why) : 0;
}

int expire_list(struct catalog *c, const struct expire *rules,
                int (*file)(void *context, const char *folder, const char *name, uint64_t size, const char *why),
                void *context, struct error *error)
{
	struct expiry e = {
		.catalog = c, .rules = rules, .error = error, .now = time(NULL), .file = file, .context = context};

	int rv = prepare(&e);
	if (!rv && (rules->user_quota || rules->quota))
		rv = walk(&e, count_bytes);
	if (!rv)
		rv = apply_quotas(&e);
	if (!rv)
		rv = walk(&e, tell_gone);
	sqlite3_finalize(e.next_day);
	sqlite3_finalize(e.of_day);
	sqlite3_finalize(e.of_step);
	free(e.users);
	return rv;
}
