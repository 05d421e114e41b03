/* SPDX-License-Identifier: BSD-3-Clause
 * expire - which files of an archive have had their time, by its index
 */
#include "archive/expire.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An exit note may come before its trace; one whose trace did not come in so long is of none. */
#define NOTE_DAYS 7

struct candidate {
	char day[12];
	char *name;
	uint64_t size;
	int64_t uid, age; /* days */
	bool goes;
	char why[96];
};

struct user {
	int64_t uid;
	uint64_t bytes;
};

struct candidates {
	struct candidate *items;
	size_t count, capacity;
	struct user *users;
	size_t user_count;
	uint64_t bytes; /* of what stays */
};

/* Days from a day's folder to today; a day that is none is 0 days old. */
static int64_t age_of(const char *day, time_t today)
{
	struct tm tm = {.tm_isdst = -1, .tm_hour = 12};
	if (sscanf(day, "%d/%d/%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	time_t then = mktime(&tm);
	return then == (time_t)-1 || then > today ? 0 : (int64_t)((today - then + 43200) / 86400);
}

static struct user *user_of(struct candidates *all, int64_t uid)
{
	for (size_t i = 0; i < all->user_count; i++) {
		if (all->users[i].uid == uid)
			return &all->users[i];
	}
	struct user *users = realloc(all->users, (all->user_count + 1) * sizeof *users);
	if (!users)
		return NULL;
	all->users = users;
	users[all->user_count] = (struct user){uid, 0};
	return &users[all->user_count++];
}

static struct candidate *add(struct candidates *all, sqlite3_stmt *s, time_t noon)
{
	if (all->count == all->capacity) {
		size_t capacity = all->capacity ? 2 * all->capacity : 1024;
		struct candidate *items = realloc(all->items, capacity * sizeof *items);
		if (!items)
			return NULL;
		all->items = items;
		all->capacity = capacity;
	}
	struct candidate *c = &all->items[all->count];
	*c = (struct candidate){.size = (uint64_t)sqlite3_column_int64(s, 2), .uid = sqlite3_column_int64(s, 3)};
	snprintf(c->day, sizeof c->day, "%s", (const char *)sqlite3_column_text(s, 0));
	c->name = strdup((const char *)sqlite3_column_text(s, 1));
	c->age = age_of(c->day, noon);
	if (!c->name)
		return NULL;
	all->count++;
	return c;
}

/* By what it says itself. */
static void judge(struct candidate *c, const struct expire *rules, int64_t retention, bool orphan)
{
	c->goes = true;
	if (rules->max_days > 0 && c->age > rules->max_days)
		snprintf(c->why, sizeof c->why, "older than %lld days", (long long)rules->max_days);
	else if (retention > 0 && c->age > retention)
		snprintf(c->why, sizeof c->why, "its retention of %lld days is over", (long long)retention);
	else if (orphan && c->age > NOTE_DAYS)
		snprintf(c->why, sizeof c->why, "an exit note without a trace");
	else
		c->goes = false;
}

static int gather(struct catalog *catalog, struct candidates *all, const struct expire *rules, struct error *error)
{
	/* a note's trace may be gone, or not have come */
	static const char sql[] =
		"SELECT f.day, f.file, f.size, f.uid, coalesce(t.retention, 0), n.id IS NOT NULL AND NOT EXISTS"
		" (SELECT 1 FROM trace o WHERE o.job = n.job AND o.step = n.step) FROM file f LEFT JOIN trace t USING (id)"
		" LEFT JOIN note n USING (id) ORDER BY f.day, coalesce(t.start_ns, f.mtime), f.file";
	time_t now = time(NULL);
	struct tm tm;
	sqlite3_stmt *s = NULL;
	int rc = SQLITE_DONE, rv = 0;

	localtime_r(&now, &tm);
	tm.tm_hour = 12;
	tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	time_t noon = mktime(&tm);
	if (sqlite3_prepare_v2(catalog->db, sql, -1, &s, NULL) != SQLITE_OK)
		return error_set(error, "%s: the index: %s", catalog->path, sqlite3_errmsg(catalog->db));
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct candidate *c = add(all, s, noon);
		struct user *user = c ? user_of(all, c->uid) : NULL;
		if (!user) {
			rv = error_set(error, "out of memory");
			break;
		}
		judge(c, rules, sqlite3_column_int64(s, 4), sqlite3_column_int(s, 5));
		if (!c->goes) {
			all->bytes += c->size;
			user->bytes += c->size;
		}
	}
	if (rv == 0 && rc != SQLITE_DONE)
		rv = error_set(error, "%s: the index: %s", catalog->path, sqlite3_errmsg(catalog->db));
	sqlite3_finalize(s);
	return rv;
}

/* The oldest first, until what stays fits. */
static void apply_quotas(struct candidates *all, const struct expire *rules)
{
	for (size_t i = 0; i < all->count; i++) {
		struct candidate *c = &all->items[i];
		struct user *user = user_of(all, c->uid);
		if (c->goes || !user)
			continue;
		bool too_much = rules->quota && all->bytes > rules->quota;
		bool user_too_much = rules->user_quota && user->bytes > rules->user_quota;
		if (!too_much && !user_too_much)
			continue;
		c->goes = true;
		snprintf(c->why, sizeof c->why, user_too_much ? "its user's quota" : "the archive's quota");
		all->bytes -= c->size;
		user->bytes -= c->size;
	}
}

int expire_list(struct catalog *c, const struct expire *rules,
                int (*file)(void *context, const char *day, const char *name, uint64_t size, const char *why), void *context, struct error *error)
{
	struct candidates all = {0};

	int rv = gather(c, &all, rules, error);
	if (!rv)
		apply_quotas(&all, rules);
	for (size_t i = 0; i < all.count && !rv; i++) {
		if (all.items[i].goes)
			rv = file(context, all.items[i].day, all.items[i].name, all.items[i].size, all.items[i].why);
	}
	for (size_t i = 0; i < all.count; i++)
		free(all.items[i].name);
	free(all.items);
	free(all.users);
	return rv;
}
