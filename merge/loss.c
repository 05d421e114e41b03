/* SPDX-License-Identifier: BSD-3-Clause
 * loss - what lossy modes do to a trace of many ranks
 */
#include "merge/loss.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/record/lossy.h"
#include "trace/model/packed.h"
#include "trace/model/pattern.h"

void loss_merge(struct trace_loss *to, const struct trace_loss *from)
{
	if (from->lossy && (!to->lossy || from->threshold < to->threshold))
		to->threshold = from->threshold;
	to->lossy |= from->lossy;
	to->structure |= from->structure;
	for (int i = 0; i < TRACE_STAGES; i++) {
		if (from->stage[i].ranks && (!to->stage[i].ranks || from->stage[i].since < to->stage[i].since))
			to->stage[i].since = from->stage[i].since;
		to->stage[i].ranks += from->stage[i].ranks;
	}
}

struct taking {
	const struct trace *trace;
	struct trace_lossy *lossy;
	enum reference reference;
	const struct trace_group *group;
	uint32_t rank;
};

/* Element i of an array value of the rank under way: numbers from those of the pool on are stretches of the group. */
static int64_t vector_element(const struct taking *k, int64_t number, size_t i)
{
	int64_t v = 0;
	if (number < k->trace->vector_pool.count)
		memcpy(&v, k->trace->vector_pool.items[number].bytes + i * sizeof v, sizeof v);
	else
		rankmap_get(&k->group->dict[number - k->trace->vector_pool.count].elements[i], k->rank, &v);
	return v;
}

