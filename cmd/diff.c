/* SPDX-License-Identifier: BSD-3-Clause
 * diff - `spoor diff A B`: two traces, call site by call site: calls, bytes, time, structure
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/compare_events.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/diff_sites.h"
#include "cmd/base/frames.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/diff_causes.h"
#include "trace/file/container.h"
#include "trace/read/walk.h"

struct diff_options {
	bool all, json, no_bytes;
	int64_t top;
	const char *archive;
};

static int read_input(struct diff_input *in, const char *name, const struct diff_options *o, struct error *error)
{
	in->name = name;
	if (open_trace(name, o->archive, &in->container, &in->trace) != 0)
		return -1;
	if (!o->no_bytes && open_events(name, walk_cost(&in->trace)) != 0)
		return -1;
	return diff_sites_make(in, !o->no_bytes, error);
}

static void free_input(struct diff_input *in)
{
	diff_sites_free(in);
	trace_free(&in->trace);
	container_destroy(in->container);
}

/* --- output --- */

static void print_pair(const char *name, uint64_t a, uint64_t b)
{
	if (a == b)
		say("  %s %" PRIu64, name, a);
	else
		say("  %s %" PRIu64 " -> %" PRIu64 " (%+.1f %%)", name, a, b,
		    a ? 100 * ((double)b - (double)a) / (double)a : 100.0);
}

/* Of a rank: the sums of all ranks of 4 and of 8 cannot be compared. */
static void print_time(const char *name, const struct diff_input *a, uint64_t x, const struct diff_input *b, uint64_t y)
{
	double from = diff_per_rank(a, x), to = diff_per_rank(b, y);
	say("  %s %.6f -> %.6f s a rank", name, from * 1e-9, to * 1e-9);
	if (x)
		say(" (%+.1f %%)", 100 * (to - from) / from);
}

/* The innermost frames of a site: enough to find it. */
static void print_frames(const struct diff_input *in, uint32_t site)
{
	const struct trace *t = &in->trace;
	const struct schema *s = trace_schema(t, &t->sites[site]);
	char frame[DIFF_FRAME_SIZE];
	int shown = 0;

	say("%.*s", (int)s->function_length, s->function);
	for (uint32_t node = t->sites[site].node; node != 0 && shown < 3; node = t->nodes[node].parent, shown++) {
		frames_text(in->names, node, frame, sizeof frame);
		say("%s%s", shown ? " < " : "  ", frame);
		if (strncmp(frame, "main ", 5) == 0)
			break;
	}
	say("\n");
}

static void print_sites(const struct diff_input *a, const struct diff_input *b, const struct diff_row *r)
{
	const struct diff_side *only = r->a ? r->a : r->b;

	say("%c ", !r->b ? '-' : !r->a ? '+' : diff_row_differs(r) ? '!' : r->times ? '~' : ' ');
	print_frames(r->a ? a : b, r->site);
	if (!r->a || !r->b) {
		say("    only in %s:  calls %" PRIu64 "  ranks %" PRIu64 "  bytes %" PRIu64 "  time %.6f s a rank\n",
		    r->a ? a->name : b->name, only->calls, only->ranks, only->bytes,
		    diff_per_rank(r->a ? a : b, only->time) * 1e-9);
		return;
	}
	say("  ");
	print_pair("calls", r->a->calls, r->b->calls);
	if (r->a->ranks != r->b->ranks)
		print_pair("ranks", r->a->ranks, r->b->ranks);
	if (r->a->bytes || r->b->bytes)
		print_pair("bytes", r->a->bytes, r->b->bytes);
	say("\n  ");
	print_time("time", a, r->a->time, b, r->b->time);
	print_time("before it", a, r->a->compute, b, r->b->compute);
	say("%s\n", r->flow ? "  other calls follow" : "");
}

static json_t *side_json(const struct diff_side *s)
{
	return s ? json_pack("{sI sI sI sI sI}", "calls", (json_int_t)s->calls, "ranks", (json_int_t)s->ranks, "bytes",
	                     (json_int_t)s->bytes, "time_ns", (json_int_t)s->time, "compute_ns", (json_int_t)s->compute)
	         : json_null();
}

static json_t *place_json(const struct diff_input *in, uint32_t site)
{
	const struct trace *t = &in->trace;
	json_t *frames = json_array();
	char frame[DIFF_FRAME_SIZE];
	for (uint32_t node = t->sites[site].node; node != 0; node = t->nodes[node].parent) {
		frames_text(in->names, node, frame, sizeof frame);
		json_array_append_new(frames, json_sprintf("%s", frame));
	}
	return frames;
}

/* What the ranks did in all, and what of it no site says more of. */
static void diff_totals(const struct diff_input *a, const struct diff_input *b, const char *equal)
{
	say("ranks   %u -> %u\n", a->trace.size, b->trace.size);
	say("events  %" PRIu64 " -> %" PRIu64 "%s%s\n", a->events, b->events, *equal ? ", " : "", equal);
	if (a->lost + b->lost)
		say("counted %" PRIu64 " -> %" PRIu64 " calls that are no events\n", a->lost, b->lost);
	say("       ");
	print_time("in MPI", a, a->time, b, b->time);
	print_time("between calls", a, a->compute, b, b->compute);
	say("\n");
	if (a->unplaced || b->unplaced)
		say("of that %.6f -> %.6f s a rank between calls are at no site\n",
		    diff_per_rank(a, a->unplaced) * 1e-9, diff_per_rank(b, b->unplaced) * 1e-9);
}

