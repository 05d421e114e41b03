/* SPDX-License-Identifier: BSD-3-Clause
 * jobs - of libspoor: the index of an archive as tables
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/aggregate.h"
#include "archive/archive.h"
#include "archive/digest_update.h"
#include "archive/job_state.h"
#include "archive/scan.h"
#include "cmd/base/trends.h"
#include "lib/inside.h"

#define WAIT 2000 /* ms, for whoever changes the index */

struct spoor_archive {
	struct catalog *catalog;
};

static struct spoor_archive *failed(struct spoor_archive *a, char *text, const char *what)
{
	inside_say(text, what);
	spoor_archive_close(a);
	return NULL;
}

struct spoor_archive *spoor_archive_open(const char *path, char *text)
{
	struct error error = {""};
	struct scan scan = {.wait = WAIT};
	struct digest_update update = {.wait = WAIT};
	char folder[PATH_MAX];
	struct spoor_archive *a = calloc(1, sizeof *a);
	if (!a)
		return failed(a, text, "out of memory");
	/* catalog_open would make another user of the whole process */
	if (geteuid() == 0)
		return failed(a, text, "root does not read archives: do this as another user");
	if (!path && archive_default(folder, sizeof folder, &error) != 0)
		return failed(a, text, error.text);
	if (catalog_open(&a->catalog, path ? path : folder, archive_group(), &error) != 0 ||
	    scan_archive(a->catalog, &scan, &error) < 0 || digest_update(a->catalog, &update, &error) < 0)
		return failed(a, text, error.text);
	return a;
}

void spoor_archive_close(struct spoor_archive *a)
{
	if (!a)
		return;
	catalog_close(a->catalog);
	free(a);
}

/* Returns 0, or -1 with error set. */
static int catalog_filter_of(struct catalog_filter *to, const struct spoor_filter *from, struct error *error)
{
	*to = (struct catalog_filter)CATALOG_FILTER_ALL;
	if (!from)
		return 0;
	to->user = from->user;
	to->state = from->state;
	to->exe = from->exe;
	to->account = from->account;
	to->partition = from->partition;
	to->job_name = from->job_name;
	to->node = from->node;
	to->since = from->since;
	to->until = from->until;
	to->limit = from->limit;
	if (from->state && job_state_check_list(from->state) != 0)
		return error_set(error, "state %.100s: not known", from->state);
	if (from->jobs && job_id_parse_list(&to->jobs, from->jobs) != 0)
		return error_set(error, "job %.100s: not the number of a job", from->jobs);
	return 0;
}

/* --- jobs --- */

enum {
	JOB,
	TRACE,
	USER,
	STATE,
	REASON,
	EXE,
	APPLICATION,
	JOB_NAME,
	ACCOUNT,
	PARTITION,
	START,
	END,
	RANKS,
	NODES,
	SIZE,
	MPI,
	PATH,
	JOB_COLUMNS
};

static const struct table_column job_columns[JOB_COLUMNS] = {
	[JOB] = {"job", SPOOR_INTEGERS},
	[TRACE] = {"trace", SPOOR_TEXTS},
	[USER] = {"user", SPOOR_TEXTS},
	[STATE] = {"state", SPOOR_TEXTS},
	[REASON] = {"reason", SPOOR_TEXTS},
	[EXE] = {"exe", SPOOR_TEXTS},
	[APPLICATION] = {"application", SPOOR_TEXTS},
	[JOB_NAME] = {"job_name", SPOOR_TEXTS},
	[ACCOUNT] = {"account", SPOOR_TEXTS},
	[PARTITION] = {"partition", SPOOR_TEXTS},
	[START] = {"start_ns", SPOOR_INTEGERS},
	[END] = {"end_ns", SPOOR_INTEGERS},
	[RANKS] = {"ranks", SPOOR_INTEGERS},
	[NODES] = {"nodes", SPOOR_INTEGERS},
	[SIZE] = {"size", SPOOR_INTEGERS},
	[MPI] = {"mpi", SPOOR_NUMBERS},
	[PATH] = {"path", SPOOR_TEXTS},
};

