/* SPDX-License-Identifier: BSD-3-Clause
 * store - what the index has of files and folders of the archive
 *
 *     stored_file    -> stored_trace      or note      or damage    by id; what depends on a file goes with it
 *     folder                                                        its times when all of it was read
 *
 * An exit note counts for the traces of its job, step and user, whichever came first. So the traces that a change may
 * matter for are noted in `touched`, and looked at in the end; while there is a note, the trace's own ending is in
 * `ending`.
 */
#include "archive/store.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/command_mask.h"
#include "archive/host_list.h"
#include "archive/metadata.h"
#include "archive/query.h"
#include "archive/text_table.h"
#include "trace/base/regular.h"

/* Traces that one note counts for: a step has as many as it starts MPI jobs. */
#define NOTED_MOST "10000"

struct store {
	struct catalog *c;
	struct error *error;
	struct text_table texts;
	sqlite3_stmt *insert, *insert_file;
};

/* --- the columns of a trace, out of its metadata --- */

enum { NUMBER, WORD, TEXT }; /* WORD: as it is; TEXT: in table text */

static const struct column {
	const char *name; /* in the table and in the metadata */
	int kind;
} columns[] = {
	{"job", NUMBER},        {"step", WORD},      {"array_job", NUMBER}, {"array_task", NUMBER},
	{"het_job_id", NUMBER}, {"user", TEXT},      {"account", TEXT},     {"partition", TEXT},
	{"qos", TEXT},          {"job_name", TEXT},  {"cluster", TEXT},     {"node", TEXT},
	{"exe", TEXT},          {"state", TEXT},     {"mode", TEXT},        {"rule", TEXT},
	{"reason", TEXT},       {"unended", TEXT},   {"mpi_library", TEXT}, {"spoor_version", TEXT},
	{"ranks", NUMBER},      {"nodes", NUMBER},   {"tasks", NUMBER},     {"exit_code", NUMBER},
	{"signal", NUMBER},     {"partial", NUMBER}, {"retention", NUMBER}, {"start_ns", NUMBER},
	{"end_ns", NUMBER},
};
#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))
#define FIRST   10 /* the number of the first of them in the statement */

