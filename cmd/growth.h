/* SPDX-License-Identifier: BSD-3-Clause
 * growth - runs of one application with different numbers of ranks: their figures, in total and by call site
 *
 * Sites of different runs are the same if their call paths are. How exactly these are compared is the first of the ways
 * below by which nearly all calls of all runs have a partner in each other run: build ids and offsets, functions with
 * lines, functions alone.
 */
#ifndef SPOOR_GROWTH_H
#define SPOOR_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/base/diff_match.h"

/* Sums over all ranks; times in s. */
enum growth_figure {
	GROWTH_CALLS,
	GROWTH_BYTES,   /* that calls pass on (doc/activity.md) */
	GROWTH_COMPUTE, /* computation; of a site, before its calls */
	GROWTH_MPI,     /* in MPI, without MPI_Init */
	GROWTH_WAIT,    /* of that, waiting for other ranks, as trace/read/wait_site.h estimates it */
	GROWTH_FIGURES
};
extern const char *const growth_names[GROWTH_FIGURES];

struct growth_run {
	const char *name; /* as it was given */
	uint32_t ranks;
	double total[GROWTH_FIGURES];
	double run_s; /* of the rank that took longest */
};

/* A call site of all runs. */
struct growth_site {
	char *name;     /* for people; malloc'ed */
	uint32_t runs;  /* that have it; if not all, the others' figures are 0 */
	double *values; /* malloc'ed: figure f of run r is values[f * runs + r] */
};

struct growth {
	struct growth_run *runs; /* by ranks */
	size_t run_count, run_room;
	struct growth_site *sites;
	size_t site_count;
	enum match match;
	double matched;          /* the share of all calls that are at sites of all runs */
	struct growth_row *rows; /* while runs are added */
	size_t row_count, row_room;
};

/* Reads a trace. Returns 0; 1: it is of a run that did not end well, and is left out; -1, after a message. */
int growth_add(struct growth *g, const char *name, const char *archive);
/* Matches the sites, when all runs are there. Returns 0, or -1 on no memory. */
int growth_match(struct growth *g);
/* How many different numbers of ranks the runs have, which are in order. */
size_t growth_sizes(const struct growth *g);
void growth_free(struct growth *g);

#endif
