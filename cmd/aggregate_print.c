/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_print - of `spoor aggregate`: what comes out of it, as text, JSON, CSV
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "cmd/aggregate_print.h"
#include "cmd/base/cell.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/base/site_names.h"
#include "cmd/base/terminal.h"
#include "cmd/base/wrap.h"
#include "trace/file/container.h"

/* Lines of code are looked for in this many traces at most: each is opened for that. */
#define PLACES_MAX 50

/* --- cells --- */

/* Where a site is, in the source if the files of then are still there: "solve at cg.c:41". Its example is opened. Else
 * what the index has. */
static void source_of_site(char *out, size_t size, const struct aggregate_group *g, const struct aggregate_output *o)
{
	char path[4600];

	snprintf(path, sizeof path, "%s/%s/%s.spoor", o->archive, g->example.folder, g->example.name);
	if (site_names_in_file(path, g->example.site, g->function, out, size) != 0)
		snprintf(out, size, "%s", g->frames);
}

/* --- tables --- */

#define CELLS      24
#define TAIL_LEAST 16 /* of the last text, if it is longer */

struct group_table {
	char *(*rows)[CELLS];
	size_t count;
	size_t columns, texts; /* the first `texts` columns are texts, and the last one if `tail` */
	bool tail, failed;
	size_t keep; /* a column that is not left out; 0: none */
	bool hidden[CELLS];
	size_t left_out;
};

static void put_cell(struct group_table *t, size_t row, size_t column, const char *text)
{
	free(t->rows[row][column]);
	t->rows[row][column] = strdup(text);
	t->failed |= !t->rows[row][column];
}

static void put_name_cell(struct group_table *t, size_t row, size_t column, const char *text)
{
	char cell[64];
	put_cell(t, row, column, cell_text(cell, text));
}

/* On a terminal, numbers that do not fit are left out, from the last one on, and the last text is cut. Returns the room
 * that the last text has; 0: any. */
static int fit_cells(struct group_table *t, const int widths[CELLS], int room)
{
	int all = -2;

	if (room <= 0)
		return 0;
	for (size_t c = 0; c < t->columns; c++)
		all += 2 + (t->tail && c + 1 == t->columns && widths[c] > TAIL_LEAST ? TAIL_LEAST : widths[c]);
	for (size_t c = t->columns - t->tail; all > room && c-- > t->texts;)
		if (c != t->keep) {
			t->hidden[c] = true;
			t->left_out++;
			all -= 2 + widths[c];
		}
	return all < room ? TAIL_LEAST + room - all : TAIL_LEAST;
}

static void print_cells(struct group_table *t, const char *indent)
{
	int widths[CELLS] = {0};

	for (size_t r = 0; r < t->count; r++)
		for (size_t c = 0; c < t->columns; c++)
			if ((int)strlen(t->rows[r][c]) > widths[c])
				widths[c] = (int)strlen(t->rows[r][c]);
	int room = fit_cells(t, widths, terminal_width() - (int)strlen(indent));
	for (size_t r = 0; r < t->count; r++) {
		say("%s", indent);
		for (size_t c = 0; c < t->columns; c++) {
			bool tail = t->tail && c + 1 == t->columns;
			if (t->hidden[c])
				continue;
			say("%s", c ? "  " : "");
			if (tail && room)
				say("%.*s", room, t->rows[r][c]);
			else if (tail)
				say("%s", t->rows[r][c]);
			else
				say(c < t->texts ? "%-*s" : "%*s", widths[c], t->rows[r][c]);
		}
		say("\n");
	}
	if (t->left_out)
		say("%s(%zu columns do not fit here)\n", indent, t->left_out);
}

static void free_cells(struct group_table *t)
{
	for (size_t r = 0; t->rows && r < t->count; r++)
		for (size_t c = 0; c < CELLS; c++)
			free(t->rows[r][c]);
	free(t->rows);
}

/* The columns of the table of groups. Returns how many. */
static size_t choose_columns(enum aggregate_by by, enum figure_column sort, enum figure_column *columns)
{
	size_t count = 0;
	bool calls = by >= AGGREGATE_FUNCTION, there = sort == FIGURE_COLUMNS;

	for (int i = 0; i < FIGURE_COLUMNS; i++) {
		const struct figure_column_info *info = &figure_columns[i];
		if (!(calls ? info->in_calls_table : info->in_runs_table) ||
		    (by == AGGREGATE_JOB && i == COLUMN_TRACES))
			continue;
		columns[count++] = (enum figure_column)i;
		there |= i == (int)sort;
	}
	if (!there)
		columns[count++] = sort;
	return count;
}

