/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_index - sums over the traces of an archive, out of its index
 *
 * Each thread asks for the traces of its jobs, on a connection of its own, ordered by job: so a group counts a job when
 * it is another one than its last.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/aggregate_group.h"
#include "archive/digest.h"
#include "archive/digest_update.h"
#include "archive/query.h"
#include "trace/read/figures.h"

#define SMALL 11 /* size classes of less than 1 KiB */

struct worker {
	struct catalog *c;
	const struct catalog_filter *filter;
	uint64_t share, of, thread, threads;
	struct aggregate *a;
	const struct aggregate_share *asked; /* of the first worker: whom to tell how far it is; else NULL */
	uint64_t rows, seen, all;            /* traces: in the first pass, so far in both, expected */
	int64_t last_job;
	struct aggregate_group **places; /* groups of call sites by the number of their place */
	size_t place_count;
	int rv;
	struct error error;
	pthread_t id;
};

/* --- adding up --- */

static void add_run(struct aggregate_group *g, const uint128 *sum, int64_t job, int reason)
{
	for (int i = 0; i < AGGREGATE_SUMS; i++)
		g->sum[i] += sum[i];
	g->sum[SUM_JOBS] += job != g->last_job;
	g->last_job = job;
	if (reason >= 0)
		g->reasons[reason]++;
}

static uint128 in_nodes(uint64_t ns, uint64_t nodes, uint64_t streams)
{
	return streams ? (uint128)ns * nodes / streams : 0;
}

static uint64_t count_at(sqlite3_stmt *s, int column)
{
	int64_t n = sqlite3_column_int64(s, column);
	return n > 0 ? (uint64_t)n : 0;
}

/* The other threads are about as far. */
static void report_progress(struct worker *w, bool another)
{
	w->seen += another;
	if (w->asked && w->asked->progress && another && w->seen % 1024 == 0)
		w->asked->progress(w->asked->context, w->seen < w->all ? w->seen : w->all, w->all);
}

/* --- runs --- */

/* What is asked of a run, in this order. */
#define RUN_COLUMNS                                                                                                   \
	"t.job, t.start_ns, t.end_ns, t.nodes, t.partial, t.reason, s.sizes, s.ranks, s.events, s.lost, s.messages, " \
	"s.unsized, s.bytes, s.mpi_ns, s.compute_ns,"                                                                 \
	" s.overhead_ns, s.computed_ns, s.compute_peak_ns, s.run_peak_ns, s.wait_ns, s.degraded, t.folder, t.name, "  \
	"t.user, t.exe_name, s.version, s.problem, t.hosts,"                                                          \
	" t.node, s.one_sided_bytes, s.read_bytes, s.written_bytes, s.unplaced_ns, s.parts_ns, s.streams, "           \
	"s.unended_ns, s.verdict"
enum {
	JOB,
	START,
	END,
	NODES,
	PARTIAL,
	REASON,
	SIZES,
	RANKS,
	EVENTS,
	LOST,
	MESSAGES,
	UNSIZED,
	BYTES,
	MPI,
	COMPUTE,
	OVERHEAD,
	COMPUTED,
	COMPUTE_PEAK,
	RUN_PEAK,
	WAIT,
	DEGRADED,
	DAY,
	NAME,
	USER,
	EXE,
	MADE,
	PROBLEM,
	HOSTS,
	NODE,
	ONE_SIDED,
	READ,
	WRITTEN,
	UNPLACED,
	PARTS,
	STREAMS,
	UNENDED,
	VERDICT,
	KEY
};

static const char *const key_columns[] = {
	[AGGREGATE_ALL] = "''",
	[AGGREGATE_USER] = "t.user",
	[AGGREGATE_ACCOUNT] = "t.account",
	[AGGREGATE_PARTITION] = "t.partition",
	[AGGREGATE_EXECUTABLE] = "t.exe_name",
	[AGGREGATE_APPLICATION] = "application(t.application)",
	[AGGREGATE_JOB] = "t.job",
	[AGGREGATE_NODE] = "''",
	[AGGREGATE_MONTH] = "''",
	[AGGREGATE_FUNCTION] = "''",
	[AGGREGATE_SITE] = "''",
};

