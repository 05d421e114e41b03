/* SPDX-License-Identifier: BSD-3-Clause
 * tables - the tables of an index, as SQL (doc/index.md)
 *
 *     stored_file -> stored_trace -> summary, calls, ending, undigested     what depends on a row goes
 *                 -> note, damage                                                           with it
 *     slurm_job      what Slurm says of a job; unasked: traces whose job is to be asked for (slurm_jobs.h)
 *
 * Sums of a day (day_sums.h) are of traces that are wholly known. So a trace that comes or goes takes the sums of its
 * day with it; one that comes also those of the other day, if until then all traces of its job were of that one.
 *
 * What the history of an application asks (history.h) is in index trace_alike, in order: it is read as one stretch, and
 * no row is looked at. So two columns of a summary are in the row of its trace, too. A third one is the node time that
 * its ranks waited (waited.h).
 */
#include "archive/tables.h"

const char tables_sql[] =
	"CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	"CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
	"INSERT INTO text VALUES (0, '');"
	"CREATE TABLE folder (folder TEXT PRIMARY KEY, mtime INTEGER, ctime INTEGER, read INTEGER, unreadable INTEGER) "
	"WITHOUT ROWID;"
	"CREATE TABLE stored_file (id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, file TEXT NOT NULL, kind INTEGER "
	"NOT NULL, size INTEGER, mtime INTEGER,"
	" ctime INTEGER, inode INTEGER, uid INTEGER, disk INTEGER, UNIQUE (folder, file));"
	"CREATE TABLE damage (id INTEGER PRIMARY KEY REFERENCES stored_file ON DELETE CASCADE, problem TEXT);"
	"CREATE TABLE note (id INTEGER PRIMARY KEY REFERENCES stored_file ON DELETE CASCADE, job INTEGER, step TEXT, "
	"uid INTEGER, severity INTEGER,"
	" json TEXT);"
	"CREATE INDEX note_job ON note (job, step, uid, severity);"
	"CREATE TABLE stored_trace (id INTEGER PRIMARY KEY REFERENCES stored_file ON DELETE CASCADE, uid INTEGER, job "
	"INTEGER, step TEXT, array_job INTEGER, array_task INTEGER, het_job_id INTEGER, user INTEGER, account "
	"INTEGER, partition INTEGER, qos INTEGER, job_name INTEGER, cluster INTEGER, node INTEGER, hosts TEXT, exe "
	"INTEGER, exe_name INTEGER, state INTEGER, mode INTEGER, rule INTEGER, mpi_library INTEGER, spoor_version "
	"INTEGER, ranks INTEGER, nodes INTEGER, tasks INTEGER, exit_code INTEGER, signal INTEGER, partial INTEGER, "
	"reason INTEGER, unended INTEGER, retention INTEGER, start_ns INTEGER, end_ns INTEGER, application INTEGER, "
	"arguments INTEGER, alike INTEGER, numbers TEXT, build INTEGER, run_ns INTEGER, events INTEGER, "
	"waited_ns INTEGER);"
	"CREATE INDEX trace_start ON stored_trace (start_ns);"
	"CREATE INDEX trace_job ON stored_trace (job, start_ns, step, uid);"
	"CREATE INDEX trace_array ON stored_trace (array_job) WHERE array_job > 0;"
	"CREATE INDEX trace_het ON stored_trace (het_job_id) WHERE het_job_id > 0;"
	"CREATE INDEX trace_alike ON stored_trace (application, ranks, arguments, start_ns, state, run_ns, events, "
	"partial) WHERE run_ns > 0 AND NOT partial;" /* partial: SQLite takes it from the row otherwise */
	"CREATE INDEX trace_waited ON stored_trace (job, start_ns, waited_ns) WHERE waited_ns > 0;"
	"CREATE TABLE ending (id INTEGER PRIMARY KEY REFERENCES stored_trace ON DELETE CASCADE, json TEXT);"
	"CREATE TABLE undigested (id INTEGER PRIMARY KEY REFERENCES stored_trace ON DELETE CASCADE);"
	"CREATE TABLE unasked (id INTEGER PRIMARY KEY REFERENCES stored_trace ON DELETE CASCADE);"
	"CREATE TABLE slurm_job (job INTEGER, cluster INTEGER, uid INTEGER, account INTEGER, partition INTEGER, qos "
	"INTEGER, PRIMARY KEY (job, cluster)) WITHOUT ROWID;"
	"CREATE TABLE summary (id INTEGER PRIMARY KEY REFERENCES stored_trace ON DELETE CASCADE, version INTEGER NOT "
	"NULL, problem TEXT, sizes TEXT, verdict TEXT, cause TEXT, late_rank INTEGER, late_node TEXT, node_times TEXT"
