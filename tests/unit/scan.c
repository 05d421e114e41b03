/* SPDX-License-Identifier: BSD-3-Clause
 * scan - unit test of archive/scan.c: files of any kind, what changed since, days that are over, an index in use
 */
#include "archive/scan.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "archive/privileges.h"
#include "archive/query.h"
#include "tests/unit/catalog.h"
#include "tests/unit/fail.h"
#include "trace/file/container.h"

/* One day is never over, the other one was long ago. */
#define LATER "archive/9000/01/01"
#define OVER  "archive/2001/01/01"

static struct catalog *c;
static char later[100], over[100]; /* the user's folders in them */
static struct catalog *rebuilds;   /* what begins the index anew when a file is looked at, once */

/* Instead of libc's. */
int lstat(const char *path, struct stat *st)
{
	struct catalog *other = rebuilds;
	if (other && strstr(path, ".spoor")) {
		rebuilds = NULL;
		if (catalog_clear(other, NULL) != 0)
			abort();
	}
	return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

/* A trace with these metadata; other text is written as it is. */
static void put_file(const char *folder, const char *name, const char *text)
{
	char path[300];
	uint8_t *bytes = NULL;
	size_t n = strlen(text);
	struct chunk chunk = {.id = "META", .data = (const uint8_t *)text, .size = n};
	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (text[0] == '{' && strstr(name, ".spoor") && container_encode(&chunk, 1, 0, NULL, &bytes, &n) != 0)
		abort();
	FILE *f = fopen(path, "w");
	if (!f || fwrite(bytes ? bytes : (const void *)text, 1, n, f) != n || fclose(f) != 0)
		abort();
	free(bytes);
}

static void make_folders_of(const char *day, const char *name, char *path)
{
	char part[100];
	snprintf(path, 100, "%s/%s", day, name);
	for (const char *p = path; (p = strchr(p + 1, '/'));) {
		snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
		mkdir(part, 0700);
	}
	if (mkdir(path, 0700) != 0)
		abort();
}

/* As if it had last changed long before it is read. */
static void settle(const char *path)
{
	const struct timespec old[2] = {{1000, 0}, {1000, 0}};
	if (utimensat(AT_FDCWD, path, old, 0) != 0)
		abort();
}

static void scans(struct scan s, int wanted, const char *numbers, const char *what)
{
	char text[100];
	struct error error = {""};
	s.folders = s.added = s.changed = s.removed = 99;
	int rv = scan_archive(c, &s, &error);
	snprintf(text, sizeof text, "%zu +%zu ~%zu -%zu", s.folders, s.added, s.changed, s.removed);
	ok(rv == wanted && !strcmp(text, numbers) && (rv == -1) == (error.text[0] != '\0'), "%s: %d, %s %s", what, rv,
	   text, error.text);
}

static int64_t number_of(const char *sql)
{
	int64_t n = -1;
	if (catalog_lock(c, CATALOG_SHARE, -1, NULL) == 0)
		n = query_number(c, sql, -1);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	return n;
}

static void test_refused(void)
{
	struct catalog *other;
	scans((struct scan){.wait = -1}, 0, "0 +0 ~0 -0", "nothing is there");
	c->writable = false;
	scans((struct scan){.wait = -1}, 1, "0 +0 ~0 -0", "an index that we may not change");
	c->writable = true;
	if (catalog_open(&other, "archive", (gid_t)-1, NULL) != 0 || catalog_lock(other, CATALOG_CHANGE, 0, NULL) != 0)
		abort();
	scans((struct scan){.wait = 20}, 1, "0 +0 ~0 -0", "somebody else changes it");
	catalog_close(other);
	rename("archive", "away");
	scans((struct scan){.wait = -1}, -1, "0 +0 ~0 -0", "no archive");
	rename("away", "archive");
}

/* What anybody can put there; 0: traces, 1: notes, 2: damage, -1: nothing of it. */
static const struct {
	const char *name, *text;
	int kind;
} files[] = {
	{"1.0.0.spoor", "{\"job\": 1, \"user\": \"root\"}", 0},
	{"2.0.0.spoor", "{\"job\": 1}", 2},
	{"3.0.0.spoor", "{\"job\": 3, \"uid\": 0}", 2},
	{"4.0.0.spoor", "{\"job\": 4", 2},
	{"5.0.0.spoor", "no trace", 2},
	{"6.0.0.spoor", "", 2},
	{"1.0.n1.exit", "{\"job\": 1, \"step\": \"0\"}", 1},
	{"1.0.n2.exit", "[]", 2},
	{"1.0.n3.exit", "{\"job\": ", 2},
	{"7.0.0.spoor", "{\"job\": 7}", -1}, /* not for us */
	{"8.0.0.txt", "", -1},
	{"x.spoor", "", -1},
	{".9.spoor", "", -1},
};
enum { FILES = sizeof files / sizeof *files, LISTED = FILES - 4 + 2 };

static void test_kinds(void)
{
	char path[200], sql[200], long_note[4200];
	make_folders_of(LATER, "0", path); /* not its owner's */
	put_file(path, "1.0.0.spoor", "{\"job\": 1}");
	for (int i = 0; i < FILES; i++)
		put_file(later, files[i].name, files[i].text);
	snprintf(path, sizeof path, "%s/7.0.0.spoor", later);
	chmod(path, 0);
	snprintf(path, sizeof path, "%s/8.0.0.spoor", later);
	if (symlink("1.0.0.spoor", path) != 0)
		abort();
	snprintf(path, sizeof path, "%s/9.0.0.exit", later);
	if (mkfifo(path, 0600) != 0)
		abort();
	scans((struct scan){.wait = -1}, 0, "1 +11 ~0 -0", "files of any kind");
	for (int i = 0; i < FILES; i++) {
		snprintf(sql, sizeof sql, "SELECT kind FROM file WHERE file = '%s'", files[i].name);
		ok(number_of(sql) == files[i].kind, "%s: kind %d", files[i].name, files[i].kind);
	}
	ok(number_of("SELECT count(*) FROM file WHERE file IN ('8.0.0.spoor', '9.0.0.exit') AND kind = 2") == 2 &&
	           number_of("SELECT count(*) FROM damage") == 9 && number_of("SELECT count(*) FROM file") == LISTED,
	   "a link and a FIFO are damage");
	ok(number_of("SELECT sum(unreadable) FROM folder") == 1, "what is not for us is counted, and no more");
	ok(number_of("SELECT count(*) FROM trace WHERE user != 'root' AND user != ''") == 1, "the user is the owner");
	snprintf(long_note, sizeof long_note, "{\"job\": 1, \"step\": \"0\"%4090s", "}");
	put_file(later, "1.0.n4.exit", long_note);
	scans((struct scan){.wait = -1}, 0, "1 +1 ~0 -0", "a note of more than 4096 bytes");
	ok(number_of("SELECT kind FROM file WHERE file = '1.0.n4.exit'") == 2, "is damage");
}

static void test_changes(void)
{
	char path[200];
	scans((struct scan){.wait = -1}, 0, "1 +0 ~0 -0", "a folder that changed just now is read again");
	settle(later);
	scans((struct scan){.wait = -1}, 0, "1 +0 ~0 -0", "also when its time is another one");
	scans((struct scan){.wait = -1}, 0, "0 +0 ~0 -0", "then not any more");
	put_file(later, "5.0.0.spoor", "{\"job\": 5}");
	scans((struct scan){.wait = -1}, 0, "0 +0 ~0 -0", "a file that is written in place is not seen");
	scans((struct scan){.wait = -1, .full = true}, 0, "1 +0 ~1 -0", "but by a full scan");
	ok(number_of("SELECT count(*) FROM trace") == 2 && number_of("SELECT count(*) FROM damage") == 9,
	   "as it is now");
	snprintf(path, sizeof path, "%s/1.0.0.spoor", later);
	unlink(path);
	put_file(later, "10.0.0.spoor", "{\"job\": 10}");
	put_file(later, "2.0.0.spoor", "{\"job\": 2, \"more\": \"0123456789abcdef\"}");
	scans((struct scan){.wait = -1}, 0, "1 +1 ~1 -1", "all at once");
	ok(number_of("SELECT sum(job) FROM trace") == 17, "jobs 2, 5, 10");
}

/* Another process begins the index anew while this one looks at files. */
static void test_anew(void)
{
	int64_t files = number_of("SELECT count(*) FROM file"), traces = number_of("SELECT count(*) FROM trace");
	struct catalog *other;
	if (catalog_open(&other, "archive", (gid_t)-1, NULL) != 0)
		abort();
	put_file(later, "12.0.0.spoor", "{\"job\": 12}");
	settle(later);
	rebuilds = other;
	scan_archive(c, &(struct scan){.wait = -1}, NULL);
	ok(!rebuilds && number_of("SELECT count(*) FROM file") == files + 1 &&
	           number_of("SELECT count(*) FROM trace") == traces + 1,
	   "an index that is begun anew meanwhile is whole");
	rebuilds = other;
	scan_archive(c, &(struct scan){.wait = 100, .full = true}, NULL);
	scan_archive(c, &(struct scan){.wait = 100}, NULL);
	ok(!rebuilds && number_of("SELECT count(*) FROM file") == files + 1, "also where somebody waits for it");
	catalog_close(other);
}

static void remember_progress(void *context, uint64_t done, uint64_t all)
{
	char *text = context;
	size_t n = strlen(text);
	snprintf(text + n, 100 - n, "%d/%d ", (int)done, (int)all);
}

static void test_over(void)
{
	char path[200], text[100] = "", name[30];
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "%d.0.0.spoor", 100 + i);
		put_file(over, name, "");
	}
	settle(over);
	settle(OVER);
	settle(later);
	scans((struct scan){.wait = -1, .progress = remember_progress, .context = text}, 0, "2 +300 ~0 -0",
	      "many files");
	ok(!strcmp(text, "1/2 2/2 ") && number_of("SELECT count(*) FROM damage WHERE problem != ''") == 308, "days: %s",
	   text);
	snprintf(path, sizeof path, "%s/100.0.0.spoor", over);
	unlink(path);
	scans((struct scan){.wait = -1}, 0, "0 +0 ~0 -0", "a day that is over is not looked at");
	scans((struct scan){.wait = -1, .old = true}, 0, "1 +0 ~0 -1", "but when it is asked for");
	snprintf(path, sizeof path, "rm -rf %s", OVER);
	ok(system(path) == 0 && number_of("SELECT count(*) FROM file WHERE folder LIKE '2001%'") == 299,
	   "299 are left");
	scans((struct scan){.wait = -1}, 0, "0 +0 ~0 -299", "a day that is gone");
	ok(number_of("SELECT count(*) FROM folder WHERE folder LIKE '2001%'") == 0 &&
	           number_of("SELECT count(*) FROM trace") == 4,
	   "and only that");
}

