/* SPDX-License-Identifier: BSD-3-Clause
 * digest_update - puts the digests of traces into the index of an archive
 *
 *     threads: take the next task, read its trace      [ window of results, in order ]      caller: writes a batch in
 *         one transaction
 */
#include "archive/digest_update.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/calls.h"
#include "archive/day.h"
#include "archive/digest.h"
#include "archive/figure_row.h"
#include "archive/query.h"
#include "archive/text_table.h"

#define WINDOW 2048  /* results in memory */
#define BATCH  256   /* of one transaction: others may use the index in between */
#define TASKS  50000 /* that are listed at once */

struct task {
	int64_t id, mtime, ctime, inode, uid;
	char folder[DAY_SIZE + DAY_FOLDER_SIZE], *file;
};

struct result {
	struct digest digest;
	struct error problem; /* empty: none */
	bool done;
};

struct workers {
	const char *archive;
	struct task *tasks;
	size_t count, capacity, next, written;
	uint64_t all;           /* tasks that there were in the beginning, about */
	struct result *results; /* of task i: i % WINDOW */
	pthread_mutex_t mutex;
	pthread_cond_t done, room;
	bool stop;
};

unsigned digest_cores(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return n < 1 ? 1 : n > 64 ? 64 : (unsigned)n;
}

/* --- what is to be done --- */

static int add_task(struct workers *g, sqlite3_stmt *s)
{
	if (g->count == g->capacity) {
		size_t capacity = g->capacity ? 2 * g->capacity : 1024;
		struct task *more = realloc(g->tasks, capacity * sizeof *more);
		if (!more)
			return -1;
		g->tasks = more;
		g->capacity = capacity;
	}
	struct task *t = &g->tasks[g->count];
	*t = (struct task){.id = sqlite3_column_int64(s, 0),
	                   .mtime = sqlite3_column_int64(s, 3),
	                   .ctime = sqlite3_column_int64(s, 4),
	                   .inode = sqlite3_column_int64(s, 5),
	                   .uid = sqlite3_column_int64(s, 6)};
	const char *folder = (const char *)sqlite3_column_text(s, 1), *file = (const char *)sqlite3_column_text(s, 2);
	snprintf(t->folder, sizeof t->folder, "%s", folder ? folder : "");
	t->file = file ? strdup(file) : NULL;
	if (!t->file)
		return -1;
	g->count++;
	return 0;
}

/* y: what is gone through, in its own order, so that it ends with the last task */
#define BEHIND  " AND y.id > ?2 ORDER BY y.id LIMIT ?3"
#define TASK    "SELECT t.id, x.text, f.file, f.mtime, f.ctime, f.inode, f.uid FROM "
#define TASK_OF " CROSS JOIN stored_trace t USING (id) JOIN stored_file f USING (id) JOIN text x ON x.id = f.folder"

/* Have all digests that are there this version? Then what lacks one is known. */
static bool is_digest_version(struct catalog *c)
{
	return query_number(c, "SELECT value FROM about WHERE name = 'digest'", 0) == digest_version();
}

/* The next TASKS, of ids above `after`. */
static int list_tasks(struct catalog *c, struct workers *g, int64_t after, struct error *error)
{
	static const char missing[] = TASK "undigested y" TASK_OF " WHERE ?1 > 0" BEHIND;
	static const char older[] =
		TASK "stored_file y" TASK_OF
		     " LEFT JOIN summary s ON s.id = t.id WHERE (s.id IS NULL OR s.version <> ?1)" BEHIND;
	sqlite3_stmt *s = query_statement(c, is_digest_version(c) ? missing : older, error);
	int rc, rv = 0;

	if (!s)
		return -1;
	const int64_t values[] = {digest_version(), after, TASKS};
	for (int i = 0; i < 3; i++)
		sqlite3_bind_int64(s, i + 1, values[i]);
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW)
		rv = add_task(g, s) ? error_set(error, "out of memory") : 0;
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(c, error);
	sqlite3_finalize(s);
	return rv;
}

/* --- reading --- */

