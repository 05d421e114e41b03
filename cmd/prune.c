/* SPDX-License-Identifier: BSD-3-Clause
 * prune - `spoor prune`: removes traces whose time is over
 *
 * Two processes. One reads the index, as nobody if root starts it (archive/catalog.h), and writes what is to go, a
 * record each; the other, which keeps its rights, removes files of an archive's form below folders that it opens
 * without following links, and nothing else.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/catalog.h"
#include "archive/day.h"
#include "archive/expire.h"
#include "archive/scan.h"
#include "archive/unfinished.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "process/process.h"
#include "trace/base/number.h"
#include "trace/base/repeated.h"

struct prune {
	const char *archive;
	struct expire rules;
	bool remove, quiet;
};

/* --- the one that reads --- */

/* The name comes last, with a NUL behind it: a user may have put everything else into it. */
static int write_record(void *context, const char *folder, const char *name, uint64_t size, const char *why)
{
	char number[32];
	const char *const parts[] = {number, "\t", why, "\t", folder, "/", name};

	snprintf(number, sizeof number, "%llu", (unsigned long long)size);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		sink_bytes(context, parts[i], strlen(parts[i]));
	sink_bytes(context, "", 1);
	return 0;
}

static int read_index(const struct prune *o, FILE *out)
{
	struct scan scan = {.wait = -1, .old = true};
	struct catalog *catalog = NULL;
	struct error error = {""};

	int rv = catalog_open(&catalog, o->archive, archive_group(), &error) ||
	                         scan_archive(catalog, &scan, &error) < 0 ||
	                         catalog_lock(catalog, CATALOG_SHARE, -1, &error) ||
	                         expire_list(catalog, &o->rules, write_record, out, &error)
	                 ? -1
	                 : 0;
	if (rv)
		say_to(stderr, "spoor: %s\n", error.text);
	catalog_close(catalog);
	return rv || fflush(out) ? 1 : 0;
}

/* What was erased is in no table and no free page of the index any more. */
static int renew_index(const struct prune *o)
{
	struct scan scan = {.wait = -1};
	struct catalog *catalog = NULL;
	struct error error = {""};

	int rv = catalog_open(&catalog, o->archive, archive_group(), &error) || catalog_clear(catalog, &error) ||
	                         scan_archive(catalog, &scan, &error) < 0
	                 ? 1
	                 : 0;
	if (rv)
		say_to(stderr, "spoor: %s\n", error.text);
	else
		say("%s: recreated; `spoor index` reads the traces\n", catalog->path);
	catalog_close(catalog);
	return rv;
}

/* --- the one that removes --- */

/* "YYYY/MM/DD/UID/NAME" and nothing else. Returns NAME, or NULL; *uid gets the user. */
static const char *archive_name(const char *path, uid_t *uid)
{
	static const char form[] = "dddd/dd/dd/";
	char folder[DAY_FOLDER_SIZE];
	for (size_t i = 0; form[i]; i++) {
		if (form[i] == 'd' ? path[i] < '0' || path[i] > '9' : path[i] != form[i])
			return NULL;
	}
	path += sizeof form - 1;
	const char *name = strchr(path, '/');
	if (!name || (size_t)snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path) >= sizeof folder ||
	    !day_is_folder(folder, uid))
		return NULL;
	size_t n = strlen(++name);
	return name[0] >= '0' && name[0] <= '9' && !strchr(name, '/') &&
	                       ((n > 6 && !strcmp(name + n - 6, ".spoor")) || (n > 5 && !strcmp(name + n - 5, ".exit")))
	               ? name
	               : NULL;
}

