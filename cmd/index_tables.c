/* SPDX-License-Identifier: BSD-3-Clause
 * index_tables - the index as tables for other engines
 *
 * Under the lock of the index the jobs are written as CSV, a file a month, and then the call sites of the months whose
 * jobs differ from those of the last time. Then, without it, DuckDB makes Parquet of what is new.
 */
#include "cmd/index_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "archive/call_list.h"
#include "archive/digest.h"
#include "cmd/base/sink.h"
#include "process/process.h"
#include "trace/base/budget.h"

#define MONTH   16
#define SUM     (2 * SHA256_DIGEST_SIZE + 64)
#define SECONDS 1800 /* for DuckDB to write a part */
#define WAIT    60000

enum table { JOBS, SITES, TABLES };
static const char *const table_names[TABLES] = {"jobs", "sites"};

struct table_month {
	char month[MONTH];
	bool changed[TABLES];
};

struct tables_writing {
	struct index_tables *to;
	const char *folder;        /* absolute */
	struct table_month *parts; /* in order of time */
	uint32_t count, room;
	enum table table;
	FILE *out; /* of the last month; NULL: none is written */
	struct error *error;
};

/* --- names --- */

/* As sums by month have it (archive/aggregate.h). */
static const char *month_of(int64_t start_ns, char out[MONTH])
{
	time_t t = (time_t)(start_ns / 1000000000);
	struct tm tm;
	if (t <= 0 || !localtime_r(&t, &tm) || !strftime(out, MONTH, "%Y-%m", &tm))
		strcpy(out, "unknown");
	return out;
}

static const char *month_path(const struct tables_writing *w, enum table table, const char *month, const char *name,
                              char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%s/month=%s/%s", w->folder, table_names[table], month, name);
	return out;
}

static const char *part_name(const struct tables_writing *w)
{
	return w->to->csv ? "part.csv" : "part.parquet";
}

static int make_folder(const char *path, struct error *error)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : error_set(error, "%s: %s", path, strerror(errno));
}

/* --- columns --- */

struct table_column_kind {
	const char *name, *type; /* SQL's */
};

static const struct table_column_kind job_columns[] = {
	{"job", "BIGINT"},       {"trace", "VARCHAR"},   {"user", "VARCHAR"},      {"state", "VARCHAR"},
	{"reason", "VARCHAR"},   {"cause", "VARCHAR"},   {"exe", "VARCHAR"},       {"application", "VARCHAR"},
	{"job_name", "VARCHAR"}, {"account", "VARCHAR"}, {"partition", "VARCHAR"}, {"qos", "VARCHAR"},
	{"start", "TIMESTAMP"},  {"end", "TIMESTAMP"},   {"ranks", "BIGINT"},      {"nodes", "BIGINT"},
	{"size", "BIGINT"},      {"path", "VARCHAR"}};
static const struct table_column_kind site_columns[] = {
	{"job", "BIGINT"},      {"trace", "VARCHAR"}, {"user", "VARCHAR"},     {"application", "VARCHAR"},
	{"start", "TIMESTAMP"}, {"site", "BIGINT"},   {"function", "VARCHAR"}, {"frames", "VARCHAR"}};

/* The figures behind them: of a run, or of calls that are in one trace. */
static bool has_figure(enum table table, int figure)
{
	const struct figure_column_info *f = &figure_columns[figure];
	return table == JOBS ? f->of_run
	                     : f->calls && figure != COLUMN_TRACES && figure != COLUMN_JOBS && figure != COLUMN_SHARE;
}

static size_t fixed_columns(enum table table, const struct table_column_kind **out)
{
	*out = table == JOBS ? job_columns : site_columns;
	return table == JOBS ? sizeof job_columns / sizeof *job_columns : sizeof site_columns / sizeof *site_columns;
}

static void each_column(enum table table, void (*tell)(FILE *, const struct table_column_kind *, bool first), FILE *out)
{
	const struct table_column_kind *fixed;
	const size_t n = fixed_columns(table, &fixed);
	for (size_t i = 0; i < n; i++)
		tell(out, &fixed[i], i == 0);
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (has_figure(table, i))
			tell(out, &(struct table_column_kind){figure_columns[i].json, "DOUBLE"}, false);
}

