/* SPDX-License-Identifier: BSD-3-Clause
 * volume - how much the call sites of a trace pass on: bytes, and how many messages of which size
 *
 * Costs what the trace's size costs: values are counted by their patterns, not by walking events. Where parameters must
 * be taken together (some messages go to MPI_PROC_NULL, count and datatype both vary) they are taken in step, rank by
 * rank; where a handle's number was used again for something else, the events of a small trace are walked. Of calls for
 * which that is too much, or not known (lossy), the size is not known.
 */
#ifndef SPOOR_VOLUME_H
#define SPOOR_VOLUME_H

#include "trace/read/amount.h"

struct volumes {
	struct amount *sites;         /* malloc'ed; by site */
	uint64_t sizes[AMOUNT_SIZES]; /* messages of known size, of all sites */
};

/* Events of a trace that is walked at most. */
#define VOLUME_EVENTS (UINT64_C(1) << 16)

/* Returns 0, or -1 on no memory. The caller frees it in any case. */
int volumes_make(struct volumes *v, const struct trace *t);
void volumes_free(struct volumes *v);

#endif
