/* SPDX-License-Identifier: BSD-3-Clause
 * trend - `spoor trend`: applications that take longer than they did, since when and where; nodes whose ranks are late
 */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/history.h"
#include "cmd/base/cell.h"
#include "cmd/base/filter.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/options.h"
#include "cmd/base/site_names.h"
#include "cmd/cmd.h"
#include "trace/base/budget.h"

#define LINES   20000                  /* histories that are kept */
#define TOP     20                     /* of a table */
#define CAUSE   15                     /* runs of each side that are looked at for a cause */
#define CHANGES 64                     /* of a history */
#define SPAN    (180 * INT64_C(86400)) /* s: without --since */
#define MOST    8                      /* slow nodes of a table */

struct trend_options {
	struct catalog_filter filter;
	const char *archive;
	int64_t last, top;
	bool json;
};

struct trend_line {
	char application[METADATA_APPLICATION], at[200]; /* at: where the cause is; "": not known */
	int64_t ranks, since_ns, last_ns;
	size_t runs;
	double median, last, change; /* s, s, the last change: -0.3 is 30 % less; 0: there is none */
	struct history_run before[CAUSE], after[CAUSE];
	size_t before_count, after_count;
	struct history_cause cause;
};

struct trend {
	const struct trend_options *o;
	struct trend_line *lines;
	uint32_t count, room;
	struct history_node *nodes;
	size_t node_count;
};

/* --- out of the index --- */

/* The runs next to the last change, for its cause. */
static void put_change(struct trend_line *l, const struct history *h, const struct trend_change *c)
{
	size_t begin = c->first > CAUSE ? c->first - CAUSE : 0;
	l->since_ns = h->runs[c->first].start_ns;
	l->change = c->after / c->before - 1;
	l->before_count = c->first - begin;
	l->after_count = h->count - c->first < CAUSE ? h->count - c->first : CAUSE;
	memcpy(l->before, h->runs + begin, l->before_count * sizeof *l->before);
	memcpy(l->after, h->runs + c->first, l->after_count * sizeof *l->after);
}

static int take_history(void *context, const struct history *h)
{
	struct trend *t = context;
	struct trend_change changes[CHANGES];
	double *times = malloc((h->count + 1) * sizeof *times);
	size_t last = (size_t)t->o->last < h->count ? (size_t)t->o->last : h->count;

	if (!times || t->count == LINES || !budget_grow(&t->lines, t->count, &t->room, sizeof *t->lines)) {
		free(times);
		return t->count == LINES ? 0 : -1;
	}
	for (size_t i = 0; i < h->count; i++)
		times[i] = h->runs[i].seconds;
	int n = trend_changes(times, h->count, changes, CHANGES);
	struct trend_line *l = &t->lines[t->count];
	*l = (struct trend_line){.ranks = h->ranks, .runs = h->count, .last = times[h->count - 1]};
	memcpy(l->application, h->application, sizeof l->application);
	l->last_ns = h->runs[h->count - 1].start_ns;
	l->cause.site = -1;
	l->median = trend_median(times + h->count - last, last);
	if (n > 0)
		put_change(l, h, &changes[n - 1]);
	t->count += n >= 0;
	free(times);
	return n < 0 ? -1 : 0;
}

/* What became slower, by what it costs; then the others, the latest first. */
static int compare_lines(const void *a, const void *b)
{
	const struct trend_line *x = a, *y = b;
	double p = x->change * x->median * (double)x->ranks, q = y->change * y->median * (double)y->ranks;
	bool slow = x->change > 0, other = y->change > 0;
	if (slow != other)
		return slow ? -1 : 1;
	if (slow && p != q)
		return p > q ? -1 : 1;
	return (x->last_ns < y->last_ns) - (x->last_ns > y->last_ns);
}

static int find_causes(struct trend *t, struct catalog *c, struct error *error)
{
	int rv = 0;
	for (size_t i = 0; i < t->count && i < (size_t)t->o->top && rv == 0; i++) {
		struct trend_line *l = &t->lines[i];
		if (l->change != 0)
			rv = history_cause(c, l->before, l->before_count, l->after, l->after_count, l->change > 0,
			                   &l->cause, error);
	}
	return rv;
}