static void export_heading(FILE *out, const struct table_column_kind *c, bool first)
{
	say_to(out, "%s%s", first ? "" : ",", c->name);
}

static void put_type(FILE *out, const struct table_column_kind *c, bool first)
{
	say_to(out, "%s'%s': '%s'", first ? "" : ", ", c->name, c->type);
}

/* --- cells --- */

static void export_text(FILE *out, const char *text)
{
	csv_print_text(out, text);
	say_to(out, ",");
}

static void export_number(FILE *out, int64_t n)
{
	say_to(out, "%" PRId64 ",", n);
}

/* In UTC, as SQL has it. */
static void put_time(FILE *out, int64_t ns)
{
	const time_t t = (time_t)(ns / 1000000000);
	char text[32] = "";
	struct tm tm;
	if (t > 0 && gmtime_r(&t, &tm))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
	say_to(out, "%s,", text);
}

static void export_figures(const struct tables_writing *w, const double *value)
{
	bool first = true;
	for (int i = 0; i < FIGURE_COLUMNS; i++) {
		if (!has_figure(w->table, i))
			continue;
		say_to(w->out, first ? "" : ",");
		first = false;
		if (value[i] >= 0)
			say_to(w->out, "%.17g", value[i]);
	}
	say_to(w->out, "\n");
}

/* --- files of CSV --- */

static int close_month(struct tables_writing *w)
{
	FILE *out = w->out;
	w->out = NULL;
	if (out && (ferror(out) | fclose(out)) != 0)
		return error_set(w->error, "%s: cannot be written", w->folder);
	return 0;
}

static int open_month(struct tables_writing *w, const char *month)
{
	char path[PATH_MAX];
	if (close_month(w) != 0)
		return -1;
	snprintf(path, sizeof path, "%s/%s/month=%s", w->folder, table_names[w->table], month);
	if (make_folder(path, w->error) != 0)
		return -1;
	w->out = fopen(month_path(w, w->table, month, ".part.csv", path), "we");
	if (!w->out)
		return error_set(w->error, "%s: %s", path, strerror(errno));
	each_column(w->table, export_heading, w->out);
	say_to(w->out, "\n");
	return 0;
}

/* Goes on with the part of a row of that time. Returns 0, or -1 with the error said. */
static int begin_job(struct tables_writing *w, int64_t start_ns)
{
	char month[MONTH];
	month_of(start_ns, month);
	if (w->count && strcmp(w->parts[w->count - 1].month, month) == 0)
		return 0;
	if (!budget_grow(&w->parts, w->count, &w->room, sizeof *w->parts))
		return error_set(w->error, "out of memory");
	w->parts[w->count] = (struct table_month){.changed = {false}};
	strcpy(w->parts[w->count++].month, month);
	return open_month(w, month);
}

static int export_job(void *context, const struct catalog_row *r)
{
	struct tables_writing *w = context;
	if (begin_job(w, r->start_ns) != 0)
		return -1;
	FILE *out = w->out;
	const char *const texts[] = {r->name,        r->user,     r->state,   r->reason,    r->cause, r->exe,
	                             r->application, r->job_name, r->account, r->partition, r->qos};
	export_number(out, r->job);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		export_text(out, texts[i]);
	put_time(out, r->start_ns);
	put_time(out, r->end_ns);
	export_number(out, r->ranks);
	export_number(out, r->nodes);
	export_number(out, (int64_t)r->size);
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s.spoor", r->folder, r->name);
	export_text(out, path);
	export_figures(w, r->figures);
	return 0;
}

/* Which part is of that time? -1: none. */
static int64_t month_at(const struct tables_writing *w, int64_t start_ns)
{
	char month[MONTH];
	month_of(start_ns, month);
	for (uint32_t i = w->count; i > 0; i--)
		if (strcmp(w->parts[i - 1].month, month) == 0)
			return i - 1;
	return -1;
}

