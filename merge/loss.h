/* SPDX-License-Identifier: BSD-3-Clause
 * loss - what lossy modes do to a trace of many ranks
 *
 * Each rank has given up the order of its columns that had too many tokens; together, the ranks' patterns that are left
 * can still be many different ones, as many as there are ranks. Columns whose patterns have more tokens together than
 * the mode allows become tallies, too, so that the size of a trace does not grow with the number of ranks.
 */
#ifndef SPOOR_MERGE_LOSS_H
#define SPOOR_MERGE_LOSS_H

#include "trace/model/trace.h"

void loss_merge(struct trace_loss *to, const struct trace_loss *from);
/* To be done once, on the whole trace: takes the order from columns of too many tokens over all ranks, and balances the
 * bins of all tallies. Returns how many columns were changed, or -1 on no memory (the trace is then good for trace_free
 * only). */
int loss_finish(struct trace *t);

#endif
