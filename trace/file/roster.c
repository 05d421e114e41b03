/* SPDX-License-Identifier: BSD-3-Clause
 * roster - one list of values of which each rank has some
 */
#include "trace/file/roster.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/varint.h"
#include "trace/model/value.h"
#include "trace/model/rankset.h"

/* Ranks that have the same items. A grid of d dimensions has 3^d kinds of border. */
#define MAX_CLASSES  100
#define MAX_LENGTH   128 /* values of a rank */
#define LEAST_VALUES 8   /* of all groups: fewer are cheap anyway */

void roster_free(struct roster *r)
{
	rankmap_free(&r->ranks);
	for (uint32_t k = 0; k < ROSTER_WIDTH; k++)
		rankmap_free(&r->from[k].map);
	for (uint32_t i = 0; i < r->count; i++)
		rankmap_free(&r->items[i].ranks);
	budget_free(r->items);
	*r = (struct roster){.count = 0};
}

void roster_maps_find(struct roster_maps *x, const struct trace *t)
{
	x->count = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].column_count; k++) {
			const struct trace_column *c = &t->sites[i].columns[k];
			if (c->count != 1 || c->groups[0].pattern || c->groups[0].lossy ||
			    !c->groups[0].dict[0].vector ||
			    !rankmap_same_ranks(trace_group_ranks(&c->groups[0]), &t->events))
				continue;
			const struct trace_stretch *s = &c->groups[0].dict[0];
			for (uint32_t e = 0; e < s->width && x->count < ROSTER_MAPS; e++)
				if (!rankmap_constant(&s->elements[e], NULL))
					x->map[x->count++] = &s->elements[e];
		}
}

/* The ranks of a set, each with its number. */
static int identity(struct rankmap *out, const struct rankmap *set)
{
	struct rank_loom loom = {0};
	struct rankmap all = {0};
	struct rank_edge e = {RANK_PLAIN, 0};
	for (uint32_t level = 0; level < set->level; level++)
		e = rank_edge_make(&loom, e, (struct rank_edge){e.to, INT64_C(1) << level});
	int rv = rank_loom_map(&loom, e, set->level, &all) != 0 || rankmap_restrict(out, &all, set) != 0 ? -1 : 0;
	rank_loom_free(&loom);
	rankmap_free(&all);
	return rv;
}

/* What the values of these ranks are offsets from. Returns 0; 1 if the map has not all of them; or -1. */
static int base_of(struct rankmap *out, const struct rankmap *map, enum roster_base base, const struct rankmap *set)
{
	*out = (struct rankmap){0};
	if (base == ROSTER_NOTHING)
		return rankmap_fill(out, set, 0, false);
	if (base == ROSTER_RANK)
		return identity(out, set);
	if (rankmap_restrict(out, map, set) != 0)
		return -1;
	if (rankmap_same_ranks(out, set))
		return 0;
	rankmap_free(out);
	return 1;
}

/* Reading: the classes of ranks that have the same items. */

struct rank_class {
	struct rankmap ranks;
	uint32_t n;
	uint32_t items[MAX_LENGTH];
};

static void classes_free(struct rank_class *classes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rankmap_free(&classes[i].ranks);
	budget_free(classes);
}

static int split_by(struct rank_class *classes, uint32_t *count, const struct rankmap *set, uint32_t item)
{
	for (uint32_t i = 0, n = *count; i < n; i++) {
		struct rankmap in, out;
		if (rankmap_restrict(&in, &classes[i].ranks, set) != 0)
			return -1;
		if (rankmap_empty(&in)) {
			rankmap_free(&in);
			continue;
		}
		if (classes[i].n == MAX_LENGTH || rankset_without(&out, &classes[i].ranks, &in) != 0) {
			int rv = classes[i].n == MAX_LENGTH ? 1 : -1;
			rankmap_free(&in);
			return rv;
		}
		if (!rankmap_empty(&out)) {
			if (*count == MAX_CLASSES) {
				rankmap_free(&in);
				rankmap_free(&out);
				return 1;
			}
			classes[*count] = classes[i];
			classes[(*count)++].ranks = out;
		}
		rankmap_free(&classes[i].ranks);
		classes[i].ranks = in;
		classes[i].items[classes[i].n++] = item;
	}
	return 0;
}

/* The value of an item for the ranks of a class. */
static int value_of(struct trace_stretch *s, const struct roster *r, const struct roster_item *item,
                    const struct rankmap *bases, const struct rankmap *set)
{
	*s = (struct trace_stretch){.count = 1, .vector = r->vector};
	if (r->vector && (rankmap_fill(&s->start, set, 0, false) != 0 ||
	                  !(s->elements = budget_calloc(r->width, sizeof *s->elements))))
		return -1;
	for (uint32_t k = 0; k < r->width; k++) {
		struct rankmap *m = r->vector ? &s->elements[s->width++] : &s->start;
		if (rankmap_restrict(m, &bases[k], set) != 0)
			return -1;
		m->base = (int64_t)((uint64_t)m->base + (uint64_t)item->offset[k]);
	}
	return 0;
}

