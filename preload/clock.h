/* SPDX-License-Identifier: BSD-3-Clause
 * clock - ticks of the CPU's constant-rate counter where there is one, else nanoseconds of CLOCK_MONOTONIC
 */
#ifndef SPOOR_CLOCK_H
#define SPOOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

extern bool clock_is_counter __attribute__((visibility("hidden")));

static __attribute__((noinline, cold, unused)) uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Ticks, only to be called where clock_is_counter. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc(); /* x86intrin.h names it, too, in 50,000 lines for each object */
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

static inline uint64_t clock_ticks(void)
{
	return __builtin_expect(clock_is_counter, 1) ? clock_counter() : clock_ns(CLOCK_MONOTONIC);
}

/* Ticks from `end` of one thing to `start` of the next. What passed in less time than the recorder is thought to have
 * used took a tick: no time at all is not plain (trace/record/record_time.h). */
static inline uint64_t clock_between(uint64_t end, uint64_t start)
{
#ifdef __x86_64__
	uint64_t ticks = start;
	bool less; /* the flag as it is: from the builtin the compiler makes a number first */
	__asm__("subq %2, %0" : "+r"(ticks), "=@ccc"(less) : "rm"(end));
	return less ? 1 : ticks;
#else
	return __builtin_sub_overflow(start, end, &end) ? 1 : end;
#endif
}

/* True if the CPU says that its counter runs at a constant rate in all states of power (CPUID 80000007H, EDX bit 8), or
 * if the kernel itself uses it as its clock. */
static inline bool clock_has_counter(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

#endif