static int take_value(void *context, int64_t start, int64_t stride, uint64_t count, uint64_t times)
{
	struct taking *k = context;
	struct trace_lossy *l = k->lossy;
	if (k->reference != REFERENCE_VECTOR || value_is_constant(start))
		return tally_add_run(&l->values, start, stride, count, times);
	size_t n = start < k->trace->vector_pool.count ? k->trace->vector_pool.items[start].size / sizeof(int64_t)
	                                               : k->group->dict[start - k->trace->vector_pool.count].width;
	if (tally_add(&l->values, (int64_t)n, times) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (tally_add(&l->elements, vector_element(k, start, i), times) != 0)
			return -1;
	return 0;
}

static int take_run(void *context, int64_t value, uint64_t length, uint64_t runs)
{
	struct taking *k = context;
	struct tally *t = trace_next(k->lossy, (uint32_t)value);
	return t ? tally_add(t, (int64_t)length, runs) : -1;
}

/* An array of a group of edits. */
static int take_array(void *context, const int64_t *values, size_t n)
{
	const struct taking *k = context;
	return lossy_add_vector(&k->lossy->values, &k->lossy->elements, values, n, 1) ? 0 : -1;
}

/* Counts what one rank has in a group. */
static int take_rank(struct taking *k, const struct trace_site *s, const struct trace_group *g, const struct pattern *p,
                     uint32_t rank)
{
	int rv = -1;
	int64_t visits, last;
	uint64_t length, first = 0;
	if (g->edits)
		return trace_edits_each(k->trace, g, rank, take_array, k);
	struct dict_run *dict = budget_calloc(g->count, sizeof *dict);
	if (!dict)
		return -1;
	k->group = g;
	k->rank = rank;
	for (uint32_t i = 0; i < g->count; i++) {
		dict[i].count = g->dict[i].count;
		dict[i].first = first;
		first += dict[i].count;
		if (g->dict[i].vector)
			dict[i].start = (int64_t)k->trace->vector_pool.count + i;
		else if (!rankmap_get(&g->dict[i].start, rank, &dict[i].start) ||
		         (dict[i].count > 1 && !rankmap_get(&g->dict[i].stride, rank, &dict[i].stride)))
			goto done;
	}
	if (!g->pattern)
		rv = rankmap_get(&s->visits, rank, &visits) ? take_value(k, dict[0].start, 0, 1, (uint64_t)visits) : -1;
	else if (k->reference != REFERENCE_SITE)
		rv = pattern_each(p, dict, g->count, take_value, k);
	else if ((rv = pattern_runs(p, dict, g->count, take_run, k, &last, &length)) == 0 && length)
		rv = take_run(k, last, length, 1);
done:
	budget_free(dict);
	return rv;
}

/* Adds what a group without order counted. */
static int take_lossy(struct trace_lossy *to, const struct trace_lossy *from)
{
	to->why |= from->why;
	int bad = tally_merge(&to->values, &from->values) | tally_merge(&to->elements, &from->elements);
	for (uint32_t n = 0; !bad && n < from->next_count; n++) {
		struct tally *runs = trace_next(to, from->next[n].to);
		bad = !runs || tally_merge(runs, &from->next[n].runs);
	}
	return bad ? -1 : 0;
}

/* Counts what all ranks have in a group. */
static int take_group(struct taking *k, const struct trace_site *s, const struct trace_group *g)
{
	int rv = 0;
	int64_t value;
	struct pattern p = {0};
	if (g->lossy)
		return take_lossy(k->lossy, g->lossy);
	if (g->pattern)
		rv = pattern_parse(&p, k->trace->patterns.items[g->pattern - 1].bytes,
		                   k->trace->patterns.items[g->pattern - 1].size);
	for (uint64_t rank = 0; rv == 0 && rankmap_next(trace_group_ranks(g), &rank, &value); rank++)
		rv = take_rank(k, s, g, &p, (uint32_t)rank);
	pattern_free(&p);
	return rv;
}

/* Constant successors are in order as they are. */
static bool gives_up(const struct trace_group *g, enum reference reference)
{
	return g->pattern || g->lossy || reference != REFERENCE_SITE;
}

/* Makes all groups of a column one without order, those that need not be excepted. */
static int give_up(struct trace *t, const struct trace_site *s, struct trace_column *c, enum reference reference)
{
	int rv = 0;
	struct trace_column old = *c;
	struct trace_group all = {0};
	struct rankmap ranks = {0};
	struct taking k = {.trace = t, .reference = reference};
	*c = (struct trace_column){0};
	for (uint32_t i = 0; rv == 0 && i < old.count; i++)
		if (gives_up(&old.groups[i], reference))
			rv = rankmap_union(&ranks, &ranks, trace_group_ranks(&old.groups[i]));
	if (rv == 0)
		rv = trace_group_lossy(&all, &ranks);
	if (rv == 0) {
		k.lossy = all.lossy;
		all.lossy->why = WHY_RANKS;
		all.lossy->since = 0;
	}
	for (uint32_t i = 0; rv == 0 && i < old.count; i++)
		if (gives_up(&old.groups[i], reference))
			rv = take_group(&k, s, &old.groups[i]);
	if (rv == 0 && reference == REFERENCE_STRING)
		rv = trace_tally_fold(t, &all.lossy->values);
	for (uint32_t i = 0; rv == 0 && i < old.count; i++)
		if (!gives_up(&old.groups[i], reference)) {
			struct trace_group g = old.groups[i];
			old.groups[i] = (struct trace_group){0};
			rv = trace_add_group_take(c, &g);
		}
	if (rv == 0)
		rv = trace_add_group_take(c, &all);
	rankmap_free(&ranks);
	trace_group_free(&all);
	trace_column_free(&old);
	return rv;
}

/* Tokens of all groups: symbols of the patterns, which stand for their dictionaries as well; and what ranks differ by,
 * at a quarter of that. */
static bool too_long(const struct trace *t, const struct trace_column *c, uint64_t threshold)
{
	uint64_t tokens = 0, nodes = 0;
	bool any = false;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct trace_group *g = &c->groups[i];
		uint64_t stretches = 0;
		if (g->lossy)
			continue;
		any = true;
		for (uint32_t k = 0; k < g->count; k++, stretches++) {
			nodes += g->dict[k].start.node_count + g->dict[k].stride.node_count;
			for (uint32_t i = 0; i < g->dict[k].width; i++)
				nodes += g->dict[k].elements[i].node_count;
		}
		if (!g->pattern)
			continue;
		struct pattern p;
		uint64_t symbols = 0;
		if (pattern_parse(&p, t->patterns.items[g->pattern - 1].bytes,
		                  t->patterns.items[g->pattern - 1].size) == 0)
			symbols = pattern_symbols(&p);
		pattern_free(&p);
		tokens += symbols > stretches ? symbols : stretches;
	}
	return any && (tokens > threshold || nodes > 4 * threshold + 16);
}

static void balance(struct trace_lossy *l)
{
	tally_balance(&l->values, TALLY_BINS);
	tally_balance(&l->elements, TALLY_BINS);
	for (uint32_t i = 0; i < l->next_count; i++)
		tally_balance(&l->next[i].runs, TALLY_BINS);
}

static int finish_site(struct trace *t, struct trace_site *s)
{
	int changed = 0;
	const struct schema *schema = trace_schema(t, s);
	for (uint32_t k = 0; k < s->column_count; k++) {
		struct trace_column *c = &s->columns[k];
		enum reference reference = schema_reference(schema, k);
		bool patterns = false;
		for (uint32_t g = 0; g < c->count; g++)
			patterns |= c->groups[g].pattern != 0 || c->groups[g].edits ||
			            (reference != REFERENCE_SITE && !c->groups[g].lossy);
		if (t->loss.lossy && patterns && (t->loss.structure || !schema_exact(schema, k)) &&
		    too_long(t, c, t->loss.threshold)) {
			if (give_up(t, s, c, reference) != 0)
				return -1;
			changed++;
		}
		for (uint32_t g = 0; g < c->count; g++)
			if (c->groups[g].lossy)
				balance(c->groups[g].lossy);
	}
	return changed;
}

int loss_finish(struct trace *t)
{
	return packed_change(t, t->loss.lossy ? 0 : PACKED_UNORDERED, finish_site);
}
