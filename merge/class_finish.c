/* SPDX-License-Identifier: BSD-3-Clause
 * class_finish - what becomes of the classes of computations when all ranks are known
 *
 * All that is decided here follows from sums over all ranks, so that it does not depend on the order of merging.
 */
#include "merge/class_finish.h"

#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/model/classes.h"
#include "trace/model/counts.h"
#include "trace/model/means.h"
#include "trace/model/packed.h"

/* Classes of an edge in the file. */
#define CLASSES_MOST 8
/* Means of one class are at most this far apart, as a factor; with too many classes it grows by itself. */
#define ALIKE 1.25
/* What changes the time of no rank by this part of a rank's time is not worth a class, or a mean. In a trace that is to
 * stay small whatever happens it is more: a busy machine alone makes some. */
#define WORTH       200
#define WORTH_LOSSY 20
/* Symbols of the patterns of all ranks' classes. */
#define TOKENS_MOST 4096
/* A mean that is no more than so many standard errors off is what is expected. */
#define ERRORS 2

/* ---- keys ---- */

struct key_change {
	uint32_t to[CLASS_KEYS];
};

static int64_t key_changed(void *context, int64_t key)
{
	const struct key_change *k = context;
	return key >= 0 && key < CLASS_KEYS ? k->to[key] : key;
}

/* Which classes become one: those from the first one on whose means are within a factor. Returns how many there are
 * then. */
static uint32_t keys_unite(const struct trace_classes *c, double factor, struct key_change *k)
{
	uint32_t count = 0;
	for (uint32_t i = 0, next; i < c->count; i = next) {
		uint64_t sum = 0, n = 0;
		double first = histogram_mean(&c->each[i].compute);
		for (next = i; next < c->count; next++) {
			const struct histogram *h = &c->each[next].compute;
			if (next > i && (c->each[i].key < CLASS_FIRST || histogram_mean(h) > factor * first))
				break;
			sum += h->sum;
			n += h->count;
		}
		for (uint32_t at = i; at < next; at++)
			k->to[c->each[at].key] =
				c->each[i].key < CLASS_FIRST ? c->each[i].key : class_key(sum / (n ? n : 1));
		count++;
	}
	return count;
}

static int unite(struct trace_classes *c)
{
	struct key_change k;
	struct trace_classes old = *c;
	int rv = 0;
	for (uint32_t i = 0; i < CLASS_KEYS; i++)
		k.to[i] = i;
	for (double factor = ALIKE; keys_unite(c, factor, &k) > CLASSES_MOST; factor *= ALIKE)
		;
	c->each = NULL;
	c->count = 0;
	for (uint32_t i = 0; i < old.count; i++) {
		const struct trace_class *from = &old.each[i];
		if (rv == 0)
			rv = classes_add_times(c, k.to[from->key], &from->compute, from->counts, counts_same);
	}
	classes_empty(&old);
	budget_free(old.each);
	for (uint32_t g = 0; g < c->column.count; g++)
		for (uint32_t i = 0; rv == 0 && i < c->column.groups[g].count; i++) {
			struct rankmap *m = &c->column.groups[g].dict[i].start;
			rv = rankmap_translate(m, m, key_changed, &k);
		}
	return rv;
}

/* ---- what is expected of each rank ---- */

struct expected {
	uint32_t rank;
	double mean, visits, spread; /* spread: how far its computations are from the mean of all, in all */
	bool constant;               /* it has one class */
};

struct finishing {
	const struct trace *trace;
	const struct trace_edge *edge;
	struct expected *ranks;
	size_t count, capacity;
	uint64_t tokens; /* of all patterns */
	double elapsed;  /* of a rank, ns */
	uint64_t tokens_most;
	double worth;
};

static double class_mean(const struct finishing *f, int64_t key)
{
	const struct trace_class *k = classes_find(f->edge->classes, (uint32_t)key);
	return histogram_mean(k && k->compute.count ? &k->compute : &f->edge->compute);
}

/* counts: of each value of the dictionary. */
static int expect_group(struct finishing *f, const struct trace_group *g, const uint64_t *counts)
{
	int64_t unused, key;
	double all = histogram_mean(&f->edge->compute);
	for (uint64_t rank = 0; rankmap_next(trace_group_ranks(g), &rank, &unused); rank++) {
		if (f->count == f->capacity)
			return -1; /* there was no memory to count them */
		struct expected *e = &f->ranks[f->count++];
		double sum = 0;
		*e = (struct expected){.rank = (uint32_t)rank, .constant = !g->pattern};
		for (uint32_t i = 0; i < g->count; i++) {
			if (!rankmap_get(&g->dict[i].start, (uint32_t)rank, &key))
				return -1;
			double mean = class_mean(f, key), n = (double)counts[i];
			sum += mean * n;
			e->visits += n;
			e->spread += (mean < all ? all - mean : mean - all) * n;
		}
		e->mean = e->visits > 0 ? sum / e->visits : all;
	}
	return 0;
}

