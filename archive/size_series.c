/* SPDX-License-Identifier: BSD-3-Clause
 * size_series - runs of an application in the index that differ in nothing but their size
 */
#include "archive/size_series.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"

#define NS_PER_HOUR 3.6e12

/* What is alike comes together, the newest first: of each, SERIES_EACH are kept. */
static const char columns[] =
	"SELECT application(t.application) AS a, r.id, r.alike, r.build, r.exe, r.ranks, r.start_ns, "
	"r.numbers, 1.0 * ifnull(r.run_ns, 0) * max(r.nodes, 1) FROM trace t JOIN stored_trace r "
	"USING (id) WHERE r.ranks > 0";
static const char order[] = " AND NOT r.partial AND t.state IN ('COMPLETED', '') ORDER BY a, r.alike, r.build, r.exe, "
			    "r.ranks, r.numbers, r.start_ns DESC, r.id DESC";
enum column { APPLICATION, ID, ALIKE, BUILD, EXE, RANKS, START, NUMBERS, COST };

struct series_reading {
	struct catalog *c;
	bool named;
	int (*each)(void *, const struct series *);
	void *context;
	struct error *error;
	struct series of; /* the application that is being read */
	struct series_candidate *list;
	size_t count, room, runs, equal; /* runs: all of it; equal: the last ones that are alike in all */
};

/* --- an application --- */

static int keep_fixed(const void *chosen, size_t n)
{
	const struct series_chosen *s = chosen;
	return n < s->numbers && s->fixed[n];
}

static int describe_arguments(struct series_reading *r, const struct series_chosen *chosen)
{
	const struct series_candidate *first = &r->list[chosen->first];
	sqlite3_stmt *s = query_kept(r->c, "SELECT text FROM text WHERE id = ?", r->error);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, first->alike);
	const char *masked = sqlite3_step(s) == SQLITE_ROW ? query_text(s, 0) : "";
	command_mask_fill(r->of.alike, sizeof r->of.alike, masked, first->numbers, keep_fixed, chosen);
	sqlite3_reset(s);
	return 0;
}

static int take_runs(struct series_reading *r, const struct series_chosen *chosen)
{
	size_t of_size = 0;
	r->of.runs = calloc(chosen->count + 1, sizeof *r->of.runs);
	if (!r->of.runs)
		return error_set(r->error, "out of memory");
	for (size_t i = 0; i < chosen->count; i++) {
		const struct series_candidate *c = &r->list[chosen->first + i];
		of_size = i > 0 && c->ranks == c[-1].ranks ? of_size + 1 : 0;
		if (of_size < SERIES_EACH)
			r->of.runs[r->of.count++] = (struct series_run){c->id, c->ranks};
	}
	r->of.same = chosen->same;
	r->of.sizes = chosen->sizes;
	r->of.series = chosen->series;
	r->of.left_out = r->runs - r->of.count;
	return describe_arguments(r, chosen);
}

static void drop_candidates(struct series_reading *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->list[i].numbers);
	r->count = r->runs = r->equal = 0;
}

static int end_application(struct series_reading *r)
{
	struct series_chosen chosen = {.fixed = NULL};
	int rv = 0;
	if (r->count == 0)
		return 0;
	if (series_choose(&chosen, r->list, r->count, r->named) != 0)
		rv = error_set(r->error, "out of memory");
	if (rv == 0)
		rv = take_runs(r, &chosen);
	if (rv == 0)
		rv = r->each(r->context, &r->of);
	free(chosen.fixed);
	free(r->of.runs);
	r->of = (struct series){.count = 0};
	drop_candidates(r);
	return rv;
}

/* --- reading --- */

static bool is_equal(const struct series_candidate *a, const struct series_candidate *b)
{
	return a->alike == b->alike && a->build == b->build && a->exe == b->exe && a->ranks == b->ranks &&
	       strcmp(a->numbers, b->numbers) == 0;
}

static int add_candidate(struct series_reading *r, struct series_candidate *c)
{
	r->equal = r->count && is_equal(c, &r->list[r->count - 1]) ? r->equal + 1 : 0;
	r->runs++;
	if (r->equal >= SERIES_EACH)
		return 0;
	if (r->count == r->room) {
		size_t room = r->room ? 2 * r->room : 256;
		struct series_candidate *more = realloc(r->list, room * sizeof *more);
		if (!more)
			return error_set(r->error, "out of memory");
		r->list = more;
		r->room = room;
	}
	if (!(c->numbers = strdup(c->numbers)))
		return error_set(r->error, "out of memory");
	r->list[r->count++] = *c;
	return 0;
}

/* What is in an index may be anybody's numbers. */
static double cost_at(sqlite3_stmt *s)
{
	double cost = sqlite3_column_double(s, COST);
	return isfinite(cost) && cost > 0 ? cost / NS_PER_HOUR : 0;
}

static int read_candidate(struct series_reading *r, sqlite3_stmt *s)
{
	const char *name = query_text(s, APPLICATION);
	int rv = strcmp(name, r->of.application) ? end_application(r) : 0;
	struct series_candidate c = {.id = sqlite3_column_int64(s, ID),
	                             .alike = sqlite3_column_int64(s, ALIKE),
	                             .build = sqlite3_column_int64(s, BUILD),
	                             .exe = sqlite3_column_int64(s, EXE),
	                             .ranks = sqlite3_column_int64(s, RANKS),
	                             .start_ns = sqlite3_column_int64(s, START),
	                             .numbers = (char *)(uintptr_t)query_text(s, NUMBERS)};
	if (rv != 0)
		return rv;
	snprintf(r->of.application, sizeof r->of.application, "%s", name);
	r->of.node_hours += cost_at(s);
	return add_candidate(r, &c);
}

int series_each(struct catalog *c, const struct catalog_filter *filter, bool named,
                int (*each)(void *context, const struct series *s), void *context, struct error *error)
{
	struct series_reading r = {.c = c, .named = named, .each = each, .context = context, .error = error};
	struct query q = {.used = 0};
	sqlite3_stmt *s = NULL;
	int rc = SQLITE_DONE;
	query_append(&q, "%s", columns);
	query_filter(&q, filter);
	query_append(&q, "%s", order);
	int rv = query_prepare(&q, c, &s, error);
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW)
		rv = read_candidate(&r, s);
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(c, error);
	if (rv == 0)
		rv = end_application(&r);
	sqlite3_finalize(s);
	drop_candidates(&r);
	free(r.list);
	return rv;
}
