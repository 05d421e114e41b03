/* SPDX-License-Identifier: BSD-3-Clause
 * means - what each rank spent, as a rank map
 */
#include "trace/model/means.h"

#include "trace/base/budget.h"
#include "trace/model/flow_code.h"

#define DIGITS_CODE 6
#define DIGITS      4      /* of step 0 */
#define PARTS_MOST  0x1p62 /* of the mean, in steps */

int64_t means_code(uint64_t ns)
{
	return (int64_t)flow_code(ns, DIGITS_CODE);
}

static double code_ns(int64_t code)
{
	return (double)flow_ticks((uint64_t)code, DIGITS_CODE);
}

int means_add(struct trace_means *into, const struct trace_means *from)
{
	if (rankmap_empty(&from->map))
		return 0;
	into->finished = from->finished;
	into->step = from->step;
	return rankmap_union(&into->map, &into->map, &from->map);
}

static unsigned step_digits(unsigned step)
{
	return step < DIGITS ? DIGITS - step : 0;
}

int64_t means_step(double ns, double mean, unsigned step)
{
	const unsigned digits = step_digits(step);
	double parts = (mean > 0 ? ns / mean : 1) * (double)(1U << digits) + 0.5;
	int64_t code = (int64_t)flow_code((uint64_t)(parts < PARTS_MOST ? parts : PARTS_MOST), digits) - (1 << digits);
	return step > DIGITS ? code / (1 << (step - DIGITS)) : code;
}

/* The reverse, in parts of the mean. */
static double step_parts(int64_t value, unsigned step)
{
	const unsigned digits = step_digits(step);
	int64_t code = (value < -16    ? -16
	                : value > 1024 ? 1024
	                               : value) *
	                       (step > DIGITS ? 1 << (step - DIGITS) : 1) +
	               (1 << digits);
	if (code <= 0)
		return digits ? 0 : 0.25;
	return (double)flow_ticks((uint64_t)code, digits) / (double)(1U << digits);
}

double means_width(unsigned step)
{
	return step <= DIGITS ? 1.0 / (double)(1U << (DIGITS - step)) : (double)(1U << (1 << (step - DIGITS)));
}

int means_relative(struct rankmap *out, const struct rankmap *m, double mean, unsigned step)
{
	struct rankmap_builder b = {.references = false};
	int64_t code;
	if (rankmap_constant(m, &code))
		return rankmap_fill(out, m, means_step(code_ns(code), mean, step), false);
	for (uint64_t rank = 0; rankmap_next(m, &rank, &code); rank++)
		rankmap_add(&b, (struct rank_piece){.first = (uint32_t)rank,
		                                    .count = 1,
		                                    .step = 1,
		                                    .value = means_step(code_ns(code), mean, step)});
	return rankmap_take(&b, out);
}

int means_level(struct rankmap *out, const struct rankmap *m, double mean)
{
	struct rankmap_builder b = {.references = false};
	int64_t code;
	for (uint64_t rank = 0; rankmap_next(m, &rank, &code); rank++) {
		double ns = code_ns(code), off = ns < mean ? mean - ns : ns - mean;
		rankmap_add(&b,
		            (struct rank_piece){.first = (uint32_t)rank,
		                                .count = 1,
		                                .step = 1,
		                                .value = off < MEANS_MATTER_NS ? means_code((uint64_t)mean) : code});
	}
	return rankmap_take(&b, out);
}

double means_value(const struct trace_means *m, double mean, int64_t value)
{
	return m->finished ? mean * step_parts(value, m->step) : code_ns(value);
}

bool means_get(const struct trace_means *m, double mean, uint32_t rank, double *ns)
{
	int64_t value;
	if (!rankmap_get(&m->map, rank, &value))
		return false;
	*ns = means_value(m, mean, value);
	return true;
}

bool means_of_site(const struct trace_site *s, uint32_t rank, double *ns)
{
	int64_t visits;
	if (!rankmap_get(&s->visits, rank, &visits) || visits < 0 ||
	    !means_get(&s->means, histogram_mean(&s->communicate), rank, ns))
		return false;
	*ns *= (double)visits;
	return true;
}

/* ---- totals ---- */

bool trace_total_known(const struct trace_total *total)
{
	return total->ranks || !rankmap_empty(&total->means.map);
}

