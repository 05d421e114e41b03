/* SPDX-License-Identifier: BSD-3-Clause
 * scale - `spoor scale FILE...`: how an application grows with its ranks, and what more of them would cost
 */
#include "cmd/scale.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/base/filter.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/cmd.h"

#define ALIKE   0.5  /* of the calls at sites of all runs: else they are different programs */
#define NEAR    0.25 /* of a power: about as strong, or weak, scaling has it */
#define USEFUL  0.5  /* efficiency */
#define LOOKED  1024 /* times the largest size */
#define NO_TIME 1e-12
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

static void find_power(struct scaling *s)
{
	const struct growth_run *few = &s->growth.runs[0], *most = &s->growth.runs[s->growth.run_count - 1];
	double more = few->total[GROWTH_COMPUTE] > 0 ? most->total[GROWTH_COMPUTE] / few->total[GROWTH_COMPUTE] : 0;
	s->power = more > 0 && most->ranks > few->ranks ? log(more) / log((double)most->ranks / few->ranks) : 0;
}

const char *scaling_kind(const struct scaling *s)
{
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

/* --- the command --- */

static size_t count_sizes(const struct growth *g)
{
	size_t n = g->run_count > 0;
	for (size_t i = 1; i < g->run_count; i++)
		n += g->runs[i].ranks != g->runs[i - 1].ranks;
	return n;
}

static int find_all(struct scaling *s, struct error *error)
{
	struct growth *g = &s->growth;
	if (growth_match(g) != 0)
		return error_set(error, "no memory");
	if (count_sizes(g) < MODEL_LEAST)
		return error_set(
			error,
			"not enough sizes: a law needs runs of %d different numbers of ranks at least, and these "
			"are of %zu",
			MODEL_LEAST, count_sizes(g));
	if (g->matched < ALIKE)
		return error_set(
			error,
			"these are runs of different programs: %.0f %% of their calls are at call sites that all "
			"of them have",
			100 * g->matched);
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

static int tell_scaling(const struct scaling *s, bool json)
{
	if (!json) {
		scaling_print(s);
		return 0;
	}
	return json_tell(scaling_json(s));
}

static int scale_runs(struct scaling *s, char **names, int n, const char *archive)
{
	struct error error = {""};
	int rv = open_ahead(names, n, archive);
	for (int i = 0; i < n && rv >= 0; i++)
		rv = growth_add(&s->growth, names[i], archive);
	if (rv < 0)
		return -1;
	if (find_all(s, &error) == 0)
		return 0;
	say_to(stderr, "spoor scale: %s\n", error.text);
	return -1;
}

/* exe NULL: the operands are the runs. */
static int scale_chosen(struct scaling *s, struct catalog_filter *filter, char **names, int n, const char *archive)
{
	struct error error = {""};
	if (!filter->exe)
		return scale_runs(s, names, n, archive);
	if (scale_runs_find(&s->of, archive, filter, &error) != 0) {
		say_to(stderr, "spoor scale: %s\n", error.text);
		return -1;
	}
	return scale_runs(s, s->of.paths, (int)s->of.count, archive);
}

int cmd_scale(int argc, char **argv)
{
	struct scaling s = {.top = 10};
	struct catalog_filter filter = CATALOG_FILTER_ALL;
	const char *archive = NULL;
	bool json = false;
	const struct option_line lines[] = {
		OPTION_TEXT("exe", 'e', "GLOB", &filter.exe,
	                    "the runs of this executable in the archive, whose arguments are alike but for numbers"),
		OPTION_TEXT("user", 'u', "USER", &filter.user, "with --exe: only of these users"),
		OPTION_READ("since", 'S', "TIME", &filter.since, filter_read_since, WHEN_EXPECTED,
	                    "with --exe: only runs that started at TIME or later"),
		OPTION_READ("until", 'E', "TIME", &filter.until, filter_read_until, WHEN_EXPECTED,
	                    "with --exe: only runs that started at TIME or earlier"),
		OPTION_NUMBER("top", 0, "N", &s.top, 0, UINT32_MAX, "at most N call sites (default 10; 0: all)"),
		OPTION_FLAG("json", 0, &json, "as JSON; all call sites"),
		OPTION_ARCHIVE(&archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor scale",
		"[FILE|JOB...]",
		"Says how an application scales, from traces of runs with different numbers of "
		"ranks. For calls, bytes, computation and waiting, in total and by call site, it "
		"finds the law by which they grow.",
		NULL,
		lines,
		0,
		-1,
		false};
	int rv;
	if (!options_read(&options, argc, argv, &rv))
		return rv;
	if (!filter.exe == (optind == argc))
		return options_wrong("spoor scale",
		                     filter.exe ? "--exe needs no traces" : "which runs? FILE|JOB or --exe is missing");
	rv = scale_chosen(&s, &filter, argv + optind, argc - optind, archive);
	if (rv == 0)
		rv = tell_scaling(&s, json);
	for (size_t f = 0; f < GROWTH_FIGURES; f++)
		free(s.parts[f]);
	free(s.sites);
	free(s.ranks);
	growth_free(&s.growth);
	scale_runs_free(&s.of);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
