/* SPDX-License-Identifier: BSD-3-Clause
 * summary - of `spoor show`: the job, and calls and time by function
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/host_list.h"
#include "archive/job_state.h"
#include "archive/metadata.h"
#include "cmd/base/cell.h"
#include "cmd/base/reason.h"
#include "cmd/base/sink.h"
#include "cmd/base/terminal.h"
#include "cmd/show/columns.h"
#include "cmd/show/counter_lines.h"
#include "cmd/show/load_balance.h"
#include "cmd/show/seating.h"
#include "cmd/show/unended_lines.h"
#include "insight/figure.h"
#include "trace/model/stream.h"
#include "trace/model/unended.h"
#include "trace/read/activity.h"

struct total {
	const char *name;
	size_t length;
	struct histogram time;
	uint64_t bytes, unsized; /* activity.h */
	uint32_t sites;
	uint64_t unended, unended_ranks; /* ns in calls that never ended (model/unended.h) */
};

static int total_by_time(const void *a, const void *b)
{
	const struct total *x = a, *y = b;
	if (x->time.sum + x->unended != y->time.sum + y->unended)
		return x->time.sum + x->unended < y->time.sum + y->unended ? 1 : -1;
	size_t n = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->name, y->name, n);
	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static void function_totals_free(struct total *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		histogram_free(&list[i].time);
	free(list);
}

static struct total *total_of(struct total *all, size_t n, const struct schema *s)
{
	for (size_t k = 0; k < n; k++)
		if (all[k].length == s->function_length && memcmp(all[k].name, s->function, s->function_length) == 0)
			return &all[k];
	return NULL;
}

static void functions_add_unended(const struct trace *t, struct total *all, size_t n)
{
	for (uint32_t i = 0; i < t->unended_count; i++) {
		const struct trace_unended *u = &t->unended[i];
		struct total *f = u->call ? total_of(all, n, trace_schema(t, &t->sites[u->site])) : NULL;
		if (f) {
			f->unended += u->sum;
			f->unended_ranks += rankmap_size(&u->ranks);
		}
	}
}

/* Sums by function name, the most expensive first. Returns how many; *out is malloc'ed, NULL on no memory. */
static size_t function_totals(const struct trace *t, const struct site_activity *v, struct total **out)
{
	size_t n = 0;
	struct total *all = *out = calloc((size_t)t->function_count + 1, sizeof *all);
	if (!all)
		return 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		struct total *f = total_of(all, n, s);
		if (!f) {
			f = &all[n++];
			*f = (struct total){.name = s->function, .length = s->function_length};
		}
		if (histogram_add(&f->time, &t->sites[i].communicate) != 0) {
			function_totals_free(all, n);
			*out = NULL;
			return 0;
		}
		f->sites++;
		f->bytes += v->sites[i].bytes;
		f->unsized += v->sites[i].unsized;
	}
	functions_add_unended(t, all, n);
	qsort(all, n, sizeof *all, total_by_time);
	return n;
}

