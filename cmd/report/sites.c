/* SPDX-License-Identifier: BSD-3-Clause
 * sites - where time went: functions and call sites; where every rank was at the end
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/report/html.h"
#include "cmd/base/sink.h"
#include "cmd/report/report.h"
#include "trace/model/stream.h"

/* This many sites at most; those that take less than a share of the time only while there are few. */
#define SHOWN_SITES     40
#define FEW_SITES       4
#define WORTH_SHOWING   0.01 /* the others are folded */
#define SHOWN_FUNCTIONS 40
#define SHOWN_FRAMES    24

static uint64_t json_count(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *json_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s ? s : "";
}

static void put_functions(struct report *r, double all)
{
	const json_t *list = json_object_get(r->json, "functions");
	FILE *out = r->out;
	html_print(out,
	           "<h3 id=\"functions\">By function</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th "
	           "scope=\"col\" "
	           "class=\"l\">Function</th><th scope=\"col\">Share</th>"
	           "<th class=\"bar\"><span class=\"narrow\">bar</span></th><th scope=\"col\">Time, all ranks</th><th "
	           "scope=\"col\">Calls</th><th scope=\"col\">Mean</th>"
	           "<th scope=\"col\">Longest</th><th scope=\"col\">on rank</th><th scope=\"col\">Passed "
	           "on</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < json_array_size(list) && i < SHOWN_FUNCTIONS; i++) {
		const json_t *f = json_array_get(list, i);
		const char *name = json_text(f, "function");
		uint64_t ns = json_count(f, "time_ns"), calls = json_count(f, "calls");
		char key[96], mean[HTML_NUMBER], of[STREAM_NAME];
		if (calls == 0)
			continue;
		const struct mpi_function *function = mpi_function_find(name, strlen(name));
		double share = all > 0 ? (double)ns / all : 0;
		html_print(out, "<tr><th scope=\"row\" class=\"l\">");
		html_text(out, name);
		html_print(out, "</th><td>");
		html_share(out, NULL, share);
		html_print(out, "</td><td class=\"bar\"><i class=\"b%d\" style=\"width:%.1f%%\"></i></td><td>",
		           report_class_of(function), 100 * share);
		snprintf(key, sizeof key, "functions.%zu.time_ns", i);
		html_ns(out, key, ns);
		html_print(out, "</td><td>");
		snprintf(key, sizeof key, "functions.%zu.calls", i);
		html_count(out, key, calls);
		html_print(out, "</td><td>%s</td><td>", text_ns(mean, (double)ns / (double)calls));
		html_ns(out, NULL, json_count(f, "max_ns"));
		html_print(out, "</td><td>%s</td><td>", stream_name(r->trace, json_count(f, "max_rank"), of));
		if (json_count(f, "bytes")) {
			html_print(out, "%s", json_count(f, "unsized") ? "≥ " : "");
			snprintf(key, sizeof key, "functions.%zu.bytes", i);
			html_bytes(out, key, json_count(f, "bytes"));
		} else {
			html_print(out, "<span class=\"dim\">–</span>");
		}
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div>\n");
}

/* The bins of a histogram as a little graphic: their places on a logarithmic axis, their heights by count. */
static void put_spark(FILE *out, const json_t *time)
{
	const json_t *bins = json_object_get(time, "bins");
	size_t n = json_array_size(bins);
	uint64_t most = 0;
	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t count = json_count(json_array_get(bins, i), "count");
		most = count > most ? count : most;
	}
	html_print(out, "<svg viewBox=\"0 0 72 18\" width=\"72\" height=\"18\" role=\"img\"><title>");
	for (size_t i = 0; i < n; i++) {
		const json_t *b = json_array_get(bins, i);
		char from[HTML_NUMBER], to[HTML_NUMBER];
		html_print(out, "%s%" PRIu64 " × %s to %s", i ? ", " : "", json_count(b, "count"),
		           text_ns(from, (double)json_count(b, "min_ns")),
		           text_ns(to, (double)json_count(b, "max_ns")));
	}
	html_print(out, "</title>");
	for (size_t i = 0; i < n; i++) {
		double height = most ? 16.0 * (double)json_count(json_array_get(bins, i), "count") / (double)most : 0,
		       width = 72.0 / (double)n;
		html_print(out, "<rect class=\"f0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
		           (double)i * width, 18 - (height < 1 ? 1 : height), width - 1, height < 1 ? 1 : height);
	}
	html_print(out, "</svg>");
}

/* Frames further out than main are those that start a program. */
static size_t own_frames(const json_t *frames)
{
	size_t n = json_array_size(frames);
	for (size_t i = 0; i < n; i++) {
		const char *frame = json_string_value(json_array_get(frames, i));
		if (frame && strncmp(frame, "main ", 5) == 0)
			return i + 1;
	}
	return n;
}

