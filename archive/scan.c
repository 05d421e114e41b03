/* SPDX-License-Identifier: BSD-3-Clause
 * scan - brings the index of an archive up to date with its files
 */
#include "archive/scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/day.h"
#include "archive/join.h"
#include "trace/base/regular.h"

/* The archive's clock may be another's, and its times may be coarse: a folder that was read so soon after its last
 * change is read again. */
#define SETTLED_NS INT64_C(10000000000)
#define NOTE_MAX   4096
/* Files of one folder that are looked at: anybody can make more of them than memory has. */
#define FILES_MOST 500000
/* What is written at once, with the index locked: files, and folders that are read to their end. */
#define BATCH 256
#define MARKS 1024
/* Traces that one note counts for: a step has as many as it starts MPI jobs. */
#define NOTED_MOST "10000"
/* Nothing comes to a day that is over for so long: late parts and what a node's spool had kept go to the day on which
 * they come. */
#define OVER_DAYS (JOIN_AGE / 86400 + 1)

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
			rc = text ? sqlite3_bind_text(s, i + 1, text, -1, SQLITE_TRANSIENT)
			          : sqlite3_bind_null(s, i + 1);
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
	return rc == SQLITE_DONE || rc == SQLITE_ROW
	               ? 0
	               : error_set(error, "%s: the index: %s", c->path, sqlite3_errmsg(c->db));
}

/* --- the columns of a trace, out of its metadata --- */

static const struct column {
	const char *name; /* in the table and in the metadata */
	bool text;
} columns[] = {
	{"job", false},        {"step", true},        {"array_job", false},    {"array_task", false},
	{"het_job_id", false}, {"user", true},        {"account", true},       {"partition", true},
	{"qos", true},         {"job_name", true},    {"cluster", true},       {"node", true},
	{"exe", true},         {"state", true},       {"mode", true},          {"rule", true},
	{"reason", true},      {"mpi_library", true}, {"spoor_version", true}, {"ranks", false},
	{"nodes", false},      {"tasks", false},      {"exit_code", false},    {"signal", false},
	{"partial", false},    {"retention", false},  {"start_ns", false},     {"end_ns", false},
};
#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static char *insert_text(void)
{
	static char sql[2048];
	size_t n = (size_t)snprintf(sql, sizeof sql,
	                            "INSERT OR REPLACE INTO trace (id, folder, name, size, uid, exe_name, hosts");
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

	json_array_foreach(hosts, i, host) size += json_string_length(host) + 1;
	char *text = calloc(1, size), *p = text;
	json_array_foreach(hosts, i, host)
	{
		if (text && json_is_string(host))
			p += sprintf(p, "%s%s", p > text ? "," : "", json_string_value(host));
	}
	return text;
}

/* --- what is to be written --- */

/* A file that is new or changed, read; or one that is gone. */
struct found {
	char *folder, *file;
	struct stat st;
	bool gone;
	enum kind kind;
	json_t *json;  /* of TRACE and NOTE */
	char *problem; /* of DAMAGE */
};

/* A folder (a day's, or a user's in it) of which all is in the index. */
struct mark {
	char folder[DAY_SIZE + DAY_FOLDER_SIZE];
	int64_t mtime, ctime, read;
	bool there; /* of those that the index had: it is still there */
};

struct user {
	uid_t uid;
	char name[256];
};

/* Everything is read without the lock of the index, and then written with it, so much at a time. */
struct work {
	struct catalog *c;
	struct scan *scan;
	struct error *error;
	struct mark *known; /* what the index had at the beginning, by name */
	size_t known_count;
	struct found found[BATCH];
	struct mark marks[MARKS];
	size_t found_count, mark_count;
	struct user *users;
	size_t user_count;
	uint64_t days, all_days;
	sqlite3_stmt *insert, *insert_file, *insert_json;
};

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

static int step(struct work *w, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : error_set(w->error, "%s: the index: %s", w->c->path, sqlite3_errmsg(w->c->db));
}

