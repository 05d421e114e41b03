/* SPDX-License-Identifier: BSD-3-Clause
 * system - a system call without libc: nobody stands in between, nobody's errno is touched, nobody is cancelled in it
 */
#ifndef SPOOR_OWN_SYSTEM_H
#define SPOOR_OWN_SYSTEM_H

#include <stdint.h>

/* What the kernel returns: from -4095 to -1, an error. Arguments that a call does not have are 0. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long rv;

	__asm__ volatile("syscall"
	                 : "=a"(rv)
	                 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return rv;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
	return x0;
#else
#error "how does this machine make a system call?"
#endif
}

#endif