static void *read_traces(void *context)
{
	struct workers *g = context;
	char path[PATH_MAX];

	pthread_mutex_lock(&g->mutex);
	for (;;) {
		while (!g->stop && g->next < g->count && g->next >= g->written + WINDOW)
			pthread_cond_wait(&g->room, &g->mutex);
		if (g->stop || g->next >= g->count)
			break;
		struct task *t = &g->tasks[g->next];
		struct result *r = &g->results[g->next++ % WINDOW];
		assert(g->next <= g->count && g->next <= g->written + WINDOW); /* no result is overwritten */
		pthread_mutex_unlock(&g->mutex);
		snprintf(path, sizeof path, "%s/%s/%s", g->archive, t->folder, t->file);
		r->problem.text[0] = '\0';
		digest_read(&r->digest, path, t->uid, &r->problem);
		pthread_mutex_lock(&g->mutex);
		r->done = true;
		pthread_cond_signal(&g->done);
	}
	pthread_mutex_unlock(&g->mutex);
	return NULL;
}

/* --- writing --- */

enum statement { SAME, DIGESTED, SUMMARY, FIND_PLACE, PLACE, CALLS, STATEMENTS };

static const char *const texts[STATEMENTS] = {
	[SAME] =
		"SELECT 1 FROM file WHERE id = ? AND folder = ? AND file = ? AND mtime = ? AND ctime = ? AND inode = ?",
	[DIGESTED] = "DELETE FROM undigested WHERE id = ?",
	[SUMMARY] = "INSERT OR REPLACE INTO summary (id, version, problem, sizes, verdict, cause, late_rank, "
		    "late_node, node_times"
#define FIGURE(ID, key, ...) ", " #key
#include "insight/figures.def"
		    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?"
#define FIGURE(...) ", ?"
#include "insight/figures.def"
		    ")",
	[FIND_PLACE] = "SELECT place FROM place WHERE identity = ?",
	[PLACE] = "INSERT INTO place (identity, function, frames) VALUES (?, ?, ?)",
	[CALLS] = "INSERT OR REPLACE INTO calls (id, packed) VALUES (?, ?)",
};

struct writing {
	struct catalog *c;
	struct error *error;
	sqlite3_stmt *s[STATEMENTS];
	struct text_table texts;
};

static int execute_statement(struct writing *w, enum statement statement)
{
	return query_step(w->c, w->s[statement], w->error);
}

/* Is the file still the one that was read? */
static bool is_still_there(struct writing *w, const struct task *t)
{
	sqlite3_stmt *s = w->s[SAME];
	const int64_t facts[] = {t->mtime, t->ctime, t->inode};

	sqlite3_bind_int64(s, 1, t->id);
	sqlite3_bind_text(s, 2, t->folder, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 3, t->file, -1, SQLITE_STATIC);
	for (int i = 0; i < 3; i++)
		sqlite3_bind_int64(s, 4 + i, facts[i]);
	int rc = sqlite3_step(s);
	sqlite3_reset(s);
	return rc == SQLITE_ROW;
}

static int write_summary(struct writing *w, int64_t id, const struct result *r)
{
	const struct digest *d = &r->digest;
	char sizes[FIGURE_ROW_SIZES];
	sqlite3_stmt *s = w->s[SUMMARY];

	sqlite3_clear_bindings(s);
	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, digest_version());
	if (r->problem.text[0]) {
		sqlite3_bind_text(s, 3, r->problem.text, -1, SQLITE_STATIC);
		return execute_statement(w, SUMMARY);
	}
	figure_row_write_sizes(sizes, d->sizes);
	sqlite3_bind_text(s, 4, sizes, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 5, d->verdict, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 6, outcome_name(d->cause), -1, SQLITE_STATIC);
	if (d->late_rank >= 0)
		sqlite3_bind_int64(s, 7, d->late_rank);
	sqlite3_bind_text(s, 8, d->late_node, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 9, d->node_times, -1, SQLITE_STATIC);
	figure_row_bind(&d->figures, s, 10);
	return execute_statement(w, SUMMARY);
}

