/* SPDX-License-Identifier: BSD-3-Clause
 * history - runs of an application that are alike, and jobs of a node, out of the index, for trend.h
 *
 * Runs are alike if application, ranks, arguments and, within a tenth, the number of MPI calls are the same. Runs count
 * that came to their end: no partial traces, no failed jobs.
 */
#ifndef SPOOR_HISTORY_H
#define SPOOR_HISTORY_H

#include "archive/catalog.h"
#include "archive/metadata.h"
#include "archive/trend.h"

/* Of one history the latest runs are looked at; of nodes the latest jobs, and so many of their traces. */
#define HISTORY_RUNS      400
#define HISTORY_JOBS      20000
#define HISTORY_TRACES    (4 * HISTORY_JOBS)
#define HISTORY_LOOKED_AT (16 * HISTORY_JOBS)

struct history_run {
	int64_t id, start_ns;
	double seconds; /* of the rank that took longest, after MPI_Init */
	uint64_t events;
};

struct history {
	char application[METADATA_APPLICATION];
	int64_t ranks;
	struct history_run *runs; /* oldest first */
	size_t count;
};

/* Calls each for every history of at least `least` runs that pass the filter. What it returns, if it is not 0, ends
 * the walk. Returns that, or 0, or -1 with error set. The catalog must be locked, and the digests be there. */
int history_each(struct catalog *c, const struct catalog_filter *filter, size_t least,
                 int (*each)(void *context, const struct history *h), void *context, struct error *error);

/* What changed most between two sets of runs: computation, or a call site; where the program is another one by then,
 * an MPI function. Times are medians, of a rank. */
struct history_cause {
	char what[64];        /* "computation", "MPI_Bcast" */
	double before, after; /* s; before 0: it was not there */
	int64_t id, site;     /* a run with this call site, and its number there; site -1: none */
};
/* slower: what took more time; else what took less. Returns 0, or -1 with error set. */
int history_cause(struct catalog *c, const struct history_run *before, size_t before_count,
                  const struct history_run *after, size_t after_count, bool slower, struct history_cause *out,
                  struct error *error);

/* The runs before one that are like it: at most HISTORY_USUAL, the latest ones. */
#define HISTORY_USUAL 20
struct history_usual {
	struct history_run runs[HISTORY_USUAL]; /* oldest first */
	size_t count;
	struct history_run own; /* the run itself, as the index has it; id 0: it is not there */
	double median;          /* s; 0 without runs */
};
/* Of the trace in this file ("YYYY/MM/DD/UID", "NAME"), which has so many events. Only what the index has digests of.
 * Returns 0, or -1 with error set. */
int history_usual(struct catalog *c, const char *folder, const char *name, uint64_t events, struct history_usual *out,
                  struct error *error);

/* The file of a run, below the archive: "YYYY/MM/DD/UID/NAME.spoor". Returns 0, or -1: it is not there. */
int history_path(struct catalog *c, int64_t id, char *out, size_t size);

struct history_node {
	char *name;
	struct trend_node test;
};
/* Tests all nodes on which jobs ran that pass the filter, the least likely first. Of a job the trace counts whose ranks
 * waited most. *out is malloc'ed; history_free_nodes. Returns 0, or -1 with error set. */
int history_nodes(struct catalog *c, const struct catalog_filter *filter, struct history_node **out, size_t *count,
                  struct error *error);
void history_free_nodes(struct history_node *nodes, size_t count);

#endif
