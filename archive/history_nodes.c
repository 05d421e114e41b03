/* SPDX-License-Identifier: BSD-3-Clause
 * history_nodes - are the ranks on some node late more often than chance has it?
 *
 *     jobs    sorted by what is alike (application, ranks); each has a stretch of `seats`: the nodes it ran on
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "archive/digest.h"
#include "archive/history.h"
#include "archive/host_list.h"
#include "archive/query.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

#define OTHERS 200                 /* jobs of the same application that a job is compared with */
#define SEATS  (HISTORY_JOBS * 16) /* nodes of all jobs; with more, the oldest jobs are left out */

struct node_job {
	uint64_t alike;
	uint32_t rank, ranks, late; /* the late rank; how many there are; the node of the late rank */
	size_t first, nodes;        /* in seats */
};

struct node_work {
	struct history_node *nodes;
	uint32_t node_count, node_room;
	struct index index;
	struct node_job *jobs;
	size_t job_count;
	uint32_t *seats; /* numbers of nodes */
	size_t seat_count;
	const char *wanted; /* by same_node */
};

static bool same_node(const void *context, uint32_t number)
{
	const struct node_work *w = context;
	return strcmp(w->nodes[number].name, w->wanted) == 0;
}

/* The number of a node, or INDEX_NONE on no memory. */
static uint32_t node_number(struct node_work *w, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name));
	w->wanted = name;
	uint32_t found = index_find(&w->index, hash, same_node, w);
	if (found != INDEX_NONE)
		return found;
	if (!budget_grow(&w->nodes, w->node_count, &w->node_room, sizeof *w->nodes))
		return INDEX_NONE;
	w->nodes[w->node_count] = (struct history_node){.name = strdup(name)};
	if (!w->nodes[w->node_count].name)
		return INDEX_NONE;
	w->node_count++;
	return index_add(&w->index, hash, w->node_count - 1) == 0 ? w->node_count - 1 : INDEX_NONE;
}

/* Returns 0, 1 if there are enough, -1 on no memory. */
static int take_job(struct node_work *w, sqlite3_stmt *s)
{
	struct node_job *j = &w->jobs[w->job_count];
	const char *application = query_text(s, 0);
	struct host_range_list hosts = host_list_begin(query_text(s, 2));
	char host[HOST_LIST_NAME];
	int rv = 0;

	*j = (struct node_job){.ranks = (uint32_t)sqlite3_column_int64(s, 1),
	                       .rank = (uint32_t)sqlite3_column_int64(s, 3),
	                       .first = w->seat_count};
	j->alike = hash_mix(hash_bytes(application, strlen(application)), j->ranks);
	while (rv == 0 && host_list_next(&hosts, host)) {
		uint32_t number = node_number(w, host);
		rv = number == INDEX_NONE ? -1 : w->seat_count == SEATS ? 1 : 0;
		if (rv == 0) {
			w->seats[w->seat_count++] = number;
			j->nodes++;
		}
	}
	if (rv == 0) {
		j->late = node_number(w, query_text(s, 4));
		rv = j->late == INDEX_NONE ? -1 : 0;
	}
	w->job_count += rv == 0;
	return rv;
}

static bool ran_on(const struct node_work *w, const struct node_job *j, uint32_t node)
{
	for (size_t i = 0; i < j->nodes; i++)
		if (w->seats[j->first + i] == node)
			return true;
	return false;
}

/* In what share of the jobs that are like this one, and were not on its late node, was the same rank late? Negative:
 * there are none. */
static double late_elsewhere(const struct node_work *w, const struct node_job *job)
{
	size_t here = (size_t)(job - w->jobs), first = here, end = here, jobs = 0, late = 0;
	while (first > 0 && here - first < OTHERS && w->jobs[first - 1].alike == job->alike)
		first--;
	while (end < w->job_count && end - here < OTHERS && w->jobs[end].alike == job->alike)
		end++;
	for (const struct node_job *j = &w->jobs[first]; j < &w->jobs[end]; j++) {
		if (ran_on(w, j, job->late))
			continue;
		jobs++;
		late += j->rank == job->rank;
	}
	return jobs ? (double)late / (double)jobs : -1;
}

struct node_seat {
	uint32_t node;
	struct trend_seat seat;
};

static int compare_seats(const void *a, const void *b)
{
	const struct node_seat *x = a, *y = b;
	return (x->node > y->node) - (x->node < y->node);
}

