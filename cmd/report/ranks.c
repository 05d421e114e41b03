/* SPDX-License-Identifier: BSD-3-Clause
 * ranks - how evenly the ranks share the work
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/report/html.h"
#include "cmd/base/sink.h"
#include "cmd/report/report.h"
#include "cmd/show/seating.h"
#include "trace/model/host.h"
#include "trace/model/means.h"
#include "trace/model/stream.h"

#define WIDTH      960
#define HEIGHT     200
#define LEFT       64
#define TABLE_OPEN 16  /* with more ranks than this the table is folded */
#define RANKS_MOST 512 /* with more there are neither bars nor a table */

struct rank {
	uint32_t rank;
	uint64_t compute, elapsed;
};

static uint64_t in_mpi(const struct rank *r)
{
	return r->elapsed > r->compute ? r->elapsed - r->compute : 0;
}

/* Of ranks whose totals are known. *list is malloc'ed. */
static size_t known(const struct report *r, struct rank **list)
{
	const struct trace_total *compute = &r->trace->total[TOTAL_COMPUTE], *elapsed = &r->trace->total[TOTAL_ELAPSED];
	size_t n = 0;
	int64_t unused;
	bool few = compute->count <= RANKS_MOST && trace_total_known(compute) && trace_total_known(elapsed);
	*list = few ? malloc((compute->count + 1) * sizeof **list) : NULL;
	for (uint64_t i = 0; *list && n < compute->count && rankmap_next(&r->trace->events, &i, &unused); i++) {
		struct rank one = {.rank = (uint32_t)i};
		if (trace_total_get(compute, one.rank, &one.compute) &&
		    trace_total_get(elapsed, one.rank, &one.elapsed))
			(*list)[n++] = one; /* rounded, each for itself */
	}
	return n;
}

