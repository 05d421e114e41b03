/* SPDX-License-Identifier: BSD-3-Clause
 * day_sums - unit test of archive/day_sums.c: with sums of days, every question has the answer that it has without
 */
#include "archive/day_sums.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "archive/digest.h"
#include "archive/query.h"
#include "tests/unit/catalog.h"
#include "tests/unit/packed.h"

#define DAYS  12
#define FIRST INT64_C(1767225600) /* 1 January 2026, UTC: a day of two months west of it */

static struct catalog *c;

/* A trace with its digest: of some user, node and application, by its number. */
static void put_trace(int number, int64_t job, int64_t seconds)
{
	char name[64], json[500];
	struct error error = {""};
	snprintf(name, sizeof name, "%lld.0.%d.spoor", (long long)job, number);
	snprintf(json, sizeof json,
	         "{\"job\": %lld, \"step\": \"0\", \"user\": \"u%d\", \"account\": \"a%d\", \"partition\": \"p%d\", "
	         "\"exe\": \"/x/app%d\", \"hosts\": [\"n%d\", \"n%d\"], \"nodes\": 2, \"partial\": %d, "
	         "\"start_ns\": %lld000000000, \"end_ns\": %lld500000000}",
	         (long long)job, number % 5, number % 3, number % 2, number % 7, number % 4, number % 4 + 1,
	         number % 9 == 0, (long long)seconds, (long long)seconds + 60);
	if (catalog_put(c, name, json, CATALOG_OWNER, &error) != 0)
		printf("# %s\n", error.text);
	int64_t id = query_number(c, "SELECT max(id) FROM trace", 0);
	query_execute(c, NULL,
	              "INSERT INTO summary (id, version, problem, ranks, events, messages, bytes, sizes, mpi_ns, "
	              "parts_ns, streams, unended_ns, verdict) VALUES (?, ?, ?, 4, ?, 7, ?, '3:5 12:2', ?, 900, 4, ?, "
	              "'late')",
	              "iisiiii", id, (int64_t)digest_version(), number % 50 ? NULL : "damaged", (int64_t)number,
	              (int64_t)(1000 + number), (int64_t)(10 * number),
	              number % 13 ? INT64_C(0) : (int64_t)(number + 1));
	static const char *const names[] = {"MPI_Recv", "MPI_Send"};
	struct digest_function functions[2];
	struct digest_site sites[2];
	struct digest d = {.functions = functions, .sites = sites, .function_count = 2, .site_count = 2};
	int64_t ids[2], places[2];
	for (int i = 0; i < 2; i++) {
		places[i] = 1 + i + 2 * (number % 3);
		functions[i] = (struct digest_function){(char *)names[i], {.calls = 3, .ns = number + 1, .bytes = 9}};
		sites[i] = (struct digest_site){(uint32_t)i, (char *)names[i], 0, "f", {.calls = 3, .ns = number}};
		query_execute(c, NULL, "INSERT OR IGNORE INTO text (text) VALUES (?)", "s", names[i]);
		ids[i] = query_number(c,
		                      i ? "SELECT id FROM text WHERE text = 'MPI_Send'"
		                        : "SELECT id FROM text WHERE text = 'MPI_Recv'",
		                      0);
		query_execute(c, NULL, "INSERT OR IGNORE INTO place VALUES (?, ?, ?, 'f')", "iis", places[i],
		              100 * places[i], names[i]);
	}
	put_calls(c, id, &d, ids, places);
	query_execute(c, NULL, "DELETE FROM undigested", "");
}

/* All answers, as one text. */
static char *ask_all(const struct catalog_filter *f, bool sums)
{
	json_t *all = json_array();
	const struct aggregate_asked asked = {.threads = 1};
	struct error error = {""};
	if (!sums)
		query_execute(c, NULL, "ALTER TABLE day_sum RENAME TO away", "");
	if (!sums)
		query_execute(c, NULL, "CREATE TABLE day_sum (day, by, version, bytes)", "");
	for (int by = 0; aggregate_names[by]; by++) {
		struct aggregate *a;
		if (aggregate_make(&a, c, f, (enum aggregate_by)by, &asked, &error) != 0) {
			printf("# %s\n", error.text);
			continue;
		}
		aggregate_sort(a, FIGURE_COLUMNS, false);
		json_array_append_new(all, aggregate_json(a, &a->total));
		json_array_append_new(all, aggregate_hung_json(a));
		json_array_append_new(all, json_integer((json_int_t)(json_array_size(a->skipped) + a->missing)));
		for (size_t i = 0; i < a->count; i++)
			json_array_append_new(all, aggregate_json(a, a->groups[i]));
		aggregate_destroy(a);
	}
	if (!sums)
		query_execute(c, NULL, "DROP TABLE day_sum", "");
	if (!sums)
		query_execute(c, NULL, "ALTER TABLE away RENAME TO day_sum", "");
	char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(all);
	return text;
}

