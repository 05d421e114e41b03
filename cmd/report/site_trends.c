/* SPDX-License-Identifier: BSD-3-Clause
 * site_trends - of the page of an archive: applications and nodes that became slower
 */
#include <inttypes.h>
#include <math.h>

#include "cmd/report/html.h"
#include "cmd/base/sink.h"
#include "cmd/report/site.h"

#define NODES 8

static void put_times(FILE *out, double before, double after)
{
	char text[HTML_NUMBER];
	html_print(out, "%s → ", text_ns(text, before * 1e9));
	html_print(out, "%s", text_ns(text, after * 1e9));
}

static void put_trend(FILE *out, const struct trend_line *l)
{
	char text[HTML_NUMBER];
	html_print(out, "<tr><th scope=\"row\" class=\"l\"><strong>");
	html_text(out, l->application);
	html_print(out, "</strong> <span class=\"dim\">%" PRId64 " ranks, %zu runs</span>", l->ranks, l->runs);
	if (*l->cause.what) {
		html_print(out, "<br>");
		html_text(out, l->cause.what);
		if (*l->at) {
			html_print(out, " in <span class=\"path\">");
			html_text(out, l->at);
			html_print(out, "</span>");
		}
		html_print(out, ": ");
		put_times(out, l->cause.before, l->cause.after);
		html_print(out, " a rank");
	}
	html_print(out, "</th><td>%+.0f&nbsp;%%</td><td>", 100 * l->change);
	html_time(out, l->since_ns);
	html_print(out, "</td><td>%s</td></tr>\n", text_ns(text, l->median * 1e9));
}

static void put_slow_nodes(FILE *out, const struct trends *t)
{
	size_t slow = trends_slow_nodes(t);
	if (slow == 0)
		return;
	html_print(out, "<ul>\n");
	for (size_t i = 0; i < slow && i < NODES; i++) {
		const struct trend_node *n = &t->nodes[i].test;
		html_print(out, "<li>Ranks on node <strong>");
		html_text(out, t->nodes[i].name);
		html_print(out, "</strong> are late in %u of %u jobs (%.1f by chance).</li>\n", n->late, n->jobs,
		           n->expected);
	}
	html_print(out, "</ul>\n");
	if (slow > NODES)
		html_print(out, "<p class=\"dim\">%zu more nodes are slow.</p>\n", slow - NODES);
}

void site_trends(FILE *out, const struct trends *t)
{
	if (t->count == 0)
		return;
	html_print(
		out,
		"<section aria-labelledby=\"trends\">\n<h2 id=\"trends\">Slower than usual</h2>\n<p class=\"dim\">%zu "
		"of "
		"%zu applications take longer than they did; <code>spoor trend</code> has all.</p>\n",
		t->slower, t->all);
	if (t->slower)
		html_print(
			out,
			"<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\" "
			"class=\"l\">Application, and what "
			"takes "
			"longer</th><th scope=\"col\">Change</th><th scope=\"col\">Since</th><th scope=\"col\">Median "
			"of "
			"the "
			"last runs</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < t->count && i < t->top && t->lines[i].change > 0; i++)
		put_trend(out, &t->lines[i]);
	if (t->slower)
		html_print(out, "</tbody></table></div>\n");
	put_slow_nodes(out, t);
	html_print(out, "</section>\n");
}
