/* SPDX-License-Identifier: BSD-3-Clause
 * comparison - the page of two traces
 */
#include "cmd/report/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/diff_reasons.h"
#include "cmd/base/diff_sites.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/sink.h"
#include "cmd/report/findings.h"
#include "cmd/report/html.h"
#include "trace/base/path.h"
#include "trace/read/walk.h"

#define SAME  0.02 /* runs that differ by less take the same time */
#define SITES 40   /* that are shown */

/* --- both traces --- */

static int open_side(struct diff_input *in, const char *name, const char *archive, struct error *error)
{
	in->name = name;
	if (open_trace(name, archive, &in->container, &in->trace) != 0)
		return -1;
	in->name = container_name(in->container);
	return open_events(name, walk_cost(&in->trace)) == 0 ? diff_sites_make(in, true, error) : -1;
}

static void close_side(struct diff_input *in)
{
	diff_sites_free(in);
	trace_free(&in->trace);
	container_destroy(in->container);
}

/* --- why --- */

static void put_sentence(FILE *out, const struct diff_reasons *r)
{
	char before[HTML_NUMBER], after[HTML_NUMBER];
	const double part = r->known ? r->b.run_ns / r->a.run_ns - 1 : 0;
	text_ns(before, r->a.run_ns);
	text_ns(after, r->b.run_ns);
	if (!r->known)
		html_print(out, "How long the runs computed is not known: only their call sites can be compared");
	else if (fabs(part) < SAME)
		html_print(out, "Both took about as long: %s and %s", before, after);
	else if (part >= 1)
		html_print(out, "It took %.1f times as long: %s, not %s", 1 + part, after, before);
	else
		html_print(out, "It took %.0f&nbsp;%% %s: %s, not %s", 100 * fabs(part), part > 0 ? "longer" : "less",
		           after, before);
}

static void put_reason(FILE *out, const struct diff_reasons *r, const struct diff_reason *d)
{
	char key[80];
	html_print(out, "<tr><th scope=\"row\" class=\"l\"><strong>%s</strong><br><span class=\"path\">",
	           findings_reason_title(d->reason));
	html_text(out, d->place);
	html_print(out, "</span></th>");
	for (int side = 0; side < 2; side++) {
		snprintf(key, sizeof key, "%s.ns_%c", diff_reason_name(d->reason), "ab"[side]);
		html_print(out, "<td>");
		html_ns(out, key, (uint64_t)fmax(0, (side ? r->b : r->a).ns[d->reason]));
		html_print(out, "</td>");
	}
	html_print(out, "<td>%+.1f&nbsp;%%</td></tr>\n", 100 * d->ns / r->a.run_ns);
}

static void put_reasons_table(FILE *out, const struct diff_reasons *r)
{
	if (!r->known)
		return;
	html_print(out, "<section aria-labelledby=\"why\">\n<h2 id=\"why\">Why</h2>\n<p class=\"dim\">Of a rank in the "
	                "mean, until the last one is at its end. The differences together are that of the runs; they "
	                "are shares of the run before.</p>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" "
	                "aria-label=\"Why\"><table>\n<thead><tr><th scope=\"col\" class=\"l\">Time that went to</th>"
	                "<th scope=\"col\">Before</th><th scope=\"col\">This run</th><th scope=\"col\">Difference</th>"
	                "</tr></thead>\n<tbody>\n");
	for (int i = 0; i < DIFF_REASONS; i++)
		if (r->list[i].ns != 0)
			put_reason(out, r, &r->list[i]);
	html_print(out, "</tbody></table></div>\n</section>\n");
}

/* --- call sites --- */

static void put_time_cell(FILE *out, const struct diff_input *in, const struct diff_side *s, size_t row, char side)
{
	char key[80];
	snprintf(key, sizeof key, "sites.%zu.ns_%c", row, side);
	html_print(out, "<td>");
	if (s)
		html_ns(out, key, (uint64_t)diff_per_rank(in, s->time));
	else
		html_print(out, "–");
	html_print(out, "</td><td>");
	if (s)
		html_count(out, NULL, s->calls);
	else
		html_print(out, "–");
	html_print(out, "</td>");
}

