/* SPDX-License-Identifier: BSD-3-Clause
 * class_times - how long one rank computes on an edge
 */
#include "insight/class_times.h"

#include <math.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/classes.h"
#include "trace/model/cursor.h"
#include "trace/model/means.h"

/* Where the sum of a rank is farther from that of its means, something else is missing. */
#define FACTOR_MOST 0.1
/* A time that is longer, or shorter, than the others by this factor was one rank's own, where and when it came. The
 * others are drawn: ranks that compute together have the longest of them in one visit. */
#define STANDS_OUT 1.25
#define LAST_PLACE (1 - 1e-9)

struct class_times {
	const struct trace_edge *edge;
	uint32_t rank;
	struct column_cursor cursor; /* the class of each visit, if the rank has any */
	double factor;               /* the rank's mean, relative to that of its classes */
	double scale;                /* of times of another rank's classes */
	struct class_draw {
		const struct histogram *times;
		uint64_t seed;
		uint32_t drawn;         /* how many */
		double narrow;          /* the deviation of one rank, relative to that of all */
		bool longest, shortest; /* come where they came */
		double mean, middle;    /* of what is drawn; of all but the extremes, which is what is drawn from */
		double least, most;     /* what may be drawn, if it is a class of the rank itself */
	} * draws;                      /* by class; behind them that of the edge */
};

/* Of the ranks that have this one class: the variance of their means, relative to the mean of the class. */
static double variance_of_means(const struct trace_classes *c, uint32_t key)
{
	double squares = 0, ranks = 0;
	int64_t own, mean;
	for (uint32_t g = 0; g < c->column.count; g++) {
		const struct trace_group *group = &c->column.groups[g];
		for (uint64_t r = 0; !group->pattern && rankmap_next(&group->dict[0].start, &r, &own); r++) {
			if ((uint32_t)own != key)
				continue;
			ranks++;
			if (rankmap_get(&c->mean, (uint32_t)r, &mean))
				squares += (double)mean * (double)mean / (CLASS_PARTS * CLASS_PARTS);
		}
	}
	return ranks > 0 ? squares / ranks : 0;
}

static double narrowing(const struct trace_classes *c, const struct histogram *h, double between)
{
	double mean = histogram_mean(h), all = histogram_deviation(h);
	double within = all * all - between * mean * mean;
	return !c->finished || all <= 0 || between <= 0 ? 1 : within <= 0 ? 0 : sqrt(within) / all;
}

/* Of a trace without classes: all ranks that have a mean. */
static double variance_of_all(const struct trace_classes *c)
{
	double squares = 0, ranks = 0;
	int64_t mean;
	for (uint64_t r = 0; rankmap_next(&c->mean, &r, &mean); r++, ranks++)
		squares += (double)mean * (double)mean / (CLASS_PARTS * CLASS_PARTS);
	return ranks > 0 ? squares / ranks : 0;
}

static void find_factor(struct class_times *c)
{
	const struct trace_classes *k = c->edge->classes;
	int64_t mean, key;
	c->factor = 1;
	if (!rankmap_get(&k->mean, c->rank, &mean))
		return;
	if (k->finished) {
		c->factor = 1 + (double)mean / CLASS_PARTS;
		return;
	}
	/* a part: ns */
	if (c->cursor.constant && column_cursor_next(&c->cursor, &key) == 0) {
		const struct trace_class *one = classes_find(k, (uint32_t)key);
		c->factor = one && one->compute.sum ? (double)mean / histogram_mean(&one->compute) : 1;
	}
}

static bool longest_stands_out(const struct histogram *h)
{
	return h->count && (double)h->max > STANDS_OUT * histogram_at(h, LAST_PLACE);
}

static bool shortest_stands_out(const struct histogram *h)
{
	return h->count && (double)h->min * STANDS_OUT < histogram_at(h, 0);
}

/* Of all values, or without the longest and the shortest one. */
static double mean_without(const struct histogram *h, bool longest, bool shortest)
{
	double count = (double)h->count - longest - shortest,
	       sum = (double)h->sum - (longest ? (double)h->max : 0) - (shortest ? (double)h->min : 0);
	return count > 0 ? sum / count : histogram_mean(h);
}

