/* SPDX-License-Identifier: BSD-3-Clause
 * memory - the tracer's own memory: malloc, free and their kin, as everything that is linked into the tracer has them
 *
 * Nothing of it is the application's heap, and nothing waits: whoever comes while somebody else is in a heap - another
 * thread, or the code that a signal handler interrupted - takes another heap. What is freed meanwhile is put aside, and
 * taken back by the next one who has that heap. So all of it may be called at any instant, also in a signal handler.
 *
 *     heap     a range of memory, of 4096-byte pages. Runs of 2^k pages are halved and joined again (buddies)
 *     slab     a run that is cut into pieces of one size, for what is smaller than a page
 *     mapping  a piece of its own from the system, for what is large, as long as the system may be asked
 *
 * The first heap is part of the library. memory_reserve adds a large one; once memory_quiet was called, no more than
 * that is to be had, and no system call is made.
 */
#ifndef SPOOR_OWN_MEMORY_H
#define SPOOR_OWN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Maps the reserve for what is recorded beside an arena of so many bytes: MEMORY_RESERVE times that, rounded to a power
 * of two. It takes memory as it is used. It is less, or nothing, if the process may not map that much, if memory is
 * locked as soon as it is mapped, or if the system gives no more than it has (vm.overcommit_memory 2). Once. */
#define MEMORY_RESERVE 16
void memory_reserve(uint64_t arena);

/* quiet: from now on the system is not asked for memory, if there is all of the reserve; what does not fit into the
 * heaps is not to be had. Else it may be asked from now on. */
void memory_quiet(bool quiet);

/* What is free in the heaps is given back to the system, which is asked for that. */
void memory_rest(void);

#endif