static void answers_are_the_same(const char *what)
{
	static const struct {
		int64_t since, until;
		const char *user;
	} times[] = {{0, 0, NULL},
	             {FIRST + 86400, FIRST + 5 * 86400 - 1, NULL},
	             {FIRST + 86401, FIRST + 5 * 86400 + 100, NULL},
	             {0, FIRST + 3 * 86400, NULL},
	             {0, 0, "u3"}};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		struct catalog_filter f = CATALOG_FILTER_ALL;
		f.since = times[i].since;
		f.until = times[i].until;
		f.user = times[i].user;
		char *with = ask_all(&f, true), *without = ask_all(&f, false);
		ok(with && without && strlen(with) > 1000 && !strcmp(with, without), "%s: the same, %zu", what, i);
		if (strcmp(with, without) != 0)
			printf("# %s\n# %s\n", with, without);
		free(with);
		free(without);
	}
}

static uint64_t update(int64_t now)
{
	struct day_sums_update u = {.least = 3, .now = now, .wait = -1};
	struct error error = {""};
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	int rv = day_sums_update(c, &u, &error);
	if (rv != 0)
		printf("# %d %s\n", rv, error.text);
	catalog_lock(c, CATALOG_CHANGE, -1, NULL);
	return u.made;
}

static int64_t days_with_sums(void)
{
	return query_number(c, "SELECT count(*) FROM day_sum WHERE by = 0", -1);
}

int main(void)
{
	c = catalog_empty();
	setenv("TZ", "America/New_York", 1);
	/* 20 traces a day; one is of a job that began on the day before; the last day has two */
	for (int i = 0; i < 20 * (DAYS - 1) + 2; i++)
		put_trace(i, 100 + (i % 20 == 10 && i > 20 ? i - 20 : i) / 2, FIRST + i / 20 * 86400 + i % 20 * 4000);
	ok(update(FIRST + 3 * 86400) == 2, "sums of days that are over for a day");
	answers_are_the_same("some sums");
	ok(update(FIRST + 30 * 86400) == DAYS - 3 && update(FIRST + 30 * 86400) == 0 && days_with_sums() > 3,
	   "once for each day, not for those with few traces: %d", (int)days_with_sums());
	ok(query_number(c, "SELECT count(*) FROM day_rest", 0) > 10, "traces that are in no sum");
	answers_are_the_same("all sums");

	int64_t before = days_with_sums();
	put_trace(900, 9000, FIRST + 4 * 86400);
	ok(days_with_sums() == before - 1, "a trace that comes removes the sums of its day");
	answers_are_the_same("a trace came");
	put_trace(901, 9000, FIRST + 6 * 86400 + 5);
	ok(days_with_sums() == before - 2, "once more");
	update(FIRST + 30 * 86400);
	ok(days_with_sums() == before, "they are made again");
	put_trace(902, 113, FIRST + 90 * 86400);
	ok(days_with_sums() == before - 1, "one of a job of another day removes those of that day");
	answers_are_the_same("a job goes on");
	update(FIRST + 30 * 86400);
	catalog_put(c, "9000.0.901.spoor", NULL, CATALOG_OWNER, NULL);
	ok(days_with_sums() == before - 1, "and one that goes those of its day");
	answers_are_the_same("a trace went");
	query_execute(c, NULL, "UPDATE summary SET version = 1 WHERE id = 30", "");
	query_execute(c, NULL, "DELETE FROM day_sum", "");
	update(FIRST + 30 * 86400);
	ok(days_with_sums() == before - 1, "no sums of a day that lacks a digest: %d", (int)days_with_sums());
	catalog_close(c);
	return tap_end();
}
