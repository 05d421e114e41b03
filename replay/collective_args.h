/* SPDX-License-Identifier: BSD-3-Clause
 * collective_args - arguments that the calls of a collective operation must agree on, where they have no order
 *
 * The calls of a collective operation must fit each other, wherever in the program they were made. Their roots and
 * counts are drawn from what all sites of the function have together, by the number of the operation on its
 * communicator; counts between two ranks by their two ranks as well. So all ranks draw the same without a message:
 *
 *     operation 5 of MPI_Allgatherv    recvcounts[k] is value 5 * size + k of the permutation, on every rank;
 *                                      rank k passes value 5 * size + k as its sendcount
 *
 * Only where some ranks know the root, because they gave what only the root gives, they tell the others.
 */
#ifndef SPOOR_COLLECTIVE_ARGS_H
#define SPOOR_COLLECTIVE_ARGS_H

#include "replay/args.h"
#include "replay/sampler.h"

struct collective_args;

/* Is it an operation whose calls must fit each other? */
bool collective_args_must_fit(const struct schema *s);
/* Returns 0, or -1 on no memory. The trace must outlive it. */
int collective_args_create(struct collective_args **out, const struct trace *t, uint64_t seed);
void collective_args_destroy(struct collective_args *c);
/* Replaces roots, counts, displacements and MPI_IN_PLACE of an event that did not fail. visit: of its site, from 0.
 * Arrays are valid until the next call. Sets replay_outcome.mixed_types. */
void collective_args_fill(struct collective_args *c, struct args *a, struct event *e, struct sampler *sampler,
                          uint64_t visit);

#endif
