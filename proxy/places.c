/* SPDX-License-Identifier: BSD-3-Clause
 * places - the arrays that a site has, each once
 */
#include "proxy/places.h"

#include <string.h>

#include "proxy/first_alike.h"
#include "trace/base/budget.h"

const struct pool_item *places_vector(const struct places *p, uint32_t rank, int64_t run)
{
	int64_t v = p->n->of_rank[rank]->each[run].start;
	return value_is_constant(v) ? NULL : &p->n->c->structure->vectors.items[v];
}

static size_t width_of(const struct places *p, uint32_t rank, int64_t run)
{
	const struct pool_item *item = places_vector(p, rank, run);
	return item ? item->size / sizeof(int64_t) : SIZE_MAX;
}

static bool places_alike(const void *context, uint32_t a, uint32_t b)
{
	const struct places *p = context;
	if (!numbers_alike(p->n->of_rank[a], p->n->of_rank[b]))
		return false;
	for (int64_t i = 0; i < p->n->of_rank[a]->count; i++)
		if (width_of(p, a, i) != width_of(p, b, i))
			return false;
	return true;
}

int places_group_ranks(struct places *p)
{
	struct first_alike alike = {places_alike, p, {0}};
	int rv = 0;
	for (uint32_t r = 0; r < p->n->c->structure->ranks && rv == 0; r++) {
		if (!p->n->of_rank[r])
			continue;
		uint64_t hash = numbers_hash(p->n->of_rank[r]);
		for (int64_t i = 0; i < p->n->of_rank[r]->count; i++)
			hash = hash_mix(hash, width_of(p, r, i));
		uint32_t first = first_alike_find(&alike, r, hash);
		rv = first == INDEX_NONE ? -1 : 0;
		p->group[r] = first == r ? p->groups++ : rv == 0 ? p->group[first] : 0;
	}
	first_alike_free(&alike);
	return rv;
}

struct group_key {
	const struct places *p;
	uint32_t group;
};

static bool runs_have_same(const void *context, uint32_t a, uint32_t b)
{
	const struct group_key *k = context;
	const struct places *p = k->p;
	for (uint32_t r = 0; r < p->n->c->structure->ranks; r++)
		if (p->n->of_rank[r] && p->group[r] == k->group &&
		    p->n->of_rank[r]->each[a].start != p->n->of_rank[r]->each[b].start)
			return false;
	return true;
}

static uint64_t hash_run(const struct group_key *k, int64_t run)
{
	const struct places *p = k->p;
	uint64_t hash = 7;
	for (uint32_t r = 0; r < p->n->c->structure->ranks; r++)
		if (p->n->of_rank[r] && p->group[r] == k->group)
			hash = hash_mix(hash, (uint64_t)p->n->of_rank[r]->each[run].start);
	return hash;
}

static int add_place(struct places *p, uint32_t group, uint32_t rank, int64_t run)
{
	if (!budget_grow(&p->each, p->count, &p->capacity, sizeof *p->each))
		return -1;
	size_t width = width_of(p, rank, run);
	p->each[p->count++] = (struct place){group, run, width == SIZE_MAX ? 0 : width, width == SIZE_MAX};
	return 0;
}

/* Finds the places of a group; of_run gets that of each run. */
static int find_group_places(struct places *p, uint32_t group, uint32_t rank, uint32_t *of_run)
{
	struct group_key key = {p, group};
	struct first_alike alike = {runs_have_same, &key, {0}};
	int rv = 0;
	for (int64_t i = 0; i < p->n->of_rank[rank]->count && rv == 0; i++) {
		uint32_t k = first_alike_find(&alike, (uint32_t)i, hash_run(&key, i));
		if (k == INDEX_NONE || (k == i && add_place(p, group, rank, i) != 0))
			rv = -1;
		else
			of_run[i] = k == i ? p->count - 1 : of_run[k];
	}
	first_alike_free(&alike);
	return rv;
}

int64_t places_element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

