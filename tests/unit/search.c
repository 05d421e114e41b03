/* SPDX-License-Identifier: BSD-3-Clause
 * search - tests of the search in time: against walking event by event, and on a trace of 10^9 events
 */
#include "trace/read/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/tap.h"
#include "trace/model/value.h"
#include "trace/base/varint.h"
#include "trace/read/walk.h"

enum { INIT, HEAD, INNER, OTHER, TAIL, FINALIZE, SITES };

/* Adds a successor column: the pattern's symbols (rules separated by UINT64_MAX; a symbol is token or rule << 1 | 1,
 * exponent) and the dictionary. */
static void successor(struct trace *t, uint32_t site, const uint64_t *symbols, size_t n, const int64_t *dict,
                      uint32_t count)
{
	struct writer w = {0}, rule = {0};
	uint64_t rules = 1, in_rule = 0;
	for (size_t i = 0; i < n; i++)
		rules += symbols[i] == UINT64_MAX;
	writer_uint(&w, rules);
	for (size_t i = 0; i <= n; i++) {
		if (i == n || symbols[i] == UINT64_MAX) {
			writer_uint(&w, in_rule);
			writer_bytes(&w, rule.data, rule.size);
			rule.size = 0;
			in_rule = 0;
			continue;
		}
		writer_uint(&rule, symbols[i] >> 1 << 2 | (symbols[i] & 1) << 1 | 1);
		writer_uint(&rule, symbols[++i]);
		in_rule++;
	}
	struct trace_group g = {.count = count};
	g.dict = calloc(count, sizeof *g.dict);
	for (uint32_t i = 0; i < count; i++) {
		g.dict[i].count = 1;
		rankmap_single(&g.dict[i].start, 0, dict[i], true);
	}
	if (n)
		g.pattern = pool_intern(&t->patterns, w.data, w.size) + 1;
	trace_add_group_take(&t->sites[site].columns[t->sites[site].column_count - 1], &g);
	writer_free(&w);
	writer_free(&rule);
}

static void edge(struct trace *t, uint32_t from, uint32_t to, uint64_t count, uint64_t ns)
{
	trace_edge(&t->sites[from], to)->compute =
		(struct histogram){.count = count, .sum = count * ns, .min = ns, .max = ns};
}

#define T(n) ((n) << 1)
#define R(n) ((n) << 1 | 1)

/* Init; outer times { Head; inner times Inner, then Other twice in every second turn; Tail }; Finalize. */
static void nest(struct trace *t, uint64_t outer, uint64_t inner)
{
	static const char *const names[SITES] = {"MPI_Init",  "MPI_Barrier", "MPI_Allreduce",
	                                         "MPI_Bcast", "MPI_Reduce",  "MPI_Finalize"};
	trace_init(t);
	t->size = 1;
	uint64_t half = outer / 2, visits[SITES] = {1, outer, outer * inner, outer, outer, 1}; /* outer is even */
	for (uint32_t i = 0; i < SITES; i++) {
		uint32_t f = trace_function(t, pool_intern(&t->strings, names[i], strlen(names[i])));
		trace_site(t, f, 0, false);
		rankmap_single(&t->sites[i].visits, 0, (int64_t)visits[i], false);
		t->sites[i].communicate = (struct histogram){
			.count = visits[i], .sum = visits[i] * (10 + i), .min = 10 + i, .max = 10 + i};
	}
	rankmap_single(&t->first, 0, INIT, true);
	rankmap_single(&t->events, 0, (int64_t)(2 + 3 * outer + outer * inner), false);
	successor(t, INIT, NULL, 0, (int64_t[]){HEAD}, 1);
	successor(t, HEAD, NULL, 0, (int64_t[]){INNER}, 1);
	/* turn 0 goes to Tail, turn 1 to Other, and so on */
	successor(t, INNER,
	          (uint64_t[]){T(1ul), inner - 1, T(2ul), 1, T(1ul), inner - 1, T(3ul), 1, UINT64_MAX, T(0ul),  1,
	                       T(1ul), inner - 2, T(0ul), 1, T(1ul), inner - 1, T(0ul), 1, R(0ul),     half - 1},
	          21, (int64_t[]){INNER, TAIL, OTHER}, 3);
	successor(t, OTHER, (uint64_t[]){T(1ul), 1, T(2ul), 1, UINT64_MAX, T(0ul), 1, T(0ul), 1, R(0ul), half - 1}, 11,
	          (int64_t[]){OTHER, TAIL}, 2);
	successor(t, TAIL, (uint64_t[]){T(0ul), 1, T(1ul), outer - 2, T(0ul), 1}, 6, (int64_t[]){HEAD, FINALIZE}, 2);
	edge(t, INIT, HEAD, 1, 100);
	edge(t, HEAD, INNER, outer, 20);
	edge(t, INNER, INNER, outer * (inner - 1), 5);
	edge(t, INNER, OTHER, half, 7);
	edge(t, INNER, TAIL, half, 8);
	edge(t, OTHER, OTHER, half, 9);
	edge(t, OTHER, TAIL, half, 11);
	edge(t, TAIL, HEAD, outer - 1, 13);
	edge(t, TAIL, FINALIZE, 1, 17);
	for (uint32_t i = 0; i < SITES; i++)
		trace_sort_edges(&t->sites[i]);
}