static void put_site_row(FILE *out, const struct diff_input *a, const struct diff_input *b,
                         const struct site_names names[2], const struct diff_row *r, size_t row)
{
	const struct diff_input *in = r->a ? a : b;
	const struct schema *s = trace_schema(&in->trace, &in->trace.sites[r->site]);
	char at[512];
	site_names_text(&names[r->a ? 0 : 1], r->site, at, sizeof at);
	html_print(out, "<tr><th scope=\"row\" class=\"l\"><strong>%.*s</strong><br><span class=\"path\">",
	           (int)s->function_length, s->function);
	html_text(out, at);
	html_print(out, "</span></th>");
	put_time_cell(out, a, r->a, row, 'a');
	put_time_cell(out, b, r->b, row, 'b');
	html_print(out, "<td class=\"l\">%s</td></tr>\n",
	           !r->a                 ? "only in this run"
	           : !r->b               ? "only before"
	           : diff_row_differs(r) ? "other calls"
	           : r->times            ? "other time"
	                                 : "");
}

static int put_compared_sites(FILE *out, const struct diff_input *a, const struct diff_input *b,
                              const struct site_names names[2])
{
	size_t n;
	struct diff_row *rows = diff_rows(a, b, &n);
	if (!rows)
		return -1;
	html_print(out,
	           "<section aria-labelledby=\"sites\">\n<h2 id=\"sites\">Call sites</h2>\n<p class=\"dim\">Those "
	           "that differ most; times are of a rank in the mean.</p>\n<div class=\"wide\" tabindex=\"0\" "
	           "role=\"group\" aria-label=\"Call sites\"><table>\n<thead><tr><th scope=\"col\" class=\"l\">Call "
	           "site</th><th scope=\"col\">Before</th><th scope=\"col\">Calls</th><th scope=\"col\">This run"
	           "</th><th scope=\"col\">Calls</th><th scope=\"col\" class=\"l\">What differs</th></tr></thead>\n"
	           "<tbody>\n");
	for (size_t i = 0; i < n && i < SITES; i++)
		put_site_row(out, a, b, names, &rows[i], i);
	html_print(out, "</tbody></table></div>\n");
	if (n > SITES)
		html_print(out, "<p class=\"dim\">%zu more: <code>spoor diff --all --top 0</code>.</p>\n", n - SITES);
	html_print(out, "</section>\n");
	free(rows);
	return 0;
}

/* --- the page --- */

static void put_title(FILE *out, const struct diff_input *a, const struct diff_input *b)
{
	char title[600];
	snprintf(title, sizeof title, "spoor: %.250s against %.250s", path_name(b->name), path_name(a->name));
	html_head(out, title);
	html_print(out, "<header>\n<h1>Two runs compared</h1>\n<p class=\"dim\">This run: <code>");
	html_text(out, b->name);
	html_print(out, "</code>, %" PRIu32 " ranks; before: <code>", b->trace.size);
	html_text(out, a->name);
	html_print(out,
	           "</code>, %" PRIu32 " ranks</p>\n<nav aria-label=\"Sections\"><a href=\"#why\">Why</a> <a "
	           "href=\"#sites\">Call sites</a></nav>\n</header>\n<main>\n",
	           a->trace.size);
}

static int put_comparison(FILE *out, struct diff_input *a, struct diff_input *b, struct error *error)
{
	struct diff_reasons r = {.known = false};
	int rv = diff_sites_match(a, b, error) == 0 ? diff_reasons_find(&r, a, b, error) : -1;
	if (rv == 0) {
		const struct site_names names[2] = {r.a.names, r.b.names};
		put_title(out, a, b);
		html_print(out, "<section class=\"verdict\" aria-labelledby=\"verdict\">\n<h2 id=\"verdict\">");
		put_sentence(out, &r);
		html_print(out, "</h2>\n</section>\n");
		put_reasons_table(out, &r);
		rv = put_compared_sites(out, a, b, names) == 0 ? 0 : error_set(error, "out of memory");
		html_print(out, "</main>\n");
		html_foot(out);
	}
	diff_reasons_free(&r);
	return rv;
}

int report_comparison(FILE *out, const char *trace, const char *against, const char *archive, struct error *error)
{
	struct diff_input a = {.name = NULL}, b = {.name = NULL};
	int rv = open_side(&a, against, archive, error) == 0 && open_side(&b, trace, archive, error) == 0
	                 ? put_comparison(out, &a, &b, error)
	                 : -1;
	if (open_spent(trace) != 0)
		rv = -1;
	close_side(&a);
	close_side(&b);
	return rv;
}
