/* SPDX-License-Identifier: BSD-3-Clause
 * timeline - the course of the program: its loops as one rank went through them, as wide as the time that they took
 *
 * What a node of the skeleton (trace/read/skeleton.h) takes follows from the means of its sites and edges, and from how
 * often each comes. An edge is computation in front of the site that it leads to, in the innermost loop that has both
 * ends. The graphic draws a loop as one box, and below it all of its turns together. So it is as large as the program's
 * structure, whatever the number of events.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/site_names.h"
#include "cmd/base/sink.h"
#include "cmd/report/html.h"
#include "cmd/report/report.h"
#include "trace/model/pattern.h"
#include "trace/read/skeleton.h"

#define WIDTH  1000
#define ROW    26
#define DEPTH  8    /* rows */
#define BOXES  2500 /* drawn at most */
#define LISTED 200  /* lines of the list at most */
#define NARROW 0.6  /* narrower boxes are not drawn */

struct cost {
	double ns[CLASSES];
	double before; /* computation in front of it */
	double all;    /* sum of ns */
};

struct line {
	struct report *report;
	struct skeleton skeleton;
	struct site_names names;
	struct cost *costs; /* of each node */
	bool *listed;
	double total;
	int boxes;
};

static const struct nest_node *node_at(const struct line *l, uint32_t node)
{
	return &l->skeleton.nest.nodes[node];
}

static const struct trace_site *site_at(const struct line *l, uint32_t node)
{
	return &l->report->trace->sites[l->skeleton.sites[node]];
}

/* Times of the calls, and what is computed before each node. */
static void weigh_nodes(struct line *l)
{
	const struct skeleton *k = &l->skeleton;
	const struct trace *t = l->report->trace;
	for (uint32_t i = 0; i < k->nest.sites; i++) {
		const struct schema *schema = trace_schema(t, site_at(l, i));
		if (!trace_initializes(schema))
			l->costs[i].ns[report_class_of(schema->mpi)] =
				histogram_mean(&site_at(l, i)->communicate) * (double)k->ranges[i].total;
	}
	for (size_t i = 0; i < k->edge_count; i++) {
		const struct nest_edge *e = &k->edges[i];
		const struct trace_edge *edge = trace_edge_to(site_at(l, e->from), k->sites[e->to]);
		double ns = edge ? histogram_mean(&edge->compute) * (double)e->count : 0;
		uint32_t node = e->to, meet = loop_nest_meet(&k->nest, e->from, e->to);
		if (e->from == e->to) {
			l->costs[node].ns[CLASS_COMPUTE] += ns;
			continue;
		}
		while (node_at(l, node)->parent != meet)
			node = node_at(l, node)->parent;
		l->costs[node].before += ns;
	}
}

static void add_to_parent(struct line *l, uint32_t node)
{
	struct cost *c = &l->costs[node], *parent = &l->costs[node_at(l, node)->parent];
	for (int n = 0; n < CLASSES; n++) {
		c->all += c->ns[n];
		parent->ns[n] += c->ns[n];
	}
	parent->ns[CLASS_COMPUTE] += c->before;
}

/* Inner loops have larger numbers than those around them. */
static void sum_costs(struct line *l)
{
	const struct loop_nest *nest = &l->skeleton.nest;
	for (uint32_t i = 0; i < nest->sites; i++)
		add_to_parent(l, i);
	for (uint32_t i = nest->count - 1; i > nest->sites; i--)
		add_to_parent(l, i);
	for (int n = 0; n < CLASSES; n++)
		l->costs[nest->sites].all += l->costs[nest->sites].ns[n];
	l->total = l->costs[nest->sites].all;
}

static void draw_box(struct line *l, const char *class, double x, double width, int depth)
{
	l->boxes++;
	html_print(l->report->out, "<rect class=\"%s o\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>", class, x,
	           depth * ROW, width, ROW - 4);
}

static void draw_compute(struct line *l, double x, double width, int depth)
{
	if (width < NARROW || l->boxes > BOXES || depth >= DEPTH)
		return;
	html_print(l->report->out, "<g><title>computation</title>");
	draw_box(l, "f0", x, width, depth);
	html_print(l->report->out, "</g>\n");
}