static int store_trace(struct work *w, int64_t id, const struct found *f)
{
	const json_t *metadata = f->json;
	const char *exe = metadata_text(metadata, "exe", ""), *slash = strrchr(exe, '/');
	char *hosts = join_hosts(json_object_get(metadata, "hosts"));
	char *text = json_dumps(metadata, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
	int rv = -1;

	sqlite3_bind_int64(w->insert, 1, id);
	sqlite3_bind_text(w->insert, 2, f->folder, -1, SQLITE_STATIC);
	sqlite3_bind_text(w->insert, 3, f->file, (int)(strlen(f->file) - strlen(".spoor")), SQLITE_STATIC);
	sqlite3_bind_int64(w->insert, 4, f->st.st_size);
	sqlite3_bind_int64(w->insert, 5, f->st.st_uid);
	sqlite3_bind_text(w->insert, 6, slash ? slash + 1 : exe, -1, SQLITE_STATIC);
	sqlite3_bind_text(w->insert, 7, hosts, -1, SQLITE_STATIC);
	for (int i = 0; i < COLUMNS; i++) {
		if (columns[i].text)
			sqlite3_bind_text(w->insert, 8 + i, metadata_text(metadata, columns[i].name, ""), -1,
			                  SQLITE_STATIC);
		else
			sqlite3_bind_int64(w->insert, 8 + i, metadata_number(metadata, columns[i].name, 0));
		if (!strcmp(columns[i].name, "nodes") && hosts &&
		    *hosts) /* where its ranks were, not what the step had */
			sqlite3_bind_int64(w->insert, 8 + i,
			                   (int64_t)json_array_size(json_object_get(metadata, "hosts")));
	}
	if (!text || !hosts) {
		error_set(w->error, "out of memory");
	} else if (step(w, w->insert) == 0) {
		sqlite3_bind_int64(w->insert_json, 1, id);
		sqlite3_bind_text(w->insert_json, 2, text, -1, SQLITE_STATIC);
		rv = step(w, w->insert_json) ||
		     change(w->c, w->error, "INSERT OR IGNORE INTO touched VALUES (?)", "i", id);
	}
	free(hosts);
	free(text);
	return rv ? -1 : 0;
}

/* As in the plugin: a signal is worse than any exit code. */
static int64_t severity(const json_t *object)
{
	int64_t signal = metadata_number(object, "signal", 0), code = metadata_number(object, "exit_code", 0);
	return signal > 0 ? 256 + (signal < 256 ? signal : 256) : code < 0 ? 0 : code < 256 ? code : 256;
}

/* The traces of the same user for which a note counts are looked at again. */
static int touch(struct work *w, int64_t note)
{
	return change(w->c, w->error,
	              "INSERT OR IGNORE INTO touched SELECT t.id FROM note n JOIN trace t USING (job, step, uid) WHERE "
	              "n.id = ? LIMIT " NOTED_MOST,
	              "i", note);
}

static int store_note(struct work *w, int64_t id, const struct found *f)
{
	char *text = json_dumps(f->json, JSON_COMPACT);
	int rv = change(w->c, w->error, "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?, ?, ?)", "iisiis", id,
	                metadata_number(f->json, "job", -1), metadata_text(f->json, "step", "?"), (int64_t)f->st.st_uid,
	                severity(f->json), text) ||
	                         touch(w, id)
	                 ? -1
	                 : 0;
	free(text);
	return rv;
}

/* What was known of a file goes, with all that depends on it. */
static int forget_file(struct work *w, const struct found *f)
{
	sqlite3_stmt *s = prepare(w->c, "SELECT id FROM file WHERE folder = ? AND file = ?", w->error);
	int64_t id = 0;

	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, f->folder, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, f->file, -1, SQLITE_STATIC);
	if (sqlite3_step(s) == SQLITE_ROW)
		id = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return id && (touch(w, id) || change(w->c, w->error, "DELETE FROM file WHERE id = ?", "i", id)) ? -1 : 0;
}

