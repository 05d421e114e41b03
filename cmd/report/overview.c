/* SPDX-License-Identifier: BSD-3-Clause
 * overview - the first screen: what ran, and why it was slow
 */
#include "cmd/report/report.h"

#include <inttypes.h>
#include <string.h>

#include "archive/metadata.h"
#include "cmd/report/findings.h"
#include "cmd/report/html.h"
#include "trace/base/path.h"
#include "trace/model/stream.h"

/* A text or number of the metadata, if it is there. */
static void put_fact(struct report *r, const char *before, const char *key)
{
	const char *text = report_meta(r, key);
	const json_t *v = r->show->meta ? json_object_get(r->show->meta, key) : NULL;
	if (text || json_is_integer(v))
		fputs(before, r->out);
	if (text)
		html_text(r->out, text);
	else if (json_is_integer(v))
		fprintf(r->out, "%lld", (long long)json_integer_value(v));
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
	fputs("<header>\n<h1>", out);
	if (job)
		fprintf(out, "Job %" PRIu64 ": ", job);
	html_text(out, name ? name : short_exe ? short_exe : r->show->name);
	fputs("</h1>\n<p class=\"dim\">", out);
	if (short_exe) {
		fputs("<code>", out);
		html_text(out, short_exe);
		fputs("</code>, ", out);
	}
	fprintf(out, "%s ranks", text_count(text, r->trace->size));
	if (!nodes)
		nodes = json_array_size(hosts);
	if (nodes)
		fprintf(out, " on %s node%s", text_count(text, nodes), nodes == 1 ? "" : "s");
	if (json_is_number(elapsed))
		fprintf(out, ", %s", text_ns(text, json_number_value(elapsed) * 1e9));
	if (user) {
		fputs(", by ", out);
		html_text(out, user);
	}
	if (start) {
		fputs(", started ", out);
		html_time(out, (int64_t)report_meta_number(r, "start_ns"));
	}
	put_fact(r, ", step ", "step");
	if (report_state(r)) {
		fputs(", ", out);
		html_text(out, report_state(r));
	}
	put_fact(r, ", partition ", "partition");
	fputs("</p>\n<nav aria-label=\"Sections\"><a href=\"#sites\">Call sites</a> <a href=\"#ranks\">Ranks</a> <a "
	      "href=\"#messages\">Messages</a> "
	      "<a href=\"#course\">Course of the program</a> <a href=\"#notes\">Notes</a> <a "
	      "href=\"#job\">Job</a></nav>\n</header>\n<main>\n",
	      out);
}

static void percent(FILE *out, double share)
{
	fprintf(out, "%.*f&nbsp;%%", share < 0.0995 ? 1 : 0, 100 * share);
}

