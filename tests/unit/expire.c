/* SPDX-License-Identifier: BSD-3-Clause
 * expire - unit test of archive/expire.c: which files go by age, by retention, as a note of nothing, and by quotas
 */
#include "archive/expire.h"

#include "archive/day.h"
#include "archive/query.h"
#include "tests/unit/catalog.h"
#include "tests/unit/fail.h"

#define NOW   INT64_C(1772366400) /* 2026-03-01 12:00 UTC */
#define BLOCK 512
#define MANY  1100

static struct catalog *c;

/* Days are counted back from here, whenever the test runs. */
time_t time(time_t *t)
{
	if (t)
		*t = NOW;
	return NOW;
}

struct aged {
	const char *name;
	int days;
	unsigned owner, blocks;
	const char *json; /* NULL: damaged */
};

static void put_aged(const struct aged *a)
{
	char day[DAY_SIZE], folder[DAY_SIZE + DAY_FOLDER_SIZE];
	struct stored_file f = catalog_file(a->name, a->json, a->owner);
	if (day_of(NOW - a->days * INT64_C(86400), day) != 0)
		abort();
	snprintf(folder, sizeof folder, "%s/%u", day, a->owner);
	f.folder = folder;
	f.gone = false;
	f.kind = a->json ? f.kind : STORED_DAMAGE;
	f.problem = a->json ? NULL : folder;
	f.st.st_blocks = a->blocks;
	f.st.st_size = INT64_C(1) << 40; /* of no matter: most of it are holes */
	if (store_write(c, &f, 1, NULL, 0, NULL) != 0)
		abort();
	json_decref(f.json);
}

static void lay_out(const struct aged *files, size_t n)
{
	struct error error = {""};
	if (query_execute(c, &error, "DELETE FROM stored_file", "") != 0)
		abort();
	for (size_t i = 0; i < n; i++)
		put_aged(&files[i]);
}

static int take_down(void *context, const char *folder, const char *name, uint64_t size, const char *why)
{
	char *all = context;
	size_t n = strlen(all);
	snprintf(all + n, 1000 - n, "%.10s %s %d %s; ", folder, name, (int)(size / BLOCK), why);
	return 0;
}

/* Rules, with quotas in blocks, and what goes by them. */
static void goes(int64_t days, uint64_t user_quota, uint64_t quota, const char *wanted)
{
	struct expire rules = {.max_days = days, .quota = quota * BLOCK, .user_quota = user_quota * BLOCK};
	struct error error = {""};
	char text[1000] = "";
	ok(expire_list(c, &rules, take_down, text, &error) == 0 && !strcmp(text, wanted),
	   "days %d, user %d, all %d: %s%s", (int)days, (int)user_quota, (int)quota, text, error.text);
}

#define JOB(n)        "{\"job\": " #n ", \"step\": \"0\"}"
#define KEPT(n, days) "{\"job\": " #n ", \"step\": \"0\", \"retention\": " #days "}"

static void test_ages(void)
{
	static const struct aged files[] = {
		{"1.spoor", 5, 1, 1, KEPT(1, 4)},  {"2.spoor", 5, 1, 1, KEPT(2, 5)}, {"3.spoor", 6, 1, 1, JOB(3)},
		{"4.spoor", -3, 1, 1, KEPT(4, 1)}, {"5.spoor", 9, 1, 1, NULL},       {"6.spoor", 1, 1, 1, JOB(6)},
		{"6.a.exit", 8, 1, 1, JOB(6)},     {"6.b.exit", 8, 2, 1, JOB(6)},    {"7.a.exit", 7, 1, 1, JOB(7)},
		{"8.a.exit", 8, 1, 1, JOB(8)},     {"9.spoor", 7, 1, 1, KEPT(9, -1)}};
	lay_out(NULL, 0);
	goes(1, 1, 1, "");
	lay_out(files, sizeof files / sizeof *files);
	goes(0, 0, 0,
	     "2026/02/21 6.b.exit 1 an exit note without a trace; 2026/02/21 8.a.exit 1 an exit note without a trace; "
	     "2026/02/24 1.spoor 1 its retention of 4 days is over; ");
	goes(7, 0, 0,
	     "2026/02/20 5.spoor 1 older than 7 days; 2026/02/21 6.a.exit 1 older than 7 days; "
	     "2026/02/21 6.b.exit 1 older than 7 days; 2026/02/21 8.a.exit 1 older than 7 days; "
	     "2026/02/24 1.spoor 1 its retention of 4 days is over; ");
}

