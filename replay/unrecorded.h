/* SPDX-License-Identifier: BSD-3-Clause
 * unrecorded - values of columns that have no order, drawn from what was counted (ScalaTrace II, ICS'13, section 3.5)
 *
 * Each rank draws its own (sampler.h), but those that the calls of a collective operation must agree on
 * (collective_args.h).
 */
#ifndef SPOOR_UNRECORDED_H
#define SPOOR_UNRECORDED_H

#include "replay/args.h"

struct unrecorded;

/* Can this trace be replayed? Returns 0; or -1 with error set, which says what has no order and must have one. */
int unrecorded_possible(const struct trace *t, struct error *error);
/* Returns 0, or -1 with error set. The trace must outlive it. */
int unrecorded_create(struct unrecorded **out, const struct trace *t, uint32_t rank, uint64_t seed,
                      struct error *error);
void unrecorded_destroy(struct unrecorded *u);
/* Is the source of a receive never MPI_PROC_NULL? */
bool unrecorded_has_message(const struct unrecorded *u, const struct event *e);
/* Replaces values of the event that are not known. What stays VALUE_LOSSY is an output, or a request. */
void unrecorded_fill(struct unrecorded *u, struct args *a, struct event *e);

#endif
