/* SPDX-License-Identifier: BSD-3-Clause
 * catalog - unit test of archive/catalog.c: where an index is and for whom, its lock, damage, and lists in order
 */
#include "archive/catalog.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "archive/query.h"
#include "tests/unit/catalog.h"
#include "tests/unit/fail.h"

static void refuses_open(const char *archive, const char *wanted)
{
	struct catalog some, *c = &some;
	struct error error = {""};
	ok(catalog_open(&c, archive, (gid_t)-1, &error) == -1 && !c && strstr(error.text, wanted), "refused: %s",
	   error.text);
}

/* As root, who does not go on with rights that others could use. */
static void test_refused(void)
{
	refuses_open("nowhere", "nowhere: the archive cannot be read: No such file");
	FILE *f = fopen("file", "w");
	if (!f || fclose(f) != 0 || mkdir("open", 0700) != 0 || chmod("open", 0777) != 0)
		abort();
	refuses_open("file", "the archive cannot be read");
	if (geteuid() == 0)
		refuses_open("open", "others can write it");
	unlink("file");
	rmdir("open");
}

static struct catalog *catalog_of(const char *archive)
{
	struct catalog *c;
	struct error error = {""};
	if (catalog_open(&c, archive, (gid_t)-1, &error) != 0)
		printf("# %s\n", error.text);
	return c ? c : (abort(), NULL);
}

