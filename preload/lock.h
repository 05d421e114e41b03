/* SPDX-License-Identifier: BSD-3-Clause
 * lock - what one thread has at a time, and for which nobody waits for ever
 *
 * What is under a lock takes some microseconds. But a thread may lose its processor while it has one, to a debugger for
 * ever; and it may be interrupted by a signal handler that waits for another thread. So whoever does not get the lock
 * in LOCK_NS does without: the call is passed on, and counted as one that was not recorded.
 *
 * These are nanoseconds of the waiting thread's own processor time: a rank loses no more than that. Where there are
 * more threads than cores, others have the processor meanwhile, one of which is likely to be who has the lock. There
 * all ends after LOCK_AWAY_NS. Whoever comes then only waits for a moment.
 */
#ifndef SPOOR_LOCK_H
#define SPOOR_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#define LOCK_NS      UINT64_C(1000000)
#define LOCK_AWAY_NS UINT64_C(1000000000)

/* All zero: nobody has it. */
struct lock {
	const void *owner; /* atomic: the address of something of the thread's */
	bool stuck;        /* atomic: somebody waited in vain; until it is free again nobody waits for long */
};

/* False: another thread has it all that time, or the calling thread itself has it, in what it was interrupted in. Keeps
 * errno. */
bool lock_take(struct lock *l);
/* Tries until it has it: before MPI is initialised, where whoever has it is about to be done. False: the calling thread
 * itself has it. Keeps errno. */
bool lock_await(struct lock *l);
void lock_give(struct lock *l);

/* A wait for anything else that another thread does: lock_wait returns after a moment, false when time is up; stuck:
 * some time ago somebody waited in vain, and time is up before the processor is given away. All zero at the beginning.
 * Changes errno. */
struct lock_wait {
	uint64_t turns, own_end, end; /* ns of the thread's own clock, and of the one for all */
};
bool lock_wait(struct lock_wait *w, bool stuck);

/* Waits that ended without what they were for; for tests. */
extern uint64_t lock_given_up __attribute__((visibility("hidden")));

#endif
