/* SPDX-License-Identifier: BSD-3-Clause
 * scan - brings the index of an archive up to date with its files
 */
#include "archive/scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"

/* The archive's clock may be another's, and its times may be coarse: a folder that was read so soon after its last change is read again. */
#define SETTLED_NS INT64_C(10000000000)
#define NOTE_MAX   4096

enum kind { TRACE, NOTE, DAMAGE, UNREADABLE };

/* --- the database --- */

/* A statement, prepared once and used many times; the first failure is kept in error. */
static sqlite3_stmt *prepare(struct catalog *c, const char *sql, struct error *error)
{
	sqlite3_stmt *s = NULL;
	if (sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) != SQLITE_OK)
		error_set(error, "%s: the index: %s", c->path, sqlite3_errmsg(c->db));
	return s;
}

static int bind(sqlite3_stmt *s, const char *types, va_list ap)
{
	int rc = SQLITE_OK;
	for (int i = 0; types[i] && rc == SQLITE_OK; i++) {
		if (types[i] == 'i') {
			rc = sqlite3_bind_int64(s, i + 1, va_arg(ap, int64_t));
		} else {
			const char *text = va_arg(ap, const char *);
			rc = text ? sqlite3_bind_text(s, i + 1, text, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(s, i + 1);
		}
	}
	return rc;
}

/* Executes one statement: types has `i` (int64_t) or `s` (text or NULL) for each value. */
static int change(struct catalog *c, struct error *error, const char *sql, const char *types, ...)
{
	va_list ap;
	sqlite3_stmt *s = prepare(c, sql, error);

	if (!s)
		return -1;
	va_start(ap, types);
	int rc = bind(s, types, ap);
	va_end(ap);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : error_set(error, "%s: the index: %s", c->path, sqlite3_errmsg(c->db));
}

/* --- the columns of a trace, out of its metadata --- */

static const struct column {
	const char *name; /* in the table and in the metadata */
	bool text;
} columns[] = {
	{"job", false}, {"step", true}, {"array_job", false}, {"array_task", false}, {"het_job_id", false}, {"user", true}, {"account", true},
	{"partition", true}, {"qos", true}, {"job_name", true}, {"cluster", true}, {"node", true}, {"exe", true}, {"state", true},
	{"mode", true}, {"rule", true}, {"reason", true}, {"mpi_library", true}, {"spoor_version", true}, {"ranks", false}, {"nodes", false},
	{"tasks", false}, {"exit_code", false}, {"signal", false}, {"partial", false}, {"retention", false}, {"start_ns", false}, {"end_ns", false},
};
#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static char *insert_text(void)
{
	static char sql[2048];
	size_t n = (size_t)snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO trace (id, day, name, size, uid, exe_name, hosts");
	for (int i = 0; i < COLUMNS; i++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ", %s", columns[i].name);
	n += (size_t)snprintf(sql + n, sizeof sql - n, ") VALUES (?, ?, ?, ?, ?, ?, ?");
	for (int i = 0; i < COLUMNS; i++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ", ?");
	snprintf(sql + n, sizeof sql - n, ")");
	return sql;
}

/* ["n1","n2"] as "n1,n2"; malloc'ed. */
static char *join_hosts(const json_t *hosts)
{
	size_t size = 1, i;
	const json_t *host;

	json_array_foreach(hosts, i, host)
		size += json_string_length(host) + 1;
	char *text = calloc(1, size), *p = text;
	json_array_foreach(hosts, i, host) {
		if (text && json_is_string(host))
			p += sprintf(p, "%s%s", p > text ? "," : "", json_string_value(host));
	}
	return text;
}

/* --- one day --- */

struct day {
	struct catalog *c;
	struct scan *scan;
	struct error *error;
	const char *day;
	char folder[4110];
	sqlite3_stmt *insert, *insert_file, *insert_json;
};

static int step(struct day *d, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : error_set(d->error, "%s: the index: %s", d->c->path, sqlite3_errmsg(d->c->db));
}

static int store_trace(struct day *d, int64_t id, const char *file, const struct stat *st, const json_t *metadata)
{
	const char *exe = metadata_text(metadata, "exe", ""), *slash = strrchr(exe, '/');
	char *hosts = join_hosts(json_object_get(metadata, "hosts"));
	char *text = json_dumps(metadata, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
	int rv = -1;

	sqlite3_bind_int64(d->insert, 1, id);
	sqlite3_bind_text(d->insert, 2, d->day, -1, SQLITE_STATIC);
	sqlite3_bind_text(d->insert, 3, file, (int)(strlen(file) - strlen(".spoor")), SQLITE_STATIC);
	sqlite3_bind_int64(d->insert, 4, st->st_size);
	sqlite3_bind_int64(d->insert, 5, st->st_uid);
	sqlite3_bind_text(d->insert, 6, slash ? slash + 1 : exe, -1, SQLITE_STATIC);
	sqlite3_bind_text(d->insert, 7, hosts, -1, SQLITE_STATIC);
	for (int i = 0; i < COLUMNS; i++) {
		if (columns[i].text)
			sqlite3_bind_text(d->insert, 8 + i, metadata_text(metadata, columns[i].name, ""), -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(d->insert, 8 + i, metadata_number(metadata, columns[i].name, 0));
		if (!strcmp(columns[i].name, "nodes") && hosts && *hosts) /* where its ranks were, not what the step had */
			sqlite3_bind_int64(d->insert, 8 + i, (int64_t)json_array_size(json_object_get(metadata, "hosts")));
	}
	if (!text || !hosts) {
		error_set(d->error, "out of memory");
	} else if (step(d, d->insert) == 0) {
		sqlite3_bind_int64(d->insert_json, 1, id);
		sqlite3_bind_text(d->insert_json, 2, text, -1, SQLITE_STATIC);
		rv = step(d, d->insert_json) ||
		     change(d->c, d->error, "INSERT OR IGNORE INTO touched VALUES (?, ?)", "is", metadata_number(metadata, "job", 0),
		            metadata_text(metadata, "step", ""));
	}
	free(hosts);
	free(text);
	return rv ? -1 : 0;
}

static int store_damage(struct day *d, int64_t id, const char *path, const char *problem)
{
	char text[5120];

	snprintf(text, sizeof text, "%s%s%s", path ? path : "", path ? ": " : "", problem);
	return change(d->c, d->error, "UPDATE file SET kind = 2 WHERE id = ?", "i", id) ||
	                       change(d->c, d->error, "INSERT OR REPLACE INTO damage VALUES (?, ?)", "is", id, text)
	               ? -1
	               : 0;
}

static int store_note(struct day *d, int64_t id, const char *path, const struct stat *st)
{
	json_error_t json;
	int rv = -1;

	if (st->st_size > NOTE_MAX)
		return store_damage(d, id, path, "an exit note of more than 4096 bytes");
	json_t *note = json_load_file(path, 0, &json);
	if (!json_is_object(note)) {
		rv = store_damage(d, id, path, note ? "not an object" : json.text);
	} else {
		int64_t job = metadata_number(note, "job", -1);
		const char *its_step = metadata_text(note, "step", "?");
		char *text = json_dumps(note, JSON_COMPACT);
		rv = change(d->c, d->error, "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?, ?)", "iisis", id, job, its_step, (int64_t)st->st_uid,
		            text) ||
		     change(d->c, d->error, "INSERT OR IGNORE INTO touched VALUES (?, ?)", "is", job, its_step);
		free(text);
	}
	json_decref(note);
	return rv ? -1 : 0;
}

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);
	return n > e && !strcmp(name + n - e, ending);
}

/* A file that is new, or another one than before. */
static int store_file(struct day *d, const char *file, const struct stat *st)
{
	char path[8300];
	struct error problem = {""};
	bool trace = ends_with(file, ".spoor");
	enum kind kind = trace ? TRACE : NOTE;

	snprintf(path, sizeof path, "%s/%s", d->folder, file);
	bool readable = S_ISREG(st->st_mode) && access(path, R_OK) == 0;
	if (S_ISREG(st->st_mode) && !readable) {
		if (!trace)
			return 0; /* somebody's note */
		kind = UNREADABLE;
	}
	sqlite3_bind_text(d->insert_file, 1, d->day, -1, SQLITE_STATIC);
	sqlite3_bind_text(d->insert_file, 2, file, -1, SQLITE_STATIC);
	sqlite3_bind_int(d->insert_file, 3, kind);
	const int64_t facts[] = {st->st_size, st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
	                         st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec, (int64_t)st->st_ino, st->st_uid};
	for (int i = 0; i < 5; i++)
		sqlite3_bind_int64(d->insert_file, 4 + i, facts[i]);
	if (step(d, d->insert_file))
		return -1;
	int64_t id = sqlite3_last_insert_rowid(d->c->db);
	if (!S_ISREG(st->st_mode))
		return store_damage(d, id, path, "not a regular file");
	if (!readable)
		return 0;
	if (!trace)
		return store_note(d, id, path, st);
	json_t *metadata = metadata_read(path, file, (unsigned long)st->st_uid, &problem);
	int rv = metadata ? store_trace(d, id, file, st, metadata) : store_damage(d, id, NULL, problem.text);
	json_decref(metadata);
	return rv;
}

/* What depends on a file goes with it; traces that its note counted for are looked at again. */
static int forget_file(struct day *d, int64_t id)
{
	return change(d->c, d->error, "INSERT OR IGNORE INTO touched SELECT job, step FROM note WHERE id = ?", "i", id) ||
	                       change(d->c, d->error, "DELETE FROM file WHERE id = ?", "i", id)
	               ? -1
	               : 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* as SQLite orders them */
}

static int is_ours(const struct dirent *e)
{
	return isdigit((unsigned char)e->d_name[0]) && (ends_with(e->d_name, ".spoor") || ends_with(e->d_name, ".exit"));
}

static bool is_same(sqlite3_stmt *known, const struct stat *st)
{
	return sqlite3_column_int64(known, 2) == st->st_size &&
	       sqlite3_column_int64(known, 3) == st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec &&
	       sqlite3_column_int64(known, 4) == st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec &&
	       sqlite3_column_int64(known, 5) == (int64_t)st->st_ino && sqlite3_column_int64(known, 6) == (int64_t)st->st_uid;
}

/* Both lists by name, side by side. Forgetting what is behind the cursor, and adding, do not disturb it: it was read into a temporary table. */
static int compare_lists(struct day *d, struct dirent **names, int n)
{
	sqlite3_stmt *known = prepare(d->c, "SELECT id, file, size, mtime, ctime, inode, uid FROM known ORDER BY file", d->error);
	int i = 0, rc = known ? sqlite3_step(known) : SQLITE_ERROR, rv = 0;

	while (rv == 0 && (rc == SQLITE_ROW || i < n)) {
		int order = rc != SQLITE_ROW ? -1 : i >= n ? 1 : strcmp(names[i]->d_name, (const char *)sqlite3_column_text(known, 1));
		char path[8300];
		struct stat st;
		bool there = false;
		if (order <= 0) {
			snprintf(path, sizeof path, "%s/%s", d->folder, names[i]->d_name);
			there = lstat(path, &st) == 0; /* if not, it was removed while we look */
		}
		bool same = order == 0 && there && is_same(known, &st);
		if (order >= 0 && !same) {
			rv = forget_file(d, sqlite3_column_int64(known, 0));
			d->scan->removed += order > 0 || !there;
		}
		if (rv == 0 && order <= 0 && there && !same) {
			rv = store_file(d, names[i]->d_name, &st);
			order < 0 ? d->scan->added++ : d->scan->changed++;
		}
		if (order >= 0)
			rc = sqlite3_step(known);
		i += order <= 0;
	}
	if (rv == 0 && rc != SQLITE_DONE)
		rv = error_set(d->error, "%s: the index: %s", d->c->path, sqlite3_errmsg(d->c->db));
	sqlite3_finalize(known);
	return rv;
}

/* --- exit notes --- */

/* As in the plugin: a signal is worse than any exit code. */
static int64_t severity(const json_t *object)
{
	int64_t signal = metadata_number(object, "signal", 0);
	return signal > 0 ? 256 + signal : metadata_number(object, "exit_code", 0);
}

static void merge_note(json_t *metadata, json_t *note)
{
	static const char *const keys[] = {"exit_code", "signal", "exit_task"};

	if (severity(note) <= severity(metadata))
		return;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (json_is_integer(json_object_get(note, keys[i])))
			json_object_set(metadata, keys[i], json_object_get(note, keys[i]));
	}
	json_object_set_new(metadata, "state", json_string(severity(metadata) > 256 ? "KILLED" : "FAILED"));
}

/* Only the notes of the trace's own user count. */
static int merge_notes(struct catalog *c, int64_t id, const char *text, struct error *error)
{
	json_t *metadata = json_loads(text, 0, NULL);
	int rv = -1;
	sqlite3_stmt *s = prepare(c, "SELECT n.json FROM note n JOIN trace t USING (job, step, uid) WHERE t.id = ? ORDER BY n.id", error);

	if (s && metadata) {
		sqlite3_bind_int64(s, 1, id);
		while (sqlite3_step(s) == SQLITE_ROW) {
			json_t *note = json_loads((const char *)sqlite3_column_text(s, 0), 0, NULL);
			if (note)
				merge_note(metadata, note);
			json_decref(note);
		}
		char *noted = json_dumps(metadata, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
		rv = change(c, error, "UPDATE metadata SET noted = nullif(?, json) WHERE id = ?", "si", noted, id) ||
		     change(c, error, "UPDATE trace SET state = ?, exit_code = ?, signal = ? WHERE id = ?", "siii",
		            metadata_text(metadata, "state", ""), metadata_number(metadata, "exit_code", 0),
		            metadata_number(metadata, "signal", 0), id);
		free(noted);
	}
	sqlite3_finalize(s);
	json_decref(metadata);
	return rv ? -1 : 0;
}

static int merge_touched(struct catalog *c, struct error *error)
{
	int rv = 0;
	sqlite3_stmt *s = prepare(c, "SELECT t.id, m.json FROM touched JOIN trace t USING (job, step) JOIN metadata m USING (id)"
	                          " WHERE m.noted IS NOT NULL OR EXISTS (SELECT 1 FROM note n WHERE n.job = t.job AND n.step = t.step)"
	                          " ORDER BY t.id", error);

	if (!s)
		return -1;
	while (rv == 0 && sqlite3_step(s) == SQLITE_ROW)
		rv = merge_notes(c, sqlite3_column_int64(s, 0), (const char *)sqlite3_column_text(s, 1), error);
	sqlite3_finalize(s);
	return rv;
}

/* --- days --- */

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t ns(struct timespec t)
{
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* True if the index has the day as it is now. */
static bool is_read(struct catalog *c, const char *day, const struct stat *st)
{
	sqlite3_stmt *s = prepare(c, "SELECT mtime, ctime, read FROM day WHERE day = ?", NULL);
	bool same = false;

	if (s && sqlite3_bind_text(s, 1, day, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		same = sqlite3_column_int64(s, 0) == ns(st->st_mtim) && sqlite3_column_int64(s, 1) == ns(st->st_ctim) &&
		       sqlite3_column_int64(s, 2) >= ns(st->st_mtim) + SETTLED_NS;
	sqlite3_finalize(s);
	return same;
}

static int read_day(struct day *d, const struct stat *st)
{
	static const char begin[] = "CREATE TEMP TABLE IF NOT EXISTS touched (job INTEGER, step TEXT, PRIMARY KEY (job, step)) WITHOUT ROWID;"
				    "DELETE FROM temp.touched; DROP TABLE IF EXISTS temp.known";
	int64_t read = now_ns();
	struct dirent **names = NULL;

	if (sqlite3_exec(d->c->db, begin, NULL, NULL, NULL) != SQLITE_OK)
		return error_set(d->error, "%s: the index: %s", d->c->path, sqlite3_errmsg(d->c->db));
	if (change(d->c, d->error, "CREATE TEMP TABLE known AS SELECT * FROM file WHERE day = ?", "s", d->day))
		return -1;
	int n = scandir(d->folder, &names, is_ours, compare_names);
	d->insert = prepare(d->c, insert_text(), d->error);
	d->insert_file = prepare(d->c, "INSERT INTO file (day, file, kind, size, mtime, ctime, inode, uid) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	                         d->error);
	d->insert_json = prepare(d->c, "INSERT OR REPLACE INTO metadata (id, json) VALUES (?, ?)", d->error);
	int rv = d->insert && d->insert_file && d->insert_json ? compare_lists(d, names, n > 0 ? n : 0) : -1;
	sqlite3_finalize(d->insert);
	sqlite3_finalize(d->insert_file);
	sqlite3_finalize(d->insert_json);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (rv || merge_touched(d->c, d->error))
		return -1;
	return n < 0 ? 0
	             : change(d->c, d->error, "INSERT OR REPLACE INTO day VALUES (?, ?, ?, ?)", "siii", d->day, ns(st->st_mtim), ns(st->st_ctim),
	                      read);
}

/* Under the exclusive lock, in one transaction. Returns 0, 1 if the lock could not be had, -1 with error set. */
static int update_day(struct catalog *c, struct scan *scan, const char *day, struct error *error)
{
	struct day d = {.c = c, .scan = scan, .error = error, .day = day};
	struct error locked = {""};
	struct stat st;
	int rv = 0;

	snprintf(d.folder, sizeof d.folder, "%s/%s", c->archive, day);
	if (lstat(d.folder, &st) || !S_ISDIR(st.st_mode))
		return 0;
	if (!scan->full && !catalog_lock(c, CATALOG_SHARE, scan->wait, NULL) && is_read(c, day, &st))
		return catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	if (catalog_lock(c, CATALOG_CHANGE, scan->wait, &locked)) {
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
		return scan->wait >= 0 ? 1 : error_set(error, "%s", locked.text);
	}
	/* Somebody else may have read it while this process waited. */
	if (scan->full || !is_read(c, day, &st)) {
		rv = change(c, error, "BEGIN IMMEDIATE", "");
		if (!rv) {
			rv = read_day(&d, &st);
			scan->days++;
			rv = change(c, error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
		}
	}
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return rv;
}

/* The days that the index has and the archive has not any more. */
static int forget_days(struct catalog *c, struct scan *scan, struct error *error)
{
	char gone[64][16], folder[4120];
	size_t n = 0;
	struct stat st;
	int rv = 0;

	if (catalog_lock(c, CATALOG_SHARE, scan->wait, NULL))
		return 1;
	sqlite3_stmt *s = prepare(c, "SELECT day FROM day", error);
	while (s && n < 64 && sqlite3_step(s) == SQLITE_ROW) {
		const char *day = (const char *)sqlite3_column_text(s, 0);
		snprintf(folder, sizeof folder, "%s/%s", c->archive, day);
		if (lstat(folder, &st) && errno == ENOENT)
			snprintf(gone[n++], sizeof gone[0], "%s", day);
	}
	sqlite3_finalize(s);
	if (n == 0 || !s) {
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
		return s ? 0 : -1;
	}
	if (catalog_lock(c, CATALOG_CHANGE, scan->wait, NULL))
		return 1;
	rv = change(c, error, "BEGIN IMMEDIATE", "");
	for (size_t i = 0; i < n && !rv; i++) {
		rv = change(c, error, "DELETE FROM file WHERE day = ?", "s", gone[i]);
		scan->removed += rv ? 0 : (size_t)sqlite3_changes(c->db);
		rv = rv || change(c, error, "DELETE FROM day WHERE day = ?", "s", gone[i]) ? -1 : 0;
	}
	rv = change(c, error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return rv == 0 && n == 64 ? forget_days(c, scan, error) : rv;
}

struct walk_days {
	struct catalog *c;
	struct scan *scan;
	struct error *error;
	uint64_t done, all;
};

static int visit_day(void *context, const char *path, const char *day)
{
	struct walk_days *w = context;
	(void)path;
	int rv = update_day(w->c, w->scan, day, w->error);
	if (w->scan->progress)
		w->scan->progress(w->scan->context, ++w->done, w->all);
	return rv;
}

static int count_day(void *context, const char *path, const char *day)
{
	struct walk_days *w = context;
	(void)path;
	(void)day;
	w->all++;
	return 0;
}

int scan_archive(struct catalog *c, struct scan *scan, struct error *error)
{
	struct walk_days w = {.c = c, .scan = scan, .error = error};

	scan->days = scan->added = scan->changed = scan->removed = 0;
	if (!c->writable)
		return 1;
	/* Begins it anew if need be, before the first question. */
	if (catalog_lock(c, CATALOG_SHARE, scan->wait, NULL)) {
		if (catalog_lock(c, CATALOG_CHANGE, scan->wait, scan->wait < 0 ? error : NULL))
			return scan->wait < 0 ? -1 : 1;
	}
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	if (scan->progress)
		archive_days(c->archive, 0, count_day, &w, NULL);
	int rv = archive_days(c->archive, 0, visit_day, &w, error);
	return rv ? rv : forget_days(c, scan, error);
}
