/* SPDX-License-Identifier: BSD-3-Clause
 * prune - `spoor prune`: removes traces that have had their time
 *
 * Two processes. One reads the index, as nobody if root starts it (archive/catalog.h), and writes what is to go, a line each; the other, which keeps its
 * rights, removes files of an archive's form below folders that it opens without following links, and nothing else.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
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
#include "archive/expire.h"
#include "archive/scan.h"
#include "archive/unfinished.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: spoor prune [--delete] [--max-age DAYS] [--quota SIZE] [--user-quota SIZE] [--quiet] [--archive DIR]\n"
	"Shows which files of the archive have had their time; with --delete, removes them. Traces are kept as long as the policy's\n"
	"\"retention\" said when they were made (for ever if it said nothing), and no longer than this allows:\n\n"
	"  --delete            remove them; without it, nothing is changed\n"
	"  --max-age DAYS      what is older goes, whatever its retention\n"
	"  --quota SIZE        the oldest go until the archive has no more than SIZE (bytes, or such as 500G)\n"
	"  --user-quota SIZE   the oldest of each user's go until the user has no more than SIZE\n"
	"  --quiet             only the sum\n"
	"  --archive DIR       this archive; else SPOOR_ARCHIVE of the environment, else the policy's\n\n"
	"Unfinished files of processes that were killed, exit notes without a trace, and folders that became empty go, too.\n";

struct options {
	const char *archive;
	struct expire rules;
	bool remove, quiet;
};

/* --- the one that reads --- */

static int write_line(void *context, const char *day, const char *name, uint64_t size, const char *why)
{
	fprintf(context, "%s/%s\t%llu\t%s\n", day, name, (unsigned long long)size, why);
	return 0;
}

static int read_index(const struct options *o, FILE *out)
{
	struct scan scan = {.wait = -1};
	struct catalog *catalog = NULL;
	struct error error = {""};

	int rv = catalog_open(&catalog, o->archive, archive_group(), &error) || scan_archive(catalog, &scan, &error) < 0 ||
	         catalog_lock(catalog, CATALOG_SHARE, -1, &error) || expire_list(catalog, &o->rules, write_line, out, &error) ? -1 : 0;
	if (rv)
		fprintf(stderr, "spoor: %s\n", error.text);
	catalog_close(catalog);
	return rv || fflush(out) ? 1 : 0;
}

/* --- the one that removes --- */

/* "YYYY/MM/DD/NAME" and nothing else. */
static bool is_archive_file(const char *path)
{
	static const char form[] = "dddd/dd/dd/";
	for (size_t i = 0; form[i]; i++) {
		if (form[i] == 'd' ? path[i] < '0' || path[i] > '9' : path[i] != form[i])
			return false;
	}
	const char *name = path + sizeof form - 1;
	size_t n = strlen(name);
	return name[0] >= '0' && name[0] <= '9' && !strchr(name, '/') &&
	       ((n > 6 && !strcmp(name + n - 6, ".spoor")) || (n > 5 && !strcmp(name + n - 5, ".exit")));
}

