/* SPDX-License-Identifier: BSD-3-Clause
 * compute - waiting between two calls for as long as the rank computed there (insight/times.h)
 *
 * What the replay itself takes is taken off: whoever is late after one call waits less after the next, until that is
 * paid back.
 */
#ifndef SPOOR_COMPUTE_H
#define SPOOR_COMPUTE_H

#include "trace/model/trace.h"

enum compute_mode { COMPUTE_SLEEP, COMPUTE_SPIN, COMPUTE_NONE };

struct compute;

/* scales: by what the time before calls of each site is multiplied. exact: the events come as they are in the trace, so
 * that their times can be taken. NULL on no memory. The trace and `scales` must outlive it. */
struct compute *compute_create(const struct trace *t, uint32_t rank, enum compute_mode mode, const double *scales,
                               bool exact, uint64_t seed);
void compute_destroy(struct compute *c);
/* A call of this site begins: waits until then. */
void compute_wait(struct compute *c, uint32_t site);
/* It ended. */
void compute_call_ended(struct compute *c, uint32_t site);

#endif
