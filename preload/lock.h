/* SPDX-License-Identifier: BSD-3-Clause
 * lock - what one thread has at a time, and for which nobody waits for ever
 *
 * What is under a lock takes some microseconds. But a thread may lose its processor while it has one: on a machine with
 * more threads than cores for many milliseconds, and calls of the others must not be lost for that. And it may be
 * interrupted by a signal handler that waits for another thread; so whoever does not get the lock in LOCK_NS does
 * without: the call is passed on, and counted as one that was not recorded.
 */
#ifndef SPOOR_LOCK_H
#define SPOOR_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nobody has it. */
struct lock {
	const void *owner; /* atomic: the address of something of the thread's */
};

/* Tries for LOCK_NS at most. False: another thread has it all that time, or the calling thread itself has it, in what
 * it was interrupted in. Keeps errno. */
#define LOCK_NS UINT64_C(1000000000)
bool lock_take(struct lock *l);
/* Tries until it has it: before MPI is initialised, where whoever has it is about to be done. False: the calling thread
 * itself has it. Keeps errno. */
bool lock_await(struct lock *l);
void lock_give(struct lock *l);

#endif
