/* SPDX-License-Identifier: BSD-3-Clause
 * extrapolate - `spoor extrapolate FILE FILE... --ranks N -o OUT`: the trace of a run that never was, from smaller ones
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/join.h"
#include "archive/metadata.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/base/site_names.h"
#include "cmd/base/sink.h"
#include "cmd/base/stage.h"
#include "cmd/cmd.h"
#include "cmd/extrapolate/durations.h"
#include "cmd/extrapolate/produce.h"
#include "trace/base/budget.h"
#include "trace/base/publish.h"
#include "trace/read/walk.h"

#define LEAST_TRACES 2
#define TOLD         10  /* columns without a rule */
#define ALIKE        0.5 /* of the calls, at sites of all runs: else they are different programs */

struct extrapolation {
	const char *output, *archive;
	int64_t ranks;
	bool force, nearest;
	struct event_source source;
	struct turns turns;
	struct predictions predictions;
	struct durations durations;
	struct producing producing;
	json_t *from;     /* what it is made of */
	json_t *metadata; /* of the largest run */
	uint64_t elapsed; /* ns, of the rank that takes longest */
};

/* --- the traces --- */

struct input {
	const char *name;
	struct container *container;
	struct trace trace;
	bool open;
};

static int by_world_size(const void *a, const void *b)
{
	const struct input *x = a, *y = b;
	return (x->trace.size > y->trace.size) - (x->trace.size < y->trace.size);
}

static int add_input(struct extrapolation *x, const struct input *in, struct error *error)
{
	json_t *claims = open_claims(in->container);
	const char *world = claims ? json_string_value(json_object_get(claims, "world")) : NULL;
	int rv = source_add(&x->source, in->name, &in->trace, error);
	if (rv == 0 &&
	    json_array_append_new(x->from, json_pack("{s:i, s:s*}", "ranks", (int)in->trace.size, "world", world)) != 0)
		rv = error_set(error, "no memory");
	json_decref(x->metadata);
	x->metadata = claims;
	return rv;
}

static int read_inputs(struct extrapolation *x, struct input *in, int n, struct error *error)
{
	for (int i = 0; i < n; i++) {
		if (open_trace(in[i].name, x->archive, &in[i].container, &in[i].trace) != 0)
			return -1;
		in[i].open = true;
		if (open_expect(in[i].name, walk_cost(&in[i].trace)) != 0)
			return -1;
	}
	qsort(in, (size_t)n, sizeof *in, by_world_size);
	for (int i = 0; i < n; i++)
		if (add_input(x, &in[i], error) != 0)
			return -1;
	return 0;
}

/* --- what has no rule --- */

static void tell_missing(const struct extrapolation *x, const struct site_names *names, const struct unpredicted *m)
{
	const struct turns *t = &x->turns;
	const struct slot slot = {.kind = m->kind, .node = m->node};
	const struct schema *schema = slot_schema(t, &slot);
	char where[256] = "";
	uint32_t node = m->node;
	for (; schema == NULL && node >= t->nest.sites && t->nest.nodes[node].first != NEST_NONE;)
		node = t->nest.nodes[node].first;
	if (m->kind != SLOT_ROW && node > 0 && node < t->nest.sites)
		site_names_text(names, t->site_of[node], where, sizeof where);
	const struct slot call = {.kind = SLOT_VISIT, .node = node};
	const struct schema *of = schema ? schema : slot_schema(t, &call);
	char what[128];
	if (schema)
		snprintf(what, sizeof what, "%.*s", (int)schema->column[m->column].length,
		         schema->column[m->column].name);
	else
		snprintf(what, sizeof what, "%s",
		         m->kind == SLOT_CHOICE    ? "which call comes next"
		         : m->node < t->nest.sites ? "how often it is called"
		                                   : "turns of the loop that begins there");
	say_to(stderr, "spoor extrapolate: %.*s at %s: %s has no rule%s (%s)\n", (int)of->function_length, of->function,
	       where[0] ? where : "an unknown place", what,
	       m->there ? " for ranks of a kind that no smaller run had" : "", m->values);
}