static struct class_draw draw_from(const struct histogram *h, uint64_t seed, double narrow)
{
	bool longest = longest_stands_out(h), shortest = shortest_stands_out(h);
	return (struct class_draw){.times = h,
	                           .seed = seed,
	                           .narrow = narrow,
	                           .longest = longest,
	                           .shortest = shortest,
	                           .mean = mean_without(h, longest, shortest),
	                           .middle = mean_without(h, true, true),
	                           .least = shortest ? histogram_at(h, 0) : (double)h->min,
	                           .most = longest ? histogram_at(h, LAST_PLACE) : (double)h->max};
}

struct class_times *class_times_create(const struct trace *t, const struct trace_edge *e, uint32_t rank, uint64_t seed,
                                       struct pattern *patterns)
{
	const struct trace_classes *k = e->classes;
	uint32_t n = k ? k->count : 0;
	struct class_times *c = budget_calloc(1, sizeof *c);
	if (!c)
		return NULL;
	*c = (struct class_times){.edge = e, .rank = rank, .factor = 1, .scale = 1};
	c->draws = budget_calloc(n + UINT64_C(1), sizeof *c->draws);
	if (!c->draws || (k && column_cursor_open(&c->cursor, t, &k->column, rank, patterns, NULL) < 0)) {
		class_times_destroy(c);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct histogram *h = &k->each[i].compute;
		c->draws[i] =
			draw_from(h, hash_four(seed, i, 0, 0), narrowing(k, h, variance_of_means(k, k->each[i].key)));
	}
	c->draws[n] = draw_from(&e->compute, hash_four(seed, n, 0, 0),
	                        k && n == 0 ? narrowing(k, &e->compute, variance_of_all(k)) : 1);
	if (k)
		find_factor(c);
	return c;
}

/* What is drawn from a histogram in so many visits of a rank, ns; factor: of its mean. ends: a longest and a
 * shortest time that stand out are as they were. */
static double drawn_sum(const struct histogram *h, uint32_t rank, double visits, double factor, bool ends)
{
	bool most = longest_stands_out(h), least = shortest_stands_out(h);
	bool longest = ends && most && h->max_rank == rank && visits > 0;
	bool shortest = ends && least && h->min_rank == rank && visits > longest;
	return (visits - longest - shortest) * mean_without(h, most, least) * factor + longest * (double)h->max +
	       shortest * (double)h->min;
}

/* What the classes and the means of ranks say of the rank's computation on an edge, ns. visits: how many there are, of
 * a rank that has one class or none. */
static double rank_mean(const struct trace *t, const struct trace_edge *e, uint32_t rank, uint64_t visits, bool ends)
{
	const struct trace_classes *k = e->classes;
	double sum = 0, seen = 0, factor = 1;
	int64_t key, mean;
	if (k && k->finished && rankmap_get(&k->mean, rank, &mean))
		factor = 1 + (double)mean / CLASS_PARTS;
	for (uint32_t g = 0; k && g < k->column.count; g++) {
		const struct trace_group *group = &k->column.groups[g];
		uint64_t symbols = 0, *counts = rankmap_get(trace_group_ranks(group), rank, &key)
		                                        ? classes_visits(t, group, visits, &symbols)
		                                        : NULL;
		for (uint32_t i = 0; counts && i < group->count; i++) {
			const struct trace_class *one =
				rankmap_get(&group->dict[i].start, rank, &key) ? classes_find(k, (uint32_t)key) : NULL;
			sum += drawn_sum(one ? &one->compute : &e->compute, rank, (double)counts[i], factor, ends);
			seen += (double)counts[i];
		}
		budget_free(counts);
	}
	const struct trace_class *rest = k && seen <= 0 ? classes_find(k, CLASS_REST) : NULL;
	const struct histogram *h = rest && rest->compute.count ? &rest->compute : &e->compute;
	return seen > 0 ? sum / seen : drawn_sum(h, rank, (double)visits, factor, ends) / (double)visits;
}

double class_times_mean(const struct trace *t, const struct trace_edge *e, uint32_t rank, uint64_t visits)
{
	return rank_mean(t, e, rank, visits, true);
}

