/* SPDX-License-Identifier: BSD-3-Clause
 * merge_column - the groups of two columns: groups whose pattern and dictionary shape are equal become one
 */
#ifndef SPOOR_MERGE_COLUMN_H
#define SPOOR_MERGE_COLUMN_H

#include "merge/translate.h"

/* Adds a group that has an order. Returns 0, or -1 on no memory, or if a rank is in both. */
int merge_ordered(struct translation *x, struct trace_column *into, const struct trace_group *from,
                  enum reference reference);
/* Adds all groups. The same. */
int merge_column(struct translation *x, struct trace_column *into, const struct trace_column *from,
                 enum reference reference);

#endif
