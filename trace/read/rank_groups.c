/* SPDX-License-Identifier: BSD-3-Clause
 * rank_groups - ranks that behave alike
 */
#include "trace/read/rank_groups.h"

#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/model/classes.h"
#include "trace/model/means.h"
#include "trace/model/ordinals.h"

/* Times of ranks are alike within this factor of the least one of their group. */
#define ALIKE_TIME 1.25
/* Times in the calls of a site are alike, too, if they differ by less than this part of what a rank took in all. */
#define ALIKE_PART 0.1

/* What is known of a rank; hashes. */
struct rank_sign {
	uint32_t rank;
	uint64_t structure, volume, time; /* time: of the numbers of groups of times */
	double compute, events;
	double call; /* ns in the calls of the site at hand */
};

struct signing {
	const struct trace *trace;
	struct ordinals order;
	struct rank_sign *ranks;
	double *counts; /* by number of the rank and counter; NULL: nothing was counted */
	size_t count, capacity;
};

static struct rank_sign *sign_of(struct signing *x, uint64_t rank)
{
	int64_t unused;
	return rankmap_get(&x->trace->events, (uint32_t)rank, &unused) && budget_step(1)
	               ? &x->ranks[ordinals_number(&x->order, (uint32_t)rank)]
	               : NULL;
}

enum sign_kind { SIGN_STRUCTURE, SIGN_VOLUME };

/* Mixes the values of a map into hashes; values: or only who is in it. */
static int sign_map(struct signing *x, const struct rankmap *m, enum sign_kind kind, bool values, uint64_t place)
{
	int64_t value;
	if ((!values || rankmap_constant(m, &value)) && rankmap_same_ranks(m, &x->trace->events))
		return 0; /* alike in all */
	for (uint64_t rank = 0; rankmap_next(m, &rank, &value); rank++) {
		struct rank_sign *s = sign_of(x, rank);
		if (!s)
			return -1;
		uint64_t *hash = kind == SIGN_STRUCTURE ? &s->structure : &s->volume;
		*hash = hash_mix(*hash, hash_mix(place, values ? (uint64_t)value : 1));
	}
	return 0;
}

static int sign_columns(struct signing *x, const struct trace_site *s, uint64_t place)
{
	int count = trace_schema(x->trace, s)->at[PARAMETER_COUNT];
	int rv = sign_map(x, &s->visits, SIGN_STRUCTURE, true, place);
	for (uint32_t k = 0; rv == 0 && k < s->column_count; k++) {
		const struct trace_column *c = &s->columns[k];
		for (uint32_t g = 0; rv == 0 && g < c->count; g++) {
			const struct trace_group *group = &c->groups[g];
			uint64_t here = hash_mix(hash_mix(place, k), group->pattern);
			if (c->count > 1)
				rv = sign_map(x, trace_group_ranks(group), SIGN_STRUCTURE, false, here);
			for (uint32_t i = 0; rv == 0 && (int)k == count && !group->lossy && i < group->count; i++)
				rv = sign_map(x, &group->dict[i].start, SIGN_VOLUME, true, hash_mix(here, i));
		}
	}
	return rv;
}

/* ---- time, and what was counted meanwhile ---- */

/* So many computations of a class. Where its first ones were not counted, they are like the others. */
static void sign_counts(struct signing *x, uint32_t rank, const struct trace_class *k, double computations)
{
	const uint32_t counters = x->trace->counter_count;
	double *counts =
		x->counts && k->counts ? &x->counts[(uint64_t)ordinals_number(&x->order, rank) * counters] : NULL;
	for (uint32_t i = 0; counts && i < counters; i++)
		counts[i] += histogram_mean(&k->counts[i]) * computations;
}