static void run_sums(sqlite3_stmt *s, const uint64_t *sizes, uint128 *sum)
{
	uint64_t nodes = count_at(s, NODES), streams = count_at(s, STREAMS), start = count_at(s, START),
		 end = count_at(s, END), wall = start > 0 && end > start ? end - start : 0;

	memset(sum, 0, AGGREGATE_SUMS * sizeof *sum);
	nodes = nodes ? nodes : 1;
	sum[SUM_TRACES] = 1;
	sum[SUM_PARTIAL] = count_at(s, PARTIAL) != 0;
	sum[SUM_DEGRADED] = count_at(s, DEGRADED) || count_at(s, LOST);
	sum[SUM_EVENTS] = count_at(s, EVENTS);
	sum[SUM_LOST] = count_at(s, LOST);
	sum[SUM_MESSAGES] = count_at(s, MESSAGES);
	sum[SUM_UNSIZED] = count_at(s, UNSIZED);
	for (int i = 0; i < SMALL; i++)
		sum[SUM_SMALL] += sizes[i];
	sum[SUM_BYTES] = count_at(s, BYTES);
	sum[SUM_ONE_SIDED_BYTES] = count_at(s, ONE_SIDED);
	sum[SUM_READ_BYTES] = count_at(s, READ);
	sum[SUM_WRITTEN_BYTES] = count_at(s, WRITTEN);
	sum[SUM_UNPLACED_NS] = count_at(s, UNPLACED);
	sum[SUM_MPI_NS] = count_at(s, MPI);
	sum[SUM_COMPUTE_NS] = count_at(s, COMPUTE);
	sum[SUM_OVERHEAD_NS] = count_at(s, OVERHEAD);
	sum[SUM_WAIT_NS] = count_at(s, WAIT);
	sum[SUM_COMPUTED_NS] = count_at(s, COMPUTED);
	sum[SUM_COMPUTE_PEAK_NS] = count_at(s, COMPUTE_PEAK);
	sum[SUM_RUN_PEAK_NS] = count_at(s, RUN_PEAK);
	sum[SUM_UNENDED_NS] = count_at(s, UNENDED);
	sum[SUM_NODE_NS] = in_nodes(figures_all(count_at(s, PARTS), streams, wall), nodes, streams);
	sum[SUM_NODE_MPI_NS] = in_nodes(count_at(s, MPI), nodes, streams);
	sum[SUM_NODE_UNENDED_NS] = in_nodes(count_at(s, UNENDED), nodes, streams);
	sum[SUM_NODE_WAIT_NS] = in_nodes(count_at(s, WAIT), nodes, streams);
	sum[SUM_NODE_OVERHEAD_NS] = in_nodes(count_at(s, OVERHEAD), nodes, streams);
	if (count_at(s, COMPUTE_PEAK) > count_at(s, COMPUTED))
		sum[SUM_NODE_IDLE_NS] = in_nodes(count_at(s, COMPUTE_PEAK) - count_at(s, COMPUTED), nodes, streams);
}

/* An equal share to each node. */
static int add_nodes(struct worker *w, sqlite3_stmt *s, const uint128 *sum, int64_t job, int reason)
{
	const char *hosts = query_text(s, HOSTS);
	uint128 part[AGGREGATE_SUMS];
	char name[256];
	size_t n = 1;

	if (!*hosts)
		hosts = query_text(s, NODE);
	for (const char *p = hosts; *p; p++)
		n += *p == ',';
	for (int i = 0; i < AGGREGATE_SUMS; i++)
		part[i] = i == SUM_TRACES || i == SUM_PARTIAL || i == SUM_DEGRADED ? sum[i] : sum[i] / n;
	for (const char *p = hosts;; p++) {
		size_t length = strcspn(p, ",");
		snprintf(name, sizeof name, "%.*s", (int)(length < 255 ? length : 255), p);
		struct aggregate_group *g = aggregate_group(w->a, name);
		if (!g)
			return -1;
		add_run(g, part, job, reason);
		p += length;
		if (!*p)
			return 0;
	}
}