static int store(struct work *w, const struct found *f)
{
	const int64_t facts[] = {f->st.st_size,         ns(f->st.st_mtim), ns(f->st.st_ctim),
	                         (int64_t)f->st.st_ino, f->st.st_uid,      f->st.st_blocks * INT64_C(512)};

	sqlite3_bind_text(w->insert_file, 1, f->folder, -1, SQLITE_STATIC);
	sqlite3_bind_text(w->insert_file, 2, f->file, -1, SQLITE_STATIC);
	sqlite3_bind_int(w->insert_file, 3, (int)f->kind);
	for (int i = 0; i < 6; i++)
		sqlite3_bind_int64(w->insert_file, 4 + i, facts[i]);
	if (step(w, w->insert_file))
		return -1;
	int64_t id = sqlite3_last_insert_rowid(w->c->db);
	switch (f->kind) {
	case TRACE:
		return store_trace(w, id, f);
	case NOTE:
		return store_note(w, id, f);
	case DAMAGE:
		return change(w->c, w->error, "INSERT OR REPLACE INTO damage VALUES (?, ?)", "is", id, f->problem);
	case UNREADABLE:
		break;
	}
	return 0;
}

/* --- exit notes --- */

static void merge_note(json_t *metadata, const json_t *note)
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

/* Only the notes of the trace's own user count, and of these the worst. */
static int merge_worst(struct work *w, int64_t id, const char *text)
{
	json_t *metadata = json_loads(text, 0, NULL);
	int rv = -1;
	sqlite3_stmt *s = prepare(w->c,
	                          "SELECT n.json FROM note n JOIN trace t USING (job, step, uid) WHERE t.id = ? ORDER "
	                          "BY n.severity DESC, n.id LIMIT 1",
	                          w->error);

	if (s && metadata) {
		sqlite3_bind_int64(s, 1, id);
		if (sqlite3_step(s) == SQLITE_ROW) {
			json_t *note = json_loads((const char *)sqlite3_column_text(s, 0), 0, NULL);
			if (note)
				merge_note(metadata, note);
			json_decref(note);
		}
		char *noted = json_dumps(metadata, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
		rv = change(w->c, w->error, "UPDATE metadata SET noted = nullif(?, json) WHERE id = ?", "si", noted,
		            id) ||
		     change(w->c, w->error, "UPDATE trace SET state = ?, exit_code = ?, signal = ? WHERE id = ?",
		            "siii", metadata_text(metadata, "state", ""), metadata_number(metadata, "exit_code", 0),
		            metadata_number(metadata, "signal", 0), id);
		free(noted);
	}
	sqlite3_finalize(s);
	json_decref(metadata);
	return rv ? -1 : 0;
}

static int merge_touched(struct work *w)
{
	int rv = 0;
	sqlite3_stmt *s = prepare(w->c,
	                          "SELECT t.id, m.json FROM touched JOIN trace t USING (id) JOIN metadata m USING (id)"
	                          " WHERE m.noted IS NOT NULL OR EXISTS (SELECT 1 FROM note n WHERE n.job = t.job AND "
	                          "n.step = t.step AND n.uid = t.uid)"
	                          " ORDER BY t.id",
	                          w->error);

	if (!s)
		return -1;
	while (rv == 0 && sqlite3_step(s) == SQLITE_ROW)
		rv = merge_worst(w, sqlite3_column_int64(s, 0), (const char *)sqlite3_column_text(s, 1));
	sqlite3_finalize(s);
	return rv;
}

/* --- writing --- */

static int write_all(struct work *w)
{
	static const char begin[] =
		"CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY); DELETE FROM temp.touched";
	int rv = 0;

	if (sqlite3_exec(w->c->db, begin, NULL, NULL, NULL) != SQLITE_OK)
		return error_set(w->error, "%s: the index: %s", w->c->path, sqlite3_errmsg(w->c->db));
	w->insert = prepare(w->c, insert_text(), w->error);
	w->insert_file = prepare(w->c,
	                         "INSERT INTO file (folder, file, kind, size, mtime, ctime, inode, uid, disk) VALUES "
	                         "(?, ?, ?, ?, ?, ?, ?, ?, ?)",
	                         w->error);
	w->insert_json = prepare(w->c, "INSERT OR REPLACE INTO metadata (id, json) VALUES (?, ?)", w->error);
	rv = w->insert && w->insert_file && w->insert_json ? 0 : -1;
	for (size_t i = 0; i < w->found_count && rv == 0; i++)
		rv = forget_file(w, &w->found[i]) || (!w->found[i].gone && store(w, &w->found[i])) ? -1 : 0;
	sqlite3_finalize(w->insert);
	sqlite3_finalize(w->insert_file);
	sqlite3_finalize(w->insert_json);
	if (rv == 0)
		rv = merge_touched(w);
	for (size_t i = 0; i < w->mark_count && rv == 0; i++)
		rv = change(w->c, w->error, "INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?)", "siii",
		            w->marks[i].folder, w->marks[i].mtime, w->marks[i].ctime, w->marks[i].read);
	return rv;
}

static void drop(struct work *w)
{
	for (size_t i = 0; i < w->found_count; i++) {
		struct found *f = &w->found[i];
		free(f->folder);
		free(f->file);
		free(f->problem);
		json_decref(f->json);
	}
	w->found_count = w->mark_count = 0;
}

/* Under the exclusive lock, in one transaction. Returns 0, 1 if the lock could not be had, -1 with error set. */
static int flush(struct work *w)
{
	struct error locked = {""};
	int rv = 0;

	if (w->found_count || w->mark_count) {
		if (catalog_lock(w->c, CATALOG_CHANGE, w->scan->wait, &locked)) {
			rv = w->scan->wait >= 0 ? 1 : error_set(w->error, "%s", locked.text);
		} else if ((rv = change(w->c, w->error, "BEGIN IMMEDIATE", "")) == 0) {
			rv = write_all(w);
			rv = change(w->c, w->error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
		}
		catalog_lock(w->c, CATALOG_UNLOCK, 0, NULL);
	}
	drop(w);
	return rv;
}

static int mark(struct work *w, const char *folder, const struct stat *st, int64_t read)
{
	struct mark *m = &w->marks[w->mark_count++];

	snprintf(m->folder, sizeof m->folder, "%s", folder);
	m->mtime = ns(st->st_mtim);
	m->ctime = ns(st->st_ctim);
	m->read = read;
	return w->mark_count == MARKS ? flush(w) : 0;
}

/* --- files --- */

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);
	return n > e && !strcmp(name + n - e, ending);
}

