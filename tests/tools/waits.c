/* SPDX-License-Identifier: BSD-3-Clause
 * waits - a library behind the tracer that counts how often the process sleeps, and says so when it ends
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned slept;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	slept++;
	return (int)syscall(SYS_nanosleep, time, rest);
}

static __attribute__((destructor)) void say(void)
{
	fprintf(stderr, "slept %u times\n", slept);
}