static int add_hung(struct worker *w, sqlite3_stmt *s, const uint128 *sum)
{
	struct aggregate_hung h = {(uint64_t)sum[SUM_NODE_UNENDED_NS], (char *)query_text(s, NAME),
	                           (char *)query_text(s, USER), (char *)query_text(s, EXE),
	                           (char *)query_text(s, VERDICT)};
	return h.node_ns ? aggregate_add_hung(w->a, &h) : 0;
}

static int add_row(struct worker *w, sqlite3_stmt *s)
{
	uint128 sum[AGGREGATE_SUMS];
	uint64_t sizes[ACTIVITY_SIZES];
	int64_t job = sqlite3_column_int64(s, JOB);
	char key[32] = "";
	const char *text = query_text(s, KEY);
	enum aggregate_by by = w->a->by;

	w->rows++;
	report_progress(w, true);
	if (sqlite3_column_type(s, MADE) == SQLITE_NULL || sqlite3_column_int64(s, MADE) != DIGEST_VERSION) {
		w->a->missing++;
		return 0;
	}
	if (sqlite3_column_type(s, PROBLEM) != SQLITE_NULL)
		return aggregate_skip(w->a, query_text(s, PROBLEM));
	aggregate_read_sizes(query_text(s, SIZES), sizes);
	run_sums(s, sizes, sum);
	int reason = sum[SUM_PARTIAL] ? aggregate_reason(query_text(s, REASON)) : -1;
	add_run(&w->a->total, sum, job, reason);
	if (aggregate_add_sizes(&w->a->total, sizes) || add_hung(w, s, sum))
		return -1;
	if (by == AGGREGATE_ALL || by >= AGGREGATE_FUNCTION)
		return 0;
	if (by == AGGREGATE_NODE)
		return add_nodes(w, s, sum, job, reason);
	if (by == AGGREGATE_MONTH) {
		time_t t = (time_t)(sqlite3_column_int64(s, START) / 1000000000);
		struct tm tm;
		if (t <= 0 || !localtime_r(&t, &tm) || !strftime(key, sizeof key, "%Y-%m", &tm))
			strcpy(key, "unknown");
		text = key;
	}
	struct aggregate_group *g = aggregate_group(w->a, text);
	if (!g)
		return -1;
	add_run(g, sum, job, reason);
	if (by != AGGREGATE_JOB)
		return aggregate_add_sizes(g, sizes);
	struct aggregate_example e = {(uint64_t)sum[SUM_NODE_NS],  (char *)query_text(s, DAY),
	                              (char *)query_text(s, NAME), (char *)query_text(s, USER),
	                              (char *)query_text(s, EXE),  0};
	return aggregate_example(g, &e);
}

/* --- calls --- */

#define CALL_COLUMNS "t.job, t.nodes, s.streams, c.calls, c.ns, c.bytes, c.wait_ns, c.peak_ns, c.unended_ns"
enum {
	CALL_JOB,
	CALL_NODES,
	CALL_STREAMS,
	CALLS,
	CALL_NS,
	CALL_BYTES,
	CALL_WAIT,
	CALL_PEAK,
	CALL_UNENDED,
	CALL_KEY,
	CALL_IDENTITY,
	CALL_SITE,
	CALL_DAY
};

/* The group of a place: asked for once for each, and then found by its number. */
static struct aggregate_group *place_group(struct worker *w, sqlite3_stmt *s)
{
	uint64_t place = count_at(s, CALL_KEY);
	char key[24];

	if (place < w->place_count && w->places[place])
		return w->places[place];
	snprintf(key, sizeof key, "%016" PRIx64, (uint64_t)sqlite3_column_int64(s, CALL_IDENTITY));
	struct aggregate_group *g = aggregate_group(w->a, key);
	if (g && place < w->place_count)
		w->places[place] = g;
	return g;
}