/* The user is the file's owner, whatever the metadata say. */
static const char *user_name(struct work *w, uid_t uid)
{
	static char number[24];

	for (size_t i = 0; i < w->user_count; i++)
		if (w->users[i].uid == uid)
			return w->users[i].name;
	const struct passwd *pw = getpwuid(uid);
	struct user *more = realloc(w->users, (w->user_count + 1) * sizeof *more);
	if (more) {
		w->users = more;
		more[w->user_count].uid = uid;
		snprintf(more[w->user_count].name, sizeof more->name, pw ? "%s" : "%.0s%lu", pw ? pw->pw_name : "",
		         (unsigned long)uid);
		return more[w->user_count++].name;
	}
	snprintf(number, sizeof number, "%lu", (unsigned long)uid);
	return number;
}

static json_t *read_note(const char *path, uid_t uid, struct error *error)
{
	json_error_t json;
	char *text = NULL;
	size_t size;

	if (regular_read(AT_FDCWD, path, uid, NOTE_MAX, &text, &size, error))
		return NULL;
	json_t *note = json_loadb(text, size, 0, &json);
	free(text);
	if (note && json_is_object(note))
		return note;
	error_set(error, "%s: %s", path, note ? "not an object" : json.text);
	json_decref(note);
	return NULL;
}