static void tell_all_missing(const struct extrapolation *x)
{
	struct site_names names;
	bool named = site_names_make(&names, &x->source.model) == 0;
	uint32_t n = x->predictions.missing_count;
	for (uint32_t i = 0; named && i < n && i < TOLD; i++)
		tell_missing(x, &names, &x->predictions.missing[i]);
	if (n > TOLD)
		say_to(stderr, "spoor extrapolate: and %" PRIu32 " more\n", n - TOLD);
	site_names_free(&names);
}

/* --- the result --- */

static json_t *describe_result(struct extrapolation *x)
{
	static const char *const not_its[] = {"start",
	                                      "end",
	                                      "start_ns",
	                                      "end_ns",
	                                      "elapsed",
	                                      "job",
	                                      "step",
	                                      "array_job",
	                                      "array_task",
	                                      "het_job_id",
	                                      "world",
	                                      "node",
	                                      "hosts",
	                                      "ranks_per_node",
	                                      "node_list",
	                                      "nodes",
	                                      "tasks",
	                                      "step_start",
	                                      "step_end",
	                                      "part",
	                                      "parts",
	                                      "job_name",
	                                      "cluster",
	                                      "tasks_per_node",
	                                      "restart",
	                                      "exit_task",
	                                      "first_task",
	                                      "first_status",
	                                      "reservation",
	                                      "parent_world",
	                                      "parent_rank",
	                                      "clocks_apart_ns",
	                                      "clocks_error_ns",
	                                      "het_component",
	                                      "het_size",
	                                      "rule_where",
	                                      "rule_reason",
	                                      "retention",
	                                      "notes"};
	json_t *m = x->metadata ? json_incref(x->metadata) : json_object();
	for (size_t i = 0; i < sizeof not_its / sizeof *not_its; i++)
		json_object_del(m, not_its[i]);
	json_object_set_new(m, "version", json_integer(1));
	json_object_set_new(m, "rule", json_string("spoor extrapolate"));
	json_object_set_new(m, "ranks", json_integer(x->ranks));
	json_object_set_new(m, "hosts", json_pack("[s]", PRODUCE_HOST));
	json_object_set_new(m, "ranks_per_node", json_pack("[I]", (json_int_t)x->ranks));
	json_object_set_new(m, "node", json_string(PRODUCE_HOST));
	json_object_set_new(m, "elapsed", json_real((double)x->elapsed * 1e-9));
	json_object_set_new(m, "extrapolated",
	                    json_pack("{s:O, s:I}", "from", x->from, "guessed", (json_int_t)x->producing.guessed));
	return m;
}

static int write_result(struct extrapolation *x, struct trace *t, struct error *error)
{
	struct join join;
	uint8_t *bytes = NULL;
	size_t size;
	uint64_t missing;
	mode_t mask = umask(0);
	umask(mask);
	int rv = join_init(&join) != 0 ? error_set(error, "no memory") : 0;
	if (rv == 0)
		rv = join_add_take(&join, "the ranks", t, describe_result(x), error);
	if (rv == 0)
		rv = join_encode(&join, &bytes, &size, &missing, error);
	if (rv == 0 && (x->force ? publish_over : publish_file)(stage_path(x->output), 0666 & ~mask, bytes, size) != 0)
		rv = error_set(error, "%s: %s%s", x->output, strerror(errno),
		               errno == EEXIST ? "; -f overwrites it" : "");
	join_free(&join);
	free(bytes);
	return rv;
}

