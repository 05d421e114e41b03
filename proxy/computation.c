/* SPDX-License-Identifier: BSD-3-Clause
 * computation - what ranks compute on an edge of a trace
 *
 * Ranks are of one kind if they have the same pattern of classes, the same keys in it, and the same mean. Where that
 * gives more kinds than a reader would follow, means that are near each other become one; if there are still too many,
 * the last kinds become one.
 */
#include "proxy/computation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/computation_keys.h"
#include "trace/model/classes.h"

/* What varies by more than this part of its mean, and takes more than this part of all time, is drawn. */
#define VARIES 0.1
#define PART   1e-3
/* Ranks that wait for each other wait for longer if their times vary. What makes that more than this part of the mean,
 * with two ranks, is made to vary, too. */
#define WAITS 0.005
/* Times in a class that vary by more than this part of their mean say more than which class it is. */
#define WIDE 0.5
/* A mean that is no more than so many standard errors off is that of all. */
#define ERRORS 2
/* Means that differ by less are one. */
#define NEAR 0.05
/* As wide as this, times that lie evenly have a deviation of 1. */
#define EVENLY 3.4641016151377544
/* Visits that are looked at to see how classes follow each other. */
#define VISITS_MOST 65536
/* First visits that need not be as those behind them. */
#define FIRST_MOST 4

/* ---- which ranks are of one kind ---- */

struct signature {
	uint64_t group; /* hash of the pattern and the keys */
	int64_t mean;   /* in CLASS_PARTS, rounded */
};

