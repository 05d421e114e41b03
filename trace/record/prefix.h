/* SPDX-License-Identifier: BSD-3-Clause
 * prefix - the first values of a column that gave up its order because memory was short: these stay in order
 *
 * All values are in the tally, so that nothing that is counted needs to know of prefixes. A prefix is a struct column
 * of its own, which nothing is put into any more: it has the pattern and the dictionary that its column had, cut.
 *
 *     column   1 2 1 2 1 2 3 1 4 1 | 5 9 2 6 ...     marked 7: it is cut behind the symbol that has the 7th value
 *     prefix   1 2 1 2 1 2 3                         start 7: its number of values
 *     tally    of all of them
 *
 * All columns are marked before the same event (record_mark), so that all events before it are known.
 */
#ifndef SPOOR_PREFIX_H
#define SPOOR_PREFIX_H

#include "trace/record/column.h"

/* The prefix of a column that is about to give up its order after `visits` values, which must be settled
 * (column_settle). It has the column's pattern and dictionary then, uncut. 0: there is none: nothing is marked, or no
 * memory. */
ref prefix_make(struct columns *x, struct column *c, uint64_t visits);
/* Cuts it to what is marked, or little more, when its column has no order any more. 0 is fine. */
void prefix_cut(struct columns *x, ref at);
/* Gives a prefix that nothing refers to any more back. 0 is fine. */
void prefix_free(struct columns *x, ref at);

#endif
