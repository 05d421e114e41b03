/* SPDX-License-Identifier: BSD-3-Clause
 * scale_all - `spoor scale --all`: how each application of an archive scales, by what the index knows
 */
#include "cmd/scale_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/series_run.h"
#include "cmd/base/fresh_index.h"
#include "trace/model/mpi.h"

#define NS          1e-9
#define COMPUTATION "computation"

struct finding {
	struct scale_all *all;
	size_t room;
};

/* --- which applications --- */

static int add_application(void *context, const struct series *of)
{
	struct finding *f = context;
	struct scale_all *a = f->all;
	a->all_hours += of->node_hours;
	if (of->sizes < SERIES_SIZES) {
		a->few++;
		a->few_hours += of->node_hours;
		return 0;
	}
	if (a->count == f->room) {
		size_t room = f->room ? 2 * f->room : 64;
		struct scale_application *more = realloc(a->list, room * sizeof *more);
		if (!more)
			return 1;
		a->list = more;
		f->room = room;
	}
	struct scale_application *to = &a->list[a->count++];
	*to = (struct scale_application){.series = *of};
	to->series.runs = malloc((of->count + 1) * sizeof *of->runs);
	if (to->series.runs)
		memcpy(to->series.runs, of->runs, of->count * sizeof *of->runs);
	return to->series.runs ? 0 : 1;
}

static int by_hours(const void *a, const void *b)
{
	const struct scale_application *x = a, *y = b;
	if (x->series.node_hours != y->series.node_hours)
		return x->series.node_hours < y->series.node_hours ? 1 : -1;
	return strcmp(x->series.application, y->series.application);
}

/* --- what they did --- */

static struct growth_site *site_of(struct growth *g, const char *name, size_t runs)
{
	for (size_t i = 0; i < g->site_count; i++)
		if (strcmp(g->sites[i].name, name) == 0)
			return &g->sites[i];
	struct growth_site *more = realloc(g->sites, (g->site_count + 1) * sizeof *more);
	if (!more)
		return NULL;
	g->sites = more;
	struct growth_site *s = &more[g->site_count];
	*s = (struct growth_site){.name = strdup(name), .values = calloc(GROWTH_FIGURES * runs, sizeof *s->values)};
	g->site_count++;
	return s->name && s->values ? s : NULL;
}

/* runs: how many there will be. */
static int growth_add_site(struct growth *g, size_t runs, const char *name, const double *values)
{
	struct growth_site *s = site_of(g, name, runs);
	for (size_t i = 0; s && i < GROWTH_FIGURES; i++)
		s->values[i * runs + g->run_count] += values[i];
	if (s)
		s->runs++;
	return s ? 0 : -1;
}

/* Functions take the place of call sites; they do not compute. */
static int add_functions(struct growth *g, size_t runs, const struct series_figures *f)
{
	struct growth_run *run = &g->runs[g->run_count];
	const double computed[GROWTH_FIGURES] = {[GROWTH_COMPUTE] = run->total[GROWTH_COMPUTE]};
	int rv = growth_add_site(g, runs, COMPUTATION, computed);
	for (size_t i = 0; rv == 0 && i < f->count; i++) {
		const union figure_calls *c = &f->functions[i].calls;
		const char *name = f->functions[i].name;
		const struct mpi_function *function = mpi_function_find(name, strlen(name));
		const bool starts = function && mpi_initializes(function);
		const double values[GROWTH_FIGURES] = {[GROWTH_CALLS] = (double)c->calls,
		                                       [GROWTH_BYTES] = (double)c->bytes,
		                                       [GROWTH_MPI] = starts ? 0 : (double)c->ns * NS,
		                                       [GROWTH_WAIT] = starts ? 0 : (double)c->wait_ns * NS};
		run->total[GROWTH_CALLS] += values[GROWTH_CALLS];
		run->total[GROWTH_BYTES] += values[GROWTH_BYTES];
		run->total[GROWTH_WAIT] += values[GROWTH_WAIT];
		rv = growth_add_site(g, runs, f->functions[i].name, values);
	}
	return rv;
}

