/* SPDX-License-Identifier: BSD-3-Clause
 * timeline - begin and end of the events of a rank, in order, of a trace that has the times of all events (timing:
 * full)
 */
#ifndef SPOOR_TIMELINE_H
#define SPOOR_TIMELINE_H

#include "trace/model/trace.h"

struct timeline;

/* Returns NULL with *none set if the rank has no times, without if there is no memory. The trace must outlive it. */
struct timeline *timeline_open(const struct trace *t, uint32_t rank, bool *none);
void timeline_close(struct timeline *l);
/* Begin and end of the next event, which is at `site`, in ns since the rank's first event began. Returns 0; 1: it has
 * no times, nor have later ones. */
int timeline_next(struct timeline *l, uint32_t site, uint64_t *begin, uint64_t *end);

#endif
