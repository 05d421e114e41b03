/* SPDX-License-Identifier: BSD-3-Clause
 * load_balance - of `spoor show`: how evenly ranks share the time, who is waited for, how efficient the job was
 */
#ifndef SPOOR_BALANCE_H
#define SPOOR_BALANCE_H

#include <stdio.h>

#include "cmd/show/view.h"
#include "trace/read/summary.h"

/* Into the object of `spoor show --json`. */
void summary_json(const struct summary *s, json_t *json);
/* The times of single ranks, where the trace has them: rank, compute_ns, elapsed_ns. */
void rank_totals_json(const struct trace *t, json_t *json);
/* Time off the processor, and before MPI_Init (trace/model/away.h): the member "away". */
void away_json(const struct trace *t, json_t *json);
/* The lines "Counted" and "Unplaced": what is not in the trace, or not at its sites, and how much that is. */
void summary_print_missing(const struct trace *t, const struct summary *s);
/* The lines "Sent", "One-sided", "Read", "Written", "In MPI", "Efficiency", "Compute", "Overhead". */
void summary_print(const struct show *show, const struct summary *s);

/* The sites that take most time: share of the job, imbalance, extreme ranks. As text, or as the member "balance".
 * Returns 0 or -1. */
int show_balance(const struct show *s, const struct summary *sum, json_t *json);

/* Of one site: its histogram, and who waits for whom; several lines. */
void balance_site(FILE *out, const struct trace *t, const struct trace_site *site);
/* One site as an object of --sites; takes frames. */
json_t *balance_json(const struct trace *t, uint32_t site, json_t *frames);

#endif
