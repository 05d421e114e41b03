/* SPDX-License-Identifier: BSD-3-Clause
 * lock - what one thread has at a time
 */
#include "preload/lock.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

#include "preload/clock.h"

static __thread char me __attribute__((tls_model("initial-exec")));

static bool try(struct lock *l, const void **owner)
{
	*owner = NULL;
	return __atomic_compare_exchange_n(&l->owner, owner, &me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* What is done under a lock is mostly over before the processor is given away. */
static bool take_slowly(struct lock *l)
{
	enum { SPINS = 200 };
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + LOCK_NS;
	const void *owner;
	int saved = errno, spins = 0;
	bool taken;

	while (!(taken = try(l, &owner)) && clock_ns(CLOCK_MONOTONIC) < end)
		if (++spins > SPINS)
			sched_yield();
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
	const void *owner;

	while (!try(l, &owner))
		if (owner == &me)
			return false;
		else if (take_slowly(l))
			return true;
	return true;
}

void lock_give(struct lock *l)
{
	__atomic_store_n(&l->owner, NULL, __ATOMIC_RELEASE);
}