static void bars(FILE *out, const struct trace *t, const struct rank *list, size_t n)
{
	uint64_t most = 1;
	double mean = 0, step = (double)(WIDTH - LEFT) / (double)n;
	char text[HTML_NUMBER], more[HTML_NUMBER], name[STREAM_NAME];
	for (size_t i = 0; i < n; i++) {
		most = list[i].elapsed > most ? list[i].elapsed : most;
		mean += (double)list[i].compute / (double)n;
	}
	html_print(out,
	           "<figure tabindex=\"0\">\n<svg viewBox=\"0 0 %d %d\" style=\"min-width:%dpx\" role=\"img\" "
	           "aria-labelledby=\"ranks-title\"><title "
	           "id=\"ranks-title\">Computation and MPI of each rank"
	           "</title>\n",
	           WIDTH, HEIGHT + 28, HTML_SVG_LEAST(WIDTH));
	for (int i = 0; i <= 4; i++) {
		double y = 8 + (double)(HEIGHT - 8) * (4 - i) / 4;
		html_print(out,
		           "<path class=\"g\" d=\"M%d %.1fH%d\"/><text class=\"d\" x=\"%d\" y=\"%.1f\" "
		           "text-anchor=\"end\">%s</text>\n",
		           LEFT, y, WIDTH, LEFT - 8, y + 4, text_ns(text, (double)most * i / 4));
	}
	for (size_t i = 0; i < n; i++) {
		double x = LEFT + step * (double)i, w = step > 4 ? step - (step > 12 ? 3 : 1) : step;
		double c = (HEIGHT - 8) * (double)list[i].compute / (double)most,
		       e = (HEIGHT - 8) * (double)list[i].elapsed / (double)most;
		html_print(
			out,
			"<g><title>rank %s: %s computation, %s in MPI</title><rect class=\"f2\" x=\"%.1f\" y=\"%.1f\" "
			"width=\"%.1f\" height=\"%.1f\"/>"
			"<rect class=\"f0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></g>\n",
			stream_name(t, list[i].rank, name), text_ns(text, (double)list[i].compute),
			text_ns(more, (double)in_mpi(&list[i])), x, HEIGHT - e, w, e > c ? e - c : 0, x, HEIGHT - c, w,
			c);
		if (n <= 32 || i % (n / 8 > 8 ? n / 8 : 8) == 0)
			html_print(out, "<text class=\"d\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			           x + w / 2, HEIGHT + 18, stream_name(t, list[i].rank, name));
	}
	double y = HEIGHT - (HEIGHT - 8) * mean / (double)most;
	html_print(out,
	           "<path d=\"M%d %.1fH%d\" stroke=\"var(--ink)\" stroke-dasharray=\"5 4\" fill=\"none\"/>\n</svg>\n",
	           LEFT, y, WIDTH);
	html_print(
		out,
		"<figcaption><span class=\"key b0\"></span>computation, <span class=\"key b2\"></span>MPI; the dashed "
		"line is the mean computation, %s</figcaption>\n</figure>\n",
		text_ns(text, mean));
}

static void table(struct report *r, const struct rank *list, size_t n)
{
	FILE *out = r->out;
	char host[HOST_MAX], key[64], name[STREAM_NAME];
	html_print(out,
	           "<details%s><summary>The same as a table</summary>\n<div class=\"wide\" "
	           "tabindex=\"0\"><table>\n<thead><tr><th "
	           "scope=\"col\">Rank</th><th scope=\"col\" class=\"l\">Host</th>"
	           "<th scope=\"col\">Computation</th><th scope=\"col\">MPI</th><th scope=\"col\">Together</th><th "
	           "scope=\"col\">Events</th>",
	           n <= TABLE_OPEN ? " open" : "");
	if (r->sent)
		html_print(out, "<th scope=\"col\">Sent</th><th scope=\"col\">Received</th>");
	html_print(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < n; i++) {
		uint32_t rank = list[i].rank;
		int64_t events = 0;
		host_get(r->trace, stream_rank(r->trace, rank), host);
		rankmap_get(&r->trace->events, rank, &events);
		html_print(out, "<tr><th scope=\"row\">%s</th><td class=\"l\">", stream_name(r->trace, rank, name));
		html_text(out, host);
		html_print(out, "</td><td>");
		snprintf(key, sizeof key, "ranks.%s.compute_ns", name);
		html_ns(out, key, list[i].compute);
		html_print(out, "</td><td>");
		html_ns(out, NULL, in_mpi(&list[i]));
		html_print(out, "</td><td>");
		snprintf(key, sizeof key, "ranks.%s.elapsed_ns", name);
		html_ns(out, key, list[i].elapsed);
		html_print(out, "</td><td>");
		html_count(out, NULL, (uint64_t)events);
		if (r->sent && rank < r->trace->size) {
			html_print(out, "</td><td>");
			html_bytes(out, NULL, r->sent[rank]);
			html_print(out, "</td><td>");
			html_bytes(out, NULL, r->received[rank]);
		} else if (r->sent) {
			html_print(out, "</td><td></td><td>");
		}
		html_print(out, "</td></tr>\n");
	}
	html_print(out, "</tbody></table></div></details>\n");
}

/* Where they sat. */
static void put_seats(struct report *r)
{
	char text[SEATING_TEXT];
	if (r->seats.known == 0)
		return;
	seating_text(&r->seats, text);
	html_print(r->out, "<p>");
	html_text(r->out, text);
	html_print(r->out, ".</p>\n");
	for (uint32_t i = 0; i < r->seats.shared_count && i < 8; i++) {
		seating_shared_text(&r->seats, r->trace, i, text);
		html_print(r->out, "<p class=\"warn\">");
		html_text(r->out, text);
		seating_effect_text(&r->seats, text);
		if (*text && i == 0) {
			html_print(r->out, "; ");
			html_text(r->out, text);
		}
		html_print(r->out, ".</p>\n");
	}
}

void report_ranks(struct report *r)
{
	const struct summary *s = &r->sum;
	FILE *out = r->out;
	struct rank *list;
	size_t n = known(r, &list);
	char a[HTML_NUMBER], b[HTML_NUMBER], c[HTML_NUMBER], least[STREAM_NAME], most[STREAM_NAME];
	html_print(out, "<section aria-labelledby=\"ranks\">\n<h2 id=\"ranks\">Ranks</h2>\n");
	if (s->parallel_efficiency >= 0 && r->trace->total[TOTAL_COMPUTE].count) {
		html_print(out, "<p>Computation is between %s on rank %s and %s on rank %s, in the mean %s.</p>\n",
		           text_ns(a, (double)s->compute_min_ns), stream_name(r->trace, s->compute_min_rank, least),
		           text_ns(b, (double)s->compute_max_ns), stream_name(r->trace, s->compute_max_rank, most),
		           text_ns(c, (double)s->compute_ns / (double)r->trace->total[TOTAL_COMPUTE].count));
		html_print(out, "<p class=\"dim\">Most: ");
		html_ns(out, "summary.compute_max_ns", s->compute_max_ns);
		html_print(out, ", least: ");
		html_ns(out, "summary.compute_min_ns", s->compute_min_ns);
		html_print(out, ", all ranks: ");
		html_ns(out, "summary.compute_ns", s->compute_ns);
		html_print(out, " computation and ");
		html_ns(out, "summary.mpi_ns", s->mpi_ns);
		html_print(out, " MPI.</p>\n");
	}
	put_seats(r);
	if (n > 0) {
		bars(out, r->trace, list, n);
		table(r, list, n);
	} else {
		html_print(out, r->trace->total[TOTAL_COMPUTE].count
		                        ? "<p class=\"dim\">There are too many ranks for a bar each. "
		                          "<code>spoor show --classes</code> groups those alike.</p>\n"
		                        : "<p class=\"dim\">The times of single ranks are not in this trace.</p>\n");
	}
	html_print(out, "</section>\n");
	free(list);
}
