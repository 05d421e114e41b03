/* SPDX-License-Identifier: BSD-3-Clause
 * classes_file - the stored form of the classes of computations: the chunk CLAS
 *
 * First the edges that have classes, in the order of HIST; behind them, all their histograms, of times and of what is
 * counted (CNTR, which is read before). Edge 0 of site 5, the
 * first one, with two classes, in all ranks of the site; rank 0 of two has the second one, and no mean is unusual:
 *
 *     01                 one edge
 *     05 00              5 sites further, edge 0 of that site
 *     03                 finished, two classes
 *     a2 01 0f           keys 162, and 15 + 1 further 178
 *     01 00 00 01        one group: of all ranks, no pattern, one value:
 *       01 b2 02 a2 02     a list of 178 and 162 (doubled, as `value` has it)
 *     00                 no means
 *
 * Invariant: keys ascend; edges ascend; only a finished one has means that are relative.
 */
#include "trace/file/classes_file.h"

#include "trace/base/budget.h"
#include "trace/file/histogram_file.h"
#include "trace/file/rankmap_file.h"
#include "trace/model/classes.h"
#include "trace/model/counts.h"
#include "trace/model/packed.h"
#include "trace/model/packed_histogram.h"

/* A class gets as many bins as an edge that takes as much time (times_file.c). */
#define SHARE_CLASS 32

/* ---- to a file ---- */

static void put_column(struct writer *w, struct diagram_file *maps, const struct trace_column *c,
                       const struct rankmap *ranks)
{
	writer_uint(w, c->count);
	for (uint32_t g = 0; g < c->count; g++) {
		const struct trace_group *group = &c->groups[g];
		rankmap_file_put_ranks(w, maps, trace_group_ranks(group), ranks);
		writer_uint(w, group->pattern);
		writer_uint(w, group->count);
		for (uint32_t i = 0; i < group->count; i++)
			rankmap_file_put(w, maps, &group->dict[i].start);
	}
}

static void put_edge(struct writer *w, struct diagram_file *maps, const struct trace_classes *c,
                     const struct rankmap *ranks)
{
	writer_uint(w, (uint64_t)c->count << 1 | c->finished);
	for (uint32_t i = 0; i < c->count; i++)
		writer_uint(w, i ? c->each[i].key - c->each[i - 1].key - UINT64_C(1) : c->each[i].key);
	put_column(w, maps, &c->column, ranks);
	writer_uint(w, !rankmap_empty(&c->mean));
	if (!rankmap_empty(&c->mean)) {
		rankmap_file_put_ranks(w, maps, &c->mean, ranks);
		rankmap_file_put(w, maps, &c->mean);
	}
}

/* Where the histograms of an edge are. */
static struct histogram_place class_place(const struct trace *t, const struct histogram_visits *visits, uint32_t from,
                                          uint32_t to, uint64_t all)
{
	struct histogram_place p = histogram_place(t, &visits[from], &visits[to], 0);
	p.all = all;
	p.share = SHARE_CLASS;
	return p;
}

static const struct histogram *class_counts(const struct trace_class *k, uint32_t counter)
{
	static const struct histogram none;
	return k->counts ? &k->counts[counter] : &none;
}

static void put_class_counts(struct entropy_writer *e, struct histogram_place p, const struct trace_classes *c,
                             uint32_t counters)
{
	p.at = HISTOGRAM_CONTEXTS;
	for (uint32_t counter = 0; counter < counters; counter++) {
		p.all = 0;
		for (uint32_t i = 0; i < c->count; i++)
			p.all += histogram_sum(class_counts(&c->each[i], counter));
		for (uint32_t i = 0; i < c->count; i++)
			histogram_put(e, &p, class_counts(&c->each[i], counter), c->each[i].compute.count);
	}
}

static void put_class_times(struct entropy_writer *e, const struct histogram_place *p, const struct trace_edge *edge,
                            uint32_t counters)
{
	uint64_t left = edge->compute.count;
	const struct trace_classes *c = edge->classes;
	for (uint32_t i = 0; i < c->count; i++) {
		histogram_put(e, p, &c->each[i].compute, i + 1 == c->count ? left : 0);
		left -= c->each[i].compute.count;
	}
	put_class_counts(e, *p, c, counters);
}

static void put_whole_times(struct writer *w, const struct trace_classes *c, uint32_t counters)
{
	for (uint32_t i = 0; i < c->count; i++)
		histogram_pack(w, &c->each[i].compute);
	for (uint32_t counter = 0; counter < counters; counter++)
		for (uint32_t i = 0; i < c->count; i++)
			histogram_pack(w, class_counts(&c->each[i], counter));
}

