/* SPDX-License-Identifier: BSD-3-Clause
 * overview - the first screen: what ran, and why it was slow
 */
#include "cmd/report/report.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/base/reason.h"
#include "cmd/report/html.h"
#include "trace/model/stream.h"

/* From these parallel efficiencies on, a job is good, or fair. */
#define GOOD 0.8
#define FAIR 0.6
/* What is lost to something is said from this share of the time on. */
#define WORTH 0.03
/* Messages up to 1 KiB are small: sending one costs more than its bytes do. */
#define SMALL_CLASS 10
#define SMALL_SHARE 0.8
#define SMALL_RATE  500 /* a second and rank */

static const char *put_mark(double efficiency)
{
	return efficiency < 0 ? "" : efficiency >= GOOD ? "good" : efficiency >= FAIR ? "fair" : "bad";
}

static void put_heading(struct report *r)
{
	const char *name = report_meta(r, "job_name"), *exe = report_meta(r, "exe"), *user = report_meta(r, "user"),
		   *start = report_meta(r, "start");
	uint64_t job = report_meta_number(r, "job"), nodes = report_meta_number(r, "nodes");
	const char *slash = exe ? strrchr(exe, '/') : NULL, *short_exe = slash ? slash + 1 : exe;
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
		html_text(out, start);
	}
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

/* The class of MPI calls that takes most time. */
static enum report_class worst(const struct report *r)
{
	enum report_class c = CLASS_MESSAGES;
	for (enum report_class i = CLASS_MESSAGES; i < CLASSES; i++)
		c = r->class_ns[i] > r->class_ns[c] ? i : c;
	return c;
}

static void headline(struct report *r, double compute, double imbalance, double communication)
{
	FILE *out = r->out;
	const char *why = reason_text(report_meta(r, "reason"));
	if (report_partial(r)) {
		fprintf(out, "It did not come to its end%s%s", why ? ": " : "", why ? why : "");
		return;
	}
	if (compute < 0) {
		fputs("How efficient it was is not known", out);
	} else if (compute >= GOOD) {
		fputs("Efficient: ", out);
		percent(out, compute);
		fputs(" of the ranks’ time was computation", out);
	} else if (imbalance >= communication) {
		fputs("Ranks wait for those with more work: ", out);
		percent(out, imbalance);
		fputs(" of the time is lost to imbalance", out);
	} else {
		fputs("Communication takes ", out);
		percent(out, communication);
		fprintf(out, " of the time, most of it in %s", report_class_name(worst(r)));
	}
}

static void worst_site(struct report *r)
{
	const json_t *site = json_array_get(json_object_get(r->json, "balance"), 0),
		     *late = json_object_get(site, "late_rank");
	FILE *out = r->out;
	char text[HTML_NUMBER], of[STREAM_NAME];
	const char *at = json_string_value(json_object_get(site, "at"));
	double share = json_number_value(json_object_get(site, "share"));
	if (!site || share < WORTH)
		return;
	fputs("<li><strong>", out);
	html_text(out, json_string_value(json_object_get(site, "function")));
	fputs("</strong> in <code>", out);
	html_text(out, at ? at : "-");
	fputs("</code> takes <strong>", out);
	percent(out, share);
	fprintf(out, "</strong> of all time (%s over all ranks)",
	        text_ns(text, (double)json_integer_value(json_object_get(site, "time_ns"))));
	if (late)
		fprintf(out, "; the others wait there for <strong>rank %s</strong>, which comes last",
		        stream_name(r->trace, (uint64_t)json_integer_value(late), of));
	fputs(".</li>\n", out);
}

/* Where most ranks of a partial trace were. */
static void end_place(struct report *r)
{
	const json_t *place = json_array_get(json_object_get(r->json, "last"), 0),
		     *function = json_object_get(place, "function");
	char a[HTML_NUMBER], b[HTML_NUMBER];
	FILE *out = r->out;
	if (!json_is_string(function))
		return;
	fprintf(out, "<li>At the end %s of %s ranks were %s <strong>",
	        text_count(a, json_array_size(json_object_get(place, "ranks"))), text_count(b, r->trace->size),
	        json_string_value(json_object_get(place, "where")));
	html_text(out, json_string_value(function));
	fputs("</strong> in <code>", out);
	html_text(out, json_string_value(json_array_get(json_object_get(place, "path"), 0)));
	fputs("</code>; <a href=\"#end\">where all of them were</a>.</li>\n", out);
}