double class_times_behind(const struct trace *t, const struct trace_site *s, uint32_t rank, bool own)
{
	const struct trace_column *next = &s->columns[s->column_count - 1];
	double sum = 0;
	int64_t to, visits;
	for (uint32_t g = 0; g < next->count && rankmap_get(&s->visits, rank, &visits); g++) {
		const struct trace_group *group = &next->groups[g];
		uint64_t symbols = 0, *counts = rankmap_get(trace_group_ranks(group), rank, &to)
		                                        ? classes_visits(t, group, (uint64_t)visits, &symbols)
		                                        : NULL;
		for (uint32_t i = 0; counts && i < group->count; i++) {
			const struct trace_edge *e =
				rankmap_get(&group->dict[i].start, rank, &to) && to >= 0 && to < t->site_count
					? trace_edge_to(s, (uint32_t)to)
					: NULL;
			if (e && counts[i])
				sum += (double)counts[i] *
				       (own ? rank_mean(t, e, rank, counts[i], true) : histogram_mean(&e->compute));
		}
		budget_free(counts);
	}
	return sum;
}

double class_times_factor(const struct trace *t, uint32_t rank)
{
	const struct trace_total *total = &t->total[TOTAL_COMPUTE];
	double sum = 0, factor = 1;
	uint64_t ns;
	if (!trace_total_get(total, rank, &ns))
		return 1;
	for (uint32_t i = 0; i < t->site_count; i++)
		sum += class_times_behind(t, &t->sites[i], rank, true);
	if (sum > 0)
		factor = (double)ns / sum;
	return fabs(factor - 1) < FACTOR_MOST ? factor : 1;
}

struct class_times *class_times_create_like(const struct trace *t, const struct trace_edge *e, uint32_t rank,
                                            uint32_t like, uint64_t seed, struct pattern *patterns)
{
	struct class_times *c = class_times_create(t, e, like, seed, patterns);
	double mean = rank_mean(t, e, like, 1, false);
	if (c && mean > 0)
		c->scale = rank_mean(t, e, rank, 1, false) / mean;
	if (c)
		c->rank = rank;
	return c;
}

void class_times_destroy(struct class_times *c)
{
	if (!c)
		return;
	column_cursor_close(&c->cursor);
	budget_free(c->draws);
	budget_free(c);
}

/* That of the next visit. What no class is known of is in the class of the rest, or else in the edge's. */
static struct class_draw *next_draw(struct class_times *c)
{
	const struct trace_classes *k = c->edge->classes;
	int64_t key = CLASS_REST;
	uint32_t i = 0;
	if (c->cursor.open && column_cursor_next(&c->cursor, &key) != 0)
		key = CLASS_MIXED;
	while (k && i < k->count && (k->each[i].key != (uint32_t)key || k->each[i].compute.count == 0))
		i++;
	return &c->draws[k ? i : 0];
}

static uint32_t reverse_bits(uint32_t x)
{
	uint32_t reversed = 0;
	for (int bit = 0; bit < 32; bit++)
		reversed |= (x >> bit & 1) << (31 - bit);
	return reversed;
}

/* A hash by Laine and Karras: bits of the result depend on lower ones, and on the seed, only. */
static uint32_t scramble_bits(uint32_t x, uint32_t seed)
{
	x ^= x * 0x3d20adeau;
	x += seed;
	x *= seed >> 16 | 1;
	x ^= x * 0x05526c56u;
	return x ^ x * 0x53a22864u;
}

/* Where the i-th draw of a sequence is, 0 .. 1. The bits of i in reverse order (van der Corput) are spread evenly
 * however many there are. Each bit is turned as the seed and the bits above it say (Owen); and before, so are those of
 * i, so that each pair, each four and so on come in an order of their own: sequences of two seeds have nothing to do
 * with each other. */
static double draw_place(uint32_t i, uint64_t seed)
{
	uint32_t shuffled = reverse_bits(scramble_bits(reverse_bits(i), (uint32_t)(seed >> 32)));
	return ((double)reverse_bits(scramble_bits(shuffled, (uint32_t)seed)) + 0.5) * 0x1p-32;
}

double class_times_next(struct class_times *c, uint64_t visit, double factor)
{
	struct class_draw *d = next_draw(c);
	const struct histogram *h = d->times;
	double place = draw_place(d->drawn++, d->seed); /* in any case: ranks at the same places stay together */
	if (d->longest && h->max_rank == c->rank && h->max_visit == visit)
		return (double)h->max;
	if (d->shortest && h->min_rank == c->rank && h->min_visit == visit)
		return (double)h->min;
	double v = (d->mean * c->factor + (histogram_at(h, place) - d->middle) * d->narrow) * c->scale * factor;
	bool own = c->scale == 1;
	return fmax(own ? d->least : (double)c->edge->compute.min,
	            fmin(v, own ? d->most : (double)c->edge->compute.max));
}
