/* SPDX-License-Identifier: BSD-3-Clause
 * clock - in front of libc: what a busy machine, and another node, do to the clocks of ranks with an odd number
 *
 *     CLOCK_SAYS=torn      they lose the processor between two readings, every second time
 *     CLOCK_SAYS=counted   they lose it while events are counted
 *     CLOCK_SAYS=ahead     CLOCK_REALTIME is a ms ahead
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int rank(void)
{
	const char *text = getenv("OMPI_COMM_WORLD_RANK");
	return text ? atoi(text) : 0;
}

static int is(const char *what)
{
	const char *says = getenv("CLOCK_SAYS");
	return says && rank() % 2 && !strcmp(says, what);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	static int calls;
	if (id == CLOCK_REALTIME && is("torn") && (unsigned)(calls++ + rank() / 2) % 2)
		usleep(20000);
	if (id == CLOCK_THREAD_CPUTIME_ID && is("counted"))
		usleep(100);
	int rv = (int)syscall(SYS_clock_gettime, id, t);
	if (rv == 0 && id == CLOCK_REALTIME && is("ahead")) {
		t->tv_nsec += 1000000;
		t->tv_sec += t->tv_nsec / 1000000000;
		t->tv_nsec %= 1000000000;
	}
	return rv;
}