static int expected_by_rank(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int expect_all(struct finishing *f)
{
	const struct trace_column *column = &f->edge->classes->column;
	uint64_t ranks = 0;
	int rv = 0;
	for (uint32_t g = 0; g < column->count; g++)
		ranks += rankmap_size(trace_group_ranks(&column->groups[g]));
	f->capacity = ranks;
	f->ranks = budget_calloc(ranks + 1, sizeof *f->ranks);
	if (!f->ranks || (ranks == 0 && column->count))
		return -1;
	for (uint32_t g = 0; rv == 0 && g < column->count; g++) {
		uint64_t visits = f->edge->compute.count / ranks,
			 *counts = classes_visits(f->trace, &column->groups[g], visits ? visits : 1, &f->tokens);
		rv = counts ? expect_group(f, &column->groups[g], counts) : -1;
		budget_free(counts);
	}
	qsort(f->ranks, f->count, sizeof *f->ranks, expected_by_rank);
	return rv;
}

/* ---- what is kept ---- */

static bool is_worth(const struct finishing *f, double ns)
{
	return ns >= MEANS_MATTER_NS && ns * f->worth >= f->elapsed;
}

/* Do the classes say more than the histogram? */
static bool classes_pay(const struct finishing *f)
{
	double most = 0;
	for (size_t i = 0; i < f->count; i++)
		most = f->ranks[i].spread > most ? f->ranks[i].spread : most;
	return is_worth(f, most) && f->tokens <= f->tokens_most;
}

static void drop_classes(struct finishing *f, struct trace_classes *c)
{
	classes_empty(c);
	trace_column_free(&c->column);
	for (size_t i = 0; i < f->count; i++) {
		f->ranks[i].mean = histogram_mean(&f->edge->compute);
		f->ranks[i].constant = true;
	}
}

/* The variance of the computations of one rank, about: what is left if the means of ranks are all that differs. */
static double variance_within(const struct finishing *f, const struct trace_classes *c)
{
	const struct histogram *all = &f->edge->compute;
	double sum = 0;
	int64_t mean;
	for (uint32_t i = 0; i < c->count; i++) {
		double deviation = histogram_deviation(&c->each[i].compute);
		sum += deviation * deviation * (double)c->each[i].compute.count;
	}
	if (c->count == 0)
		sum = histogram_deviation(all) * histogram_deviation(all) * (double)all->count;
	for (size_t i = 0; i < f->count; i++)
		if (f->ranks[i].constant && rankmap_get(&c->mean, f->ranks[i].rank, &mean)) {
			double off = (double)mean - f->ranks[i].mean;
			sum -= off * off * f->ranks[i].visits;
		}
	return sum > 0 && all->count ? sum / (double)all->count : 0;
}

/* In parts of what is expected; 0: it is what is expected. */
static int64_t relative_mean(const struct expected *e, double mean, double variance)
{
	double off = mean - e->mean, error = ERRORS * ERRORS * variance / (e->visits > 0 ? e->visits : 1);
	if (e->mean <= 0 || off * off <= error)
		return 0;
	double parts = off * CLASS_PARTS / e->mean;
	return parts >= INT32_MAX ? INT32_MAX : (int64_t)(parts < 0 ? parts - 0.5 : parts + 0.5);
}

static int finish_means(struct finishing *f, struct trace_classes *c)
{
	struct rankmap_builder b = {.references = false};
	double variance = variance_within(f, c), most = 0;
	int64_t mean;
	for (size_t i = 0; i < f->count; i++) {
		const struct expected *e = &f->ranks[i];
		if (!rankmap_get(&c->mean, e->rank, &mean))
			continue;
		int64_t parts = relative_mean(e, (double)mean, variance);
		double off = (double)(parts < 0 ? -parts : parts) * e->mean * e->visits / CLASS_PARTS;
		most = off > most ? off : most;
		rankmap_add(&b, (struct rank_piece){.first = e->rank, .count = 1, .step = 1, .value = parts});
	}
	rankmap_free(&c->mean);
	int rv = rankmap_take(&b, &c->mean);
	if (rv == 0 && !is_worth(f, most))
		rankmap_free(&c->mean);
	return rv;
}

static int finish_edge(const struct trace *t, struct trace_edge *edge)
{
	struct trace_classes *c = edge->classes;
	const struct trace_total *elapsed = &t->total[TOTAL_ELAPSED];
	struct finishing f = {.trace = t, .edge = edge, .tokens_most = TOKENS_MOST, .worth = WORTH};
	f.elapsed = elapsed->count ? (double)elapsed->sum / (double)elapsed->count : 0;
	if (t->loss.lossy && t->loss.structure) {
		f.tokens_most = t->loss.threshold < TOKENS_MOST ? t->loss.threshold : TOKENS_MOST;
		f.worth = WORTH_LOSSY;
	}
	int rv = unite(c) != 0 || expect_all(&f) != 0 ? -1 : 0;
	if (rv == 0 && !classes_pay(&f))
		drop_classes(&f, c);
	if (rv == 0)
		rv = finish_means(&f, c);
	budget_free(f.ranks);
	c->finished = true;
	if (rv == 0 && c->count == 0 && rankmap_empty(&c->mean))
		classes_free(edge);
	return rv;
}

static int finish_site(struct trace *t, struct trace_site *s)
{
	int changed = 0;
	for (uint32_t k = 0; k < s->edge_count; k++)
		if (s->edges[k].classes && !s->edges[k].classes->finished) {
			if (finish_edge(t, &s->edges[k]) != 0)
				return -1;
			changed = 1;
		}
	return changed;
}

int class_finish(struct trace *t)
{
	return packed_change(t, PACKED_CLASSES, finish_site);
}