static int print_differences(const struct diff_input *a, const struct diff_input *b, const struct diff_options *o,
                             const char *equal, json_t *causes)
{
	size_t n, shown = 0, different = 0, times = 0, worth = 0, matched[MATCH_SYMBOL + 1] = {0}, only_a = 0,
		  only_b = 0;
	struct diff_row *rows = diff_rows(a, b, &n);

	if (!rows) {
		json_decref(causes);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		different += diff_row_differs(&rows[i]);
		times += rows[i].times;
		worth += diff_row_differs(&rows[i]) || rows[i].times;
		only_a += !rows[i].b;
		only_b += !rows[i].a;
		matched[rows[i].a ? rows[i].a->match : MATCH_NONE]++;
	}
	json_t *list = o->json ? json_array() : NULL;

	if (!o->json) {
		diff_totals(a, b, equal);
		say("sites   %u -> %u: %zu matched by address, %zu by line, %zu by function; %zu only in %s, %zu "
		    "only in %s; %zu differ in what they do, %zu in time\n",
		    a->trace.site_count, b->trace.site_count, matched[MATCH_EXACT], matched[MATCH_LINE],
		    matched[MATCH_SYMBOL], only_a, a->name, only_b, b->name, different, times);
	}
	for (size_t i = 0; i < n && (o->top == 0 || (int64_t)shown < o->top); i++) {
		if (!o->all && i == worth)
			break;
		shown++;
		const struct diff_input *in = rows[i].a ? a : b;
		const struct schema *s = trace_schema(&in->trace, &in->trace.sites[rows[i].site]);

		if (o->json)
			json_array_append_new(
				list, json_pack("{ss% so so so sb sb ss}", "function", s->function,
			                        (size_t)s->function_length, "path", place_json(in, rows[i].site), "a",
			                        side_json(rows[i].a), "b", side_json(rows[i].b), "other_successors",
			                        rows[i].flow, "other_time", rows[i].times, "match",
			                        diff_match_names[rows[i].a ? rows[i].a->match : MATCH_NONE]));
		else
			print_sites(a, b, &rows[i]);
	}
	if (o->json) {
		json_t *all = json_pack("{s[ii] s[II] s[II] s[II] s[II] s[II] ss sI sI si si so so}", "ranks",
		                        (int)a->trace.size, (int)b->trace.size, "events", (json_int_t)a->events,
		                        (json_int_t)b->events, "time_ns", (json_int_t)a->time, (json_int_t)b->time,
		                        "compute_ns", (json_int_t)a->compute, (json_int_t)b->compute, "unplaced_ns",
		                        (json_int_t)a->unplaced, (json_int_t)b->unplaced, "events_lost",
		                        (json_int_t)a->lost, (json_int_t)b->lost, "equal", equal, "different",
		                        (json_int_t)different, "different_times", (json_int_t)times, "only_a",
		                        (int)only_a, "only_b", (int)only_b, "causes", causes, "sites", list);

		json_tell(all);
	} else if (shown < (o->all ? n : worth)) {
		say("and %zu more (--top 0 shows all)\n", (o->all ? n : worth) - shown);
	}
	free(rows);
	return 0;
}

static int compare_inputs(struct diff_input *a, struct diff_input *b, const struct diff_options *o, struct error *error)
{
	struct compare_result result;
	struct error unused = {""};
	const char *equal = "";

	if (diff_sites_match(a, b, error) != 0)
		return -1;
	if (a->trace.size == b->trace.size && !o->no_bytes &&
	    compare_traces(&a->trace, &b->trace, a->name, b->name, false, false, NULL, &result, &unused) == 0)
		equal = result.ranks_different ? "not the same on all ranks"
		                               : "all with the same parameters in the same order";
	json_t *causes = o->json ? diff_causes_json(a, b, error) : NULL;
	if (o->json ? !causes : diff_causes(a, b, error) != 0)
		return -1;
	return print_differences(a, b, o, equal, causes) == 0 ? 0 : error_set(error, "no memory");
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options o = {.top = 20};
	struct diff_input a = {.name = NULL}, b = {.name = NULL};
	struct error error = {""};
	const struct option_line lines[] = {
		OPTION_FLAG("all", 0, &o.all, "also sites in which nothing differs"),
		OPTION_NUMBER("top", 0, "N", &o.top, 0, UINT32_MAX, "at most N sites (default 20; 0: all)"),
		OPTION_FLAG("no-bytes", 0, &o.no_bytes, "do not count bytes or compare events"),
		OPTION_FLAG("json", 0, &o.json, "as JSON"),
		OPTION_ARCHIVE(&o.archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor diff",
	                                "A B",
	                                "Compares two traces (files or jobs): how much longer one took and why, then "
	                                "call site by call site. Those that differ most come first: in calls, "
	                                "bytes or structure (!), or only in the time of a rank (~).",
	                                NULL,
	                                lines,
	                                2,
	                                2,
	                                false};
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	rv = open_ahead(argv + optind, 2, o.archive) != 0 || read_input(&a, argv[optind], &o, &error) != 0 ||
	     read_input(&b, argv[optind + 1], &o, &error) != 0 || compare_inputs(&a, &b, &o, &error) != 0;

	if (rv && error.text[0] && open_spent(argv[optind]) == 0)
		say_to(stderr, "spoor diff: %s\n", error.text);
	free_input(&a);
	free_input(&b);
	return rv ? CMD_FAILED : CMD_OK;
}