static double mean(const struct trace *t, uint32_t from, uint32_t to)
{
	for (uint32_t k = 0; k < t->sites[from].edge_count; k++)
		if (t->sites[from].edges[k].to == to)
			return histogram_mean(&t->sites[from].edges[k].compute);
	return 0;
}

int main(void)
{
	struct trace t;
	struct error error = {""};
	struct walk *w;
	struct event e;
	struct moment m;
	nest(&t, 20, 13);
	ok(trace_check(&t, &error) == 0, "the trace is good: %s", error.text);
	if (walk_begin(&w, &t, 0, &error) != 0)
		return 1;
	double now = 0;
	uint32_t before = UINT32_MAX, wrong = 0, wrong_visits = 0, wrong_events = 0;
	uint64_t visits[SITES] = {0}, events = 0;
	while (walk_next(w, &e, &error) == 0) {
		if (before != UINT32_MAX)
			now += mean(&t, before, e.site);
		for (int inside = 0; inside < 2; inside++) {
			double at = inside ? now + 3 : now - 2;
			if (at < 0)
				continue;
			if (search_time(&m, &t, 0, at, &error) != 0 || m.event != e.number || m.site != e.site ||
			    m.inside != inside || fabs(m.begin - now) > 0.001)
				wrong++;
			wrong_visits += !m.visits || memcmp(m.visits, visits, sizeof visits) != 0;
			struct walk *there;
			struct event again;
			if (walk_begin(&there, &t, 0, &error) != 0 ||
			    walk_seek(there, m.event, m.site, m.visits) != 0 || walk_next(there, &again, &error) != 0 ||
			    again.number != e.number || again.site != e.site)
				wrong_events++;
			uint64_t rest = 1;
			while (walk_next(there, &again, &error) == 0)
				rest++;
			wrong_events += rest + events != 2 + 3 * 20 + 20 * 13;
			walk_end(there);
			free(m.visits);
		}
		now += histogram_mean(&t.sites[e.site].communicate);
		visits[e.site]++;
		events++;
		before = e.site;
	}
	ok(events == 2 + 3 * 20 + 20 * 13 && !error.text[0], "it has its events: %llu %s", (unsigned long long)events,
	   error.text);
	ok(wrong == 0, "a search finds what walking finds, before and inside of every event (%u do not)", wrong);
	ok(wrong_visits == 0, "visits are those of walking (%u are not)", wrong_visits);
	ok(wrong_events == 0, "a walk from there sees the rest of the events (%u do not)", wrong_events);
	walk_end(w);
	trace_free(&t);

	nest(&t, 1000, 1000000);
	struct timespec a, b;
	double worst = 0, total = 0;
	bool good = true;
	for (int i = 0; i <= 20; i++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		good = search_time(&m, &t, 0, total * i / 20, &error) == 0 && good;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6;
		worst = ms > worst ? ms : worst;
		total = m.total;
		good = good && (i == 0 || (m.event >= 1000003000.0 * i / 20 * 0.99 &&
		                           m.event <= 1000003000.0 * i / 20 * 1.01 + 1));
		free(m.visits);
	}
	ok(good, "1,000,003,002 events: found where they are");
	ok(worst < 50, "in %.2f ms of processor time at most", worst);
	trace_free(&t);
	return tap_end();
}