static int print_groups(const struct aggregate *a, const struct aggregate_output *o, const char *indent)
{
	enum figure_column columns[FIGURE_COLUMNS];
	size_t n = choose_columns(a->by, o->sort, columns), shown = o->top && o->top < a->count ? o->top : a->count;
	bool site = a->by == AGGREGATE_SITE, job = a->by == AGGREGATE_JOB;
	struct group_table t = {.rows = calloc(shown + 1, sizeof *t.rows),
	                        .count = shown + 1,
	                        .texts = job    ? 3
	                                 : site ? 2
	                                        : 1,
	                        .tail = site};
	char heading[32] = "", cell[32], text[512];

	if (!t.rows)
		return -1;
	t.columns = t.texts + n + site;
	for (const char *p = site ? "function" : aggregate_names[a->by]; *p; p++)
		heading[strlen(heading)] = (char)(*p >= 'a' ? *p - 'a' + 'A' : *p);
	put_cell(&t, 0, 0, heading);
	if (job)
		put_cell(&t, 0, 1, "USER");
	if (job || site)
		put_cell(&t, 0, t.texts - 1, "EXECUTABLE");
	for (size_t i = 0; i < n; i++) {
		put_cell(&t, 0, t.texts + i, figure_columns[columns[i]].heading);
		t.keep = columns[i] == o->sort ? t.texts + i : t.keep;
	}
	if (site)
		put_cell(&t, 0, t.columns - 1, "AT");
	for (size_t r = 0; r < shown; r++) {
		const struct aggregate_group *g = a->groups[r];
		put_name_cell(&t, r + 1, 0, site ? g->function : g->key);
		if (job)
			put_name_cell(&t, r + 1, 1, g->example.user);
		if (job || site)
			put_name_cell(&t, r + 1, t.texts - 1, g->example.exe);
		for (size_t i = 0; i < n; i++)
			put_cell(&t, r + 1, t.texts + i,
			         cell_figure(cell, aggregate_value(a, g, columns[i]), figure_columns[columns[i]].unit));
		if (!site)
			continue;
		if (r < PLACES_MAX)
			source_of_site(text, sizeof text, g, o);
		else
			snprintf(text, sizeof text, "%s", g->frames);
		put_cell(&t, r + 1, t.columns - 1, text);
	}
	if (!t.failed)
		print_cells(&t, indent);
	free_cells(&t);
	return t.failed ? -1 : 0;
}

/* The jobs that lost most in calls that never ended. */
static int print_hung(const struct aggregate *a)
{
	struct group_table t = {.rows = calloc(a->hung_count + 1, sizeof *t.rows),
	                        .count = a->hung_count + 1,
	                        .columns = 5,
	                        .texts = 3,
	                        .tail = true};
	static const char *const heading[] = {"JOB", "USER", "EXECUTABLE", "HUNG-H", "WHAT IT WAITED FOR"};
	char cell[32];

	if (!t.rows)
		return -1;
	for (size_t i = 0; i < 5; i++)
		put_cell(&t, 0, i, heading[i]);
	for (size_t r = 0; r < a->hung_count; r++) {
		const struct aggregate_hung *h = &a->hung[r];
		put_name_cell(&t, r + 1, 0, h->name);
		put_name_cell(&t, r + 1, 1, h->user);
		put_name_cell(&t, r + 1, 2, h->exe);
		put_cell(&t, r + 1, 3, cell_figure(cell, (double)h->node_ns / 3.6e12, UNIT_HOURS));
		put_cell(&t, r + 1, 4, *h->verdict ? h->verdict : "-");
	}
	if (a->hung_count && !t.failed) {
		say("\nJobs that hung, by the node hours in calls that never ended\n");
		print_cells(&t, "");
	}
	free_cells(&t);
	return t.failed ? -1 : 0;
}

