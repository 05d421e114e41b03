/* SPDX-License-Identifier: BSD-3-Clause
 * reclaim - memory for a recorder whose arena is nearly full: its largest columns give up their order
 *
 * First, columns that nothing compresses become bits (raw.h), in which nothing is lost. If that is not enough:
 *
 * Columns are taken from record_each_column, whatever they hold. One that gives up its order becomes a tally
 * (lossy_force). What it had in order up to the mark stays in order (prefix.h), as long as the memory is not needed. If
 * next to nothing is left in order, tallies become coarser, and at last the largest are forgotten. What is freed is put
 * together again (arena_compact). An arena that is reclaimed again and again goes on for ever: what a column needs that
 * has no order does not grow.
 */
#ifndef SPOOR_RECLAIM_H
#define SPOOR_RECLAIM_H

#include "trace/record/record.h"

/* Bins of a tally from then on. */
#define RECLAIM_BINS 16

/* From then on a column that gets larger than this share of the arena gives up its order at once, and one that looks
 * random much sooner (trace/record/column.c): to keep it until memory is short again would only cost time. */
#define RECLAIM_CAP 64

/* Between two events. As long as no more than half of the arena is used, it marks all columns: what they have now will
 * stay in order when the other half is used, too. Costs something once in 1/64 of the arena. Returns after how many
 * more bytes it is to be called again; UINT64_MAX: it need not be. */
uint64_t record_mark(struct columns *x, struct record *r);

/* Between two events. Makes the largest columns tallies, until a quarter of the arena is freed, and frees vectors that
 * no column refers to any more. Returns how many bytes that gave. */
uint64_t record_reclaim(struct columns *x, struct record *r);

#endif
