/* SPDX-License-Identifier: BSD-3-Clause
 * site - the page of an archive
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/query.h"
#include "archive/waited.h"
#include "cmd/base/filter.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/sink.h"
#include "cmd/report/html.h"
#include "cmd/report/site.h"

#define TOP           SITE_TOP
#define SHOWN_SKIPPED 20

struct site {
	FILE *out;
	const char *month; /* of site_form */
	int beside;        /* the folder of the page; negative: none */
	struct catalog *catalog;
	const struct catalog_filter *filter;
	struct error *error;
	struct trends trends;
	size_t jobs; /* that pass the filter */
};

/* A table of the page: which groups, by what, and what is said of each. */
struct view {
	const char *id, *title, *text;
	enum aggregate_by by;
	enum figure_column sort, columns[6]; /* FIGURE_COLUMNS: no more */
};

static const struct view views[] = {
	{"months",
         "Month by month",
         "How much ran, and how well. The share of tracing is of the ranks’ time.",
         AGGREGATE_MONTH,
         FIGURE_COLUMNS,
         {COLUMN_HOURS, COLUMN_JOBS, COLUMN_MPI, COLUMN_PARALLEL, COLUMN_PARTIAL, COLUMN_OVERHEAD_SHARE}},
	{"waiting",
         "Who waits most for other ranks",
         "Node hours in calls that wait for other ranks, beyond what they take by themselves.",
         AGGREGATE_USER,
         COLUMN_WAIT,
         {COLUMN_WAIT, COLUMN_HOURS, COLUMN_JOBS, COLUMN_MPI, COLUMN_PARALLEL, COLUMN_BALANCE}},
	{"balancing",
         "Programs that would gain from balancing",
         "Node hours that would be gained if all ranks computed equally long.",
         AGGREGATE_APPLICATION,
         COLUMN_IDLE,
         {COLUMN_IDLE, COLUMN_HOURS, COLUMN_JOBS, COLUMN_BALANCE, COLUMN_COMMUNICATION, COLUMN_PARALLEL}},
	{"small",
         "Programs that send small messages",
         "Messages of less than 1 KiB: fewer, larger ones would cost less.",
         AGGREGATE_APPLICATION,
         COLUMN_SMALL,
         {COLUMN_SMALL, COLUMN_SMALL_SHARE, COLUMN_MESSAGES, COLUMN_SIZE, COLUMN_MPI, COLUMN_HOURS}},
	{"accounts",
         "Accounts",
         "Where the node hours go.",
         AGGREGATE_ACCOUNT,
         COLUMN_HOURS,
         {COLUMN_HOURS, COLUMN_JOBS, COLUMN_MPI_HOURS, COLUMN_WAIT, COLUMN_IDLE, COLUMN_PARALLEL}},
	{"functions",
         "MPI functions",
         "Where the time in MPI goes.",
         AGGREGATE_FUNCTION,
         COLUMN_TIME,
         {COLUMN_TIME, COLUMN_SHARE, COLUMN_CALLS, COLUMN_IMBALANCE, COLUMN_CALL_BYTES, COLUMN_JOBS}},
	{"callsites",
         "The dearest call sites",
         "A function with its call path, over all runs of the same program file.",
         AGGREGATE_SITE,
         COLUMN_TIME,
         {COLUMN_TIME, COLUMN_SHARE, COLUMN_CALLS, COLUMN_IMBALANCE, COLUMN_CALL_BYTES, COLUMN_JOBS}},
	{"jobs",
         "Jobs that wait most",
         "Single jobs; spoor report JOB explains one. Those with a link have a page beside this one.",
         AGGREGATE_JOB,
         COLUMN_WAIT,
         {COLUMN_WAIT, COLUMN_HOURS, COLUMN_MPI, COLUMN_BALANCE, COLUMN_COMMUNICATION, COLUMN_PARALLEL}},
};

/* Headings with room for words; others are those of the command. */
static const char *column_heading(enum figure_column c)
{
	return figure_columns[c].words ? figure_columns[c].words : figure_columns[c].heading;
}

