/* SPDX-License-Identifier: BSD-3-Clause
 * query - what filters say of traces: texts that are no patterns, lists, limits; queries that are too long
 */
#include "archive/query.h"

#include <sqlite3.h>

#include "tests/unit/catalog.h"

static struct catalog *c;

static const char *const traces[] = {
	"{\"job\": 1, \"step\": \"0\", \"user\": \"alice\", \"state\": \"FAILED\", \"exe\": \"/opt/a/solve\", "
	"\"hosts\": [\"n1\", \"n2\"], \"ranks\": 8, \"partial\": 1, \"start_ns\": 1000000000, \"end_ns\": 61000000000}",
	"{\"job\": 2, \"user\": \"a*\", \"state\": \"COMPLETED\", \"exe\": \"/opt/b/solver\", \"hosts\": [\"n11\"], "
	"\"ranks\": 1, \"array_job\": 7, \"array_task\": 4, \"start_ns\": 5000000000, \"end_ns\": 5000000000}",
	"{\"job\": 3, \"user\": \"o'neil\", \"state\": \"COMPLETED\", \"node\": \"n1,n9\", \"het_job_id\": 2, "
	"\"ranks\": 64, \"mode\": \"lossy:5\"}",
};

static int remember(void *context, const struct catalog_row *row)
{
	char *all = context;
	size_t n = strlen(all);
	snprintf(all + n, 100 - n, "%s%d", n ? " " : "", (int)row->job);
	return 0;
}

static void finds(const struct catalog_filter *f, const char *wanted, const char *what)
{
	char jobs[100] = "";
	struct error error = {""};
	ok(catalog_list(c, f, false, remember, jobs, &error) == 0 && !strcmp(jobs, wanted), "%s: %s%s", what, jobs,
	   error.text);
}

/* One condition. */
#define FINDS(wanted, ...)                                     \
	do {                                                   \
		struct catalog_filter f_ = CATALOG_FILTER_ALL; \
		f_.sort = "job";                               \
		__VA_ARGS__;                                   \
		finds(&f_, wanted, #__VA_ARGS__);              \
	} while (0)

static struct job_ids jobs_of(const char *text)
{
	struct job_ids ids = {.count = 0};
	if (job_id_parse_list(&ids, text) != 0)
		abort();
	return ids;
}

static void test_texts(void)
{
	FINDS("", f_.user = "' OR 1=1 --");
	FINDS("", f_.user = "%");
	FINDS("", f_.user = "[");
	FINDS("", f_.user = "");
	FINDS("3", f_.user = "o'neil");
	FINDS("1 2", f_.user = "a*");
	FINDS("2", f_.user = "a\\*");
	FINDS("1 3", f_.user = "alice,o'neil");
	FINDS("1 2", f_.user = "nobody,a*");
	FINDS("3", f_.node = "n1\\,n9");
	FINDS("1 2 3", f_.user = "7"); /* CATALOG_OWNER */
	FINDS("", f_.user = "17");
	FINDS("2 3", f_.state = "completed");
	FINDS("1 2 3", f_.state = "CD,f");
	FINDS("", f_.state = "TIMEOUT");
	FINDS("1 3", f_.exe = "nothing,solve,"; f_.exe = NULL; f_.jobs = jobs_of("1,3"));
	FINDS("2", f_.jobs = jobs_of("7_4"));
	FINDS("", f_.jobs = jobs_of("7_5"));
	FINDS("1", f_.jobs = jobs_of("1.0,2.1"));
	FINDS("3", f_.jobs = jobs_of("2+1"));
	FINDS("2", f_.jobs = jobs_of("7"));
	FINDS("", f_.state = "comp*");
	FINDS("1", f_.exe = "solve");
	FINDS("1", f_.exe = "/opt/a/*");
	FINDS("1 2", f_.exe = "solve*");
	FINDS("3", f_.mode = "lossy*");
}

static void test_nodes(void)
{
	char wide[400], json[600];
	FINDS("1", f_.node = "n1");
	FINDS("2", f_.node = "n11");
	FINDS("1", f_.node = "*2");
	FINDS("1", f_.node = "n1,n2");
	FINDS("1 2", f_.node = "n1[0-9],n1");
	memset(wide, 'w', sizeof wide);
	wide[sizeof wide - 1] = '\0';
	snprintf(json, sizeof json, "{\"job\": 4, \"hosts\": [\"%s\", \"n77\", \"\"]}", wide);
	if (catalog_put(c, "4.0.0.spoor", json, CATALOG_OWNER, NULL) != 0)
		abort();
	FINDS("4", f_.node = "n77");
	FINDS("4", f_.node = "w*w");
	if (catalog_put(c, "4.0.0.spoor", NULL, CATALOG_OWNER, NULL) != 0)
		abort();
}

static void test_numbers(void)
{
	FINDS("1 2 3", f_.jobs = (struct job_ids){.count = 0});
	FINDS("2", f_.jobs = jobs_of("7"));
	FINDS("1 3", f_.ranks[0] = 8);
	FINDS("2", f_.ranks[1] = 1);
	FINDS("1", f_.ranks[0] = 2; f_.ranks[1] = 63);
	FINDS("1", f_.nodes[0] = 2);
	FINDS("2", f_.since = 5);
	FINDS("1 3", f_.until = 4);
	FINDS("1", f_.elapsed[0] = 60);
	FINDS("2 3", f_.elapsed[1] = 59);
	FINDS("1", f_.partial = true);
	FINDS("2 3", f_.whole = true);
	FINDS("3 2 1", f_.reverse = true);
	FINDS("1 2", f_.limit = 2);
}

static void test_long(void)
{
	struct query q = {.used = 0};
	struct error error = {""};
	sqlite3_stmt *s;
	while (q.used < sizeof q.sql)
		query_append(&q, "%s", "SELECT 1 AND ");
	query_append(&q, "more");
	ok(query_prepare(&q, c, &s, &error) == -1 && !s && strstr(error.text, "too long"), "%s", error.text);
	struct query bad = {.used = 0}, many = {.used = 0};
	query_append(&bad, "SELECT nothing FROM nowhere");
	ok(query_prepare(&bad, c, &s, &error) == -1 && !s, "%s", error.text);
	query_append(&many, "SELECT count(*) FROM trace t WHERE 1");
	for (int i = 0; i < 600; i++)
		query_and(&many, "t.job < ?", NULL, 4);
	ok(many.count == 512, "values that there is no room for");
	ok(query_execute(c, &error, "SELECT ?, ?", "is", INT64_C(1), NULL) == 0 &&
	           query_execute(c, &error, "SELECT ?", "ii", INT64_C(1), INT64_C(2)) == -1,
	   "a value too many: %s", error.text);
	ok(query_number(c, "SELECT 7 WHERE 0", -3) == -3 && query_number(c, "nonsense", -3) == -3 &&
	           query_number(c, "SELECT 7", -3) == 7,
	   "a number, or none");
	ok(query_number(
		   c,
		   "SELECT matches(NULL, 'a') + matches('a', NULL) + any_matches(NULL, 'a') + any_matches('a', NULL)",
		   -1) == 0,
	   "nothing matches nothing");
}

int main(void)
{
	c = catalog_empty();
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
		char name[20];
		snprintf(name, sizeof name, "%zu.0.0.spoor", i + 1);
		if (catalog_put(c, name, traces[i], CATALOG_OWNER, NULL) != 0)
			abort();
	}
	test_texts();
	test_nodes();
	test_numbers();
	test_long();
	catalog_close(c);
	return tap_end();
}
