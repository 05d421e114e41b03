/* SPDX-License-Identifier: BSD-3-Clause
 * joined - what has been computed before, by what it was computed from: bytes to bytes
 *
 * The ranks of a parallel program differ in few ways, which are the same at thousands of sites: rank 4 sends to 5 where
 * rank 0 sends to 1. Small and of fixed size: what is new takes the place of what has the same hash.
 */
#ifndef SPOOR_JOINED_H
#define SPOOR_JOINED_H

#include <stddef.h>
#include <stdint.h>

struct joined;

/* NULL: no memory. */
struct joined *joined_new(void);
/* m may be NULL. */
void joined_free(struct joined *m);
/* What was made from these n bytes, and how long it is; NULL: it is not there. Valid until joined_keep. */
const uint8_t *joined_find(const struct joined *m, const void *from, size_t n, size_t *size);
/* Keeps it, if it is not too long. Returns 0, or -1 on no memory. */
int joined_keep(struct joined *m, const void *from, size_t n, const void *made, size_t size);

#endif