/* name: what is shown of the path before it is opened. */
static void put_path(FILE *out, const char *name, const json_t *frames)
{
	size_t n = own_frames(frames);
	html_print(out, "<span class=\"path\">");
	html_text(out, name && *name ? name : "-");
	html_print(out, "</span>");
	if (n < 2)
		return;
	html_print(out, "<details><summary>path of %zu frames</summary><span class=\"path\">", n);
	for (size_t i = 0; i < n && i < SHOWN_FRAMES; i++) {
		html_text(out, json_string_value(json_array_get(frames, i)));
		html_print(out, i + 1 < n ? "<br>" : "");
	}
	html_print(out, n > SHOWN_FRAMES ? "…</span></details>" : "</span></details>");
}

static int64_t late_rank_of_site(const struct report *r, uint64_t site)
{
	const json_t *list = json_object_get(r->json, "balance");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *b = json_array_get(list, i), *late = json_object_get(b, "late_rank");
		if (json_count(b, "site") == site)
			return late ? json_integer_value(late) : -1;
	}
	return -1;
}

static void put_never_ended(FILE *out, const json_t *s)
{
	char ranks[HTML_NUMBER], time[HTML_NUMBER];
	uint64_t n = json_count(s, "unended_ranks");
	if (n)
		html_print(out, "<br><span class=\"warn\">never ended on %s rank%s: %s together</span>",
		           text_count(ranks, n), n == 1 ? "" : "s", text_ns(time, (double)json_count(s, "unended_ns")));
}

/* A row of the table; share: of the time of all ranks. */
static void put_site(const struct report *r, const json_t *s, double share)
{
	const json_t *time = json_object_get(s, "communicate"), *imbalance = json_object_get(s, "imbalance");
	const char *name = json_text(s, "function");
	uint64_t ns = json_count(s, "time_ns"), calls = json_count(s, "calls"), site = json_count(s, "site");
	enum report_class class = report_class_of(mpi_function_find(name, strlen(name)));
	int64_t late = late_rank_of_site(r, site);
	char key[64], text[HTML_NUMBER], of[STREAM_NAME];
	FILE *out = r->out;

	html_print(out, "<tr id=\"site%" PRIu64 "\"><th scope=\"row\" class=\"l\"><strong>", site);
	html_text(out, name);
	html_print(out, "</strong> <span class=\"dim\">site %" PRIu64 "</span><br>", site);
	put_path(out, json_text(s, "name"), json_object_get(s, "path"));
	put_never_ended(out, s);
	html_print(out, "</th><td>");
	html_share(out, NULL, share);
	html_print(out, "</td><td class=\"bar\"><i class=\"b%d\" style=\"width:%.1f%%\"></i></td><td>", class,
	           100 * share);
	snprintf(key, sizeof key, "sites.%" PRIu64 ".time_ns", site);
	html_ns(out, key, ns);
	html_print(out, "</td><td>");
	snprintf(key, sizeof key, "sites.%" PRIu64 ".calls", site);
	html_count(out, key, calls);
	html_print(out, "</td><td>%s</td><td>", text_ns(text, json_number_value(json_object_get(time, "mean_ns"))));
	put_spark(out, time);
	html_print(out, "</td>");
	if (json_is_number(imbalance) && json_count(s, "ranks") > 1)
		html_print(out,
		           json_number_value(imbalance) >= 1.5 && share >= 0.02 ? "<td class=\"warn\">%.2f</td>"
		                                                                : "<td>%.2f</td>",
		           json_number_value(imbalance));
	else
		html_print(out, "<td class=\"dim\">–</td>");
	if (late >= 0)
		html_print(out, "<td>rank %s</td></tr>\n", stream_name(r->trace, (uint64_t)late, of));
	else
		html_print(out, "<td class=\"dim\">–</td></tr>\n");
}

/* Rows of a table, from *i on: `most`, or until one takes less than `least` of the time and there are a few. */
static size_t put_sites(struct report *r, size_t *i, double least, size_t most)
{
	const json_t *list = json_object_get(r->json, "sites");
	double all = (double)r->sum.all_ns;
	size_t shown = 0;
	html_print(r->out,
	           "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\" class=\"l\">Call site</th>"
	           "<th scope=\"col\">Share</th><th class=\"bar\"><span class=\"narrow\">bar</span></th><th "
	           "scope=\"col\">Time, all ranks</th><th scope=\"col\">Calls</th>"
	           "<th scope=\"col\">Mean</th><th scope=\"col\">Spread</th><th scope=\"col\">Imbalance</th><th "
	           "scope=\"col\">Comes last</th></tr></thead>\n<tbody>\n");
	for (; *i < json_array_size(list) && shown < most; ++*i) {
		const json_t *s = json_array_get(list, *i);
		uint64_t site = json_count(s, "site");
		double share = all > 0 ? (double)json_count(s, "time_ns") / all : 0;
		if (site < r->trace->site_count && trace_initializes(trace_schema(r->trace, &r->trace->sites[site])))
			continue;
		if (shown >= FEW_SITES && share < least && !json_count(s, "unended_ranks"))
			break;
		shown++;
		put_site(r, s, share);
	}
	html_print(r->out, "</tbody></table></div>\n");
	return shown;
}

