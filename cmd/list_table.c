/* SPDX-License-Identifier: BSD-3-Clause
 * list_table - of `spoor list`: which columns it has, and their rows as a table or for programs
 *
 * A table is as wide as what is in it: the first rows wait until that is known. On a terminal that is too narrow, texts
 * are cut, the widest first, and end in `+`, as sacct has it.
 */
#include "cmd/list_table.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/base/cell.h"
#include "cmd/base/sink.h"
#include "cmd/base/terminal.h"

#define NARROW     120 /* columns of a terminal that has fewer of a table's */
#define CUT_LEAST  6   /* no column is cut to less */
#define CELL       1024
#define DAYS_BRIEF 180 /* older times need their year */

enum field { JOB, USER, NAME, STATE, START, END, ELAPSED, RANKS, NODES, SIZE, REASON, EXE, FIRST_FIGURE };

static const struct list_field {
	const char *name, *slurm, *heading; /* slurm: sacct's name of the same; may be NULL */
	unsigned field;                     /* enum field; FIRST_FIGURE + COLUMN_ */
	bool text;
} fields[] = {
	{"job", "JobID", "JOB", JOB, true},
	{"user", "User", "USER", USER, true},
	{"name", "JobName", "NAME", NAME, true},
	{"state", "State", "STATE", STATE, true},
	{"start", "Start", "START", START, true},
	{"end", "End", "END", END, true},
	{"elapsed", "Elapsed", "ELAPSED", ELAPSED, false},
	{"ranks", "NTasks", "RANKS", RANKS, false},
	{"nodes", "NNodes", "NODES", NODES, false},
	{"size", NULL, "SIZE", SIZE, false},
	{"mpi", NULL, "MPI%", FIRST_FIGURE + COLUMN_MPI, false},
	{"reason", "Reason", "REASON", REASON, true},
	{"exe", NULL, "EXECUTABLE", EXE, true},
};

/* The figures, by their names in JSON. */
static const struct list_field figure_fields[] = {
#define COLUMN(ID, key, json, heading, ...) {json, NULL, heading, FIRST_FIGURE + COLUMN_##ID, false},
#include "insight/figures.def"
};

/* --- which columns --- */

static const struct list_field *find_list_field(const char *name)
{
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (!strcasecmp(name, fields[i].name) || (fields[i].slurm && !strcasecmp(name, fields[i].slurm)))
			return &fields[i];
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (figure_columns[i].of_run && !strcasecmp(name, figure_columns[i].json))
			return &figure_fields[i];
	return NULL;
}

static int read_column(struct list_table *t, const char *word, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct list_column c = {.width = 0};
	size_t name = strcspn(word, "%,");

	if (t->count == LIST_COLUMNS_MOST || name == 0 || name >= sizeof c.key || strspn(word, letters) < name)
		return -1;
	snprintf(c.key, sizeof c.key, "%.*s", (int)name, word);
	if (name < n) {
		char *end;
		long width = strtol(word + name + 1, &end, 10);
		if (end != word + n || width == 0 || width < -CELL / 2 || width > CELL / 2)
			return -1;
		c.width = (int)width;
	}
	c.field = find_list_field(c.key);
	t->metadata |= !c.field;
	t->columns[t->count++] = c;
	return 0;
}

int list_table_read_format(void *table, const char *text)
{
	struct list_table *t = table;

	t->count = 0;
	t->metadata = false;
	for (;; text++) {
		size_t n = strcspn(text, ",");
		if (read_column(t, text, n) != 0)
			return -1;
		text += n;
		if (!*text)
			return 0;
	}
}

void list_table_choose(struct list_table *t)
{
	if (t->count == 0)
		list_table_read_format(t,
		                       t->form == LIST_TABLE && t->room && t->room < NARROW
		                               ? "job,user,name,state,start,elapsed,ranks,mpi,reason"
		                               : "job,user,name,state,start,elapsed,ranks,nodes,size,mpi,reason,exe");
}

/* --- cells --- */

/* Of a narrow table: "11-23T14:05", or the day if it is long ago. */
static const char *brief_time(char out[32], int64_t ns)
{
	time_t t = (time_t)(ns / 1000000000);
	bool old = time(NULL) - t > (time_t)DAYS_BRIEF * 86400;
	struct tm tm;

	if (ns <= 0 || !localtime_r(&t, &tm) || !strftime(out, 32, old ? "%Y-%m-%d" : "%m-%dT%H:%M", &tm))
		strcpy(out, "-");
	return out;
}

