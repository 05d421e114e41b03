/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate - `spoor aggregate`: what the traces of an archive say together
 */
#include "cmd/aggregate_print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/filter.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"
#include "cmd/base/tasks.h"
#include "trace/base/repeated.h"

struct aggregate_options {
	struct catalog_filter filter;
	const char *archive;
	enum aggregate_by by;
	enum figure_column sort;
	bool reverse, json, csv, sorted;
	int64_t top; /* negative: not said */
};

/* The keys to sort by: those of the columns, and that of the groups. */
static const char *const *sort_keys(void)
{
	static const char *keys[FIGURE_COLUMNS + 2] = {"key"};
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		keys[i + 1] = figure_columns[i].name;
	return keys;
}

/* Do the options go together? Returns the exit status. */
static int check_options(struct aggregate_options *o, const char *by, const char *sort)
{
	while (by && strcmp(by, aggregate_names[o->by]) != 0)
		o->by++;
	if (o->json && o->csv)
		return options_wrong("spoor aggregate", "--json and --csv do not go together");
	if (o->by == AGGREGATE_ALL && (sort || o->csv))
		return options_wrong("spoor aggregate", "%s needs --by", sort ? "--sort" : "--csv");
	o->sort = sort ? figure_column(sort) : o->by == AGGREGATE_MONTH ? FIGURE_COLUMNS : COLUMN_HOURS;
	if (o->sort != FIGURE_COLUMNS && !aggregate_has(o->by, o->sort))
		return options_wrong("spoor aggregate", "--sort %s: %s by function or site", sort,
		                     o->by >= AGGREGATE_FUNCTION ? "is not there" : "is only there");
	return CMD_OK;
}

#define NOTE_WIDTH 78

/* Adds a word, on a new line if it does not fit. *at: how long the line is. */
static void note_word(char *notes, size_t size, size_t *at, const char *word)
{
	size_t used = strlen(notes), n = strlen(word);
	bool fits = *at + 1 + n <= NOTE_WIDTH;

	snprintf(notes + used, size - used, "%s%s", *at == 0 ? "" : fits ? " " : "\n", word);
	*at = *at && fits ? *at + 1 + n : n;
}

/* The keys to sort by, as the manual page explains them. */
static const char *key_notes(void)
{
	static char notes[4096];
	char word[64];
	size_t at = 0;

	snprintf(notes, sizeof notes, "%s", FILTER_NOTES "\n\nKeys: key (the name). Of runs:\n");
	for (int calls = 0; calls < 2; calls++) {
		const char *before = NULL;
		for (int i = 0; i < FIGURE_COLUMNS; i++) {
			if (!(calls ? figure_columns[i].calls : figure_columns[i].runs))
				continue;
			if (before) {
				snprintf(word, sizeof word, "%s,", before);
				note_word(notes, sizeof notes, &at, word);
			}
			before = figure_columns[i].name;
		}
		snprintf(word, sizeof word, "%s.%s", before, calls ? "" : "\nBy function and site:\n");
		note_word(notes, sizeof notes, &at, word);
		at = 0;
	}
	return notes;
}