/* Names may hold line ends, and what terminals take for commands. */
static bool has_control_characters(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

/* A member of the metadata as one line, whatever its type. after: what follows a text. */
static void print_member(const char *label, const json_t *value, const char *after)
{
	if (!value || json_is_null(value))
		return;
	if (json_is_string(value) && !has_control_characters(json_string_value(value))) {
		if (json_string_length(value) > 0)
			say("%-12s %s%s\n", label, json_string_value(value), after);
		return;
	}
	if (json_is_array(value)) { /* a list of words: arguments, hosts, ranks */
		size_t i;
		json_t *item;
		say("%-12s", label);
		json_array_foreach(value, i, item)
		{
			char *text = json_dumps(item, JSON_COMPACT | JSON_ENCODE_ANY);
			const char *word = json_is_string(item) ? json_string_value(item) : NULL;
			/* as it is if it needs no quotes to be one word */
			say(" %s", word && *word && !strpbrk(word, " \"\\'") && !has_control_characters(word) ? word
			           : text                                                                     ? text
			                                                                                      : "?");
			free(text);
		}
		say("\n");
		return;
	}
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	if (text)
		say("%-12s %s%s\n", label, text, json_is_string(value) ? after : "");
	free(text);
}

/* As Slurm writes them: "n[1-64]". */
static void print_hosts(const char *label, const json_t *hosts)
{
	char *text = host_list_encode(hosts);
	if (text && !has_control_characters(text))
		say("%-12s %s\n", label, text);
	else
		print_member(label, hosts, "");
	free(text);
}

/* As Slurm writes tasks of nodes: "16(x64),8". */
static void print_per_node(const char *label, const json_t *counts)
{
	size_t n = json_array_size(counts), same;
	say("%-12s ", label);
	for (size_t i = 0; i < n; i += same) {
		json_int_t ranks = json_integer_value(json_array_get(counts, i));
		for (same = 1; i + same < n && json_integer_value(json_array_get(counts, i + same)) == ranks;)
			same++;
		say(same > 1 ? "%s%" JSON_INTEGER_FORMAT "(x%zu)" : "%s%" JSON_INTEGER_FORMAT, i ? "," : "", ranks,
		    same);
	}
	say("\n");
}

static void print_meta(const struct show *s)
{
	static const struct {
		const char *label, *key;
	} lines[] = {
		{"Cluster", "cluster"},
		{"Job", "job"},
		{"Step", "step"},
		{"Array job", "array_job"},
		{"Array task", "array_task"},
		{"Het job", "het_job_id"},
		{"Name", "job_name"},
		{"User", "user"},
		{"User", "claimed_user"},
		{"Account", "account"},
		{"Partition", "partition"},
		{"QoS", "qos"},
		{"Account", "claimed_account"},
		{"Partition", "claimed_partition"},
		{"QoS", "claimed_qos"},
		{"State", "state"},
		{"Exit code", "exit_code"},
		{"Signal", "signal"},
		{"Nodes", "node_list"},
		{"Hosts", "hosts"},
		{"Ranks/node", "ranks_per_node"},
		{"Start", "start"},
		{"End", "end"},
		{"Elapsed s", "elapsed"},
		{"Executable", "exe"},
		{"Build id", "exe_build_id"},
		{"Command", "command"},
		{"MPI", "mpi_library"},
		{"Mode", "mode"},
		{"Rule", "rule"},
		{"Rule at", "rule_where"},
		{"spoor", "spoor_version"},
	};
	say("%-12s %s, %zu bytes\n", "Trace", s->name, container_file_size(s->container));
	for (size_t i = 0; s->meta && i < sizeof lines / sizeof *lines; i++) {
		const json_t *value = json_object_get(s->meta, lines[i].key);
		bool start = !strcmp(lines[i].key, "start"), end = !strcmp(lines[i].key, "end");
		char time[32];
		if ((start || end) && value) /* local, as in all tables */
			say("%-12s %s\n", lines[i].label,
			    cell_start(time,
			               json_integer_value(json_object_get(s->meta, start ? "start_ns" : "end_ns"))));
		else if (!strcmp(lines[i].key, "state") && json_is_string(value))
			say("%-12s %s\n", lines[i].label,
			    job_state_word(json_string_value(value), metadata_text(s->meta, "reason", NULL)));
		else if (!strcmp(lines[i].key, "hosts") && json_array_size(value))
			print_hosts(lines[i].label, value);
		else if (!strcmp(lines[i].key, "ranks_per_node") && json_array_size(value))
			print_per_node(lines[i].label, value);
		else
			print_member(lines[i].label, value,
			             strncmp(lines[i].key, "claimed_", 8) ? "" : " (as the trace says)");
	}
	size_t i;
	json_t *note;
	json_array_foreach(json_object_get(s->meta, "notes"), i, note) print_member("Note", note, "");
}

static double share_of(uint64_t ns, uint64_t all)
{
	return all ? (double)ns / (double)all : 0;
}

/* A line for each function, and one for those of its calls that never ended. all: what shares are of, ns. */
static void print_functions(const struct trace *t, const struct total *list, size_t n, uint64_t all)
{
	bool narrow = terminal_is_narrow(103); /* columns of the whole table */
	say("%-28s %6s %12s %12s %6s%s\n", "FUNCTION", "SITES", "CALLS", "TIME s", "SHARE",
	    narrow ? "" : "      MEAN us       MAX us  OF RANK");
	for (size_t i = 0; i < n; i++) {
		const struct histogram *time = &list[i].time;
		char of[STREAM_NAME];
		if (list[i].unended)
			say("%-*.*s never ended %*s %12" PRIu64 " %12.6f %5.1f%%\n", (int)list[i].length,
			    (int)list[i].length, list[i].name, list[i].length < 22 ? 22 - (int)list[i].length : 0, "",
			    list[i].unended_ranks, (double)list[i].unended * 1e-9,
			    100 * share_of(list[i].unended, all));
		if (time->count == 0)
			continue;
		say("%-28.*s %6u %12" PRIu64 " %12.6f %5.1f%%", (int)list[i].length, list[i].name, list[i].sites,
		    time->count, (double)time->sum * 1e-9, 100 * share_of(time->sum, all));
		if (!narrow)
			say(" %12.3f %12.3f %8s", (double)time->sum * 1e-3 / (double)time->count,
			    (double)time->max * 1e-3, stream_name(t, time->max_rank, of));
		say("\n");
	}
}

static void print_partial(const json_t *meta)
{
	const char *why = reason_text(json_string_value(json_object_get(meta, "reason")));
	json_int_t missing = json_integer_value(json_object_get(meta, "ranks_missing")),
		   unfinished = json_integer_value(json_object_get(meta, "ranks_unfinished"));

	if (metadata_number(meta, "partial", 0) <= 0)
		return;
	say("\n%-12s %s", "Partial", why ? why : "not all ranks came to MPI_Finalize");
	if (missing > 0)
		say("; %" JSON_INTEGER_FORMAT " ranks are not in this trace", missing);
	if (unfinished > 0)
		say("; %" JSON_INTEGER_FORMAT " ranks did not come to MPI_Finalize", unfinished);
	say("; --last shows where they were");
}

static void print_summary(const struct show *s, const struct summary *sum)
{
	const struct trace *t = s->trace;
	struct run_end end;
	uint64_t events = sum->events;
	print_meta(s);
	say("%-12s %u", "Ranks", t->size);
	if (stream_ranks(t, &t->events) != t->size)
		say(" (%" PRIu64 " in this trace)", stream_ranks(t, &t->events));
	if (stream_threads(t) > 1)
		say(", %" PRIu64 " threads, at most %u of a rank", rankmap_size(&t->events), stream_threads(t));
	print_partial(s->meta);
	say("\n%-12s %" PRIu64 ", %u call sites, %.3f bytes an event\n", "Events", events, t->site_count,
	    events ? (double)container_file_size(s->container) / (double)events : 0.0);
	seating_print(t);
	columns_print_loss(t);
	summary_print_missing(t, sum);
	summary_print(s, sum);
	unended_print(t, s->patience, metadata_run_end(s->meta, &end) ? &end : NULL);
	counters_print(stdout, t);
}

static json_t *functions_json(const struct total *list, size_t n, uint64_t all)
{
	json_t *functions = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(
			functions,
			json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "function",
		                  json_stringn(list[i].name, list[i].length), "bytes", (json_int_t)list[i].bytes,
		                  "unsized", (json_int_t)list[i].unsized, "sites", (json_int_t)list[i].sites, "calls",
		                  (json_int_t)list[i].time.count, "time_ns", (json_int_t)list[i].time.sum, "min_ns",
		                  (json_int_t)list[i].time.min, "max_ns", (json_int_t)list[i].time.max, "min_rank",
		                  (json_int_t)list[i].time.min_rank, "max_rank", (json_int_t)list[i].time.max_rank,
		                  "share_ppm", (json_int_t)(share_of(list[i].time.sum, all) * 1e6), "unended_ranks",
		                  (json_int_t)list[i].unended_ranks, "unended_ns", (json_int_t)list[i].unended));
	}
	return functions;
}

