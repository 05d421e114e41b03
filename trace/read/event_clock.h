/* SPDX-License-Identifier: BSD-3-Clause
 * event_clock - begin and end of every event of a rank, in ns: as the trace has them (timing: full), else drawn from
 * the histograms of its site and of the edge that led there
 *
 * Times of single events are as exact as they were recorded, and those of ranks stand to each other as the clocks of
 * their nodes did; threads of one rank have one clock.
 *
 * Draws of one histogram are spread evenly over it (golden section), so that they have its mean, and depend on nothing
 * but the trace: the same trace gives the same times. The rank and the visit that had the longest or the shortest time
 * have it here (Preserving Time, ICS'08). Where the trace knows the mean of a rank's calls of a site (means.h), the
 * rank's draws have that. Where it knows the rank's totals they are what it says: what is drawn of computation and
 * calls is stretched until they are.
 *
 * 0 is the begin of the first MPI_Init. Where times are drawn all ranks leave it at the same time; times of different
 * ranks are no more exact towards each other than that: a message may arrive before it was sent.
 */
#ifndef SPOOR_EVENT_CLOCK_H
#define SPOOR_EVENT_CLOCK_H

#include "trace/read/walk.h"

struct event_clock;

/* Returns 0, or -1 with error set. Costs one walk of the rank if its totals are known and not all times are recorded.
 * The caller destroys *out. */
int event_clock_create(struct event_clock **out, const struct trace *t, uint32_t stream, struct error *error);
void event_clock_destroy(struct event_clock *c);
/* To be told of every event, in order. */
void event_clock_next(struct event_clock *c, const struct event *e, uint64_t *begin, uint64_t *end);
/* Of what passed between the last event and the one before (ns; 0 if there was none), the application's part: where it
 * was recorded, the tracer's own time is in it (own_time.h). To be called once for each event. */
double event_clock_computed(struct event_clock *c, uint64_t passed);
/* When time 0 was, in ns since 1970; false if there are no times of single events. */
bool event_clock_origin(const struct trace *t, int64_t *ns);
/* For whoever reads the export: "exact", "drawn from histograms", "exact for 100 of 250 events, the others drawn from
 * histograms". Returns out. */
#define EVENT_CLOCK_SAYS 128
const char *event_clock_says(const struct trace *t, char out[EVENT_CLOCK_SAYS]);

#endif
