/* SPDX-License-Identifier: BSD-3-Clause
 * doctor_try - of `spoor doctor`: does what a job does, with a user's rights
 *
 * What root prepares for a step is made as for a step, by the same functions, and removed. A child becomes the user,
 * tries, and says what it found through a pipe: it may hang in a file system.
 */
#include "cmd/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/day.h"
#include "archive/privileges.h"
#include "deliver/day_folder.h"
#include "deliver/spool.h"
#include "process/process.h"
#include "spank/config.h"

#define TRY_SECONDS 30
#define GROUPS_MOST 1024
#define TRY_BYTES   (64 << 10) /* as much as a small trace: a quota, or a full disk, says no */

struct trial {
	char name[64]; /* of the user */
	uid_t uid;
	gid_t gid;
	const char *policy;
	const struct decision *d;
	char step[PATH_MAX], day[PATH_MAX]; /* made by root; empty: not */
};

/* The first folder above a path that the caller cannot go through, and its mode; false: there is none. */
static bool closed_folder(const char *path, char closed[PATH_MAX], unsigned *mode)
{
	char inside[PATH_MAX + 2];
	struct stat st;

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(closed, PATH_MAX, "%.*s", (int)(slash - path), path);
		snprintf(inside, sizeof inside, "%s/.", closed);
		if (stat(inside, &st) && errno == EACCES) {
			*mode = stat(closed, &st) ? 0 : (unsigned)st.st_mode & 07777;
			return true;
		}
	}
	return false;
}

/* errno says why; then where it is closed. */
static void say_refused(const struct trial *t, const char *path, const char *what, const char *effect)
{
	char closed[PATH_MAX];
	unsigned mode;
	int why = errno;

	if (why == EACCES && closed_folder(path, closed, &mode))
		doctor_say(WRONG,
		           "%s: user %s cannot %s: the folder %s lets only some in (mode %04o); chmod o+x it: %s", path,
		           t->name, what, closed, mode, effect);
	else
		doctor_say(WRONG, "%s: user %s cannot %s: %s: %s", path, t->name, what, strerror(why), effect);
}

/* As the dynamic loader does: on a file system that is mounted noexec, only this fails. */
static void try_library(const struct trial *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = fd >= 0 ? mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED && !(fd < 0 && errno == ENOENT)) /* one that is not there is told of elsewhere */
		say_refused(t, path, "load it", "its jobs are not traced");
	if (at != MAP_FAILED)
		munmap(at, 4096);
	if (fd >= 0)
		close(fd);
}

/* Makes and removes a file as a rank does. Returns 0, or -1 having said why. */
static int try_file(const struct trial *t, const char *folder, const char *effect)
{
	static char bytes[TRY_BYTES];
	char path[PATH_MAX + 32];
	ssize_t written = -1;

	snprintf(path, sizeof path, "%s/.doctor.%ld", folder, (long)getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		memset(bytes, 'x', sizeof bytes);
		written = write(fd, bytes, sizeof bytes);
		if (written == (ssize_t)sizeof bytes && fsync(fd) == 0)
			written = 0;
		else if (written >= 0 && written < (ssize_t)sizeof bytes)
			errno = ENOSPC;
	}
	int why = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && unlink(path) && written == 0)
		why = errno, written = -1;
	errno = why;
	if (written)
		say_refused(t, path, "make a file", effect);
	return written ? -1 : 0;
}

static void try_archive(const struct trial *t)
{
	char folder[PATH_MAX];
	struct error error = {""};

	if (access(t->d->archive, X_OK)) {
		if (errno != ENOENT)
			say_refused(t, t->d->archive, "enter the archive", "no trace is delivered");
		return;
	}
	if (!t->day[0])
		return;
	if (day_own_folder(t->day, true, folder, sizeof folder, &error))
		doctor_say(WRONG, "%s: user %s gets no folder: %s: no trace is delivered", t->day, t->name, error.text);
	else if (try_file(t, folder, "no trace is delivered") == 0)
		doctor_say(GOOD, "%s: user %s can deliver traces", t->day, t->name);
	rmdir(folder);
}

