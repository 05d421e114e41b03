/* SPDX-License-Identifier: BSD-3-Clause
 * partitions - those that are told apart where each one costs
 *
 * A trace says what its partition was, so one user may name any number of them.
 */
#ifndef SPOOR_PARTITIONS_H
#define SPOOR_PARTITIONS_H

#include "archive/aggregate.h"

#define PARTITIONS_MOST 50

/* In an aggregate by partition: adds all groups but PARTITIONS_MOST to the one without a name, and those whose names
 * are not wholly visible. That one is there afterwards, perhaps empty. Returns 0, or -1 with error set. */
int partitions_join(struct aggregate *a, struct catalog *c, struct error *error);

#endif