/* Opens so many components of a path below the archive, link by link. */
static int open_below(int archive, const char *path, int components)
{
	char part[DAY_FOLDER_SIZE];
	int fd = dup(archive);

	for (int i = 0; i < components && fd >= 0; i++) {
		size_t n = strcspn(path, "/");
		snprintf(part, sizeof part, "%.*s", (int)n, path);
		path += n + 1;
		int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	return fd;
}

static int remove_file(int archive, const char *path, const char *name, uid_t uid)
{
	struct stat st;
	int folder = open_below(archive, path, 4);
	int rv = folder >= 0 && fstat(folder, &st) == 0 && (st.st_uid == uid || (errno = EPERM, false))
	                 ? unlinkat(folder, name, 0)
	                 : -1;
	int failure = errno;
	if (folder >= 0)
		close(folder);
	errno = failure;
	return rv;
}

struct sums {
	size_t files, failed, unfinished;
	uint64_t bytes;
};

static void handle_record(const struct prune *o, int archive, char *record, struct sums *sums)
{
	char *path = record, *size = strsep(&path, "\t"), *why = strsep(&path, "\t");
	uint64_t bytes;
	uid_t uid;
	const char *name = path ? archive_name(path, &uid) : NULL;

	if (!name)
		return;
	if (o->remove && remove_file(archive, path, name, uid) && errno != ENOENT) {
		if (repeated_next(&sums->failed))
			say_to(stderr, "spoor prune: %s: %s\n", path, strerror(errno));
		return;
	}
	sums->files++;
	if (number_parse(size, INT64_MAX, &bytes) == 0)
		sums->bytes += bytes;
	if (o->quiet)
		return;
	say("%s\t%s\t%s\n", path, size, why);
}

struct tidying {
	const struct prune *o;
	struct sums *sums;
	int archive;
};

static int tidy_folder(void *context, const char *path, const char *folder)
{
	struct tidying *t = context;
	(void)folder;
	t->sums->unfinished += unfinished_remove(path, "", UNFINISHED_AGE, !t->o->remove, &t->sums->bytes);
	return 0;
}

/* What is unfinished; and folders in which nothing is left, where nothing can come. */
static int tidy_day(void *context, const char *path, const char *day)
{
	struct tidying *t = context;

	archive_day_folders(path, day, tidy_folder, t);
	if (!t->o->remove || day_age(day, (int64_t)time(NULL)) < 2)
		return 0;
	int month = open_below(t->archive, day, 2), fd = open_below(t->archive, day, 3);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(fd, e->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (month >= 0) {
		unlinkat(month, day + 8, AT_REMOVEDIR);
		close(month);
	}
	return 0;
}

/* Removes the folders in this one that are numbers and come before `now`, if they are empty; below_too: what is so in
 * them, first. Whoever makes a day's folder now makes none of theirs. */
static void remove_empty_months(int fd, const char *now, bool below_too)
{
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		size_t digits = below_too ? 4 : 2;
		if (strlen(e->d_name) != digits || strspn(e->d_name, "0123456789") != digits)
			continue;
		int order = strncmp(e->d_name, now, digits);
		if (below_too && order <= 0)
			remove_empty_months(open_below(fd, e->d_name, 1), order < 0 ? "99" : now + 5, false);
		if (order < 0)
			unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static void tidy_months(int archive)
{
	char day[DAY_SIZE];

	/* since yesterday: nodes' clocks differ */
	if (day_of((int64_t)time(NULL) - 86400, day) == 0)
		remove_empty_months(openat(archive, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), day, true);
}

/* In a process of its own, for it becomes somebody else (catalog_open). Returns 0, or 1. */
static int renew_after(const struct prune *o)
{
	int status = -1;
	fflush(stdout);
	pid_t pid = process_child();
	if (pid == 0) {
		status = renew_index(o);
		fflush(stdout);
		_exit(status);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

static int prune_archive(const struct prune *o)
{
	struct sums sums = {0};
	struct error error = {""};
	char *record = NULL;
	size_t size = 0;
	int ends[2], status = -1;

	int archive = open(o->archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (archive < 0 || pipe2(ends, O_CLOEXEC)) {
		say_to(stderr, "spoor: %s: %s\n", o->archive, strerror(errno));
		return CMD_FAILED;
	}
	pid_t pid = process_child();
	if (pid == 0) {
		FILE *out = fdopen(ends[1], "w");
		close(ends[0]);
		_exit(out ? read_index(o, out) : 1);
	}
	close(ends[1]);
	FILE *in = pid > 0 ? fdopen(ends[0], "r") : NULL;
	while (in && getdelim(&record, &size, '\0', in) > 0)
		handle_record(o, archive, record, &sums);
	free(record);
	if (in)
		fclose(in);
	if (pid > 0)
		waitpid(pid, &status, 0);
	struct tidying t = {o, &sums, archive};
	if (status == 0 && archive_days(o->archive, 0, tidy_day, &t, &error) < 0)
		say_to(stderr, "spoor: %s\n", error.text);
	if (status == 0 && o->remove)
		tidy_months(archive);
	close(archive);
	say_more("spoor prune", sums.failed);
	if (status == 0)
		say("%zu files%s, %llu bytes%s\n", sums.files + sums.unfinished, o->remove ? " removed" : " would go",
		    (unsigned long long)sums.bytes, o->remove ? "" : "; `spoor prune --delete` removes them");
	if (status == 0 && o->remove && o->rules.erases && renew_after(o) != 0)
		return CMD_FAILED;
	return status == 0 && sums.failed == 0 ? CMD_OK : CMD_FAILED;
}

/* Whole jobs of the archive's form: a trace by itself is a file, which rm removes. */
static int read_jobs(void *to, const char *text)
{
	struct job_ids jobs;
	if (job_id_parse_list(&jobs, text) != 0)
		return -1;
	for (size_t i = 0; i < jobs.count; i++)
		if (jobs.items[i].step[0])
			return -1;
	*(struct job_ids *)to = jobs;
	return 0;
}

int cmd_prune(int argc, char **argv)
{
	struct prune o = {.rules.user = -1};
	const struct option_line lines[] = {
		OPTION_FLAG("delete", 0, &o.remove, "remove them; without it, nothing is changed"),
		OPTION_NUMBER("max-age", 0, "DAYS", &o.rules.max_days, 1, 36500,
	                      "what is older goes, whatever its retention"),
		OPTION_BYTES(
			"quota", 0, "SIZE", &o.rules.quota, 1, INT64_MAX,
			"the archive may take SIZE of the disk (bytes, or such as 500G): what is damaged goes first, "
			"then the oldest of the users who have more than an equal share"),
		OPTION_BYTES("user-quota", 0, "SIZE", &o.rules.user_quota, 1, INT64_MAX,
	                     "each user may take SIZE: what is damaged goes first, then the user's oldest"),
		OPTION_READ("user", 'u', "USER", &o.rules.user, options_read_user, OPTIONS_USER,
	                    "erase: what is this user's goes, and nothing else"),
		OPTION_READ("job", 'j', "ID", &o.rules.jobs, read_jobs, "jobs such as 23, 24_3 or 27+1, without steps",
	                    "erase: what is of these jobs goes (23,24_3), and nothing else; with --user, of both"),
		OPTION_FLAG("quiet", 0, &o.quiet, "only the sum"),
		OPTION_ARCHIVE(&o.archive),
		OPTION_END};
	const struct options options = {
		"spoor prune",
		"",
		"Shows which files of the archive are due for removal; with --delete, removes them. A trace is kept as "
		"long as the policy's \"retention\" said when it was made; for ever if it said nothing. The options "
		"may "
		"shorten that.",
		"Removed are also: unfinished files of processes that were killed, exit notes\n"
		"without a trace, and folders that became empty. After --user or --job, the index\n"
		"is made again.",
		lines,
		0,
		0,
		false};
	struct error error = {""};
	char folder[PATH_MAX];
	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	o.rules.erases = o.rules.user >= 0 || o.rules.jobs.count > 0;
	if (o.rules.erases && (o.rules.max_days || o.rules.quota || o.rules.user_quota))
		return options_wrong("spoor prune",
		                     "--user and --job erase whatever its age and size: they go with none of "
		                     "--max-age, --quota, --user-quota");
	if (!o.archive && archive_default(folder, sizeof folder, &error)) {
		say_to(stderr, "spoor: %s\n", error.text);
		return CMD_FAILED;
	}
	if (!o.archive)
		o.archive = folder;
	return prune_archive(&o);
}
