/* SPDX-License-Identifier: BSD-3-Clause
 * sampler - the values of one rank's columns that have no order
 */
#include "replay/sampler.h"

#include <assert.h>
#include <stdlib.h>

#include "trace/base/index.h"
#include "trace/model/value.h"

/* A column of a site, in this rank. */
struct source {
	bool looked, lossy;
	const struct tally *values;
	uint64_t total, offset, factor, seed;
};

struct sampler {
	const struct trace *trace;
	uint32_t rank;
	uint64_t seed;
	struct source **sources; /* by site: of each column */
};

const struct trace_group *sampler_group(const struct trace_column *c)
{
	for (uint32_t g = 0; g < c->count; g++)
		if (c->groups[g].lossy)
			return &c->groups[g];
	return NULL;
}

struct sampler *sampler_create(const struct trace *t, uint32_t rank, uint64_t seed)
{
	struct sampler *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	*d = (struct sampler){.trace = t, .rank = rank, .seed = seed};
	d->sources = calloc((size_t)t->site_count + 1, sizeof *d->sources);
	if (!d->sources) {
		free(d);
		return NULL;
	}
	return d;
}

void sampler_destroy(struct sampler *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->trace->site_count; i++)
		free(d->sources[i]);
	free(d->sources);
	free(d);
}

/* ---- a value of a tally ---- */

/* A bin of different numbers: spread over as much of its range as has the same mean, place i as far below it as place n
 * - 1 - i is above. */
static int64_t value_in_bin(const struct tally_bin *b, int64_t i)
{
	int64_t sum = (int64_t)b->sum, n = (int64_t)b->count, mean = sum / n, rest = sum % n;
	if (rest < 0) {
		mean--;
		rest += n;
	}
	int64_t down = mean - b->min, up = b->max - mean - (rest > 0), width = down < up ? down : up;
	double off = width > 0 ? (double)width * (double)(2 * i + 1 - n) / (double)n : 0;
	return mean + (i < rest) + (int64_t)off;
}

int64_t sampler_at(const struct tally *t, uint64_t place)
{
	for (uint32_t i = 0; i < t->count; i++) {
		const struct tally_bin *b = &t->bins[i];
		if (place < b->count)
			return b->min == b->max || value_is_constant(b->min) ? b->min : value_in_bin(b, (int64_t)place);
		place -= b->count;
	}
	return 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

/* Multiples of the golden section: neighbours come far from each other, so that already a few of them are spread over
 * all. */
uint64_t sampler_stride(uint64_t n)
{
	uint64_t factor = (uint64_t)((double)n * 0.6180339887498949) | 1;
	while (n > 1 && gcd(factor % n, n) != 1)
		factor++;
	return factor;
}

uint64_t sampler_permute(uint64_t i, uint64_t n, uint64_t factor, uint64_t seed)
{
	__extension__ typedef unsigned __int128 wide;
	assert(i < n && factor > 0);
	return (uint64_t)(((wide)i * factor + seed % n) % n);
}

static void find_source(struct sampler *d, struct source *s, uint32_t site, size_t column)
{
	const struct trace_site *at = &d->trace->sites[site];
	const struct trace_group *g = sampler_group(&at->columns[column]);
	int64_t value, before = 0;
	s->looked = true;
	if (!g || !rankmap_get(trace_group_ranks(g), d->rank, &value))
		return;
	s->lossy = true;
	s->values = &g->lossy->values;
	s->total = tally_count(s->values);
	for (uint64_t r = 0; rankmap_next(trace_group_ranks(g), &r, &value) && r < d->rank; r++)
		if (rankmap_get(&at->visits, (uint32_t)r, &value))
			before += value;
	s->offset = (uint64_t)before;
	s->factor = sampler_stride(s->total);
	s->seed = hash_four(d->seed, site, column, 1);
}

static struct source *find_column_source(struct sampler *d, uint32_t site, size_t column)
{
	if (!d->sources[site])
		d->sources[site] = calloc(d->trace->sites[site].column_count, sizeof **d->sources);
	if (!d->sources[site])
		return NULL;
	struct source *s = &d->sources[site][column];
	if (!s->looked)
		find_source(d, s, site, column);
	return s;
}

bool sampler_is_lossy(struct sampler *d, uint32_t site, size_t column)
{
	const struct source *s = find_column_source(d, site, column);
	return s && s->lossy;
}

int64_t sampler_value(struct sampler *d, uint32_t site, size_t column, uint64_t visit)
{
	const struct source *s = find_column_source(d, site, column);
	if (!s || s->total == 0)
		return 0;
	return sampler_at(s->values, sampler_permute((s->offset + visit) % s->total, s->total, s->factor, s->seed));
}

int64_t sampler_rank(int64_t relative, int64_t base, int size)
{
	if (size <= 0)
		return relative + base;
	int64_t rank = (relative + base) % size;
	return rank < 0 ? rank + size : rank;
}
