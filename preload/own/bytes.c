/* SPDX-License-Identifier: BSD-3-Clause
 * bytes - memcpy and its kin, as the compiler and everything that is linked into the tracer call them
 *
 * Whoever copies few bytes takes two loads that overlap; the ends are loaded before anything is stored, so that this is
 * right for memmove, too.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint32_t half __attribute__((aligned(1), may_alias));
typedef uint16_t quarter __attribute__((aligned(1), may_alias));
typedef uint64_t words __attribute__((vector_size(16), aligned(1), may_alias));
typedef unsigned char block __attribute__((vector_size(16), aligned(1), may_alias));

#define AT(type, p, i) (*(type *)((uintptr_t)(p) + (i)))

/* Up to 16. */
static inline void copy_few(void *to, const void *from, size_t n)
{
	if (n >= 8) {
		word first = AT(const word, from, 0), last = AT(const word, from, n - 8);
		AT(word, to, 0) = first;
		AT(word, to, n - 8) = last;
	} else if (n >= 4) {
		half first = AT(const half, from, 0), last = AT(const half, from, n - 4);
		AT(half, to, 0) = first;
		AT(half, to, n - 4) = last;
	} else if (n >= 2) {
		quarter first = AT(const quarter, from, 0), last = AT(const quarter, from, n - 2);
		AT(quarter, to, 0) = first;
		AT(quarter, to, n - 2) = last;
	} else if (n) {
		*(char *)to = *(const char *)from;
	}
}

void *memmove(void *to, const void *from, size_t n)
{
	if (n <= 16) {
		copy_few(to, from, n);
		return to;
	}
	block first = AT(const block, from, 0), last = AT(const block, from, n - 16);
	if ((uintptr_t)to - (uintptr_t)from >= n) { /* forwards nothing is overwritten before it was read */
		for (size_t i = 16; i < n - 16; i += 16)
			AT(block, to, i) = AT(const block, from, i);
	} else if (n >= 32) {
		block second = AT(const block, from, 16);
		for (size_t i = n - 16; i >= 32; i -= 16)
			AT(block, to, i - 16) = AT(const block, from, i - 16);
		AT(block, to, 16) = second;
	}
	AT(block, to, 0) = first;
	AT(block, to, n - 16) = last;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	return memmove(to, from, n);
}

void *memset(void *to, int c, size_t n)
{
	const uint64_t all = (unsigned char)c * UINT64_C(0x0101010101010101);
	const block wide = {0};

	if (n < 8) {
		for (size_t i = 0; i < n; i++)
			AT(char, to, i) = (char)c;
		return to;
	}
	if (n >= 16)
		for (size_t i = 0; i < n - 15; i += 16)
			AT(block, to, i) = wide + (unsigned char)c;
	AT(word, to, n >= 16 ? n - 16 : 0) = all;
	AT(word, to, n - 8) = all;
	return to;
}

static inline int same_64(uintptr_t a, uintptr_t b)
{
	const words other =
		(AT(const words, a, 0) ^ AT(const words, b, 0)) | (AT(const words, a, 16) ^ AT(const words, b, 16)) |
		(AT(const words, a, 32) ^ AT(const words, b, 32)) | (AT(const words, a, 48) ^ AT(const words, b, 48));

	return (other[0] | other[1]) == 0;
}

int memcmp(const void *a, const void *b, size_t n)
{
	size_t i = 0;

	while (i + 64 <= n && same_64((uintptr_t)a + i, (uintptr_t)b + i))
		i += 64;
	while (i + 8 <= n && AT(const word, a, i) == AT(const word, b, i))
		i += 8;
	while (i < n && AT(const unsigned char, a, i) == AT(const unsigned char, b, i))
		i++;
	return i == n ? 0 : AT(const unsigned char, a, i) - AT(const unsigned char, b, i);
}

void *memchr(const void *in, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (AT(const unsigned char, in, i) == (unsigned char)c)
			return (void *)((uintptr_t)in + i);
	return NULL;
}
