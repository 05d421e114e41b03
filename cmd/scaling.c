/* SPDX-License-Identifier: BSD-3-Clause
 * scaling - the laws of an application's figures, and what they say of more ranks
 */
#include <math.h>
#include <stdlib.h>

#include "cmd/scaling.h"

#define NEAR    0.25 /* of a power: about as strong, or weak, scaling has it */
#define USEFUL  0.5  /* efficiency */
#define LOOKED  1024 /* times the largest size */
#define NO_TIME 1e-12
#define GROWING 0.05 /* of the time: what matters */
#define PART    0.01 /* of the time of a run: such a call site is looked at by itself */

const double scale_ahead[SCALE_AHEAD] = {2, 4, 16};

static bool figure_counts(size_t figure)
{
	return figure == GROWTH_CALLS || figure == GROWTH_BYTES;
}

/* --- laws --- */

static void find_law(const struct scaling *s, struct scale_law *law, const double *values, size_t figure, bool range)
{
	double at[SCALE_AHEAD];
	size_t n = s->growth.run_count;
	model_fit(&law->model, s->ranks, values, n, figure_counts(figure));
	for (int i = 0; i < SCALE_AHEAD; i++) {
		at[i] = scale_ahead[i] * s->largest;
		law->at[i] = law->low[i] = law->high[i] = model_at(&law->model.law, at[i]);
	}
	if (range)
		model_range(&law->model, s->ranks, values, n, at, SCALE_AHEAD, law->low, law->high);
}

double scaling_value(const struct scaling *s, enum growth_figure figure, double ranks)
{
	double sum = 0;
	for (size_t i = 0; i < s->part_count[figure]; i++)
		sum += model_at(&s->parts[figure][i].law, ranks);
	return sum;
}

double scaling_time(const struct scaling *s, double ranks)
{
	return scaling_value(s, GROWTH_COMPUTE, ranks) + scaling_value(s, GROWTH_MPI, ranks);
}

double scaling_efficiency(const struct scaling *s, double ranks)
{
	double all = scaling_time(s, ranks);
	return all > NO_TIME ? scaling_value(s, GROWTH_COMPUTE, ranks) / all : 1;
}

/* Has it a part of its own? */
static bool is_part(const struct growth *g, const struct growth_site *site)
{
	size_t n = g->run_count;
	if (site->runs != n)
		return false;
	for (size_t r = 0; r < n; r++)
		if (site->values[GROWTH_COMPUTE * n + r] + site->values[GROWTH_MPI * n + r] >=
		    PART * (g->runs[r].total[GROWTH_COMPUTE] + g->runs[r].total[GROWTH_MPI]))
			return true;
	return false;
}

static void add_part(struct scaling *s, size_t figure, const double *values)
{
	double at[SCALE_AHEAD], low[SCALE_AHEAD], high[SCALE_AHEAD];
	struct model *m = &s->parts[figure][s->part_count[figure]++];
	struct scale_law *total = &s->total[figure];
	model_fit(m, s->ranks, values, s->growth.run_count, false);
	for (int i = 0; i < SCALE_AHEAD; i++)
		at[i] = scale_ahead[i] * s->largest;
	model_range(m, s->ranks, values, s->growth.run_count, at, SCALE_AHEAD, low, high);
	for (int i = 0; i < SCALE_AHEAD; i++) {
		total->at[i] += model_at(&m->law, at[i]);
		total->low[i] += low[i];
		total->high[i] += high[i];
	}
}

/* values: room for those of each run. */
static void add_parts(struct scaling *s, size_t figure, double *values)
{
	const struct growth *g = &s->growth;
	size_t n = g->run_count;
	struct scale_law *total = &s->total[figure];
	for (int i = 0; i < SCALE_AHEAD; i++)
		total->at[i] = total->low[i] = total->high[i] = 0;
	for (size_t r = 0; r < n; r++)
		values[r] = g->runs[r].total[figure];
	for (size_t i = 0; i < g->site_count; i++) {
		if (!is_part(g, &g->sites[i]))
			continue;
		const double *of_site = g->sites[i].values + figure * n;
		for (size_t r = 0; r < n; r++)
			values[r] = fmax(values[r] - of_site[r], 0);
		add_part(s, figure, of_site);
	}
	add_part(s, figure, values);
}

static int find_totals(struct scaling *s)
{
	size_t n = s->growth.run_count;
	double *values = malloc((n + 1) * sizeof *values);
	int rv = values ? 0 : -1;
	for (size_t f = 0; rv == 0 && f < GROWTH_FIGURES; f++) {
		for (size_t r = 0; r < n; r++)
			values[r] = s->growth.runs[r].total[f];
		find_law(s, &s->total[f], values, f, figure_counts(f));
		if (figure_counts(f))
			continue;
		s->parts[f] = calloc(s->growth.site_count + 1, sizeof *s->parts[f]);
		if (s->parts[f])
			add_parts(s, f, values);
		else
			rv = -1;
	}
	free(values);
	return rv;
}