static int add_run(struct growth *g, const struct series *of, struct catalog *c, const struct series_run *run,
                   struct error *error)
{
	struct series_figures f;
	int rv = series_run_read(&f, c, run->id, error);
	if (rv == 0) {
		g->runs[g->run_count] =
			(struct growth_run){.name = of->application,
		                            .ranks = (uint32_t)run->ranks,
		                            .run_s = (double)f.figures.run_ns * NS,
		                            .total = {[GROWTH_COMPUTE] = (double)f.figures.compute_ns * NS,
		                                      [GROWTH_MPI] = (double)f.figures.mpi_ns * NS}};
		rv = add_functions(g, of->count, &f) == 0 ? 0 : error_set(error, "no memory");
		g->run_count++;
	}
	series_run_free(&f);
	return rv < 0 ? -1 : 0;
}

/* Figures of sites were laid out for so many runs; fewer are known. */
static void close_up(struct growth *g, size_t runs)
{
	for (size_t i = 0; i < g->site_count && runs != g->run_count; i++)
		for (size_t f = 1; f < GROWTH_FIGURES; f++)
			memmove(g->sites[i].values + f * g->run_count, g->sites[i].values + f * runs,
			        g->run_count * sizeof *g->sites[i].values);
}

/* Returns 0; 1: too few of its runs are known; -1. */
static int find_application(struct scale_application *a, struct catalog *c, struct error *error)
{
	struct growth *g = &a->scaling.growth;
	struct error few = {""};
	int rv = 0;
	g->runs = calloc(a->series.count + 1, sizeof *g->runs);
	if (!g->runs)
		return error_set(error, "no memory");
	for (size_t i = 0; rv == 0 && i < a->series.count; i++)
		rv = add_run(g, &a->series, c, &a->series.runs[i], error);
	if (rv != 0)
		return rv;
	close_up(g, a->series.count);
	g->matched = 1;
	return growth_sizes(g) < SERIES_SIZES         ? 1
	       : scaling_find(&a->scaling, &few) == 0 ? 0
	                                              : error_set(error, "%s", few.text);
}

static void free_application(struct scale_application *a)
{
	scaling_free(&a->scaling);
	free(a->series.runs);
}

/* Leaves only those that can be told, `top` of them. */
static int find_laws(struct scale_all *a, struct catalog *c, size_t top, struct error *error)
{
	size_t told = 0, i;
	int rv = 0;
	for (i = 0; i < a->count && rv >= 0 && (top == 0 || told < top); i++) {
		rv = find_application(&a->list[i], c, error);
		if (rv != 0) {
			a->few++;
			a->few_hours += a->list[i].series.node_hours;
			free_application(&a->list[i]);
		} else {
			a->list[told++] = a->list[i];
		}
	}
	a->more = a->count - i;
	for (; i < a->count; i++)
		free_application(&a->list[i]);
	a->count = told;
	return rv < 0 ? -1 : 0;
}

int scale_all_find(struct scale_all *a, const char *archive, const struct catalog_filter *filter, size_t top,
                   struct error *error)
{
	struct finding f = {.all = a};
	struct catalog *c = NULL;
	*a = (struct scale_all){.count = 0};
	int rv = fresh_index(&c, archive, true, false, error);
	if (rv == 0)
		rv = fresh_index_read(c, false, error);
	if (rv == 0 && (rv = catalog_lock(c, CATALOG_SHARE, 10000, error)) == 0) {
		rv = series_each(c, filter, false, add_application, &f, error);
		if (a->count)
			qsort(a->list, a->count, sizeof *a->list, by_hours);
		if (rv == 0)
			rv = find_laws(a, c, top, error);
		catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	}
	if (rv > 0)
		rv = error_set(error, "no memory");
	if (rv == 0 && a->count + a->few == 0)
		rv = error_set(error, "no runs that ended well are in the archive %s", c->archive);
	catalog_close(c);
	return rv;
}

void scale_all_free(struct scale_all *a)
{
	for (size_t i = 0; i < a->count; i++)
		free_application(&a->list[i]);
	free(a->list);
}
