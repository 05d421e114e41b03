/* SPDX-License-Identifier: BSD-3-Clause
 * sites - of libspoor: what a trace says as tables: its call sites, its figures, who sent how much to whom
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/digest.h"
#include "archive/metadata.h"
#include "cmd/base/site_names.h"
#include "insight/traffic.h"
#include "lib/inside.h"
#include "trace/model/stream.h"
#include "trace/read/late.h"
#include "trace/read/summary.h"
#include "trace/read/wait_site.h"

/* --- call sites --- */

enum {
	SITE,
	FUNCTION,
	NAME,
	PATH,
	CALLS,
	RANKS,
	NS,
	MEAN,
	MIN,
	MAX,
	MAX_RANK,
	BYTES,
	UNSIZED,
	WAIT,
	WAIT_FOR,
	UNENDED,
	IMBALANCE,
	LATE,
	SITE_COLUMNS
};

static const struct table_column site_columns[SITE_COLUMNS] = {
	[SITE] = {"site", SPOOR_INTEGERS},
	[FUNCTION] = {"function", SPOOR_TEXTS},
	[NAME] = {"name", SPOOR_TEXTS},
	[PATH] = {"path", SPOOR_TEXTS},
	[CALLS] = {"calls", SPOOR_INTEGERS},
	[RANKS] = {"ranks", SPOOR_INTEGERS},
	[NS] = {"ns", SPOOR_INTEGERS},
	[MEAN] = {"mean_ns", SPOOR_NUMBERS},
	[MIN] = {"min_ns", SPOOR_INTEGERS},
	[MAX] = {"max_ns", SPOOR_INTEGERS},
	[MAX_RANK] = {"max_rank", SPOOR_INTEGERS},
	[BYTES] = {"bytes", SPOOR_INTEGERS},
	[UNSIZED] = {"unsized", SPOOR_INTEGERS},
	[WAIT] = {"wait_ns", SPOOR_INTEGERS},
	[WAIT_FOR] = {"wait_kind", SPOOR_TEXTS},
	[UNENDED] = {"unended_ns", SPOOR_INTEGERS},
	[IMBALANCE] = {"imbalance", SPOOR_NUMBERS},
	[LATE] = {"late_rank", SPOOR_INTEGERS},
};

static const char *const wait_names[WAIT_KINDS] = {"late sender", "late receiver", "collective"};

/* The frames of a call path from the innermost on, as lines. */
static void put_frames(struct spoor_table *out, const struct trace *t, uint32_t node, struct frames *frames)
{
	char *lines = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&lines, &size);
	for (; to && node != 0; node = t->nodes[node].parent) {
		char frame[1024];
		frames_text(frames, node, frame, sizeof frame);
		fprintf(to, "%s%s", ftell(to) ? "\n" : "", frame);
	}
	if (to)
		fclose(to);
	table_text(out, PATH, lines);
	free(lines);
}

static void put_times(struct spoor_table *out, const struct trace *t, const struct trace_site *s)
{
	const struct histogram *h = &s->communicate;
	uint64_t ranks;
	table_number(out, IMBALANCE, summary_imbalance(s, &ranks));
	table_integer(out, RANKS, ranks);
	table_integer(out, NS, h->sum);
	if (h->count == 0)
		return;
	table_number(out, MEAN, histogram_mean(h));
	table_integer(out, MIN, h->min);
	table_integer(out, MAX, h->max);
	table_integer(out, MAX_RANK, stream_rank(t, h->max_rank));
}

static void put_call_site(struct spoor_table *out, const struct spoor_trace *of, uint32_t site,
                          const struct site_names *names, const struct activity *activity)
{
	const struct trace *t = &of->trace;
	const struct trace_site *s = &t->sites[site];
	enum wait_kind kind = WAIT_KINDS;
	uint32_t rank;
	char name[1024];
	table_row(out);
	table_integer(out, SITE, site);
	table_text(out, FUNCTION, spoor_site_function(of, site));
	site_names_text(names, site, name, sizeof name);
	table_text(out, NAME, name);
	put_frames(out, t, s->node, names->frames);
	table_integer(out, CALLS, (uint64_t)rankmap_sum(&s->visits));
	put_times(out, t, s);
	table_integer(out, BYTES, activity->bytes);
	table_integer(out, UNSIZED, activity->unsized);
	const uint64_t wait = wait_site(t, s, activity, &kind), unended = inside_unended(t, site);
	table_integer(out, WAIT, wait + unended);
	table_text(out, WAIT_FOR, wait ? wait_names[kind] : "");
	table_integer(out, UNENDED, unended);
	table_integer(out, LATE, late_at_site(t, s, &rank) ? stream_rank(t, rank) : UINT64_MAX);
}