int aggregate_print_groups(const struct aggregate *a, const struct aggregate_output *o)
{
	int rv = print_groups(a, o, "");

	if (rv == 0 && o->top && o->top < a->count + a->dropped)
		say("... and %zu more (--top 0 has all)\n", (size_t)(a->count + a->dropped) - o->top);
	return rv || print_hung(a) ? -1 : 0;
}

/* --- the total --- */

static void print_sizes(const struct aggregate_group *g)
{
	static const char bar[] = "########################################";
	uint64_t all = 0, most = 0;
	char from[32], count[32];

	for (int i = 0; g->sizes && i < ACTIVITY_SIZES; i++) {
		all += g->sizes[i];
		most = g->sizes[i] > most ? g->sizes[i] : most;
	}
	for (int i = 0; all && i < ACTIVITY_SIZES; i++)
		if (g->sizes[i])
			say("  from %6s  %8s  %5.1f%%  %.*s\n", cell_size(from, i ? UINT64_C(1) << (i - 1) : 0),
			    cell_figure(count, (double)g->sizes[i], UNIT_COUNT),
			    100 * (double)g->sizes[i] / (double)all, (int)((double)g->sizes[i] * 40 / (double)most),
			    bar);
}

static void print_partial(const struct aggregate_group *g)
{
	const char *between = ": ";

	say("%-12s %.0f", "Partial", (double)g->sum[SUM_PARTIAL]);
	for (int i = 0; i < AGGREGATE_REASONS; i++)
		if (g->reasons[i]) {
			say("%s%" PRIu64 " %s", between, g->reasons[i], aggregate_reasons[i]);
			between = ", ";
		}
	say("\n");
	if (g->sum[SUM_DEGRADED])
		say("%-12s %.0f gave up order, call paths or events\n", "Degraded", (double)g->sum[SUM_DEGRADED]);
}

/* What was said first of how many traces: most first. */
static void print_causes(const struct aggregate_group *g)
{
	uint64_t last = UINT64_MAX;
	char text[OUTCOMES * 48] = "";
	size_t n = 0;
	for (uint64_t most; last > 0; last = most) {
		most = 0;
		for (int i = 0; i < OUTCOMES; i++)
			most = g->causes[i] < last && g->causes[i] > most ? g->causes[i] : most;
		for (int i = 0; most && i < OUTCOMES; i++)
			if (g->causes[i] == most)
				n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64 " %s", n ? ", " : "",
				                      most, outcome_name((enum outcome)i));
	}
	say("%-12s ", "Causes");
	wrap_print(n ? text : "-", 13, 80);
}

/* What the sums below have and the traces do not say more of, as spoor show has it. */
static void print_missing(const struct aggregate *a, const struct aggregate_group *g)
{
	char share[32];

	if (g->sum[SUM_LOST])
		say("%-12s %.0f calls (%s) are no events: they were only counted, with their time\n", "Counted",
		    (double)g->sum[SUM_LOST], cell_figure(share, aggregate_value(a, g, COLUMN_COUNTED), UNIT_SHARE));
	if (g->sum[SUM_UNPLACED_NS])
		say("%-12s %.3f s of computation (%s) are in the totals of ranks, but at no site\n", "Unplaced",
		    (double)g->sum[SUM_UNPLACED_NS] * 1e-9,
		    cell_figure(share, aggregate_value(a, g, COLUMN_UNPLACED), UNIT_SHARE));
}