/* Doubles the ranks, then halves the interval. */
static void find_half(struct scaling *s)
{
	double low = s->largest, high = low;
	if (scaling_efficiency(s, low) < USEFUL)
		low = 1;
	while (high <= s->largest * LOOKED && scaling_efficiency(s, high) >= USEFUL)
		high *= 2;
	if (scaling_efficiency(s, high) >= USEFUL || scaling_efficiency(s, low) < USEFUL)
		return;
	while (high - low >= 1) {
		double middle = (low + high) / 2;
		*(scaling_efficiency(s, middle) >= USEFUL ? &low : &high) = middle;
	}
	s->half = floor(low);
}

/* b/a as a power of how many times more ranks there are. */
static double power_of(double a, double b, double more)
{
	return a > 0 && b > 0 && more > 1 ? log(b / a) / log(more) : NAN;
}

static double bytes_a_call(const struct growth_run *run)
{
	return run->total[GROWTH_CALLS] > 0 ? run->total[GROWTH_BYTES] / run->total[GROWTH_CALLS] : 0;
}

static void find_power(struct scaling *s)
{
	const struct growth_run *few = &s->growth.runs[0], *most = &s->growth.runs[s->growth.run_count - 1];
	const double more = (double)most->ranks / few->ranks,
		     power = power_of(few->total[GROWTH_COMPUTE], most->total[GROWTH_COMPUTE], more);
	s->computes = !isnan(power);
	s->power = s->computes ? power : 0;
	s->message_power = power_of(bytes_a_call(few), bytes_a_call(most), more);
}

/* What ranks exchange tells it where no computation does: parts of one whole have ever smaller surfaces. */
const char *scaling_kind(const struct scaling *s)
{
	if (!s->computes && !isnan(s->message_power))
		return fabs(s->message_power) <= NEAR ? "weak" : s->message_power < 0 ? "strong" : "neither";
	return fabs(s->power - 1) <= NEAR ? "weak" : fabs(s->power) <= NEAR ? "strong" : "neither";
}

/* --- call sites --- */

static double share_of(double site, double all)
{
	return all > NO_TIME ? fmin(site / all, 1) : 0;
}

static void find_site(const struct scaling *s, struct scale_site *to, const struct growth_site *site)
{
	size_t n = s->growth.run_count;
	const struct growth_run *most = &s->growth.runs[n - 1];
	const int last = SCALE_AHEAD - 1;
	to->site = site;
	for (size_t f = 0; f < GROWTH_FIGURES; f++)
		find_law(s, &to->laws[f], site->values + f * n, f, false);
	to->share = share_of(site->values[GROWTH_COMPUTE * n + n - 1] + site->values[GROWTH_MPI * n + n - 1],
	                     most->total[GROWTH_COMPUTE] + most->total[GROWTH_MPI]);
	to->share_ahead = share_of(to->laws[GROWTH_COMPUTE].at[last] + to->laws[GROWTH_MPI].at[last],
	                           scaling_time(s, scale_ahead[last] * s->largest));
}

static int by_share_ahead(const void *a, const void *b)
{
	const struct scale_site *x = a, *y = b;
	if (x->share_ahead != y->share_ahead)
		return x->share_ahead < y->share_ahead ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

static int find_sites(struct scaling *s)
{
	s->sites = calloc(s->growth.site_count + 1, sizeof *s->sites);
	for (size_t i = 0; s->sites && i < s->growth.site_count; i++)
		if (s->growth.sites[i].runs == s->growth.run_count)
			find_site(s, &s->sites[s->site_count++], &s->growth.sites[i]);
	s->others = s->growth.site_count - s->site_count;
	if (s->sites && s->site_count)
		qsort(s->sites, s->site_count, sizeof *s->sites, by_share_ahead);
	return s->sites ? 0 : -1;
}

const struct scale_site *scaling_fastest(const struct scaling *s)
{
	const struct scale_site *most = NULL;
	for (size_t i = 0; i < s->site_count; i++)
		if (s->sites[i].share_ahead >= GROWING && s->sites[i].share_ahead > s->sites[i].share &&
		    (!most || s->sites[i].share_ahead - s->sites[i].share > most->share_ahead - most->share))
			most = &s->sites[i];
	return most;
}

/* --- all of it --- */

int scaling_find(struct scaling *s, struct error *error)
{
	const struct growth *g = &s->growth;
	size_t sizes = growth_sizes(g);
	if (sizes < MODEL_LEAST)
		return error_set(
			error,
			"not enough sizes: a law needs runs of %d different numbers of ranks at least, and these "
			"are of %zu",
			MODEL_LEAST, sizes);
	s->ranks = malloc(g->run_count * sizeof *s->ranks);
	for (size_t i = 0; s->ranks && i < g->run_count; i++)
		s->ranks[i] = g->runs[i].ranks;
	s->largest = g->runs[g->run_count - 1].ranks;
	if (!s->ranks || find_totals(s) != 0 || find_sites(s) != 0)
		return error_set(error, "no memory");
	find_power(s);
	find_half(s);
	return 0;
}

void scaling_free(struct scaling *s)
{
	for (size_t f = 0; f < GROWTH_FIGURES; f++)
		free(s->parts[f]);
	free(s->sites);
	free(s->ranks);
	growth_free(&s->growth);
	scale_runs_free(&s->of);
}