static uint64_t mix_hash(uint64_t hash, uint64_t x)
{
	hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static struct signature rank_signature(const struct trace_edge *e, uint32_t rank, int64_t step)
{
	struct signature s = {0};
	const struct trace_classes *k = e->classes;
	int64_t value;
	for (uint32_t g = 0; k && g < k->column.count; g++) {
		const struct trace_group *group = &k->column.groups[g];
		if (!rankmap_get(trace_group_ranks(group), rank, &value))
			continue;
		s.group = mix_hash(1, group->pattern);
		for (uint32_t i = 0; i < group->count; i++) {
			rankmap_get(&group->dict[i].start, rank, &value);
			s.group = mix_hash(s.group, (uint64_t)value);
			if (rankmap_get(&group->dict[i].stride, rank, &value))
				s.group = mix_hash(s.group, (uint64_t)value + 1);
		}
	}
	s.mean = step ? (int64_t)floor((double)computation_rank_parts(e, rank) / (double)step + 0.5) : 0;
	return s;
}

/* What is counted most hardly varies: then time does by chance, and classes say nothing. */
static bool counts_steady(const struct trace_edge *e)
{
	const struct histogram *most = NULL;
	for (unsigned i = 0; e->counts && i < TRACE_COUNTERS; i++)
		if (e->counts[i].count && (!most || histogram_mean(&e->counts[i]) > histogram_mean(most)))
			most = &e->counts[i];
	return most && histogram_deviation(most) <= VARIES * histogram_mean(most);
}

/* All ranks have the same: the usual case, without looking at each of them. */
static bool all_alike(const struct trace_edge *e)
{
	const struct trace_classes *k = e->classes;
	int64_t value;
	return !k || (k->column.count == 0 && (rankmap_empty(&k->mean) || rankmap_constant(&k->mean, &value)));
}

struct kind_ranks {
	struct signature signature;
	uint32_t first; /* rank */
	double count, mean;
};

/* Returns how many kinds there are with means in steps; more than RANK_KINDS: too many. */
static uint32_t sort_ranks(const struct trace_site *from, const struct trace_edge *e, int64_t step, bool force,
                           uint8_t *kind, struct kind_ranks *found)
{
	uint32_t count = 0;
	int64_t visits;
	for (uint64_t r = 0; rankmap_next(&from->visits, &r, &visits); r++) {
		struct signature s = rank_signature(e, (uint32_t)r, step);
		uint32_t i = 0;
		while (i < count && (found[i].signature.group != s.group || found[i].signature.mean != s.mean))
			i++;
		if (i == RANK_KINDS && !force)
			return RANK_KINDS + 1;
		i = i == RANK_KINDS ? i - 1 : i;
		if (i == count)
			found[count++] = (struct kind_ranks){.signature = s, .first = (uint32_t)r};
		kind[r] = (uint8_t)i;
		found[i].count++;
		found[i].mean += (double)computation_rank_parts(e, (uint32_t)r);
	}
	return count;
}

/* ---- what a kind does ---- */

static struct computation_part class_part(const struct trace_edge *e, uint32_t key, uint64_t times, double factor)
{
	const struct trace_class *c = computation_class(e, key);
	const struct histogram *counts = c && c->counts ? c->counts : e->counts;
	struct computation_part part = {
		.times = times, .key = key, .ns = histogram_mean(c ? &c->compute : &e->compute) * factor};
	for (unsigned i = 0; counts && i < TRACE_COUNTERS; i++)
		part.counts[i] = histogram_mean(counts[i].count ? &counts[i] : &e->counts[i]) * factor;
	return part;
}

/* The shortest period of n keys. */
static size_t find_period(const uint32_t *keys, size_t n, size_t *borders)
{
	size_t border = 0;
	borders[0] = 0;
	for (size_t i = 1; i < n; i++) {
		while (border > 0 && keys[i] != keys[border])
			border = borders[border - 1];
		border += keys[i] == keys[border];
		borders[i] = border;
	}
	return n - borders[n - 1];
}

/* Runs of equal keys, added to the parts. False: there are too many. */
static bool add_runs(struct computation *c, const struct trace_edge *e, double factor, const uint32_t *keys, size_t n)
{
	for (size_t i = 0, begin = 0; i < n; i++) {
		if (i + 1 < n && keys[i + 1] == keys[begin])
			continue;
		if (c->count == COMPUTATION_PARTS)
			return false;
		c->parts[c->count++] = class_part(e, keys[begin], i + 1 - begin, factor);
		begin = i + 1;
	}
	return true;
}

static bool find_turns(struct computation *c, const struct trace_edge *e, double factor, const uint32_t *keys, size_t n,
                       size_t *borders)
{
	size_t best = 0, length = SIZE_MAX;
	for (size_t first = 0; first < FIRST_MOST && first < n; first++) {
		size_t period = find_period(keys + first, n - first, borders);
		if (first + period < length) {
			best = first;
			length = first + period;
		}
	}
	c->count = 0;
	if (!add_runs(c, e, factor, keys, best))
		return false;
	c->again = c->count;
	return add_runs(c, e, factor, keys + best, length - best);
}

static int compare_parts(const void *a, const void *b)
{
	const struct computation_part *x = a, *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Each key as often as it comes; of more than there are parts, the last ones are one. */
static void draw_keys(struct computation *c, const struct trace_edge *e, double factor, const uint32_t *keys, size_t n)
{
	uint32_t known[COMPUTATION_PARTS];
	c->drawn = true;
	c->count = c->again = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t k = 0;
		while (k < c->count && known[k] != keys[i])
			k++;
		if (k == c->count && k < COMPUTATION_PARTS) {
			known[k] = keys[i];
			c->parts[c->count++] = class_part(e, keys[i], 0, factor);
		}
		c->parts[k < COMPUTATION_PARTS ? k : COMPUTATION_PARTS - 1].times++;
	}
	qsort(c->parts, c->count, sizeof *c->parts, compare_parts); /* as bins are */
}

/* How much of a deviation is left in one rank. spread: of the means of ranks, relative to all of them. */
static double narrowed(const struct histogram *h, double spread)
{
	double all = histogram_deviation(h), between = spread * histogram_mean(h),
	       within = all * all - between * between;
	return within > 0 && all > 0 ? sqrt(within) / all : 0;
}

/* One class whose times vary: its bins. spread: of the means of ranks, relative to all of them. */
static void draw_bins(struct computation *c, const struct trace *t, const struct histogram *h, double factor,
                      double spread)
{
	double mean = histogram_mean(h), all = histogram_deviation(h), narrow = narrowed(h, spread);
	if (all * narrow < VARIES * mean || h->bin_count < 2 || h->bin_count > COMPUTATION_PARTS ||
	    (double)h->sum < PART * (double)t->total[TOTAL_ELAPSED].sum)
		return;
	c->drawn = true;
	c->count = h->bin_count;
	double sum = 0, count = 0; /* what the bins say is rounded */
	for (uint32_t i = 0; i < h->bin_count; i++) {
		sum += histogram_bin_mean(&h->bins[i]) * (double)h->bins[i].count;
		count += (double)h->bins[i].count;
	}
	for (uint32_t i = 0; i < h->bin_count; i++) {
		double off = histogram_bin_mean(&h->bins[i]) - sum / count;
		c->parts[i] =
			(struct computation_part){.times = h->bins[i].count,
		                                  .ns = fmax(0, mean * factor + off * narrow),
		                                  .width = EVENLY * histogram_bin_deviation(&h->bins[i]) * narrow};
	}
}

/* By how much two values of a histogram differ in the mean; its bins are taken to be normal. */
static double mean_difference(const struct histogram *h)
{
	double sum = 0, count = (double)h->count;
	for (uint32_t i = 0; i < h->bin_count; i++)
		for (uint32_t k = 0; k < h->bin_count; k++) {
			const struct histogram_bin *a = &h->bins[i], *b = &h->bins[k];
			double off = fabs(histogram_bin_mean(a) - histogram_bin_mean(b)),
			       wide = hypot(histogram_bin_deviation(a), histogram_bin_deviation(b));
			double one = wide > 0 ? wide * sqrt(2 / M_PI) * exp(-off * off / (2 * wide * wide)) +
			                                off * erf(off / (wide * M_SQRT2))
			                      : off;
			sum += one * (double)a->count * (double)b->count / (count * count);
		}
	return sum;
}

/* Times of one class that vary a little: an interval in which two of them differ by as much. */
static void widen_parts(struct computation *c, const struct trace *t, const struct trace_edge *e, double spread)
{
	double least = PART * (double)t->total[TOTAL_ELAPSED].sum;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct trace_class *k = computation_class(e, c->parts[i].key);
		const struct histogram *h = k ? &k->compute : &e->compute;
		double mean = histogram_mean(h), differ = mean_difference(h) * narrowed(h, spread);
		if (mean > 0 && differ / 2 > WAITS * mean && (double)h->sum > least)
			c->parts[i].width = fmin(2, 3 * differ / mean) * c->parts[i].ns;
	}
}

