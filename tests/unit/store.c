/* SPDX-License-Identifier: BSD-3-Clause
 * store - what the index has of a file: of any metadata; of exit notes, in whatever order they come; until it is gone
 */
#include "archive/store.h"

#include <sqlite3.h>

#include "archive/query.h"
#include "tests/unit/catalog.h"

static struct catalog *c;

static void put(const char *name, const char *json)
{
	struct error error = {""};
	if (catalog_put(c, name, json, CATALOG_OWNER, &error) != 0)
		printf("# %s: %s\n", name, error.text);
}

static int remember(void *context, const struct catalog_row *row)
{
	char *all = context;
	size_t n = strlen(all);
	snprintf(all + n, 500 - n, "%s %s %s; ", row->name, row->state, strstr(row->note, "exit_task") ? "+" : "-");
	return 0;
}

/* All traces: name, state, and whether the metadata have the task that ended worst. */
static void lists(const char *wanted, const char *what)
{
	struct catalog_filter all = CATALOG_FILTER_ALL;
	all.sort = "start";
	char text[500] = "";
	struct error error = {""};
	ok(catalog_list(c, &all, true, remember, text, &error) == 0 && !strcmp(text, wanted), "%s: %s%s", what, text,
	   error.text);
}

static int64_t count(const char *sql)
{
	return query_number(c, sql, -1);
}

/* Metadata are anybody's. */
static void test_odd(void)
{
	put("1.0.0.spoor", "{}");
	put("2.0.0.spoor",
	    "{\"job\": \"two\", \"step\": 2, \"hosts\": {\"a\": 1}, \"exe\": [1], \"start_ns\": -5, \"x\": null}");
	put("3.0.0.spoor", "{\"job\": 3, \"hosts\": [1, \"b\", [], \"c'; DROP TABLE trace; --\"], \"exe\": \"/x/\", "
	                   "\"user\": \"'\"}");
	ok(count("SELECT count(*) FROM trace") == 3, "metadata of any kind");
	ok(count("SELECT hosts = 'b,c''; DROP TABLE trace; --' AND nodes = 4 FROM trace WHERE job = 3") == 1 &&
	           count("SELECT user = '''' AND exe_name = '' FROM trace WHERE job = 3") == 1,
	   "texts as they are");
	ok(count("SELECT exe = '' AND step = '' AND hosts = '' FROM trace WHERE name = '2.0.0'") == 1,
	   "what is of another type is not there");
	for (int i = 1; i <= 3; i++) {
		char name[20];
		snprintf(name, sizeof name, "%d.0.0.spoor", i);
		put(name, NULL);
	}
	ok(count("SELECT count(*) FROM trace") + count("SELECT count(*) FROM file") == 0, "and nothing is left of it");
}

#define TRACE "{\"job\": 5, \"step\": \"0\", \"state\": \"COMPLETED\", \"start_ns\": 1}"
#define OTHER "{\"job\": 5, \"step\": \"1\", \"state\": \"COMPLETED\", \"start_ns\": 2}"
#define NOTE(code, sig) \
	"{\"job\": 5, \"step\": \"0\", \"exit_code\": " #code ", \"signal\": " #sig ", \"exit_task\": 3}"