/* All values of a class are new: the pattern of n visits. The trace has it, or the roster is none of its. */
static uint32_t pattern_of(const struct trace *t, uint32_t n)
{
	struct writer w = {0};
	writer_uint(&w, 1);
	writer_uint(&w, 1);
	writer_uint(&w, 1);
	writer_uint(&w, n);
	uint32_t number = w.failed ? UINT32_MAX : pool_find(&t->patterns, w.data, w.size);
	writer_free(&w);
	return number;
}

static int add_class(const struct roster *r, const struct trace *t, const struct rankmap *bases,
                     const struct rank_class *class, struct trace_column *c, uint32_t from)
{
	int rv = -1;
	uint32_t pattern = pattern_of(t, class->n);
	struct trace_group g = {.pattern = pattern + 1};
	if (class->n < 2 || pattern == UINT32_MAX)
		return 1;
	g.dict = budget_calloc(class->n, sizeof *g.dict);
	while (g.dict && g.count < class->n) {
		uint32_t i = g.count++;
		if (value_of(&g.dict[i], r, &r->items[class->items[i]], bases, &class->ranks) != 0)
			goto done;
	}
	if (!g.dict)
		return -1;
	return trace_join_group(c, from, &g);
done:
	trace_group_free(&g);
	return rv;
}

int roster_expand(const struct roster *r, const struct trace *t, struct trace_column *c)
{
	int rv = 0;
	uint32_t count = 1, from = c->count;
	struct rankmap bases[ROSTER_WIDTH] = {{0}};
	struct rank_class *classes = budget_calloc(MAX_CLASSES, sizeof *classes);
	if (!classes || rankmap_copy(&classes[0].ranks, &r->ranks) != 0) {
		budget_free(classes);
		return -1;
	}
	for (uint32_t k = 0; rv == 0 && k < r->width; k++)
		rv = base_of(&bases[k], &r->from[k].map, r->from[k].base, &r->ranks);
	for (uint32_t i = 0; rv == 0 && i < r->count; i++)
		rv = split_by(classes, &count, &r->items[i].ranks, i);
	for (uint32_t i = 0; rv == 0 && i < count; i++)
		rv = add_class(r, t, bases, &classes[i], c, from);
	for (uint32_t k = 0; k < ROSTER_WIDTH; k++)
		rankmap_free(&bases[k]);
	classes_free(classes, count);
	return rv;
}

/* Writing: finding the offsets, the classes, and the order of all items. */

struct finding {
	struct roster *roster;
	const struct trace_column *column;
	const bool *take;
	struct rankmap *offsets; /* of the group at hand: MAX_LENGTH * width */
	struct rank_class *classes;
	uint32_t count;
};

static const struct rankmap *component(const struct trace_stretch *s, uint32_t k)
{
	return s->vector ? &s->elements[k] : &s->start;
}

static int offsets_of(struct rankmap *out, const struct rankmap *m, const struct rankmap *map, enum roster_base base)
{
	struct rankmap b;
	int rv = base_of(&b, map, base, m);
	if (rv != 0)
		return rv;
	rv = rankmap_sum_of(out, m, &b, UINT64_MAX) != 0; /* constants, or no memory */
	rankmap_free(&b);
	return rv;
}

/* How many different offsets all values together have, one by one; UINT64_MAX: too many, or more than `most`. Returns 0
 * or -1. */
static int count_offsets(const struct finding *f, uint32_t k, const struct rankmap *map, enum roster_base base,
                         uint64_t most, uint64_t *sum)
{
	int64_t values[MAX_CLASSES];
	*sum = 0;
	for (uint32_t g = 0; g < f->column->count; g++)
		for (uint32_t i = 0; f->take[g] && i < f->column->groups[g].count; i++) {
			struct rankmap offsets = {0};
			int rv = offsets_of(&offsets, component(&f->column->groups[g].dict[i], k), map, base),
			    n = rv == 0 ? rankset_values(&offsets, values, MAX_CLASSES) : 0;
			rankmap_free(&offsets);
			if (rv < 0 || n < 0)
				return -1;
			*sum += (uint64_t)n;
			if (n == 0 || *sum > most) {
				*sum = UINT64_MAX;
				return 0;
			}
		}
	return 0;
}