double computation_width(const struct computation *c)
{
	double width = 0, ns = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		width += c->parts[i].width * (double)c->parts[i].times;
		ns += c->parts[i].ns * (double)c->parts[i].times;
	}
	return width > 0.01 * ns ? width / ns : 0;
}

/* What is computed in the first visits of a rank, in the mean: ns, or of a counter (negative: ns). */
static double mean_of_visits(const struct computation *c, uint64_t visits, int counter)
{
	double sum = 0, all = 0;
	for (uint32_t i = 0, turns = 0; i < c->count && visits > 0 && turns < VISITS_MOST; turns++) {
		uint64_t n = c->drawn || c->parts[i].times < visits ? c->parts[i].times : visits;
		sum += (double)n * (counter < 0 ? c->parts[i].ns : c->parts[i].counts[counter]);
		all += (double)n;
		visits -= c->drawn ? 0 : n;
		i = i + 1 < c->count || c->drawn ? i + 1 : c->again;
	}
	return all > 0 ? sum / all : 0;
}

/* Is the mean of n visits that of all ranks, but for what it may be off by chance? */
static bool is_like_all(const struct computation *c, const struct trace_edge *e, size_t n)
{
	double off = mean_of_visits(c, n, -1) - histogram_mean(&e->compute);
	return fabs(off) <= ERRORS * histogram_deviation(&e->compute) / sqrt((double)n);
}

