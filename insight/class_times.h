/* SPDX-License-Identifier: BSD-3-Clause
 * class_times - how long one rank computes on an edge: drawn by the class that the trace says, and by the rank's mean
 *
 * A visit of the edge has a class (trace/model/classes.h), or else all of the edge is one. A time is drawn from the
 * histogram of the class. What ranks differ by inside of a class is in their means: the histogram is moved to the
 * rank's mean, and made as narrow as one rank's times are.
 */
#ifndef SPOOR_CLASS_TIMES_H
#define SPOOR_CLASS_TIMES_H

#include "trace/model/pattern.h"
#include "trace/model/trace.h"

struct class_times;

/* Ranks with one seed draw at the same places of their histograms. patterns: one for each of the trace's, parsed when
 * first used; the trace and they must outlive it. NULL on no memory. */
struct class_times *class_times_create(const struct trace *t, const struct trace_edge *e, uint32_t rank, uint64_t seed,
                                       struct pattern *patterns);
/* The same, with the classes of another rank, `like`, at each visit. Times are longer or shorter by as much as those of
 * this rank are in the mean. */
struct class_times *class_times_create_like(const struct trace *t, const struct trace_edge *e, uint32_t rank,
                                            uint32_t like, uint64_t seed, struct pattern *patterns);
void class_times_destroy(struct class_times *c);
/* The next visit of the edge, which is this visit of the site behind it. factor: of the rank (class_times_factor).
 * Returns ns: no more, and no less, than ever came. */
double class_times_next(struct class_times *c, uint64_t visit, double factor);
/* What the rank computes on the edge in the mean of so many visits, in ns. */
double class_times_mean(const struct trace *t, const struct trace_edge *e, uint32_t rank, uint64_t visits);
/* What a rank computed behind all its visits of a site, in ns: by its own means of the edges by which it left, or by
 * those of all ranks. */
double class_times_behind(const struct trace *t, const struct trace_site *s, uint32_t rank, bool own);
/* By how much more the rank computed than by its means of all edges. What it has more by chance, where times vary much,
 * is in no mean. 1: not known. */
double class_times_factor(const struct trace *t, uint32_t rank);

#endif