static int add_calls(struct worker *w, sqlite3_stmt *s)
{
	bool sites = w->a->by == AGGREGATE_SITE;
	struct aggregate_group *g = sites ? place_group(w, s) : aggregate_group(w->a, query_text(s, CALL_KEY));
	uint64_t nodes = count_at(s, CALL_NODES), streams = count_at(s, CALL_STREAMS), ns = count_at(s, CALL_NS),
		 unended = count_at(s, CALL_UNENDED), all = ns + unended;
	int64_t job = sqlite3_column_int64(s, CALL_JOB);

	if (!g)
		return -1;
	report_progress(w, job != w->last_job);
	w->last_job = job;
	nodes = nodes ? nodes : 1;
	g->sum[SUM_TRACES]++;
	g->sum[SUM_JOBS] += job != g->last_job;
	g->last_job = job;
	g->sum[SUM_CALLS] += count_at(s, CALLS);
	g->sum[SUM_CALL_NS] += ns;
	g->sum[SUM_CALL_PEAK_NS] += count_at(s, CALL_PEAK);
	g->sum[SUM_CALL_BYTES] += count_at(s, CALL_BYTES);
	g->sum[SUM_WAIT_NS] += count_at(s, CALL_WAIT);
	g->sum[SUM_UNENDED_NS] += unended;
	g->sum[SUM_NODE_CALL_NS] += in_nodes(ns, nodes, streams);
	g->sum[SUM_NODE_UNENDED_NS] += in_nodes(unended, nodes, streams);
	g->sum[SUM_NODE_WAIT_NS] += in_nodes(count_at(s, CALL_WAIT), nodes, streams);
	if (!sites || (g->example.name && g->example.weight > all))
		return 0;
	struct aggregate_example e = {all,
	                              (char *)query_text(s, CALL_DAY),
	                              (char *)query_text(s, CALL_DAY + 1),
	                              (char *)query_text(s, CALL_DAY + 2),
	                              (char *)query_text(s, CALL_DAY + 3),
	                              (uint32_t)sqlite3_column_int64(s, CALL_SITE)};
	return aggregate_example(g, &e);
}

/* Function and frames of the sites, once all are there. */
static int name_places(struct worker *w)
{
	sqlite3_stmt *s = query_statement(w->c, "SELECT function, frames FROM place WHERE identity = ?", &w->error);
	int rv = 0;

	if (!s)
		return -1;
	for (size_t i = 0; i < w->a->count && rv == 0; i++) {
		struct aggregate_group *g = w->a->groups[i];
		sqlite3_bind_int64(s, 1, (int64_t)strtoull(g->key, NULL, 16));
		bool found = sqlite3_step(s) == SQLITE_ROW;
		g->function = strdup(found ? query_text(s, 0) : "");
		g->frames = strdup(found ? query_text(s, 1) : "-");
		sqlite3_reset(s);
		rv = g->function && g->frames ? 0 : error_set(&w->error, "out of memory");
	}
	sqlite3_finalize(s);
	return rv;
}

/* --- asking --- */

static void ask_share(struct query *q, const struct worker *w)
{
	if (w->of > 1)
		query_append(q, " AND abs(t.job) %% %" PRIu64 " = %" PRIu64, w->of, w->share);
	if (w->threads > 1)
		query_append(q, " AND abs(t.job) / %" PRIu64 " %% %" PRIu64 " = %" PRIu64, w->of, w->threads,
		             w->thread);
	query_append(q, " ORDER BY t.job");
}

static int run_query(struct worker *w, const struct query *q, int (*row)(struct worker *, sqlite3_stmt *))
{
	sqlite3_stmt *s;
	int rc, rv = query_prepare(q, w->c, &s, &w->error);

	if (rv)
		return -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && (rv = row(w, s)) == 0)
		continue;
	if (rv)
		error_set(&w->error, "out of memory");
	else if (rc != SQLITE_DONE)
		rv = query_failed(w->c, &w->error);
	sqlite3_finalize(s);
	return rv ? -1 : 0;
}