static void draw_call(struct line *l, uint32_t node, double x, double width, int depth)
{
	FILE *out = l->report->out;
	const struct schema *schema = trace_schema(l->report->trace, site_at(l, node));
	char name[64], class[8], text[HTML_NUMBER];
	struct range_text range;
	show_range(&l->skeleton, node, &range);
	snprintf(name, sizeof name, "%.*s", (int)schema->function_length, schema->function);
	html_print(out, "<g><title>");
	html_text(out, name);
	if (l->skeleton.ranges[node].most > 1)
		html_print(out, " × %s", range.count);
	html_print(out, "%s: %s, site %u</title>", range.share, text_ns(text, l->costs[node].all),
	           l->skeleton.sites[node]);
	snprintf(class, sizeof class, "f%d", report_class_of(schema->mpi));
	draw_box(l, class, x, width, depth);
	if (width > 7.2 * (double)strlen(name) + 8) {
		html_print(out, "<text class=\"w\" x=\"%.1f\" y=\"%d\">", x + 4, depth * ROW + 15);
		html_text(out, name);
		html_print(out, "</text>");
	}
	html_print(out, "</g>\n");
}

static void draw_children(struct line *l, uint32_t node, double x, double scale, int depth);

static void draw_node(struct line *l, uint32_t node, double x, double scale, int depth)
{
	FILE *out = l->report->out;
	const struct cost *c = &l->costs[node];
	double width = c->all * scale;
	char text[HTML_NUMBER];
	struct range_text range;
	if (width < NARROW || l->boxes > BOXES || depth >= DEPTH)
		return;
	if (node < l->skeleton.nest.sites) {
		draw_call(l, node, x, width, depth);
		return;
	}
	show_range(&l->skeleton, node, &range);
	html_print(out, "<g><title>loop, %s turns%s: %s</title>", range.count, range.share, text_ns(text, c->all));
	draw_box(l, "s", x, width, depth);
	html_print(out, "<rect class=\"f0\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"4\"/>", x,
	           depth * ROW + ROW - 8, width * c->ns[CLASS_COMPUTE] / c->all);
	if (width > 50 + 7.2 * (double)strlen(range.count))
		html_print(out, "<text x=\"%.1f\" y=\"%d\">loop × %s</text>", x + 5, depth * ROW + 14, range.count);
	html_print(out, "</g>\n");
	draw_children(l, node, x, scale, depth + 1);
}

static void draw_children(struct line *l, uint32_t node, double x, double scale, int depth)
{
	for (uint32_t c = node_at(l, node)->first; c != NEST_NONE; c = node_at(l, c)->next) {
		draw_compute(l, x, l->costs[c].before * scale, depth);
		x += l->costs[c].before * scale;
		draw_node(l, c, x, scale, depth);
		x += l->costs[c].all * scale;
	}
}

static void list_children(struct line *l, uint32_t node);

static void list_node(struct line *l, uint32_t node)
{
	FILE *out = l->report->out;
	double ns = l->costs[node].all;
	char text[HTML_NUMBER], frame[512];
	struct range_text range;
	show_range(&l->skeleton, node, &range);
	if (node > l->skeleton.nest.sites) {
		html_print(out,
		           "<li><b>loop × %s</b>%s%s <span class=\"dim\">%s, %.1f %%</span>\n<ul class=\"tree\">\n",
		           range.count, node_at(l, node)->any_order ? ", in any order" : "", range.share,
		           text_ns(text, ns), l->total > 0 ? 100 * ns / l->total : 0);
		list_children(l, node);
		html_print(out, "</ul></li>\n");
		return;
	}
	const struct schema *schema = trace_schema(l->report->trace, site_at(l, node));
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)schema->function_length, schema->function);
	html_print(out, "<li>");
	html_text(out, name);
	if (l->skeleton.ranges[node].most > 1)
		html_print(out, " × %s", range.count);
	html_print(out, "%s <span class=\"dim\">%s", range.share, text_ns(text, ns));
	site_names_text(&l->names, l->skeleton.sites[node], frame, sizeof frame);
	if (*frame) {
		html_print(out, ", <code>");
		html_text(out, frame);
		html_print(out, "</code>");
	}
	html_print(out, "</span></li>\n");
}

static void list_children(struct line *l, uint32_t node)
{
	bool gap = false;
	for (uint32_t c = node_at(l, node)->first; c != NEST_NONE; c = node_at(l, c)->next) {
		if (l->listed[c])
			list_node(l, c);
		else if (!gap)
			html_print(l->report->out, "<li class=\"dim\">...</li>\n");
		gap = !l->listed[c];
	}
}

static void axis(struct line *l, int rows)
{
	char text[HTML_NUMBER];
	for (int i = 0; i <= 4; i++)
		html_print(l->report->out, "<text class=\"d\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>",
		           WIDTH * i / 4, rows * ROW + 14,
		           i == 0   ? "start"
		           : i == 4 ? "end"
		                    : "middle",
		           text_ns(text, l->total * i / 4));
}

