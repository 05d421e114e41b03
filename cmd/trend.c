/* SPDX-License-Identifier: BSD-3-Clause
 * trend - `spoor trend`: applications that take longer than they did, since when and where; nodes whose ranks are late
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/base/cell.h"
#include "cmd/base/filter.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/base/trends.h"
#include "cmd/cmd.h"

#define TOP  20 /* of a table */
#define MOST 8  /* slow nodes of a table */

struct trend_options {
	struct catalog_filter filter;
	const char *archive;
	int64_t last, top;
	bool json;
};

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
	say("%-19.19s %7" PRId64 " %5zu %10s %10s  %s\n", cell_text(name, l->application), l->ranks, l->runs, median,
	    last, change);
	if (!*l->cause.what)
		return;
	seconds_text(before, l->cause.before);
	seconds_text(after, l->cause.after);
	if (l->cause.before > 0)
		snprintf(change, sizeof change, " (%+.0f %%)", 100 * (l->cause.after / l->cause.before - 1));
	else
		*change = '\0';
	say("    %s%s%.44s: %s -> %s a rank%s\n", l->cause.what, *l->at ? " in " : "", l->at, before, after, change);
}

static void print_trends(const struct trends *t)
{
	size_t slow = trends_slow_nodes(t);
	char name[64];
	if (t->count)
		say("%zu of %zu applications are slower than usual.\n", t->slower, t->all);
	else
		say("No application has enough runs to compare.\n");
	if (t->count)
		say("%-19s %7s %5s %10s %10s  %s\n", "APPLICATION", "RANKS", "RUNS", "MEDIAN", "LAST", "CHANGE");
	for (size_t i = 0; i < t->count && i < t->top; i++)
		print_line(&t->lines[i]);
	if (t->all > t->top)
		say("%zu more%s\n", t->all - t->top, t->top < t->count ? "; --top 0 prints all." : ".");
	for (size_t i = 0; i < slow && i < MOST; i++) {
		const struct trend_node *n = &t->nodes[i].test;
		say("Ranks on node %s are late in %u of %u jobs (%.1f by chance).\n", cell_text(name, t->nodes[i].name),
		    n->late, n->jobs, n->expected);
	}
	if (slow > MOST)
		say("%zu more nodes are slow; --json has all.\n", slow - MOST);
	if (t->node_count && !slow)
		say("None of %zu nodes has late ranks more often than by chance.\n", t->node_count);
}

static json_t *trends_json(const struct trends *t)
{
	json_t *lines = json_array(), *nodes = json_array();
	size_t slow = trends_slow_nodes(t);
	for (size_t i = 0; i < t->count && i < t->top; i++) {
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
	o->top = o->top ? o->top : TRENDS_MOST;
	o->filter.since = o->filter.since ? o->filter.since : (int64_t)time(NULL) - TRENDS_SPAN;
	return true;
}

static int read_trends(struct trends *t, const char *archive, struct error *error)
{
	struct catalog *c = NULL;
	int rv = fresh_index(&c, archive, true, false, error);
	if (rv == 0)
		rv = fresh_index_read(c, false, error);
	if (rv == 0)
		rv = catalog_lock(c, CATALOG_SHARE, 10000, error);
	if (rv == 0) {
		rv = trends_read(t, c, error);
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	}
	if (rv == 0)
		trends_find_places(t, c);
	catalog_close(c);
	return rv;
}

int cmd_trend(int argc, char **argv)
{
	struct trend_options o = {.filter = CATALOG_FILTER_ALL, .last = 20, .top = TOP};
	struct error error = {""};
	int status;

	if (!parse_trend(&o, argc, argv, &status))
		return status;
	struct trends t = {.filter = &o.filter, .last = (size_t)o.last, .top = (size_t)o.top};
	int rv = read_trends(&t, o.archive, &error);
	if (rv == 0 && o.json) {
		rv = json_tell(trends_json(&t));
	} else if (rv == 0) {
		print_trends(&t);
	}
	if (error.text[0])
		say_to(stderr, "spoor: %s\n", error.text);
	trends_free(&t);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
