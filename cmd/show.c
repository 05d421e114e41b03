/* SPDX-License-Identifier: BSD-3-Clause
 * show - `spoor show FILE|JOB`: what ran, and where its MPI time went
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/show/load_balance.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/show/columns.h"
#include "cmd/show/counter_lines.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/frames.h"
#include "cmd/base/print_event.h"
#include "trace/model/stream.h"
#include "trace/read/activity.h"

struct total {
	const char *name;
	size_t length;
	struct trace_time time;
	uint64_t bytes, unsized; /* activity.h */
	uint32_t sites;
};

static int by_time(const void *a, const void *b)
{
	const struct total *x = a, *y = b;
	if (x->time.sum != y->time.sum)
		return x->time.sum < y->time.sum ? 1 : -1;
	size_t n = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->name, y->name, n);
	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static void totals_free(struct total *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		trace_time_free(&list[i].time);
	free(list);
}

/* Sums by function name, the most expensive first. Returns how many; *out is malloc'ed. */
static size_t totals(const struct trace *t, const struct site_activity *v, struct total **out)
{
	size_t n = 0;
	*out = calloc((size_t)t->function_count + 1, sizeof **out);
	for (uint32_t i = 0; *out && i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		size_t k = 0;
		while (k < n && ((*out)[k].length != s->function_length ||
		                 memcmp((*out)[k].name, s->function, s->function_length) != 0))
			k++;
		if (k == n)
			(*out)[n++] = (struct total){.name = s->function, .length = s->function_length};
		if (trace_time_add(&(*out)[k].time, &t->sites[i].communicate) != 0) {
			totals_free(*out, n);
			*out = NULL;
			break;
		}
		(*out)[k].sites++;
		(*out)[k].bytes += v->sites[i].bytes;
		(*out)[k].unsized += v->sites[i].unsized;
	}
	if (*out)
		qsort(*out, n, sizeof **out, by_time);
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

/* A member of the metadata as one line, whatever its type. */
static void print_member(const char *label, const json_t *value)
{
	if (!value || json_is_null(value))
		return;
	if (json_is_string(value) && !has_control_characters(json_string_value(value))) {
		if (json_string_length(value) > 0)
			printf("%-12s %s\n", label, json_string_value(value));
		return;
	}
	if (json_is_array(value)) { /* a list of words: arguments, hosts, ranks */
		size_t i;
		json_t *item;
		printf("%-12s", label);
		json_array_foreach(value, i, item)
		{
			char *text = json_dumps(item, JSON_COMPACT | JSON_ENCODE_ANY);
			const char *word = json_is_string(item) ? json_string_value(item) : NULL;
			/* as it is if it needs no quotes to be one word */
			printf(" %s", word && *word && !strpbrk(word, " \"\\'") && !has_control_characters(word) ? word
			              : text                                                                     ? text
			                                                                                         : "?");
			free(text);
		}
		putchar('\n');
		return;
	}
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	if (text)
		printf("%-12s %s\n", label, text);
	free(text);
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
		{"Account", "account"},
		{"Partition", "partition"},
		{"QoS", "qos"},
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
	printf("%-12s %s, %zu bytes\n", "Trace", s->name, container_file_size(s->container));
	for (size_t i = 0; s->meta && i < sizeof lines / sizeof *lines; i++)
		print_member(lines[i].label, json_object_get(s->meta, lines[i].key));
	size_t i;
	json_t *note;
	json_array_foreach(json_object_get(s->meta, "notes"), i, note) print_member("Note", note);
}

int show_summary(const struct show *s, json_t *json)
{
	const struct trace *t = s->trace;
	struct total *list;
	struct summary sum;
	struct site_activity activity;
	int made = site_activity_make(&activity, t);
	size_t n = made == 0 ? totals(t, &activity, &list) : 0;
	if (made != 0 || !list) {
		site_activity_free(&activity);
		fputs("spoor: no memory\n", stderr);
		return -1;
	}
	summary_make(&sum, t, &activity);
	site_activity_free(&activity);
	uint64_t mpi = sum.mpi_ns, elapsed = sum.compute_ns + mpi, events = sum.events;
	if (json) {
		json_t *functions = json_array();
		for (size_t i = 0; i < n; i++)
			json_array_append_new(
				functions,
				json_pack(
					"{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "function",
					json_stringn(list[i].name, list[i].length), "bytes", (json_int_t)list[i].bytes,
					"unsized", (json_int_t)list[i].unsized, "sites", (json_int_t)list[i].sites,
					"calls", (json_int_t)list[i].time.count, "time_ns",
					(json_int_t)list[i].time.sum, "min_ns", (json_int_t)list[i].time.min, "max_ns",
					(json_int_t)list[i].time.max, "min_rank", (json_int_t)list[i].time.min_rank,
					"max_rank", (json_int_t)list[i].time.max_rank, "share_ppm",
					(json_int_t)(elapsed ? (double)list[i].time.sum * 1e6 / (double)elapsed : 0)));
		json_object_set_new(json, "functions", functions);
		json_object_set_new(json, "ranks", json_integer((json_int_t)t->size));
		json_object_set_new(json, "ranks_present", json_integer((json_int_t)stream_ranks(t, &t->events)));
		if (stream_threads(t) > 1)
			json_object_set_new(json, "threads", json_integer((json_int_t)rankmap_size(&t->events)));
		json_object_set_new(json, "events", json_integer((json_int_t)events));
		json_object_set_new(json, "events_lost", json_integer((json_int_t)rankmap_sum(&t->lost)));
		json_object_set_new(json, "loss", columns_loss_json(t));
		json_object_set_new(json, "mpi_ns", json_integer((json_int_t)mpi));
		json_object_set_new(json, "compute_ns", json_integer((json_int_t)sum.compute_ns));
		summary_json(&sum, json);
		json_object_set_new(json_object_get(json, "summary"), "ranks",
		                    json_integer((json_int_t)stream_ranks(t, &t->events)));
		counters_json(t, json);
		rank_totals_json(t, json);
		totals_free(list, n);
		return show_balance(s, json);
	}
	print_meta(s);
	printf("%-12s %u", "Ranks", t->size);
	if (stream_ranks(t, &t->events) != t->size)
		printf(" (%" PRIu64 " in this trace)", stream_ranks(t, &t->events));
	if (stream_threads(t) > 1)
		printf(", %" PRIu64 " threads, at most %u of a rank", rankmap_size(&t->events), stream_threads(t));
	if (s->meta && json_object_get(s->meta, "partial"))
		printf("\n%-12s ranks are missing, or did not come to MPI_Finalize; --last shows which, and where they "
		       "were",
		       "Partial");
	printf("\n%-12s %" PRIu64 ", %u call sites, %.3f bytes an event\n", "Events", events, t->site_count,
	       events ? (double)container_file_size(s->container) / (double)events : 0.0);
	columns_print_loss(t);
	if (!rankmap_empty(&t->lost))
		printf("%-12s %" PRId64 " calls, in %" PRIu64 " ranks, are no events: they were only counted\n",
		       "Counted", rankmap_sum(&t->lost), stream_ranks(t, &t->lost));
	summary_print(s, &sum);
	counters_print(stdout, t);
	printf("%-28s %6s %12s %12s %6s %12s %12s %8s\n", "FUNCTION", "SITES", "CALLS", "TIME s", "SHARE", "MEAN us",
	       "MAX us", "OF RANK");
	for (size_t i = 0; i < n; i++) {
		const struct trace_time *time = &list[i].time;
		char of[STREAM_NAME];
		if (time->count == 0)
			continue;
		printf("%-28.*s %6u %12" PRIu64 " %12.6f %5.1f%% %12.3f %12.3f %8s\n", (int)list[i].length,
		       list[i].name, list[i].sites, time->count, (double)time->sum * 1e-9,
		       elapsed ? 100.0 * (double)time->sum / (double)elapsed : 0.0,
		       (double)time->sum * 1e-3 / (double)time->count, (double)time->max * 1e-3,
		       stream_name(t, time->max_rank, of));
	}
	totals_free(list, n);
	return show_balance(s, NULL);
}

static const struct trace_site *sorted_by;

static int by_site_time(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = sorted_by[x].communicate.sum, q = sorted_by[y].communicate.sum;
	return p != q ? (p < q ? 1 : -1) : (x > y) - (x < y);
}

int show_sites(const struct show *s, json_t *json)
{
	int rv = -1;
	const struct trace *t = s->trace;
	json_t *list = json ? json_array() : NULL;
	struct frames *names = frames_create(t);
	uint32_t *order = malloc(((size_t)t->site_count + 1) * sizeof *order);
	struct site_activity activity;
	if (site_activity_make(&activity, t) != 0 || !names || !order || (json && !list)) {
		fputs("spoor: no memory\n", stderr);
		goto done;
	}
	for (uint32_t i = 0; i < t->site_count; i++)
		order[i] = i;
	sorted_by = t->sites;
	qsort(order, t->site_count, sizeof *order, by_site_time);
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *site = &t->sites[order[i]];
		const struct schema *schema = trace_schema(t, site);
		json_t *frames = json ? json_array() : NULL;
		char of[STREAM_NAME];
		if (!json) {
			printf("site %u  ", order[i]);
			print_function(stdout, schema);
			printf("  %" PRId64 " calls, %" PRIu64 " ranks, %.6f s, max %.3f us on rank %s\n",
			       rankmap_sum(&site->visits), stream_ranks(t, &site->visits),
			       (double)site->communicate.sum * 1e-9, (double)site->communicate.max * 1e-3,
			       stream_name(t, site->communicate.max_rank, of));
			if (activity.sites[order[i]].bytes)
				printf("    %" PRIu64 " bytes passed on%s\n", activity.sites[order[i]].bytes,
				       activity.sites[order[i]].unsized ? " at least" : "");
			columns_print_short(t, site);
			balance_site(stdout, t, site);
		}
		for (uint32_t node = site->node; node != 0; node = t->nodes[node].parent) {
			char text[1024];
			frames_text(names, node, text, sizeof text);
			if (json)
				json_array_append_new(frames, json_string(text));
			else
				printf("    %s\n", text);
		}
		if (json) {
			json_t *one = balance_json(t, order[i], frames);
			json_object_set_new(one, "columns", columns_json(t, site));
			json_object_set_new(one, "bytes", json_integer((json_int_t)activity.sites[order[i]].bytes));
			json_object_set_new(one, "unsized", json_integer((json_int_t)activity.sites[order[i]].unsized));
			json_array_append_new(list, one);
		}
	}
	if (json)
		json_object_set(json, "sites", list);
	rv = 0;
done:
	json_decref(list);
	free(order);
	site_activity_free(&activity);
	frames_destroy(names);
	return rv;
}

