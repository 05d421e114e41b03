/* SPDX-License-Identifier: BSD-3-Clause
 * node_log - what was decided and done for each step on this node
 */
#include "deliver/node_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME "node.log"
#define OLD  "node.log.1"

static int open_log_folder(const char *folder, struct stat *st)
{
	mkdir(folder, 0750);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, st) == 0 && (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & 022))
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = EPERM;
	}
	return -1;
}

/* Opens the file, first making it the old one if it is full. */
static int open_log(int folder, const struct stat *owner)
{
	struct stat st;

	for (int i = 0; i < 2; i++) {
		int fd =
			openat(folder, NAME, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
			if (fd >= 0)
				close(fd);
			return -1;
		}
		if ((st.st_mode & 07777) != 0640 && (fchown(fd, (uid_t)-1, owner->st_gid) || fchmod(fd, 0640))) {
			/* then its group cannot read it */
		}
		if (st.st_size < NODE_LOG_SIZE)
			return fd;
		/* Of several that find it full, the first makes it the old one; the others see that it is another file
		 * by now. */
		struct stat now;
		if (i == 0 && flock(fd, LOCK_EX) == 0 && fstatat(folder, NAME, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
		    now.st_ino == st.st_ino)
			renameat(folder, NAME, folder, OLD);
		close(fd);
	}
	errno = EFBIG;
	return -1;
}

int node_log_write(const char *folder, const struct facts *facts)
{
	char line[NODE_LOG_LINE] = "";
	struct stat st;
	time_t now = time(NULL);
	struct tm tm;
	int rv = -1;

	char *text = facts_encode(facts);
	if (!text || !gmtime_r(&now, &tm)) {
		free(text);
		errno = ENOMEM;
		return -1;
	}
	size_t n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%SZ", &tm);
	for (char *word = text, *rest = text;
	     (word = strsep(&rest, "\n")) && *word && n + strlen(word) + 2 < sizeof line;)
		n += (size_t)sprintf(line + n, " %s", word);
	line[n++] = '\n';
	free(text);
	int fd = open_log_folder(folder, &st), file = fd >= 0 ? open_log(fd, &st) : -1;
	if (file >= 0)
		rv = write(file, line, n) == (ssize_t)n ? 0 : -1;
	int failure = errno;
	if (file >= 0)
		close(file);
	if (fd >= 0)
		close(fd);
	errno = failure;
	return rv;
}

/* A line into its time and its facts. */
static int read_line(char *line, char **time_text, struct facts *facts)
{
	char *rest = line, *end = strchr(line, '\n');

	if (!end)
		return -1;
	*end = '\0';
	*time_text = strsep(&rest, " ");
	for (char *word; rest && (word = strsep(&rest, " "));)
		facts_decode(facts, word, strlen(word), NAME, NULL);
	return facts_get(facts, "job") ? 0 : -1;
}

static int read_log(const char *folder, const char *name, int64_t job,
                    void (*line)(void *, const char *, const struct facts *), void *context)
{
	char path[PATH_MAX];
	char *text = NULL, *when;
	size_t size = 0;
	int n = 0;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file)
		return errno == ENOENT ? 0 : -1;
	while (getline(&text, &size, file) > 0) {
		struct facts facts = {0};
		if (read_line(text, &when, &facts) == 0 && (job == 0 || facts_number(&facts, "job", -1) == job)) {
			line(context, when, &facts);
			n++;
		}
		facts_clear(&facts);
	}
	free(text);
	fclose(file);
	return n;
}

int node_log_read(const char *folder, int64_t job,
                  void (*line)(void *context, const char *time, const struct facts *facts), void *context)
{
	int old = read_log(folder, OLD, job, line, context), n = read_log(folder, NAME, job, line, context);
	return n < 0 || old < 0 ? -1 : n + old;
}