/* Notes of two nodes, and of another user; of a step of which one trace stays. */
static void test_notes(void)
{
	static const struct aged files[] = {{"1.0.0.spoor", 3, 1, 1, KEPT(1, 2)}, {"1.0.a.exit", 3, 1, 1, JOB(1)},
	                                    {"1.0.b.exit", 2, 1, 1, JOB(1)},      {"1.0.c.exit", 2, 2, 1, JOB(1)},
	                                    {"2.0.0.spoor", 3, 1, 1, KEPT(2, 2)}, {"2.0.1.spoor", 1, 1, 1, JOB(2)},
	                                    {"2.0.a.exit", 3, 1, 1, JOB(2)},      {"3.0.0.spoor", 3, 3, 9, JOB(3)},
	                                    {"3.0.a.exit", 3, 3, 1, JOB(3)}};
	lay_out(files, sizeof files / sizeof *files);
	goes(0, 0, 0,
	     "2026/02/26 1.0.0.spoor 1 its retention of 2 days is over; 2026/02/26 1.0.a.exit 1 its trace goes; "
	     "2026/02/26 2.0.0.spoor 1 its retention of 2 days is over; 2026/02/27 1.0.b.exit 1 its trace goes; ");
	goes(0, 5, 0,
	     "2026/02/26 1.0.0.spoor 1 its retention of 2 days is over; 2026/02/26 1.0.a.exit 1 its trace goes; "
	     "2026/02/26 2.0.0.spoor 1 its retention of 2 days is over; 2026/02/26 3.0.0.spoor 9 its user's quota; "
	     "2026/02/26 3.0.a.exit 1 its trace goes; 2026/02/27 1.0.b.exit 1 its trace goes; ");
}

static void test_user_quota(void)
{
	static const struct aged files[] = {{"1.spoor", 5, 1, 4, JOB(1)},
	                                    {"2.spoor", 4, 1, 4, JOB(2)},
	                                    {"3.spoor", 1, 1, 2, NULL},
	                                    {"4.spoor", 5, 2, 6, JOB(4)},
	                                    {"5.spoor", 3, 2, 9, KEPT(5, 2)}};
#define OVER    "2026/02/26 5.spoor 9 its retention of 2 days is over; "
#define DAMAGED "2026/02/28 3.spoor 2 its user's quota, and it is damaged; "
#define OLDEST  "2026/02/24 1.spoor 4 its user's quota; "
	lay_out(files, sizeof files / sizeof *files);
	goes(0, 10, 0, OVER);
	goes(0, 9, 0, OVER DAMAGED);
	goes(0, 8, 0, OVER DAMAGED);
	goes(0, 7, 0, OLDEST OVER DAMAGED);
	goes(0, 5, 0, OLDEST "2026/02/24 4.spoor 6 its user's quota; " OVER DAMAGED);
}

/* Of 18 blocks user 1 has 12, user 2 the oldest 4, user 3 2 that are damaged. */
static void test_quota(void)
{
	static const struct aged files[] = {{"1.spoor", 9, 1, 4, JOB(1)},
	                                    {"2.spoor", 8, 1, 4, JOB(2)},
	                                    {"3.spoor", 7, 1, 4, JOB(3)},
	                                    {"4.spoor", 10, 2, 4, JOB(4)},
	                                    {"5.spoor", 1, 3, 2, NULL}};
#define LESS   "2026/02/19 4.spoor 4 the archive's quota; "
#define FIRST  "2026/02/20 1.spoor 4 the archive's quota; "
#define SECOND "2026/02/21 2.spoor 4 the archive's quota; "
#define BROKEN "2026/02/28 5.spoor 2 the archive's quota, and it is damaged; "
	lay_out(files, sizeof files / sizeof *files);
	goes(0, 0, 18, "");
	goes(0, 0, 17, BROKEN);
	goes(0, 0, 16, BROKEN);
	goes(0, 0, 12, FIRST BROKEN);
	goes(0, 0, 11, FIRST SECOND BROKEN);
	goes(0, 0, 6, LESS FIRST SECOND BROKEN);
	goes(0, 8, 12, "2026/02/20 1.spoor 4 its user's quota; " BROKEN);
}

static int stop_at(void *context, const char *folder, const char *name, uint64_t size, const char *why)
{
	(void)folder, (void)name, (void)size, (void)why;
	return --*(int *)context == 0 ? 5 : 0;
}

static int expire_all(void *context)
{
	int left = -1;
	const struct expire rules = {.max_days = 1, .quota = BLOCK, .user_quota = BLOCK};
	struct error error = {""};
	int rv = expire_list(c, &rules, stop_at, &left, &error);
	*(bool *)context &= rv == 0 ? !fail_happened : rv == -1 && !strcmp(error.text, "out of memory");
	return rv;
}

static void test_many_aged(void)
{
	const struct expire rules = {.max_days = 1};
	struct error error = {""};
	char name[20];
	int left = 3, all = -1;
	bool told = true;
	ok(fails_well(expire_all, &told) && told, "no memory");
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "%d.many.spoor", i);
		put_aged(&(struct aged){name, 2, (unsigned)i % 4, 1, NULL});
	}
	ok(expire_list(c, &rules, stop_at, &all, &error) == 0 && all < -MANY, "many");
	ok(expire_list(c, &rules, stop_at, &left, &error) == 5 && left == 0, "what ends the list is returned");
	fail_left = MANY; /* one for each file would come there */
	ok(expire_all(&told) == 0 && !fail_happened, "as much memory as for few");
	fail_left = 0;
	all = -1;
	ok(query_execute(c, &error, "DROP TABLE note", "") == 0 &&
	           expire_list(c, &rules, stop_at, &all, &error) == -1 && error.text[0] && all == -1,
	   "an index that is none: %s", error.text);
}

int main(void)
{
	c = catalog_empty();
	test_ages();
	test_notes();
	test_user_quota();
	test_quota();
	test_many_aged();
	catalog_close(c);
	return tap_end();
}