static void put_time(const struct list_table *t, char out[CELL], int64_t ns)
{
	char text[32];
	bool brief = t->form == LIST_TABLE && t->room && t->room < NARROW;
	snprintf(out, CELL, "%s", brief ? brief_time(text, ns) : cell_start(text, ns));
}

/* Of a table without control characters and blanks; for programs as it is. */
static void put_cell_text(const struct list_table *t, char out[CELL], const char *text)
{
	char cell[64];
	snprintf(out, CELL, "%s", t->form == LIST_TABLE ? cell_text(cell, text) : text);
}

/* The trace of a step, with its job as Slurm writes it (archive/job_id.h). */
static void put_job(const struct list_table *t, const struct catalog_row *r, char out[CELL])
{
	char text[160];
	const char *step = r->name + strspn(r->name, "0123456789");

	if (r->array_job > 0)
		snprintf(text, sizeof text, "%" PRId64 "_%" PRId64 "%s", r->array_job, r->array_task, step);
	else if (r->het_job > 0 && r->job >= r->het_job)
		snprintf(text, sizeof text, "%" PRId64 "+%" PRId64 "%s", r->het_job, r->job - r->het_job, step);
	else
		snprintf(text, sizeof text, "%s", r->name);
	put_cell_text(t, out, text);
}

/* MPI% is rounded, also for programs; other figures are not. */
static void put_list_figure(const struct list_table *t, const struct list_field *f, const struct catalog_row *r,
                            char out[CELL])
{
	unsigned column = f->field - FIRST_FIGURE;
	double value = r->figures[column];
	char text[32];

	if (value < 0)
		strcpy(out, t->form == LIST_TABLE ? "-" : "");
	else if (!strcmp(f->name, "mpi"))
		snprintf(out, CELL, "%.1f", 100 * value);
	else if (t->form == LIST_TABLE)
		snprintf(out, CELL, "%s", cell_figure(text, value, figure_columns[column].unit));
	else
		snprintf(out, CELL, "%.17g", value);
}

static void put_field(const struct list_table *t, const struct list_field *f, const struct catalog_row *r,
                      char out[CELL])
{
	char text[160];
	const char *why = *r->cause && strcmp(r->cause, "unknown") ? r->cause : r->reason;

	switch (f->field) {
	case JOB:
		put_job(t, r, out);
		break;
	case USER:
		put_cell_text(t, out, r->user);
		break;
	case NAME:
		put_cell_text(t, out, r->job_name);
		break;
	case STATE:
		put_cell_text(t, out, r->state);
		break;
	case START:
		put_time(t, out, r->start_ns);
		break;
	case END:
		put_time(t, out, r->end_ns);
		break;
	case ELAPSED:
		snprintf(out, CELL, "%s", cell_elapsed(text, r->start_ns, r->end_ns));
		break;
	case RANKS:
		snprintf(out, CELL, "%s", cell_count(text, r->ranks));
		break;
	case NODES:
		snprintf(out, CELL, "%s", cell_count(text, r->nodes));
		break;
	case SIZE:
		if (t->form == LIST_TABLE)
			snprintf(out, CELL, "%s", cell_size(text, r->size));
		else
			snprintf(out, CELL, "%" PRIu64, r->size);
		break;
	case REASON:
		snprintf(text, sizeof text, "%s%s%s", why, *why && *r->unended ? ":" : "", r->unended);
		put_cell_text(t, out, text);
		break;
	case EXE:
		put_cell_text(t, out, t->form == LIST_TABLE && *r->application ? r->application : r->exe);
		break;
	default:
		put_list_figure(t, f, r, out);
		break;
	}
}

static void put_key(const struct list_table *t, const json_t *metadata, const char *key, char out[CELL])
{
	const json_t *value = json_object_get(metadata, key);
	char *text = value && !json_is_string(value) ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	put_cell_text(t, out, text ? text : value && json_is_string(value) ? json_string_value(value) : "");
	free(text);
}

/* --- rows --- */

static bool is_text(const struct list_column *c)
{
	return c->width ? c->width < 0 : !c->field || c->field->text;
}

static void print_table_cell(const struct list_table *t, size_t i, const char *cell)
{
	int width = t->widths[i], length = (int)strlen(cell);
	bool last = i + 1 == t->count, text = is_text(&t->columns[i]);

	if (length > width && (t->room || t->columns[i].width))
		say_to(t->out, "%.*s+", width - 1, cell);
	else if (text && last)
		say_to(t->out, "%s", cell);
	else
		say_to(t->out, text ? "%-*s" : "%*s", width, cell);
}

