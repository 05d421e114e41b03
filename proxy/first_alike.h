/* SPDX-License-Identifier: BSD-3-Clause
 * first_alike - of each rank, the first one that has the same
 */
#ifndef SPOOR_PROXY_FIRST_ALIKE_H
#define SPOOR_PROXY_FIRST_ALIKE_H

#include "trace/base/index.h"

/* Begins as {same, context}. same: do two ranks have the same? Then that of a third is the same as both, or as none. */
struct first_alike {
	bool (*same)(const void *context, uint32_t a, uint32_t b);
	const void *context;
	struct index index; /* ranks of which there was none before */
};

/* The first rank that has been asked for and has the same as this one, which may be itself. hash: the same for all that
 * are the same. INDEX_NONE: no memory. */
uint32_t first_alike_find(struct first_alike *f, uint32_t rank, uint64_t hash);
void first_alike_free(struct first_alike *f);

#endif
