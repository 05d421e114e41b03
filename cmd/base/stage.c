/* SPDX-License-Identifier: BSD-3-Clause
 * stage - what root writes (-o) is root's, whoever the trace belongs to
 */
#include "cmd/base/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/base/sink.h"
#include "cmd/base/status.h"
#include "process/process.h"
#include "trace/base/error.h"
#include "process/folder_walk.h"

#define DEPTH 8 /* of folders in a folder that is written */
#define PIECE 65536

static struct stage {
	int folder, own, files; /* where it is to be; .spoor.XXXX; stage */
	char own_name[40];
	const char *name; /* as the user gave it */
	char last[NAME_MAX + 1];
	char path[PATH_MAX]; /* where the child writes it */
	bool replace;
} stage = {.folder = -1, .own = -1, .files = -1};

const char *stage_path(const char *name)
{
	return stage.name && strcmp(stage.name, name) == 0 ? stage.path : name;
}

/* --- the parent: what the child wrote becomes root's --- */

static int copy_bytes(int from, int to)
{
	static char bytes[PIECE];
	for (;;) {
		ssize_t n = read(from, bytes, sizeof bytes);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		for (ssize_t at = 0, done; at < n; at += done) {
			done = write(to, bytes + at, (size_t)(n - at));
			if (done <= 0)
				return -1;
		}
	}
}

/* Whoever wrote it may still have it open: so it is copied, not given away. */
static int copy_file(int from, const char *name, int to, const char *as, mode_t mask)
{
	struct stat st;
	int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), out = -1, rv = -1;
	if (in >= 0 && fstat(in, &st) == 0 && (S_ISREG(st.st_mode) || (errno = EINVAL, false)))
		out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out >= 0 && copy_bytes(in, out) == 0 && fchmod(out, st.st_mode & 0777 & ~mask & ~022U) == 0)
		rv = 0;
	int number = errno;
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) != 0 && rv == 0)
		return -1;
	errno = number;
	return rv;
}

static int copy_any(int from, const char *name, int to, const char *as, mode_t mask, int depth);

