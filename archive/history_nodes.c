/* SPDX-License-Identifier: BSD-3-Clause
 * history_nodes - are the ranks on some node slow more often than chance has it?
 *
 *     jobs    sorted by what is alike (application, ranks); each has a stretch of `seats`: the nodes it ran on, and how
 *             long their ranks computed for equal work, if that is known (insight/node_times.h)
 *
 * Of a job that has those times, the slowest node is the one that took longest compared with what other nodes take in
 * its place in jobs that are alike: an application may give one place more to do. Of one that has not, it is the node
 * of the rank that the others waited for.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "archive/digest.h"
#include "archive/history.h"
#include "archive/host_list.h"
#include "archive/query.h"
#include "insight/node_times.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

#define OTHERS 200                 /* jobs of the same application that a job is compared with */
#define SEATS  (HISTORY_JOBS * 16) /* nodes of all jobs; with more, the oldest jobs are left out */

#define NOBODY UINT32_MAX
/* A node is the slowest of a job if it took so much longer than expected. */
#define EFFECT 1.03
/* No other node was ever in its place: then it counts only if the others are as even as this. */
#define EVEN 0.03

struct node_job {
	uint64_t alike;
	bool timed;                 /* the times of its nodes are known */
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
	double *times;   /* of the same, of timed jobs: the median node of the job is 1 */
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
	                       .late = NOBODY,
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
		size_t times = node_times_read(query_text(s, 6), w->times + j->first, SEATS - j->first);
		j->timed = times > 1 && times == j->nodes;
	}
	if (rv == 0 && !j->timed && *query_text(s, 4)) {
		j->late = node_number(w, query_text(s, 4));
		rv = j->late == INDEX_NONE ? -1 : 0;
	}
	w->job_count += rv == 0 && (j->timed || j->late != NOBODY);
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

/* --- jobs whose nodes' times are known --- */

/* What other nodes take in that place of jobs that are alike; 0: there were none. */
static double expected_at(const struct node_work *w, const struct node_job *job, size_t place)
{
	double found[2 * OTHERS];
	const size_t here = (size_t)(job - w->jobs);
	size_t count = 0;
	for (int direction = -1; direction <= 1; direction += 2)
		for (size_t i = 1; i < OTHERS && (direction > 0 ? here + i < w->job_count : i <= here); i++) {
			const struct node_job *j = direction > 0 ? job + i : job - i;
			if (j->alike != job->alike)
				break;
			if (j->timed && j->nodes == job->nodes &&
			    w->seats[j->first + place] != w->seats[job->first + place])
				found[count++] = w->times[j->first + place];
		}
	return trend_median(found, count);
}

/* All nodes but one are about alike, and so the program gives all the same to do. The first and the last rank often
 * have other work than the rest. */
static bool is_even(const struct node_work *w, const struct node_job *job, size_t but)
{
	if (but == 0 || but + 1 == job->nodes || job->nodes < 4)
		return false;
	for (size_t i = 0; i < job->nodes; i++)
		if (i != but && fabs(w->times[job->first + i] - 1) > EVEN)
			return false;
	return true;
}

/* The slowest node. False: none is slow, or that may be the program's doing. */
static bool find_slowest(const struct node_work *w, struct node_job *job)
{
	double most = EFFECT;
	size_t at = SIZE_MAX;
	bool known = true;
	for (size_t i = 0; i < job->nodes; i++) {
		double expected = expected_at(w, job, i),
		       more = w->times[job->first + i] / (expected > 0 ? expected : 1);
		if (more <= most)
			continue;
		most = more;
		at = i;
		known = expected > 0 || is_even(w, job, i);
	}
	if (at == SIZE_MAX || !known)
		return false;
	job->late = w->seats[job->first + at];
	return true;
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
	for (struct node_job *j = w->jobs; seats && j < w->jobs + w->job_count; j++) {
		if (j->timed && !find_slowest(w, j))
			continue;
		double elsewhere = j->timed ? 0 : late_elsewhere(w, j);
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
	struct node_work w = {.jobs = malloc((HISTORY_JOBS + 1) * sizeof *w.jobs),
	                      .seats = malloc(SEATS * sizeof *w.seats),
	                      .times = malloc(SEATS * sizeof *w.times)};
	sqlite3_stmt *s = NULL;

	*out = NULL;
	*count = 0;
	if (!w.jobs || !w.seats || !w.times) {
		free(w.jobs);
		free(w.seats);
		free(w.times);
		return error_set(error, "out of memory");
	}
	/* Traces are gone through from the latest on, until there are enough for the jobs. There may be many without a
	 * late node. SQLite takes the other columns from the row with the maximum. */
	query_append(&q, "SELECT a, ranks, hosts, late_rank, late_node, max(wait_ns), node_times FROM (SELECT "
	                 "application(t.application) AS a, t.ranks AS ranks, t.hosts AS hosts, s.late_rank, "
	                 "s.late_node, s.wait_ns, s.node_times AS node_times, t.job AS job, t.uid AS uid, t.start_ns "
	                 "AS start_ns FROM (SELECT id "
	                 "FROM trace t WHERE t.nodes > 1");
	query_filter(&q, filter);
	query_append(&q,
	             " ORDER BY t.start_ns DESC LIMIT %d) CROSS JOIN summary s USING (id) CROSS JOIN trace t USING "
	             "(id) WHERE (s.node_times IS NOT NULL OR (s.late_rank IS NOT NULL AND s.late_node <> ''))",
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
	free(w.times);
	return rv < 0 ? -1 : 0;
}

void history_free_nodes(struct history_node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(nodes[i].name);
	budget_free(nodes);
}
