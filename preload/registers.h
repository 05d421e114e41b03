/* SPDX-License-Identifier: BSD-3-Clause
 * registers - what an unwinder must know of a processor: all of it is here
 *
 * Numbers of registers are DWARF's (the processor's supplement of the ABI). REGISTERS is how many the rules of a frame
 * may name, REGISTERS_KEPT which of them a function gives back as it found them, REGISTER_SP the stack pointer,
 * REGISTER_RETURN the column of the return address.
 */
#ifndef SPOOR_REGISTERS_H
#define SPOOR_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
enum { REGISTERS = 17, REGISTER_SP = 7, REGISTER_RETURN = 16 };
#define REGISTERS_KEPT               \
	{                            \
		3, 6, 12, 13, 14, 15 \
	}
enum { REGISTERS_KEPT_COUNT = 6 };
#elif defined(__aarch64__)
enum { REGISTERS = 32, REGISTER_SP = 31, REGISTER_RETURN = 30 };
#define REGISTERS_KEPT                                     \
	{                                                  \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29 \
	}
enum { REGISTERS_KEPT_COUNT = 11 };
#else
#error "there is no unwinder for this processor"
#endif

struct registers {
	uintptr_t pc;
	uint32_t known; /* a bit for each: its value is known */
	uintptr_t value[REGISTERS];
};

/* The registers of the function that this is expanded in, at this place of it. */
static inline __attribute__((always_inline)) void registers_here(struct registers *r)
{
	r->known = UINT32_C(1) << REGISTER_SP;
#if defined(__x86_64__)
	__asm__ volatile("movq %%rbx, 3*8(%1)\n\tmovq %%rbp, 6*8(%1)\n\tmovq %%rsp, 7*8(%1)\n\tmovq %%r12, 12*8(%1)\n\t"
	                 "movq %%r13, 13*8(%1)\n\tmovq %%r14, 14*8(%1)\n\tmovq %%r15, 15*8(%1)\n\tleaq 0(%%rip), %0"
	                 : "=&a"(r->pc)
	                 : "d"(r->value)
	                 : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("stp x19, x20, [%1, 19*8]\n\tstp x21, x22, [%1, 21*8]\n\tstp x23, x24, [%1, 23*8]\n\t"
	                 "stp x25, x26, [%1, 25*8]\n\tstp x27, x28, [%1, 27*8]\n\tstr x29, [%1, 29*8]\n\t"
	                 "mov x9, sp\n\tstr x9, [%1, 31*8]\n\tadr %0, ."
	                 : "=&r"(r->pc)
	                 : "r"(r->value)
	                 : "x9", "memory");
#endif
	static const uint8_t kept[] = REGISTERS_KEPT;
	for (unsigned i = 0; i < REGISTERS_KEPT_COUNT; i++)
		r->known |= UINT32_C(1) << kept[i];
}

/* What a signal handler returns to: a system call. Where it comes without unwind information it is told by its
 * instructions, and the kernel's frame is above the stack pointer. */
#if defined(__x86_64__)
#define REGISTERS_RESTORER                                  \
	{                                                   \
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 \
	} /* mov $15, %rax; syscall */
/* Where, from the stack pointer on, the interrupted register i is; of REGISTER_RETURN it is the place in the program.
 */
static inline intptr_t registers_saved(unsigned i)
{
	static const uint8_t place[REGISTERS] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16};
	return 40 + 8 * (intptr_t)place[i];
}
enum { REGISTERS_SAVED_PC = 40 + 8 * 16 };
#elif defined(__aarch64__)
#define REGISTERS_RESTORER                               \
	{                                                \
		0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 \
	} /* mov x8, #139; svc #0 */
static inline intptr_t registers_saved(unsigned i)
{
	return 312 + 8 * (intptr_t)i;
}
enum { REGISTERS_SAVED_PC = 312 + 8 * 32 };
#endif

/* A return address as it was before it was signed. */
static inline uintptr_t registers_unsigned(uintptr_t address)
{
#if defined(__aarch64__)
	return address & ((UINT64_C(1) << 48) - 1);
#else
	return address;
#endif
}

#endif
