/* SPDX-License-Identifier: BSD-3-Clause
 * history - runs of an application that are alike, out of the index
 */
#include "archive/history.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/calls.h"
#include "archive/digest.h"
#include "archive/query.h"

/* --- runs --- */

struct reading {
	char application[METADATA_APPLICATION];
	int64_t ranks, arguments;
	struct history_run runs[HISTORY_RUNS]; /* a ring: run i of all is at i % HISTORY_RUNS */
	size_t count, least;
	int (*each)(void *context, const struct history *h);
	void *context;
};

/* The runs that were read, by their input. Returns what each() returned, or -1 on no memory. */
static int tell_histories(struct reading *r)
{
	size_t count = r->count < HISTORY_RUNS ? r->count : HISTORY_RUNS, first = r->count - count;
	struct history_run of_input[HISTORY_RUNS];
	uint64_t events[HISTORY_RUNS] = {0};
	unsigned input[HISTORY_RUNS], inputs = 0;
	struct history h = {.ranks = r->ranks, .runs = of_input};
	int rv = 0;

	if (count < r->least)
		return 0;
	memcpy(h.application, r->application, sizeof h.application);
	for (size_t i = 0; i < count; i++)
		events[i] = r->runs[(first + i) % HISTORY_RUNS].events;
	rv = trend_inputs(events, count, input);
	for (size_t i = 0; rv == 0 && i < count; i++)
		inputs = input[i] >= inputs ? input[i] + 1 : inputs;
	for (unsigned k = 0; rv == 0 && k < inputs; k++) {
		h.count = 0;
		for (size_t i = 0; i < count; i++)
			if (input[i] == k)
				of_input[h.count++] = r->runs[(first + i) % HISTORY_RUNS];
		if (h.count >= r->least)
			rv = r->each(r->context, &h);
	}
	return rv;
}

/* The statement reads the runs of applications that have one name, those that are alike together, oldest first. */
static int read_runs(struct reading *r, struct catalog *c, sqlite3_stmt *s, struct error *error)
{
	int rc = SQLITE_DONE, rv = 0;

	r->count = 0;
	while (rv == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t ranks = sqlite3_column_int64(s, 0), arguments = sqlite3_column_int64(s, 1);
		if (ranks != r->ranks || arguments != r->arguments) {
			rv = tell_histories(r);
			r->count = 0;
		}
		r->ranks = ranks;
		r->arguments = arguments;
		r->runs[r->count++ % HISTORY_RUNS] =
			(struct history_run){.id = sqlite3_column_int64(s, 5),
		                             .start_ns = sqlite3_column_int64(s, 2),
		                             .seconds = (double)sqlite3_column_int64(s, 3) * 1e-9,
		                             .events = (uint64_t)sqlite3_column_int64(s, 4)};
	}
	sqlite3_reset(s);
	if (rv == 0 && rc != SQLITE_DONE)
		return query_failed(c, error);
	return rv ? rv : tell_histories(r);
}

/* Of applications, as a list of numbers or `?`. Without a further filter, from index trace_alike alone. */
static int ask_runs(sqlite3_stmt **out, struct catalog *c, const struct catalog_filter *filter,
                    const char *applications, struct error *error)
{
	struct query q = {.used = 0}, others = {.used = 0};
	struct catalog_filter rest = *filter;

	rest.since = 0;
	query_filter(&others, &rest);
	query_append(&q,
	             "SELECT ranks, arguments, start_ns, run_ns, events, id FROM stored_trace r WHERE run_ns > 0 AND "
	             "NOT partial");
	query_and(&q, "start_ns >= ? * 1000000000", NULL, filter->since);
	query_and(&q, "state IN (0, ?)", NULL, /* of text, where 0 is '' */
	          query_number(c, "SELECT id FROM text WHERE text = 'COMPLETED'", 0));
	if (others.used)
		query_append(&q, " AND EXISTS (SELECT 1 FROM trace t WHERE t.id = r.id");
	query_filter(&q, &rest);
	query_append(&q, "%s AND application IN (%s) ORDER BY ranks, arguments, start_ns", others.used ? ")" : "",
	             applications);
	return query_prepare(&q, c, out, error);
}

/* One application: one statement for all of them, which has its number as the last value. */
static int read_named(struct reading *r, struct catalog *c, sqlite3_stmt *one, int64_t application, struct error *error)
{
	sqlite3_bind_int64(one, sqlite3_bind_parameter_count(one), application);
	return read_runs(r, c, one, error);
}

/* Several, to which the policy gives the same name. */
static int read_several(struct reading *r, struct catalog *c, const struct catalog_filter *filter,
                        const char *applications, struct error *error)
{
	sqlite3_stmt *s = NULL;
	int rv = ask_runs(&s, c, filter, applications, error);
	if (rv == 0)
		rv = read_runs(r, c, s, error);
	sqlite3_finalize(s);
	return rv;
}

