/* SPDX-License-Identifier: BSD-3-Clause
 * expire - which files of an archive have had their time, by its index
 */
#include "archive/expire.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/day.h"
#include "archive/query.h"
#include "trace/base/budget.h"

/* An exit note may come before its trace; one whose trace did not come in so long is of none. */
#define NOTE_DAYS 7

struct candidate {
	char folder[DAY_SIZE + DAY_FOLDER_SIZE];
	char *name;
	uint64_t disk;
	int64_t uid, age; /* days */
	int64_t job;
	char step[12];
	bool damaged, note, goes;
	bool trace_stays, trace_goes; /* of a note: any of those it is of */
	char why[96];
};

struct user {
	int64_t uid;
	uint64_t bytes;
};

struct candidates {
	struct candidate *items;
	uint32_t count, capacity;
	struct user *users;
	size_t user_count;
	uint64_t bytes; /* of what stays */
};

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

static struct candidate *add_candidate(struct candidates *all, sqlite3_stmt *s, int64_t now)
{
	if (!budget_grow(&all->items, all->count, &all->capacity, sizeof *all->items))
		return NULL;
	struct candidate *c = &all->items[all->count];
	*c = (struct candidate){.disk = (uint64_t)sqlite3_column_int64(s, 2),
	                        .uid = sqlite3_column_int64(s, 3),
	                        .damaged = sqlite3_column_int(s, 6) != 0,
	                        .note = sqlite3_column_int(s, 9) != 0,
	                        .job = sqlite3_column_int64(s, 7)};
	snprintf(c->step, sizeof c->step, "%s", query_text(s, 8));
	snprintf(c->folder, sizeof c->folder, "%s", (const char *)sqlite3_column_text(s, 0));
	c->name = strdup((const char *)sqlite3_column_text(s, 1));
	c->age = day_age(c->folder, now);
	if (!c->name)
		return NULL;
	all->count++;
	return c;
}

/* By what it says itself. */
static void judge_candidate(struct candidate *c, const struct expire *rules, int64_t retention, bool orphan)
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

static int list_candidates(struct catalog *catalog, struct candidates *all, const struct expire *rules,
                           struct error *error)
{
	/* a note's trace may be gone, or not have come */
	static const char sql[] =
		"SELECT x.text, f.file, f.disk, f.uid, coalesce(t.retention, 0), n.id IS NOT NULL AND NOT EXISTS"
		" (SELECT 1 FROM stored_trace o WHERE o.job = n.job AND o.step = n.step AND o.uid = n.uid), d.id IS "
		"NOT NULL,"
		" coalesce(t.job, n.job, 0), coalesce(t.step, n.step), n.id IS NOT NULL "
		"FROM stored_file f LEFT JOIN stored_trace t USING (id) LEFT JOIN note n USING (id) LEFT JOIN damage d "
		"USING "
		"(id) JOIN text x ON x.id = f.folder ORDER BY substr(x.text, 1, 10), "
		"coalesce(t.start_ns, f.mtime), f.file";
	int64_t now = time(NULL);
	sqlite3_stmt *s = query_statement(catalog, sql, error);
	int rc = SQLITE_DONE, rv = 0;

	if (!s)
		return -1;
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct candidate *c = add_candidate(all, s, now);
		struct user *user = c ? user_of(all, c->uid) : NULL;
		if (!user) {
			rv = error_set(error, "out of memory");
			break;
		}
		judge_candidate(c, rules, sqlite3_column_int64(s, 4), sqlite3_column_int(s, 5));
		if (!c->goes) {
			all->bytes += c->disk;
			user->bytes += c->disk;
		}
	}
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(catalog, error);
	sqlite3_finalize(s);
	return rv;
}

static void let_go(struct candidates *all, struct user *user, struct candidate *c, const char *why)
{
	assert(!c->goes && all->bytes >= c->disk && user->bytes >= c->disk); /* it was counted as staying */
	c->goes = true;
	snprintf(c->why, sizeof c->why, "%s%s", why, c->damaged ? ", and it is damaged" : "");
	all->bytes -= c->disk;
	user->bytes -= c->disk;
}

