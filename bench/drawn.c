/* SPDX-License-Identifier: BSD-3-Clause
 * drawn - what a replay would compute, against what was computed: bench/drawn [--no-paths] TRACE...
 *
 * Of a trace with the times of all events (timing: full). Between two calls for which all ranks wait, the program takes
 * as long as the rank that computes longest. The sum of these is printed twice: of the recorded times, and of those
 * that a replay without them would draw. No clock is read: a busy machine changes what was recorded, but not the
 * comparison.
 *
 * --no-paths: what is drawn depends on the next call only, not on the one before, and there are no classes: as in
 * histograms that are not sensitive to the path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "insight/together.h"
#include "trace/file/container.h"
#include "trace/model/classes.h"
#include "trace/read/timeline.h"
#include "trace/read/walk.h"

/* All ranks, from one call for which all wait to the next. */
struct course {
	double *longest; /* ns, of each piece */
	size_t count, capacity;
	double sum, most; /* of all ranks; of the one that has most */
	/* of the rank under way */
	size_t at;
	double piece, rank;
};

static void course_end_piece(struct course *c)
{
	if (c->at == c->capacity) {
		c->capacity = 2 * c->capacity + 1024;
		c->longest = realloc(c->longest, c->capacity * sizeof *c->longest);
		if (!c->longest)
			abort();
	}
	if (c->at == c->count)
		c->longest[c->count++] = 0;
	if (c->piece > c->longest[c->at])
		c->longest[c->at] = c->piece;
	c->rank += c->piece;
	c->piece = 0;
	c->at++;
}

static void course_end_rank(struct course *c)
{
	course_end_piece(c);
	c->sum += c->rank;
	c->most = c->rank > c->most ? c->rank : c->most;
	c->rank = 0;
	c->at = 0;
}

static double course_seconds(const struct course *c)
{
	double sum = 0;
	for (size_t i = 0; i < c->count; i++)
		sum += c->longest[i];
	return sum / 1e9;
}

/* ---- one rank ---- */

struct drawer {
	const struct trace *trace;
	uint32_t rank, last;
	double factor;
	struct class_times ***edges; /* by site and edge */
	uint64_t *visits;
	struct pattern *patterns;
};

static double draw_edge(struct drawer *d, uint32_t to)
{
	const struct trace_site *from = &d->trace->sites[d->last];
	const struct trace_edge *e = trace_edge_to(from, to);
	if (!e || e->compute.count == 0)
		return 0;
	if (!d->edges[d->last])
		d->edges[d->last] = calloc(from->edge_count, sizeof **d->edges);
	struct class_times **times = &d->edges[d->last][e - from->edges];
	if (!*times)
		*times = together_times(d->trace, from, e, d->rank, 1, d->patterns);
	return class_times_next(*times, d->visits[to], d->factor);
}

static int take_rank(struct drawer *d, struct course *recorded, struct course *drawn)
{
	const struct trace *t = d->trace;
	struct error error = {""};
	struct event e;
	struct walk *w = NULL;
	bool none;
	uint64_t begin, end, before = 0;
	struct timeline *line = timeline_open(t, d->rank, &none);
	int rv = line && walk_begin(&w, t, d->rank, &error) == 0 ? 0 : -1;
	d->last = UINT32_MAX;
	while (rv == 0 && walk_next(w, &e, &error) == 0 && timeline_next(line, e.site, &begin, &end) == 0) {
		if (d->last != UINT32_MAX) {
			recorded->piece += (double)(begin - before);
			drawn->piece += draw_edge(d, e.site);
		}
		if (e.schema->mpi->waits == WAITS_FOR_ALL) {
			course_end_piece(recorded);
			course_end_piece(drawn);
		}
		d->visits[e.site]++;
		d->last = e.site;
		before = end;
	}
	course_end_rank(recorded);
	course_end_rank(drawn);
	walk_end(w);
	timeline_close(line);
	return rv;
}

static int take_all(const struct trace *t, struct course *recorded, struct course *drawn)
{
	int rv = 0;
	struct drawer d = {.trace = t, .patterns = calloc(t->patterns.count + 1, sizeof *d.patterns)};
	for (d.rank = 0; rv == 0 && d.rank < t->size; d.rank++) {
		d.factor = class_times_factor(t, d.rank);
		d.edges = calloc(t->site_count, sizeof *d.edges);
		d.visits = calloc(t->site_count, sizeof *d.visits);
		rv = take_rank(&d, recorded, drawn);
		for (uint32_t i = 0; i < t->site_count; i++) {
			for (uint32_t k = 0; d.edges[i] && k < t->sites[i].edge_count; k++)
				class_times_destroy(d.edges[i][k]);
			free(d.edges[i]);
		}
		free(d.edges);
		free(d.visits);
	}
	for (uint32_t i = 0; i < t->patterns.count; i++)
		pattern_free(&d.patterns[i]);
	free(d.patterns);
	return rv;
}

/* ---- histograms that are not sensitive to the path ---- */

static struct trace_edge *find_edge(struct trace_site *s, uint32_t to)
{
	return (struct trace_edge *)(uintptr_t)trace_edge_to(s, to);
}

static int forget_paths(struct trace *t)
{
	int rv = 0;
	for (uint32_t to = 0; to < t->site_count; to++) {
		struct histogram all = {0};
		struct trace_edge *e;
		for (uint32_t i = 0; i < t->site_count; i++)
			if ((e = find_edge(&t->sites[i], to)))
				rv |= histogram_add(&all, &e->compute);
		histogram_balance(&all, t->bins ? t->bins : HISTOGRAM_BINS);
		for (uint32_t i = 0; i < t->site_count; i++)
			if ((e = find_edge(&t->sites[i], to))) {
				classes_free(e);
				histogram_free(&e->compute);
				rv |= histogram_copy(&e->compute, &all);
			}
		histogram_free(&all);
	}
	return rv;
}

static int compare_trace(const char *path, bool paths)
{
	struct trace t;
	struct container *container;
	struct error error = {""};
	struct course recorded = {0}, drawn = {0};
	if (trace_open(&t, &container, path, &codec_zstd, &error) != 0 || !t.timing_count ||
	    (!paths && forget_paths(&t) != 0) || take_all(&t, &recorded, &drawn) != 0) {
		fprintf(stderr, "drawn: %s: %s\n", path, error.text[0] ? error.text : "no times of all events");
		return 1;
	}
	double a = course_seconds(&recorded), b = course_seconds(&drawn), n = t.size;
	printf("%-32s %8.3f s %8.3f s %+6.1f %%   load balance %5.1f %5.1f   efficiency %5.1f %5.1f\n", path, a, b,
	       100 * (b / a - 1), 100 * recorded.sum / n / recorded.most, 100 * drawn.sum / n / drawn.most,
	       recorded.sum / n / a / 1e7, drawn.sum / n / b / 1e7);
	free(recorded.longest);
	free(drawn.longest);
	trace_free(&t);
	container_destroy(container);
	return 0;
}

int main(int argc, char **argv)
{
	bool paths = argc < 2 || strcmp(argv[1], "--no-paths") != 0;
	int bad = argc < (paths ? 2 : 3);
	for (int i = paths ? 1 : 2; i < argc; i++)
		bad |= compare_trace(argv[i], paths);
	return bad;
}
