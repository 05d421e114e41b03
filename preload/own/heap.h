/* SPDX-License-Identifier: BSD-3-Clause
 * heap - ranges of memory from which the tracer's pieces are cut (memory.h)
 *
 * Each has a lock that nobody waits for: who does not get it takes the next heap.
 */
#ifndef SPOOR_OWN_HEAP_H
#define SPOOR_OWN_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;

#define HEAP_PAGE  4096u
#define HEAP_SMALL 2048u /* bytes of the largest piece that is no whole pages */

/* n bytes, aligned to 16, or to a page if they are more than HEAP_SMALL; NULL: no heap that is free now has them.
 * *zero: they are all zero. *busy: somebody had a heap, which may have them. */
void *heap_take(size_t n, bool *zero, bool *busy);
/* The heap that a piece is in; NULL: none. */
struct heap *heap_of(const void *p);
/* Gives a piece of this heap back. */
void heap_give(struct heap *h, void *p);
/* How many bytes a piece of this heap has. */
size_t heap_room(const struct heap *h, const void *p);
/* Another heap, of a power of two bytes. False: no memory, or somebody else makes one just now. */
bool heap_make(uint64_t size);
/* Gives the system back what is free. */
void heap_rest(void);
/* Memory from the system; NULL: there is none. */
void *heap_map(size_t n);

#endif
