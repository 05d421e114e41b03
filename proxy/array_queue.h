/* SPDX-License-Identifier: BSD-3-Clause
 * array_queue - arrays of a large program that have no rule: each visit takes the next one of a queue
 *
 *     int *const array_of_displacements = numbers(836);      the queue has how many there are, and they
 */
#ifndef SPOOR_PROXY_ARRAY_QUEUE_H
#define SPOOR_PROXY_ARRAY_QUEUE_H

#include "proxy/places.h"

/* *number: that of the queue. Returns 0; 1: it cannot be; -1: no memory. */
int array_queue_make(const struct places *p, const struct tree_node **number);

#endif