#define FIGURE(ID, key, ...) ", " #key " INTEGER"
#include "insight/figures.def"
	");"
	"CREATE TABLE place (place INTEGER PRIMARY KEY, identity INTEGER UNIQUE, function TEXT, frames TEXT);"
	"CREATE TABLE calls (id INTEGER PRIMARY KEY REFERENCES stored_trace ON DELETE CASCADE, packed BLOB);"
	"CREATE TABLE day_sum (day INTEGER, by INTEGER, version INTEGER, bytes BLOB, PRIMARY KEY (day, by));"
	"CREATE TABLE day_rest (day INTEGER, id INTEGER, PRIMARY KEY (day, id)) WITHOUT ROWID;";

/* Texts are kept once, in table text; 0 is the empty one. What other programs ask are views, which have the texts: in
 * queries SQLite looks up only those that are asked for. */
#define TEXT(column) "(SELECT x.text FROM text x WHERE x.id = r." #column ") AS " #column ", "
/* What is Slurm's word, not the trace's. */
#define SLURM(column)                                                                                              \
	"(SELECT x.text FROM text x WHERE x.id = ifnull((SELECT CASE k.uid WHEN r.uid THEN k." #column             \
	" ELSE 0 END FROM slurm_job k WHERE k.job = r.job AND k.cluster = r.cluster), CASE WHEN EXISTS (SELECT 1 " \
	"FROM slurm_job) THEN 0 ELSE r." #column " END)) AS " #column ", "
#define FILE_FACT(expression, name) "(SELECT " expression " FROM stored_file f WHERE f.id = r.id) AS " name ", "
#define FOLDER_TEXT                 "(SELECT x.text FROM text x WHERE x.id = f.folder)"
#define DAY                         " / 86400000000000"
#define JOB_DAY(which)              "(SELECT " which "(start_ns) FROM stored_trace WHERE job = new.job)" DAY

/* clang-format off */
const char tables_views[] =
	"CREATE VIEW file AS SELECT r.id AS id, " TEXT(folder)
	"r.file AS file, r.kind AS kind, r.size AS size, r.mtime AS mtime, r.ctime AS ctime, r.inode AS inode, "
	"r.uid AS uid, r.disk AS disk FROM stored_file r;"

	"CREATE VIEW trace AS SELECT r.id AS id, " FILE_FACT(FOLDER_TEXT, "folder")
	FILE_FACT("substr(f.file, 1, length(f.file) - 6)", "name") FILE_FACT("f.size", "size")
	"r.uid AS uid, r.job AS job, r.step AS step, r.array_job AS array_job, r.array_task AS array_task, "
	"r.het_job_id AS het_job_id, " TEXT(user) SLURM(account) SLURM(partition) SLURM(qos)
	TEXT(job_name) TEXT(cluster)
	TEXT(node) "r.hosts AS hosts, " TEXT(exe) TEXT(exe_name) TEXT(state) TEXT(mode) TEXT(rule) TEXT(mpi_library)
	TEXT(spoor_version) "r.ranks AS ranks, r.nodes AS nodes, r.tasks AS tasks, r.exit_code AS exit_code, "
	"r.signal AS signal, r.partial AS partial, " TEXT(reason) TEXT(unended)
	"r.retention AS retention, r.start_ns AS start_ns, r.end_ns AS end_ns, " TEXT(application)
	"r.arguments AS arguments, " TEXT(alike) "r.numbers AS numbers, " TEXT(build)
	"r.waited_ns AS waited_ns FROM stored_trace r;";

const char tables_triggers[] =
	"CREATE TRIGGER trace_comes BEFORE INSERT ON stored_trace BEGIN DELETE FROM day_sum WHERE day = new.start_ns"
	DAY " OR day = (SELECT a FROM (SELECT " JOB_DAY("min") " AS a, " JOB_DAY("max") " AS b) WHERE a = b); END;"

	"CREATE TRIGGER trace_goes AFTER DELETE ON stored_trace BEGIN DELETE FROM day_sum WHERE day = old.start_ns"
	DAY "; END;"

	"CREATE TRIGGER summary_comes AFTER INSERT ON summary BEGIN UPDATE stored_trace SET run_ns = new.run_ns, "
	"events = new.events, waited_ns = CASE WHEN new.problem IS NULL AND new.wait_ns > 0 THEN CAST(1.0 * "
	"new.wait_ns * max(nodes, 1) / max(new.streams, 1) AS INTEGER) END WHERE id = new.id; END;"

	"CREATE TRIGGER job_comes AFTER INSERT ON slurm_job BEGIN DELETE FROM day_sum WHERE day IN (SELECT start_ns" DAY
	" FROM stored_trace WHERE job = new.job); END;"

	"CREATE TRIGGER sum_goes AFTER DELETE ON day_sum BEGIN DELETE FROM day_rest WHERE day = old.day; END;";
/* clang-format on */