static void put_value(FILE *out, const char *name, enum figure_unit unit, double v)
{
	char text[HTML_NUMBER];
	if (v < 0) {
		html_print(out, "<span class=\"dim\">–</span>");
		return;
	}
	if (unit == UNIT_SHARE) {
		html_share(out, name, v);
		return;
	}
	html_print(out, "<data");
	if (name)
		html_print(out, " data-figure=\"%s\"", name);
	html_print(out, " value=\"%.17g\">", v);
	switch (unit) {
	case UNIT_COUNT:
		html_print(out, "%s", text_count(text, (uint64_t)v));
		break;
	case UNIT_HOURS:
		if (v >= 1000)
			html_print(out, "%s&nbsp;h", text_count(text, (uint64_t)(v + 0.5)));
		else
			html_print(out, "%.*f&nbsp;h", v >= 100 ? 0 : v >= 1 ? 1 : 3, v);
		break;
	case UNIT_SECONDS:
		html_print(out, "%s", text_ns(text, v * 1e9));
		break;
	case UNIT_BYTES:
	case UNIT_MEAN:
		html_print(out, "%s", text_bytes(text, v));
		break;
	case UNIT_RATIO:
	case UNIT_SHARE:
		html_print(out, "%.2f", v);
		break;
	}
	html_print(out, "</data>");
}

/* Names of `spoor report --jobs`; others would mean something in a link, and are nobody's trace. */
static bool has_page(const struct site *s, const char *trace)
{
	char file[NAME_MAX + 1];
	return s->beside >= 0 && trace && strspn(trace, "0123456789abcdefghijklmnopqrstuvwxyz.") == strlen(trace) &&
	       (size_t)snprintf(file, sizeof file, "%s.html", trace) < sizeof file &&
	       faccessat(s->beside, file, F_OK, 0) == 0;
}

/* What a group is: a job, and the job that stands for a call site, with a link to its page if that is there. */
static void put_group_name(const struct site *s, const struct view *v, const struct aggregate_group *g)
{
	FILE *out = s->out;
	const bool site = g->function, job = v->by == AGGREGATE_JOB;
	const bool link = (site || job) && has_page(s, g->example.name);

	if (site) {
		html_print(out, "<strong>");
		html_text(out, g->function);
		html_print(out, "</strong><br><span class=\"path\">");
		html_text(out, g->frames);
		html_print(out, "</span>");
	}
	if (site && g->example.exe)
		html_print(out, "<br><span class=\"dim\">");
	if (link)
		html_print(out, "<a href=\"%s.html\">", g->example.name);
	if (!site || g->example.exe)
		html_text(out, site ? g->example.exe : *g->key ? g->key : "(not known)");
	if (link)
		html_print(out, "</a>");
	if (site && g->example.exe)
		html_print(out, "</span>");
	if (job && g->example.user) {
		html_print(out, " <span class=\"dim\">");
		html_text(out, g->example.user);
		html_print(out, ", ");
		html_text(out, g->example.exe);
		html_print(out, "</span>");
	}
}

static void put_group(const struct site *s, const struct view *v, const struct aggregate *a,
                      const struct aggregate_group *g, double most)
{
	FILE *out = s->out;
	char name[160];
	html_print(out, "<tr><th scope=\"row\" class=\"l\">");
	put_group_name(s, v, g);
	html_print(out, "</th>");
	for (int i = 0; i < 6 && v->columns[i] < FIGURE_COLUMNS; i++) {
		const struct figure_column_info *info = &figure_columns[v->columns[i]];
		double x = aggregate_value(a, g, v->columns[i]);
		html_print(out, "<td>");
		snprintf(name, sizeof name, "%s/%.60s/%s", v->id, g->key, info->json);
		put_value(out, v->by == AGGREGATE_SITE ? NULL : name, info->unit, x);
		html_print(out, "</td>");
		if (i == 0)
			html_print(out, "<td class=\"bar\"><i class=\"b1\" style=\"width:%.1f%%\"></i></td>",
			           most > 0 && x > 0 ? 100 * x / most : 0);
	}
	html_print(out, "</tr>\n");
}