static int export_call(void *context, const struct call_row *r)
{
	struct tables_writing *w = context;
	const int64_t part = month_at(w, r->start_ns);
	if (part < 0 || !w->parts[part].changed[JOBS])
		return 0;
	if (!w->parts[part].changed[SITES] && open_month(w, w->parts[part].month) != 0)
		return -1;
	w->parts[part].changed[SITES] = true;
	export_number(w->out, r->job);
	export_text(w->out, r->name);
	export_text(w->out, r->user);
	export_text(w->out, r->application);
	put_time(w->out, r->start_ns);
	if (r->site >= 0)
		export_number(w->out, r->site);
	else
		say_to(w->out, ",");
	export_text(w->out, r->function);
	export_text(w->out, r->frames);
	export_figures(w, r->figures);
	return 0;
}

/* --- what has changed --- */

/* Of the CSV of a part, and of what reads the figures. */
static int sum_of(const struct tables_writing *w, const char *month, char out[SUM])
{
	struct sha256_ctx sha;
	uint8_t bytes[65536], digest[SHA256_DIGEST_SIZE];
	char path[PATH_MAX];
	size_t n;
	FILE *in = fopen(month_path(w, JOBS, month, ".part.csv", path), "re");
	if (!in)
		return error_set(w->error, "%s: %s", path, strerror(errno));
	sha256_init(&sha);
	while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
		sha256_update(&sha, n, bytes);
	fclose(in);
	sha256_digest(&sha, sizeof digest, digest);
	n = (size_t)snprintf(out, SUM, "%s %" PRId64 " ", part_name(w), digest_version());
	for (size_t i = 0; i < sizeof digest; i++)
		n += (size_t)snprintf(out + n, SUM - n, "%02x", digest[i]);
	return 0;
}

/* Is the part as it was written last? */
static bool is_as_before(const struct tables_writing *w, enum table table, const char *month, const char *sum)
{
	char path[PATH_MAX], before[SUM] = "";
	FILE *in = fopen(month_path(w, table, month, ".sum", path), "re");
	if (!in)
		return false;
	const bool read = fgets(before, sizeof before, in) != NULL;
	fclose(in);
	return read && strcmp(before, sum) == 0 && access(month_path(w, table, month, part_name(w), path), F_OK) == 0;
}

/* A month of which both tables are as they were is left alone. */
static int find_changes(struct tables_writing *w)
{
	char sum[SUM], path[PATH_MAX];
	for (uint32_t i = 0; i < w->count; i++) {
		struct table_month *p = &w->parts[i];
		if (sum_of(w, p->month, sum) != 0)
			return -1;
		p->changed[JOBS] = !is_as_before(w, JOBS, p->month, sum) || !is_as_before(w, SITES, p->month, sum);
		if (!p->changed[JOBS])
			unlink(month_path(w, JOBS, p->month, ".part.csv", path));
	}
	return 0;
}

/* --- Parquet --- */

/* The statement that makes `to` of the CSV file `from`; malloc'ed. */
static char *copy_statement(enum table table, const char *from, const char *to)
{
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);
	if (!out)
		return NULL;
	say_to(out, "COPY (SELECT * FROM read_csv(");
	sql_print_text(out, from);
	say_to(out, ", header = true, delim = ',', quote = '\"', escape = '\"', auto_detect = false, columns = {");
	each_column(table, put_type, out);
	say_to(out, "})) TO ");
	sql_print_text(out, to);
	say_to(out, " (FORMAT parquet, COMPRESSION zstd)");
	if (fclose(out) == 0)
		return sql;
	free(sql);
	return NULL;
}

static int run_duckdb(const char *sql, const char *made, struct error *error)
{
	char program[PATH_MAX], messages[PROCESS_LINE] = "";
	struct error why = {""};
	if (!process_find("duckdb", program))
		return error_set(error,
		                 "Parquet is written by the program duckdb, which is not in PATH; --csv writes CSV");
	struct process p = {.argv = (const char *[]){program, "-c", sql, NULL},
	                    .input = "",
	                    .seconds = SECONDS,
	                    .messages = messages,
	                    .message_size = sizeof messages};
	const int rv = process_run(&p, &why);
	process_clean(messages);
	if (rv == 0 && access(made, F_OK) == 0)
		return 0;
	return error_set(error, "duckdb wrote no %s: %.200s", made, *messages ? messages : why.text);
}