static bool exact_total(const struct trace_total *total, uint32_t rank, uint64_t *ns)
{
	for (uint64_t i = 0; i < total->count; i++)
		if (total->ranks[i].rank == rank) {
			*ns = total->ranks[i].ns;
			return true;
		}
	return false;
}

/* What a value of the map says, between the least and the most. */
static double total_value(const struct trace_total *total, int64_t value)
{
	double mean = total->count ? (double)total->sum / (double)total->count : 0,
	       about = means_value(&total->means, mean, value);
	about = about <= (double)total->min   ? (double)total->min
	        : about >= (double)total->max ? (double)total->max
	                                      : about;
	return about + ((double)total->share_to - about) * total->share;
}

bool trace_total_get(const struct trace_total *total, uint32_t rank, uint64_t *ns)
{
	int64_t value;
	if (total->ranks)
		return exact_total(total, rank, ns);
	if (!rankmap_get(&total->means.map, rank, &value))
		return false;
	*ns = rank == total->min_rank   ? total->min
	      : rank == total->max_rank ? total->max
	                                : (uint64_t)total_value(total, value);
	return true;
}

void trace_total_share(struct trace_total *total)
{
	const struct rankmap *map = &total->means.map;
	double sum = 0, rest = (double)total->sum, count = 0;
	int64_t value;
	total->share = 0;
	if (!total->means.finished || rankmap_size(map) != total->count || total->count > TOTALS_SHARED)
		return;
	for (uint64_t rank = 0; rankmap_next(map, &rank, &value); rank++) {
		if (rank == total->min_rank || rank == total->max_rank) {
			rest -= (double)(rank == total->min_rank ? total->min : total->max);
			continue;
		}
		sum += total_value(total, value);
		count++;
	}
	total->share_to = rest < sum ? total->min : total->max;
	double way = count * (double)total->share_to - sum, part = way != 0 ? (rest - sum) / way : 0;
	total->share = part > 1 ? 1 : part;
}

/* What is known of each rank, as codes: of `ranks`, or of what is there already. */
static int add_codes(struct trace_means *into, const struct trace_total *from)
{
	struct rankmap_builder b = {.references = false};
	struct trace_means one = {.step = 0};
	if (!from->ranks)
		return means_add(into, &from->means);
	for (uint64_t i = 0; i < from->count; i++)
		rankmap_add(&b, (struct rank_piece){.first = from->ranks[i].rank,
		                                    .count = 1,
		                                    .step = 1,
		                                    .value = means_code(from->ranks[i].ns)});
	int rv = rankmap_take(&b, &one.map) != 0 ? -1 : means_add(into, &one);
	rankmap_free(&one.map);
	return rv;
}

/* Both are few: one list, by rank. */
static int join_ranks(struct trace_total *to, const struct trace_total *from)
{
	uint64_t count = to->count + from->count, n = 0;
	struct trace_rank_ns *ranks = budget_malloc(count * sizeof *ranks);
	if (!ranks)
		return -1;
	for (uint64_t i = 0, k = 0; i < to->count || k < from->count;)
		ranks[n++] = k == from->count || (i < to->count && to->ranks[i].rank <= from->ranks[k].rank)
		                     ? to->ranks[i++]
		                     : from->ranks[k++];
	budget_free(to->ranks);
	to->ranks = ranks;
	return 0;
}

static int join_codes(struct trace_total *to, const struct trace_total *from)
{
	if (to->ranks && add_codes(&to->means, to) != 0)
		return -1;
	budget_free(to->ranks);
	to->ranks = NULL;
	return add_codes(&to->means, from);
}

int trace_total_add(struct trace_total *to, const struct trace_total *from)
{
	if (from->count == 0)
		return 0;
	bool few = to->count + from->count <= TOTALS_MAX && from->ranks && (to->count == 0 || to->ranks);
	if ((few ? join_ranks : join_codes)(to, from) != 0)
		return -1;
	if (to->count == 0 || from->min < to->min || (from->min == to->min && from->min_rank < to->min_rank)) {
		to->min = from->min;
		to->min_rank = from->min_rank;
	}
	if (to->count == 0 || from->max > to->max || (from->max == to->max && from->max_rank < to->max_rank)) {
		to->max = from->max;
		to->max_rank = from->max_rank;
	}
	to->count += from->count;
	to->sum += from->sum;
	return 0;
}