/* States in colour. The heading has none. */
static void print_marked_cell(const struct list_table *t, size_t i, const char *cell)
{
	bool state = t->columns[i].field && t->columns[i].field->field == STATE && strcmp(cell, "STATE");

	if (state)
		terminal_print_mark(t->out, !strcmp(cell, "COMPLETED") ? MARK_GOOD : MARK_BAD);
	print_table_cell(t, i, cell);
	if (state)
		terminal_print_mark(t->out, MARK_END);
}

static void print_list_row(const struct list_table *t, char *const *cells)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->form == LIST_CSV)
			csv_print_text(t->out, cells[i]);
		else if (t->form == LIST_PARSABLE)
			columns_print_text(t->out, cells[i]);
		else
			print_marked_cell(t, i, cells[i]);
		say_to(t->out, i + 1 == t->count          ? "\n"
		               : t->form == LIST_CSV      ? ","
		               : t->form == LIST_PARSABLE ? "|"
		                                          : " ");
	}
}

/* The widest text that may be cut is, until all fits. Returns whether it does. */
static bool cut_columns(struct list_table *t, bool jobs)
{
	for (;;) {
		int all = (int)t->count - 1, most = CUT_LEAST;
		size_t widest = t->count;
		for (size_t i = 0; i < t->count; i++) {
			all += t->widths[i];
			const struct list_field *f = t->columns[i].field;
			bool cut = !t->columns[i].width &&
			           (!f || f->field == USER || f->field == NAME || f->field == REASON ||
			            f->field == EXE || (jobs && f->field == JOB));
			if (cut && t->widths[i] > most) {
				most = t->widths[i];
				widest = i;
			}
		}
		if (all <= t->room || widest == t->count)
			return all <= t->room;
		t->widths[widest]--;
	}
}

/* For programs the name that --format takes. */
static void put_heading(const struct list_table *t, const struct list_column *c, char out[CELL])
{
	bool table = t->form == LIST_TABLE;

	snprintf(out, CELL, "%s", !c->field ? c->key : table ? c->field->heading : c->field->name);
	for (char *p = out; table && !c->field && *p; p++)
		*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
}

static void measure_columns(struct list_table *t)
{
	char heading[LIST_COLUMNS_MOST][CELL], *cells[LIST_COLUMNS_MOST];

	for (size_t i = 0; i < t->count; i++) {
		put_heading(t, &t->columns[i], cells[i] = heading[i]);
		t->widths[i] = t->heading ? (int)strlen(heading[i]) : 1;
		for (size_t r = 0; r < t->rows; r++) {
			int length = (int)strlen(t->cells[r * t->count + i]);
			t->widths[i] = length > t->widths[i] ? length : t->widths[i];
		}
		if (t->columns[i].width)
			t->widths[i] = abs(t->columns[i].width);
	}
	if (t->form == LIST_TABLE && t->room && !cut_columns(t, false))
		cut_columns(t, true); /* nobody can ask for a job whose number is cut */
	t->measured = true;
	if (t->heading)
		print_list_row(t, cells);
}

static void flush_rows(struct list_table *t)
{
	if (!t->measured)
		measure_columns(t);
	for (size_t r = 0; r < t->rows; r++) {
		print_list_row(t, t->cells + r * t->count);
		for (size_t i = 0; i < t->count; i++)
			free(t->cells[r * t->count + i]);
	}
	t->rows = 0;
}

int list_table_add(struct list_table *t, const struct catalog_row *row, const json_t *metadata)
{
	char cell[CELL];

	if (!t->cells)
		t->cells = calloc(LIST_ROWS_MEASURED * t->count, sizeof *t->cells);
	if (!t->cells)
		return -1;
	char **cells = t->cells + t->rows * t->count;
	for (size_t i = 0; i < t->count; i++) {
		if (t->columns[i].field)
			put_field(t, t->columns[i].field, row, cell);
		else
			put_key(t, metadata, t->columns[i].key, cell);
		cells[i] = strdup(cell);
		t->failed |= !cells[i];
	}
	t->rows++;
	t->told++;
	if (t->failed)
		return -1;
	if (t->rows == LIST_ROWS_MEASURED || t->measured)
		flush_rows(t);
	return 0;
}

int list_table_end(struct list_table *t)
{
	if (!t->failed)
		flush_rows(t);
	for (size_t i = 0; t->cells && i < t->rows * t->count; i++)
		free(t->cells[i]);
	free(t->cells);
	t->cells = NULL;
	return t->failed ? -1 : 0;
}