struct jobs {
	struct spoor_table *out;
	const char *archive;
};

static int take_row(void *context, const struct catalog_row *r)
{
	const struct jobs *j = context;
	struct spoor_table *t = j->out;
	char path[2 * PATH_MAX];
	table_row(t);
	table_integer(t, JOB, (uint64_t)r->job);
	table_text(t, TRACE, r->name);
	table_text(t, USER, r->user);
	table_text(t, STATE, r->state);
	table_text(t, REASON, r->reason);
	table_text(t, EXE, r->exe);
	table_text(t, APPLICATION, r->application);
	table_text(t, JOB_NAME, r->job_name);
	table_text(t, ACCOUNT, r->account);
	table_text(t, PARTITION, r->partition);
	table_integer(t, START, (uint64_t)r->start_ns);
	table_integer(t, END, (uint64_t)r->end_ns);
	table_integer(t, RANKS, (uint64_t)r->ranks);
	table_integer(t, NODES, (uint64_t)r->nodes);
	table_integer(t, SIZE, r->size);
	if (r->figures[COLUMN_MPI] >= 0)
		table_number(t, MPI, r->figures[COLUMN_MPI]);
	snprintf(path, sizeof path, "%s/%s/%s.spoor", j->archive, r->folder, r->name);
	table_text(t, PATH, path);
	return 0;
}

struct spoor_table *spoor_jobs(struct spoor_archive *a, const struct spoor_filter *filter, char *text)
{
	struct error error = {""};
	struct catalog_filter wanted;
	struct jobs jobs = {table_create(job_columns, JOB_COLUMNS), a->catalog->archive};
	int rv = catalog_filter_of(&wanted, filter, &error);
	if (rv == 0 && (rv = catalog_lock(a->catalog, CATALOG_SHARE, WAIT, &error)) == 0) {
		rv = catalog_list(a->catalog, &wanted, false, take_row, &jobs, &error);
		catalog_lock(a->catalog, CATALOG_UNLOCK, 0, NULL);
	}
	if (rv == 0)
		return table_done(jobs.out, text);
	inside_say(text, error.text);
	spoor_table_free(jobs.out);
	return NULL;
}

/* --- sums --- */

static enum aggregate_by by_name(const char *name)
{
	int by = 0;
	while (aggregate_names[by] && strcmp(aggregate_names[by], name))
		by++;
	return (enum aggregate_by)by;
}

static void put_aggregate(struct spoor_table *out, const struct aggregate *a, const struct aggregate_group *g)
{
	uint32_t column = 1;
	table_row(out);
	table_text(out, 0, g->key);
	for (int i = 0; i < FIGURE_COLUMNS; i++) {
		if (!aggregate_has(a->by, (enum figure_column)i))
			continue;
		const double value = aggregate_value(a, g, (enum figure_column)i);
		if (value >= 0)
			table_number(out, column, value);
		column++;
	}
}

static struct spoor_table *put_groups(struct aggregate *a)
{
	struct spoor_table *out = table_create(NULL, 0);
	table_column(out, aggregate_names[a->by], SPOOR_TEXTS);
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (aggregate_has(a->by, (enum figure_column)i))
			table_column(out, figure_columns[i].json, SPOOR_NUMBERS);
	if (a->by == AGGREGATE_ALL)
		put_aggregate(out, a, &a->total);
	for (size_t i = 0; i < a->count; i++)
		put_aggregate(out, a, a->groups[i]);
	return out;
}