static int copy_folder(int from, const char *name, int to, const char *as, mode_t mask, int depth)
{
	int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), out = -1, rv = -1;
	if (in >= 0 && depth < DEPTH && mkdirat(to, as, 0700) == 0)
		out = openat(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *all = out >= 0 ? fdopendir(in) : NULL;
	if (all)
		rv = 0;
	for (struct dirent *e; all && rv == 0 && (e = readdir(all));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rv = copy_any(in, e->d_name, out, e->d_name, mask, depth + 1);
	if (rv == 0)
		rv = fchmod(out, 0755 & ~mask);
	int number = errno;
	if (all)
		closedir(all);
	else if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	errno = number;
	return rv;
}

static int copy_any(int from, const char *name, int to, const char *as, mode_t mask, int depth)
{
	struct stat st;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	return (S_ISDIR(st.st_mode) ? copy_folder(from, name, to, as, mask, depth)
	                            : copy_file(from, name, to, as, mask));
}

static void remove_tree(int folder, const char *name, int depth)
{
	if (unlinkat(folder, name, 0) == 0 || depth > DEPTH + 2)
		return;
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *all = fd >= 0 ? fdopendir(fd) : NULL;
	for (struct dirent *e; all && (e = readdir(all));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_tree(fd, e->d_name, depth + 1);
	if (all)
		closedir(all);
	unlinkat(folder, name, AT_REMOVEDIR);
}

/* An empty folder is in the way of what is new on some file systems. */
static int give_name(int from, const char *as)
{
	struct stat st;
	if (!stage.replace)
		unlinkat(stage.folder, stage.last, AT_REMOVEDIR);
	if (!stage.replace && fstatat(stage.folder, stage.last, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(from, as, stage.folder, stage.last);
}

static int publish_stage(void)
{
	struct stat st;
	mode_t mask = umask(0);
	umask(mask);
	if (fstatat(stage.files, stage.last, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0; /* the child has written none, and said why */
	int rv = st.st_uid == 0 ? give_name(stage.files, stage.last)
	                        : copy_any(stage.files, stage.last, stage.own, "copy", mask, 0);
	if (rv == 0 && st.st_uid != 0)
		rv = give_name(stage.own, "copy");
	return rv;
}

/* Does not return. */
static void be_parent(const char *command, pid_t child)
{
	int status = 0, rv = CMD_FAILED;
	signal(SIGINT, SIG_IGN); /* what the terminal sends, the child gets */
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status)) {
		rv = WEXITSTATUS(status);
		if (publish_stage() != 0) {
			say_to(stderr, "%s: %s: %s\n", command, stage.name, strerror(errno));
			rv = CMD_FAILED;
		}
	}
	remove_tree(stage.folder, stage.own_name, 0);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	exit(rv);
}

/* --- where it is to be --- */

static int make_stage(struct error *error)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(stage.own_name, sizeof stage.own_name, ".spoor.%ld.%lx", (long)getpid(),
	         (unsigned long)(now.tv_sec ^ now.tv_nsec));
	if (mkdirat(stage.folder, stage.own_name, 0700) != 0 ||
	    (stage.own = openat(stage.folder, stage.own_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0 ||
	    mkdirat(stage.own, "stage", 0700) != 0 ||
	    (stage.files = openat(stage.own, "stage", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0 ||
	    fchmod(stage.files, 0777) != 0)
		return error_set(error, "%s: cannot be written: %s", stage.name, strerror(errno));
	snprintf(stage.path, sizeof stage.path, "/proc/self/fd/%d/%s", stage.files, stage.last);
	return 0;
}

/* What may not be replaced, and what would be replaced by something of another kind. */
static int check_name(struct error *error)
{
	struct stat st;
	if (fstatat(stage.folder, stage.last, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	if (!stage.replace && S_ISDIR(st.st_mode) && unlinkat(stage.folder, stage.last, AT_REMOVEDIR) == 0)
		return 0;
	if (!stage.replace)
		return error_set(error, "%s: exists already: give another name, or remove it first", stage.name);
	if (S_ISDIR(st.st_mode))
		return error_set(error, "%s: is a folder; a file is to be written", stage.name);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return error_set(error, "%s: is no regular file; FILE - is standard output", stage.name);
	return 0;
}

/* Its last part, and the folder that it is in. Returns that folder's descriptor, or -1 with error set. */
static int open_folder_of(const char *name, char last[NAME_MAX + 1], struct error *error)
{
	char folder[PATH_MAX];
	size_t n = strlen(name), end;
	while (n > 1 && name[n - 1] == '/')
		n--;
	for (end = n; end > 0 && name[end - 1] != '/';)
		end--;
	if (n == end || n - end > NAME_MAX || end >= sizeof folder)
		return error_set(error, "\"%s\": not a name that can be written to", name);
	snprintf(last, NAME_MAX + 1, "%.*s", (int)(n - end), name + end);
	snprintf(folder, sizeof folder, "%.*s", end ? (int)end : 1, end ? name : ".");
	return folder_walk(folder, error);
}

int stage_allowed(const char *name, struct error *error)
{
	char last[NAME_MAX + 1];
	if (geteuid() != 0 || strcmp(name, "-") == 0 || (stage.name && strcmp(stage.name, name) == 0))
		return 0;
	int fd = open_folder_of(name, last, error);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

int stage_begin(const char *command, const char *name, bool replace)
{
	struct error error = {""};
	pid_t child = -1;
	if (geteuid() != 0 || !name || strcmp(name, "-") == 0)
		return 0;
	stage.replace = replace;
	stage.folder = open_folder_of(name, stage.last, &error);
	stage.name = name;
	if (stage.folder >= 0 && check_name(&error) == 0 && make_stage(&error) == 0)
		child = process_child();
	if (child > 0)
		be_parent(command, child);
	if (child == 0) {
		close(stage.folder);
		close(stage.own);
		return 0;
	}
	if (stage.own >= 0)
		remove_tree(stage.folder, stage.own_name, 0);
	say_to(stderr, "%s: %s\n", command, error.text[0] ? error.text : strerror(errno));
	return -1;
}
