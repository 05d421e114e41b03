/* SPDX-License-Identifier: BSD-3-Clause
 * text - the functions of string.h and stdlib.h that the tracer uses, in the C locale
 */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

size_t strnlen(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i] && a[i])
		i++;
	return i == n ? 0 : (unsigned char)a[i] - (unsigned char)b[i];
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strcpy(char *restrict to, const char *restrict from)
{
	return memcpy(to, from, strlen(from) + 1);
}

char *strcat(char *restrict to, const char *restrict from)
{
	strcpy(to + strlen(to), from);
	return to;
}

char *strchr(const char *s, int c)
{
	while (*s != (char)c && *s)
		s++;
	return *s == (char)c ? (char *)(uintptr_t)s : NULL;
}

char *strrchr(const char *s, int c)
{
	for (size_t n = strlen(s) + 1; n-- > 0;)
		if (s[n] == (char)c)
			return (char *)(uintptr_t)(s + n);
	return NULL;
}

static size_t span(const char *s, const char *set, bool in)
{
	size_t n = 0;

	while (s[n] && (strchr(set, s[n]) != NULL) == in)
		n++;
	return n;
}

size_t strspn(const char *s, const char *set)
{
	return span(s, set, true);
}

size_t strcspn(const char *s, const char *set)
{
	return span(s, set, false);
}

static bool starts_with(const char *s, const char *with, char small)
{
	while (*with && (*s == *with ||
	                 (small && (*s | small) == (*with | small) && (*s | small) >= 'a' && (*s | small) <= 'z'))) {
		s++;
		with++;
	}
	return !*with;
}

static char *find_text(const char *s, const char *what, char small)
{
	do
		if (starts_with(s, what, small))
			return (char *)(uintptr_t)s;
	while (*s++);
	return NULL;
}

char *strstr(const char *s, const char *what)
{
	return find_text(s, what, 0);
}

char *strcasestr(const char *s, const char *what)
{
	return find_text(s, what, ' ');
}

char *strsep(char **restrict rest, const char *restrict set)
{
	char *word = *rest;

	if (!word)
		return NULL;
	char *end = word + strcspn(word, set);
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return word;
}

char *strndup(const char *s, size_t most)
{
	size_t n = strnlen(s, most);
	char *copy = malloc(n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *strdup(const char *s)
{
	return strndup(s, SIZE_MAX);
}

/* The digits of a number to a base up to 16; *end is behind them. What is more than 64 bits is the most there is. */
static uint64_t read_digits(const char **end, int base)
{
	uint64_t n = 0;
	bool more = false;

	for (;; (*end)++) {
		char c = **end, small = (char)(c | ' ');
		int digit = c >= '0' && c <= '9' ? c - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : 16;
		if (digit >= base)
			break;
		more |= __builtin_mul_overflow(n, (uint64_t)base, &n) || __builtin_add_overflow(n, (uint64_t)digit, &n);
	}
	return more ? UINT64_MAX : n;
}

/* Base 0 is not known. */
static uint64_t read_number(const char *s, char **end, int base, bool *negative)
{
	const char *p = s + strspn(s, " \t\n\v\f\r"), *digits;

	*negative = *p == '-';
	p += *p == '-' || *p == '+';
	digits = p;
	uint64_t n = read_digits(&p, base);
	if (base == 16 && p == digits + 1 && p[-1] == '0' && (*p | ' ') == 'x') {
		const char *rest = ++p;
		n = read_digits(&p, base);
		p -= p == rest;
	}
	if (end)
		*end = (char *)(uintptr_t)(p == digits ? s : p);
	return n;
}

unsigned long long strtoull(const char *restrict s, char **restrict end, int base)
{
	bool negative;
	uint64_t n = read_number(s, end, base, &negative);

	if (n == UINT64_MAX)
		errno = ERANGE;
	return negative && n < UINT64_MAX ? -n : n;
}

long long strtoll(const char *restrict s, char **restrict end, int base)
{
	bool negative;
	uint64_t n = read_number(s, end, base, &negative), most = (uint64_t)LLONG_MAX + negative;

	if (n > most)
		errno = ERANGE;
	n = n > most ? most : n;
	return (long long)(negative ? -n : n);
}

/* A set in brackets, of which p is behind the first one; *end is behind the last one. */
static bool is_in_set(const char *p, char c, const char **end)
{
	bool no = *p == '!' || *p == '^', in = false;
	const char *first;

	p += no;
	for (first = p; *p && (*p != ']' || p == first); p++) {
		char low = *p == '\\' && p[1] ? *++p : *p, high = low;
		if (p[1] == '-' && p[2] && p[2] != ']') {
			p += 2;
			high = *p == '\\' && p[1] ? *++p : *p;
		}
		in |= (unsigned char)low <= (unsigned char)c && (unsigned char)c <= (unsigned char)high;
	}
	*end = *p ? p + 1 : NULL;
	return in != no;
}

/* Does the pattern's first element, which is no star, stand for the character? *next: the next element. */
static bool matches_one(const char *pattern, char c, const char **next)
{
	if (*pattern == '[') {
		bool in = is_in_set(pattern + 1, c, next);
		if (*next)
			return in && c;
	}
	bool plain = *pattern == '\\' && pattern[1];
	pattern += plain;
	*next = pattern + 1;
	return c && (*pattern == c || (*pattern == '?' && !plain));
}

/* As POSIX has it, with no flags, and without classes like [:alpha:]. */
int fnmatch(const char *pattern, const char *s, int flags)
{
	const char *star = NULL, *again = NULL, *next;

	(void)flags;
	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			again = s;
		} else if (*pattern && matches_one(pattern, *s, &next)) {
			pattern = next;
			s++;
		} else if (!*pattern && !*s) {
			return 0;
		} else if (star && *again) {
			pattern = star;
			s = ++again;
		} else {
			return FNM_NOMATCH;
		}
	}
}
