/* SPDX-License-Identifier: BSD-3-Clause
 * messages - who sent how much to whom, how large messages are, what collectives move
 *
 * The heat map has at most TILES rows: with more ranks each stands for several, so that it has the same size for any
 * number.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/report/html.h"
#include "cmd/base/sink.h"
#include "cmd/report/report.h"
#include "cmd/show/seating.h"

#define TILES       64
#define LEVELS      8
#define SIDE        448 /* of the map, in the units of the graphic */
#define EDGE        44
#define SHOWN_PAIRS 10
#define SHOWN_FILES 20
#define TITLED      16 /* rows up to which each cell is labelled on its own */

struct map {
	uint32_t tile, n;           /* ranks of a row; rows */
	uint64_t *bytes, *messages; /* with one-sided calls */
	bool by_messages;           /* sizes are not known: counts instead */
	double least, most;
};

static uint64_t weight(const struct map *m, size_t i)
{
	return m->by_messages ? m->messages[i] : m->bytes[i];
}

static int gather_flows(struct map *m, const struct report *r)
{
	const struct traffic *t = &r->traffic;
	uint32_t size = r->trace->size ? r->trace->size : 1;
	uint64_t all = 0;
	m->tile = (size + TILES - 1) / TILES;
	m->n = (size + m->tile - 1) / m->tile;
	m->bytes = calloc((size_t)m->n * m->n, sizeof *m->bytes);
	m->messages = calloc((size_t)m->n * m->n, sizeof *m->messages);
	if (!m->bytes || !m->messages)
		return -1;
	for (size_t i = 0; i < t->count; i++) {
		size_t at = (size_t)(t->cells[i].from / m->tile) * m->n + t->cells[i].to / m->tile;
		m->bytes[at] += t->cells[i].bytes + t->cells[i].one_sided_bytes;
		m->messages[at] += t->cells[i].messages + t->cells[i].one_sided;
		all += t->cells[i].bytes + t->cells[i].one_sided_bytes;
	}
	m->by_messages = all == 0;
	m->least = HUGE_VAL;
	m->most = 0;
	for (size_t i = 0; i < (size_t)m->n * m->n; i++) {
		double v = (double)weight(m, i);
		if (v > 0) {
			m->least = v < m->least ? v : m->least;
			m->most = v > m->most ? v : m->most;
		}
	}
	return 0;
}

static int level(const struct map *m, size_t i)
{
	double v = (double)weight(m, i);
	if (m->messages[i] == 0)
		return 0;
	if (v <= 0)
		return 1;
	if (m->most <= m->least * 1.01)
		return 6;
	return 1 + (int)((LEVELS - 0.001) * (log(v) - log(m->least)) / (log(m->most) - log(m->least)));
}

static const char *put_amount(const struct map *m, char out[HTML_NUMBER], double v)
{
	return m->by_messages ? text_count(out, (uint64_t)v) : text_bytes(out, v);
}

static void label(FILE *out, const struct map *m, uint32_t row)
{
	if (m->tile == 1)
		html_print(out, "%u", row);
	else
		html_print(out, "%u–%u", row * m->tile, (row + 1) * m->tile - 1);
}

static void cells(FILE *out, const struct map *m)
{
	double w = (double)SIDE / m->n;
	char text[HTML_NUMBER], count[HTML_NUMBER];
	if (m->n <= TITLED) {
		for (uint32_t y = 0; y < m->n; y++)
			for (uint32_t x = 0; x < m->n; x++) {
				size_t i = (size_t)y * m->n + x;
				if (m->messages[i] == 0)
					continue;
				html_print(out,
				           "<rect class=\"h%d o\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
				           "height=\"%.2f\"><title>",
				           level(m, i), EDGE + x * w, EDGE + y * w, w, w);
				label(out, m, y);
				html_print(out, " to ");
				label(out, m, x);
				html_print(out, ": %s, %s messages</title></rect>\n",
				           text_bytes(text, (double)m->bytes[i]), text_count(count, m->messages[i]));
			}
		return;
	}
	html_print(out, "<g transform=\"translate(%d %d) scale(%.5f)\">\n", EDGE, EDGE, w);
	for (int l = 1; l <= LEVELS; l++) { /* one path a colour, neighbours in a row together */
		bool any = false;
		for (uint32_t y = 0; y < m->n; y++)
			for (uint32_t x = 0, end; x < m->n; x = end) {
				for (end = x + 1; end < m->n && level(m, (size_t)y * m->n + x) == l &&
				                  level(m, (size_t)y * m->n + end) == l;)
					end++;
				if (level(m, (size_t)y * m->n + x) != l)
					continue;
				if (!any)
					html_print(out, "<path class=\"h%d\" d=\"", l);
				any = true;
				html_print(out, "M%u %uh%uv1h-%uz", x, y, end - x, end - x);
			}
		if (any)
			html_print(out, "\"/>\n");
	}
	html_print(out, "</g>\n");
}