static int make_view(struct aggregate **a, const struct view *v, struct catalog *c, const struct catalog_filter *filter,
                     struct error *error)
{
	const struct aggregate_asked asked = {.top = {TOP, v->sort, false}};
	struct catalog_filter some = *filter;
	if ((v->by == AGGREGATE_JOB && waited_narrow(&some, c, 2 * TOP, error) != 0) ||
	    aggregate_make(a, c, &some, v->by, &asked, error) != 0)
		return -1;
	aggregate_sort(*a, v->sort, false);
	return 0;
}

/* How many groups a view has: in descending order those behind one that has nothing have nothing either. */
static size_t count_shown(const struct view *v, const struct aggregate *a)
{
	size_t n = 1;
	if (v->by == AGGREGATE_MONTH || a->count == 0)
		return a->count;
	while (n < a->count && n < TOP && aggregate_value(a, a->groups[n], v->columns[0]) > 0)
		n++;
	return n;
}

int site_each_trace(struct catalog *c, const struct catalog_filter *filter,
                    int (*each)(void *context, const char *name), void *context, struct error *error)
{
	int rv = 0;
	for (size_t i = 0; rv == 0 && i < sizeof views / sizeof *views; i++) {
		struct aggregate *a;
		if (views[i].by != AGGREGATE_SITE && views[i].by != AGGREGATE_JOB)
			continue;
		if (make_view(&a, &views[i], c, filter, error) != 0)
			return -1;
		for (size_t k = 0; rv == 0 && k < count_shown(&views[i], a); k++)
			rv = a->groups[k]->example.name ? each(context, a->groups[k]->example.name) : 0;
		aggregate_destroy(a);
	}
	return rv;
}

static int put_view(struct site *s, const struct view *v)
{
	FILE *out = s->out;
	struct aggregate *a;
	double most = 0;
	if (make_view(&a, v, s->catalog, s->filter, s->error) != 0)
		return -1;
	html_print(out,
	           "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n<p class=\"dim\">%s</p>\n<div "
	           "class=\"wide\"><table>\n<thead><tr><th scope=\"col\" class=\"l\">%s</th>",
	           v->id, v->id, v->title, v->text, aggregate_names[v->by]);
	for (int i = 0; i < 6 && v->columns[i] < FIGURE_COLUMNS; i++) {
		html_print(out, "<th scope=\"col\">");
		html_text(out, column_heading(v->columns[i]));
		html_print(out, i == 0 ? "</th><th class=\"bar\"><span class=\"narrow\">bar</span></th>" : "</th>");
	}
	html_print(out, "</tr></thead>\n<tbody>\n");
	size_t from = v->by == AGGREGATE_MONTH && a->count > 2 * TOP ? a->count - 2 * TOP : 0, n = count_shown(v, a);
	for (size_t i = from; i < n; i++) {
		double x = aggregate_value(a, a->groups[i], v->columns[0]);
		most = x > most ? x : most;
	}
	for (size_t i = from; i < n; i++)
		put_group(s, v, a, a->groups[i], most);
	html_print(out, "</tbody></table></div>\n");
	size_t of = v->by == AGGREGATE_JOB ? s->jobs : (size_t)(a->count + a->dropped);
	if (n < of)
		html_print(out, "<p class=\"dim\">%zu of %zu; <code>spoor aggregate --by %s</code> prints all.</p>\n",
		           n, of, aggregate_names[v->by]);
	html_print(out, "</section>\n");
	aggregate_destroy(a);
	return 0;
}

static void site_tile(FILE *out, const struct aggregate *a, const char *label, const char *below,
                      enum figure_column column)
{
	const struct figure_column_info *info = &figure_columns[column];
	char name[96];
	snprintf(name, sizeof name, "total/%s", info->json);
	html_print(out, "<div><dt>%s<small>%s</small></dt><dd>", label, below);
	put_value(out, name, info->unit, aggregate_value(a, &a->total, column));
	html_print(out, "</dd></div>\n");
}

