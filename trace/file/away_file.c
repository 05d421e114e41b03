/* SPDX-License-Identifier: BSD-3-Clause
 * away_file - the stored form of how long ranks were off the processor: the chunk AWAY
 *
 * Invariant: edges ascend; of each, a map of its ranks. In a part they may be in any order.
 */
#include "trace/file/away_file.h"

#include "trace/base/budget.h"
#include "trace/file/rankmap_file.h"
#include "trace/model/away.h"

bool away_has(const struct trace *t)
{
	return t->away_count || !rankmap_empty(&t->before) || !rankmap_empty(&t->queued);
}

static bool same_edge(const struct trace_away *a, const struct trace_away *b)
{
	return a->from == b->from && a->to == b->to;
}

/* Rows of one edge; where a rank has two of them (in a part), only so far. Returns how many. */
static uint32_t put_edge(struct writer *w, struct diagram_file *maps, const struct trace *t, uint32_t first)
{
	struct rankmap_builder b = {.references = false};
	struct rankmap map = {0};
	const struct trace_away *a = &t->away[first];
	uint32_t n = 0;
	do {
		rankmap_add(&b, (struct rank_piece){a[n].rank, 1, 1, (int64_t)a[n].us, 0});
		n++;
	} while (first + n < t->away_count && same_edge(a, &a[n]) && a[n].rank > a[n - 1].rank);
	w->failed = rankmap_take(&b, &map) != 0 || w->failed;
	writer_uint(w, a->from);
	writer_uint(w, a->to);
	rankmap_file_put_ranks(w, maps, &map, &t->events);
	rankmap_file_put(w, maps, &map);
	rankmap_free(&map);
	return n;
}

static uint32_t count_edges(const struct trace *t)
{
	uint32_t edges = 0;
	for (uint32_t i = 0; i < t->away_count; i++)
		edges += i == 0 || !same_edge(&t->away[i], &t->away[i - 1]) || t->away[i].rank <= t->away[i - 1].rank;
	return edges;
}

void away_put(struct writer *w, struct diagram_file *maps, const struct trace *t)
{
	const struct rankmap *each[] = {&t->before, &t->queued};
	writer_uint(w, count_edges(t));
	for (uint32_t i = 0; i < t->away_count && !w->failed;)
		i += put_edge(w, maps, t, i);
	for (unsigned i = 0; i < 2; i++) {
		writer_uint(w, !rankmap_empty(each[i]));
		if (rankmap_empty(each[i]))
			continue;
		rankmap_file_put_ranks(w, maps, each[i], &t->events);
		rankmap_file_put(w, maps, each[i]);
	}
}

static int get_map(struct reader *r, const struct diagram_file *maps, const struct trace *t, struct rankmap *m)
{
	struct rankmap ranks = {0};
	int64_t value;
	int rv = -1;
	if (rankmap_file_get_ranks(r, maps, &ranks, &t->events) == 0 && !rankmap_empty(&ranks))
		rv = rankmap_file_get(r, maps, m, &ranks, false);
	rankmap_free(&ranks);
	for (uint64_t i = 0; rv == 0 && rankmap_next(m, &i, &value); i++)
		if (!budget_step(1) || value < 0 || value >= (int64_t)AWAY_SANE)
			rv = -1;
	return rv;
}

static int get_edge(struct reader *r, const struct diagram_file *maps, struct trace *t)
{
	struct rankmap map = {0};
	int64_t value;
	uint64_t from = reader_uint(r), to = reader_uint(r);
	int rv = r->bad || from >= t->site_count || to >= t->site_count ? -1 : get_map(r, maps, t, &map);
	for (uint64_t i = 0; rv == 0 && rankmap_next(&map, &i, &value); i++) {
		const struct trace_away a = {(uint32_t)from, (uint32_t)to, (uint32_t)i, (uint64_t)value};
		rv = budget_step(1) ? away_add(t, &a) : -1;
	}
	rankmap_free(&map);
	return rv;
}

int away_get(struct reader *r, const struct diagram_file *maps, struct trace *t)
{
	struct rankmap *each[] = {&t->before, &t->queued};
	for (size_t n = reader_count(r); n > 0; n--)
		if (get_edge(r, maps, t) != 0)
			return -1;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t any = reader_uint(r);
		if (r->bad || any > 1 || (any && get_map(r, maps, t, each[i]) != 0))
			return -1;
	}
	away_order(t);
	return r->bad || r->at != r->end ? -1 : 0;
}