struct spoor_table *spoor_site_table(const struct spoor_trace *of, char *error)
{
	const struct trace *t = &of->trace;
	struct budget budget = inside_budget();
	struct site_names names;
	struct site_activity activity;
	struct spoor_table *out = table_create(site_columns, SITE_COLUMNS);
	budget_begin(&budget);
	const bool named = site_names_make(&names, t) == 0, active = site_activity_make(&activity, t) == 0;
	for (uint32_t i = 0; named && active && i < t->site_count; i++)
		put_call_site(out, of, i, &names, &activity.sites[i]);
	site_activity_free(&activity);
	site_names_free(&names);
	return inside_finish(out, &budget, named && active ? NULL : &inside_no_memory, error);
}

/* --- figures --- */

static void put_figure(struct spoor_table *out, const char *name, const char *unit, double value)
{
	table_row(out);
	table_text(out, 0, name);
	table_number(out, 1, value);
	table_text(out, 2, unit);
}

static const char *const unit_names[] = {
	[UNIT_COUNT] = "count", [UNIT_HOURS] = "h",    [UNIT_SECONDS] = "s",  [UNIT_SHARE] = "ratio",
	[UNIT_BYTES] = "bytes", [UNIT_MEAN] = "bytes", [UNIT_RATIO] = "ratio"};

/* Counts have the same name in both: once is enough. */
static bool is_further(const struct figure_column_info *c)
{
	bool named = !c->of_run;
	for (int i = 0; i < FIGURES; i++)
		named |= strcmp(figure_names[i].key, c->json) == 0;
	return !named;
}

/* As the index has them, and what it shows of a run. */
static void put_figures(struct spoor_table *out, const struct digest *d, const char *metadata)
{
	struct error unused;
	json_t *facts = metadata_parse("the trace", metadata, strlen(metadata), &unused);
	struct figure_run run = metadata_figure_run(facts);
	double value[FIGURE_COLUMNS];

	for (int i = 0; i < FIGURES; i++)
		put_figure(out, figure_names[i].key, figure_names[i].unit, (double)d->figures.number[i]);
	json_decref(facts);
	run.sizes = d->sizes;
	figure_values(&d->figures, &run, value);
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (value[i] >= 0 && is_further(&figure_columns[i]))
			put_figure(out, figure_columns[i].json, unit_names[figure_columns[i].unit], value[i]);
	if (d->late_rank >= 0)
		put_figure(out, "late_rank", "rank", (double)d->late_rank);
}

struct spoor_table *spoor_figures(const struct spoor_trace *of, char *error)
{
	struct budget budget = inside_budget();
	struct digest digest;
	static const struct table_column columns[] = {
		{"figure", SPOOR_TEXTS}, {"value", SPOOR_NUMBERS}, {"unit", SPOOR_TEXTS}};
	struct spoor_table *out = table_create(columns, 3);
	budget_begin(&budget);
	const int rv = digest_make(&digest, &of->trace, NULL);
	if (rv == 0)
		put_figures(out, &digest, of->metadata);
	digest_free(&digest);
	return inside_finish(out, &budget, rv == 0 ? NULL : &inside_no_memory, error);
}

/* --- messages --- */

struct spoor_table *spoor_matrix(const struct spoor_trace *of, char *text)
{
	static const char *const names[] = {"sender", "receiver", "messages", "bytes", "one_sided", "one_sided_bytes"};
	struct budget budget = inside_budget();
	struct traffic m;
	struct error error = {""};
	struct spoor_table *out = table_create(NULL, 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		table_column(out, names[i], SPOOR_INTEGERS);
	budget_begin(&budget);
	int rv = traffic_make(&m, &of->trace, &(struct traffic_wish){.passed = false}, &error);
	for (size_t i = 0; rv == 0 && i < m.count; i++) {
		const struct traffic_cell *c = &m.cells[i];
		const uint64_t values[] = {c->from, c->to, c->messages, c->bytes, c->one_sided, c->one_sided_bytes};
		table_row(out);
		for (uint32_t k = 0; k < sizeof values / sizeof *values; k++)
			table_integer(out, k, values[k]);
	}
	traffic_free(&m);
	return inside_finish(out, &budget, rv == 0 ? NULL : &error, text);
}
