/* SPDX-License-Identifier: BSD-3-Clause
 * scan - brings the index of an archive up to date with its files
 */
#include "archive/scan.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/day.h"
#include "archive/join.h"
#include "archive/metadata.h"
#include "archive/owner_names.h"
#include "archive/query.h"
#include "archive/store.h"
#include "trace/base/budget.h"
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
/* Nothing comes to a day that is over for so long: late parts and what a node's spool had kept go to the day on which
 * they come. */
#define OVER_DAYS (JOIN_AGE / 86400 + 1)

/* --- what is to be written --- */

/* Others may begin the index anew at any time: then all that was seen is seen again. So often, where somebody waits. */
#define ANEW_MOST 3
#define ANEW      2

/* A folder that the index had. */
struct known {
	struct stored_folder at;
	bool there; /* it is still there */
};

/* Everything is read without the lock of the index, and then written with it, so much at a time. */
struct work {
	struct catalog *c;
	struct scan *scan;
	struct error *error;
	struct known *known; /* what the index had at the beginning, by name */
	uint32_t known_count, known_room;
	struct stored_file found[BATCH];
	struct stored_folder marks[MARKS];
	size_t found_count, mark_count;
	struct owner_names owners;
	uint64_t days, all_days;
	unsigned anew; /* of the catalog, when it was begun */
};

static int64_t scan_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void drop_found(struct work *w)
{
	for (size_t i = 0; i < w->found_count; i++) {
		struct stored_file *f = &w->found[i];
		free(f->folder);
		free(f->file);
		free(f->problem);
		json_decref(f->json);
	}
	w->found_count = w->mark_count = 0;
}

/* Returns 0; 1 if the lock could not be had; ANEW if this is another index than before; -1 with error set. */
static int lock_same(struct work *w, enum catalog_lock how)
{
	if (catalog_lock(w->c, how, w->scan->wait, w->scan->wait < 0 ? w->error : NULL))
		return w->scan->wait < 0 ? -1 : 1;
	if (w->c->anew == w->anew)
		return 0;
	catalog_lock(w->c, CATALOG_UNLOCK, 0, NULL);
	return ANEW;
}

/* Under the exclusive lock, in one transaction. Returns as lock_same. */
static int flush_found(struct work *w)
{
	int rv = 0;

	if ((w->found_count || w->mark_count) && (rv = lock_same(w, CATALOG_CHANGE)) == 0) {
		rv = store_write(w->c, w->found, w->found_count, w->marks, w->mark_count, w->error);
		catalog_lock(w->c, CATALOG_UNLOCK, 0, NULL);
	}
	drop_found(w);
	return rv;
}

static int mark_read(struct work *w, const char *folder, const struct stat *st, int64_t read, int64_t unreadable)
{
	assert(w->mark_count < MARKS); /* flush_found makes room */
	struct stored_folder *m = &w->marks[w->mark_count++];

	snprintf(m->folder, sizeof m->folder, "%s", folder);
	m->mtime = store_ns(st->st_mtim);
	m->ctime = store_ns(st->st_ctim);
	m->read = read;
	m->unreadable = unreadable;
	return w->mark_count == MARKS ? flush_found(w) : 0;
}

/* --- files --- */

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
static void read_archived(struct work *w, struct stored_file *f, const char *path, uid_t owner)
{
	bool trace = regular_name_is(f->file, "", ".spoor");
	struct error problem = {""};

	f->kind = trace ? STORED_TRACE : STORED_NOTE;
	if (!S_ISREG(f->st.st_mode))
		error_set(&problem, "%s: not a regular file", path);
	else if (f->st.st_uid != owner)
		error_set(&problem, "%s: is of user %lu, in a folder of user %lu", path, (unsigned long)f->st.st_uid,
		          (unsigned long)owner);
	else
		f->json = trace ? metadata_read(path, f->file, (unsigned long)f->st.st_uid, &problem)
		                : read_note(path, f->st.st_uid, &problem);
	if (f->json && trace) {
		/* the user is the file's owner, whatever the metadata say */
		json_object_set_new(f->json, "user", json_string(owner_name(&w->owners, f->st.st_uid)));
		json_object_set_new(f->json, "uid", json_integer(f->st.st_uid));
	}
	if (!problem.text[0])
		return;
	f->kind = STORED_DAMAGE;
	f->problem = strdup(problem.text);
}

/* A file that is new, or another one than before, or gone (st NULL). */
static int add_found(struct work *w, const char *path, const char *folder, const char *file, const struct stat *st,
                     uid_t owner)
{
	struct stored_file *f = &w->found[w->found_count++];
	char full[PATH_MAX];

	*f = (struct stored_file){.folder = strdup(folder), .file = strdup(file), .gone = !st};
	if (!f->folder || !f->file)
		return error_set(w->error, "out of memory");
	if (st) {
		f->st = *st;
		snprintf(full, sizeof full, "%s/%s", path, file);
		read_archived(w, f, full, owner);
	}
	return w->found_count == BATCH ? flush_found(w) : 0;
}

