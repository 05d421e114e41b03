/* SPDX-License-Identifier: BSD-3-Clause
 * overview - the first screen: what ran, and why it was slow
 */
#include "cmd/report/report.h"

#include <inttypes.h>
#include <string.h>

#include "archive/metadata.h"
#include "cmd/base/sink.h"
#include "cmd/report/findings.h"
#include "cmd/report/html.h"
#include "trace/base/path.h"
#include "trace/model/stream.h"

#define SECONDS_MOST 9e9 /* which 64 bits hold as ns */

/* A text or number of the metadata, if it is there. */
static void put_fact(struct report *r, const char *before, const char *key)
{
	const char *text = report_meta(r, key);
	const json_t *v = r->show->meta ? json_object_get(r->show->meta, key) : NULL;
	if (text || json_is_integer(v))
		html_print(r->out, "%s", before);
	if (text)
		html_text(r->out, text);
	else if (json_is_integer(v))
		html_print(r->out, "%lld", (long long)json_integer_value(v));
}

static void put_heading(struct report *r)
{
	const char *name = report_meta(r, "job_name"), *user = report_meta(r, "user"), *start = report_meta(r, "start");
	uint64_t job = report_meta_number(r, "job"), nodes = report_meta_number(r, "nodes");
	char exe[METADATA_APPLICATION];
	const char *short_exe = *metadata_application(r->show->meta, exe) ? exe : NULL;
	const json_t *hosts = r->show->meta ? json_object_get(r->show->meta, "hosts") : NULL,
		     *elapsed = r->show->meta ? json_object_get(r->show->meta, "elapsed") : NULL;
	FILE *out = r->out;
	char text[HTML_NUMBER];
	html_print(out, "<header>\n<h1>");
	if (job)
		html_print(out, "Job %" PRIu64 ": ", job);
	html_text(out, name ? name : short_exe ? short_exe : r->show->name);
	html_print(out, "</h1>\n<p class=\"dim\">");
	if (short_exe) {
		html_print(out, "<code>");
		html_text(out, short_exe);
		html_print(out, "</code>, ");
	}
	html_print(out, "%s ranks", text_count(text, r->trace->size));
	if (!nodes)
		nodes = json_array_size(hosts);
	if (nodes)
		html_print(out, " on %s node%s", text_count(text, nodes), nodes == 1 ? "" : "s");
	if (json_is_number(elapsed) && json_number_value(elapsed) >= 0 && json_number_value(elapsed) < SECONDS_MOST)
		html_print(out, ", %s", text_ns(text, json_number_value(elapsed) * 1e9)); /* it is a claim */
	if (user) {
		html_print(out, ", by ");
		html_text(out, user);
	}
	if (start) {
		html_print(out, ", started ");
		html_time(out, (int64_t)report_meta_number(r, "start_ns"));
	}
	put_fact(r, ", step ", "step");
	if (report_state(r)) {
		html_print(out, ", ");
		html_text(out, report_state(r));
	}
	html_print(
		out,
		"</p>\n<nav aria-label=\"Sections\"><a href=\"#sites\">Call sites</a> <a href=\"#ranks\">Ranks</a> <a "
		"href=\"#messages\">Messages</a> "
		"<a href=\"#course\">Course of the program</a> <a href=\"#notes\">Notes</a> <a "
		"href=\"#job\">Job</a></nav>\n</header>\n<main>\n");
}

static void percent(FILE *out, double share)
{
	html_print(out, "%.*f&nbsp;%%", share < 0.0995 ? 1 : 0, 100 * share);
}

static void put_findings(struct report *r, const struct findings *f)
{
	FILE *out = r->out;
	html_print(out, "<ul class=\"findings\">\n");
	for (size_t i = 0; i < f->count; i++) {
		const struct finding_kind *kind = &finding_kinds[f->list[i].kind];
		html_print(out, "<li><strong>%s:</strong> ", kind->title);
		html_text(out, f->list[i].text);
		if (f->list[i].kind == FINDING_ENDING)
			html_print(out, " <a href=\"#end\">Where all of them were.</a>");
		if (finding_advice(&f->list[i])) {
			html_print(out, "<br><span class=\"dim\">");
			html_text(out, finding_advice(&f->list[i]));
			html_print(out, "</span>");
		}
		html_print(out, "</li>\n");
	}
	html_print(out, "</ul>\n");
}

static void overview_tile(FILE *out, const char *label, const char *class, const char *below)
{
	html_print(out, "</dd></div>\n<div><dt>%s<small>%s</small></dt><dd class=\"%s\">", label, below, class);
}