static void picture(FILE *out, const struct map *m)
{
	char text[HTML_NUMBER], more[HTML_NUMBER];
	double w = (double)SIDE / m->n;
	uint32_t step = (m->n + 7) / 8;
	html_print(out,
	           "<figure tabindex=\"0\">\n<svg viewBox=\"0 0 %d %d\" style=\"min-width:%dpx\" role=\"img\" "
	           "aria-labelledby=\"map-title\"><title "
	           "id=\"map-title\">%s from each rank (rows) to each rank "
	           "(columns)</title>\n<rect class=\"s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
	           SIDE + EDGE + 8, SIDE + EDGE + 44, HTML_SVG_LEAST(SIDE + EDGE + 8),
	           m->by_messages ? "Messages" : "Bytes", EDGE, EDGE, SIDE, SIDE);
	cells(out, m);
	html_print(out, "<rect class=\"n\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", EDGE, EDGE, SIDE, SIDE);
	for (uint32_t i = 0; i < m->n; i += step) {
		html_print(out,
		           "<text class=\"d\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text><text class=\"d\" "
		           "x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u</text>\n",
		           EDGE + (i + 0.5) * w, EDGE - 6, i * m->tile, EDGE - 6, EDGE + (i + 0.5) * w + 4,
		           i * m->tile);
	}
	html_print(out,
	           "<text class=\"d\" x=\"%d\" y=\"12\">to rank →</text><text class=\"d\" x=\"12\" y=\"%d\" "
	           "transform=\"rotate(-90 12 %d)\" text-anchor=\"end\">← from rank</text>\n",
	           EDGE, EDGE, EDGE);
	for (int l = 1; l <= LEVELS; l++)
		html_print(out, "<rect class=\"h%d\" x=\"%d\" y=\"%d\" width=\"24\" height=\"12\"/>", l,
		           EDGE + 90 + (l - 1) * 24, SIDE + EDGE + 18);
	html_print(out,
	           "<text class=\"d\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><text class=\"d\" x=\"%d\" "
	           "y=\"%d\">%s</text>\n</svg>\n",
	           EDGE + 84, SIDE + EDGE + 29, put_amount(m, text, m->least < m->most ? m->least : m->most),
	           EDGE + 90 + LEVELS * 24 + 6, SIDE + EDGE + 29, put_amount(m, more, m->most));
	if (m->tile > 1)
		html_print(out,
		           "<figcaption>Each cell stands for %u × %u ranks. The scale is logarithmic.</figcaption>\n",
		           m->tile, m->tile);
	else
		html_print(out, "<figcaption>The scale is logarithmic. Empty: nothing was sent.</figcaption>\n");
	html_print(out, "</figure>\n");
}

