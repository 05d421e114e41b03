/* SPDX-License-Identifier: BSD-3-Clause
 * site_causes - of the site's page: what is said first of how many traces, and why traces are partial
 */
#include "cmd/base/sink.h"
#include "cmd/report/html.h"
#include "cmd/report/site.h"

static void put_partial(FILE *out, const struct aggregate *a)
{
	bool any = false;
	for (int i = 0; i < AGGREGATE_REASONS; i++)
		any = any || a->total.reasons[i];
	if (!any)
		return;
	html_print(out, "<section aria-labelledby=\"partial\">\n<h2 id=\"partial\">Why traces are partial</h2>\n<div "
	                "class=\"wide\"><table>\n<thead><tr><th scope=\"col\" class=\"l\">Reason</th>"
	                "<th scope=\"col\">Traces</th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < AGGREGATE_REASONS; i++) {
		if (a->total.reasons[i] == 0)
			continue;
		html_print(out, "<tr><th scope=\"row\" class=\"l\">%s</th><td>", aggregate_reasons[i]);
		html_count(out, NULL, a->total.reasons[i]);
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div>\n</section>\n");
}

/* What is said first of how many traces, most first. */
static void put_causes(FILE *out, const struct aggregate *a)
{
	const uint64_t *n = a->total.causes;
	uint64_t last = UINT64_MAX, all = 0;
	for (int i = 0; i < OUTCOMES; i++)
		all += n[i];
	if (!all)
		return;
	html_print(
		out,
		"<section aria-labelledby=\"causes\">\n<h2 id=\"causes\">What cost time, or ended "
		"runs</h2>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\" class=\"l\">First "
		"cause</th><th scope=\"col\">Traces</th></tr></thead>\n<tbody>\n");
	for (uint64_t most; last > 0; last = most) {
		most = 0;
		for (int i = 0; i < OUTCOMES; i++)
			most = n[i] < last && n[i] > most ? n[i] : most;
		for (int i = 0; most && i < OUTCOMES; i++)
			if (n[i] == most) {
				html_print(out, "<tr><th scope=\"row\" class=\"l\">%s</th><td>",
				           outcome_name((enum outcome)i));
				html_count(out, NULL, most);
				html_print(out, "</td></tr>\n");
			}
	}
	html_print(out, "</tbody></table></div>\n</section>\n");
}

void site_causes(FILE *out, const struct aggregate *a)
{
	put_causes(out, a);
	put_partial(out, a);
}