static int aggregate_worker(struct worker *w)
{
	struct query runs = {.used = 0}, calls = {.used = 0};
	enum aggregate_by by = w->a->by;

	if (w->asked && w->asked->progress)
		w->all = (uint64_t)query_number(w->c, "SELECT count(*) FROM trace", 0) / w->of / w->threads *
		                 (by < AGGREGATE_FUNCTION ? 1 : 2) +
		         1;
	query_append(&runs, "SELECT " RUN_COLUMNS ", %s FROM trace t LEFT JOIN summary s USING (id) WHERE 1",
	             key_columns[by]);
	query_filter(&runs, w->filter);
	ask_share(&runs, w);
	if (run_query(w, &runs, add_row) || by < AGGREGATE_FUNCTION)
		return w->error.text[0] ? -1 : 0;
	w->all = 2 * w->rows + 1; /* with a filter there are fewer */
	w->last_job = INT64_MIN;
	if (by == AGGREGATE_FUNCTION) {
		query_append(&calls,
		             "SELECT " CALL_COLUMNS
		             ", c.function FROM trace t JOIN summary s USING (id) JOIN function c USING (id) WHERE 1");
	} else {
		query_append(&calls, "SELECT " CALL_COLUMNS ", c.place, (SELECT identity FROM place p WHERE p.place = "
		                     "c.place), c.site, t.folder, t.name, t.user, t.exe_name"
		                     " FROM trace t JOIN summary s USING (id) JOIN site c USING (id) WHERE 1");
		w->place_count = (size_t)query_number(w->c, "SELECT max(place) FROM place", 0) + 1;
		if (w->place_count > 1 << 26 || !(w->places = calloc(w->place_count + 1, sizeof *w->places)))
			w->place_count = 0; /* then they are found by their keys */
	}
	query_and(&calls, "s.problem IS NULL AND s.version = ?", NULL, DIGEST_VERSION);
	query_filter(&calls, w->filter);
	ask_share(&calls, w);
	return run_query(w, &calls, add_calls) || (by == AGGREGATE_SITE && name_places(w)) ? -1 : 0;
}

static void *aggregate_thread(void *context)
{
	struct worker *w = context;
	w->rv = aggregate_worker(w);
	return NULL;
}

struct troubles {
	struct aggregate *a;
	bool failed;
};

static void add_trouble(void *context, const char *text)
{
	struct troubles *t = context;
	t->failed = t->failed || aggregate_skip(t->a, text);
}

static int add_troubles(struct aggregate *a, struct catalog *c, struct error *error)
{
	struct troubles t = {a, false};
	size_t unreadable;

	catalog_troubles(c, add_trouble, &t, &unreadable);
	a->unreadable = unreadable;
	return t.failed ? error_set(error, "out of memory") : 0;
}

int aggregate_make(struct aggregate **out, struct catalog *c, const struct catalog_filter *filter, enum aggregate_by by,
                   const struct aggregate_share *share, struct error *error)
{
	unsigned threads = share->threads ? share->threads : digest_cores(), begun = 0;
	struct worker workers[64];
	int rv = 0;

	*out = NULL;
	if (c->path[0] == ':')
		threads = 1; /* a database in memory has one connection */
	threads = threads > 64 ? 64 : threads;
	for (unsigned i = 0; i < threads; i++)
		workers[i] = (struct worker){.c = c,
		                             .filter = filter,
		                             .share = share->share,
		                             .of = share->of ? share->of : 1,
		                             .thread = i,
		                             .threads = threads};
	workers[0].asked = share;
	for (; begun < threads && rv == 0; begun++) {
		struct worker *w = &workers[begun];
		w->a = aggregate_create(by);
		rv = !w->a ? error_set(error, "out of memory") : begun > 0 ? catalog_again(&w->c, c, error) : 0;
		if (rv == 0 && begun > 0 && pthread_create(&w->id, NULL, aggregate_thread, w)) {
			catalog_close(w->c);
			rv = error_set(error, "a thread cannot be started");
		}
		if (rv)
			break;
	}
	if (rv == 0)
		aggregate_thread(&workers[0]);
	for (unsigned i = 0; i < begun; i++) {
		struct worker *w = &workers[i];
		if (i > 0) {
			pthread_join(w->id, NULL);
			catalog_close(w->c);
		}
		if (rv == 0 && w->rv)
			rv = error_set(error, "%s", w->error.text);
		if (rv == 0 && i > 0 && aggregate_merge(workers[0].a, w->a))
			rv = error_set(error, "out of memory");
		if (i > 0)
			aggregate_destroy(w->a);
		free(w->places);
	}
	if (begun < threads && begun > 0)
		aggregate_destroy(workers[begun].a);
	if (rv == 0 && share->share == 0)
		rv = add_troubles(workers[0].a, c, error);
	if (rv == 0)
		*out = workers[0].a;
	else
		aggregate_destroy(workers[0].a);
	return rv;
}
