/* SPDX-License-Identifier: BSD-3-Clause
 * growth - runs of one application with different numbers of ranks
 */
#include "cmd/growth.h"

#include <stdlib.h>
#include <string.h>

#include "archive/metadata.h"
#include "cmd/base/frames.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/sink.h"
#include "cmd/base/site_names.h"
#include "trace/file/container.h"
#include "trace/model/stream.h"
#include "trace/read/summary.h"
#include "trace/read/wait_site.h"
#include "trace/read/walk.h"

#define NEARLY_ALL 0.99 /* of the calls: a less exact way finds no more */
#define NAME       400

const char *const growth_names[GROWTH_FIGURES] = {"calls", "bytes", "computation", "MPI", "waiting"};

/* A site of one run. */
struct growth_row {
	char *keys[MATCH_SYMBOL + 1]; /* of diff_match.h */
	char *name;
	size_t run; /* in the order in which they were read */
	double values[GROWTH_FIGURES];
};

/* --- one run --- */

static void *one_more(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	size_t more = *room ? 2 * *room : 16;
	void *larger = realloc(array, more * size);
	if (larger)
		*room = more;
	return larger;
}

/* Computation before each site. */
static void add_compute(const struct trace *t, double *compute)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			if (t->sites[i].edges[k].compute.count)
				compute[t->sites[i].edges[k].to] += (double)t->sites[i].edges[k].compute.sum * 1e-9;
}

static void fill_row(struct growth_row *row, const struct trace *t, uint32_t site, const struct activity *activity,
                     double compute)
{
	const struct trace_site *s = &t->sites[site];
	enum wait_kind kind;
	bool starts = trace_initializes(trace_schema(t, s));
	row->values[GROWTH_CALLS] = (double)rankmap_sum(&s->visits);
	row->values[GROWTH_BYTES] = (double)activity->bytes;
	row->values[GROWTH_COMPUTE] = compute;
	row->values[GROWTH_MPI] = s->communicate.count && !starts ? (double)s->communicate.sum * 1e-9 : 0;
	row->values[GROWTH_WAIT] = starts ? 0 : (double)wait_site(t, s, activity, &kind) * 1e-9;
}

/* The function of MPI and what tells the site from others. */
static char *row_name(const struct trace *t, const struct site_names *names, uint32_t site)
{
	char text[NAME], path[NAME - 100];
	const struct schema *schema = trace_schema(t, &t->sites[site]);
	site_names_text(names, site, path, sizeof path);
	snprintf(text, sizeof text, "%.*s%s%s", schema->function_length > 60 ? 60 : (int)schema->function_length,
	         schema->function, *path ? " in " : "", path);
	return strdup(text);
}

static int growth_add_row(struct growth *g, struct diff_input *in, const struct site_names *names, uint32_t site,
                          const struct activity *activity, double compute)
{
	struct growth_row *rows = one_more(g->rows, g->row_count, &g->row_room, sizeof *rows);
	if (!rows)
		return -1;
	g->rows = rows;
	struct growth_row *row = &rows[g->row_count];
	*row = (struct growth_row){.run = g->run_count, .name = row_name(&in->trace, names, site)};
	int rv = diff_make_keys(in, site);
	memcpy(row->keys, in->sites[site].keys, sizeof row->keys);
	g->row_count++;
	fill_row(row, &in->trace, site, activity, compute);
	return rv == 0 && row->name ? 0 : -1;
}

static void add_totals(struct growth *g, const struct trace *t, const struct summary *sum)
{
	struct growth_run *run = &g->runs[g->run_count];
	run->ranks = t->size;
	run->run_s = (double)sum->run_ns * 1e-9;
	run->total[GROWTH_COMPUTE] = (double)sum->compute_ns * 1e-9;
	run->total[GROWTH_MPI] = (double)sum->mpi_ns * 1e-9;
	for (size_t i = 0; i < g->row_count; i++)
		if (g->rows[i].run == g->run_count) {
			run->total[GROWTH_CALLS] += g->rows[i].values[GROWTH_CALLS];
			run->total[GROWTH_BYTES] += g->rows[i].values[GROWTH_BYTES];
			run->total[GROWTH_WAIT] += g->rows[i].values[GROWTH_WAIT];
		}
}