/* As the index and the pages have them (doc/figures.md). */
static void put_figures(const struct show *s, const struct summary *sum, const struct site_activity *activity,
                        json_t *json)
{
	union figure_calls *calls = figure_calls_make(s->trace, activity);
	struct figure_run run = metadata_figure_run(s->meta);
	double value[FIGURE_COLUMNS];
	union figures f;
	json_t *list = json_object();

	if (!calls)
		return;
	figure_make(&f, s->trace, sum, calls);
	free(calls);
	run.sizes = sum->sizes;
	figure_values(&f, &run, value);
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (figure_columns[i].of_run)
			json_object_set_new(list, figure_columns[i].json,
			                    value[i] < 0 ? json_null() : json_real(value[i]));
	json_object_set_new(json, "figures", list);
}

static void put_summary(const struct trace *t, const struct summary *sum, json_t *json)
{
	json_object_set_new(json, "ranks", json_integer((json_int_t)t->size));
	json_object_set_new(json, "ranks_present", json_integer((json_int_t)stream_ranks(t, &t->events)));
	if (stream_threads(t) > 1)
		json_object_set_new(json, "threads", json_integer((json_int_t)rankmap_size(&t->events)));
	json_object_set_new(json, "events", json_integer((json_int_t)sum->events));
	json_object_set_new(json, "events_lost", json_integer((json_int_t)rankmap_sum(&t->lost)));
	json_object_set_new(json, "loss", columns_loss_json(t));
	json_object_set_new(json, "mpi_ns", json_integer((json_int_t)sum->mpi_ns));
	json_object_set_new(json, "compute_ns", json_integer((json_int_t)sum->compute_ns));
	summary_json(sum, json);
	json_object_set_new(json_object_get(json, "summary"), "ranks",
	                    json_integer((json_int_t)stream_ranks(t, &t->events)));
	counters_json(t, json);
	seating_json(t, json);
	rank_totals_json(t, json);
	away_json(t, json);
}