/* The applications that have runs, each found from the one before: their names, and the numbers of those with it. */
static const char applications_sql[] =
	"WITH RECURSIVE a(id) AS (SELECT min(application) FROM stored_trace WHERE run_ns > 0 AND NOT partial AND "
	"application > 0 UNION ALL SELECT (SELECT min(application) FROM stored_trace WHERE run_ns > 0 AND NOT partial "
	"AND application > a.id) FROM a WHERE a.id NOT NULL) SELECT application(x.text) AS name, count(*), min(x.id), "
	"group_concat(x.id) FROM a JOIN text x USING (id) GROUP BY name ORDER BY name";

int history_each(struct catalog *c, const struct catalog_filter *filter, size_t least,
                 int (*each)(void *context, const struct history *h), void *context, struct error *error)
{
	struct reading *r = calloc(1, sizeof *r);
	if (!r)
		return error_set(error, "out of memory");

	sqlite3_stmt *names = query_statement(c, applications_sql, error), *one = NULL;
	int rv = names ? ask_runs(&one, c, filter, "?", error) : -1, rc = SQLITE_DONE;

	while (rv == 0 && (rc = sqlite3_step(names)) == SQLITE_ROW) {
		snprintf(r->application, sizeof r->application, "%s", query_text(names, 0));
		r->least = least;
		r->each = each;
		r->context = context;
		rv = sqlite3_column_int64(names, 1) == 1 ? read_named(r, c, one, sqlite3_column_int64(names, 2), error)
		                                         : read_several(r, c, filter, query_text(names, 3), error);
	}
	if (rv == 0 && rc != SQLITE_DONE)
		rv = query_failed(c, error);
	if (rv < 0 && error && !error->text[0])
		error_set(error, "out of memory");
	sqlite3_finalize(names);
	sqlite3_finalize(one);
	free(r);
	return rv;
}

int history_path(struct catalog *c, int64_t id, char *out, size_t size)
{
	sqlite3_stmt *s = query_statement(c, "SELECT folder, file FROM file WHERE id = ?", NULL);
	int rv = -1;

	if (s) {
		sqlite3_bind_int64(s, 1, id);
		if (sqlite3_step(s) == SQLITE_ROW)
			rv = (size_t)snprintf(out, size, "%s/%s", query_text(s, 0), query_text(s, 1)) < size ? 0 : -1;
	}
	sqlite3_finalize(s);
	return rv;
}

/* --- one run --- */

static void read_usual(struct history_usual *out, sqlite3_stmt *s)
{
	double times[HISTORY_USUAL];

	for (; out->count < HISTORY_USUAL && sqlite3_step(s) == SQLITE_ROW; out->count++)
		out->runs[HISTORY_USUAL - 1 - out->count] =
			(struct history_run){.id = sqlite3_column_int64(s, 0),
		                             .start_ns = sqlite3_column_int64(s, 1),
		                             .seconds = (double)sqlite3_column_int64(s, 2) * 1e-9,
		                             .events = (uint64_t)sqlite3_column_int64(s, 3)};
	memmove(out->runs, out->runs + HISTORY_USUAL - out->count, out->count * sizeof *out->runs);
	for (size_t i = 0; i < out->count; i++)
		times[i] = out->runs[i].seconds;
	out->median = trend_median(times, out->count);
}

int history_usual(struct catalog *c, const char *folder, const char *name, uint64_t events, struct history_usual *out,
                  struct error *error)
{
#define FILE_IS "f.folder = (SELECT id FROM text WHERE text = ?) AND f.file = ? || '.spoor'"
	static const char own[] =
		"SELECT f.id FROM stored_file f JOIN summary s USING (id) WHERE " FILE_IS " AND s.run_ns > 0";
	static const char alike[] =
		"SELECT t.id, t.start_ns, t.run_ns, t.events FROM stored_file f CROSS JOIN stored_trace o USING (id) "
		"CROSS JOIN stored_trace t ON t.application = o.application AND t.ranks = o.ranks AND t.arguments = "
		"o.arguments AND t.start_ns < o.start_ns WHERE " FILE_IS
		" AND o.application > 0 AND NOT t.partial AND t.state IN (SELECT id FROM text WHERE text IN "
		"('COMPLETED', '')) AND t.run_ns > 0 AND t.events BETWEEN ? AND ? ORDER BY t.start_ns DESC LIMIT 20";
	sqlite3_stmt *s = query_statement(c, own, error), *others = query_statement(c, alike, error);
	int rv = s && others ? 0 : -1;

	*out = (struct history_usual){.count = 0};
	if (rv == 0) {
		sqlite3_bind_text(s, 1, folder, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC);
		if (sqlite3_step(s) == SQLITE_ROW)
			out->own.id = sqlite3_column_int64(s, 0);
		sqlite3_bind_text(others, 1, folder, -1, SQLITE_STATIC);
		sqlite3_bind_text(others, 2, name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(others, 3, (int64_t)((double)events / TREND_INPUT));
		sqlite3_bind_int64(others, 4, (int64_t)((double)events * TREND_INPUT) + 1);
		read_usual(out, others);
	}
	sqlite3_finalize(s);
	sqlite3_finalize(others);
	return rv;
}

/* --- what changed --- */

#define SAMPLE 15 /* runs of each side */
#define PARTS  256

/* A part of the time of runs: computation, a place, a function. */
struct time_part {
	int64_t key; /* place; -1 computation */
	char function[DIGEST_NAME + 1];
	double times[2][SAMPLE]; /* before, after; of a rank; 0: it was not called */
	int64_t id, site;
};

struct time_parts {
	struct time_part list[PARTS];
	size_t count;
};

static struct time_part *time_part_of(struct time_parts *p, int64_t key, const char *function)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].key == key && strcmp(p->list[i].function, function) == 0)
			return &p->list[i];
	if (p->count == PARTS)
		return NULL;
	struct time_part *new = &p->list[p->count++];
	*new = (struct time_part){.key = key, .site = -1};
	snprintf(new->function, sizeof new->function, "%s", function);
	return new;
}