static void put_sentence(FILE *out, const struct aggregate *a)
{
	double hours = aggregate_value(a, &a->total, COLUMN_HOURS), wait = aggregate_value(a, &a->total, COLUMN_WAIT),
	       idle = aggregate_value(a, &a->total, COLUMN_IDLE);
	double mpi = aggregate_value(a, &a->total, COLUMN_MPI);
	if (!(hours > 0)) {
		html_print(out, "Nothing that could be added up is in this archive yet");
		return;
	}
	char text[HTML_NUMBER];
	if (hours >= 1000)
		html_print(out, "%s", text_count(text, (uint64_t)(hours + 0.5)));
	else
		html_print(out, "%.*f", hours >= 100 ? 0 : 2, hours);
	html_print(out, " node hours, %.0f&nbsp;%% of the ranks’ time in MPI", mpi > 0 ? 100 * mpi : 0);
	if (idle >= 0.005 * hours && idle >= wait)
		html_print(out, "; balancing would gain %.1f&nbsp;%%", 100 * idle / hours);
	else if (wait >= 0.005 * hours)
		html_print(out, "; waiting for other ranks took %.1f&nbsp;%%", 100 * wait / hours);
}

static void site_notes(FILE *out, const struct aggregate *a)
{
	size_t skipped = json_array_size(a->skipped);
	html_print(
		out,
		"<section aria-labelledby=\"notes\">\n<h2 id=\"notes\">Notes</h2>\n<p class=\"dim\">From the archive’s "
		"index; the same as <code>spoor aggregate</code> prints. Efficiencies are those of the "
		"POP project, weighted by time.</p>\n");
	if (a->unreadable)
		html_print(out, "<p>%" PRIu64 " traces are not for whoever made this page to read.</p>\n",
		           a->unreadable);
	if (a->missing)
		html_print(out, "<p>Of %" PRIu64 " traces the index knows their metadata only.</p>\n", a->missing);
	if (skipped)
		html_print(out, "<p>%zu traces could not be read, and are in no sum:</p>\n<ul>\n", skipped);
	for (size_t i = 0; i < skipped && i < SHOWN_SKIPPED; i++) {
		html_print(out, "<li>");
		html_text(out, json_string_value(json_array_get(a->skipped, i)));
		html_print(out, "</li>\n");
	}
	html_print(out, skipped ? "</ul>\n</section>\n" : "</section>\n");
}

/* Of which archive, which jobs, and of which time it is. */
static void put_title(struct site *s)
{
	FILE *out = s->out;
	int64_t first, last;
	char title[64] = "MPI jobs of the archive";
	if (*s->month)
		snprintf(title, sizeof title, "MPI jobs of %s", s->month);
	html_head(out, *s->month ? title : "spoor: the archive");
	html_print(out, "<header>\n<h1>%s</h1>\n<p class=\"dim\"><code>", title);
	html_text(out, s->catalog->archive);
	html_print(out, "</code>");
	char *only = filter_describe(s->filter);
	if (only && *only) {
		html_print(out, ", only ");
		html_text(out, only);
	}
	free(only);
	if (query_span(s->catalog, s->filter, &first, &last)) {
		html_print(out, ", started from ");
		html_time(out, first);
		html_print(out, " to ");
		html_time(out, last);
	}
	html_print(out, ", page made ");
	html_time(out, (int64_t)time(NULL) * 1000000000);
}