/* What is done with each site that has edges with classes, in two passes: heads, then histograms. */
struct putting {
	struct writer *heads, *times;
	struct diagram_file *maps;
	struct entropy_block *block; /* NULL: a part */
	struct histogram_visits *visits;
	const struct trace *trace;
	uint64_t edges, all;
	uint32_t next; /* the site behind the last one that has any */
};

static void put_site_classes(struct putting *p, uint32_t i, const struct trace_site *s)
{
	for (uint32_t k = 0, next = 0; k < s->edge_count; k++) {
		const struct trace_edge *edge = &s->edges[k];
		if (!edge->classes)
			continue;
		writer_uint(p->heads, i - p->next);
		writer_uint(p->heads, k - next);
		/* the first one in a site says how far it is from the site before; the others are in the same one */
		next = k + 1;
		p->next = i;
		p->edges++;
		put_edge(p->heads, p->maps, edge->classes, &s->visits);
		if (p->block) {
			struct histogram_place place = class_place(p->trace, p->visits, i, edge->to, p->all);
			put_class_times(&p->block->coder, &place, edge, p->trace->counter_count);
		} else {
			put_whole_times(p->times, edge->classes, p->trace->counter_count);
		}
	}
}

/* All time in classes, as the file has it; *any: there is an edge that has some. */
static int sum_classes(const struct trace *t, uint64_t *all, bool *any)
{
	*all = 0;
	*any = false;
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct trace_site room;
		if (!packed_has(t, i, PACKED_CLASSES))
			continue;
		const struct trace_site *s = packed_look_times(t, i, &room);
		if (!s)
			return -1;
		for (uint32_t k = 0; k < s->edge_count; k++) {
			const struct trace_classes *c = s->edges[k].classes;
			*any |= c != NULL;
			for (uint32_t n = 0; c && n < c->count; n++)
				*all += histogram_sum(&c->each[n].compute);
		}
		packed_leave(t, &room);
	}
	return 0;
}

void classes_put(struct writer *w, struct diagram_file *maps, const struct trace *t, bool final)
{
	bool any;
	struct writer heads = {0}, times = {0};
	struct putting p = {.heads = &heads, .times = &times, .maps = maps, .trace = t};
	if (sum_classes(t, &p.all, &any) != 0 || (any && !(p.visits = histogram_visits_new(t))))
		w->failed = true;
	if (w->failed || !any)
		return;
	p.block = final ? entropy_block_new() : NULL;
	w->failed |= final && !p.block;
	for (uint32_t i = 0; i < t->site_count && !w->failed; i++) {
		struct trace_site room;
		if (!packed_has(t, i, PACKED_CLASSES))
			continue;
		const struct trace_site *s = packed_look_times(t, i, &room);
		w->failed |= !s;
		if (!s)
			break;
		put_site_classes(&p, i, s);
		packed_leave(t, &room);
	}
	writer_uint(w, p.edges);
	writer_bytes(w, heads.data, heads.size);
	if (final)
		entropy_block_put(w, p.block);
	else
		writer_bytes(w, times.data, times.size);
	w->failed |= heads.failed || times.failed;
	writer_free(&heads);
	writer_free(&times);
	histogram_visits_free(p.visits, t);
}

/* ---- from a file ---- */

static int get_group(struct reader *r, const struct diagram_file *maps, const struct rankmap *domain,
                     struct trace_column *c)
{
	struct trace_group g = {0};
	struct rankmap ranks = {0};
	int rv = rankmap_file_get_ranks(r, maps, &ranks, domain);
	uint64_t pattern = reader_uint(r);
	size_t count = reader_count(r);
	if (rv != 0 || r->bad || rankmap_empty(&ranks) || pattern > UINT32_MAX || count == 0 || count > UINT32_MAX ||
	    !(g.dict = budget_calloc(count, sizeof *g.dict)))
		rv = -1;
	g.pattern = (uint32_t)pattern;
	while (rv == 0 && g.count < count) {
		struct trace_stretch *s = &g.dict[g.count++];
		s->count = 1;
		rv = rankmap_file_get(r, maps, &s->start, &ranks, true);
	}
	rankmap_free(&ranks);
	if (rv == 0 && rankmap_empty(trace_group_ranks(&g)))
		rv = -1;
	if (rv != 0) {
		trace_group_free(&g);
		return -1;
	}
	return trace_add_group_take(c, &g);
}

