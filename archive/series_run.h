/* SPDX-License-Identifier: BSD-3-Clause
 * series_run - what the index knows of a run: its figures, and those of its MPI functions
 */
#ifndef SPOOR_SERIES_RUN_H
#define SPOOR_SERIES_RUN_H

#include "archive/catalog.h"
#include "insight/figure.h"

struct series_function {
	char *name; /* malloc'ed */
	union figure_calls calls;
};

struct series_figures {
	union figures figures;
	struct series_function *functions; /* malloc'ed */
	size_t count;
};

/* Returns 0; 1: the index knows nothing of it; -1 with error set. The caller frees it in any case. The catalog must be
 * locked. */
int series_run_read(struct series_figures *f, struct catalog *c, int64_t id, struct error *error);
void series_run_free(struct series_figures *f);

#endif