/* What is damaged, then the oldest of each. */
static void apply_user_quota(struct candidates *all, uint64_t quota)
{
	for (int damaged = 1; damaged >= 0; damaged--) {
		for (size_t i = 0; i < all->count; i++) {
			struct candidate *c = &all->items[i];
			struct user *user = user_of(all, c->uid);
			if (!c->goes && user && c->damaged == damaged && user->bytes > quota)
				let_go(all, user, c, "its user's quota");
		}
	}
}

static int by_user_bytes(const void *a, const void *b)
{
	const struct user *x = a, *y = b;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* As many bytes as each user may have so that all of them together have the quota. */
static uint64_t equal_share(struct candidates *all, uint64_t quota)
{
	uint64_t left = quota;

	if (all->user_count)
		qsort(all->users, all->user_count, sizeof *all->users, by_user_bytes);
	for (size_t i = 0; i < all->user_count; i++) {
		uint64_t share = left / (all->user_count - i);
		if (all->users[i].bytes > share)
			return share; /* and so have all that follow */
		left -= all->users[i].bytes;
	}
	return UINT64_MAX;
}

static void apply_quota(struct candidates *all, uint64_t quota)
{
	for (int damaged = 1; damaged >= 0; damaged--) {
		uint64_t share = damaged ? 0 : equal_share(all, quota);
		for (size_t i = 0; i < all->count && all->bytes > quota; i++) {
			struct candidate *c = &all->items[i];
			struct user *user = user_of(all, c->uid);
			if (!c->goes && user && c->damaged == damaged && user->bytes > share)
				let_go(all, user, c, "the archive's quota");
		}
	}
}

/* --- notes go with their traces --- */

static int by_step(const void *a, const void *b)
{
	const struct candidate *x = *(struct candidate *const *)a, *y = *(struct candidate *const *)b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->job != y->job ? (x->job < y->job ? -1 : 1) : strcmp(x->step, y->step);
}

/* A note counts for all traces of its step: it goes with the last of them. */
static int let_notes_go(struct candidates *all)
{
	struct candidate **notes = malloc((all->count + 1) * sizeof(struct candidate *));
	size_t n = 0;

	if (!notes)
		return -1;
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].note)
			notes[n++] = &all->items[i];
	if (n)
		qsort(notes, n, sizeof *notes, by_step);
	for (size_t i = 0; i < all->count && n; i++) {
		struct candidate *c = &all->items[i], **found;
		if (c->note || !(found = bsearch(&c, notes, n, sizeof *notes, by_step)))
			continue;
		while (found > notes && by_step(found - 1, &c) == 0)
			found--;
		(*found)->trace_goes |= c->goes;
		(*found)->trace_stays |= !c->goes;
	}
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && by_step(&notes[i - 1], &notes[i]) == 0) {
			notes[i]->trace_goes = notes[i - 1]->trace_goes;
			notes[i]->trace_stays = notes[i - 1]->trace_stays;
		}
		if (notes[i]->goes || !notes[i]->trace_goes || notes[i]->trace_stays)
			continue;
		notes[i]->goes = true;
		snprintf(notes[i]->why, sizeof notes[i]->why, "its trace goes");
	}
	free(notes);
	return 0;
}

int expire_list(struct catalog *c, const struct expire *rules,
                int (*file)(void *context, const char *folder, const char *name, uint64_t size, const char *why),
                void *context, struct error *error)
{
	struct candidates all = {0};

	int rv = list_candidates(c, &all, rules, error);
	if (!rv && rules->user_quota)
		apply_user_quota(&all, rules->user_quota);
	if (!rv && rules->quota)
		apply_quota(&all, rules->quota);
	if (!rv && let_notes_go(&all))
		rv = error_set(error, "out of memory");
	for (size_t i = 0; i < all.count && !rv; i++) {
		if (all.items[i].goes)
			rv = file(context, all.items[i].folder, all.items[i].name, all.items[i].disk, all.items[i].why);
	}
	for (size_t i = 0; i < all.count; i++)
		free(all.items[i].name);
	budget_free(all.items);
	free(all.users);
	return rv;
}
