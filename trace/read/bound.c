/* SPDX-License-Identifier: BSD-3-Clause
 * bound - how large a lossy trace can get
 */
#include "trace/read/bound.h"

#include "trace/model/pattern.h"

/* Bytes in the worst case, of numbers as doc/trace-format.md writes them. */
enum {
	NUMBER = 5, /* of something that there are less than 2^32 of */
	UINT = 10,  /* any */
	VALUE = 11,
	NODE = NUMBER + NUMBER + VALUE, /* of a diagram; pieces are written only if they are shorter */
	MAP = 1 + NUMBER + VALUE,       /* besides its nodes */
	SET = 1 + 2 * NUMBER,
	SYMBOL = 2 * NUMBER + UINT, /* with the exponent, and the share of a rule and of its pattern */
	GROUP = SET + NUMBER + UINT,
	STRETCH = UINT + 2 * MAP,
	ELEMENT = MAP + UINT + UINT, /* of an array */
	BIN = VALUE + 3 * UINT,      /* of a tally */
	CODED = 14,                  /* a number of the range coder, if each bit of its length costs the most */
	TIME = 12 * CODED,           /* a histogram without its bins */
	TIME_BIN = 5 * CODED,
	SITE_TIMES = 6 * CODED, /* what ranks spent, and the number of edges */
	ROW = 32,               /* of the table of chunks, and its header */
};

struct column_entries {
	uint64_t tokens, nodes, stretches, bins;
};

static uint64_t nodes_of(const struct trace_group *g)
{
	uint64_t nodes = 0;
	for (uint32_t k = 0; k < g->count; k++) {
		nodes += g->dict[k].start.node_count + g->dict[k].stride.node_count;
		for (uint32_t i = 0; i < g->dict[k].width; i++)
			nodes += g->dict[k].elements[i].node_count;
	}
	return nodes;
}

static uint64_t bins_of(const struct trace_lossy *l)
{
	uint64_t bins = l->values.count + (uint64_t)l->elements.count;
	for (uint32_t i = 0; i < l->next_count; i++)
		bins += l->next[i].runs.count;
	return bins;
}

/* Bins of constants, of which there are as many as the program has names for. */
static uint64_t constants_of(const struct trace_lossy *l)
{
	return tally_constants(&l->values) + (uint64_t)tally_constants(&l->elements);
}

static struct column_entries entries_of(const struct trace *t, const struct trace_column *c, uint64_t *constants)
{
	struct column_entries e = {0};
	for (uint32_t i = 0; i < c->count; i++) {
		const struct trace_group *g = &c->groups[i];
		struct pattern p;
		if (g->lossy) {
			e.bins += bins_of(g->lossy);
			*constants += constants_of(g->lossy);
			continue;
		}
		e.nodes += nodes_of(g);
		e.stretches += g->count;
		if (!g->pattern)
			continue;
		const struct pool_item *bytes = &t->patterns.items[g->pattern - 1];
		if (pattern_parse(&p, bytes->bytes, bytes->size) == 0)
			e.tokens += pattern_symbols(&p);
		pattern_free(&p);
	}
	return e;
}

/* The most elements of an array of the column. */
static uint64_t width_of(const struct trace *t, const struct trace_column *c)
{
	uint64_t most = 0;
	for (uint32_t i = 0; i < c->count; i++)
		for (uint32_t k = 0; k < c->groups[i].count; k++)
			most = c->groups[i].dict[k].width > most ? c->groups[i].dict[k].width : most;
	for (uint32_t i = 0; i < t->vector_pool.count; i++)
		most = t->vector_pool.items[i].size / sizeof(int64_t) > most
		               ? t->vector_pool.items[i].size / sizeof(int64_t)
		               : most;
	return most;
}

