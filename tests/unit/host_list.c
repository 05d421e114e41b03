/* SPDX-License-Identifier: BSD-3-Clause
 * host_list - unit test of archive/host_list.c: every list of names comes back
 */
#include "archive/host_list.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

/* Names as JSON, and the text; those that come back are joined by blanks. */
static void test_encode(const char *json, const char *wanted, const char *back)
{
	json_t *hosts = json_loads(json, 0, NULL);
	char *text = host_list_encode(hosts), all[400] = "", name[HOST_LIST_NAME];
	struct host_range_list l = host_list_begin(text ? text : "");
	size_t n = 0;
	for (; host_list_next(&l, name); n++) {
		strcat(all, n ? " " : "");
		strcat(all, name);
	}
	ok(text && !strcmp(text, wanted) && !strcmp(all, back) && host_list_count(text) == n, "%s: %s: %s", json, text,
	   all);
	free(text);
	json_decref(hosts);
}

static void test_read(const char *text, size_t count)
{
	ok(host_list_count(text) == count, "%s: %zu names", text, host_list_count(text));
}

static int encode_some(void *context)
{
	char *text = host_list_encode(context);
	int rv = text ? 0 : -1;
	free(text);
	return rv;
}

int main(void)
{
	test_encode("[]", "", "");
	test_encode("null", "", "");
	test_encode("[1, \"b\", [], null, \"c\"]", "b,c", "b c");
	test_encode("[\"n1\", \"n2\"]", "n1,n2", "n1 n2");
	test_encode("[\"n7\", \"n8\", \"n9\", \"n10\", \"login\"]", "n[7-10],login", "n7 n8 n9 n10 login");
	test_encode("[\"n08\", \"n09\", \"n10\", \"n010\"]", "n[08-10],n010", "n08 n09 n10 n010");
	test_encode("[\"n09\", \"n10\", \"n11\", \"n9\"]", "n[09-11],n9", "n09 n10 n11 n9");
	test_encode("[\"x1.a7\", \"x2.a7\", \"x3.a7\", \"x4.a8\"]", "x[1-3].a7,x4.a8", "x1.a7 x2.a7 x3.a7 x4.a8");
	test_encode("[\"n3\", \"n2\", \"n1\", \"n1\", \"n2\", \"n3\"]", "n3,n2,n1,n[1-3]", "n3 n2 n1 n1 n2 n3");
	test_encode("[\"99999999999999999999\", \"n\", \"\"]", "99999999999999999999,n,", "99999999999999999999 n");
	test_encode("[\"n[1-9]\", \"a,b\"]", "n?1-9?,a,b", "n?1-9? a b");
	test_read("n[1-", 1);
	test_read("n[3-1],n]", 2);
	test_read("n[1-99999999999999999999]", 1);
	test_read("[],,[-]", 2);
	json_t *some = json_loads("[\"n1\", \"n2\", \"n3\"]", 0, NULL);
	ok(fails_well(encode_some, some), "no memory");
	json_decref(some);
	return tap_end();
}