static void tiles(struct report *r)
{
	const struct summary *s = &r->sum;
	FILE *out = r->out;
	double all = (double)s->all_ns;
	html_print(
		out,
		"<dl class=\"tiles\">\n<div><dt>Parallel efficiency<small>load balance × communication</small></dt><dd "
		"class=\"");
	html_print(out, "%s\">", findings_mark(s->parallel_efficiency));
	html_share(out, "summary.parallel_efficiency", s->parallel_efficiency);
	overview_tile(out, "Load balance", findings_mark(s->load_balance), "mean / most computation");
	html_share(out, "summary.load_balance", s->load_balance);
	overview_tile(out, "Communication efficiency", findings_mark(s->communication_efficiency),
	              "most computation / run time");
	html_share(out, "summary.communication_efficiency", s->communication_efficiency);
	overview_tile(out, "Time in MPI", "", "share of all ranks’ time");
	html_share(out, NULL, all > 0 ? (double)s->mpi_ns / all : -1);
	overview_tile(out, "Run time", "",
	              show_wall_ns(r->show->meta) ? "from MPI_Init to the end" : "of the ranks, in the mean");
	if (s->wall_ns)
		html_ns(out, "summary.wall_ns", s->wall_ns);
	else
		html_print(out, "<span class=\"dim\">not known</span>");
	overview_tile(out, "Sent", "", "point to point");
	html_bytes(out, "summary.bytes", s->bytes);
	if (s->one_sided) {
		overview_tile(out, "One-sided", "", "put, got, accumulated");
		html_bytes(out, "summary.one_sided.bytes", s->one_sided_bytes);
	}
	if (s->read.calls || s->written.calls) {
		overview_tile(out, "Files", "", "read and written");
		html_bytes(out, NULL, s->read.bytes + s->written.bytes);
	}
	html_print(out, "</dd></div>\n</dl>\n");
}

static void where(struct report *r)
{
	FILE *out = r->out;
	double all = (double)r->sum.all_ns;
	struct time_part parts[TIME_PARTS];
	char text[HTML_NUMBER];
	if (all <= 0)
		return;
	report_time_parts(r, parts);
	html_print(out, "<h3>Where the ranks’ time went</h3>\n<div class=\"stack\" aria-hidden=\"true\">");
	for (int i = 0; i < TIME_PARTS; i++)
		if ((double)parts[i].ns >= 0.0005 * all)
			html_print(out, "<i class=\"b%d\" style=\"width:%.2f%%\" title=\"%s\"></i>", parts[i].colour,
			           100 * (double)parts[i].ns / all, parts[i].name);
	html_print(out, "</div>\n<ul class=\"legend\">\n");
	for (int i = 0; i < TIME_PARTS; i++)
		if (parts[i].ns) {
			html_print(out, "<li><span class=\"key b%d\"></span>%s: <strong>", parts[i].colour,
			           parts[i].name);
			percent(out, (double)parts[i].ns / all);
			html_print(out, "</strong> <span class=\"dim\">(%s)</span></li>\n",
			           text_ns(text, (double)parts[i].ns));
		}
	html_print(out, "</ul>\n");
}

/* That time is as many times the longest run as there are ranks. What follows is of the time that ranks did run. */
static void put_unequal_ends(struct report *r)
{
	const struct trace_total *elapsed = &r->trace->total[TOTAL_ELAPSED];
	double all = (double)elapsed->max * (double)elapsed->count, rest = all > 0 ? 1 - (double)elapsed->sum / all : 0;
	if (rest < 0.005)
		return;
	html_print(r->out, " (");
	percent(r->out, rest);
	html_print(r->out,
	           " of it is the time in which ranks that ran for less than the longest one had not begun, or had "
	           "ended.)");
}

void report_overview(struct report *r)
{
	struct findings f;
	findings_make(&f, r, -1);
	findings_saved(&f, r);
	put_heading(r);
	html_print(r->out, "<section class=\"verdict %s\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">", f.mark);
	html_text(r->out, f.headline);
	html_print(r->out, "</h2>\n");
	if (r->sum.parallel_efficiency >= 0) {
		html_print(r->out, "<p>Of the time %s, ",
		           r->sum.unended_ns ? "before calls that never ended" : "that the ranks had");
		percent(r->out, f.compute);
		html_print(r->out, " was computation; ");
		percent(r->out, f.imbalance);
		html_print(r->out, " was lost because ranks had different amounts of work, ");
		percent(r->out, f.communication);
		html_print(r->out, " to communication and waiting for it.");
		put_unequal_ends(r);
		html_print(r->out, "</p>\n");
	}
	if (r->usual) {
		html_print(r->out, "<p><strong>Compared with earlier runs:</strong> ");
		html_text(r->out, r->usual);
		html_print(r->out, "</p>\n");
	}
	put_findings(r, &f);
	where(r);
	tiles(r);
	html_print(r->out, "</section>\n");
}
