/* SPDX-License-Identifier: BSD-3-Clause
 * pool - strings and vectors of a recorder, each kept once
 */
#ifndef SPOOR_POOL_H
#define SPOOR_POOL_H

#include "preload/recorder_internal.h"

/* The number of a string or a vector in its pool. Without room the string is the one that stands for what is not known
 * (recorder.unknown), the vector UINT32_MAX. */
uint32_t pool_string(struct recorder *r, const void *bytes, size_t n);
uint32_t pool_vector(struct recorder *r, const int64_t *values, size_t n);

/* Valid for as long as the arena is mapped. */
static inline struct record_vector *pool_vector_at(const struct recorder *r, uint32_t i)
{
	return arena_at(&r->arena, struct record_vector,
	                *(ref *)table_at(&r->arena, &r->record->vectors, i, sizeof(ref)));
}

#endif
