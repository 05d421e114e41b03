/* SPDX-License-Identifier: BSD-3-Clause
 * compare_totals - do two traces agree in what does not depend on any order: calls of each function, sums and
 * distributions of what has no order
 */
#ifndef SPOOR_TOTALS_H
#define SPOOR_TOTALS_H

#include "cmd/base/compare_events.h"

/* For a trace without order, `a`, and one of its replay, `b`. Of each function: its calls. Of each parameter of
 * messages that has no order in `a` (peers, tags, counts): how often it had each value, or a value of each bin; of
 * counts their sum, too. Ranks count modulo the size of MPI_COMM_WORLD, if all their communicators are that large. Of
 * collective operations the same for roots and counts, within a twentieth: how many calls of different communicators
 * make one operation is not in the trace. Prints what differs, and sets result->functions_different and
 * result->columns. Returns 0, or -1 with error set. */
int compare_totals(const struct trace *a, const struct trace *b, const char *a_name, const char *b_name, FILE *out,
                   struct compare_result *result, struct error *error);

#endif
