/* SPDX-License-Identifier: BSD-3-Clause
 * sweep - delivers what earlier steps had to keep in a node's spool
 */
#include "spank/sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "policy/facts.h"
#include "spank/folder.h"
#include "spank/kept.h"
#include "spank/process.h"

static void tell(const struct sweep *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(const struct sweep *s, const char *format, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (s->tell)
		s->tell(text);
}

/* JOB.STEP.NODE, and .I of a second run: how the plugin names a step's folder. */
static int read_name(const char *name, struct facts *facts)
{
	char copy[256], *rest = copy;

	if (strlen(name) >= sizeof copy)
		return -1;
	strcpy(copy, name);
	const char *job = strsep(&rest, "."), *step = strsep(&rest, "."), *node = rest;
	if (!job[0] || strspn(job, "0123456789") != strlen(job) || !step || !step[0] || !node || !node[0])
		return -1;
	facts_set(facts, "job", job);
	facts_set(facts, "step", step);
	facts_set(facts, "node", node);
	return 0;
}

static char *describe(const struct sweep *s, const char *name, const char *day, uid_t uid)
{
	struct facts facts = {0};
	char *text = NULL;

	if (!read_name(name, &facts)) {
		facts_format(&facts, "spool", "%s/%s", s->spool, name);
		facts_format(&facts, "uid", "%lu", (unsigned long)uid);
		facts_set(&facts, "day", day);
		facts_set(&facts, "swept", "1");
		text = facts_encode(&facts);
	}
	facts_clear(&facts);
	return text;
}

/* As the folder's owner. Returns 0, or -1 having told why not. */
static int deliver(const struct sweep *s, const char *name, const char *day, const struct stat *st)
{
	char messages[4096], output[16], *rest = messages;
	const char *argv[] = {s->helper, "collect", NULL};
	struct identity who = {.uid = st->st_uid, .gid = st->st_gid};
	struct error error = {""};

	char *input = describe(s, name, day, st->st_uid);
	if (!input) {
		tell(s, "%s/%s: is not named JOB.STEP.NODE", s->spool, name);
		return -1;
	}
	struct process p = {.argv = argv, .input = input, .identity = geteuid() == 0 ? &who : NULL, .detached = true,
	                    .seconds = s->seconds, .output = output, .output_size = sizeof output,
	                    .messages = messages, .message_size = sizeof messages};
	int rv = process_run(&p, &error);
	free(input);
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (*line)
			tell(s, "%s: %s", name, line);
	}
	if (rv && !messages[0])
		tell(s, "%s: %s", name, error.text);
	return rv;
}

/* Opens a step's folder and takes its lock. Returns the descriptor; -1: not for us; -2: its step is running. */
static int open_step(const struct sweep *s, int spool, const char *name, struct stat *st)
{
	struct stat facts;

	int fd = openat(spool, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, st) || (geteuid() != 0 && st->st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	bool kept = fstatat(fd, KEPT_FACTS, &facts, AT_SYMLINK_NOFOLLOW) == 0;
	/* ctime: nobody can set that back */
	if (flock(fd, LOCK_EX | LOCK_NB) || (!kept && (int64_t)time(NULL) - st->st_ctime < s->settled)) {
		close(fd);
		return -2;
	}
	return fd;
}

/* An archive that is away is not asked for nothing. */
static int sweep_one(struct sweep *s, int spool, const char *name, struct error *error)
{
	char day[4096];
	struct stat st;
	int rv = 0;

	int fd = open_step(s, spool, name, &st);
	if (fd < 0) {
		s->running += fd == -2;
		return 0;
	}
	if (unlinkat(spool, name, AT_REMOVEDIR)) {
		rv = folder_make_day(s->archive, time(NULL), s->group, st.st_uid, day, sizeof day, error);
		bool delivered = !rv && !deliver(s, name, day, &st) && !unlinkat(spool, name, AT_REMOVEDIR);
		s->delivered += delivered;
		s->kept += !delivered;
		tell(s, "%s/%s: %s", s->spool, name, delivered ? "delivered" : "kept");
	}
	close(fd);
	return rv;
}

int sweep_spool(struct sweep *s, struct error *error)
{
	struct stat st;
	int rv = 0;

	s->delivered = s->kept = s->running = 0;
	int fd = open(s->spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : error_set(error, "%s: the spool cannot be opened as a folder: %s", s->spool, strerror(errno));
	DIR *dir = fdopendir(fd);
	if (!dir || fstat(fd, &st) || (geteuid() == 0 && (st.st_uid != 0 || st.st_mode & 022)))
		rv = error_set(error, "%s: the spool must be root's and nobody else may write it", s->spool);
	for (struct dirent *e; !rv && (e = readdir(dir));) {
		if (isdigit((unsigned char)e->d_name[0]))
			rv = sweep_one(s, fd, e->d_name, error);
	}
	if (dir)
		closedir(dir);
	else
		close(fd);
	return rv;
}