static int get_edge(struct reader *r, const struct diagram_file *maps, const struct rankmap *visits,
                    struct trace_edge *edge)
{
	uint64_t head = reader_uint(r), key = 0;
	struct trace_classes *c = edge->classes || head >> 1 > CLASS_KEYS ? NULL : classes_make(edge);
	if (!c)
		return -1;
	c->finished = head & 1;
	for (uint64_t i = 0; i < head >> 1; i++) {
		key += reader_uint(r) + (i > 0);
		if (r->bad || key >= CLASS_KEYS || !classes_add(c, (uint32_t)key))
			return -1;
	}
	for (size_t n = reader_count(r); n > 0; n--)
		if (get_group(r, maps, visits, &c->column) != 0)
			return -1;
	trace_sort_groups(&c->column);
	if (reader_uint(r) != 1)
		return r->bad ? -1 : 0;
	struct rankmap ranks = {0};
	int rv = rankmap_file_get_ranks(r, maps, &ranks, visits);
	if (rv == 0)
		rv = rankmap_file_get(r, maps, &c->mean, &ranks, false);
	rankmap_free(&ranks);
	return r->bad ? -1 : rv;
}

/* The heads of all edges: which they are is checked, and that they ascend. */
static int get_heads(struct reader *r, const struct diagram_file *maps, struct trace *t)
{
	uint64_t site = 0, next = 0;
	for (size_t n = reader_count(r); n > 0; n--) {
		uint64_t further = reader_uint(r), edge = reader_uint(r);
		if (r->bad || further >= t->site_count - site || edge > UINT32_MAX)
			return -1;
		site += further;
		next = further ? edge : next + edge;
		struct trace_site room, *s = packed_open_times(t, (uint32_t)site, &room);
		if (!s)
			return -1;
		int rv = next < s->edge_count ? get_edge(r, maps, &s->visits, &s->edges[next]) : -1;
		if (packed_close_times(t, (uint32_t)site, s) != 0 || rv != 0)
			return -1;
		next++;
	}
	return r->bad ? -1 : 0;
}

static int get_counts(struct reader *r, struct entropy_source *source, struct histogram_place p, struct trace_class *k,
                      uint32_t counter)
{
	struct histogram one = {0};
	p.at = HISTOGRAM_CONTEXTS;
	if ((source ? histogram_get(&source->coder, &p, &one, k->compute.count) : histogram_unpack(r, &one)) != 0 ||
	    (one.count && !counts_make(&k->counts))) {
		histogram_free(&one);
		return -1;
	}
	if (one.count)
		k->counts[counter] = one;
	return 0;
}

static int get_times(struct reader *r, struct entropy_source *source, const struct histogram_place *p,
                     const struct trace_edge *edge, uint32_t counters)
{
	uint64_t left = edge->compute.count;
	struct trace_classes *c = edge->classes;
	for (uint32_t i = 0; i < c->count; i++) {
		struct histogram *h = &c->each[i].compute;
		if (source ? histogram_get(&source->coder, p, h, i + 1 == c->count ? left : 0) != 0
		           : histogram_unpack(r, h) != 0)
			return -1;
		left -= h->count;
	}
	for (uint32_t counter = 0; counter < counters; counter++)
		for (uint32_t i = 0; i < c->count; i++)
			if (get_counts(r, source, *p, &c->each[i], counter) != 0)
				return -1;
	return 0;
}

static int get_site_times(struct reader *r, struct entropy_source *source, const struct histogram_visits *visits,
                          struct trace *t, uint32_t i)
{
	int rv = 0;
	struct trace_site room, *s = packed_open_times(t, i, &room);
	if (!s)
		return -1;
	for (uint32_t k = 0; rv == 0 && k < s->edge_count; k++) {
		struct histogram_place p = class_place(t, visits, i, s->edges[k].to, 0);
		if (s->edges[k].classes)
			rv = get_times(r, source, &p, &s->edges[k], t->counter_count);
	}
	return packed_close_times(t, i, s) != 0 ? -1 : rv;
}

int classes_get(struct reader *r, const struct diagram_file *maps, struct trace *t, bool final)
{
	int rv = t->site_count ? get_heads(r, maps, t) : -1;
	struct histogram_visits *visits = rv == 0 ? histogram_visits_new(t) : NULL;
	struct entropy_source *source = visits && final ? entropy_source_new(r) : NULL;
	if (!visits || (final && !source))
		rv = -1;
	for (uint32_t i = 0; rv == 0 && i < t->site_count; i++)
		rv = get_site_times(r, source, visits, t, i);
	if (source && entropy_source_end(source) != 0)
		rv = -1;
	histogram_visits_free(visits, t);
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}