static char *insert_text(void)
{
	static char sql[2048];
	size_t n = (size_t)snprintf(sql, sizeof sql,
	                            "INSERT OR REPLACE INTO stored_trace (id, uid, exe_name, hosts, application, "
	                            "arguments, alike, numbers, build");
	for (int i = 0; i < COLUMNS; i++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ", %s", columns[i].name);
	n += (size_t)snprintf(sql + n, sizeof sql - n, ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?");
	for (int i = 0; i < COLUMNS; i++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ", ?");
	snprintf(sql + n, sizeof sql - n, ")");
	return sql;
}

/* A text as its number in table text. */
static int bind_text_id(struct store *w, int at, const char *text)
{
	int64_t id = text_table_id(&w->texts, text, w->error);
	sqlite3_bind_int64(w->insert, at, id);
	return id < 0 ? -1 : 0;
}

static int bind_columns(struct store *w, const json_t *metadata)
{
	int rv = 0;

	for (int i = 0; i < COLUMNS && rv == 0; i++) {
		if (columns[i].kind == TEXT)
			rv = bind_text_id(w, FIRST + i, metadata_text(metadata, columns[i].name, ""));
		else if (columns[i].kind == WORD)
			sqlite3_bind_text(w->insert, FIRST + i, metadata_text(metadata, columns[i].name, ""), -1,
			                  SQLITE_STATIC);
		else
			sqlite3_bind_int64(w->insert, FIRST + i, metadata_number(metadata, columns[i].name, 0));
	}
	return rv;
}

static int store_trace(struct store *w, int64_t id, const struct stored_file *f)
{
	assert(f->json && regular_name_is(f->file, "", ".spoor"));
	const json_t *metadata = f->json, *list = json_object_get(metadata, "hosts");
	const char *exe = metadata_text(metadata, "exe", ""), *slash = strrchr(exe, '/');
	char *hosts = host_list_encode(list), application[METADATA_APPLICATION];
	struct command_mask arguments;
	int rv = hosts ? bind_columns(w, metadata) : error_set(w->error, "out of memory");

	if (rv == 0 && *hosts) /* where its ranks were, not what the step had */
		for (int i = 0; i < COLUMNS; i++)
			if (!strcmp(columns[i].name, "nodes"))
				sqlite3_bind_int64(w->insert, FIRST + i, (int64_t)json_array_size(list));
	sqlite3_bind_int64(w->insert, 1, id);
	sqlite3_bind_int64(w->insert, 2, f->st.st_uid);
	sqlite3_bind_text(w->insert, 4, hosts, -1, SQLITE_STATIC);
	sqlite3_bind_int64(w->insert, 6, (int64_t)metadata_arguments(metadata));
	command_mask_make(&arguments, metadata);
	sqlite3_bind_text(w->insert, 8, arguments.numbers, -1, SQLITE_STATIC);
	if (rv || bind_text_id(w, 3, slash ? slash + 1 : exe) ||
	    bind_text_id(w, 5, metadata_application(metadata, application)) || bind_text_id(w, 7, arguments.masked) ||
	    bind_text_id(w, 9, metadata_text(metadata, "exe_build_id", "")) || query_step(w->c, w->insert, w->error) ||
	    query_execute(w->c, w->error, "INSERT OR IGNORE INTO undigested VALUES (?)", "i", id) ||
	    (metadata_number(metadata, "job", 0) > 0 &&
	     query_execute(w->c, w->error, "INSERT OR IGNORE INTO unasked VALUES (?)", "i", id)) ||
	    query_execute(w->c, w->error, "INSERT OR IGNORE INTO touched VALUES (?)", "i", id))
		rv = -1;
	free(hosts);
	return rv;
}

/* The traces of the same user for which a note counts are looked at again. */
static int touch_noted(struct store *w, int64_t note)
{
	return query_execute(
		w->c, w->error,
		"INSERT OR IGNORE INTO touched SELECT t.id FROM note n JOIN stored_trace t USING (job, step, uid) "
		"WHERE "
		"n.id = ? LIMIT " NOTED_MOST,
		"i", note);
}

static int store_note(struct store *w, int64_t id, const struct stored_file *f)
{
	char *text = json_dumps(f->json, JSON_COMPACT);
	int rv = query_execute(w->c, w->error, "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?, ?, ?)", "iisiis", id,
	                       metadata_number(f->json, "job", -1), metadata_text(f->json, "step", "?"),
	                       (int64_t)f->st.st_uid, metadata_severity(f->json), text) ||
	                         touch_noted(w, id)
	                 ? -1
	                 : 0;
	free(text);
	return rv;
}

/* What was known of a file goes, with all that depends on it. */
static int forget_file(struct store *w, const struct stored_file *f)
{
	sqlite3_stmt *s = query_kept(w->c, "SELECT id FROM stored_file WHERE folder = ? AND file = ?", w->error);
	int64_t id = 0, folder = text_table_id(&w->texts, f->folder, w->error);

	if (!s || folder < 0)
		return -1;
	sqlite3_bind_int64(s, 1, folder);
	sqlite3_bind_text(s, 2, f->file, -1, SQLITE_STATIC);
	if (sqlite3_step(s) == SQLITE_ROW)
		id = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	return id && (touch_noted(w, id) ||
	              query_execute(w->c, w->error, "DELETE FROM stored_file WHERE id = ?", "i", id))
	               ? -1
	               : 0;
}

static int store_file(struct store *w, const struct stored_file *f)
{
	const int64_t facts[] = {
		f->st.st_size, store_ns(f->st.st_mtim),       store_ns(f->st.st_ctim), (int64_t)f->st.st_ino,
		f->st.st_uid,  f->st.st_blocks * INT64_C(512)};

	int64_t folder = text_table_id(&w->texts, f->folder, w->error);
	if (folder < 0)
		return -1;
	sqlite3_bind_int64(w->insert_file, 1, folder);
	sqlite3_bind_text(w->insert_file, 2, f->file, -1, SQLITE_STATIC);
	sqlite3_bind_int(w->insert_file, 3, (int)f->kind);
	for (int i = 0; i < 6; i++)
		sqlite3_bind_int64(w->insert_file, 4 + i, facts[i]);
	if (query_step(w->c, w->insert_file, w->error))
		return -1;
	int64_t id = sqlite3_last_insert_rowid(w->c->db);
	switch (f->kind) {
	case STORED_TRACE:
		return store_trace(w, id, f);
	case STORED_NOTE:
		return store_note(w, id, f);
	case STORED_DAMAGE:
		return query_execute(w->c, w->error, "INSERT OR REPLACE INTO damage VALUES (?, ?)", "is", id,
		                     f->problem);
	}
	return 0;
}

/* --- exit notes --- */

/* How the trace itself says that it ended, whatever notes there are; new, NULL with error set. */
static json_t *own_ending(struct store *w, int64_t id)
{
	sqlite3_stmt *s = query_kept(
		w->c, "SELECT json, state, exit_code, signal FROM trace LEFT JOIN ending USING (id) WHERE id = ?",
		w->error);
	json_t *own = NULL;

	if (!s)
		return NULL;
	sqlite3_bind_int64(s, 1, id);
	if (sqlite3_step(s) != SQLITE_ROW)
		query_failed(w->c, w->error);
	else if (sqlite3_column_type(s, 0) != SQLITE_NULL)
		own = json_loads(query_text(s, 0), 0, NULL);
	else
		own = json_pack("{s:s, s:I, s:I}", "state", query_text(s, 1), "exit_code",
		                (json_int_t)sqlite3_column_int64(s, 2), "signal",
		                (json_int_t)sqlite3_column_int64(s, 3));
	sqlite3_reset(s);
	return own;
}

/* The worst note of the trace's own user; new, NULL: there is none. */
static json_t *worst_note(struct store *w, int64_t id)
{
	sqlite3_stmt *s = query_kept(w->c,
	                             "SELECT n.json FROM note n JOIN stored_trace t USING (job, step, uid) WHERE "
	                             "t.id = ? ORDER BY n.severity DESC, n.id LIMIT 1",
	                             w->error);
	json_t *note = NULL;

	if (s)
		sqlite3_bind_int64(s, 1, id);
	if (s && sqlite3_step(s) == SQLITE_ROW)
		note = json_loads(query_text(s, 0), 0, NULL);
	sqlite3_reset(s);
	return note;
}

static int merge_worst(struct store *w, int64_t id)
{
	json_t *ending = own_ending(w, id), *note = worst_note(w, id);
	char *own = ending ? json_dumps(ending, JSON_COMPACT) : NULL;
	int rv = own ? 0 : -1;

	if (rv == 0 && note) {
		metadata_take_worse(ending, note);
		rv = query_execute(w->c, w->error, "INSERT OR IGNORE INTO ending VALUES (?, ?)", "is", id, own);
	} else if (rv == 0) {
		rv = query_execute(w->c, w->error, "DELETE FROM ending WHERE id = ?", "i", id);
	}
	int64_t state = rv == 0 ? text_table_id(&w->texts, metadata_text(ending, "state", ""), w->error) : -1;
	if (state >= 0)
		rv = query_execute(w->c, w->error,
		                   "UPDATE stored_trace SET state = ?, exit_code = ?, signal = ? WHERE id = ?", "iiii",
		                   state, metadata_number(ending, "exit_code", 0), metadata_number(ending, "signal", 0),
		                   id);
	free(own);
	json_decref(ending);
	json_decref(note);
	return rv || state < 0 ? -1 : 0;
}

/* CROSS JOIN: SQLite, which does not know how few were touched, would go through all traces. */
static int merge_touched(struct store *w)
{
	int rv = 0;
	sqlite3_stmt *s = query_statement(
		w->c,
		"SELECT t.id FROM touched CROSS JOIN stored_trace t USING (id) WHERE EXISTS (SELECT 1 FROM "
		"ending e WHERE e.id = t.id) OR EXISTS (SELECT 1 FROM note n WHERE n.job = t.job AND "
		"n.step = t.step AND n.uid = t.uid)"
		" ORDER BY t.id",
		w->error);

	if (!s)
		return -1;
	while (rv == 0 && sqlite3_step(s) == SQLITE_ROW)
		rv = merge_worst(w, sqlite3_column_int64(s, 0));
	sqlite3_finalize(s);
	return rv;
}

/* --- writing --- */

static int write_files(struct store *w, const struct stored_file *files, size_t n)
{
	int rv = -1;

	w->insert = query_statement(w->c, insert_text(), w->error);
	w->insert_file =
		query_statement(w->c,
	                        "INSERT INTO stored_file (folder, file, kind, size, mtime, ctime, inode, uid, disk) "
	                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	                        w->error);
	if (w->insert && w->insert_file)
		rv = text_table_open(&w->texts, w->c, w->error);
	for (size_t i = 0; i < n && rv == 0; i++)
		rv = forget_file(w, &files[i]) || (!files[i].gone && store_file(w, &files[i])) ? -1 : 0;
	rv = rv ? rv : merge_touched(w);
	text_table_close(&w->texts);
	sqlite3_finalize(w->insert);
	sqlite3_finalize(w->insert_file);
	return rv;
}

int store_write(struct catalog *c, const struct stored_file *files, size_t file_count,
                const struct stored_folder *folders, size_t folder_count, struct error *error)
{
	static const char touched[] =
		"CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY); DELETE FROM temp.touched";
	struct store w = {.c = c, .error = error};

	if (query_execute(c, error, "BEGIN IMMEDIATE", ""))
		return -1;
	int rv = sqlite3_exec(c->db, touched, NULL, NULL, NULL) == SQLITE_OK ? write_files(&w, files, file_count)
	                                                                     : query_failed(c, error);
	for (size_t i = 0; i < folder_count && rv == 0; i++)
		rv = query_execute(c, error, "INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?, ?)", "siiii",
		                   folders[i].folder, folders[i].mtime, folders[i].ctime, folders[i].read,
		                   folders[i].unreadable);
	return query_execute(c, error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
}

int store_forget_folder(struct catalog *c, const char *folder, size_t *removed, struct error *error)
{
	if (query_execute(c, error, "BEGIN IMMEDIATE", ""))
		return -1;
	int rv = query_execute(c, error, "DELETE FROM stored_file WHERE folder = (SELECT id FROM text WHERE text = ?)",
	                       "s", folder);
	*removed += rv ? 0 : (size_t)sqlite3_changes(c->db);
	rv = rv || query_execute(c, error, "DELETE FROM folder WHERE folder = ?", "s", folder) ? -1 : 0;
	return query_execute(c, error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
}