/* As the user. */
static void try_all(const struct trial *t)
{
	static const char effect[] = "`spoor list` and others fail";
	struct config config;

	config_read(&config, 0, NULL, NULL);
	char gate[PATH_MAX];
	config_plain_path(config.preload, gate, sizeof gate);
	try_library(t, gate);
	for (size_t i = 0; doctor_tracers[i][0]; i++)
		try_library(t, doctor_tracers[i][0]);
	if (access(config.helper, X_OK))
		say_refused(t, config.helper, "execute it", "no trace is delivered");
	if (access(t->policy, R_OK))
		say_refused(t, t->policy, "read the policy", effect);
	if (t->step[0] && try_file(t, t->step, "no job is traced") == 0)
		doctor_say(GOOD, "%s: user %s can make and remove files in a step's folder", t->d->spool, t->name);
	else if (!t->step[0] && access(t->d->spool, X_OK) && errno != ENOENT)
		say_refused(t, t->d->spool, "enter the spool", "no job is traced");
	try_archive(t);
}

static void run_trial(const struct trial *t)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC)) {
		doctor_say(DOUBT, "a pipe: %s", strerror(errno));
		return;
	}
	pid_t pid = process_child();
	if (pid == 0) {
		gid_t groups[GROUPS_MOST];
		int count = GROUPS_MOST;
		struct error error = {""};
		doctor_say_to(ends[1]);
		if (getgrouplist(t->name, t->gid, groups, &count) < 0)
			count = GROUPS_MOST; /* the first ones */
		const struct identity user = {
			.uid = t->uid, .gid = t->gid, .groups = groups, .group_count = (size_t)count};
		if (identity_become(&user, &error))
			doctor_say(DOUBT, "%s", error.text);
		else
			try_all(t);
		_exit(0);
	}
	close(ends[1]);
	if (pid < 0 || doctor_hear(ends[0], TRY_SECONDS)) {
		doctor_say(WRONG, "as user %s: a file system does not answer for %d s; see which: spool, archive, %s",
		           t->name, TRY_SECONDS, SPOOR_PKGLIBDIR);
		if (pid > 0)
			kill(pid, SIGKILL); /* it goes when the file system answers: it is not waited for */
	} else {
		waitpid(pid, NULL, 0);
	}
	close(ends[0]);
}

/* What root makes for a step, and at its end. Returns the spool's descriptor, or -1. */
static int prepare_trial(struct trial *t)
{
	struct error error = {""};
	struct stat st;
	char name[32];

	snprintf(name, sizeof name, "doctor.%ld", (long)getpid());
	int spool = spool_make_step(t->d->spool, name, t->uid, t->gid, t->step, sizeof t->step, &error);
	if (spool < 0) {
		doctor_say(WRONG, "%s: no step's folder can be made: %s: no job is traced", t->d->spool, error.text);
		t->step[0] = '\0';
	}
	error.text[0] = '\0';
	const struct group *group = t->d->admin_group[0] ? getgrnam(t->d->admin_group) : NULL;
	if (stat(t->d->archive, &st) == 0 && day_folder_make(t->d->archive, time(NULL), group ? group->gr_gid : 0,
	                                                     t->uid, t->day, sizeof t->day, &error)) {
		doctor_say(WRONG, "%s: no user's folder can be made: %s: no trace is delivered", t->d->archive,
		           error.text);
		t->day[0] = '\0';
	}
	return spool;
}

/* Returns -1: there is no such user, which has been said. */
static int find_user(const char *user, struct trial *t)
{
	const struct passwd *pw = user ? getpwnam(user) : NULL;

	if (user && geteuid() != 0) {
		doctor_say(DOUBT, "only root can do as user %s does", user);
		return -1;
	}
	if (user && !pw) {
		doctor_say(WRONG, "there is no user %s on this node", user);
		return -1;
	}
	t->uid = pw ? pw->pw_uid : geteuid() ? geteuid() : privileges_nobody();
	if (!pw)
		pw = getpwuid(t->uid);
	t->gid = pw ? pw->pw_gid : (gid_t)t->uid;
	if (pw)
		snprintf(t->name, sizeof t->name, "%s", pw->pw_name);
	else
		snprintf(t->name, sizeof t->name, "%lu", (unsigned long)t->uid);
	return 0;
}

void doctor_try(const char *user, const char *policy, const struct decision *d)
{
	struct trial t = {.policy = policy, .d = d};
	int spool = -1;
	char own[PATH_MAX + DAY_FOLDER_SIZE], name[DAY_FOLDER_SIZE];

	if (find_user(user, &t))
		return;
	if (geteuid() == 0)
		spool = prepare_trial(&t);
	run_trial(&t);
	if (spool >= 0) {
		spool_remove_step(spool, t.step);
		close(spool);
	}
	if (t.day[0]) { /* the day's folder stays, as the next job would make it */
		day_folder_name(t.uid, 0, name);
		snprintf(own, sizeof own, "%s/%s", t.day, name);
		rmdir(own);
	}
}
