/* SPDX-License-Identifier: BSD-3-Clause
 * lock - what one thread has at a time
 */
#include "preload/lock.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

#include "preload/clock.h"

/* What is done under a lock is mostly over before the processor is given away. */
#define SPINS 200
/* Who waits longer than any step takes does not keep the processor from threads of less importance. */
#define PAUSE_NS 50000

static __thread char me __attribute__((tls_model("initial-exec")));
uint64_t lock_given_up;

static bool try(struct lock *l, const void **owner)
{
	*owner = NULL;
	return __atomic_compare_exchange_n(&l->owner, owner, &me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

bool lock_wait(struct lock_wait *w, bool stuck)
{
	if (!w->turns++) {
		w->own_end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + LOCK_NS;
		w->end = clock_ns(CLOCK_MONOTONIC) + LOCK_AWAY_NS;
	}
	if (w->turns < SPINS)
		return true;
	if (stuck)
		return false;
	sched_yield();
	if (clock_ns(CLOCK_THREAD_CPUTIME_ID) < w->own_end && clock_ns(CLOCK_MONOTONIC) < w->end)
		return true;
	__atomic_fetch_add(&lock_given_up, 1, __ATOMIC_RELAXED);
	return false;
}

static bool take_slowly(struct lock *l)
{
	struct lock_wait wait = {.turns = 0};
	const void *owner;
	int saved = errno;
	bool taken;

	while (!(taken = try(l, &owner)) && lock_wait(&wait, __atomic_load_n(&l->stuck, __ATOMIC_RELAXED)))
		;
	__atomic_store_n(&l->stuck, !taken, __ATOMIC_RELAXED);
	errno = saved;
	return taken;
}

bool lock_take(struct lock *l)
{
	const void *owner;

	return try(l, &owner) || (owner != &me && take_slowly(l));
}

bool lock_await(struct lock *l)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const void *owner;
	int saved = errno;

	for (int i = 0; !try(l, &owner); i++) {
		if (owner == &me)
			return false;
		if (i > SPINS)
			nanosleep(&pause, NULL);
	}
	errno = saved;
	return true;
}

void lock_give(struct lock *l)
{
	__atomic_store_n(&l->stuck, false, __ATOMIC_RELAXED);
	__atomic_store_n(&l->owner, NULL, __ATOMIC_RELEASE);
}