struct spoor_table *spoor_aggregate(struct spoor_archive *archive, const char *by, const struct spoor_filter *filter,
                                    char *text)
{
	struct error error = {""};
	struct catalog_filter wanted;
	struct aggregate *a = NULL;
	struct spoor_table *out = NULL;
	const enum aggregate_by kind = by_name(by);
	int rv = aggregate_names[kind] ? catalog_filter_of(&wanted, filter, &error)
	                               : error_set(&error, "there are no sums by %.100s", by);
	if (rv == 0 && (rv = catalog_lock(archive->catalog, CATALOG_SHARE, WAIT, &error)) == 0) {
		rv = aggregate_make(&a, archive->catalog, &wanted, kind, NULL, &error);
		catalog_lock(archive->catalog, CATALOG_UNLOCK, 0, NULL);
	}
	if (rv == 0) {
		aggregate_sort(a, FIGURE_COLUMNS, false);
		out = put_groups(a);
	}
	aggregate_destroy(a);
	if (rv == 0)
		return table_done(out, text);
	inside_say(text, error.text);
	return NULL;
}

/* --- trends --- */

enum { APPLICATION_OF, RANKS_OF, RUNS, MEDIAN, LAST, LAST_NS, CHANGE, SINCE, WHAT, AT, BEFORE, AFTER, TREND_COLUMNS };

static const struct table_column trend_columns[TREND_COLUMNS] = {
	[APPLICATION_OF] = {"application", SPOOR_TEXTS},
	[RANKS_OF] = {"ranks", SPOOR_INTEGERS},
	[RUNS] = {"runs", SPOOR_INTEGERS},
	[MEDIAN] = {"median_s", SPOOR_NUMBERS},
	[LAST] = {"last_s", SPOOR_NUMBERS},
	[LAST_NS] = {"last_ns", SPOOR_INTEGERS},
	[CHANGE] = {"change", SPOOR_NUMBERS},
	[SINCE] = {"since_ns", SPOOR_INTEGERS},
	[WHAT] = {"cause", SPOOR_TEXTS},
	[AT] = {"at", SPOOR_TEXTS},
	[BEFORE] = {"before_s", SPOOR_NUMBERS},
	[AFTER] = {"after_s", SPOOR_NUMBERS},
};

#define MEDIAN_RUNS 20 /* as `spoor trend` */

static void put_trend(struct spoor_table *out, const struct trend_line *l)
{
	table_row(out);
	table_text(out, APPLICATION_OF, l->application);
	table_integer(out, RANKS_OF, (uint64_t)l->ranks);
	table_integer(out, RUNS, l->runs);
	table_number(out, MEDIAN, l->median);
	table_number(out, LAST, l->last);
	table_integer(out, LAST_NS, (uint64_t)l->last_ns);
	table_number(out, CHANGE, l->change);
	if (l->change == 0)
		return;
	table_integer(out, SINCE, (uint64_t)l->since_ns);
	table_text(out, WHAT, l->cause.what);
	table_text(out, AT, l->at);
	if (*l->cause.what) {
		table_number(out, BEFORE, l->cause.before);
		table_number(out, AFTER, l->cause.after);
	}
}

struct spoor_table *spoor_trends(struct spoor_archive *a, const struct spoor_filter *filter, char *text)
{
	struct error error = {""};
	struct catalog_filter wanted;
	struct trends t = {.filter = &wanted, .last = MEDIAN_RUNS, .top = TRENDS_MOST};
	struct spoor_table *out = table_create(trend_columns, TREND_COLUMNS);
	int rv = catalog_filter_of(&wanted, filter, &error);
	wanted.since = wanted.since ? wanted.since : (int64_t)time(NULL) - TRENDS_SPAN;
	if (rv == 0 && (rv = catalog_lock(a->catalog, CATALOG_SHARE, WAIT, &error)) == 0) {
		rv = trends_read(&t, a->catalog, &error);
		catalog_lock(a->catalog, CATALOG_UNLOCK, 0, NULL);
	}
	if (rv == 0)
		trends_find_places(&t, a->catalog);
	for (size_t i = 0; rv == 0 && i < t.count; i++)
		put_trend(out, &t.lines[i]);
	trends_free(&t);
	if (rv == 0)
		return table_done(out, text);
	inside_say(text, error.text);
	spoor_table_free(out);
	return NULL;
}