static int time_group(struct signing *x, const struct trace_classes *c, const struct trace_group *g,
                      const uint64_t *counts)
{
	int64_t key, mean;
	for (uint64_t rank = 0; rankmap_next(trace_group_ranks(g), &rank, &key); rank++) {
		struct rank_sign *s = sign_of(x, rank);
		double sum = 0;
		if (!s)
			return -1;
		for (uint32_t i = 0; i < g->count; i++) {
			const struct trace_class *k = rankmap_get(&g->dict[i].start, (uint32_t)rank, &key)
			                                      ? classes_find(c, (uint32_t)key)
			                                      : NULL;
			if (!k)
				continue;
			sum += histogram_mean(&k->compute) * (double)counts[i];
			sign_counts(x, (uint32_t)rank, k, (double)counts[i]);
		}
		if (c->finished && rankmap_get(&c->mean, (uint32_t)rank, &mean))
			sum += sum * (double)mean / CLASS_PARTS;
		s->compute += sum;
	}
	return 0;
}

/* The computations of an edge with classes. */
static int time_edge(struct signing *x, const struct trace_edge *e)
{
	const struct trace_classes *c = e->classes;
	uint64_t ranks = 0, symbols = 0;
	int64_t mean;
	for (uint32_t g = 0; g < c->column.count; g++)
		ranks += rankmap_size(trace_group_ranks(&c->column.groups[g]));
	uint64_t means = rankmap_size(&c->mean), visits = ranks ? e->compute.count / ranks : 0;
	if ((ranks == 0 && c->column.count) || (means == 0 && !rankmap_empty(&c->mean)))
		return -1; /* no memory to count them */
	for (uint32_t g = 0; g < c->column.count; g++) {
		uint64_t *counts = classes_visits(x->trace, &c->column.groups[g], visits, &symbols);
		int rv = counts ? time_group(x, c, &c->column.groups[g], counts) : -1;
		budget_free(counts);
		if (rv != 0)
			return -1;
	}
	/* one class: the means are all that there is */
	for (uint64_t rank = 0; c->column.count == 0 && rankmap_next(&c->mean, &rank, &mean); rank++) {
		struct rank_sign *s = sign_of(x, rank);
		double all = (double)e->compute.sum / (double)means;
		if (!s)
			return -1;
		s->compute += c->finished ? all * (1 + (double)mean / CLASS_PARTS) : all;
	}
	return 0;
}

/* What was counted while all ranks computed. */
static double counted_in_all(const struct trace *t, uint32_t counter)
{
	double sum = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			if (t->sites[i].edges[k].counts)
				sum += (double)t->sites[i].edges[k].counts[counter].sum;
	return sum;
}

/* Gives what is in no class to all alike. */
static void share_counts(struct signing *x)
{
	const uint32_t counters = x->trace->counter_count;
	for (uint32_t i = 0; x->counts && i < counters; i++) {
		double rest = counted_in_all(x->trace, i);
		for (size_t r = 0; r < x->count; r++)
			rest -= x->counts[r * counters + i];
		for (size_t r = 0; r < x->count && rest > 0; r++)
			x->counts[r * counters + i] += rest / (double)x->count;
	}
}

static int rank_by_compute(const void *a, const void *b)
{
	const struct rank_sign *x = a, *y = b;
	return x->compute != y->compute ? (x->compute > y->compute) - (x->compute < y->compute)
	                                : (x->rank > y->rank) - (x->rank < y->rank);
}

