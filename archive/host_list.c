/* SPDX-License-Identifier: BSD-3-Clause
 * host_list - names of hosts as one text
 *
 *     n7 n8 n9 n10          n[7-10]         names that differ in their last number only, each one more than the last
 *     n08 n09 n10           n[08-10]        with zeros in front: as wide as the first one
 *     n7 n9 login           n7,n9,login
 */
#include "archive/host_list.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS    18                  /* of a number: it fits into 64 bits */
#define RANGE_MIN 3                   /* names: a shorter range is no shorter as text */
#define RANGE_MAX (UINT64_C(1) << 20) /* no job has so many nodes: it is not from here */

/* Where the last number of the first label is: "x07.cluster1" has 07. Returns its digits, 0 if there are none. */
static size_t host_number(const char *name, size_t *at)
{
	size_t end = strcspn(name, "."), begin;

	while (end > 0 && (name[end - 1] < '0' || name[end - 1] > '9'))
		end--;
	for (begin = end; begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9' && end - begin < DIGITS;)
		begin--;
	*at = begin;
	return end - begin;
}

/* Is b the name after a? */
static bool host_follows(const char *a, const char *b)
{
	size_t at, at_b, n = host_number(a, &at), m = host_number(b, &at_b);

	if (n == 0 || m == 0 || at != at_b || strncmp(a, b, at) != 0 || strcmp(a + at + n, b + at + m) != 0)
		return false;
	uint64_t x = strtoull(a + at, NULL, 10), y = strtoull(b + at, NULL, 10);
	return y == x + 1 && (m == n || (m == n + 1 && a[at] != '0'));
}

static size_t put_host(char *out, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(name[i] == '[' || name[i] == ']' ? '?' : name[i]);
	out[n] = '\0';
	return n;
}

static const char *host_at(const json_t *hosts, size_t i)
{
	return json_string_value(json_array_get(hosts, i));
}

char *host_list_encode(const json_t *hosts)
{
	size_t size = 1, count = json_array_size(hosts), n = 0, at = 0, digits = 0;

	for (size_t i = 0; i < count; i++)
		size += json_string_length(json_array_get(hosts, i)) + 4 + DIGITS;
	char *out = calloc(1, size);
	for (size_t i = 0, end; out && i < count; i = end) {
		const char *first = host_at(hosts, i), *last = first;
		end = i + 1;
		if (!first)
			continue;
		while (end < count && host_at(hosts, end) && host_follows(last, host_at(hosts, end)))
			last = host_at(hosts, end++);
		if (end - i < RANGE_MIN) {
			end = i + 1;
			n += (size_t)sprintf(out + n, "%s", n ? "," : "");
			n += put_host(out + n, first);
			continue;
		}
		digits = host_number(last, &at);
		n += (size_t)sprintf(out + n, "%s", n ? "," : "");
		char *begin = out + n;
		n += put_host(out + n, first);
		n = (size_t)(begin + at - out);
		n += (size_t)sprintf(out + n, "[%.*s-%.*s]", (int)host_number(first, &at), first + at, (int)digits,
		                     last + at);
		n += put_host(out + n, last + at + digits);
	}
	return out;
}

/* --- reading --- */

struct host_range_list host_list_begin(const char *text)
{
	return (struct host_range_list){.at = text};
}

const char *host_list_next(struct host_range_list *l, char name[HOST_LIST_NAME])
{
	while (l->at[0] == ',')
		l->at++;
	size_t length = strcspn(l->at, ","), prefix = strcspn(l->at, "[,");
	const char *range = l->at + prefix, *end = l->at + length, *close = memchr(l->at, ']', length);

	if (length == 0)
		return NULL;
	if (*range != '[' || !close || close < range) {
		snprintf(name, HOST_LIST_NAME, "%.*s", (int)(length < HOST_LIST_NAME ? length : HOST_LIST_NAME - 1),
		         l->at);
		l->at = end;
		return name;
	}
	int width = (int)strcspn(range + 1, "-]");
	if (l->left == 0) {
		const char *dash = range + 1 + width;
		l->next = strtoull(range + 1, NULL, 10);
		uint64_t last = *dash == '-' ? strtoull(dash + 1, NULL, 10) : l->next;
		l->left = last >= l->next && last - l->next < RANGE_MAX ? last - l->next + 1 : 1;
	}
	snprintf(name, HOST_LIST_NAME, "%.*s%0*" PRIu64 "%.*s", (int)(prefix < 200 ? prefix : 200), l->at, width,
	         l->next, (int)(end - close - 1 < 200 ? end - close - 1 : 200), close + 1);
	l->next++;
	if (--l->left == 0)
		l->at = end;
	return name;
}

size_t host_list_count(const char *text)
{
	struct host_range_list l = host_list_begin(text);
	char name[HOST_LIST_NAME];
	size_t n = 0;

	while (host_list_next(&l, name))
		n++;
	return n;
}