/* What a part took in a run: ns of all of its ranks; site: -1, or its number. */
static void add_run_part(struct time_parts *p, int64_t key, const char *name, double ns, double ranks, int64_t id,
                         int64_t site, int side, size_t run)
{
	struct time_part *one = ranks > 0 ? time_part_of(p, key, name) : NULL;

	if (!one)
		return;
	one->times[side][run] = ns * 1e-9 / ranks;
	one->id = id;
	one->site = site;
}

/* The parts of a run: by site, and by function. */
static void add_parts(struct time_parts p[2], sqlite3_stmt *run, sqlite3_stmt *name, int64_t id, int side, size_t i)
{
	double ranks = (double)sqlite3_column_int64(run, 2);
	struct calls_part part;

	for (int by = 0; by < 2; by++) {
		add_run_part(&p[by], -1, "computation", (double)sqlite3_column_int64(run, 0),
		             (double)sqlite3_column_int64(run, 1), id, -1, side, i);
		struct calls_reader r =
			calls_reader_of(sqlite3_column_blob(run, 3), (size_t)sqlite3_column_bytes(run, 3));
		while ((by ? calls_next_function(&r, &part) : calls_next(&r, &part)) == 0) {
			if (!by && !part.place)
				continue;
			sqlite3_bind_int64(name, 1, part.function);
			const char *function = sqlite3_step(name) == SQLITE_ROW ? query_text(name, 0) : "";
			if (!by || !sqlite3_column_int(name, 1))
				add_run_part(&p[by], by ? -2 : part.place, function, (double)part.calls.ns, ranks, id,
				             by ? -1 : (int64_t)part.site, side, i);
			sqlite3_reset(name);
		}
	}
}

/* The part that changed most, in the direction that is asked for. */
static const struct time_part *changed_most(const struct time_parts *p, const size_t count[2], bool slower,
                                            double *before, double *after)
{
	const struct time_part *most = NULL;
	double largest = 0, sorted[SAMPLE];
	for (size_t i = 0; i < p->count; i++) {
		double median[2];
		for (int side = 0; side < 2; side++) {
			memcpy(sorted, p->list[i].times[side], count[side] * sizeof *sorted);
			median[side] = trend_median(sorted, count[side]);
		}
		double more = slower ? median[1] - median[0] : median[0] - median[1];
		if (more > largest) {
			largest = more;
			most = &p->list[i];
			*before = median[0];
			*after = median[1];
		}
	}
	return most;
}

static const char run_parts[] = "SELECT s.compute_ns, s.streams, s.ranks, c.packed FROM summary s LEFT JOIN calls c "
				"USING (id) WHERE id = ?";

int history_cause(struct catalog *c, const struct history_run *before, size_t before_count,
                  const struct history_run *after, size_t after_count, bool slower, struct history_cause *out,
                  struct error *error)
{
	struct time_parts *p = calloc(2, sizeof *p); /* by site; by function */
	const struct history_run *runs[2] = {before, after};
	size_t count[2] = {before_count < SAMPLE ? before_count : SAMPLE, after_count < SAMPLE ? after_count : SAMPLE};
	sqlite3_stmt *run = query_statement(c, run_parts, error),
		     *name = query_statement(c, "SELECT text, text LIKE 'MPI_Init%' FROM text WHERE id = ?", error);
	int rv = p && run && name ? 0 : -1;

	*out = (struct history_cause){.site = -1};
	if (!p)
		error_set(error, "out of memory");
	runs[0] += before_count - count[0]; /* those next to the change */
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; rv == 0 && i < count[side]; i++) {
			sqlite3_bind_int64(run, 1, runs[side][i].id);
			if (sqlite3_step(run) == SQLITE_ROW)
				add_parts(p, run, name, runs[side][i].id, side, i);
			sqlite3_reset(run);
		}
	if (rv == 0) {
		const struct time_part *most = changed_most(&p[0], count, slower, &out->before, &out->after);
		if (most && most->site >= 0 && (out->before <= 0 || out->after <= 0)) /* another program */
			most = changed_most(&p[1], count, slower, &out->before, &out->after);
		if (most) {
			snprintf(out->what, sizeof out->what, "%s", most->function);
			out->id = most->id;
			out->site = most->site;
		}
	}
	sqlite3_finalize(run);
	sqlite3_finalize(name);
	free(p);
	return rv;
}