/* --- folders --- */

/* A file as the index has it, or as it is (then only the name). */
struct listed {
	char *file;
	int64_t size, mtime, ctime, inode, uid;
};

struct list {
	struct listed *items;
	uint32_t count, room;
};

static struct listed *list_add(struct list *l, const char *file)
{
	if (!budget_grow(&l->items, l->count, &l->room, sizeof *l->items))
		return NULL;
	struct listed *item = &l->items[l->count];
	*item = (struct listed){.file = strdup(file)};
	l->count += item->file != NULL;
	return item->file ? item : NULL;
}

static void list_free(struct list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->items[i].file);
	budget_free(l->items);
}

static int by_file(const void *a, const void *b)
{
	return strcmp(((const struct listed *)a)->file, ((const struct listed *)b)->file);
}

static int list_known(struct work *w, const char *folder, struct list *l)
{
	int rv = lock_same(w, CATALOG_SHARE), rc;

	if (rv)
		return rv;
	sqlite3_stmt *s = query_statement(
		w->c,
		"SELECT file, size, mtime, ctime, inode, uid FROM stored_file WHERE folder = (SELECT id FROM text "
		"WHERE text = ?)",
		w->error);
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
	DIR *dir = regular_open_folder(AT_FDCWD, path);
	int rv = 0;

	if (dir && fstat(dirfd(dir), st)) {
		closedir(dir);
		dir = NULL;
	}
	for (struct dirent *e; dir && !rv && l->count < FILES_MOST && (e = readdir(dir));) {
		if (isdigit((unsigned char)e->d_name[0]) &&
		    (regular_name_is(e->d_name, "", ".spoor") || regular_name_is(e->d_name, "", ".exit")))
			rv = list_add(l, e->d_name) ? 0 : error_set(w->error, "out of memory");
	}
	if (dir)
		closedir(dir);
	return rv;
}

static bool is_unchanged(const struct listed *known, const struct stat *st)
{
	return known->size == st->st_size && known->mtime == store_ns(st->st_mtim) &&
	       known->ctime == store_ns(st->st_ctim) && known->inode == (int64_t)st->st_ino &&
	       known->uid == (int64_t)st->st_uid;
}

/* Both lists by name, side by side. Of what is not ours to read the index has no row: it is only counted. */
static int compare_lists(struct work *w, const char *path, const char *folder, uid_t owner, const struct list *known,
                         const struct list *there, int64_t *unreadable)
{
	char full[PATH_MAX];
	struct stat st;
	int rv = 0;

	for (size_t i = 0, k = 0; rv == 0 && (i < there->count || k < known->count);) {
		int order = k == known->count   ? -1
		            : i == there->count ? 1
		                                : strcmp(there->items[i].file, known->items[k].file);
		const char *file = order <= 0 ? there->items[i].file : known->items[k].file;
		snprintf(full, sizeof full, "%s/%s", path, file);
		bool is_there = order <= 0 && lstat(full, &st) == 0; /* if not, it was removed while we look */
		bool same = order == 0 && is_there && is_unchanged(&known->items[k], &st);
		if (is_there && !same && S_ISREG(st.st_mode) && st.st_uid == owner && access(full, R_OK)) {
			*unreadable += 1;
			is_there = false;
		}
		if (!same && (order >= 0 || is_there)) {
			*(!is_there ? &w->scan->removed : order < 0 ? &w->scan->added : &w->scan->changed) += 1;
			rv = add_found(w, path, folder, file, is_there ? &st : NULL, owner);
		}
		i += order <= 0;
		k += order >= 0;
	}
	return rv;
}

static int by_folder(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->at.folder, ((const struct known *)b)->at.folder);
}

static struct known *find_known(const struct work *w, const char *folder)
{
	struct known key;
	snprintf(key.at.folder, sizeof key.at.folder, "%s", folder);
	return w->known_count ? bsearch(&key, w->known, w->known_count, sizeof *w->known, by_folder) : NULL;
}

/* True if the index has the folder as it is now. */
static bool is_read(const struct known *m, const struct stat *st)
{
	return m && m->at.mtime == store_ns(st->st_mtim) && m->at.ctime == store_ns(st->st_ctim) &&
	       m->at.read >= store_ns(st->st_mtim) + SETTLED_NS;
}

static int scan_folder(void *context, const char *path, const char *folder)
{
	struct work *w = context;
	struct known *m = find_known(w, folder);
	struct list known = {0}, there = {0};
	int64_t read = scan_now(), unreadable = 0;
	struct stat st;
	int rv;

	if (m)
		m->there = true;
	if (lstat(path, &st) || (!w->scan->full && is_read(m, &st)))
		return 0;
	if (!m && access(path, R_OK | X_OK) && errno == EACCES)
		return 0; /* another user's: nothing is kept of it */
	rv = list_known(w, folder, &known);
	if (rv == 0)
		rv = list_there(w, path, &st, &there);
	if (known.count)
		qsort(known.items, known.count, sizeof *known.items, by_file);
	if (there.count)
		qsort(there.items, there.count, sizeof *there.items, by_file);
	if (rv == 0)
		rv = compare_lists(w, path, folder, st.st_uid, &known, &there, &unreadable);
	list_free(&known);
	list_free(&there);
	w->scan->folders++;
	return rv ? rv : mark_read(w, folder, &st, read, unreadable);
}