static int add_sites(struct growth *g, struct diff_input *in)
{
	const struct trace *t = &in->trace;
	struct site_activity activity = {.sites = NULL};
	struct site_names names;
	struct summary sum;
	double *compute = calloc((size_t)t->site_count + 1, sizeof *compute);
	int rv = compute && site_activity_make(&activity, t) == 0 && summary_make(&sum, t, &activity) == 0 ? 0 : -1;
	if (site_names_make(&names, t) != 0)
		rv = -1;
	if (rv == 0)
		add_compute(t, compute);
	for (uint32_t i = 0; i < t->site_count && rv == 0; i++)
		if (rankmap_sum(&t->sites[i].visits) > 0)
			rv = growth_add_row(g, in, &names, i, &activity.sites[i], compute[i]);
	if (rv == 0)
		add_totals(g, t, &sum);
	site_names_free(&names);
	site_activity_free(&activity);
	free(compute);
	return rv;
}

/* Why a trace says nothing of its size; NULL: it does. */
static const char *unusable(const struct trace *t, const struct container *c)
{
	json_t *meta = open_claims(c);
	bool partial = metadata_number(meta, "partial", 0) > 0;
	json_decref(meta);
	return partial ? "partial" : stream_ranks(t, &t->events) < t->size ? "without some of its ranks" : NULL;
}

static int growth_read(struct growth *g, struct diff_input *in)
{
	const char *why = unusable(&in->trace, in->container);
	if (why) {
		say_to(stderr, "spoor scale: %s: is %s, and left out\n", in->name, why);
		return 1;
	}
	in->sites = calloc((size_t)in->trace.site_count + 1, sizeof *in->sites);
	in->names = frames_create(&in->trace);
	int rv = in->sites && in->names && open_events(in->name, walk_cost(&in->trace)) == 0 ? add_sites(g, in) : -1;
	if (open_spent(in->name) != 0)
		return -1;
	if (rv != 0)
		say_to(stderr, "spoor scale: %s: no memory\n", in->name);
	return rv;
}

int growth_add(struct growth *g, const char *name, const char *archive)
{
	struct diff_input in = {.name = name};
	struct growth_run *runs = one_more(g->runs, g->run_count, &g->run_room, sizeof *runs);
	if (!runs) {
		say_to(stderr, "spoor scale: no memory\n");
		return -1;
	}
	g->runs = runs;
	g->runs[g->run_count] = (struct growth_run){.name = name};
	if (open_trace(name, archive, &in.container, &in.trace) != 0)
		return -1;
	int rv = growth_read(g, &in);
	g->run_count += rv == 0;
	frames_destroy(in.names);
	free(in.sites);
	trace_free(&in.trace);
	container_destroy(in.container);
	return rv;
}

/* --- all of them --- */

struct keyed {
	const char *key;
	struct growth_row *row;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int rv = strcmp(x->key, y->key);
	return rv ? rv : (x->row > y->row) - (x->row < y->row);
}

/* Rows by one way of matching; NULL on no memory. */
static struct keyed *sort_rows(const struct growth *g, enum match m)
{
	struct keyed *list = malloc((g->row_count + 1) * sizeof *list);
	for (size_t i = 0; list && i < g->row_count; i++)
		list[i] = (struct keyed){g->rows[i].keys[m], &g->rows[i]};
	if (list && g->row_count)
		qsort(list, g->row_count, sizeof *list, by_key);
	return list;
}

/* How many rows from `first` on have the same key; *runs: of how many runs they are. */
static size_t same_key(const struct growth *g, const struct keyed *list, size_t first, uint32_t *runs)
{
	size_t n = 1;
	*runs = 1;
	for (; first + n < g->row_count && strcmp(list[first + n].key, list[first].key) == 0; n++)
		*runs += list[first + n].row->run != list[first + n - 1].row->run;
	return n;
}

