/* SPDX-License-Identifier: BSD-3-Clause
 * timeline - the course of the program: its loops as one rank went through them, as wide as the time that they took
 *
 * The sequence of call sites is a grammar whose rules with an exponent are loops (show_sequence). What a rule takes
 * follows from the means of its sites and edges and is computed once for each rule; the graphic draws a loop as one
 * box, and below it one turn of it, stretched to the width of all turns. So it is as large as the program's structure,
 * whatever the number of events.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/site_names.h"
#include "cmd/report/html.h"
#include "cmd/report/report.h"
#include "trace/model/pattern.h"

#define WIDTH      1000
#define ROW        26
#define DEPTH      8    /* rows */
#define BOXES      2500 /* drawn at most */
#define LISTED     160  /* lines of the list at most */
#define NARROW     0.6  /* narrower boxes are not drawn */
#define LIST_DEPTH 12

struct cost {
	double ns[CLASSES];
	uint32_t first, last; /* sites */
	bool known;
};

struct line {
	struct report *report;
	const struct pattern *pattern;
	struct site_names names;
	struct cost *rules;
	double total;
	int boxes, lines, deepest;
};

static double sum_span(const struct cost *c)
{
	double all = 0;
	for (int i = 0; i < CLASSES; i++)
		all += c->ns[i];
	return all;
}

static double edge(const struct trace *t, uint32_t from, uint32_t to)
{
	const struct trace_edge *e = trace_edge_to(&t->sites[from], to);
	return e ? histogram_mean(&e->compute) : 0;
}

static uint32_t first_site(const struct line *l, const struct pattern_symbol *s)
{
	return s->rule ? l->rules[s->id].first : s->id - 1;
}

static uint32_t site_of_span(const struct line *l, const struct pattern_symbol *s)
{
	return s->rule ? l->rules[s->id].last : s->id - 1;
}

/* One turn of a symbol, without what leads to it. */
static struct cost turn(const struct line *l, const struct pattern_symbol *s)
{
	if (s->rule)
		return l->rules[s->id];
	const struct trace *t = l->report->trace;
	const struct trace_site *site = &t->sites[s->id - 1];
	struct cost c = {.first = s->id - 1, .last = s->id - 1, .known = true};
	if (!trace_initializes(trace_schema(t, site)))
		c.ns[report_class_of(trace_schema(t, site)->mpi)] = histogram_mean(&site->communicate);
	return c;
}

/* All turns of a symbol, without what leads to the first. */
static struct cost turns(const struct line *l, const struct pattern_symbol *s)
{
	struct cost c = turn(l, s);
	for (int i = 0; i < CLASSES; i++)
		c.ns[i] *= (double)s->exponent;
	if (s->exponent > 1)
		c.ns[CLASS_COMPUTE] += ((double)s->exponent - 1) * edge(l->report->trace, c.last, c.first);
	return c;
}

/* Rules refer to rules before them only. */
static void weigh(struct line *l)
{
	const struct pattern *p = l->pattern;
	for (size_t k = 0; k < p->rule_count; k++) {
		struct cost *c = &l->rules[k];
		for (size_t i = p->rules[k].first; i < p->rules[k].end; i++) {
			const struct pattern_symbol *s = &p->symbols[i];
			struct cost one = turns(l, s);
			if (i == p->rules[k].first)
				c->first = one.first;
			else
				c->ns[CLASS_COMPUTE] += edge(l->report->trace, c->last, one.first);
			for (int n = 0; n < CLASSES; n++)
				c->ns[n] += one.ns[n];
			c->last = one.last;
		}
		c->known = true;
	}
}

static void box(struct line *l, const char *class, double x, double width, int depth)
{
	l->boxes++;
	l->deepest = depth > l->deepest ? depth : l->deepest;
	fprintf(l->report->out, "<rect class=\"%s o\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>", class, x,
	        depth * ROW, width, ROW - 4);
}

static void draw_rule(struct line *l, size_t rule, double x, double scale, int depth);

static void draw_compute(struct line *l, double x, double width, int depth)
{
	if (width < NARROW || l->boxes > BOXES || depth >= DEPTH)
		return;
	fputs("<g><title>computation</title>", l->report->out);
	box(l, "f0", x, width, depth);
	fputs("</g>\n", l->report->out);
}