static int rank_by_call(const void *a, const void *b)
{
	const struct rank_sign *x = a, *y = b;
	return x->call != y->call ? (x->call > y->call) - (x->call < y->call)
	                          : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Gives the rest of the computation to all alike, or takes from each the same part of what it has too much, and numbers
 * groups of ranks that compute for about as long. */
static void number_rank_times(struct signing *x)
{
	const struct trace_total *total = &x->trace->total[TOTAL_COMPUTE];
	double known = 0, least = 0, sum = (double)total->sum;
	uint64_t number = 0;
	for (size_t i = 0; i < x->count; i++)
		known += x->ranks[i].compute;
	double rest = x->count && sum > known ? (sum - known) / (double)x->count : 0;
	double part = total->count && sum < known ? sum / known : 1;
	qsort(x->ranks, x->count, sizeof *x->ranks, rank_by_compute);
	for (size_t i = 0; i < x->count; i++) {
		x->ranks[i].compute = x->ranks[i].compute * part + rest;
		if (i == 0 || x->ranks[i].compute > ALIKE_TIME * least) {
			least = x->ranks[i].compute;
			number++;
		}
		x->ranks[i].time = hash_mix(x->ranks[i].time, number);
	}
}

/* The same of the calls of a site, if they matter: `differ` is how much that is, in ns. Groups that are few stay few:
 * what ranks took in all has room for ten of them. */
static int number_call_times(struct signing *x, uint32_t site, double differ)
{
	const struct trace_site *s = &x->trace->sites[site];
	double least = 0;
	uint64_t number = 0;
	if (s->most <= s->least || (double)(s->most - s->least) < differ || rankmap_empty(&s->means.map))
		return 0;
	for (size_t i = 0; i < x->count; i++) {
		if (!budget_step(1))
			return -1;
		x->ranks[i].call = 0;
		means_of_site(s, x->ranks[i].rank, &x->ranks[i].call);
	}
	qsort(x->ranks, x->count, sizeof *x->ranks, rank_by_call);
	for (size_t i = 0; i < x->count; i++) {
		double ns = x->ranks[i].call;
		if (i == 0 || (ns > ALIKE_TIME * least && ns - least > differ)) {
			least = ns;
			number++;
		}
		x->ranks[i].time = hash_mix(hash_mix(x->ranks[i].time, site), number);
	}
	return 0;
}

static int number_times(struct signing *x)
{
	const struct trace_total *total = &x->trace->total[TOTAL_ELAPSED];
	double differ = total->count ? ALIKE_PART * (double)total->sum / (double)total->count : 0;
	number_rank_times(x);
	for (uint32_t i = 0; total->count && i < x->trace->site_count; i++)
		if (!trace_initializes(trace_schema(x->trace, &x->trace->sites[i])) &&
		    number_call_times(x, i, differ) != 0)
			return -1;
	return 0;
}

/* ---- groups ---- */

static int compare_signs(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int rank_by_sign(const void *a, const void *b)
{
	const struct rank_sign *x = a, *y = b;
	int order = compare_signs(x->structure, y->structure);
	order = order ? order : compare_signs(x->volume, y->volume);
	order = order ? order : compare_signs(x->time, y->time);
	return order ? order : compare_signs(x->rank, y->rank);
}

static int group_by_size(const void *a, const void *b)
{
	const struct rank_group *x = a, *y = b;
	return x->count != y->count ? compare_signs(y->count, x->count)
	                            : compare_signs(rankmap_first(&x->ranks), rankmap_first(&y->ranks));
}

static bool is_alike(const struct rank_sign *a, const struct rank_sign *b)
{
	return a->structure == b->structure && a->volume == b->volume && a->time == b->time;
}

/* What a rank spent in MPI, but for MPI_Init. False: not known. */
static bool in_mpi(const struct trace *t, uint32_t rank, double *ns)
{
	uint64_t computes, passed;
	if (!trace_total_get(&t->total[TOTAL_COMPUTE], rank, &computes) ||
	    !trace_total_get(&t->total[TOTAL_ELAPSED], rank, &passed))
		return false;
	*ns = passed > computes ? (double)(passed - computes) : 0; /* rounded, each for itself */
	return true;
}

/* One group: n ranks, which ascend. */
static int group_take(const struct signing *x, const struct rank_sign *s, size_t n, struct rank_group *g)
{
	const uint32_t counters = x->trace->counter_count;
	struct rankmap_builder b = {.references = false};
	g->count = n;
	g->sign[RANK_GROUP_STRUCTURE] = s->structure;
	g->sign[RANK_GROUP_VOLUME] = s->volume;
	g->sign[RANK_GROUP_TIME] = s->time;
	for (size_t i = 0; i < n; i++) {
		double mpi = 0;
		g->mpi_ns = g->mpi_ns < 0 || !in_mpi(x->trace, s[i].rank, &mpi) ? -1 : g->mpi_ns + mpi / (double)n;
		g->events += s[i].events / (double)n;
		g->compute_ns += s[i].compute / (double)n;
		const uint64_t at = (uint64_t)ordinals_number(&x->order, s[i].rank) * counters;
		for (uint32_t k = 0; x->counts && k < counters; k++)
			g->counts[k] += x->counts[at + k] / (double)n;
		rankmap_add(&b, (struct rank_piece){.first = s[i].rank, .count = 1, .step = 1});
	}
	return rankmap_take(&b, &g->ranks);
}

/* What ranks of each group have is compared with those of the first. */
static void tell_differences(struct rank_groups *g)
{
	for (size_t k = 1; k < g->count; k++)
		for (int i = 0; i < RANK_GROUP_SIGNS; i++)
			g->groups[k].differs[i] = g->groups[k].sign[i] != g->groups[0].sign[i];
}

static int make_groups(struct rank_groups *g, struct signing *x)
{
	size_t count = 0;
	qsort(x->ranks, x->count, sizeof *x->ranks, rank_by_sign);
	for (size_t i = 0; i < x->count; i++)
		count += i == 0 || !is_alike(&x->ranks[i - 1], &x->ranks[i]);
	g->groups = budget_calloc(count + 1, sizeof *g->groups);
	if (!g->groups)
		return -1;
	for (size_t i = 0, n; i < x->count; i += n) {
		for (n = 1; i + n < x->count && is_alike(&x->ranks[i], &x->ranks[i + n]);)
			n++;
		if (group_take(x, &x->ranks[i], n, &g->groups[g->count++]) != 0)
			return -1;
	}
	qsort(g->groups, g->count, sizeof *g->groups, group_by_size);
	tell_differences(g);
	return 0;
}

static int sign_all(struct signing *x)
{
	const struct trace *t = x->trace;
	int64_t events;
	for (uint64_t rank = 0; rankmap_next(&t->events, &rank, &events); rank++) {
		if (!budget_step(1) || x->count == x->capacity)
			return -1;
		x->ranks[x->count++] = (struct rank_sign){.rank = (uint32_t)rank, .events = (double)events};
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		if (sign_columns(x, s, i) != 0)
			return -1;
		for (uint32_t k = 0; k < s->edge_count; k++)
			if (s->edges[k].classes && time_edge(x, &s->edges[k]) != 0)
				return -1;
	}
	return 0;
}

int rank_groups_make(struct rank_groups *g, const struct trace *t)
{
	int rv = -1;
	struct signing x = {.trace = t};
	*g = (struct rank_groups){0};
	if (ordinals_init(&x.order, &t->events) != 0)
		return -1;
	x.capacity = rankmap_size(&t->events); /* 0: no memory, if there are any */
	x.ranks = budget_calloc(x.capacity + 1, sizeof *x.ranks);
	if (x.ranks && t->counter_count)
		x.counts = budget_calloc(x.capacity * t->counter_count + 1, sizeof *x.counts);
	if (x.ranks && (x.counts || !t->counter_count) && sign_all(&x) == 0) {
		share_counts(&x);
		rv = number_times(&x) != 0 ? -1 : make_groups(g, &x);
	}
	budget_free(x.ranks);
	budget_free(x.counts);
	ordinals_free(&x.order);
	return rv;
}

void rank_groups_free(struct rank_groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		rankmap_free(&g->groups[i].ranks);
	budget_free(g->groups);
	*g = (struct rank_groups){0};
}
