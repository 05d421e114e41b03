/* SPDX-License-Identifier: BSD-3-Clause
 * drawn - what a replay would compute, against what was computed: bench/drawn TRACE...
 *
 * Of a trace with the times of all events (timing: full), the edge with most computations is looked at, of a program
 * that has a collective call in each step. A step takes as long as the rank that computes longest. Their sum is printed
 * twice: of the recorded times, and of those that a replay without them would draw. No clock is read: a busy machine
 * changes what was recorded, but not the comparison.
 */
#include <stdio.h>
#include <stdlib.h>

#include "archive/codec_zstd.h"
#include "replay/together.h"
#include "trace/file/container.h"
#include "trace/model/flow_code.h"
#include "trace/model/timing.h"

/* All ranks on one edge. */
struct course {
	uint64_t visits;
	double *longest;  /* ns, of each visit */
	double sum, most; /* of all ranks; of the one that has most */
	double rank;      /* the one under way */
};

static void course_add(struct course *c, uint64_t visit, double ns)
{
	if (ns > c->longest[visit])
		c->longest[visit] = ns;
	c->rank += ns;
}

static void course_end_rank(struct course *c)
{
	c->sum += c->rank;
	c->most = c->rank > c->most ? c->rank : c->most;
	c->rank = 0;
}

static double course_seconds(const struct course *c)
{
	double sum = 0;
	for (uint64_t i = 0; i < c->visits; i++)
		sum += c->longest[i];
	return sum / 1e9;
}

static const struct trace_edge *largest_edge(const struct trace *t, uint32_t *from)
{
	const struct trace_edge *best = NULL;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			if (!best || t->sites[i].edges[k].compute.count > best->compute.count) {
				best = &t->sites[i].edges[k];
				*from = i;
			}
	return best;
}

static void take_recorded(struct course *c, const struct trace_timing *t, uint32_t from, uint32_t to)
{
	for (uint32_t k = 0; t && k < t->flow_count; k++) {
		const struct trace_flow *f = &t->flows[k];
		struct reader in = reader_of(f->bytes, f->size);
		uint64_t previous = 0;
		for (uint64_t i = 0; f->from == from && f->to == to && i < c->visits && i < f->count; i++)
			course_add(c, i,
			           (double)flow_ticks(flow_next(&in, &previous, t->digits), t->digits) * (double)t->ns /
			                   (double)t->ticks);
	}
	course_end_rank(c);
}

static void take_drawn(struct course *c, const struct trace *t, const struct trace_edge *e, uint32_t from,
                       uint32_t rank, struct pattern *patterns)
{
	struct class_times *times = together_times(t, &t->sites[from], e, rank, 1, patterns);
	for (uint64_t i = 0; times && i < c->visits; i++)
		course_add(c, i, class_times_next(times, i + 1));
	class_times_destroy(times);
	course_end_rank(c);
}

static int compare_trace(const char *path)
{
	struct trace t;
	struct container *container;
	struct error error = {""};
	uint32_t from = 0;
	if (trace_open(&t, &container, path, &codec_zstd, &error) != 0 || !t.timing_count) {
		fprintf(stderr, "drawn: %s: %s\n", path, error.text[0] ? error.text : "no times of all events");
		return 1;
	}
	const struct trace_edge *e = largest_edge(&t, &from);
	uint64_t visits = e->compute.count / t.size;
	struct pattern *patterns = calloc(t.patterns.count + 1, sizeof *patterns);
	struct course recorded = {visits, calloc(visits + 1, sizeof(double)), 0, 0, 0}, drawn = recorded;
	drawn.longest = calloc(visits + 1, sizeof(double));
	if (!patterns || !recorded.longest || !drawn.longest)
		return 1;
	for (uint32_t rank = 0; rank < t.size; rank++) {
		take_recorded(&recorded, timing_find(&t, rank), from, e->to);
		take_drawn(&drawn, &t, e, from, rank, patterns);
	}
	double a = course_seconds(&recorded), b = course_seconds(&drawn);
	printf("%-32s %8.3f s %8.3f s %+6.1f %%   load balance %5.1f %5.1f   efficiency %5.1f %5.1f\n", path, a, b,
	       100 * (b / a - 1), 100 * recorded.sum / t.size / recorded.most, 100 * drawn.sum / t.size / drawn.most,
	       recorded.sum / t.size / a / 1e7, drawn.sum / t.size / b / 1e7);
	for (uint32_t i = 0; i < t.patterns.count; i++)
		pattern_free(&patterns[i]);
	free(patterns);
	free(recorded.longest);
	free(drawn.longest);
	trace_free(&t);
	container_destroy(container);
	return 0;
}

int main(int argc, char **argv)
{
	int bad = argc < 2;
	for (int i = 1; i < argc; i++)
		bad |= compare_trace(argv[i]);
	return bad;
}