/* What the figures lack, and how much that is: before them. */
static void missing_first(struct report *r)
{
	const struct summary *s = &r->sum;
	char a[HTML_NUMBER], b[HTML_NUMBER];
	FILE *out = r->out;
	if (s->lost) {
		fprintf(out, "<li><strong>Missing:</strong> memory was used up, and %s calls (",
		        text_count(a, s->lost));
		percent(out, summary_lost_share(s));
		fputs(" of all) were only counted, by function. Their time is in all sums, but they have no site and "
		      "no "
		      "parameters.</li>\n",
		      out);
	}
	if (s->unplaced_ns && s->compute_ns) {
		fputs("<li><strong>Missing:</strong> between which calls ", out);
		percent(out, (double)s->unplaced_ns / (double)s->compute_ns);
		fprintf(out, " of the computation was (%s of %s), because memory was used up. Sums have it.</li>\n",
		        text_ns(a, (double)s->unplaced_ns), text_ns(b, (double)s->compute_ns));
	}
}

/* What killed ranks waited for. */
static void hang_first(struct report *r)
{
	const char *verdict = json_string_value(json_object_get(r->json, "verdict"));
	if (!verdict)
		return;
	fputs("<li><strong>", r->out);
	percent(r->out, r->sum.all_ns ? (double)r->sum.unended_ns / (double)r->sum.all_ns : 0);
	fputs("</strong> of all time was in calls that never ended. ", r->out);
	html_text(r->out, verdict);
	fputs("</li>\n", r->out);
}