/* What is in it. owner: of the folder. */
static void read_file(struct work *w, struct found *f, const char *path, uid_t owner)
{
	bool trace = ends_with(f->file, ".spoor");
	struct error problem = {""};

	f->kind = trace ? TRACE : NOTE;
	if (!S_ISREG(f->st.st_mode))
		error_set(&problem, "%s: not a regular file", path);
	else if (f->st.st_uid != owner)
		error_set(&problem, "%s: is of user %lu, in a folder of user %lu", path, (unsigned long)f->st.st_uid,
		          (unsigned long)owner);
	else if (access(path, R_OK))
		f->kind = UNREADABLE;
	else
		f->json = trace ? metadata_read(path, f->file, (unsigned long)f->st.st_uid, &problem)
		                : read_note(path, f->st.st_uid, &problem);
	if (f->json && trace) {
		json_object_set_new(f->json, "user", json_string(user_name(w, f->st.st_uid)));
		json_object_set_new(f->json, "uid", json_integer(f->st.st_uid));
	}
	if (!problem.text[0])
		return;
	f->kind = DAMAGE;
	f->problem = strdup(problem.text);
}

/* A file that is new, or another one than before, or gone (st NULL). */
static int add_file(struct work *w, const char *path, const char *folder, const char *file, const struct stat *st,
                    uid_t owner)
{
	struct found *f = &w->found[w->found_count++];
	char full[8300];

	*f = (struct found){.folder = strdup(folder), .file = strdup(file), .gone = !st};
	if (!f->folder || !f->file)
		return error_set(w->error, "out of memory");
	if (st) {
		f->st = *st;
		snprintf(full, sizeof full, "%s/%s", path, file);
		read_file(w, f, full, owner);
	}
	return w->found_count == BATCH ? flush(w) : 0;
}

/* --- folders --- */

/* A file as the index has it, or as it is (then only the name). */
struct listed {
	char *file;
	int64_t size, mtime, ctime, inode, uid;
};

struct list {
	struct listed *items;
	size_t count, room;
};

static struct listed *list_add(struct list *l, const char *file)
{
	if (l->count == l->room) {
		struct listed *more = realloc(l->items, (l->room ? 2 * l->room : 64) * sizeof *more);
		if (!more)
			return NULL;
		l->items = more;
		l->room = l->room ? 2 * l->room : 64;
	}
	struct listed *item = &l->items[l->count];
	*item = (struct listed){.file = strdup(file)};
	l->count += item->file != NULL;
	return item->file ? item : NULL;
}

static void list_free(struct list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->items[i].file);
	free(l->items);
}

static int by_file(const void *a, const void *b)
{
	return strcmp(((const struct listed *)a)->file, ((const struct listed *)b)->file);
}

static int list_known(struct work *w, const char *folder, struct list *l)
{
	int rv = 0, rc;

	if (catalog_lock(w->c, CATALOG_SHARE, w->scan->wait, w->scan->wait < 0 ? w->error : NULL))
		return w->scan->wait < 0 ? -1 : 1;
	sqlite3_stmt *s =
		prepare(w->c, "SELECT file, size, mtime, ctime, inode, uid FROM file WHERE folder = ?", w->error);
	if (s)
		sqlite3_bind_text(s, 1, folder, -1, SQLITE_STATIC);
	while (s && !rv && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct listed *item = list_add(l, (const char *)sqlite3_column_text(s, 0));
		rv = item ? 0 : error_set(w->error, "out of memory");
		if (item) {
			item->size = sqlite3_column_int64(s, 1);
			item->mtime = sqlite3_column_int64(s, 2);
			item->ctime = sqlite3_column_int64(s, 3);
			item->inode = sqlite3_column_int64(s, 4);
			item->uid = sqlite3_column_int64(s, 5);
		}
	}
	sqlite3_finalize(s);
	catalog_lock(w->c, CATALOG_UNLOCK, 0, NULL);
	return s ? rv : -1;
}