/* Returns 0; 1, after messages: something has no rule; -1 with error set. */
static int extrapolate(struct extrapolation *x, struct error *error)
{
	struct trace result = {.size = 0};
	double common = source_common(&x->source);
	if (common < 0)
		return error_set(error, "no memory");
	if (common < ALIKE)
		return error_set(error,
		                 "these are runs of different programs, or builds: %.0f %% of their calls are at call "
		                 "sites that all of them have",
		                 100 * common);
	if (turns_make(&x->turns, &x->source, error) != 0)
		return -1;
	int fixed = predictions_fix(&x->predictions, &x->turns, error);
	if (fixed < 0 || (fixed > 0 && turns_fill(&x->turns, error) != 0) ||
	    predictions_make(&x->predictions, &x->turns, error) != 0)
		return -1;
	if (x->predictions.missing_count && !x->nearest) {
		tell_all_missing(x);
		return 1;
	}
	if (durations_make(&x->durations, x->source.times, x->source.time_count, (uint32_t)x->ranks) != 0)
		return error_set(error, "no memory");
	x->producing = (struct producing){.predictions = &x->predictions,
	                                  .durations = &x->durations,
	                                  .world = grid_world((uint32_t)x->ranks),
	                                  .nearest = x->nearest};
	int rv = produce_trace(&x->producing, &result, error);
	if (rv > 0 || x->predictions.missing_count)
		tell_all_missing(x);
	x->elapsed = result.total[TOTAL_ELAPSED].max;
	if (rv == 0)
		rv = write_result(x, &result, error);
	else
		trace_free(&result);
	return rv;
}

static int extrapolate_runs(struct extrapolation *x, char **names, int n)
{
	struct error error = {""};
	struct input *in = calloc((size_t)n, sizeof *in);
	int rv = -1;
	x->from = json_array();
	if (!in || !x->from || source_init(&x->source) != 0)
		error_set(&error, "no memory");
	else if (open_ahead(names, n, x->archive) == 0) {
		for (int i = 0; i < n; i++)
			in[i].name = names[i];
		rv = read_inputs(x, in, n, &error);
	}
	for (int i = 0; in && i < n; i++)
		if (in[i].open) {
			trace_free(&in[i].trace);
			container_destroy(in[i].container);
		}
	if (rv == 0)
		rv = extrapolate(x, &error);
	if (rv > 0)
		say_to(stderr, "spoor extrapolate: no trace was written; --nearest takes what a rank nearby had\n");
	else if (rv < 0 && error.text[0])
		say_to(stderr, "spoor extrapolate: %s\n", error.text);
	free(in);
	durations_free(&x->durations);
	if (x->predictions.turns)
		predictions_free(&x->predictions);
	turns_free(&x->turns);
	source_free(&x->source);
	json_decref(x->from);
	json_decref(x->metadata);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}

int cmd_extrapolate(int argc, char **argv)
{
	struct extrapolation x = {.ranks = 0};
	const struct option_line lines[] = {
		OPTION_NUMBER("ranks", 0, "N", &x.ranks, 1, 1 << 20, "how many ranks the trace is to have"),
		OPTION_TEXT("output", 'o', "OUT", &x.output, "the trace; an existing file is not overwritten"),
		OPTION_FLAG("nearest", 0, &x.nearest,
	                    "where a value follows no rule, take that of a rank nearby in place of an error"),
		OPTION_FLAG("force", 'f', &x.force, "overwrite OUT"),
		OPTION_ARCHIVE(&x.archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor extrapolate",
		"FILE|JOB FILE|JOB [FILE|JOB...]",
		"Writes the trace that a program would leave on N ranks, from its traces on fewer ranks.",
		NULL,
		lines,
		LEAST_TRACES,
		-1,
		false};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (!x.output)
		return options_wrong("spoor extrapolate", "say with -o where the trace is to go");
	if (x.ranks == 0)
		return options_wrong("spoor extrapolate", "say with --ranks how many ranks it is to have");
	if (stage_begin("spoor extrapolate", x.output, x.force) != 0)
		return CMD_FAILED;
	return open_finish(extrapolate_runs(&x, argv + optind, argc - optind));
}