static int put_page(struct site *s)
{
	FILE *out = s->out;
	struct aggregate *a;
	if (aggregate_make(&a, s->catalog, s->filter, AGGREGATE_ALL, NULL, s->error) != 0)
		return -1;
	s->jobs = (size_t)a->total.sum[SUM_JOBS];
	put_title(s);
	html_print(out, "</p>\n<nav aria-label=\"Sections\">");
	size_t shown = a->total.sum[SUM_TRACES] ? sizeof views / sizeof *views
	                                        : 0; /* of nothing there are only empty tables */
	for (size_t i = 0; i < shown; i++)
		html_print(out, "<a href=\"#%s\">%s</a> ", views[i].id, views[i].title);
	if (s->trends.count)
		html_print(out, "<a href=\"#trends\">Slower than usual</a> ");
	html_print(out, "</nav>\n</header>\n<main>\n<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 "
	                "id=\"verdict\">");
	put_sentence(out, a);
	html_print(out, "</h2>\n<dl class=\"tiles\">\n");
	site_tile(out, a, "Jobs", "with traces", COLUMN_JOBS);
	site_tile(out, a, "Node hours", "nodes × elapsed", COLUMN_HOURS);
	site_tile(out, a, "Time in MPI", "share of the ranks’ time", COLUMN_MPI);
	site_tile(out, a, "Parallel efficiency", "load balance × communication", COLUMN_PARALLEL);
	site_tile(out, a, "Waiting", "node hours, in calls for all ranks", COLUMN_WAIT);
	site_tile(out, a, "Balancing", "node hours that it would gain", COLUMN_IDLE);
	site_tile(out, a, "Messages", "point to point", COLUMN_MESSAGES);
	site_tile(out, a, "Partial traces", "of jobs that did not end", COLUMN_PARTIAL);
	site_tile(out, a, "Cost of tracing", "share of the ranks’ time", COLUMN_OVERHEAD_SHARE);
	html_print(out, "</dl>\n");
	if (shown == 0)
		html_print(out,
		           "<p>When jobs that are traced have ended, they are here; <code>spoor doctor</code> says why "
		           "there are none. Filters may leave out all there are.</p>\n");
	html_print(out, "</section>\n");
	int rv = 0;
	site_trends(out, &s->trends);
	for (size_t i = 0; rv == 0 && i < shown; i++)
		rv = put_view(s, &views[i]);
	site_causes(out, a);
	site_notes(out, a);
	html_print(out, "</main>\n");
	html_foot(out);
	aggregate_destroy(a);
	return rv;
}

static int put_mail(struct site *s, const char *to)
{
	FILE *out = s->out;
	char *page = NULL;
	size_t size = 0;
	int rv = -1;
	s->out = open_memstream(&page, &size);
	if (s->out) {
		rv = put_page(s);
		rv = fclose(s->out) == 0 ? rv : -1;
	}
	if (rv == 0)
		rv = mail_write(out, to, s->catalog, s->filter, page, size, s->error);
	else if (!s->error->text[0])
		error_set(s->error, "out of memory");
	free(page);
	return rv;
}

/* Where call sites are in the source is in the traces, which are opened without the lock. */
static int read_site_trends(struct site *s)
{
	struct catalog_filter filter = *s->filter;
	filter.since = filter.since ? filter.since : (int64_t)time(NULL) - TRENDS_SPAN;
	s->trends = (struct trends){.filter = &filter, .last = 20, .top = TOP};
	if (catalog_lock(s->catalog, CATALOG_SHARE, 10000, s->error) != 0)
		return -1;
	int rv = trends_read(&s->trends, s->catalog, s->error);
	catalog_lock(s->catalog, CATALOG_UNLOCK, 0, NULL);
	if (rv == 0)
		trends_find_places(&s->trends, s->catalog);
	s->trends.filter = NULL;
	return rv;
}

int report_site(FILE *out, const char *archive, const struct catalog_filter *filter, const struct site_form *form,
                struct error *error)
{
	struct site s = {.out = out,
	                 .month = form->month,
	                 .beside = form->mail ? -1 : form->beside,
	                 .filter = filter,
	                 .error = error};
	int rv = fresh_index(&s.catalog, archive, false, false, error);
	if (rv == 0)
		rv = fresh_index_read(s.catalog, false, error);
	if (rv == 0 && !form->metrics)
		rv = read_site_trends(&s);
	if (rv == 0)
		rv = catalog_lock(s.catalog, CATALOG_SHARE, 10000, error);
	if (rv == 0) {
		rv = form->metrics ? metrics_write(out, s.catalog, filter, error)
		     : form->mail  ? put_mail(&s, form->mail)
		                   : put_page(&s);
		catalog_lock(s.catalog, CATALOG_UNLOCK, 0, NULL);
	}
	trends_free(&s.trends);
	catalog_close(s.catalog);
	return rv;
}