/* Returns the folder's owner through st; a folder that is not ours to list is empty. */
static int list_there(struct work *w, const char *path, struct stat *st, struct list *l)
{
	int rv = 0, fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 && !fstat(fd, st) ? fdopendir(fd) : NULL;

	for (struct dirent *e; dir && !rv && l->count < FILES_MOST && (e = readdir(dir));) {
		if (isdigit((unsigned char)e->d_name[0]) &&
		    (ends_with(e->d_name, ".spoor") || ends_with(e->d_name, ".exit")))
			rv = list_add(l, e->d_name) ? 0 : error_set(w->error, "out of memory");
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return rv;
}

static bool is_same(const struct listed *known, const struct stat *st)
{
	return known->size == st->st_size && known->mtime == ns(st->st_mtim) && known->ctime == ns(st->st_ctim) &&
	       known->inode == (int64_t)st->st_ino && known->uid == (int64_t)st->st_uid;
}

/* Both lists by name, side by side. */
static int compare_lists(struct work *w, const char *path, const char *folder, uid_t owner, const struct list *known,
                         const struct list *there)
{
	char full[8300];
	struct stat st;
	int rv = 0;

	for (size_t i = 0, k = 0; rv == 0 && (i < there->count || k < known->count);) {
		int order = k == known->count   ? -1
		            : i == there->count ? 1
		                                : strcmp(there->items[i].file, known->items[k].file);
		const char *file = order <= 0 ? there->items[i].file : known->items[k].file;
		snprintf(full, sizeof full, "%s/%s", path, file);
		bool is_there = order <= 0 && lstat(full, &st) == 0; /* if not, it was removed while we look */
		bool same = order == 0 && is_there && is_same(&known->items[k], &st);
		if (!same && (order >= 0 || is_there)) {
			*(!is_there ? &w->scan->removed : order < 0 ? &w->scan->added : &w->scan->changed) += 1;
			rv = add_file(w, path, folder, file, is_there ? &st : NULL, owner);
		}
		i += order <= 0;
		k += order >= 0;
	}
	return rv;
}

static int by_folder(const void *a, const void *b)
{
	return strcmp(((const struct mark *)a)->folder, ((const struct mark *)b)->folder);
}

static struct mark *find_known(const struct work *w, const char *folder)
{
	struct mark key;
	snprintf(key.folder, sizeof key.folder, "%s", folder);
	return w->known_count ? bsearch(&key, w->known, w->known_count, sizeof *w->known, by_folder) : NULL;
}

/* True if the index has the folder as it is now. */
static bool is_read(const struct mark *m, const struct stat *st)
{
	return m && m->mtime == ns(st->st_mtim) && m->ctime == ns(st->st_ctim) &&
	       m->read >= ns(st->st_mtim) + SETTLED_NS;
}

static int visit_folder(void *context, const char *path, const char *folder)
{
	struct work *w = context;
	struct mark *m = find_known(w, folder);
	struct list known = {0}, there = {0};
	int64_t read = now_ns();
	struct stat st;
	int rv;

	if (m)
		m->there = true;
	if (lstat(path, &st) || (!w->scan->full && is_read(m, &st)))
		return 0;
	rv = list_known(w, folder, &known);
	if (rv == 0)
		rv = list_there(w, path, &st, &there);
	if (known.count)
		qsort(known.items, known.count, sizeof *known.items, by_file);
	if (there.count)
		qsort(there.items, there.count, sizeof *there.items, by_file);
	if (rv == 0)
		rv = compare_lists(w, path, folder, st.st_uid, &known, &there);
	list_free(&known);
	list_free(&there);
	w->scan->folders++;
	return rv ? rv : mark(w, folder, &st, read);
}

/* Folders of users change without a change of the day's. Those of a day that was over for long when it was read are
 * looked at when there is time for it. */
static int visit_day(void *context, const char *path, const char *day)
{
	struct work *w = context;
	struct mark *m = find_known(w, day);
	int64_t read = now_ns();
	struct stat st;

	if (m)
		m->there = true;
	if (lstat(path, &st))
		return 0;
	bool same = is_read(m, &st), over = same && day_age(day, m->read / 1000000000) > OVER_DAYS;
	int rv = 0;
	if (over && !w->scan->old && !w->scan->full)
		m->read = 0; /* forget_folders: what is in it was not looked for */
	else if ((rv = archive_day_folders(path, day, visit_folder, w)) == 0 &&
	         (!same || (!over && day_age(day, read / 1000000000) > OVER_DAYS)))
		rv = mark(w, day, &st, read);
	if (w->scan->progress)
		w->scan->progress(w->scan->context, ++w->days, w->all_days);
	return rv;
}

static int count_day(void *context, const char *path, const char *day)
{
	struct work *w = context;
	(void)path;
	(void)day;
	w->all_days++;
	return 0;
}

/* --- all --- */

static int load_known(struct work *w)
{
	size_t room = 0;
	int rv = 0;

	sqlite3_stmt *s = prepare(w->c, "SELECT folder, mtime, ctime, read FROM folder ORDER BY folder", w->error);
	while (s && !rv && sqlite3_step(s) == SQLITE_ROW) {
		if (w->known_count == room) {
			struct mark *more = realloc(w->known, (room = room ? 2 * room : 1024) * sizeof *more);
			if (!more) {
				rv = error_set(w->error, "out of memory");
				break;
			}
			w->known = more;
		}
		struct mark *m = &w->known[w->known_count++];
		*m = (struct mark){.mtime = sqlite3_column_int64(s, 1),
		                   .ctime = sqlite3_column_int64(s, 2),
		                   .read = sqlite3_column_int64(s, 3)};
		snprintf(m->folder, sizeof m->folder, "%s", (const char *)sqlite3_column_text(s, 0));
	}
	sqlite3_finalize(s);
	return s ? rv : -1;
}

/* Folders that the index has and the archive has not any more. */
static int forget_folders(struct work *w)
{
	char day[DAY_SIZE] = "", path[4130];
	struct stat st;
	bool skipped = false;
	int rv = 0;

	for (size_t i = 0; i < w->known_count && rv == 0; i++) {
		const struct mark *m = &w->known[i];
		if (strncmp(m->folder, day, DAY_SIZE - 1)) {
			snprintf(day, sizeof day, "%.10s", m->folder);
			skipped = m->there && m->read == 0;
		}
		snprintf(path, sizeof path, "%s/%s", w->c->archive, m->folder);
		if (m->there || skipped || !lstat(path, &st) || errno != ENOENT)
			continue;
		if (catalog_lock(w->c, CATALOG_CHANGE, w->scan->wait, w->scan->wait < 0 ? w->error : NULL))
			return w->scan->wait < 0 ? -1 : 1;
		rv = change(w->c, w->error, "BEGIN IMMEDIATE", "");
		if (!rv) {
			rv = change(w->c, w->error, "DELETE FROM file WHERE folder = ?", "s", m->folder);
			w->scan->removed += rv ? 0 : (size_t)sqlite3_changes(w->c->db);
			rv = rv || change(w->c, w->error, "DELETE FROM folder WHERE folder = ?", "s", m->folder) ? -1
			                                                                                         : 0;
			rv = change(w->c, w->error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
		}
		catalog_lock(w->c, CATALOG_UNLOCK, 0, NULL);
	}
	return rv;
}

int scan_archive(struct catalog *c, struct scan *scan, struct error *error)
{
	scan->folders = scan->added = scan->changed = scan->removed = 0;
	if (!c->writable)
		return 1;
	struct work *w = calloc(1, sizeof *w);
	if (!w)
		return error_set(error, "out of memory");
	*w = (struct work){.c = c, .scan = scan, .error = error};
	/* Begins it anew if need be, before the first question. */
	int rv = catalog_lock(c, CATALOG_SHARE, scan->wait, NULL) &&
	                         catalog_lock(c, CATALOG_CHANGE, scan->wait, scan->wait < 0 ? error : NULL)
	                 ? (scan->wait < 0 ? -1 : 1)
	                 : load_known(w);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	if (rv == 0 && scan->progress)
		archive_days(c->archive, 0, count_day, w, NULL);
	if (rv == 0)
		rv = archive_days(c->archive, 0, visit_day, w, error);
	if (rv == 0)
		rv = flush(w);
	if (rv == 0)
		rv = forget_folders(w);
	drop(w);
	free(w->known);
	free(w->users);
	free(w);
	return rv;
}