static int flow_by_bytes(const void *a, const void *b)
{
	const struct traffic_cell *x = *(const struct traffic_cell *const *)a,
				  *y = *(const struct traffic_cell *const *)b;
	uint64_t p = x->bytes + x->one_sided_bytes, q = y->bytes + y->one_sided_bytes;
	if (p != q)
		return p < q ? 1 : -1;
	if (x->messages != y->messages)
		return x->messages < y->messages ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void pairs(FILE *out, const struct traffic *t, bool one_sided)
{
	const struct traffic_cell **list = malloc((t->count + 1) * sizeof *list);
	if (!list)
		return;
	for (size_t i = 0; i < t->count; i++)
		list[i] = &t->cells[i];
	qsort(list, t->count, sizeof *list, flow_by_bytes);
	html_print(out, "<h3>The pairs that sent most</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th "
	                "scope=\"col\">From</th><th scope=\"col\">To</th><th scope=\"col\">Bytes</th>"
	                "<th scope=\"col\">Messages</th>");
	if (one_sided)
		html_print(out, "<th scope=\"col\">One-sided bytes</th><th scope=\"col\">Calls</th>");
	html_print(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < t->count && i < SHOWN_PAIRS; i++) {
		char key[64];
		html_print(out, "<tr><td>%u</td><td>%u</td><td>", list[i]->from, list[i]->to);
		snprintf(key, sizeof key, "matrix.%u.%u.bytes", list[i]->from, list[i]->to);
		html_bytes(out, list[i]->messages ? key : NULL, list[i]->bytes);
		html_print(out, "</td><td>");
		snprintf(key, sizeof key, "matrix.%u.%u.messages", list[i]->from, list[i]->to);
		html_count(out, list[i]->messages ? key : NULL, list[i]->messages);
		if (one_sided) {
			html_print(out, "</td><td>");
			html_bytes(out, NULL, list[i]->one_sided_bytes);
			html_print(out, "</td><td>");
			html_count(out, NULL, list[i]->one_sided);
		}
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div>\n");
	if (t->count > SHOWN_PAIRS)
		html_print(out, "<p class=\"dim\">%d of %zu pairs; <code>spoor show --matrix</code> prints all.</p>\n",
		           SHOWN_PAIRS, t->count);
	free(list);
}

static void sizes(FILE *out, const struct traffic *t)
{
	uint64_t most = 0;
	for (int i = 0; i < TRAFFIC_CLASSES; i++)
		most = t->sums.sizes[i].messages > most ? t->sums.sizes[i].messages : most;
	if (most == 0)
		return;
	html_print(out,
	           "<h3 id=\"sizes\">Message sizes</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th "
	           "scope=\"col\">Size</th><th scope=\"col\">Messages</th><th class=\"bar\"><span "
	           "class=\"narrow\">bar</span>"
	           "</th><th scope=\"col\">Bytes</th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < TRAFFIC_CLASSES; i++) {
		char from[HTML_NUMBER], to[HTML_NUMBER], key[64];
		double least = i ? ldexp(1, i - 1) : 0;
		if (t->sums.sizes[i].messages == 0)
			continue;
		html_print(out, "<tr><th scope=\"row\">");
		if (i == 0)
			html_print(out, "empty");
		else if (i == 1)
			html_print(out, "1 B");
		else
			html_print(out, "%s to &lt; %s", text_bytes(from, least), text_bytes(to, 2 * least));
		html_print(out, "</th><td>");
		snprintf(key, sizeof key, "message_sizes.%.0f.messages", least);
		html_count(out, key, t->sums.sizes[i].messages);
		html_print(out, "</td><td class=\"bar\"><i class=\"b1\" style=\"width:%.1f%%\"></i></td><td>",
		           100 * (double)t->sums.sizes[i].messages / (double)most);
		snprintf(key, sizeof key, "message_sizes.%.0f.bytes", least);
		html_bytes(out, key, t->sums.sizes[i].bytes);
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div>\n");
}

static void collectives(FILE *out, const struct traffic *t)
{
	bool any = false;
	for (int i = 0; i < COLLECTIVES; i++)
		any = any || t->sums.collectives[i].calls;
	if (!any)
		return;
	html_print(out,
	           "<h3>Collective operations</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<caption>Bytes as the "
	           "calls’ arguments "
	           "say, over all ranks; how the MPI library moves them is its own."
	           "</caption>\n<thead><tr><th scope=\"col\" class=\"l\">Operation</th><th scope=\"col\">Calls</th><th "
	           "scope=\"col\">In</th><th scope=\"col\">Out</th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < COLLECTIVES; i++) {
		if (t->sums.collectives[i].calls == 0)
			continue;
		html_print(out, "<tr><th scope=\"row\" class=\"l\">%s</th><td>", collective_name((enum collective)i));
		html_count(out, NULL, t->sums.collectives[i].calls);
		html_print(out, "</td><td>");
		html_bytes(out, NULL, t->sums.collectives[i].sent);
		html_print(out, "</td><td>");
		html_bytes(out, NULL, t->sums.collectives[i].received);
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div>\n");
}

static void put_rate(FILE *out, uint64_t bytes, uint64_t ns)
{
	char text[HTML_NUMBER];
	if (bytes && ns > 0)
		html_print(out, "%s/s", text_bytes(text, (double)bytes * 1e9 / (double)ns));
	else
		html_print(out, "-");
}

static void put_files(FILE *out, const struct traffic *t)
{
	if (t->file_count == 0)
		return;
	html_print(
		out,
		"<h3 id=\"files\">Files</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\" "
		"class=\"l\">File</th><th scope=\"col\">Read</th><th scope=\"col\">Calls</th><th scope=\"col\">Of a "
		"rank "
		"in one</th><th scope=\"col\">Written</th><th scope=\"col\">Calls</th><th scope=\"col\">Of a rank in "
		"one</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < t->file_count && i < SHOWN_FILES; i++) {
		const struct traffic_file *f = &t->files[i];
		html_print(out, "<tr><th scope=\"row\" class=\"l\"><code>");
		html_text(out, f->name);
		html_print(out, "</code></th><td>");
		html_bytes(out, NULL, f->read);
		html_print(out, "</td><td>");
		html_count(out, NULL, f->reads);
		html_print(out, "</td><td>");
		put_rate(out, f->timed_read, f->read_ns);
		html_print(out, "</td><td>");
		html_bytes(out, NULL, f->written);
		html_print(out, "</td><td>");
		html_count(out, NULL, f->writes);
		html_print(out, "</td><td>");
		put_rate(out, f->timed_written, f->written_ns);
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div>\n");
	if (t->file_count > SHOWN_FILES)
		html_print(out, "<p class=\"dim\">%d of %zu files; <code>spoor show --matrix</code> prints all.</p>\n",
		           SHOWN_FILES, t->file_count);
}

/* What was moved without messages. */
/* How far messages went. */
static void put_distances(struct report *r)
{
	FILE *out = r->out;
	struct seating_split d;
	const char *between = "Of these messages and bytes, with one-sided ones, ";
	char text[HTML_NUMBER];
	seating_split(&r->seats, &r->traffic, &d);
	if (d.all_messages == 0 || d.messages[SEATS_UNKNOWN] == d.all_messages)
		return;
	for (unsigned i = 0; i < SEATS_DISTANCES; i++) {
		if (!d.messages[i])
			continue;
		html_print(out, *between == ',' ? "%s%.1f&nbsp;%%" : "<p>%s%.1f&nbsp;%%", between,
		           100.0 * (double)d.messages[i] / (double)d.all_messages);
		if (d.all_bytes)
			html_print(out, " and %s", text_bytes(text, (double)d.bytes[i]));
		html_print(out, " %s", i == SEATS_UNKNOWN ? "went nobody knows how far" : seating_distances[i]);
		between = ", ";
	}
	html_print(out, ".</p>\n");
}

static void put_other_moves(struct report *r)
{
	const struct summary *s = &r->sum;
	FILE *out = r->out;
	if (s->one_sided) {
		html_print(out, "<p>");
		html_count(out, "summary.one_sided.calls", s->one_sided);
		html_print(out, " one-sided calls moved ");
		html_bytes(out, "summary.one_sided.bytes", s->one_sided_bytes);
		html_print(out, s->one_sided_unsized ? " at least.</p>\n" : "; the map has them, too.</p>\n");
	}
	if (s->read.calls || s->written.calls) {
		html_print(out, "<p>Of files ");
		html_bytes(out, "summary.read.bytes", s->read.bytes);
		html_print(out, " were read and ");
		html_bytes(out, "summary.written.bytes", s->written.bytes);
		html_print(out,
		           s->read.unsized || s->written.unsized ? " written, at least.</p>\n" : " written.</p>\n");
	}
}

void report_messages(struct report *r)
{
	FILE *out = r->out;
	struct map m = {.n = 0};
	html_print(out, "<section aria-labelledby=\"messages\">\n<h2 id=\"messages\">Messages</h2>\n<p>");
	html_count(out, "summary.messages", r->sum.messages);
	html_print(out, " messages were sent from rank to rank, ");
	html_bytes(out, NULL, r->sum.bytes);
	html_print(out,
	           r->sum.unsized ? " at least: the sizes of some are not in the trace’s summary.</p>\n" : ".</p>\n");
	put_other_moves(r);
	if (r->has_traffic)
		put_distances(r);
	if (!r->has_traffic)
		html_print(out, "<p class=\"dim\">This trace has so many events that they were not walked for who sent "
		                "to whom; "
		                "<code>spoor report --full</code> does it.</p>\n");
	else if (r->traffic.count == 0)
		collectives(out, &r->traffic);
	else if (gather_flows(&m, r) == 0) {
		html_print(out, "<div class=\"two\">\n<div>\n");
		picture(out, &m);
		html_print(out, "</div>\n<div>\n");
		pairs(out, &r->traffic, r->sum.one_sided > 0);
		sizes(out, &r->traffic);
		html_print(out, "</div>\n</div>\n");
		collectives(out, &r->traffic);
	}
	put_files(out, &r->traffic);
	html_print(out, "</section>\n");
	free(m.bytes);
	free(m.messages);
}
