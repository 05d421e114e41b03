/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_print - of `spoor aggregate`: what comes out of it, as text, JSON, CSV
 */
#ifndef SPOOR_CMD_AGGREGATE_H
#define SPOOR_CMD_AGGREGATE_H

#include "archive/aggregate.h"

struct aggregate_output {
	const char *archive;
	enum figure_column sort; /* is shown, too */
	size_t top;              /* groups; 0: all */
};

/* Each writes to stdout: the total, with the dearest call sites if the aggregate is by site; the groups in their order.
 * Returns 0 or -1 (no memory). */
int aggregate_print_total(const struct aggregate *sites, const struct aggregate_output *o);
int aggregate_print_groups(const struct aggregate *a, const struct aggregate_output *o);
/* by: what was asked for; AGGREGATE_ALL: a is by site. */
int aggregate_print_json(const struct aggregate *a, enum aggregate_by by, const struct aggregate_output *o);
int aggregate_print_csv(const struct aggregate *a, const struct aggregate_output *o);

#endif