static void findings(struct report *r, double imbalance)
{
	const struct summary *s = &r->sum;
	FILE *out = r->out;
	char a[HTML_NUMBER], b[HTML_NUMBER], c[HTML_NUMBER], least[STREAM_NAME], most[STREAM_NAME];
	uint64_t small = 0, known = 0, run = s->run_ns;
	fputs("<ul>\n", out);
	missing_first(r);
	hang_first(r);
	if (report_partial(r))
		end_place(r);
	worst_site(r);
	uint64_t counted = r->trace->total[TOTAL_COMPUTE].count; /* threads, where ranks have several */
	if (imbalance >= WORTH && counted && s->unended_ns + s->unended_compute_ns < s->compute_ns) {
		double mean = (double)s->compute_ns / (double)counted;
		fprintf(out,
		        "<li>Rank <strong>%s</strong> computes for %s, the mean of the ranks is %s, rank %s only %s: "
		        "sharing the work evenly would save up to "
		        "<strong>%s</strong>",
		        stream_name(r->trace, s->compute_max_rank, most), text_ns(a, (double)s->compute_max_ns),
		        text_ns(b, mean), stream_name(r->trace, s->compute_min_rank, least),
		        text_ns(c, (double)s->compute_min_ns),
		        text_ns((char[HTML_NUMBER]){0}, (double)s->compute_max_ns - mean));
		fprintf(out, " of %s.</li>\n", text_ns(a, (double)run));
	}
	for (unsigned i = 0; r->has_traffic && i < TRAFFIC_CLASSES; i++) {
		known += r->traffic.sizes[i].messages;
		small += i <= SMALL_CLASS ? r->traffic.sizes[i].messages : 0;
	}
	double rate = run && s->ranks ? (double)known / s->ranks / ((double)run * 1e-9) : 0;
	if (known && (double)small >= SMALL_SHARE * (double)known && rate >= SMALL_RATE &&
	    r->sum.parallel_efficiency >= 0 && r->sum.parallel_efficiency < GOOD) {
		fputs("<li><strong>", out);
		percent(out, (double)small / (double)known);
		fprintf(out,
		        "</strong> of %s messages are smaller than 1 KiB, %s a second and rank: fewer, larger ones "
		        "would cost less.</li>\n",
		        text_count(a, known), text_count(b, (uint64_t)rate));
	}
	if (s->init_ns && run && s->ranks && (double)s->init_ns / s->ranks > 0.1 * (double)run)
		fprintf(out,
		        "<li>Starting (<code>MPI_Init</code>) took %s a rank, before the %s that are looked at "
		        "here.</li>\n",
		        text_ns(a, (double)s->init_ns / s->ranks), text_ns(b, (double)run));
	if ((double)s->overhead_ns > 0.02 * (double)s->all_ns)
		fprintf(out, "<li>Tracing itself took up to %s of rank %s; that is in no other figure.</li>\n",
		        text_ns(a, (double)s->overhead_max_ns), stream_name(r->trace, s->overhead_max_rank, most));
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
	fprintf(out, "%s\">", put_mark(s->parallel_efficiency));
	html_share(out, "summary.parallel_efficiency", s->parallel_efficiency);
	overview_tile(out, "Load balance", put_mark(s->load_balance), "mean / most computation");
	html_share(out, "summary.load_balance", s->load_balance);
	overview_tile(out, "Communication efficiency", put_mark(s->communication_efficiency),
	              "most computation / run time");
	html_share(out, "summary.communication_efficiency", s->communication_efficiency);
	overview_tile(out, "Time in MPI", "", "share of all ranks’ time");
	html_share(out, NULL, all > 0 ? (double)s->mpi_ns / all : -1);
	overview_tile(out, "Run time", "", "of the slowest rank, after MPI_Init");
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

/* Parts of the ranks' time, with the number of the colour (style.c). The rest was before MPI_Init, or behind
 * MPI_Finalize. */
struct time_part {
	const char *name;
	uint64_t ns;
	int colour;
};
#define PARTS (CLASSES + 4)

static void parts_of(const struct report *r, struct time_part parts[PARTS])
{
	const struct summary *s = &r->sum;
	for (int c = 0; c < CLASSES; c++)
		parts[c] = (struct time_part){report_class_name((enum report_class)c), r->class_ns[c], c};
	parts[CLASSES] = (struct time_part){"starting (MPI_Init)", s->init_ns, 6};
	parts[CLASSES + 1] = (struct time_part){"calls that never ended", s->unended_ns, 7};
	parts[CLASSES + 2] = (struct time_part){"computation that never ended", s->unended_compute_ns, 0};
	parts[CLASSES + 3] = (struct time_part){"tracing", s->overhead_ns, 8};
}

static void where(struct report *r)
{
	FILE *out = r->out;
	double all = (double)r->sum.all_ns;
	struct time_part parts[PARTS];
	char text[HTML_NUMBER];
	if (all <= 0)
		return;
	parts_of(r, parts);
	fputs("<h3>Where the ranks’ time went</h3>\n<div class=\"stack\" aria-hidden=\"true\">", out);
	for (int i = 0; i < PARTS; i++)
		if ((double)parts[i].ns >= 0.0005 * all)
			fprintf(out, "<i class=\"b%d\" style=\"width:%.2f%%\" title=\"%s\"></i>", parts[i].colour,
			        100 * (double)parts[i].ns / all, parts[i].name);
	fputs("</div>\n<ul class=\"legend\">\n", out);
	for (int i = 0; i < PARTS; i++)
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
	const struct summary *s = &r->sum;
	double all = (double)s->compute_ns + (double)s->mpi_ns, compute = s->parallel_efficiency, imbalance = 0,
	       communication = 0;
	if (compute >= 0) {
		imbalance = s->communication_efficiency * (1 - s->load_balance);
		communication = 1 - s->communication_efficiency;
	} else if (all > 0) {
		compute = (double)s->compute_ns / all;
		communication = 1 - compute;
	}
	put_heading(r);
	fprintf(r->out, "<section class=\"verdict %s\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">",
	        report_partial(r) ? "bad" : put_mark(compute));
	headline(r, compute, imbalance, communication);
	fputs("</h2>\n", r->out);
	if (s->parallel_efficiency >= 0) {
		fputs("<p>Of the time that the ranks had, ", r->out);
		percent(r->out, compute);
		fputs(" was computation; ", r->out);
		percent(r->out, imbalance);
		fputs(" was lost because ranks had different amounts of work, ", r->out);
		percent(r->out, communication);
		fputs(" to communication and waiting for it.", r->out);
		put_unequal_ends(r);
		fputs("</p>\n", r->out);
	}
	findings(r, imbalance);
	where(r);
	tiles(r);
	fputs("</section>\n", r->out);
}
