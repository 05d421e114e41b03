/* SPDX-License-Identifier: BSD-3-Clause
 * kernel - a system call without libc: it is no point of cancellation, leaves errno alone, and is nobody's to intercept
 */
#ifndef SPOOR_KERNEL_H
#define SPOOR_KERNEL_H

/* What the kernel returns: below zero the negative errno. */
static inline long kernel_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	long rv;
	register long fourth __asm__("r10") = d;

	__asm__ volatile("syscall"
	                 : "=a"(rv)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
	                 : "rcx", "r11", "memory");
	return rv;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory", "cc");
	return x0;
#else
	(void)number, (void)a, (void)b, (void)c, (void)d;
	return -38; /* ENOSYS: where it matters nothing is done then */
#endif
}

#endif