static void draw_symbol(struct line *l, const struct pattern_symbol *s, double x, double scale, int depth)
{
	FILE *out = l->report->out;
	struct cost all = turns(l, s), one = turn(l, s);
	double ns = sum_span(&all), width = ns * scale;
	char text[HTML_NUMBER], count[HTML_NUMBER], class[8];
	if (width < NARROW || l->boxes > BOXES || depth >= DEPTH)
		return;
	if (s->rule && s->exponent == 1) {
		draw_rule(l, s->id, x, scale, depth);
		return;
	}
	fputs("<g><title>", out);
	if (s->rule) {
		fprintf(out, "loop, %s turns: %s</title>", text_count(count, s->exponent), text_ns(text, ns));
		box(l, "s", x, width, depth);
		double back = edge(l->report->trace, one.last, one.first), turn_ns = sum_span(&one) + back;
		double share = ns > 0 ? all.ns[CLASS_COMPUTE] / ns : 0;
		fprintf(out, "<rect class=\"f0\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"4\"/>", x,
		        depth * ROW + ROW - 8, width * share);
		if (width > 70)
			fprintf(out, "<text x=\"%.1f\" y=\"%d\">loop × %s</text>", x + 5, depth * ROW + 14, count);
		fputs("</g>\n", out);
		if (turn_ns <= 0)
			return;
		draw_compute(l, x, back * width / turn_ns, depth + 1); /* between one turn and the next */
		draw_rule(l, s->id, x + back * width / turn_ns, width / turn_ns, depth + 1);
		return;
	}
	const struct trace *t = l->report->trace;
	const struct schema *schema = trace_schema(t, &t->sites[s->id - 1]);
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)schema->function_length, schema->function);
	html_text(out, name);
	if (s->exponent > 1)
		fprintf(out, " × %s", text_count(count, s->exponent));
	fprintf(out, ": %s, site %u</title>", text_ns(text, ns), s->id - 1);
	snprintf(class, sizeof class, "f%d", report_class_of(schema->mpi));
	box(l, class, x, width, depth);
	if (width > 7.2 * (double)strlen(name) + 8) {
		fprintf(out, "<text class=\"w\" x=\"%.1f\" y=\"%d\">", x + 4, depth * ROW + 15);
		html_text(out, name);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void draw_rule(struct line *l, size_t rule, double x, double scale, int depth)
{
	const struct pattern *p = l->pattern;
	uint32_t last = UINT32_MAX;
	for (size_t i = p->rules[rule].first; i < p->rules[rule].end; i++) {
		const struct pattern_symbol *s = &p->symbols[i];
		struct cost all = turns(l, s);
		if (last != UINT32_MAX) {
			double gap = edge(l->report->trace, last, first_site(l, s)) * scale;
			draw_compute(l, x, gap, depth);
			x += gap;
		}
		draw_symbol(l, s, x, scale, depth);
		x += sum_span(&all) * scale;
		last = site_of_span(l, s);
	}
}

static void list_rule(struct line *l, size_t rule, double times, int depth);

static void list_symbol(struct line *l, const struct pattern_symbol *s, double times, int depth)
{
	FILE *out = l->report->out;
	const struct trace *t = l->report->trace;
	struct cost all = turns(l, s);
	double ns = sum_span(&all) * times;
	char text[HTML_NUMBER], count[HTML_NUMBER], frame[512];
	if (l->lines > LISTED)
		return;
	if (s->rule && s->exponent == 1) {
		list_rule(l, s->id, times, depth);
		return;
	}
	l->lines++;
	if (s->rule) {
		fprintf(out, "<li><b>loop × %s</b> <span class=\"dim\">%s, %.1f %%</span>",
		        text_count(count, s->exponent), text_ns(text, ns), l->total > 0 ? 100 * ns / l->total : 0);
		if (depth < LIST_DEPTH) {
			fputs("\n<ul class=\"tree\">\n", out);
			list_rule(l, s->id, times * (double)s->exponent, depth + 1);
			fputs("</ul>", out);
		}
		fputs("</li>\n", out);
		return;
	}
	const struct trace_site *site = &t->sites[s->id - 1];
	const struct schema *schema = trace_schema(t, site);
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)schema->function_length, schema->function);
	fputs("<li>", out);
	html_text(out, name);
	if (s->exponent > 1)
		fprintf(out, " × %s", text_count(count, s->exponent));
	fprintf(out, " <span class=\"dim\">%s", text_ns(text, ns));
	site_names_text(&l->names, s->id - 1, frame, sizeof frame);
	if (*frame) {
		fputs(", <code>", out);
		html_text(out, frame);
		fputs("</code>", out);
	}
	fputs("</span></li>\n", out);
}