static json_t *meta_of(const struct container *c)
{
	const struct chunk *chunk = container_find(c, "META");
	return chunk ? json_loadb((const char *)chunk->data, chunk->size, 0, NULL) : NULL;
}

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

int cmd_show(int argc, char **argv)
{
	bool sites = false, loops = false, matrix = false, last = false, as_json = false;
	const char *archive = NULL;
	struct show s = {.at = -1};
	int64_t rank = 0, thread = 0;
	const struct option_line lines[] = {
		OPTION_FLAG("sites", 0, &sites, "every call site with its call path"),
		OPTION_FLAG("loops", 0, &loops,
	                    "the program's skeleton as seen by one rank: loops with trip counts, calls"),
		OPTION_FLAG("matrix", 0, &matrix, "messages and bytes from rank to rank"),
		OPTION_FLAG("last", 0, &last, "where every rank was when it ended"),
		OPTION_READ("at", 0, "TIME", &s.at, options_read_time, OPTIONS_TIME,
	                    "where every rank was at a time (12.5s, 300ms) from MPI_Init on, with mean times"),
		OPTION_NUMBER("rank", 'r', "R", &rank, 0, INT32_MAX, "the rank of --loops (default 0)"),
		OPTION_NUMBER("thread", 0, "T", &thread, 0, INT32_MAX,
	                      "its thread (default 0); \"R.T\" is thread T of rank R everywhere"),
		OPTION_FLAG("json", 0, &as_json, "as JSON"),
		OPTION_ARCHIVE(&archive),
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
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	s.rank = (uint32_t)rank;
	s.thread = (uint32_t)thread;
	struct container *c;
	struct trace t;
	if (open_trace(argv[optind], archive, &c, &t) != 0)
		return CMD_FAILED;
	s.name = container_name(c);
	s.container = c;
	s.trace = &t;
	s.meta = meta_of(c);
	json_t *json = as_json ? json_object() : NULL;
	if (json) {
		json_object_set_new(json, "trace", json_string(s.name));
		json_object_set_new(json, "size", json_integer((json_int_t)container_file_size(c)));
		json_object_set_new(json, "meta", s.meta ? json_incref(s.meta) : json_null());
	}
	if (!sites && !loops && !matrix && !last && s.at < 0)
		rv = show_summary(&s, json);
	if (rv == 0 && sites)
		rv = show_sites(&s, json);
	if (rv == 0 && loops)
		rv = show_loops(&s, json);
	if (rv == 0 && matrix)
		rv = show_matrix(&s, json);
	if (rv == 0 && (last || s.at >= 0))
		rv = show_last(&s, json);
	if (open_spent(s.name) != 0)
		rv = -1;
	if (rv == 0 && json) {
		if (stream_threads(&t) > 1)
			name_threads(json, &t);
		rv = json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	if (fflush(stdout) != 0)
		rv = -1;
	json_decref(json);
	json_decref(s.meta);
	trace_free(&t);
	container_destroy(c);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