static bool parse_aggregate(struct aggregate_options *o, int argc, char **argv, int *status)
{
	const char *by = NULL, *sort = NULL;
	const struct option_line lines[] = {
		OPTION_WORD("by", 0, "WHAT", &by, aggregate_names,
	                    "a line for each user, account, partition, executable, job, node, month, function or site "
	                    "(call site); "
	                    "default: all in one line"),
		OPTION_WORD("sort", 0, "KEY", &sort, sort_keys(),
	                    "largest first, by a key from below; else hours, for months the month"),
		OPTION_FLAG("reverse", 0, &o->reverse, "reverse the order"),
		OPTION_NUMBER("top", 0, "N", &o->top, 0, FILTER_NUMBER_MAX,
	                      "at most N lines; 0: all. Default: 20 in a table, all in JSON and CSV"),
		OPTION_FLAG("json", 0, &o->json, "for programs: all keys, exact numbers"),
		OPTION_FLAG("csv", 0, &o->csv, "the same as a table"),
		FILTER_LINES(&o->filter),
		OPTION_ARCHIVE(&o->archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor aggregate",
		"",
		"Adds up the traces of the archive that you may read: time, waiting, efficiency, messages, call sites, "
		"the tracer's cost.",
		key_notes(),
		lines,
		0,
		0,
		false};

	if (!options_read(&options, argc, argv, status))
		return false;
	*status = check_options(o, by, sort);
	return *status == CMD_OK;
}

/* How many lines; 0: all. */
static size_t lines_of(const struct aggregate_options *o)
{
	if (o->top >= 0)
		return (size_t)o->top;
	return o->json || o->csv ? 0 : o->by == AGGREGATE_ALL ? 10 : 20;
}

static int aggregate_all(struct aggregate **a, struct catalog *c, const struct aggregate_options *o,
                         struct error *error)
{
	struct progress bar;
	const struct aggregate_asked asked = {
		.top = {lines_of(o), o->sort, o->reverse}, .progress = progress_callback, .context = &bar};

	if (catalog_lock(c, CATALOG_SHARE, 10000, error) != 0)
		return -1;
	progress_begin(&bar, "Adding up", 0, false);
	int rv = aggregate_make(a, c, &o->filter, o->by == AGGREGATE_ALL ? AGGREGATE_SITE : o->by, &asked, error);
	progress_end(&bar);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return rv;
}

static int compare_skipped(const void *a, const void *b)
{
	return strcmp(json_string_value(*(json_t *const *)a), json_string_value(*(json_t *const *)b));
}

/* In an order that does not depend on how the work was divided. */
static int sort_skipped(struct aggregate *a)
{
	size_t n = json_array_size(a->skipped);
	json_t **texts = malloc((n + 1) * sizeof *texts), *sorted = json_array();

	if (!texts || !sorted) {
		free(texts);
		json_decref(sorted);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		texts[i] = json_array_get(a->skipped, i);
	qsort(texts, n, sizeof *texts, compare_skipped);
	for (size_t i = 0; i < n; i++)
		json_array_append(sorted, texts[i]);
	free(texts);
	json_decref(a->skipped);
	a->skipped = sorted;
	return 0;
}

/* Returns the exit status. */
static int tell_skipped(const struct aggregate *a)
{
	const json_t *text;
	size_t i, said = 0, n = json_array_size(a->skipped);

	json_array_foreach(a->skipped, i, text) if (repeated_next(&said))
		say_to(stderr, "spoor: %s\n", json_string_value(text));
	if (a->unreadable && !a->total.sum[SUM_TRACES]) /* in an archive of many that is no news */
		say_to(stderr, "spoor: %llu traces are not yours to read\n", (unsigned long long)a->unreadable);
	if (a->missing)
		say_to(stderr,
		       "spoor: %llu traces are not in the index yet, and were left out; `spoor index` puts them "
		       "there\n",
		       (unsigned long long)a->missing);
	if (n)
		say_to(stderr, "spoor: %zu files are damaged or cannot be read, and were left out\n", n);
	return n ? CMD_FAILED : CMD_OK;
}

static int print_aggregate(struct aggregate *a, const struct aggregate_options *o, const char *archive)
{
	struct aggregate_output output = {archive, o->sort, lines_of(o)};

	aggregate_sort(a, o->sort, o->reverse);
	if (sort_skipped(a))
		return -1;
	if (o->json)
		return aggregate_print_json(a, o->by, &output);
	if (o->csv)
		return aggregate_print_csv(a, &output);
	return o->by == AGGREGATE_ALL ? aggregate_print_total(a, &output) : aggregate_print_groups(a, &output);
}

int cmd_aggregate(int argc, char **argv)
{
	struct aggregate_options o = {.filter = CATALOG_FILTER_ALL, .top = -1};
	struct catalog *c = NULL;
	struct aggregate *a = NULL;
	struct error error = {""};
	unsigned rank;
	int status;

	if (tasks_expected(&rank) > 1 && rank > 0)
		return CMD_OK; /* the first task of a job step prints */
	if (!parse_aggregate(&o, argc, argv, &status))
		return status;
	if (fresh_index(&c, o.archive, true, false, &error) != 0 || fresh_index_read(c, false, &error) != 0 ||
	    aggregate_all(&a, c, &o, &error) != 0)
		status = CMD_FAILED;
	else if (print_aggregate(a, &o, c->archive) != 0)
		error_set(&error, "out of memory");
	else
		status = tell_skipped(a);
	if (error.text[0])
		say_to(stderr, "spoor: %s\n", error.text);
	aggregate_destroy(a);
	catalog_close(c);
	if (status == CMD_OK && (fflush(stdout) || ferror(stdout)))
		status = CMD_FAILED;
	return error.text[0] ? CMD_FAILED : status;
}
