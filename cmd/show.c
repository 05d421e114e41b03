/* SPDX-License-Identifier: BSD-3-Clause
 * show - `spoor show FILE|JOB`: what ran, and where its MPI time went
 */
#include <stdio.h>
#include <string.h>

#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/cmd.h"
#include "cmd/show/view.h"
#include "trace/model/stream.h"
#include "insight/verdict.h"

struct show_options {
	bool sites, loops, exact, matrix, classes, waits, last, json;
	const char *archive;
	int64_t rank, thread, lines;
	double at, hung;
};

/* In all objects in it, members whose name ends in "rank" hold streams: they become ranks, and beside them is the
 * thread ("max_rank": 3, "max_thread": 1). Nothing is added where ranks have no further threads. */
static void name_threads(json_t *json, const struct trace *t)
{
	size_t i;
	json_t *item;
	const char *key;
	if (json_is_array(json)) {
		json_array_foreach(json, i, item) name_threads(item, t);
		return;
	}
	json_t *threads = json_object();
	json_object_foreach(json, key, item)
	{
		size_t n = strlen(key);
		char name[64];
		if (json_is_object(item) || json_is_array(item)) {
			if (strcmp(key, "meta") != 0)
				name_threads(item, t);
		} else if (json_is_integer(item) && n >= 4 && n < sizeof name - 4 && strcmp(key + n - 4, "rank") == 0) {
			uint64_t stream = (uint64_t)json_integer_value(item);
			snprintf(name, sizeof name, "%.*sthread", (int)n - 4, key);
			json_object_set_new(threads, name, json_integer(stream_thread(t, stream)));
			json_integer_set(item, stream_rank(t, stream));
		}
	}
	json_object_update(json, threads);
	json_decref(threads);
}

static bool parse_show(struct show_options *o, int argc, char **argv, int *status)
{
	const struct option_line lines[] = {
		OPTION_FLAG("sites", 0, &o->sites, "every call site with its call path"),
		OPTION_FLAG("loops", 0, &o->loops,
	                    "the program's skeleton as seen by one rank: loops and calls, with ranges of their counts"),
		OPTION_FLAG("exact", 0, &o->exact, "--loops with each difference between turns"),
		OPTION_NUMBER("lines", 0, "N", &o->lines, 0, INT32_MAX,
	                      "--loops in at most N lines (default 200; 0: no limit)"),
		OPTION_FLAG("matrix", 0, &o->matrix, "messages and bytes from rank to rank"),
		OPTION_FLAG("classes", 0, &o->classes, "groups of ranks that behave alike"),
		OPTION_FLAG("waits", 0, &o->waits,
	                    "where ranks waited for others: late senders, receivers, collectives"),
		OPTION_FLAG("last", 0, &o->last, "where every rank was when it ended"),
		OPTION_READ("at", 0, "TIME", &o->at, options_read_time, OPTIONS_TIME,
	                    "where every rank was at a time (12.5s, 300ms) from MPI_Init on, with mean times"),
		OPTION_READ("hung", 0, "TIME", &o->hung, options_read_time, OPTIONS_TIME,
	                    "who computes for longer while others wait is gone, not slow (default 60s)"),
		OPTION_NUMBER("rank", 'r', "R", &o->rank, 0, INT32_MAX, "the rank of --loops (default 0)"),
		OPTION_NUMBER("thread", 0, "T", &o->thread, 0, INT32_MAX,
	                      "its thread (default 0); \"R.T\" is thread T of rank R everywhere"),
		OPTION_FLAG("json", 0, &o->json, "as JSON"),
		OPTION_ARCHIVE(&o->archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor show",
		"FILE|JOB",
		"Shows a summary of a trace: the job's metadata, and calls and time by function. "
		"Options select other views.",
		NULL,
		lines,
		1,
		1,
		false};

	return options_read(&options, argc, argv, status);
}

/* The views that were asked for; without any, the summary. */
static int show_views(const struct show_options *o, const struct show *s, json_t *json)
{
	int rv = 0;
	if (!o->sites && !o->loops && !o->matrix && !o->classes && !o->waits && !o->last && s->at < 0)
		rv = show_summary(s, json);
	if (rv == 0 && o->sites)
		rv = show_sites(s, json);
	if (rv == 0 && o->loops)
		rv = show_loops(s, json);
	if (rv == 0 && o->matrix)
		rv = show_matrix(s, json);
	if (rv == 0 && o->classes)
		rv = show_groups(s, json);
	if (rv == 0 && o->waits)
		rv = show_waits(s, json);
	if (rv == 0 && (o->last || s->at >= 0))
		rv = show_last(s, json);
	return rv;
}

int cmd_show(int argc, char **argv)
{
	struct show_options o = {.at = -1, .lines = 200, .hung = (double)VERDICT_PATIENCE};
	struct show s;
	int rv;

	if (!parse_show(&o, argc, argv, &rv))
		return rv;
	struct container *c;
	struct trace t;
	if (open_trace(argv[optind], o.archive, &c, &t) != 0)
		return CMD_FAILED;
	s = (struct show){container_name(c),  c,    &t,      open_metadata(c),  (uint32_t)o.rank,
	                  (uint32_t)o.thread, o.at, o.exact, (uint64_t)o.lines, (uint64_t)o.hung};
	json_t *json = o.json ? json_object() : NULL;
	if (json) {
		json_object_set_new(json, "trace", json_string(s.name));
		json_object_set_new(json, "size", json_integer((json_int_t)container_file_size(c)));
		json_object_set_new(json, "meta", s.meta ? json_incref(s.meta) : json_null());
	}
	rv = show_views(&o, &s, json);
	if (open_spent(s.name) != 0)
		rv = -1;
	if (rv == 0 && json) {
		if (stream_threads(&t) > 1)
			name_threads(json, &t);
		rv = json_print(stdout, json, JSON_INDENT(2));
		say("\n");
	}
	if (fflush(stdout) != 0)
		rv = -1;
	json_decref(json);
	json_decref(s.meta);
	trace_free(&t);
	container_destroy(c);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