/* Returns 1 if there is one; 0; or -1. */
static int choose_base(struct finding *f, uint32_t k, const struct roster_maps *maps)
{
	uint64_t least = UINT64_MAX - 1, sum;
	int chosen = -1;
	for (int i = 0; i < 2 + (int)maps->count; i++) {
		enum roster_base base = i < 2 ? (enum roster_base)i : ROSTER_MAP;
		if (count_offsets(f, k, i < 2 ? NULL : maps->map[i - 2], base, least - 1, &sum) != 0)
			return -1;
		if (sum < least) {
			least = sum;
			chosen = i;
		}
	}
	if (chosen < 0)
		return 0;
	f->roster->from[k].base = chosen < 2 ? (enum roster_base)chosen : ROSTER_MAP;
	return chosen >= 2 && rankmap_copy(&f->roster->from[k].map, maps->map[chosen - 2]) != 0 ? -1 : 1;
}

/* The number of an item with these offsets; UINT32_MAX: too many. */
static uint32_t item_of(struct roster *r, const int64_t *offset)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (memcmp(r->items[i].offset, offset, r->width * sizeof *offset) == 0)
			return i;
	if (r->count == ROSTER_ITEMS)
		return UINT32_MAX;
	memcpy(r->items[r->count].offset, offset, r->width * sizeof *offset);
	return r->count++;
}

/* Splits classes so that each has one offset at each place; those of the group begin at `first`. Returns 0, 1 (too
 * many) or -1. */
static int split_group(struct finding *f, uint32_t g, uint32_t first)
{
	const struct trace_group *group = &f->column->groups[g];
	uint32_t width = f->roster->width;
	for (uint32_t i = 0; i < group->count; i++)
		for (uint32_t k = 0; k < width; k++)
			for (uint32_t c = first; c < f->count; c++) {
				int64_t values[MAX_CLASSES];
				struct rankmap part, ranks;
				if (rankmap_restrict(&part, &f->offsets[i * width + k], &f->classes[c].ranks) != 0)
					return -1;
				int n = rankset_values(&part, values, MAX_CLASSES), rv = 0;
				if (n <= 0 || f->count + (uint32_t)n - 1 > MAX_CLASSES)
					rv = n < 0 ? -1 : 1;
				for (int v = n; rv == 0 && v-- > (n > 1 ? 0 : 1);) {
					rv = rankset_where(&ranks, &part, values[v]);
					uint32_t at = v == 0 ? c : f->count++;
					if (v == 0)
						rankmap_free(&f->classes[c].ranks);
					f->classes[at].ranks = rv == 0 ? ranks : (struct rankmap){0};
				}
				rankmap_free(&part);
				if (rv != 0)
					return rv;
			}
	/* what each has, in order */
	for (uint32_t c = first; c < f->count; c++) {
		uint32_t rank = rankmap_first(&f->classes[c].ranks);
		f->classes[c].n = group->count;
		for (uint32_t i = 0; i < group->count; i++) {
			int64_t offset[ROSTER_WIDTH] = {0};
			for (uint32_t k = 0; k < width; k++)
				if (!rankmap_get(&f->offsets[i * width + k], rank, &offset[k]))
					return 1;
			f->classes[c].items[i] = item_of(f->roster, offset);
			if (f->classes[c].items[i] == UINT32_MAX)
				return 1;
		}
	}
	return 0;
}

static int classes_of(struct finding *f, uint32_t g)
{
	int rv = 0;
	const struct trace_group *group = &f->column->groups[g];
	uint32_t width = f->roster->width, first = f->count;
	if (f->count == MAX_CLASSES)
		return 1;
	for (uint32_t i = 0; rv == 0 && i < group->count; i++)
		for (uint32_t k = 0; rv == 0 && k < width; k++)
			rv = offsets_of(&f->offsets[i * width + k], component(&group->dict[i], k),
			                &f->roster->from[k].map, f->roster->from[k].base);
	if (rv == 0)
		rv = rankmap_fill(&f->classes[f->count++].ranks, trace_group_ranks(group), 0, false);
	if (rv == 0)
		rv = split_group(f, g, first);
	for (uint32_t i = 0; i < MAX_LENGTH * width; i++)
		rankmap_free(&f->offsets[i]);
	return rv;
}

/* An order of all items that agrees with that of each class: of those that may come next, the one that was met first.
 * Returns 0, 1 if there is none, -1. */
