/* SPDX-License-Identifier: BSD-3-Clause
 * allowance - what a rank of a replay may take of it because its trace says so
 *
 * A number in a trace can stand for a buffer of 32 GiB, or for the 2^31st request. The limit is that of reading the
 * trace (trace/base/budget.h), for all threads of the rank. What a receive between two ranks waits for takes memory
 * only as it comes: it is counted where it is sent.
 */
#ifndef SPOOR_ALLOWANCE_H
#define SPOOR_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

/* Before the first thread is there. Until then there is no limit. */
void allowance_set(uint64_t bytes);
/* Counts so many bytes; false: they are not to be taken, and nothing is any more. */
bool allowance_take(uint64_t bytes);
/* The limit, if it was reached; else 0. */
uint64_t allowance_spent(void);

#endif
