/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_group - how an aggregate grows; for those who fill it
 */
#ifndef SPOOR_AGGREGATE_GROUP_H
#define SPOOR_AGGREGATE_GROUP_H

#include "archive/aggregate.h"

/* Returns NULL on no memory. */
struct aggregate *aggregate_create(enum aggregate_by by);
void aggregate_free_group(struct aggregate_group *g);
/* The group with this key, added if it is not there; NULL on no memory. Valid as long as the aggregate; by job, with a
 * top, until the next one is added: jobs come one after another. */
struct aggregate_group *aggregate_group(struct aggregate *a, const char *key);
/* Each returns 0 or -1 (no memory). aggregate_example: if it has more weight than the one that is there; texts are
 * copied. */
int aggregate_add_sizes(struct aggregate_group *g, const uint64_t *sizes);
int aggregate_example(struct aggregate_group *g, const struct aggregate_example *e);
/* Adds all that is in `from`. */
int aggregate_merge_group(struct aggregate_group *to, const struct aggregate_group *from);
/* The number of a reason in aggregate_reasons; the last one if it is no other. */
int aggregate_reason(const char *reason);
/* Adds a job to those that hung, if it is one of the dearest; texts are copied. */
int aggregate_add_hung(struct aggregate *a, const struct aggregate_hung *h);
void aggregate_free_hung(struct aggregate *a);
/* Adds a trace that was left out, and why. */
int aggregate_skip(struct aggregate *a, const char *problem);

#endif