/* A trace that root made, and that is moved into the folder of another user. */
static void test_foreign(bool root)
{
	char path[200];
	snprintf(path, sizeof path, "%s/11.0.0.spoor", later);
	if (rename("11.0.0.spoor", path) != 0)
		abort();
	scans((struct scan){.wait = -1}, 0, "1 +1 ~0 -0", "a file that came later");
	ok(number_of("SELECT kind FROM file WHERE file = '11.0.0.spoor'") == (root ? 2 : 0),
	   "is damage if it is of somebody else than the folder");
}

static int scan_anew(void *context)
{
	struct scan s = {.wait = -1};
	long left = fail_left;
	(void)context;
	fail_left = 0; /* this is not what is tested */
	if (catalog_clear(c, NULL) != 0)
		abort();
	fail_left = left;
	return scan_archive(c, &s, NULL);
}

static void open_index(void)
{
	struct error error = {""};
	if (catalog_open(&c, "archive", (gid_t)-1, &error) != 0) {
		printf("# %s\n", error.text);
		abort();
	}
}

static int run_tests(void)
{
	char path[300], name[30];
	bool root = geteuid() == 0;
	put_file(".", "11.0.0.spoor", "{\"job\": 11}");
	json_set_alloc_funcs(malloc, free); /* counted, and failing, too */
	if (mkdir("archive", 0700) != 0 ||
	    (geteuid() == 0 && (chown(scratch, CATALOG_NOBODY, CATALOG_NOBODY) != 0 ||
	                        chown("archive", CATALOG_NOBODY, CATALOG_NOBODY) != 0)) ||
	    privileges_drop(CATALOG_NOBODY, CATALOG_NOBODY, NULL) != 0)
		abort();
	snprintf(path, sizeof path, "%s/cache", scratch);
	setenv("XDG_CACHE_HOME", path, 1);
	open_index();
	test_refused();
	snprintf(name, sizeof name, "%lu", (unsigned long)geteuid());
	make_folders_of(LATER, name, later);
	test_kinds();
	test_changes();
	test_anew();
	make_folders_of(OVER, name, over);
	test_over();
	test_foreign(root);
	catalog_close(c);
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1); /* in memory */
	open_index();
	ok(fails_well(scan_anew, NULL), "no memory");
	catalog_close(c);
	return tap_end();
}

int main(void)
{
	return scratch_run(run_tests);
}