static int compare_jobs(const void *a, const void *b)
{
	const struct node_job *x = a, *y = b;
	return x->alike != y->alike ? (x->alike > y->alike ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

static int compare_nodes(const void *a, const void *b)
{
	const struct history_node *x = a, *y = b;
	return x->test.p != y->test.p ? (x->test.p > y->test.p ? 1 : -1) : strcmp(x->name, y->name);
}

static int test_nodes(struct node_work *w)
{
	struct node_seat *seats = malloc((w->seat_count + 1) * sizeof *seats);
	struct trend_seat *of_node = malloc((w->seat_count + 1) * sizeof *of_node);
	size_t n = 0;

	qsort(w->jobs, w->job_count, sizeof *w->jobs, compare_jobs);
	for (const struct node_job *j = w->jobs; seats && j < w->jobs + w->job_count; j++) {
		double elsewhere = late_elsewhere(w, j);
		for (size_t i = 0; i < j->nodes; i++) {
			uint32_t node = w->seats[j->first + i];
			seats[n++] = (struct node_seat){
				node, {.nodes = (uint32_t)j->nodes, .late = node == j->late, .elsewhere = elsewhere}};
		}
	}
	if (seats)
		qsort(seats, n, sizeof *seats, compare_seats);
	for (size_t i = 0, count; seats && of_node && i < n; i += count) {
		for (count = 0; i + count < n && seats[i + count].node == seats[i].node; count++)
			of_node[count] = seats[i + count].seat;
		trend_node_test(&w->nodes[seats[i].node].test, of_node, count);
	}
	int rv = seats && of_node ? 0 : -1;
	free(seats);
	free(of_node);
	return rv;
}

int history_nodes(struct catalog *c, const struct catalog_filter *filter, struct history_node **out, size_t *count,
                  struct error *error)
{
	struct query q = {.used = 0};
	struct node_work w = {.jobs = malloc(HISTORY_JOBS * sizeof *w.jobs), .seats = malloc(SEATS * sizeof *w.seats)};
	sqlite3_stmt *s = NULL;

	*out = NULL;
	*count = 0;
	if (!w.jobs || !w.seats) {
		free(w.jobs);
		free(w.seats);
		return error_set(error, "out of memory");
	}
	/* Traces are gone through from the latest on, until there are enough for the jobs. There may be many without a
	 * late node. SQLite takes the other columns from the row with the maximum. */
	query_append(&q, "SELECT a, ranks, hosts, late_rank, late_node, max(wait_ns) FROM (SELECT "
	                 "application(t.application) AS a, t.ranks AS ranks, t.hosts AS hosts, s.late_rank, "
	                 "s.late_node, s.wait_ns, t.job AS job, t.uid AS uid, t.start_ns AS start_ns FROM (SELECT id "
	                 "FROM trace t WHERE t.nodes > 1");
	query_filter(&q, filter);
	query_append(&q,
	             " ORDER BY t.start_ns DESC LIMIT %d) CROSS JOIN summary s USING (id) CROSS JOIN trace t USING "
	             "(id) WHERE s.late_rank IS NOT NULL AND s.late_node <> ''",
	             HISTORY_LOOKED_AT);
	query_and(&q, "s.version = ?", NULL, digest_version());
	query_append(&q, " ORDER BY t.start_ns DESC LIMIT %d) GROUP BY job, uid ORDER BY start_ns DESC, job LIMIT %d",
	             HISTORY_TRACES, HISTORY_JOBS);
	int rv = query_prepare(&q, c, &s, error);
	while (rv == 0 && sqlite3_step(s) == SQLITE_ROW)
		rv = take_job(&w, s);
	sqlite3_finalize(s);
	if (rv >= 0 && test_nodes(&w) != 0)
		rv = -1;
	if (rv < 0 && error && !error->text[0])
		error_set(error, "out of memory");
	if (rv >= 0) {
		if (w.nodes)
			qsort(w.nodes, w.node_count, sizeof *w.nodes, compare_nodes);
		*out = w.nodes;
		*count = w.node_count;
	} else {
		history_free_nodes(w.nodes, w.node_count);
	}
	index_free(&w.index);
	free(w.jobs);
	free(w.seats);
	return rv < 0 ? -1 : 0;
}

void history_free_nodes(struct history_node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(nodes[i].name);
	budget_free(nodes);
}