static void test_notes(void)
{
	struct error error = {""};
	put("5.0.n1.exit", NOTE(2, 0));
	put("5.0.0.spoor", TRACE);
	put("5.1.0.spoor", OTHER);
	lists("5.0.0 FAILED +; 5.1.0 COMPLETED -; ", "a note that came first counts for its step");
	put("5.0.n2.exit", NOTE(0, 9));
	lists("5.0.0 FAILED +; 5.1.0 COMPLETED -; ", "the worst of two");
	put("5.0.0.spoor", TRACE);
	lists("5.0.0 FAILED +; 5.1.0 COMPLETED -; ", "also after the trace changed");
	put("5.0.n2.exit", NULL);
	lists("5.0.0 FAILED +; 5.1.0 COMPLETED -; ", "the other one, when it is gone");
	put("5.0.n1.exit", NULL);
	lists("5.0.0 COMPLETED -; 5.1.0 COMPLETED -; ", "and none");
	ok(catalog_put(c, "5.0.n1.exit", NOTE(2, 0), CATALOG_OWNER + 1, &error) == 0, "a note of another user");
	lists("5.0.0 COMPLETED -; 5.1.0 COMPLETED -; ", "does not count");
	put("5.0.n3.exit", NOTE(2, 0));
	ok(catalog_put(c, "5.0.n1.exit", NOTE(0, 9), CATALOG_OWNER + 1, &error) == 0, "a worse one of another user");
	lists("5.0.0 FAILED +; 5.1.0 COMPLETED -; ", "does not count, either");
	put("5.0.n3.exit", NULL);
	put("5.0.n4.exit", "{\"job\": \"5\", \"step\": 0, \"signal\": 9}");
	lists("5.0.0 COMPLETED -; 5.1.0 COMPLETED -; ", "nor do notes that are none");
}

/* A file that cannot be stored: nothing of the others is, either. */
static void test_whole(void)
{
	struct stored_file files[2] = {catalog_file("6.0.0.spoor", "{\"job\": 6}", CATALOG_OWNER),
	                               catalog_file("7.0.0.spoor", "{\"job\": 7}", CATALOG_OWNER)};
	struct stored_folder folder = {.folder = CATALOG_DAY, .read = 1};
	struct error error = {""};
	sqlite3_exec(c->db,
	             "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.stored_trace WHEN NEW.job = 7 BEGIN SELECT "
	             "RAISE(ABORT, 'no');"
	             "END",
	             NULL, NULL, NULL);
	ok(store_write(c, files, 2, &folder, 1, &error) == -1 && strstr(error.text, "no"), "%s", error.text);
	ok(count("SELECT count(*) FROM file WHERE file GLOB '[67].*'") + count("SELECT count(*) FROM folder") == 0,
	   "all of it, or nothing");
	sqlite3_exec(c->db, "DROP TRIGGER refuse", NULL, NULL, NULL);
	ok(store_write(c, files, 2, &folder, 1, &error) == 0 && count("SELECT count(*) FROM folder") == 1, "all of it");
	json_decref(files[0].json);
	json_decref(files[1].json);
}

static void tell(void *context, const char *text)
{
	strncat(context, text, 400);
}

static void test_folder(void)
{
	size_t removed = 0, unreadable = 0;
	char text[500] = "";
	struct stored_file bad = {.folder = (char *)(uintptr_t)CATALOG_DAY,
	                          .file = (char *)(uintptr_t) "8.0.0.spoor",
	                          .kind = STORED_DAMAGE,
	                          .problem = (char *)(uintptr_t) "it's damaged"};
	struct stored_folder folder = {.folder = CATALOG_DAY, .unreadable = 1};
	ok(store_write(c, &bad, 1, &folder, 1, NULL) == 0 && catalog_troubles(c, 10, tell, text, &unreadable) == 1 &&
	           strstr(text, "it's damaged") && unreadable == 1,
	   "damage: %s", text);
	int64_t files = count("SELECT count(*) FROM file");
	ok(store_forget_folder(c, "2026/01/02/8", &removed, NULL) == 0 && removed == 0, "a folder that is not there");
	ok(store_forget_folder(c, CATALOG_DAY, &removed, NULL) == 0 && (int64_t)removed == files && files > 4 &&
	           count("SELECT count(*) FROM trace") + count("SELECT count(*) FROM note") +
	                           count("SELECT count(*) FROM damage") + count("SELECT count(*) FROM folder") ==
	                   0,
	   "a folder goes, with its %zu files", removed);
}

int main(void)
{
	c = catalog_empty();
	test_odd();
	test_notes();
	test_whole();
	test_folder();
	catalog_close(c);
	return tap_end();
}
