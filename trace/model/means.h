/* SPDX-License-Identifier: BSD-3-Clause
 * means - what each rank spent, as a rank map
 *
 * Of a site it is the mean of its calls, of a total the sum, in ns. While ranks are merged, a value is a code of 7
 * significant bits, which follows from the one rank alone: the result does not depend on the order of merging.
 *
 * When all ranks are known, a value says how far a rank is from the mean of all: 0 is that mean. The step is how fine
 * it is, in parts of the mean below it, and in parts of a power of two above:
 *
 *     step 0 .. 3    1/16, 1/8, 1/4, 1/2     -16 is nothing, 0 the mean, 8 half as much again, 16 twice as much
 *     step 4         a power of two          -1 is less than half, 1 twice as much, 2 four times as much
 *     step 5 .. 7    2, 4, 8 powers of two
 *
 * A coarser step makes the map smaller: ranks that are about alike become alike, and those far away remain.
 */
#ifndef SPOOR_MEANS_H
#define SPOOR_MEANS_H

#include "trace/model/trace.h"

#define MEANS_STEPS 8
/* What changes the time of no rank by so many ns has neither classes nor means, however short the program is: each page
 * that is touched first would have. */
#define MEANS_MATTER_NS 1000000

/* The value of one rank, before all are known. */
int64_t means_code(uint64_t ns);
/* Adds the ranks of `from`, which are others. Returns 0 or -1. */
int means_add(struct trace_means *into, const struct trace_means *from);
/* The same values relative to a mean of all, in ns, and no finer than this step. m has codes. Returns 0 or -1. */
int means_relative(struct rankmap *out, const struct rankmap *m, double mean, unsigned step);
/* Totals of ranks, as codes: those that are so near to the mean that it does not matter become the mean. Returns 0 or
 * -1. */
int means_level(struct rankmap *out, const struct rankmap *m, double mean);
/* One value of that map. */
int64_t means_step(double ns, double mean, unsigned step);
/* What a rank spent, in ns; mean: of all, of what is finished. False: it is not known. */
bool means_get(const struct trace_means *m, double mean, uint32_t rank, double *ns);
/* What a value of the map says, in ns. */
double means_value(const struct trace_means *m, double mean, int64_t value);
/* The smallest difference that a step tells, in parts of the mean: 0.0625 for step 0. */
double means_width(unsigned step);

/* The total of a rank, in ns. False: it is not known. */
bool trace_total_get(const struct trace_total *total, uint32_t rank, uint64_t *ns);
/* Has the ranks of a finished map have the sum of all together, to a ns each: each is moved towards the least or the
 * most by the same part of the way. Not with more than TOTALS_SHARED ranks. */
#define TOTALS_SHARED (1 << 17)
void trace_total_share(struct trace_total *total);
/* Is that of any rank known? */
bool trace_total_known(const struct trace_total *total);
/* What a rank spent in a site's calls, in ns. False: nothing is known but the site's least and most. */
bool means_of_site(const struct trace_site *s, uint32_t rank, double *ns);

#endif