/* Folders of users change without a change of the day's. Those of a day that was over for long when it was read are
 * looked at when there is time for it. */
static int scan_day(void *context, const char *path, const char *day)
{
	struct work *w = context;
	struct known *m = find_known(w, day);
	int64_t read = scan_now();
	struct stat st;

	if (m)
		m->there = true;
	if (lstat(path, &st))
		return 0;
	bool same = is_read(m, &st), over = same && day_age(day, m->at.read / 1000000000) > OVER_DAYS;
	int rv = 0;
	if (over && !w->scan->old && !w->scan->full)
		m->at.read = 0; /* forget_folders: what is in it was not looked for */
	else if ((rv = archive_day_folders(path, day, scan_folder, w)) == 0 &&
	         (!same || (!over && day_age(day, read / 1000000000) > OVER_DAYS)))
		rv = mark_read(w, day, &st, read, 0);
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
	int rv = 0;

	sqlite3_stmt *s =
		query_statement(w->c, "SELECT folder, mtime, ctime, read FROM folder ORDER BY folder", w->error);
	while (s && !rv && sqlite3_step(s) == SQLITE_ROW) {
		if (!budget_grow(&w->known, w->known_count, &w->known_room, sizeof *w->known)) {
			rv = error_set(w->error, "out of memory");
			break;
		}
		struct known *m = &w->known[w->known_count++];
		*m = (struct known){.at = {.mtime = sqlite3_column_int64(s, 1),
		                           .ctime = sqlite3_column_int64(s, 2),
		                           .read = sqlite3_column_int64(s, 3)}};
		snprintf(m->at.folder, sizeof m->at.folder, "%s", (const char *)sqlite3_column_text(s, 0));
	}
	sqlite3_finalize(s);
	return s ? rv : -1;
}

/* Folders that the index has and the archive has not any more. */
static int forget_folders(struct work *w)
{
	char day[DAY_SIZE] = "", path[PATH_MAX];
	struct stat st;
	bool skipped = false;
	int rv = 0;

	for (size_t i = 0; i < w->known_count && rv == 0; i++) {
		const struct known *m = &w->known[i];
		if (strncmp(m->at.folder, day, DAY_SIZE - 1)) {
			snprintf(day, sizeof day, "%.10s", m->at.folder);
			skipped = m->there && m->at.read == 0;
		}
		size_t n = (size_t)snprintf(path, sizeof path, "%s/%s", w->c->archive, m->at.folder);
		if (m->there || skipped || n >= sizeof path || !lstat(path, &st) || errno != ENOENT)
			continue;
		rv = lock_same(w, CATALOG_CHANGE);
		if (rv == 0) {
			rv = store_forget_folder(w->c, m->at.folder, &w->scan->removed, w->error);
			catalog_lock(w->c, CATALOG_UNLOCK, 0, NULL);
		}
	}
	return rv;
}

/* Returns as scan_archive, or ANEW. */
static int scan_once(struct catalog *c, struct scan *scan, struct error *error)
{
	struct work *w = calloc(1, sizeof *w);
	if (!w)
		return error_set(error, "out of memory");
	*w = (struct work){.c = c, .scan = scan, .error = error};
	scan->folders = scan->added = scan->changed = scan->removed = 0;
	/* Begins it anew if need be, before the first question. */
	int rv = catalog_lock(c, CATALOG_SHARE, scan->wait, NULL) &&
	                         catalog_lock(c, CATALOG_CHANGE, scan->wait, scan->wait < 0 ? error : NULL)
	                 ? (scan->wait < 0 ? -1 : 1)
	                 : load_known(w);
	w->anew = c->anew;
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	if (rv == 0 && scan->progress)
		archive_days(c->archive, 0, count_day, w, NULL);
	if (rv == 0)
		rv = archive_days(c->archive, 0, scan_day, w, error);
	if (rv == 0)
		rv = flush_found(w);
	if (rv == 0)
		rv = forget_folders(w);
	drop_found(w);
	budget_free(w->known);
	owner_names_free(&w->owners);
	free(w);
	return rv;
}

int scan_archive(struct catalog *c, struct scan *scan, struct error *error)
{
	int rv = ANEW;

	scan->folders = scan->added = scan->changed = scan->removed = 0;
	if (!c->writable)
		return 1;
	for (int i = 0; rv == ANEW && (scan->wait < 0 || i < ANEW_MOST); i++)
		rv = scan_once(c, scan, error);
	return rv == ANEW ? 1 : rv;
}