static double matched_by(const struct growth *g, const struct keyed *list)
{
	double all = 0, matched = 0;
	uint32_t runs;
	for (size_t i = 0, n; i < g->row_count; i += n) {
		n = same_key(g, list, i, &runs);
		for (size_t k = i; k < i + n; k++) {
			all += list[k].row->values[GROWTH_CALLS];
			matched += runs == g->run_count ? list[k].row->values[GROWTH_CALLS] : 0;
		}
	}
	return all > 0 ? matched / all : 1;
}

/* Several rows of a run that cannot be told apart are one. */
static int make_site(struct growth *g, const struct keyed *list, size_t n, uint32_t runs, const size_t *place)
{
	struct growth_site *s = &g->sites[g->site_count++];
	*s = (struct growth_site){.name = strdup(list[0].row->name),
	                          .runs = runs,
	                          .values = calloc(GROWTH_FIGURES * g->run_count, sizeof *s->values)};
	for (size_t i = 0; s->values && i < n; i++)
		for (size_t f = 0; f < GROWTH_FIGURES; f++)
			s->values[f * g->run_count + place[list[i].row->run]] += list[i].row->values[f];
	return s->name && s->values ? 0 : -1;
}

static int make_sites(struct growth *g, const struct keyed *list, const size_t *place)
{
	int rv = 0;
	uint32_t runs;
	g->sites = calloc(g->row_count + 1, sizeof *g->sites);
	for (size_t i = 0, n; g->sites && rv == 0 && i < g->row_count; i += n) {
		n = same_key(g, list, i, &runs);
		rv = make_site(g, list + i, n, runs, place);
	}
	return g->sites ? rv : -1;
}

static int by_ranks(const void *a, const void *b)
{
	const struct growth_run *x = a, *y = b;
	return x->ranks != y->ranks ? (x->ranks < y->ranks ? -1 : 1) : (x->name > y->name) - (x->name < y->name);
}

/* Puts the runs in order; place: where that of a number is then. malloc'ed; NULL on no memory. */
static size_t *sort_runs(struct growth *g)
{
	size_t *place = malloc((g->run_count + 1) * sizeof *place);
	struct growth_run *before = malloc((g->run_count + 1) * sizeof *before);
	if (place && before && g->run_count) {
		memcpy(before, g->runs, g->run_count * sizeof *before);
		qsort(g->runs, g->run_count, sizeof *g->runs, by_ranks);
		for (size_t i = 0; i < g->run_count; i++)
			for (size_t k = 0; k < g->run_count; k++)
				if (g->runs[k].name == before[i].name)
					place[i] = k;
	}
	bool room = place && before;
	free(before);
	if (room)
		return place;
	free(place);
	return NULL;
}

int growth_match(struct growth *g)
{
	struct keyed *best = NULL;
	g->matched = -1;
	for (int m = MATCH_EXACT; m <= MATCH_SYMBOL && g->matched < NEARLY_ALL; m++) {
		struct keyed *list = sort_rows(g, (enum match)m);
		double matched = list ? matched_by(g, list) : -1;
		if (!list || matched <= g->matched) {
			free(list);
			continue;
		}
		free(best);
		best = list;
		g->matched = matched;
		g->match = (enum match)m;
	}
	size_t *place = best ? sort_runs(g) : NULL;
	int rv = place ? make_sites(g, best, place) : -1;
	free(place);
	free(best);
	return rv;
}

size_t growth_sizes(const struct growth *g)
{
	size_t n = g->run_count > 0;
	for (size_t i = 1; i < g->run_count; i++)
		n += g->runs[i].ranks != g->runs[i - 1].ranks;
	return n;
}

void growth_free(struct growth *g)
{
	for (size_t i = 0; i < g->row_count; i++) {
		for (int m = MATCH_EXACT; m <= MATCH_SYMBOL; m++)
			free(g->rows[i].keys[m]);
		free(g->rows[i].name);
	}
	for (size_t i = 0; i < g->site_count; i++) {
		free(g->sites[i].name);
		free(g->sites[i].values);
	}
	free(g->rows);
	free(g->sites);
	free(g->runs);
}