static bool locks(struct catalog *c, enum catalog_lock how, const char *wanted)
{
	struct error error = {""};
	int rv = catalog_lock(c, how, 0, &error);
	bool right = wanted ? rv == -1 && strstr(error.text, wanted) : rv == 0;
	if (!right)
		printf("# wanted %s: %d %s\n", wanted ? wanted : "-", rv, error.text);
	return right;
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void test_place(void)
{
	char path[PATH_MAX + 20];
	struct error error = {""};
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
	struct catalog *c = catalog_of("archive"), *again;
	ok(!strcmp(c->path, ":memory:") && c->writable && c->lock == -1, "nowhere to write: in memory");
	ok(locks(c, CATALOG_SHARE, "`spoor index`") && locks(c, CATALOG_CHANGE, NULL),
	   "its tables are made for a change");
	ok(catalog_again(&again, c, &error) == -1 && !again && strstr(error.text, "memory"), "%s", error.text);
	catalog_close(c);
	catalog_close(NULL);

	snprintf(path, sizeof path, "%s/cache", scratch);
	setenv("XDG_CACHE_HOME", path, 1);
	c = catalog_of("archive");
	snprintf(path, sizeof path, "%s/cache/spoor/", scratch);
	ok(!strncmp(c->path, path, strlen(path)) && strlen(c->path) == strlen(path) + 19, "one's own, in the cache");
	ok(locks(c, CATALOG_CHANGE, NULL) && mode_of(c->path) == 0600, "and nobody else's");
	query_execute(c, NULL, "UPDATE about SET value = 'another'", "");
	ok(locks(c, CATALOG_SHARE, "another version") && locks(c, CATALOG_CHANGE, NULL) &&
	           locks(c, CATALOG_SHARE, NULL),
	   "that of another identity is begun anew");
	catalog_close(c);

	if (mkdir("archive/.index", 0700) != 0)
		abort();
	c = catalog_of("archive");
	snprintf(path, sizeof path, "%s/.index/index.db", c->archive);
	ok(!strcmp(c->path, path) && locks(c, CATALOG_CHANGE, NULL) && mode_of(path) == 0660, "the site's");
	query_execute(c, NULL, "UPDATE about SET value = 'another'", "");
	ok(locks(c, CATALOG_SHARE, NULL), "which is for several");
	catalog_close(c);
}

static int64_t traces_in(struct catalog *c)
{
	return query_number(c, "SELECT count(*) FROM trace", -1);
}

static void test_lock(void)
{
	struct catalog *a = catalog_of("archive"), *b = catalog_of("archive"), *reader;
	ok(locks(a, CATALOG_CHANGE, NULL) && locks(b, CATALOG_CHANGE, "another process") &&
	           locks(b, CATALOG_SHARE, "another process"),
	   "who changes it is alone");
	ok(catalog_put(a, "1.0.0.spoor", "{\"job\": 1}", CATALOG_OWNER, NULL) == 0 && locks(a, CATALOG_SHARE, NULL) &&
	           locks(b, CATALOG_SHARE, NULL) && locks(b, CATALOG_CHANGE, "another process") && traces_in(b) == 1,
	   "several read it");
	ok(catalog_again(&reader, a, NULL) == 0 && traces_in(reader) == 1 &&
	           catalog_put(reader, "2.0.0.spoor", "{\"job\": 2}", CATALOG_OWNER, NULL) == -1,
	   "once more, for reading only");
	catalog_close(reader);
	locks(a, CATALOG_UNLOCK, NULL);
	ok(catalog_clear(b, NULL) == 0 && locks(a, CATALOG_SHARE, NULL) && traces_in(a) == 0,
	   "what another process began anew is seen");
	catalog_close(b);
	catalog_close(a);

	chmod("archive/.index/index.db", 0440);
	a = catalog_of("archive");
	ok(!a->writable && locks(a, CATALOG_SHARE, NULL) && locks(a, CATALOG_CHANGE, "not change it"),
	   "an index that we may only read");
	catalog_close(a);
	chmod("archive/.index/index.db", 0660);
}

static void test_damage(void)
{
	struct catalog *c = catalog_of("archive");
	FILE *f = fopen(c->path, "w");
	for (int i = 0; f && i < 2000; i++)
		fputs("damage", f);
	if (!f || fclose(f) != 0)
		abort();
	ok(locks(c, CATALOG_SHARE, "is damaged") && locks(c, CATALOG_CHANGE, NULL) && traces_in(c) == 0, "damage");
	query_execute(c, NULL, "PRAGMA user_version = 3", "");
	ok(locks(c, CATALOG_SHARE, "another version") && locks(c, CATALOG_CHANGE, NULL) &&
	           query_number(c, "PRAGMA user_version", -1) == CATALOG_VERSION,
	   "another version");
	catalog_close(c);
}

static int remember_job(void *context, const struct catalog_row *row)
{
	char *all = context;
	size_t n = strlen(all);
	snprintf(all + n, 100 - n, "%d%s", (int)row->job, *row->note ? "+" : "");
	return row->job == 9 ? 77 : 0;
}

static void lists_sorted(struct catalog *c, const char *sort, bool reverse, int64_t limit, const char *wanted)
{
	struct catalog_filter f = CATALOG_FILTER_ALL;
	char jobs[100] = "";
	f.sort = sort;
	f.reverse = reverse;
	f.limit = limit;
	ok(catalog_list(c, &f, false, remember_job, jobs, NULL) == 0 && !strcmp(jobs, wanted), "by %s%s: %s",
	   sort ? sort : "default", reverse ? " reversed" : "", jobs);
}

static int check_row(void *context, const struct catalog_row *r)
{
	*(bool *)context = !strcmp(r->folder, CATALOG_DAY) && !strcmp(r->name, "1.0.0") && !strcmp(r->user, "zoe") &&
	                   !strcmp(r->state, "") && !strcmp(r->exe, "/a/y") && !strcmp(r->job_name, "") && !*r->note &&
	                   r->uid == CATALOG_OWNER && r->size == 100 && r->job == 1 && r->start_ns == 30 &&
	                   r->end_ns == 31 && r->ranks == 2 && r->nodes == 3;
	return 5;
}

static void test_rows(void)
{
	static const char *const traces[] = {
		"{\"job\": 1, \"user\": \"zoe\", \"exe\": \"/a/y\", \"ranks\": 2, \"nodes\": 3, \"start_ns\": 30, "
		"\"end_ns\": 31}",
		"{\"job\": 2, \"user\": \"amy\", \"exe\": \"/b/x\", \"ranks\": 9, \"nodes\": 2, \"start_ns\": 10, "
		"\"end_ns\": 19}",
		"{\"job\": 3, \"user\": \"bob\", \"exe\": \"/0/z\", \"ranks\": 5, \"nodes\": 1, \"start_ns\": 20, "
		"\"end_ns\": 25}"};
	struct catalog_filter all = CATALOG_FILTER_ALL;
	struct catalog *c = catalog_of("archive");
	char jobs[100] = "", name[20];
	bool right = false;
	if (catalog_lock(c, CATALOG_CHANGE, -1, NULL) != 0)
		abort();
	lists_sorted(c, NULL, false, 0, "");
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%d.0.0.spoor", i + 1);
		if (catalog_put(c, name, traces[i], CATALOG_OWNER, NULL) != 0)
			abort();
	}
	lists_sorted(c, NULL, false, 0, "132"); /* the newest first */
	lists_sorted(c, NULL, true, 0, "231");
	lists_sorted(c, "nonsense; DROP TABLE trace", false, 0, "231");
	lists_sorted(c, "job", true, 0, "321");
	lists_sorted(c, "user", false, 0, "231");
	lists_sorted(c, "ranks", false, 0, "132");
	lists_sorted(c, "nodes", false, 0, "321");
	lists_sorted(c, "size", false, 0, "123"); /* all the same: by name */
	lists_sorted(c, "elapsed", false, 2, "13");
	lists_sorted(c, "exe", true, 2, "31");
	all.jobs = (struct job_ids){.items = {{.job = 1, .task = -1, .component = -1}}, .count = 1};
	ok(catalog_list(c, &all, false, check_row, &right, NULL) == 5 && right, "all that a row has");
	all.jobs.count = 0;
	if (catalog_put(c, "9.0.0.spoor", "{\"job\": 9, \"start_ns\": 15}", CATALOG_OWNER, NULL) != 0)
		abort();
	if (catalog_put(c, "3.0.n1.exit", "{\"job\": 3, \"step\": \"\"}", CATALOG_OWNER, NULL) != 0)
		abort();
	ok(catalog_list(c, &all, true, remember_job, jobs, NULL) == 77 && !strcmp(jobs, "13+9"), "an end: %s", jobs);
	query_execute(c, NULL, "DROP TABLE text", "");
	struct error error = {""};
	ok(catalog_list(c, &all, true, remember_job, jobs, &error) == -1 && error.text[0], "%s", error.text);
	catalog_close(c);
}

static int once_more(void *context)
{
	struct catalog *again;
	int rv = catalog_again(&again, context, NULL);
	catalog_close(again);
	return rv;
}

/* Root becomes the owner of the archive; who removes the folder stays root. */
static int run_tests(void)
{
	test_refused();
	if (mkdir("archive", 0700) != 0 || (geteuid() == 0 && (chown(scratch, CATALOG_NOBODY, CATALOG_NOBODY) != 0 ||
	                                                       chown("archive", CATALOG_NOBODY, CATALOG_NOBODY) != 0)))
		abort();
	test_place();
	ok(geteuid() != 0, "not root any more");
	test_lock();
	test_damage();
	test_rows();
	struct catalog *c = catalog_of("archive");
	ok(fails_well(once_more, c), "no memory");
	catalog_close(c);
	return tap_end();
}

int main(void)
{
	return scratch_run(run_tests);
}
