/* SPDX-License-Identifier: BSD-3-Clause
 * trends - unit test of cmd/base/trends.c: of more applications than are kept, none that became slower is forgotten
 */
#include "cmd/base/trends.h"

#include "cmd/base/site_names.h"
#include "tests/unit/runs.h"

/* No trace is opened here. */
int site_names_in_file(const char *path, uint32_t site, const char *function, char *out, size_t size)
{
	(void)path, (void)site, (void)function, (void)out, (void)size;
	return -1;
}

/* Ten applications, of which the last one by name takes twice as long since its 21st run. */
static void test_most(void)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	struct error error = {""};
	for (int run = 0; run < 40; run++)
		for (int i = 0; i < 10; i++) {
			char exe[20];
			snprintf(exe, sizeof exe, "/opt/app%d", i);
			put_run(exe, "", 4, "", (i == 9 && run >= 20 ? 200 : 100) + run % 3, 1000);
		}
	for (uint32_t most = 4; most <= 10; most += 6) {
		struct trends t = {.filter = &f, .last = 20, .top = 3, .most = most};
		ok(trends_read(&t, c, &error) == 0 && t.all == 10 && t.slower == 1 && t.count <= most,
		   "%u are kept: ten applications, one is slower %s", most, error.text);
		ok(t.count && !strcmp(t.lines[0].application, "app9") && t.lines[0].change > 0.9 &&
		           t.lines[1].change == 0,
		   "and comes first: %s", t.count ? t.lines[0].application : "");
		trends_free(&t);
	}
}

int main(void)
{
	c = catalog_empty();
	test_most();
	catalog_close(c);
	return tap_end();
}
