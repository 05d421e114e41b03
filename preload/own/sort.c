/* SPDX-License-Identifier: BSD-3-Clause
 * sort - qsort and qsort_r: a merge sort, so that what is equal keeps its order
 *
 * What is merged needs a copy of the shorter half; without memory for that, halves are merged where they are, by
 * exchanging what is in the middle (which takes a logarithm more of time).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sorting {
	int (*compare)(const void *, const void *, void *);
	void *context;
	size_t size; /* of an element */
	char *copy;  /* room for half of them; NULL: there is none */
};

static int compare(const struct sorting *s, const char *a, const char *b)
{
	return s->compare(a, b, s->context);
}

static void exchange(char *a, char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = a[i];
		a[i] = b[i];
		b[i] = c;
	}
}

static void reverse(const struct sorting *s, char *at, size_t n)
{
	for (size_t i = 0; i + 1 < n - i; i++)
		exchange(at + i * s->size, at + (n - 1 - i) * s->size, s->size);
}

/* What is before the middle comes behind it. */
static void rotate(const struct sorting *s, char *at, size_t before, size_t behind)
{
	reverse(s, at, before);
	reverse(s, at + before * s->size, behind);
	reverse(s, at, before + behind);
}

/* How many of n sorted elements come before x; those that are equal do if `equal`. */
static size_t count_before(const struct sorting *s, const char *at, size_t n, const char *x, int equal)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		if (compare(s, at + middle * s->size, x) < equal)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the logarithm of their number */
static void merge_in_place(const struct sorting *s, char *at, size_t a, size_t b)
{
	size_t from_a, from_b;

	if (a == 0 || b == 0)
		return;
	if (a == 1 && b == 1) {
		if (compare(s, at, at + s->size) > 0)
			exchange(at, at + s->size, s->size);
		return;
	}
	if (a >= b) {
		from_a = a / 2;
		from_b = count_before(s, at + a * s->size, b, at + from_a * s->size, 0);
	} else {
		from_b = b / 2;
		from_a = count_before(s, at, a, at + (a + from_b) * s->size, 1);
	}
	rotate(s, at + from_a * s->size, a - from_a, from_b);
	merge_in_place(s, at, from_a, from_b);
	merge_in_place(s, at + (from_a + from_b) * s->size, a - from_a, b - from_b);
}

static void merge(const struct sorting *s, char *at, size_t a, size_t b)
{
	const size_t size = s->size;
	char *left = s->copy, *left_end = left + a * size, *right = at + a * size, *right_end = right + b * size;

	memcpy(left, at, a * size);
	for (; left < left_end && right < right_end; at += size) {
		char **from = compare(s, left, right) <= 0 ? &left : &right;
		memcpy(at, *from, size);
		*from += size;
	}
	memcpy(at, left, (size_t)(left_end - left));
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the logarithm of their number */
static void sort(const struct sorting *s, char *at, size_t n)
{
	size_t a = n / 2;
	char *right = at + a * s->size;

	if (n < 2)
		return;
	sort(s, at, a);
	sort(s, right, n - a);
	if (compare(s, right - s->size, right) <= 0)
		return;
	if (s->copy)
		merge(s, at, a, n - a);
	else
		merge_in_place(s, at, a, n - a);
}

void qsort_r(void *base, size_t n, size_t size, int (*order)(const void *, const void *, void *), void *context)
{
	char few[256];
	struct sorting s = {order, context, size, NULL};

	s.copy = n / 2 * size <= sizeof few ? few : malloc(n / 2 * size);
	sort(&s, base, n);
	if (s.copy != few)
		free(s.copy);
}

static int without_context(const void *a, const void *b, void *order)
{
	return (*(int (**)(const void *, const void *))order)(a, b);
}

void qsort(void *base, size_t n, size_t size, int (*order)(const void *, const void *))
{
	qsort_r(base, n, size, without_context, &order);
}
