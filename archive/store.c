/* SPDX-License-Identifier: BSD-3-Clause
 * store - what the index has of files and folders of the archive
 *
 *     file    -> trace, metadata      or note      or damage        by id; what depends on a file goes with it
 *     folder                                                        its times when all of it was read
 *
 * An exit note counts for the traces of its job, step and user, whichever came first. So the traces that a change may
 * matter for are noted in `touched`, and looked at in the end; metadata.noted is metadata.json with the worst note.
 */
#include "archive/store.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/metadata.h"
#include "archive/query.h"
#include "trace/base/regular.h"

/* Traces that one note counts for: a step has as many as it starts MPI jobs. */
#define NOTED_MOST "10000"

struct store {
	struct catalog *c;
	struct error *error;
	sqlite3_stmt *insert, *insert_file, *insert_json;
};

/* --- the columns of a trace, out of its metadata --- */

static const struct column {
	const char *name; /* in the table and in the metadata */
	bool text;
} columns[] = {
	{"job", false},     {"step", true},       {"array_job", false}, {"array_task", false}, {"het_job_id", false},
	{"user", true},     {"account", true},    {"partition", true},  {"qos", true},         {"job_name", true},
	{"cluster", true},  {"node", true},       {"exe", true},        {"state", true},       {"mode", true},
	{"rule", true},     {"reason", true},     {"unended", true},    {"mpi_library", true}, {"spoor_version", true},
	{"ranks", false},   {"nodes", false},     {"tasks", false},     {"exit_code", false},  {"signal", false},
	{"partial", false}, {"retention", false}, {"start_ns", false},  {"end_ns", false},
};
#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static char *insert_text(void)
{
	static char sql[2048];
	size_t n = (size_t)snprintf(sql, sizeof sql,
	                            "INSERT OR REPLACE INTO trace (id, folder, name, size, uid, exe_name, hosts, "
	                            "application, arguments");
	for (int i = 0; i < COLUMNS; i++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ", %s", columns[i].name);
	n += (size_t)snprintf(sql + n, sizeof sql - n, ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?");
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

static int store_trace(struct store *w, int64_t id, const struct stored_file *f)
{
	assert(f->json && regular_name_is(f->file, "", ".spoor"));
	const json_t *metadata = f->json;
	const char *exe = metadata_text(metadata, "exe", ""), *slash = strrchr(exe, '/');
	char *hosts = join_hosts(json_object_get(metadata, "hosts"));
	char *text = metadata_dump(metadata);
	int rv = -1;

	sqlite3_bind_int64(w->insert, 1, id);
	sqlite3_bind_text(w->insert, 2, f->folder, -1, SQLITE_STATIC);
	sqlite3_bind_text(w->insert, 3, f->file, (int)(strlen(f->file) - strlen(".spoor")), SQLITE_STATIC);
	sqlite3_bind_int64(w->insert, 4, f->st.st_size);
	sqlite3_bind_int64(w->insert, 5, f->st.st_uid);
	sqlite3_bind_text(w->insert, 6, slash ? slash + 1 : exe, -1, SQLITE_STATIC);
	sqlite3_bind_text(w->insert, 7, hosts, -1, SQLITE_STATIC);
	char application[METADATA_APPLICATION];
	sqlite3_bind_text(w->insert, 8, metadata_application(metadata, application), -1, SQLITE_STATIC);
	sqlite3_bind_int64(w->insert, 9, (int64_t)metadata_arguments(metadata));
	for (int i = 0; i < COLUMNS; i++) {
		if (columns[i].text)
			sqlite3_bind_text(w->insert, 10 + i, metadata_text(metadata, columns[i].name, ""), -1,
			                  SQLITE_STATIC);
		else
			sqlite3_bind_int64(w->insert, 10 + i, metadata_number(metadata, columns[i].name, 0));
		if (!strcmp(columns[i].name, "nodes") && hosts &&
		    *hosts) /* where its ranks were, not what the step had */
			sqlite3_bind_int64(w->insert, 10 + i,
			                   (int64_t)json_array_size(json_object_get(metadata, "hosts")));
	}
	if (!text || !hosts) {
		error_set(w->error, "out of memory");
	} else if (query_step(w->c, w->insert, w->error) == 0) {
		sqlite3_bind_int64(w->insert_json, 1, id);
		sqlite3_bind_text(w->insert_json, 2, text, -1, SQLITE_STATIC);
		rv = query_step(w->c, w->insert_json, w->error) ||
		     query_execute(w->c, w->error, "INSERT OR IGNORE INTO touched VALUES (?)", "i", id);
	}
	free(hosts);
	free(text);
	return rv ? -1 : 0;
}

/* The traces of the same user for which a note counts are looked at again. */
static int touch_noted(struct store *w, int64_t note)
{
	return query_execute(
		w->c, w->error,
		"INSERT OR IGNORE INTO touched SELECT t.id FROM note n JOIN trace t USING (job, step, uid) WHERE "
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
	sqlite3_stmt *s = query_statement(w->c, "SELECT id FROM file WHERE folder = ? AND file = ?", w->error);
	int64_t id = 0;

	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, f->folder, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, f->file, -1, SQLITE_STATIC);
	if (sqlite3_step(s) == SQLITE_ROW)
		id = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return id && (touch_noted(w, id) || query_execute(w->c, w->error, "DELETE FROM file WHERE id = ?", "i", id))
	               ? -1
	               : 0;
}

static int store_file(struct store *w, const struct stored_file *f)
{
	const int64_t facts[] = {
		f->st.st_size, store_ns(f->st.st_mtim),       store_ns(f->st.st_ctim), (int64_t)f->st.st_ino,
		f->st.st_uid,  f->st.st_blocks * INT64_C(512)};

	sqlite3_bind_text(w->insert_file, 1, f->folder, -1, SQLITE_STATIC);
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
	case STORED_UNREADABLE:
		break;
	}
	return 0;
}

/* --- exit notes --- */

/* Only the notes of the trace's own user count, and of these the worst. */
static int merge_worst(struct store *w, int64_t id, const char *text)
{
	json_t *metadata = json_loads(text, 0, NULL);
	int rv = -1;
	sqlite3_stmt *s =
		query_statement(w->c,
	                        "SELECT n.json FROM note n JOIN trace t USING (job, step, uid) WHERE t.id = ? ORDER "
	                        "BY n.severity DESC, n.id LIMIT 1",
	                        w->error);

	if (s && metadata) {
		sqlite3_bind_int64(s, 1, id);
		if (sqlite3_step(s) == SQLITE_ROW) {
			json_t *note = json_loads((const char *)sqlite3_column_text(s, 0), 0, NULL);
			if (note)
				metadata_take_worse(metadata, note);
			json_decref(note);
		}
		char *noted = metadata_dump(metadata);
		rv = query_execute(w->c, w->error, "UPDATE metadata SET noted = nullif(?, json) WHERE id = ?", "si",
		                   noted, id) ||
		     query_execute(w->c, w->error, "UPDATE trace SET state = ?, exit_code = ?, signal = ? WHERE id = ?",
		                   "siii", metadata_text(metadata, "state", ""),
		                   metadata_number(metadata, "exit_code", 0), metadata_number(metadata, "signal", 0),
		                   id);
		free(noted);
	}
	sqlite3_finalize(s);
	json_decref(metadata);
	return rv ? -1 : 0;
}

static int merge_touched(struct store *w)
{
	int rv = 0;
	sqlite3_stmt *s =
		query_statement(w->c,
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

static int write_files(struct store *w, const struct stored_file *files, size_t n)
{
	int rv = -1;

	w->insert = query_statement(w->c, insert_text(), w->error);
	w->insert_file = query_statement(w->c,
	                                 "INSERT INTO file (folder, file, kind, size, mtime, ctime, inode, uid, disk) "
	                                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	                                 w->error);
	w->insert_json = query_statement(w->c, "INSERT OR REPLACE INTO metadata (id, json) VALUES (?, ?)", w->error);
	if (w->insert && w->insert_file && w->insert_json)
		rv = 0;
	for (size_t i = 0; i < n && rv == 0; i++)
		rv = forget_file(w, &files[i]) || (!files[i].gone && store_file(w, &files[i])) ? -1 : 0;
	sqlite3_finalize(w->insert);
	sqlite3_finalize(w->insert_file);
	sqlite3_finalize(w->insert_json);
	return rv ? rv : merge_touched(w);
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
		rv = query_execute(c, error, "INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?)", "siii",
		                   folders[i].folder, folders[i].mtime, folders[i].ctime, folders[i].read);
	return query_execute(c, error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
}

int store_forget_folder(struct catalog *c, const char *folder, size_t *removed, struct error *error)
{
	if (query_execute(c, error, "BEGIN IMMEDIATE", ""))
		return -1;
	int rv = query_execute(c, error, "DELETE FROM file WHERE folder = ?", "s", folder);
	*removed += rv ? 0 : (size_t)sqlite3_changes(c->db);
	rv = rv || query_execute(c, error, "DELETE FROM folder WHERE folder = ?", "s", folder) ? -1 : 0;
	return query_execute(c, error, rv ? "ROLLBACK" : "COMMIT", "") || rv ? -1 : 0;
}