/* Where the call sites are in the source. Traces are opened: without the lock of the index. */
static void find_trend_places(struct trend *t, struct catalog *c)
{
	for (size_t i = 0; i < t->count && i < (size_t)t->o->top; i++) {
		struct trend_line *l = &t->lines[i];
		char file[PATH_MAX], path[2 * PATH_MAX];
		if (l->cause.site < 0 || history_path(c, l->cause.id, file, sizeof file) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", c->archive, file);
		if (site_names_in_file(path, (uint32_t)l->cause.site, l->cause.what, l->at, sizeof l->at) != 0)
			*l->at = '\0';
	}
}

static int read_trends(struct trend *t, struct catalog **c, struct error *error)
{
	int rv = fresh_index(c, t->o->archive, true, false, error);
	if (rv == 0)
		rv = fresh_index_read(*c, 0, 1, false, error);
	if (rv == 0)
		rv = catalog_lock(*c, CATALOG_SHARE, 10000, error);
	if (rv == 0)
		rv = history_each(*c, &t->o->filter, 2, take_history, t, error);
	if (rv == 0 && t->count)
		qsort(t->lines, t->count, sizeof *t->lines, compare_lines);
	if (rv == 0)
		rv = find_causes(t, *c, error);
	if (rv == 0)
		rv = history_nodes(*c, &t->o->filter, &t->nodes, &t->node_count, error);
	if (rv == 0)
		find_trend_places(t, *c);
	return rv;
}

/* --- telling --- */

static void day_text(char out[16], int64_t ns)
{
	char start[32];
	snprintf(out, 16, "%.10s", cell_start(start, ns));
}

static void seconds_text(char out[16], double s)
{
	snprintf(out, 16, "%.*f s", s >= 99.95 ? 0 : s >= 9.995 ? 1 : 3, s);
}

static void print_line(const struct trend_line *l)
{
	char name[64], median[16], last[16], day[16], change[64] = "-", before[16], after[16];
	seconds_text(median, l->median);
	seconds_text(last, l->last);
	day_text(day, l->since_ns);
	if (l->change != 0)
		snprintf(change, sizeof change, "%+.0f %% since %s", 100 * l->change, day);
	printf("%-19.19s %7" PRId64 " %5zu %10s %10s  %s\n", cell_text(name, l->application), l->ranks, l->runs, median,
	       last, change);
	if (!*l->cause.what)
		return;
	seconds_text(before, l->cause.before);
	seconds_text(after, l->cause.after);
	if (l->cause.before > 0)
		snprintf(change, sizeof change, " (%+.0f %%)", 100 * (l->cause.after / l->cause.before - 1));
	else
		*change = '\0';
	printf("    %s%s%.44s: %s -> %s a rank%s\n", l->cause.what, *l->at ? " in " : "", l->at, before, after, change);
}

static size_t slow_count(const struct trend *t)
{
	size_t n = 0;
	while (n < t->node_count && trend_node_slow(&t->nodes[n].test, t->node_count))
		n++;
	return n;
}

static void print_trends(const struct trend *t)
{
	size_t slow = slow_count(t), changed = 0;
	char name[64];
	for (size_t i = 0; i < t->count; i++)
		changed += t->lines[i].change > 0;
	printf("%zu of %" PRIu32 " applications are slower than usual.\n", changed, t->count);
	if (t->count)
		printf("%-19s %7s %5s %10s %10s  %s\n", "APPLICATION", "RANKS", "RUNS", "MEDIAN", "LAST", "CHANGE");
	for (size_t i = 0; i < t->count && i < (size_t)t->o->top; i++)
		print_line(&t->lines[i]);
	if (t->count > (size_t)t->o->top)
		printf("%zu more; --top 0 prints all.\n", t->count - (size_t)t->o->top);
	for (size_t i = 0; i < slow && i < MOST; i++) {
		const struct trend_node *n = &t->nodes[i].test;
		printf("Ranks on node %s are late in %u of %u jobs (%.1f by chance).\n",
		       cell_text(name, t->nodes[i].name), n->late, n->jobs, n->expected);
	}
	if (slow > MOST)
		printf("%zu more nodes are slow; --json has all.\n", slow - MOST);
	if (t->node_count && !slow)
		printf("None of %zu nodes has late ranks more often than by chance.\n", t->node_count);
}

static json_t *trends_json(const struct trend *t)
{
	json_t *lines = json_array(), *nodes = json_array();
	size_t slow = slow_count(t);
	for (size_t i = 0; i < t->count && i < (size_t)t->o->top; i++) {
		const struct trend_line *l = &t->lines[i];
		json_t *one = json_pack("{s:s, s:I, s:I, s:f, s:f, s:I}", "application", l->application, "ranks",
		                        (json_int_t)l->ranks, "runs", (json_int_t)l->runs, "median_s", l->median,
		                        "last_s", l->last, "last_ns", (json_int_t)l->last_ns);
		if (one && l->change != 0)
			json_object_set_new(one, "change",
			                    json_pack("{s:f, s:I, s:s, s:s, s:f, s:f}", "share", l->change, "since_ns",
			                              (json_int_t)l->since_ns, "cause", l->cause.what, "at", l->at,
			                              "before_s", l->cause.before, "after_s", l->cause.after));
		json_array_append_new(lines, one);
	}
	for (size_t i = 0; i < t->node_count; i++) {
		const struct trend_node *n = &t->nodes[i].test;
		json_array_append_new(nodes, json_pack("{s:s, s:i, s:i, s:f, s:f, s:b}", "node", t->nodes[i].name,
		                                       "jobs", (int)n->jobs, "late", (int)n->late, "expected",
		                                       n->expected, "p", n->p, "slow", i < slow));
	}
	return json_pack("{s:o, s:o}", "applications", lines, "nodes", nodes);
}

static bool parse_trend(struct trend_options *o, int argc, char **argv, int *status)
{
	const struct option_line lines[] = {
		OPTION_NUMBER("last", 0, "N", &o->last, 1, HISTORY_RUNS, "MEDIAN is of the last N runs (default 20)"),
		OPTION_NUMBER("top", 0, "N", &o->top, 0, FILTER_NUMBER_MAX,
	                      "at most N applications (default 20); 0: all"),
		OPTION_FLAG("json", 0, &o->json, "as JSON"),
		FILTER_LINES(&o->filter),
		OPTION_ARCHIVE(&o->archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor trend",
	                                "",
	                                "Finds applications that take longer than they did, and says since when and "
	                                "which call. Finds nodes whose "
	                                "ranks the others wait for. Without --since it looks at 180 days.",
	                                FILTER_NOTES,
	                                lines,
	                                0,
	                                0,
	                                false};

	if (!options_read(&options, argc, argv, status))
		return false;
	o->top = o->top ? o->top : LINES;
	o->filter.since = o->filter.since ? o->filter.since : (int64_t)time(NULL) - SPAN;
	return true;
}

int cmd_trend(int argc, char **argv)
{
	struct trend_options o = {.filter = CATALOG_FILTER_ALL, .last = 20, .top = TOP};
	struct trend t = {.o = &o};
	struct catalog *c = NULL;
	struct error error = {""};
	int status;

	if (!parse_trend(&o, argc, argv, &status))
		return status;
	int rv = read_trends(&t, &c, &error);
	catalog_close(c);
	if (rv == 0 && o.json) {
		json_t *json = trends_json(&t);
		rv = json && json_dumpf(json, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF ? 0 : -1;
		json_decref(json);
	} else if (rv == 0) {
		print_trends(&t);
	}
	if (error.text[0])
		fprintf(stderr, "spoor: %s\n", error.text);
	history_free_nodes(t.nodes, t.node_count);
	budget_free(t.lines);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
