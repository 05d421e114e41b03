/* SPDX-License-Identifier: BSD-3-Clause
 * first_alike - of each of some things, as ranks, the first one that is the same
 */
#ifndef SPOOR_PROXY_FIRST_ALIKE_H
#define SPOOR_PROXY_FIRST_ALIKE_H

#include "trace/base/index.h"

/* Begins as {same, context}. same: are two things the same, by their numbers? Then a third is the same as both, or as
 * none. */
struct first_alike {
	bool (*same)(const void *context, uint32_t a, uint32_t b);
	const void *context;
	struct index index; /* things that were the first ones */
};

/* The first thing that has been asked for and is the same as this one, which may be itself. hash: the same for all that
 * are the same. INDEX_NONE: no memory. */
uint32_t first_alike_find(struct first_alike *f, uint32_t number, uint64_t hash);
void first_alike_free(struct first_alike *f);

#endif
