/* SPDX-License-Identifier: BSD-3-Clause
 * tiny - a 32-bit program without libc, but with a dynamic loader: all that a 32-bit program of any kind has in common
 */
static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void);
void _start(void)
{
	static const char said[] = "32 bit\n";

	call(4, 1, (long)said, sizeof said - 1);
	call(1, 9, 0, 0);
}
