/* SPDX-License-Identifier: BSD-3-Clause
 * joined - what is kept is found; what is long, or was displaced, is not
 */
#include "merge/joined.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static bool has(const struct joined *j, const void *from, size_t n, const char *made)
{
	size_t size;
	const uint8_t *bytes = joined_find(j, from, n, &size);
	return bytes && size == strlen(made) && memcmp(bytes, made, size) == 0;
}

static void test_found(void)
{
	struct joined *j = joined_new();
	uint8_t many[600] = {0};
	size_t size;
	uint32_t found = 0;
	ok(!joined_find(j, "ab", 2, &size), "nothing is there at first");
	ok(joined_keep(j, "ab", 2, "cde", 3) == 0 && has(j, "ab", 2, "cde"), "what is kept is found");
	ok(!joined_find(j, "abc", 3, &size) && !joined_find(j, "a", 1, &size), "by all of its bytes, and no more");
	ok(joined_keep(j, "ab", 2, "", 0) == 0 && has(j, "ab", 2, ""), "what is kept again takes its place");
	ok(joined_keep(j, many, sizeof many, "x", 1) == 0 && !joined_find(j, many, sizeof many, &size) &&
	           joined_keep(j, "x", 1, many, sizeof many) == 0 && !joined_find(j, "x", 1, &size),
	   "what is long is not kept");
	for (uint32_t i = 0; i < 5000; i++)
		joined_keep(j, &i, sizeof i, "7", 1);
	for (uint32_t i = 0; i < 5000; i++)
		found += has(j, &i, sizeof i, "7");
	ok(found > 0 && found < 5000, "of very many some: %u", found);
	joined_free(j);
	joined_free(NULL);
}

static int keep_some(void *context)
{
	struct joined *j = joined_new();
	int rv = j && joined_keep(j, "ab", 2, "cde", 3) == 0 && joined_keep(j, "ab", 2, "f", 1) == 0 ? 0 : -1;
	(void)context;
	joined_free(j);
	return rv;
}

int main(void)
{
	test_found();
	ok(fails_well(keep_some, NULL), "no memory");
	return tap_end();
}
