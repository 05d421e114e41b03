/* SPDX-License-Identifier: BSD-3-Clause
 * lock - nobody waits longer than LOCK_NS of its own time for who does not go on, and only one does
 */
#include "preload/lock.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "preload/clock.h"
#include "tests/unit/tap.h"

#define THREADS 8

static struct lock lock;
static volatile bool held, go_on;

static void *hold(void *p)
{
	(void)p;
	lock_take(&lock);
	held = true;
	while (!go_on)
		usleep(1000);
	lock_give(&lock);
	return NULL;
}

/* ns of its own time that a thread loses by waiting. */
static void *take(void *p)
{
	uint64_t *own = p, before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bool taken = lock_take(&lock);
	*own = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	if (taken)
		lock_give(&lock);
	return taken ? p : NULL;
}

static uint64_t *in_vain(void)
{
	static uint64_t own[THREADS];
	pthread_t t[THREADS];
	void *taken;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, take, &own[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &taken);
		if (taken)
			return NULL;
	}
	return own;
}

int main(void)
{
	pthread_t holder;
	uint64_t own = 0, before;

	errno = 5;
	ok(lock_take(&lock) && !lock_take(&lock) && !lock_await(&lock), "who has it is told so");
	lock_give(&lock);
	pthread_create(&holder, NULL, hold, NULL);
	while (!held)
		usleep(1000);
	before = clock_ns(CLOCK_MONOTONIC);
	ok(!take(&own) && errno == 5, "another thread has it: errno is kept");
	ok(own < 3 * LOCK_NS, "that took no more than 1 ms of this thread's time: %lu us", (unsigned long)own / 1000);
	ok(clock_ns(CLOCK_MONOTONIC) - before < 5 * LOCK_AWAY_NS, "nor much of anybody's");
	ok(lock_given_up == 1, "and is counted");
	const uint64_t *each = in_vain();
	ok(each && lock_given_up == 1, "others do not wait at all");
	for (int i = 0; each && i < THREADS; i++)
		own = each[i] > own ? each[i] : own;
	ok(own < 3 * LOCK_NS, "%lu us at most", (unsigned long)own / 1000);
	go_on = true;
	pthread_join(holder, NULL);
	ok(take(&own) != NULL, "it is free again");
	ok(!lock.stuck, "and somebody would wait for it");
	return tap_end();
}