bool places_shared(const struct places *p, const struct place *place, uint32_t *first)
{
	uint32_t ranks = p->n->c->structure->ranks;
	*first = ranks;
	for (uint32_t r = 0; r < ranks; r++) {
		if (!p->n->of_rank[r] || p->group[r] != place->group)
			continue;
		if (*first < ranks &&
		    p->n->of_rank[r]->each[place->run].start != p->n->of_rank[*first]->each[place->run].start)
			return false;
		*first = *first < ranks ? *first : r;
	}
	return true;
}

bool places_contiguous(const struct places *p, int64_t *first)
{
	bool any = false;
	for (uint32_t r = 0; r < p->n->c->structure->ranks; r++)
		for (int64_t i = 0; p->n->of_rank[r] && i < p->n->of_rank[r]->count; i++) {
			const struct pool_item *item = places_vector(p, r, i);
			for (size_t k = 0; item && k < item->size / sizeof(int64_t); k++) {
				int64_t v = places_element(item, k);
				*first = any || value_is_constant(v) ? *first : v - (int64_t)k;
				if (value_is_constant(v) || v - (int64_t)k != *first)
					return false;
				any = true;
			}
		}
	*first = any ? *first : 0;
	return true;
}

int places_find(struct places *p)
{
	uint32_t **of_run = p->of_run = budget_calloc(p->groups + UINT64_C(1), sizeof *of_run);
	int rv = of_run ? 0 : -1;
	for (uint32_t g = 0; g < p->groups && rv == 0; g++) {
		uint32_t r = 0;
		while (!p->n->of_rank[r] || p->group[r] != g)
			r++;
		of_run[g] = budget_calloc((size_t)p->n->of_rank[r]->count, sizeof **of_run);
		rv = of_run[g] ? find_group_places(p, g, r, of_run[g]) : -1;
	}
	return rv;
}

int64_t places_number(const struct pool_item *item, size_t i)
{
	int64_t v = places_element(item, i);
	return value_is_constant(v) ? -1 : v;
}

bool places_are_numbers(const struct places *p)
{
	bool yes = true;
	for (uint32_t r = 0; r < p->n->c->structure->ranks; r++)
		for (int64_t i = 0; yes && p->n->of_rank[r] && i < p->n->of_rank[r]->count; i++) {
			const struct pool_item *item = places_vector(p, r, i);
			for (size_t k = 0; item && yes && k < item->size / sizeof(int64_t); k++)
				yes = p->column->kind == 'r' || !value_is_constant(places_element(item, k));
			yes &= item != NULL;
		}
	return yes;
}

/* Visits of a rank to the site of a column, at most. */
static uint64_t most_visits(const struct places *p, uint32_t rank)
{
	const struct structure *s = p->n->c->structure;
	uint32_t i = 1;
	int64_t visits;
	while (i + 1 < s->nest.sites && s->sites[i + 1].first <= p->number)
		i++;
	return rankmap_get(&s->trace->sites[s->sites[i].site].visits, rank, &visits) ? (uint64_t)visits : UINT64_MAX;
}

int places_find_runs(const struct places *p, uint32_t rank, struct runs **of_rank)
{
	struct runs *runs = *of_rank;
	struct series values = {0};
	uint64_t total = 1; /* the last one goes on for ever */
	size_t bytes;
	if (!runs || runs->count == 1)
		return 0;
	for (int64_t k = 0; k < runs->count; k++)
		total += (uint64_t)runs->each[k].count;
	if (runs->lead < runs->count)
		total *= 5; /* a period often enough to be found again */
	else if (total < most_visits(p, rank))
		total += 2; /* it stays as it is: no step to the next one goes on */
	struct runs_walk walk = {.runs = runs};
	for (uint64_t k = 0; k < total; k++)
		if (series_append(&values, runs_next(&walk)) != 0)
			return -1;
	struct runs *again = series_runs(&values, true, &bytes);
	series_free(&values);
	if (!again)
		return -1;
	budget_free(runs);
	*of_rank = again;
	return 0;
}