static int order_items(struct finding *f)
{
	struct roster *r = f->roster;
	uint32_t at[MAX_CLASSES] = {0}, made = 0;
	struct roster_item *ordered = budget_calloc(r->count + UINT64_C(1), sizeof *ordered);
	bool *done = budget_calloc(r->count + UINT64_C(1), sizeof *done);
	int rv = ordered && done ? 0 : -1;
	while (rv == 0 && made < r->count) {
		/* it may come next if it is the next one of all classes that still have it */
		uint32_t next = UINT32_MAX;
		for (uint32_t i = 0; i < r->count && next == UINT32_MAX; i++) {
			bool may = !done[i];
			for (uint32_t c = 0; may && c < f->count; c++)
				for (uint32_t k = at[c] + 1; may && k < f->classes[c].n; k++)
					may = f->classes[c].items[k] != i;
			if (may)
				next = i;
		}
		if (next == UINT32_MAX) {
			rv = 1;
			break;
		}
		done[next] = true;
		struct roster_item *item = &ordered[made++];
		memcpy(item->offset, r->items[next].offset, sizeof item->offset);
		for (uint32_t c = 0; rv == 0 && c < f->count; c++)
			if (at[c] < f->classes[c].n && f->classes[c].items[at[c]] == next) {
				at[c]++;
				rv = rankmap_union(&item->ranks, &item->ranks, &f->classes[c].ranks);
			}
	}
	if (rv == 0) {
		memcpy(r->items, ordered, r->count * sizeof *ordered);
	} else {
		for (uint32_t i = 0; ordered && i < made; i++)
			rankmap_free(&ordered[i].ranks);
		memset(r->items, 0, r->count * sizeof *r->items);
	}
	budget_free(ordered);
	budget_free(done);
	return rv;
}

static bool is_member(const struct trace *t, const struct trace_group *g, const struct trace_stretch *like)
{
	if (g->lossy || g->pattern == 0 || g->count < 2 || g->count > MAX_LENGTH ||
	    pattern_of(t, g->count) != g->pattern - 1)
		return false;
	for (uint32_t i = 0; i < g->count; i++)
		if (!trace_stretch_alike(&g->dict[i], like) || g->dict[i].count != 1)
			return false;
	return true;
}

/* Are the groups that come out of it those that it stands for? */
static int is_exact(const struct finding *f, const struct trace *t)
{
	struct trace_column made = {NULL, 0};
	uint32_t members = 0, found = 0;
	for (uint32_t i = 0; i < f->roster->count; i++)
		if (f->roster->items[i].ranks.node_count > ROSTER_NODES)
			return 0;
	int rv = roster_expand(f->roster, t, &made);
	for (uint32_t g = 0; rv == 0 && g < f->column->count; g++) {
		members += f->take[g];
		for (uint32_t i = 0; f->take[g] && i < made.count; i++)
			if (trace_group_equal(&made.groups[i], &f->column->groups[g]))
				found++;
	}
	for (uint32_t i = 0; i < made.count; i++)
		trace_group_free(&made.groups[i]);
	budget_free(made.groups);
	return rv < 0 ? -1 : rv == 0 && members == found && members == (uint32_t)made.count;
}

int roster_find(struct roster *r, const struct trace *t, const struct trace_column *c, const struct roster_maps *maps,
                bool *take)
{
	int rv = 0;
	const struct trace_stretch *like = NULL;
	struct finding f = {.roster = r, .column = c, .take = take};
	uint64_t values = 0, members = 0;
	*r = (struct roster){.width = 1};
	for (uint32_t g = 0; g < c->count; g++) {
		if (take[g] && !like && !c->groups[g].lossy)
			like = &c->groups[g].dict[0];
		take[g] = take[g] && like && is_member(t, &c->groups[g], like);
		members += take[g];
		values += take[g] ? c->groups[g].count : 0;
	}
	if (members < 2 || members > MAX_CLASSES || values < LEAST_VALUES ||
	    (like->vector && (like->width == 0 || like->width > ROSTER_WIDTH)))
		return 0;
	r->vector = like->vector;
	r->width = like->vector ? like->width : 1;
	r->items = budget_calloc(ROSTER_ITEMS, sizeof *r->items);
	f.offsets = budget_calloc((size_t)MAX_LENGTH * r->width, sizeof *f.offsets);
	f.classes = budget_calloc(MAX_CLASSES, sizeof *f.classes);
	rv = r->items && f.offsets && f.classes ? 0 : -1;
	for (uint32_t g = 0; rv == 0 && g < c->count; g++)
		if (take[g]) {
			struct rankmap ranks;
			rv = rankmap_fill(&ranks, trace_group_ranks(&c->groups[g]), 0, false);
			if (rv == 0)
				rv = rankmap_union(&r->ranks, &r->ranks, &ranks);
			rankmap_free(&ranks);
		}
	for (uint32_t k = 0; rv == 0 && k < r->width; k++) {
		rv = choose_base(&f, k, maps);
		rv = rv < 0 ? -1 : !rv;
	}
	for (uint32_t g = 0; rv == 0 && g < c->count; g++)
		if (take[g])
			rv = classes_of(&f, g);
	if (rv == 0)
		rv = order_items(&f);
	if (rv == 0) {
		rv = is_exact(&f, t);
		rv = rv < 0 ? -1 : !rv;
	}
	budget_free(f.offsets);
	if (f.classes)
		classes_free(f.classes, f.count);
	return rv < 0 ? -1 : !rv;
}
