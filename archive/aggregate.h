/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate - sums over the traces of an archive, by user, program, function, ...: what `spoor aggregate` and the
 * site's report are made of
 *
 *     aggregate_make(&a, catalog, &filter, AGGREGATE_USER, NULL, &error);    catalog is up to date (scan.h,
 *         digest_update.h) and locked (CATALOG_SHARE)
 *     aggregate_sort(a, figure_column("wait"), false);
 *     for (i = 0; i < a->count; i++)
 *             a->groups[i]->key, aggregate_value(a, a->groups[i], COLUMN_WAIT)
 *
 * It comes from the index alone; no trace is opened. Everything that is added up is an integer, so that any order of
 * adding, and any number of processes among which the traces are divided (by job), come to the same. What belongs to a
 * run on n nodes with r ranks (and further threads) is also counted in node hours: of s ns of all of them together,
 * s * n / r. A share is that of node hours.
 *
 * Traces that cannot be read (damaged, of a newer version) are in no sum, but in `skipped`.
 */
#ifndef SPOOR_AGGREGATE_H
#define SPOOR_AGGREGATE_H

#include <jansson.h>

#include "archive/catalog.h"
#include "insight/figure.h"
#include "insight/outcome.h"
#include "trace/base/index.h"
#include "trace/model/histogram.h"
#include "trace/read/activity.h"

/* What a group is of. The executable is the last component of its path; the application is that, or the script of an
 * interpreter, or the name that the policy has for it; the month that of the start, local time. Of a
 * job on several nodes, each node has an equal share of what is counted. A call site is a function with its call path:
 * the same in all runs of the same program file; of each trace the index has those with most time. */
enum aggregate_by {
	AGGREGATE_ALL, /* no groups, only the total */
	AGGREGATE_USER,
	AGGREGATE_ACCOUNT,
	AGGREGATE_PARTITION,
	AGGREGATE_EXECUTABLE,
	AGGREGATE_APPLICATION,
	AGGREGATE_JOB,
	AGGREGATE_NODE,
	AGGREGATE_MONTH,
	AGGREGATE_FUNCTION,
	AGGREGATE_SITE,
};
extern const char *const aggregate_names[]; /* "all", "user", ...; NULL-terminated */

/* Why traces are partial (doc/metadata.md); the last one is anything else. */
#define AGGREGATE_REASONS 10
extern const char *const aggregate_reasons[AGGREGATE_REASONS];

struct aggregate_group {
	char *key;
	uint128 sum[FIGURE_SUMS];
	uint64_t *
		sizes; /* messages by size class (activity.h); NULL: none, and in groups by job, node, function, site */
	uint64_t reasons[AGGREGATE_REASONS];
	uint64_t causes[OUTCOMES]; /* traces, by what is said first of them (insight/outcome.h) */
	int64_t last_job;
	/* Of groups by job and by site: one of its traces, that with most node time, or with most time in the site; the
	 * first name of several. */
	struct aggregate_example {
		uint64_t weight;
		char *folder, *name, *user, *exe; /* name: JOB.STEP.N; NULL in other groups */
		uint32_t site;                    /* its number in that trace */
	} example;
	char *function, *frames; /* of a site; else NULL */
};

/* A run that lost time in calls that never ended. */
#define AGGREGATE_HUNG 10
struct aggregate_hung {
	uint64_t node_ns; /* of its nodes, in such calls */
	char *name, *user, *exe;
	char *verdict; /* what it waited for (insight/hang.h) */
};

/* Of groups by job only the first ones in this order are kept (aggregate_sort): there may be millions. */
struct aggregate_top {
	size_t count; /* 0: all are */
	enum figure_column column;
	bool reverse;
};

struct aggregate {
	enum aggregate_by by;
	struct aggregate_group total; /* of all traces, key "" */
	struct aggregate_group **groups;
	size_t count, capacity;
	struct aggregate_top top;
	uint64_t dropped; /* groups that are not kept */
	struct index index;
	struct aggregate_hung hung[AGGREGATE_HUNG]; /* the dearest, most node time first */
	size_t hung_count;
	json_t *skipped; /* array of texts: FILE: what is wrong */
	uint64_t unreadable,
		/* traces that are not for us to read; that the index knows nothing of but their metadata (catalog not
		 * writable) */
		missing;
};

struct aggregate_asked {
	unsigned threads; /* 0: one for each core that the process may use */
	struct aggregate_top top;
	/* Is told now and then how far it is (an estimate), by the caller's thread; may be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t all);
	void *context;
};

/* asked: NULL is all zero. Returns 0, or -1 with error set. The caller destroys *out. */
int aggregate_make(struct aggregate **out, struct catalog *c, const struct catalog_filter *filter, enum aggregate_by by,
                   const struct aggregate_asked *asked, struct error *error);
void aggregate_destroy(struct aggregate *a);
/* Adds what is in `from`, of the same kind and of other traces. Returns 0, or -1 on no memory. */
int aggregate_merge(struct aggregate *to, const struct aggregate *from);
/* As bytes, for the index. *bytes is malloc'ed. Each returns 0 or -1 (no memory, or not such bytes). */
int aggregate_encode(const struct aggregate *a, uint8_t **bytes, size_t *size);
int aggregate_decode(struct aggregate **out, const uint8_t *bytes, size_t size);

/* --- what follows from the sums --- */

bool aggregate_has(enum aggregate_by by, enum figure_column column);
/* In the unit of the column; negative: not known. Shares are 0 .. 1, hours are node hours. */
double aggregate_value(const struct aggregate *a, const struct aggregate_group *g, enum figure_column column);
/* Puts the groups in order: the largest value first, what is not known last, equal ones by key; or by key
 * (FIGURE_COLUMNS). reverse: the other way round, but for what is not known. */
void aggregate_sort(struct aggregate *a, enum figure_column column, bool reverse);
/* Drops the groups that are not at the top (struct aggregate_top). Those of jobs must be wholly there. */
void aggregate_drop(struct aggregate *a);
/* The jobs that hung, as an array. */
json_t *aggregate_hung_json(const struct aggregate *a);
/* A group with all that is known of it: key, the columns by their names in JSON, "sizes", "partial_reasons", "causes",
 * and of sites "function", "frames", "executable". NULL on no memory. */
json_t *aggregate_json(const struct aggregate *a, const struct aggregate_group *g);

#endif