static void list_rule(struct line *l, size_t rule, double times, int depth)
{
	for (size_t i = l->pattern->rules[rule].first; i < l->pattern->rules[rule].end; i++)
		list_symbol(l, &l->pattern->symbols[i], times, depth);
}

static void axis(struct line *l, int rows)
{
	char text[HTML_NUMBER];
	for (int i = 0; i <= 4; i++)
		fprintf(l->report->out, "<text class=\"d\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>",
		        WIDTH * i / 4, rows * ROW + 14,
		        i == 0   ? "start"
		        : i == 4 ? "end"
		                 : "middle",
		        text_ns(text, l->total * i / 4));
}

/* How deep the loops are, as far as they are wide enough to be drawn: the height of the graphic has to be known before
 * it is drawn. */
static int depth_of(const struct line *l, size_t rule, double scale, int depth)
{
	const struct pattern *p = l->pattern;
	int deepest = depth;
	for (size_t i = p->rules[rule].first; depth < DEPTH - 1 && i < p->rules[rule].end; i++) {
		const struct pattern_symbol *s = &p->symbols[i];
		struct cost all = turns(l, s), one = turn(l, s);
		double width = sum_span(&all) * scale;
		if (!s->rule || width < NARROW || sum_span(&one) <= 0)
			continue;
		int below = s->exponent == 1 ? depth_of(l, s->id, scale, depth)
		                             : depth_of(l, s->id, width / sum_span(&one), depth + 1);
		deepest = below > deepest ? below : deepest;
	}
	return deepest;
}

static void put_timeline(struct line *l)
{
	FILE *out = l->report->out;
	size_t whole = l->pattern->rule_count - 1;
	double scale = l->total > 0 ? WIDTH / l->total : 0;
	int rows = depth_of(l, whole, scale, 0) + 1;
	if (scale > 0) {
		fprintf(out,
		        "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"course-title\"><title "
		        "id=\"course-title\">The loops of rank %u, as wide as their "
		        "time</title>\n",
		        WIDTH, rows * ROW + 20, l->report->show->rank);
		draw_rule(l, whole, 0, scale, 0);
		axis(l, rows);
		fputs("\n</svg>\n<figcaption>", out);
		for (int c = 0; c < CLASSES; c++)
			fprintf(out, "<span class=\"key b%d\"></span>%s%s", c, report_class_name((enum report_class)c),
			        c + 1 < CLASSES ? ", " : ". ");
		fputs("A row is what is inside the loop above it: one turn, stretched to the width of "
		      "all.</figcaption>\n</figure>\n",
		      out);
	}
	fprintf(out, "<details%s><summary>The same as a list</summary>\n<ul class=\"tree\">\n",
	        rows == 1 && scale <= 0 ? " open" : "");
	list_rule(l, whole, 1, 0);
	fputs("</ul>\n", out);
	if (l->lines > LISTED)
		fputs("<p class=\"dim\">Cut here; <code>spoor show --loops</code> prints all.</p>\n", out);
	fputs("</details>\n", out);
}

int report_timeline(struct report *r)
{
	int rv = -1;
	FILE *out = r->out;
	struct pattern pattern = {0};
	struct line l = {.report = r, .pattern = &pattern};
	int64_t events = 0;
	fprintf(out,
	        "<section aria-labelledby=\"course\">\n<h2 id=\"course\">Course of the program</h2>\n<p "
	        "class=\"dim\">What rank %u did, from left to right, after MPI_Init, with mean times; "
	        "loops are folded. <code>spoor show --at 12.5s</code> says where every rank was at a moment.</p>\n",
	        r->show->rank);
	if (!rankmap_get(&r->trace->events, r->show->rank, &events) || events == 0) {
		fprintf(out, "<p>Rank %u is not in this trace.</p>\n", r->show->rank);
		rv = 0;
	} else if (!r->has_traffic) {
		fputs("<p class=\"dim\">Left out, as there are so many events; <code>spoor report --full</code> shows "
		      "it.</p>\n",
		      out);
		rv = 0;
	} else if (site_names_make(&l.names, r->trace) == 0 && show_sequence(r->show, &pattern) == 0 &&
	           (l.rules = calloc(pattern.rule_count + 1, sizeof *l.rules))) {
		if (pattern.rule_count > 0) {
			weigh(&l);
			l.total = sum_span(&l.rules[pattern.rule_count - 1]);
			put_timeline(&l);
		}
		rv = 0;
	}
	fputs("</section>\n", out);
	free(l.rules);
	pattern_free(&pattern);
	site_names_free(&l.names);
	return rv;
}