static int kind_computation(const struct trace *t, const struct trace_edge *e, uint32_t rank, double factor,
                            double spread, bool by_counts, struct pattern *patterns, struct computation *c)
{
	uint32_t *keys = calloc(VISITS_MOST, sizeof *keys);
	size_t *borders = calloc(VISITS_MOST, sizeof *borders);
	size_t n = keys && borders ? computation_keys(t, e, rank, patterns, keys, VISITS_MOST) : 0;
	if (n > 0 && !find_turns(c, e, factor, keys, n, borders))
		draw_keys(c, e, factor, keys, n);
	if (n > 0 && !by_counts)
		widen_parts(c, t, e, spread);
	bool wide = n > 0 && c->count > 1 && !by_counts && computation_width(c) > WIDE;
	if (n > 0 && c->count == 1 && !by_counts) {
		const struct trace_class *one = computation_class(e, keys[0]);
		draw_bins(c, t, one ? &one->compute : &e->compute, factor, spread);
	} else if (wide && is_like_all(c, e, n)) {
		draw_bins(c, t, &e->compute, 1, 0);
	}
	if (wide && !c->drawn) {
		draw_keys(c, e, factor, keys, n);
		widen_parts(c, t, e, spread);
	}
	free(keys);
	free(borders);
	return n > 0 ? 0 : -1;
}

/* ---- both ---- */

static double mean_factor(const struct kind_ranks *k)
{
	return 1 + k->mean / k->count / CLASS_PARTS;
}

static double kinds_spread(const struct kind_ranks *found, uint32_t count)
{
	double ranks = 0, squares = 0;
	for (uint32_t i = 0; i < count; i++) {
		double off = mean_factor(&found[i]) - 1;
		squares += off * off * found[i].count;
		ranks += found[i].count;
	}
	return ranks > 0 ? sqrt(squares / ranks) : 0;
}

static double all_ranks(const struct computation_kinds *kinds, const struct kind_ranks *found)
{
	double ranks = 0;
	for (uint32_t i = 0; i < kinds->count; i++)
		ranks += found[i].count;
	return ranks;
}

/* How often a rank comes there, if all do equally often. */
static uint64_t visits_each(const struct trace_edge *e, double ranks)
{
	return ranks > 0 ? (uint64_t)ceil((double)e->compute.count / ranks) : 1;
}

/* The trace has no mean of ranks that are near what is expected: they get what the others leave of the edge's sum. If
 * there are none, all of them share what is left. All ranks are taken to come there equally often; where that would
 * change much, they do not. */
static void correct_sum(struct computation_kinds *kinds, const struct kind_ranks *found, const struct trace_edge *e)
{
	double ranks = all_ranks(kinds, found), known = 0, other = 0;
	for (uint32_t i = 0; i < kinds->count; i++) {
		double sum = found[i].count * mean_of_visits(&kinds->each[i], visits_each(e, ranks), -1);
		*(found[i].signature.mean ? &known : &other) += sum;
	}
	double all = (double)e->compute.sum / ((double)e->compute.count / ranks),
	       scale = other > 0 ? (all - known) / other : all / known;
	for (uint32_t i = 0; scale > 0.8 && scale < 1.25 && i < kinds->count; i++)
		for (uint32_t k = 0; (other <= 0 || found[i].signature.mean == 0) && k < kinds->each[i].count; k++)
			kinds->each[i].parts[k].ns *= scale;
}