static void put_findings(struct report *r, const struct findings *f)
{
	FILE *out = r->out;
	fputs("<ul class=\"findings\">\n", out);
	for (size_t i = 0; i < f->count; i++) {
		const struct finding_kind *kind = &finding_kinds[f->list[i].kind];
		fprintf(out, "<li><strong>%s:</strong> ", kind->title);
		html_text(out, f->list[i].text);
		if (f->list[i].kind == FINDING_ENDING)
			fputs(" <a href=\"#end\">Where all of them were.</a>", out);
		if (kind->advice) {
			fputs("<br><span class=\"dim\">", out);
			html_text(out, kind->advice);
			fputs("</span>", out);
		}
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void overview_tile(FILE *out, const char *label, const char *class, const char *below)
{
	fprintf(out, "</dd></div>\n<div><dt>%s<small>%s</small></dt><dd class=\"%s\">", label, below, class);
}

static void tiles(struct report *r)
{
	const struct summary *s = &r->sum;
	FILE *out = r->out;
	double all = (double)s->all_ns;
	fputs("<dl class=\"tiles\">\n<div><dt>Parallel efficiency<small>load balance × communication</small></dt><dd "
	      "class=\"",
	      out);
	fprintf(out, "%s\">", findings_mark(s->parallel_efficiency));
	html_share(out, "summary.parallel_efficiency", s->parallel_efficiency);
	overview_tile(out, "Load balance", findings_mark(s->load_balance), "mean / most computation");
	html_share(out, "summary.load_balance", s->load_balance);
	overview_tile(out, "Communication efficiency", findings_mark(s->communication_efficiency),
	              "most computation / run time");
	html_share(out, "summary.communication_efficiency", s->communication_efficiency);
	overview_tile(out, "Time in MPI", "", "share of all ranks’ time");
	html_share(out, NULL, all > 0 ? (double)s->mpi_ns / all : -1);
	overview_tile(out, "Run time", "",
	              s->unended_ns ? "of the slowest rank, after MPI_Init, before calls that never ended"
	                            : "of the slowest rank, after MPI_Init");
	if (s->run_ns)
		html_ns(out, "summary.run_ns", s->run_ns);
	else
		fputs("<span class=\"dim\">not known</span>", out);
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
	fputs("</dd></div>\n</dl>\n", out);
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
	fputs("<h3>Where the ranks’ time went</h3>\n<div class=\"stack\" aria-hidden=\"true\">", out);
	for (int i = 0; i < TIME_PARTS; i++)
		if ((double)parts[i].ns >= 0.0005 * all)
			fprintf(out, "<i class=\"b%d\" style=\"width:%.2f%%\" title=\"%s\"></i>", parts[i].colour,
			        100 * (double)parts[i].ns / all, parts[i].name);
	fputs("</div>\n<ul class=\"legend\">\n", out);
	for (int i = 0; i < TIME_PARTS; i++)
		if (parts[i].ns) {
			fprintf(out, "<li><span class=\"key b%d\"></span>%s: <strong>", parts[i].colour, parts[i].name);
			percent(out, (double)parts[i].ns / all);
			fprintf(out, "</strong> <span class=\"dim\">(%s)</span></li>\n",
			        text_ns(text, (double)parts[i].ns));
		}
	fputs("</ul>\n", out);
}

/* That time is as many times the longest run as there are ranks. What follows is of the time that ranks did run. */
static void put_unequal_ends(struct report *r)
{
	const struct trace_total *elapsed = &r->trace->total[TOTAL_ELAPSED];
	double all = (double)elapsed->max * (double)elapsed->count, rest = all > 0 ? 1 - (double)elapsed->sum / all : 0;
	if (rest < 0.005)
		return;
	fputs(" (", r->out);
	percent(r->out, rest);
	fputs(" of it is the time in which ranks that ran for less than the longest one had not begun, or had "
	      "ended.)",
	      r->out);
}

void report_overview(struct report *r)
{
	struct findings f;
	findings_make(&f, r);
	put_heading(r);
	fprintf(r->out, "<section class=\"verdict %s\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">", f.mark);
	html_text(r->out, f.headline);
	fputs("</h2>\n", r->out);
	if (r->sum.parallel_efficiency >= 0) {
		fprintf(r->out, "<p>Of the time %s, ",
		        r->sum.unended_ns ? "before calls that never ended" : "that the ranks had");
		percent(r->out, f.compute);
		fputs(" was computation; ", r->out);
		percent(r->out, f.imbalance);
		fputs(" was lost because ranks had different amounts of work, ", r->out);
		percent(r->out, f.communication);
		fputs(" to communication and waiting for it.", r->out);
		put_unequal_ends(r);
		fputs("</p>\n", r->out);
	}
	if (r->usual) {
		fputs("<p><strong>Compared with earlier runs:</strong> ", r->out);
		html_text(r->out, r->usual);
		fputs("</p>\n", r->out);
	}
	put_findings(r, &f);
	where(r);
	tiles(r);
	fputs("</section>\n", r->out);
}