/* How deep the loops are, as far as they are wide enough to be drawn: the height of the graphic has to be known before
 * it is drawn. */
static int rows_below(const struct line *l, uint32_t node, double scale, int depth)
{
	int deepest = depth;
	for (uint32_t c = node_at(l, node)->first; c != NEST_NONE && depth < DEPTH - 1; c = node_at(l, c)->next) {
		if (c < l->skeleton.nest.sites || l->costs[c].all * scale < NARROW)
			continue;
		int below = rows_below(l, c, scale, depth + 1);
		deepest = below > deepest ? below : deepest;
	}
	return deepest;
}

static void put_timeline(struct line *l)
{
	FILE *out = l->report->out;
	uint32_t whole = l->skeleton.nest.sites;
	double scale = l->total > 0 ? WIDTH / l->total : 0;
	int rows = rows_below(l, whole, scale, 0) + 1;
	if (scale > 0) {
		html_print(out,
		           "<figure tabindex=\"0\">\n<svg viewBox=\"0 0 %d %d\" style=\"min-width:%dpx\" role=\"img\" "
		           "aria-labelledby=\"course-title\"><title "
		           "id=\"course-title\">The loops of rank %u, as wide as their "
		           "time</title>\n",
		           WIDTH, rows * ROW + 20, HTML_SVG_LEAST(WIDTH), l->report->show->rank);
		draw_children(l, whole, 0, scale, 0);
		axis(l, rows);
		html_print(out, "\n</svg>\n<figcaption>");
		for (int c = 0; c < CLASSES; c++)
			html_print(out, "<span class=\"key b%d\"></span>%s%s", c,
			           report_class_name((enum report_class)c), c + 1 < CLASSES ? ", " : ". ");
		html_print(out,
		           "A row is what is inside the loop above it, all turns together.</figcaption>\n</figure>\n");
	}
	html_print(out, "<details%s><summary>The same as a list</summary>\n<ul class=\"tree\">\n",
	           rows == 1 && scale <= 0 ? " open" : "");
	list_children(l, whole);
	html_print(out, "</ul>\n");
	if (memchr(l->listed, 0, l->skeleton.nest.count))
		html_print(out,
		           "<p class=\"dim\">The most frequent calls; <code>spoor show --loops --lines 0</code> prints "
		           "all.</p>\n");
	html_print(out, "</details>\n");
}

static int fold_sequence(struct line *l)
{
	int rv = -1;
	struct pattern pattern = {0};
	if (site_names_make(&l->names, l->report->trace) != 0 || show_sequence(l->report->show, &pattern) != 0)
		goto done;
	if (pattern.rule_count == 0) {
		rv = 0;
		goto done;
	}
	if (skeleton_make(&l->skeleton, &pattern) != 0)
		goto done;
	l->costs = calloc(l->skeleton.nest.count, sizeof *l->costs);
	l->listed = calloc(l->skeleton.nest.count, sizeof *l->listed);
	if (!l->costs || !l->listed || skeleton_choose(&l->skeleton, LISTED, l->listed, NULL) != 0)
		goto done;
	uint64_t unordered = show_unordered(l->report->show, &pattern);
	if (unordered > 0)
		html_print(l->report->out,
		           "<p>The order of the last %" PRIu64 " calls is lost: they are not here.</p>\n", unordered);
	weigh_nodes(l);
	sum_costs(l);
	put_timeline(l);
	rv = 0;
done:
	pattern_free(&pattern);
	return rv;
}

int report_timeline(struct report *r)
{
	int rv = 0;
	FILE *out = r->out;
	struct line l = {.report = r};
	int64_t events = 0;
	html_print(out,
	           "<section aria-labelledby=\"course\">\n<h2 id=\"course\">Course of the program</h2>\n<p "
	           "class=\"dim\">What rank %u did, from left to right, after MPI_Init, with mean times; "
	           "loops are folded. <code>spoor show --at 12.5s</code> says where every rank was at a moment.</p>\n",
	           r->show->rank);
	if (!rankmap_get(&r->trace->events, r->show->rank, &events) || events == 0)
		html_print(out, "<p>Rank %u is not in this trace.</p>\n", r->show->rank);
	else if (!r->few_events)
		html_print(out, "<p class=\"dim\">Left out, as there are so many events; <code>spoor report "
		                "--full</code> shows "
		                "it.</p>\n");
	else
		rv = fold_sequence(&l);
	html_print(out, "</section>\n");
	free(l.costs);
	free(l.listed);
	skeleton_free(&l.skeleton);
	site_names_free(&l.names);
	return rv;
}