static int make_part(const struct tables_writing *w, enum table table, const char *month)
{
	char csv[PATH_MAX], made[PATH_MAX], part[PATH_MAX];
	month_path(w, table, month, ".part.csv", csv);
	month_path(w, table, month, w->to->csv ? ".part.csv" : ".part.parquet", made);
	month_path(w, table, month, part_name(w), part);
	if (!w->to->csv) { /* with the mode that the caller's umask gave to the CSV */
		struct stat st;
		char *sql = copy_statement(table, csv, made);
		unlink(made);
		int rv = sql ? run_duckdb(sql, made, w->error) : error_set(w->error, "out of memory");
		free(sql);
		if (rv != 0)
			return -1;
		if (stat(csv, &st) != 0 || chmod(made, st.st_mode & 0777) != 0)
			return error_set(w->error, "%s: %s", made, strerror(errno));
	}
	if (rename(made, part) != 0)
		return error_set(w->error, "%s: %s", part, strerror(errno));
	return 0;
}

/* What the parts were made of is written down last. */
static int finish_month(const struct tables_writing *w, const struct table_month *p)
{
	char sum[SUM], path[PATH_MAX];
	if (sum_of(w, p->month, sum) != 0)
		return -1;
	for (int table = 0; table < TABLES; table++)
		if (p->changed[table] && make_part(w, (enum table)table, p->month) != 0)
			return -1;
	for (int table = 0; table < TABLES; table++) {
		FILE *out = fopen(month_path(w, (enum table)table, p->month, ".sum", path), "we");
		if (!out || say_to(out, "%s", sum) < 0 || fclose(out) != 0)
			return error_set(w->error, "%s: %s", path, strerror(errno));
		unlink(month_path(w, (enum table)table, p->month, ".part.csv", path));
		w->to->written += p->changed[table];
	}
	return 0;
}

/* --- the whole --- */

/* A month without call sites has an empty table of them, so that it is there. */
static int add_empty(struct tables_writing *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		struct table_month *p = &w->parts[i];
		if (p->changed[JOBS] && !p->changed[SITES] && open_month(w, p->month) != 0)
			return -1;
		p->changed[SITES] = p->changed[JOBS];
	}
	return close_month(w);
}

static int read_index(struct tables_writing *w, struct catalog *c)
{
	struct catalog_filter all = CATALOG_FILTER_ALL;
	all.sort = "start";
	w->table = JOBS;
	if (catalog_list(c, &all, true, export_job, w, w->error) != 0 || close_month(w) != 0 || find_changes(w) != 0)
		return -1;
	w->table = SITES;
	return call_list(c, &all, export_call, w, w->error) == 0 ? add_empty(w) : -1;
}

static int make_table_folders(const struct tables_writing *w)
{
	char path[PATH_MAX];
	for (int i = 0; i < TABLES; i++) {
		snprintf(path, sizeof path, "%s/%s", w->folder, table_names[i]);
		if (make_folder(path, w->error) != 0)
			return -1;
	}
	return 0;
}

/* Another one that writes there is waited for. Returns the descriptor, or -1 with error set. */
static int lock_folder(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	error_set(error, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int index_tables_write(struct index_tables *t, struct catalog *c, struct error *error)
{
	char folder[PATH_MAX];
	struct tables_writing w = {.to = t, .folder = folder, .error = error};
	if (make_folder(t->folder, error) != 0)
		return -1;
	if (!realpath(t->folder, folder))
		return error_set(error, "%s: %s", t->folder, strerror(errno));
	int lock = lock_folder(folder, error), rv = lock < 0 ? -1 : make_table_folders(&w);
	if (rv == 0 && (rv = catalog_lock(c, CATALOG_SHARE, WAIT, error)) == 0) {
		rv = read_index(&w, c);
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	}
	for (uint32_t i = 0; rv == 0 && i < w.count; i++)
		if (w.parts[i].changed[JOBS])
			rv = finish_month(&w, &w.parts[i]);
	if (w.out)
		fclose(w.out);
	t->months = w.count;
	t->parts = (size_t)w.count * TABLES;
	budget_free(w.parts);
	if (lock >= 0)
		close(lock);
	return rv;
}