/* The classes lack what was counted first: all kinds get as much more. */
static void correct_counts(struct computation_kinds *kinds, const struct kind_ranks *found, const struct trace_edge *e)
{
	for (unsigned n = 0; e->counts && n < TRACE_COUNTERS; n++) {
		double sum = 0, ranks = all_ranks(kinds, found);
		for (uint32_t i = 0; i < kinds->count; i++)
			sum += found[i].count * mean_of_visits(&kinds->each[i], visits_each(e, ranks), (int)n);
		double scale = sum > 0 ? histogram_mean(&e->counts[n]) * ranks / sum : 1;
		for (uint32_t i = 0; i < kinds->count; i++)
			for (uint32_t k = 0; k < kinds->each[i].count; k++)
				kinds->each[i].parts[k].counts[n] *= scale;
	}
}

/* On a noisy machine, ranks that do the same were sorted in different ways: kinds that are drawn, with means that are
 * near each other, become one, with the mean of all these ranks. */
static void join_drawn(struct computation_kinds *kinds, const struct kind_ranks *found, uint32_t ranks)
{
	uint32_t kept = 0;
	uint8_t to[RANK_KINDS];
	double sum[RANK_KINDS] = {0}, count[RANK_KINDS] = {0};
	for (uint32_t i = 0; i < kinds->count; i++) {
		const struct computation *c = &kinds->each[i];
		uint32_t k = 0;
		double mean = mean_of_visits(c, 1, -1);
		while (k < kept && !(c->drawn && kinds->each[k].drawn &&
		                     fabs(mean - mean_of_visits(&kinds->each[k], 1, -1)) < NEAR * mean))
			k++;
		to[i] = (uint8_t)k;
		if (k == kept)
			kinds->each[kept++] = *c;
		sum[k] += found[i].count * mean;
		count[k] += found[i].count;
	}
	for (uint32_t k = 0; k < kept; k++) {
		double mean = mean_of_visits(&kinds->each[k], 1, -1);
		for (uint32_t i = 0; kinds->each[k].drawn && mean > 0 && i < kinds->each[k].count; i++)
			kinds->each[k].parts[i].ns *= sum[k] / count[k] / mean;
	}
	for (uint32_t r = 0; r < ranks; r++)
		if (kinds->kind[r] != RANK_ANY)
			kinds->kind[r] = to[kinds->kind[r]];
	kinds->count = kept;
}

int computation_kinds(const struct trace *t, const struct trace_site *from, const struct trace_edge *e, bool by_counts,
                      struct pattern *patterns, struct computation_kinds *kinds)
{
	const struct trace_edge steady = {.to = e->to, .compute = e->compute, .counts = e->counts};
	struct kind_ranks found[RANK_KINDS] = {{.first = 0}};
	uint32_t count = RANK_KINDS + 1;
	*kinds = (struct computation_kinds){.kind = malloc((size_t)t->size + 1)};
	if (!kinds->kind)
		return -1;
	memset(kinds->kind, RANK_ANY, (size_t)t->size + 1);
	if (by_counts && counts_steady(e))
		e = &steady;
	for (int64_t step = all_alike(e) ? 0 : 1; count > RANK_KINDS; step = step > 4 * CLASS_PARTS ? 0 : 2 * step)
		count = sort_ranks(from, e, step, step == 0, kinds->kind, memset(found, 0, sizeof found));
	kinds->each = calloc(count ? count : 1, sizeof *kinds->each);
	if (!kinds->each)
		return -1;
	kinds->count = count;
	double spread = kinds_spread(found, count);
	for (uint32_t i = 0; i < count; i++)
		if (kind_computation(t, e, found[i].first, mean_factor(&found[i]), spread, by_counts, patterns,
		                     &kinds->each[i]) != 0)
			return -1;
	correct_sum(kinds, found, e);
	correct_counts(kinds, found, e);
	join_drawn(kinds, found, t->size);
	return 0;
}

void computation_kinds_free(struct computation_kinds *kinds)
{
	free(kinds->kind);
	free(kinds->each);
	*kinds = (struct computation_kinds){0};
}