uint64_t show_wall_ns(const json_t *meta)
{
	json_int_t start = json_integer_value(json_object_get(meta, "start_ns")),
		   end = json_integer_value(json_object_get(meta, "end_ns"));
	return start > 0 && end > start ? (uint64_t)end - (uint64_t)start : 0;
}

int show_summary(const struct show *s, json_t *json)
{
	const struct trace *t = s->trace;
	struct total *list;
	struct summary sum;
	struct run_end end;
	struct site_activity activity;
	int made = site_activity_make(&activity, t);
	size_t n = made == 0 ? function_totals(t, &activity, &list) : 0;
	if (made != 0 || !list) {
		site_activity_free(&activity);
		say_to(stderr, "spoor: no memory\n");
		return -1;
	}
	summary_make(&sum, t, &activity);
	if (json)
		put_figures(s, &sum, &activity, json);
	site_activity_free(&activity);
	summary_set_wall(&sum, show_wall_ns(s->meta));
	if (json) {
		json_object_set_new(json, "functions", functions_json(list, n, sum.all_ns));
		put_summary(t, &sum, json);
		unended_json(t, s->patience, metadata_run_end(s->meta, &end) ? &end : NULL, json);
	} else {
		print_summary(s, &sum);
		print_functions(t, list, n, sum.all_ns);
	}
	function_totals_free(list, n);
	return show_balance(s, &sum, json);
}