static void add_column(struct bound *b, const struct trace *t, const struct trace_site *s, uint32_t column, bool object)
{
	const struct trace_column *c = &s->columns[column];
	const struct schema *schema = trace_schema(t, s);
	bool successor = column >= schema->count, vector = !successor && schema->column[column].vector;
	uint64_t n = t->loss.threshold < UINT32_MAX ? t->loss.threshold : UINT32_MAX, constants = 0,
		 tallies = successor ? s->edge_count
	                   : vector  ? 2
	                             : 1;
	struct column_entries e = entries_of(t, c, &constants);
	uint64_t width = vector ? width_of(t, c) : 0;
	/* what it may be: as long as it is in order, and then; a constant has a stretch, and successors of single ranks
	 * stay what they are */
	struct column_entries most = {
		.tokens = n, .nodes = 4 * n + 16, .stretches = n + 2, .bins = tallies * TALLY_EXACT + constants};

	b->columns++;
	b->entries += e.tokens + e.nodes + e.stretches + e.bins;
	if (object || (!t->loss.structure && schema_exact(schema, column))) {
		b->exact++;
		most = e;
	}
	b->entries_most += most.tokens + most.nodes + most.stretches + most.bins;
	b->bytes_most += NUMBER + GROUP + most.tokens * (SYMBOL + GROUP) + 2 * most.nodes * NODE +
	                 most.stretches * (STRETCH + GROUP) + (most.stretches + most.nodes) * width * ELEMENT +
	                 s->visits.node_count * NODE + 1 + UINT + tallies * (NUMBER + UINT) + most.bins * BIN;
}

static void add_means(struct bound *b, const struct trace_means *m)
{
	if (!rankmap_empty(&m->map))
		b->bytes_most += 2 * UINT + SET + MAP + 2 * m->map.node_count * (uint64_t)NODE;
}

static void add_site(struct bound *b, const struct trace *t, const struct trace_site *s, bool object)
{
	uint64_t k = t->bins ? t->bins : HISTOGRAM_BINS, histograms = 1 + (uint64_t)s->edge_count;
	b->behaviours += s->visits.node_count;
	b->bytes_most += 2 * NUMBER + SET + MAP + 2 * s->visits.node_count * (uint64_t)NODE;
	for (uint32_t i = 0; i < s->column_count; i++)
		add_column(b, t, s, i, object);
	if (object)
		return;
	b->sites++;
	add_means(b, &s->means);
	b->edges += s->edge_count;
	for (uint32_t i = 0; i <= s->edge_count; i++)
		b->entries += (i ? s->edges[i - 1].compute : s->communicate).bin_count;
	b->entries_most += histograms * k;
	b->bytes_most += SITE_TIMES + histograms * (1 + t->counter_count) * (TIME + k * TIME_BIN);
}

int bound_make(struct bound *b, const struct trace *t)
{
	const struct rankmap *const ranks[] = {&t->events,    &t->first,       &t->host,  &t->lost,
	                                       &t->in_flight, &t->host_number, &t->cpus,  &t->first_cpu,
	                                       &t->topology,  &t->before,      &t->queued};

	*b = (struct bound){0};
	if (!t->loss.lossy)
		return 1;
	b->bytes_most = 24 * ROW + NUMBER * 16;
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		b->behaviours += ranks[i]->node_count;
		b->bytes_most += 1 + SET + MAP + 2 * ranks[i]->node_count * (uint64_t)NODE;
	}
	for (uint32_t i = 0; i < t->strings.count; i++)
		b->bytes_most += NUMBER + t->strings.items[i].size;
	b->bytes_most += t->module_count * (uint64_t)(2 * NUMBER) + t->node_count * (uint64_t)(2 * NUMBER + UINT) +
	                 t->function_count * (uint64_t)NUMBER;
	b->bytes_most += TRACE_STAGES * 2 * UINT + 2 * UINT;
	for (int i = 0; i < TRACE_TOTALS; i++) { /* a level for each rank of a small world */
		b->bytes_most += 7 * CODED + (t->total[i].ranks ? t->total[i].count : 0) * CODED;
		add_means(b, &t->total[i].means);
	}
	for (uint32_t i = 0; i < t->site_count; i++)
		add_site(b, t, &t->sites[i], false);
	for (uint32_t i = 0; i < t->object_count; i++)
		add_site(b, t, &t->objects[i], true);
	return 0;
}