void report_sites(struct report *r)
{
	FILE *out = r->out;
	size_t n = json_array_size(json_object_get(r->json, "sites")), i = 0;
	html_print(
		out,
		"<section aria-labelledby=\"sites\">\n<h2 id=\"sites\">Call sites</h2>\n<p class=\"dim\">Where in the "
		"program time is spent in MPI: function and call path. "
		"Imbalance is the time of the rank that spends most there / the mean of its ranks; in a call that "
		"waits "
		"for all, the rank that spends <em>least</em> comes "
		"last and is the one that the others wait for.</p>\n");
	size_t shown = put_sites(r, &i, WORTH_SHOWING, SHOWN_SITES);
	if (i < n) {
		html_print(out, "<details><summary>Call sites that take less</summary>\n");
		shown += put_sites(r, &i, 0, SHOWN_SITES - shown);
		html_print(out, "</details>\n");
	}
	if (i < n)
		html_print(out,
		           "<p class=\"dim\">The %zu that take most of %zu; <code>spoor show --sites</code> prints "
		           "all.</p>\n",
		           shown, n);
	put_functions(r, (double)r->sum.all_ns);
	report_waits(r);
	html_print(out, "</section>\n");
}

/* "0–3, 7, 9, 2.1": further threads are texts */
static void put_ranks(FILE *out, const json_t *list)
{
	size_t n = json_array_size(list), pieces = 0;
	for (size_t i = 0, end; i < n; i = end) {
		const json_t *one = json_array_get(list, i);
		json_int_t first = json_integer_value(one);
		for (end = i + 1; end < n && json_is_integer(one) && json_is_integer(json_array_get(list, end)) &&
		                  json_integer_value(json_array_get(list, end)) == first + (json_int_t)(end - i);)
			end++;
		if (++pieces > 40) {
			html_print(out, ", …");
			return;
		}
		html_print(out, i ? ", " : "");
		if (json_is_string(one)) /* a further thread, "3.1" */
			html_print(out, "%s", json_string_value(one));
		else
			html_print(out, "%" JSON_INTEGER_FORMAT, first);
		if (end - i > 1)
			html_print(out, "–%" JSON_INTEGER_FORMAT, first + (json_int_t)(end - i) - 1);
	}
}

void report_ending(struct report *r)
{
	const json_t *list = json_object_get(r->json, "last");
	FILE *out = r->out;
	char text[HTML_NUMBER];
	if (!report_partial(r) && rankmap_empty(&r->trace->in_flight))
		return;
	uint64_t missing = report_number(r, "ranks_missing");
	html_print(out, "<section aria-labelledby=\"end\">\n<h2 id=\"end\">Where every rank was at the end</h2>\n<p>");
	if (report_state(r)) {
		html_print(out, "The job’s state is ");
		html_text(out, report_state(r));
		if (report_meta_number(r, "signal"))
			html_print(out, ", ended by signal %" PRIu64, report_meta_number(r, "signal"));
		else if (report_meta_number(r, "exit_code"))
			html_print(out, ", exit code %" PRIu64, report_meta_number(r, "exit_code"));
		html_print(out, ". ");
	}
	html_print(out, "Ranks at the same place are together.");
	if (missing)
		html_print(out, " <strong>%s rank%s left nothing and cannot be told about.</strong>",
		           text_count(text, missing), missing == 1 ? "" : "s");
	html_print(out, "</p>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">");
	html_print(out, "%s", stream_threads(r->trace) > 1 ? "Threads" : "Ranks");
	html_print(out, "</th><th scope=\"col\" class=\"l\">Which</th><th scope=\"col\" "
	                "class=\"l\">Where</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *p = json_array_get(list, i), *who = json_object_get(p, "ranks"),
			     *function = json_object_get(p, "function");
		html_print(out, "<tr><td>%s</td><td class=\"l\">", text_count(text, json_array_size(who)));
		put_ranks(out, who);
		html_print(out, "</td><td class=\"l\">");
		if (json_is_string(function)) {
			html_print(out, "%s <strong>", json_text(p, "where"));
			html_text(out, json_string_value(function));
			html_print(out, "</strong><br>");
			put_path(out, json_string_value(json_array_get(json_object_get(p, "path"), 0)),
			         json_object_get(p, "path"));
		} else {
			html_print(out, "before its first MPI call, or it is not known where");
		}
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div>\n</section>\n");
}
