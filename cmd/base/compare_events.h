/* SPDX-License-Identifier: BSD-3-Clause
 * compare_events - are the events of two traces the same? Functions and parameters in order, rank by rank; call paths
 * and times may differ
 */
#ifndef SPOOR_COMPARE_H
#define SPOOR_COMPARE_H

#include <stdio.h>

#include "trace/model/trace.h"

struct compare_result {
	uint64_t ranks, threads, events;       /* compared; threads: further ones of ranks */
	uint64_t functions_different, columns; /* of compare_totals (totals.h) */
	uint64_t ranks_different;              /* the first difference of each of the first few was printed */
	uint64_t vain[2];                      /* polls of a and of b that were not compared */
};

/* Where ranks have several threads, each is compared for itself, and objects may have other numbers, as long as each is
 * always the same one. Prints differences to out, with the two names. prefix: a rank of `b` may have more or fewer
 * events than in `a` at its end (a partial trace). chance: what depends on it may differ: polls that found nothing (and
 * MPI_Request_get_status, which changes nothing), which message or request was found, the numbers of requests, the
 * names of files, and what is not known in `a`, as it has no order there (compare_totals.h).
 * Returns 0, or -1 with error set. */
int compare_traces(const struct trace *a, const struct trace *b, const char *a_name, const char *b_name, bool prefix,
                   bool chance, FILE *out, struct compare_result *result, struct error *error);

#endif