static int find_place(struct writing *w, const struct digest_site *d, int64_t *place)
{
	sqlite3_stmt *find = w->s[FIND_PLACE], *insert = w->s[PLACE];

	sqlite3_bind_int64(find, 1, (int64_t)d->identity);
	int rc = sqlite3_step(find);
	if (rc == SQLITE_ROW)
		*place = sqlite3_column_int64(find, 0);
	sqlite3_reset(find);
	if (rc == SQLITE_ROW)
		return 0;
	sqlite3_bind_int64(insert, 1, (int64_t)d->identity);
	sqlite3_bind_text(insert, 2, d->function, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 3, d->frames, -1, SQLITE_STATIC);
	if (execute_statement(w, PLACE))
		return -1;
	*place = sqlite3_last_insert_rowid(w->c->db);
	return 0;
}

/* functions, places: room for the numbers of those of d. */
static int write_calls(struct writing *w, int64_t id, const struct digest *d, int64_t *functions, int64_t *places)
{
	struct writer packed = {.size = 0};
	int rv = 0;

	for (size_t i = 0; i < d->function_count && rv == 0; i++)
		rv = (functions[i] = text_table_id(&w->texts, d->functions[i].name, w->error)) < 0 ? -1 : 0;
	for (size_t i = 0; i < d->site_count && rv == 0; i++)
		rv = find_place(w, &d->sites[i], &places[i]);
	if (rv == 0)
		calls_pack(&packed, d, functions, places);
	if (packed.failed)
		rv = error_set(w->error, "out of memory");
	if (rv == 0) {
		sqlite3_bind_int64(w->s[CALLS], 1, id);
		sqlite3_bind_blob64(w->s[CALLS], 2, packed.data, packed.size, SQLITE_STATIC);
		rv = execute_statement(w, CALLS);
		sqlite3_clear_bindings(w->s[CALLS]);
	}
	writer_free(&packed);
	return rv;
}

static int write_result(struct writing *w, const struct task *t, const struct result *r)
{
	int64_t functions[DIGEST_FUNCTIONS], places[DIGEST_SITES];

	if (!is_still_there(w, t))
		return 0; /* the next one looks again */
	sqlite3_bind_int64(w->s[DIGESTED], 1, t->id);
	if (write_summary(w, t->id, r) || execute_statement(w, DIGESTED))
		return -1;
	return r->problem.text[0] ? 0 : write_calls(w, t->id, &r->digest, functions, places);
}

/* Tasks first .. end - 1, in one transaction. Returns 0, 1 if the lock could not be had, -1 with error set. */
static int write_batch(struct catalog *c, struct digest_update *h, struct workers *g, size_t first, size_t end,
                       struct error *error)
{
	struct writing w = {.c = c, .error = error};
	struct error locked = {""};
	int rv = 0;

