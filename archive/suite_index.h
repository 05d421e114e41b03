/* SPDX-License-Identifier: BSD-3-Clause
 * suite_index - the runs of an archive, out of the index, for suite.h
 *
 * Runs of an application with the same ranks and arguments are one, with the node time of all of them: that with most
 * node time. Runs count that came to their end: no partial traces, no failed jobs.
 */
#ifndef SPOOR_SUITE_INDEX_H
#define SPOOR_SUITE_INDEX_H

#include "archive/catalog.h"
#include "archive/metadata.h"
#include "archive/suite.h"

struct suite_group {
	int64_t id; /* of the trace (history_path) */
	char application[METADATA_APPLICATION];
	int64_t ranks, nodes, runs;
};

/* Those with most node time, SUITE_RUNS at most, into groups and runs, which have room for them. The weights are node
 * hours. *all: those of all groups, also of those that are left out. Returns how many, or -1 with error set. The
 * catalog must be locked, and the digests be there. */
int suite_index_read(struct catalog *c, const struct catalog_filter *filter, struct suite_group *groups,
                     struct suite_run *runs, double *all, struct error *error);

#endif