int aggregate_print_total(const struct aggregate *a, const struct aggregate_output *o)
{
	const struct aggregate_group *g = &a->total;
	char text[FIGURE_COLUMNS][32];

	for (int i = 0; i < FIGURE_COLUMNS; i++)
		cell_figure(text[i], aggregate_value(a, g, (enum figure_column)i), figure_columns[i].unit);
	say("%-12s %s of %s jobs, %s events\n", "Traces", text[COLUMN_TRACES], text[COLUMN_JOBS], text[COLUMN_EVENTS]);
	print_partial(g);
	print_causes(g);
	print_missing(a, g);
	say("%-12s %s\n", "Node hours", text[COLUMN_HOURS]);
	say("%-12s %s of the time, %s node hours\n", "In MPI", text[COLUMN_MPI], text[COLUMN_MPI_HOURS]);
	say("%-12s %s node hours, %s of them in calls that never ended\n", "Waiting", text[COLUMN_WAIT],
	    text[COLUMN_UNENDED]);
	say("%-12s parallel %s = load balance %s x communication %s\n", "Efficiency", text[COLUMN_PARALLEL],
	    text[COLUMN_BALANCE], text[COLUMN_COMMUNICATION]);
	say("%-12s %s node hours that equal work would save\n", "To gain", text[COLUMN_IDLE]);
	say("%-12s %s of the time, %s node hours\n", "Tracer", text[COLUMN_OVERHEAD_SHARE], text[COLUMN_OVERHEAD]);
	say("%-12s %s messages, %s; mean %s; %s smaller than 1 KiB", "Sent", text[COLUMN_MESSAGES], text[COLUMN_BYTES],
	    text[COLUMN_SIZE], text[COLUMN_SMALL_SHARE]);
	if (g->sum[SUM_UNSIZED])
		say("; the size of %.1f%% is not known",
		    100 * (double)g->sum[SUM_UNSIZED] / (double)g->sum[SUM_MESSAGES]);
	say("\n");
	print_sizes(g);
	if (g->sum[SUM_ONE_SIDED_BYTES])
		say("%-12s %s\n", "One-sided", text[COLUMN_ONE_SIDED]);
	if (g->sum[SUM_READ_BYTES] || g->sum[SUM_WRITTEN_BYTES])
		say("%-12s %s read, %s written\n", "Files", text[COLUMN_READ], text[COLUMN_WRITTEN]);
	if (a->count == 0)
		return 0;
	say("\nCall sites with most time\n");
	return print_groups(a, o, "") || print_hung(a) ? -1 : 0;
}

/* --- for programs --- */

int aggregate_print_json(const struct aggregate *a, enum aggregate_by by, const struct aggregate_output *o)
{
	size_t shown = o->top && o->top < a->count ? o->top : a->count;
	json_t *groups = json_array(), *root;
	char text[512];
	int rv = -1;

	for (size_t i = 0; i < shown; i++) {
		json_t *group = aggregate_json(a, a->groups[i]);
		if (group && a->by == AGGREGATE_SITE && o->top && i < PLACES_MAX) {
			source_of_site(text, sizeof text, a->groups[i], o);
			json_object_set_new(group, "at", json_string(text));
		}
		json_array_append_new(groups, group);
	}
	root = json_pack("{s:s, s:o, s:o, s:o, s:I, s:O, s:I, s:I}", "by", aggregate_names[by], "total",
	                 aggregate_json(a, &a->total), by == AGGREGATE_ALL ? "sites" : "groups", groups, "hung",
	                 aggregate_hung_json(a), "groups_all", (json_int_t)(a->count + a->dropped), "skipped",
	                 a->skipped, "unreadable", (json_int_t)a->unreadable, "missing", (json_int_t)a->missing);
	if (root) {
		rv = json_print(stdout, root, JSON_INDENT(1));
		say("\n");
	}
	json_decref(root);
	return rv;
}

int aggregate_print_csv(const struct aggregate *a, const struct aggregate_output *o)
{
	size_t shown = o->top && o->top < a->count ? o->top : a->count;
	bool site = a->by == AGGREGATE_SITE, job = a->by == AGGREGATE_JOB;

	say("%s", site ? "function,frames,executable" : aggregate_names[a->by]);
	say("%s", job ? ",user,executable" : "");
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (aggregate_has(a->by, (enum figure_column)i))
			say(",%s", figure_columns[i].json);
	say("\n");
	for (size_t r = 0; r < shown; r++) {
		const struct aggregate_group *g = a->groups[r];
		const char *texts[] = {site ? g->function : g->key,
		                       site  ? g->frames
		                       : job ? g->example.user
		                             : NULL,
		                       site || job ? g->example.exe : NULL};
		for (int i = 0; i < 3 && texts[i]; i++) {
			if (i)
				say(",");
			csv_print_text(stdout, texts[i]);
		}
		for (int i = 0; i < FIGURE_COLUMNS; i++) {
			double v = aggregate_value(a, g, (enum figure_column)i);
			if (!aggregate_has(a->by, (enum figure_column)i))
				continue;
			if (v < 0)
				say(",");
			else
				say(",%.17g", v);
		}
		say("\n");
	}
	return 0;
}
