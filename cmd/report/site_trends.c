/* SPDX-License-Identifier: BSD-3-Clause
 * site_trends - of the page of an archive: applications and nodes that became slower
 */
#include <inttypes.h>
#include <math.h>

#include "cmd/report/html.h"
#include "cmd/report/site.h"

#define NODES 8

static void put_times(FILE *out, double before, double after)
{
	char text[HTML_NUMBER];
	fprintf(out, "%s → ", text_ns(text, before * 1e9));
	fputs(text_ns(text, after * 1e9), out);
}

static void put_trend(FILE *out, const struct trend_line *l)
{
	char text[HTML_NUMBER];
	fputs("<tr><th scope=\"row\" class=\"l\"><strong>", out);
	html_text(out, l->application);
	fprintf(out, "</strong> <span class=\"dim\">%" PRId64 " ranks, %zu runs</span>", l->ranks, l->runs);
	if (*l->cause.what) {
		fputs("<br>", out);
		html_text(out, l->cause.what);
		if (*l->at) {
			fputs(" in <span class=\"path\">", out);
			html_text(out, l->at);
			fputs("</span>", out);
		}
		fputs(": ", out);
		put_times(out, l->cause.before, l->cause.after);
		fputs(" a rank", out);
	}
	fprintf(out, "</th><td>%+.0f&nbsp;%%</td><td>", 100 * l->change);
	html_time(out, l->since_ns);
	fprintf(out, "</td><td>%s</td></tr>\n", text_ns(text, l->median * 1e9));
}

static void put_slow_nodes(FILE *out, const struct trends *t)
{
	size_t slow = trends_slow_nodes(t);
	if (slow == 0)
		return;
	fputs("<ul>\n", out);
	for (size_t i = 0; i < slow && i < NODES; i++) {
		const struct trend_node *n = &t->nodes[i].test;
		fputs("<li>Ranks on node <strong>", out);
		html_text(out, t->nodes[i].name);
		fprintf(out, "</strong> are late in %u of %u jobs (%.1f by chance).</li>\n", n->late, n->jobs,
		        n->expected);
	}
	fputs("</ul>\n", out);
	if (slow > NODES)
		fprintf(out, "<p class=\"dim\">%zu more nodes are slow.</p>\n", slow - NODES);
}

void site_trends(FILE *out, const struct trends *t)
{
	if (t->count == 0)
		return;
	fprintf(out,
	        "<section aria-labelledby=\"trends\">\n<h2 id=\"trends\">Slower than usual</h2>\n<p class=\"dim\">%zu "
	        "of "
	        "%zu applications take longer than they did; <code>spoor trend</code> has all.</p>\n",
	        t->slower, t->all);
	if (t->slower)
		fputs("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\" class=\"l\">Application, and what "
		      "takes "
		      "longer</th><th scope=\"col\">Change</th><th scope=\"col\">Since</th><th scope=\"col\">Median of "
		      "the "
		      "last runs</th></tr></thead>\n<tbody>\n",
		      out);
	for (size_t i = 0; i < t->count && i < t->top && t->lines[i].change > 0; i++)
		put_trend(out, &t->lines[i]);
	if (t->slower)
		fputs("</tbody></table></div>\n", out);
	put_slow_nodes(out, t);
	fputs("</section>\n", out);
}