/* Opens the day's folder, link by link. */
static int open_day(int archive, const char *path)
{
	static const int starts[] = {0, 5, 8, 11};
	char part[8];
	int fd = dup(archive);

	for (int i = 0; i < 3 && fd >= 0; i++) {
		snprintf(part, sizeof part, "%.*s", starts[i + 1] - starts[i] - 1, path + starts[i]);
		int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	return fd;
}

static int remove_file(int archive, const char *path)
{
	int day = open_day(archive, path);
	int rv = day >= 0 && unlinkat(day, path + 11, 0) == 0 ? 0 : -1;
	int failure = errno;
	if (day >= 0)
		close(day);
	errno = failure;
	return rv;
}

struct sums {
	size_t files, failed, unfinished;
	uint64_t bytes;
};

static void handle_line(const struct options *o, int archive, char *line, struct sums *sums)
{
	char *rest = line, *path = strsep(&rest, "\t"), *size = strsep(&rest, "\t"), *why = rest;

	if (!size || !why || !is_archive_file(path))
		return;
	if (o->remove && remove_file(archive, path) && errno != ENOENT) {
		fprintf(stderr, "spoor prune: %s: %s\n", path, strerror(errno));
		sums->failed++;
		return;
	}
	sums->files++;
	sums->bytes += strtoull(size, NULL, 10);
	if (!o->quiet)
		printf("%s\t%s\t%s\n", path, size, why);
}

struct tidying {
	const struct options *o;
	struct sums *sums;
	int archive;
};

/* The folder of a day: what is unfinished, and the folder itself if nothing is left in it and nothing can come. */
static int tidy_day(void *context, const char *path, const char *day)
{
	struct tidying *t = context;
	char month[8], year[8], today[16];
	time_t now = time(NULL);
	struct tm tm;

	t->sums->unfinished += unfinished_remove(path, "", UNFINISHED_AGE, !t->o->remove, &t->sums->bytes);
	localtime_r(&now, &tm);
	strftime(today, sizeof today, "%Y/%m/%d", &tm);
	if (!t->o->remove || strcmp(day, today) >= 0)
		return 0;
	snprintf(year, sizeof year, "%.4s", day);
	snprintf(month, sizeof month, "%.2s", day + 5);
	int y = openat(t->archive, year, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int m = y >= 0 ? openat(y, month, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (m >= 0 && unlinkat(m, day + 8, AT_REMOVEDIR) == 0 && unlinkat(y, month, AT_REMOVEDIR) == 0)
		unlinkat(t->archive, year, AT_REMOVEDIR);
	if (m >= 0)
		close(m);
	if (y >= 0)
		close(y);
	return 0;
}

static int prune(const struct options *o)
{
	struct sums sums = {0};
	struct error error = {""};
	char *line = NULL;
	size_t size = 0;
	int ends[2], status = -1;

	int archive = open(o->archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (archive < 0 || pipe2(ends, O_CLOEXEC)) {
		fprintf(stderr, "spoor: %s: %s\n", o->archive, strerror(errno));
		return CMD_FAILED;
	}
	pid_t pid = fork();
	if (pid == 0) {
		FILE *out = fdopen(ends[1], "w");
		close(ends[0]);
		_exit(out ? read_index(o, out) : 1);
	}
	close(ends[1]);
	FILE *in = pid > 0 ? fdopen(ends[0], "r") : NULL;
	while (in && getline(&line, &size, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		handle_line(o, archive, line, &sums);
	}
	free(line);
	if (in)
		fclose(in);
	if (pid > 0)
		waitpid(pid, &status, 0);
	struct tidying t = {o, &sums, archive};
	if (status == 0 && archive_days(o->archive, 0, tidy_day, &t, &error) < 0)
		fprintf(stderr, "spoor: %s\n", error.text);
	close(archive);
	if (status == 0)
		printf("%zu files%s, %llu bytes%s\n", sums.files + sums.unfinished, o->remove ? " removed" : " would go",
		       (unsigned long long)sums.bytes, o->remove ? "" : "; `spoor prune --delete` removes them");
	return status == 0 && sums.failed == 0 ? CMD_OK : CMD_FAILED;
}

/* --- what is wanted --- */

static int wrong(const char *message, const char *value)
{
	fprintf(stderr, "spoor prune: %s%s\n%s", message, value, usage);
	return CMD_USAGE;
}

/* "500G", "1000". Returns 0 or -1. */
static int read_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMGTP";
	char *end;

	if (*text < '0' || *text > '9' || strlen(text) > 15)
		return -1;
	*size = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		for (const char *u = units; u <= unit; u++)
			*size *= 1024;
		end++;
	}
	return *end || *size == 0 ? -1 : 0;
}

int cmd_prune(int argc, char **argv)
{
	static const struct option options[] = {{"delete", no_argument, NULL, 'd'},         {"max-age", required_argument, NULL, 'm'},
	                                        {"quota", required_argument, NULL, 'q'},    {"user-quota", required_argument, NULL, 'u'},
	                                        {"quiet", no_argument, NULL, 's'},          {"archive", required_argument, NULL, 'a'},
	                                        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
	struct options o = {0};
	struct error error = {""};
	char folder[4096];
	uint64_t days;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'd':
			o.remove = true;
			break;
		case 'm':
			if (read_size(optarg, &days) || days > 36500 || strspn(optarg, "0123456789") != strlen(optarg))
				return wrong("--max-age: expected days from 1 to 36500, found ", optarg);
			o.rules.max_days = (int64_t)days;
			break;
		case 'q':
		case 'u':
			if (read_size(optarg, option == 'q' ? &o.rules.quota : &o.rules.user_quota))
				return wrong("expected a size such as 500G, found ", optarg);
			break;
		case 's':
			o.quiet = true;
			break;
		case 'a':
			o.archive = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CMD_OK;
		default:
			fputs(usage, stderr);
			return CMD_USAGE;
		}
	}
	if (optind < argc)
		return wrong("unexpected argument ", argv[optind]);
	if (!o.archive && archive_default(folder, sizeof folder, &error)) {
		fprintf(stderr, "spoor: %s\n", error.text);
		return CMD_FAILED;
	}
	if (!o.archive)
		o.archive = folder;
	return prune(&o);
}