	if (catalog_lock(c, CATALOG_CHANGE, h->wait, &locked)) {
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
		return h->wait >= 0 ? 1 : error_set(error, "%s", locked.text);
	}
	if (sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		rv = query_failed(c, error);
	bool begun = rv == 0;
	for (int i = 0; i < STATEMENTS && rv == 0; i++)
		rv = (w.s[i] = query_statement(c, texts[i], error)) ? 0 : -1;
	if (rv == 0)
		rv = text_table_open(&w.texts, c, error);
	for (size_t i = first; i < end && rv == 0; i++) {
		rv = write_result(&w, &g->tasks[i], &g->results[i % WINDOW]);
		h->problems += g->results[i % WINDOW].problem.text[0] != '\0';
	}
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(w.s[i]);
	text_table_close(&w.texts);
	if (begun && sqlite3_exec(c->db, rv ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL) != SQLITE_OK && rv == 0)
		rv = query_failed(c, error);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return rv;
}

/* With the mutex held, which is given back while batches are written. */
static int write_batches(struct catalog *c, struct digest_update *h, struct workers *g, struct error *error)
{
	int rv = 0;

	while (rv == 0 && g->written < g->count) {
		size_t first = g->written, most = g->count - first < BATCH ? g->count - first : BATCH, end = first;
		for (;;) {
			while (end < first + most && g->results[end % WINDOW].done)
				end++;
			if (end == first + most)
				break;
			pthread_cond_wait(&g->done, &g->mutex);
		}
		pthread_mutex_unlock(&g->mutex);
		rv = write_batch(c, h, g, first, end, error);
		for (size_t i = first; i < end; i++) {
			digest_free(&g->results[i % WINDOW].digest);
			g->results[i % WINDOW].done = false;
		}
		h->done += rv ? 0 : end - first;
		if (h->progress)
			h->progress(h->context, h->done, h->done > g->all ? h->done : g->all);
		pthread_mutex_lock(&g->mutex);
		g->written = end;
		pthread_cond_broadcast(&g->room);
	}
	return rv;
}

static int run_workers(struct catalog *c, struct digest_update *h, struct workers *g, struct error *error)
{
	unsigned wanted = h->threads ? h->threads : digest_cores(), started = 0;
	pthread_t threads[64];
	int rv;

	if (wanted > 64)
		wanted = 64;
	if (wanted > g->count)
		wanted = (unsigned)g->count;
	while (started < wanted && pthread_create(&threads[started], NULL, read_traces, g) == 0)
		started++;
	if (started == 0)
		return error_set(error, "a thread cannot be started");
	pthread_mutex_lock(&g->mutex);
	rv = write_batches(c, h, g, error);
	g->stop = true;
	pthread_cond_broadcast(&g->room);
	pthread_mutex_unlock(&g->mutex);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < WINDOW; i++)
		if (g->results[i].done)
			digest_free(&g->results[i].digest);
	return rv;
}

/* Up to TASKS traces. Returns as digest_update; *last gets the id of the last one, INT64_MAX if no more follow. */
static int digest_some(struct catalog *c, struct digest_update *h, uint64_t all, int64_t *last, struct error *error)
{
	struct workers g = {.archive = c->archive,
	                    .all = all,
	                    .mutex = PTHREAD_MUTEX_INITIALIZER,
	                    .done = PTHREAD_COND_INITIALIZER,
	                    .room = PTHREAD_COND_INITIALIZER};
	int rv;

	if (catalog_lock(c, CATALOG_SHARE, h->wait, error))
		return h->wait >= 0 ? (error->text[0] = '\0', 1) : -1;
	rv = list_tasks(c, &g, *last, error);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	*last = g.count == TASKS ? g.tasks[g.count - 1].id : INT64_MAX;
	if (rv == 0 && g.count > 0 && !c->writable)
		rv = 1;
	if (rv == 0 && g.count > 0) {
		g.results = calloc(WINDOW, sizeof *g.results);
		rv = g.results ? run_workers(c, h, &g, error) : error_set(error, "out of memory");
	}
	for (size_t i = 0; i < g.count; i++)
		free(g.tasks[i].file);
	free(g.tasks);
	free(g.results);
	return rv;
}

/* All have a digest of this version now. */
static int mark_version(struct catalog *c, struct digest_update *h, struct error *error)
{
	struct error locked = {""};

	if (!c->writable || catalog_lock(c, CATALOG_CHANGE, h->wait, &locked))
		return 1;
	int rv = query_execute(c, error, "UPDATE about SET value = ? WHERE name = 'digest'", "i", digest_version());
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return rv;
}

int digest_update(struct catalog *c, struct digest_update *h, struct error *error)
{
	int64_t last = 0;
	uint64_t all;
	bool current;
	int rv = 0;

	h->done = h->problems = 0;
	if (catalog_lock(c, CATALOG_SHARE, h->wait, error))
		return h->wait >= 0 ? (error->text[0] = '\0', 1) : -1;
	current = is_digest_version(c);
	all = (uint64_t)query_number(
		c, current ? "SELECT count(*) FROM undigested" : "SELECT count(*) FROM stored_trace", 0);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	while (rv == 0 && last < INT64_MAX)
		rv = digest_some(c, h, all, &last, error);
	return rv == 0 && !current ? mark_version(c, h, error) : rv;
}
