/* SPDX-License-Identifier: BSD-3-Clause
 * object_check - are all objects that a rank's events use made by events before them?
 *
 * Objects that a trace uses and that no recorded call has made came from PMPI functions, or from a library that was not
 * traced: nobody can make them in a replay.
 */
#ifndef SPOOR_OBJECT_CHECK_H
#define SPOOR_OBJECT_CHECK_H

#include "trace/model/trace.h"

/* Steps of walks (walk_cost) up to which the ranks of a trace are all looked at before the replay starts; beyond that,
 * each process of the replay looks at its own before it initialises MPI. About a second. */
#define OBJECT_CHECK_STEPS UINT64_C(10000000)

/* Walks over all events of a rank. Returns 0, or -1 with error set: the first event that uses what there is not, or no
 * memory. Of a rank with several threads only what none of them has made is found. */
int object_check_rank(const struct trace *t, uint32_t rank, struct error *error);

#endif
