/* SPDX-License-Identifier: BSD-3-Clause
 * doctor_job - of `spoor doctor`: what is in the spool, and what became of a job
 */
#include "cmd/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "cmd/cmd.h"
#include "deliver/node_log.h"
#include "deliver/queue.h"
#include "policy/policy.h"

/* --- what is in the spool --- */

enum left { LEFT_RUNNING, LEFT_DELIVERED, LEFT_WAITING, LEFT_LOST };

/* Whether a folder's step runs, its traces are being delivered, wait for that (then tries and next say how often it
 * failed, and when it is tried again), or its node went down. */
static enum left look_at_step(int spool, const char *name, int64_t *tries, int64_t *next)
{
	struct facts facts = {0};
	struct stat st;
	enum left left = LEFT_LOST;

	*tries = *next = 0;
	int fd = openat(spool, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool locked = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0;
	int queue = fd >= 0 && !fstat(fd, &st) ? queue_open(spool) : -1,
	    user = queue >= 0 ? queue_open_user(queue, st.st_uid) : -1;
	if (user >= 0 && queue_load(user, name, &facts) == 0) {
		*tries = facts_number(&facts, QUEUE_TRIES, 0);
		*next = facts_number(&facts, QUEUE_NEXT, 0);
		bool busy = flock(user, LOCK_EX | LOCK_NB) != 0;
		left = locked || (busy && !*next) ? LEFT_DELIVERED : LEFT_WAITING;
	} else if (locked) {
		left = LEFT_RUNNING;
	}
	facts_clear(&facts);
	for (size_t i = 0; i < 3; i++) {
		int each = (int[]){user, queue, fd}[i];
		if (each >= 0)
			close(each);
	}
	return left;
}

struct counts {
	int spool;
	size_t count[LEFT_LOST + 1];
};

static int count_step(void *context, const char *name)
{
	struct counts *all = context;
	int64_t tries, next;

	all->count[look_at_step(all->spool, name, &tries, &next)]++;
	return 0;
}

static int count_given_up(void *context, const char *name)
{
	(void)name;
	++*(size_t *)context;
	return 0;
}

void doctor_spool(const char *path)
{
	struct counts all = {.spool = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
	size_t given_up = 0;

	if (all.spool < 0)
		return;
	queue_each(all.spool, count_step, &all);
	size_t kept = all.count[LEFT_WAITING] + all.count[LEFT_LOST];
	if (kept)
		doctor_say(WRONG,
		           "%s: %zu steps were not delivered to the archive (%zu are running); `spoor sweep` delivers "
		           "them",
		           path, kept, all.count[LEFT_RUNNING]);
	else
		doctor_say(GOOD, "%s: nothing waits to be delivered; %zu steps are running, %zu are being delivered",
		           path, all.count[LEFT_RUNNING], all.count[LEFT_DELIVERED]);
	int fd = openat(all.spool, QUEUE_GIVEN_UP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		queue_each(fd, count_given_up, &given_up);
		close(fd);
	}
	if (given_up)
		doctor_say(WRONG,
		           "%s/" QUEUE_GIVEN_UP
		           ": %zu steps could not be delivered for days; look at them, then `spoor "
		           "sweep --all`, or remove them",
		           path, given_up);
	close(all.spool);
}

/* --- one job --- */

static const char *log_value(const struct facts *facts, const char *name)
{
	const char *text = facts_get(facts, name);
	return text ? text : "?";
}

static void print_log_line(void *context, const char *time, const struct facts *facts)
{
	const char *what = log_value(facts, "what"), *why = facts_get(facts, "why"), *where = facts_get(facts, "where");
	char text[256];
	(void)context;

	if (!strcmp(what, "captured"))
		snprintf(text, sizeof text, "is captured, mode %s", log_value(facts, "mode"));
	else if (!strcmp(what, "off"))
		snprintf(text, sizeof text, "is not captured");
	else if (!strcmp(what, "failed"))
		snprintf(text, sizeof text, "is not captured, because something is wrong");
	else if (!strcmp(what, "delivered"))
		snprintf(text, sizeof text, "ended; its trace was delivered");
	else if (!strcmp(what, "kept"))
		snprintf(text, sizeof text, "ended; its trace could not be delivered and is kept in the spool");
	else if (!strcmp(what, "given-up"))
		snprintf(text, sizeof text,
		         "its trace could not be delivered for days, and is in the spool's folder " QUEUE_GIVEN_UP);
	else if (!strcmp(what, "discarded"))
		snprintf(text, sizeof text, "its folder was too large to be kept, and was emptied");
	else if (!strcmp(what, "said"))
		snprintf(text, sizeof text, "while its traces were delivered");
	else if (!strcmp(what, "empty"))
		snprintf(text, sizeof text, "ended, and left nothing here");
	else
		snprintf(text, sizeof text, "%s", what);
	printf("      %s node %s, step %s, user %s: %s\n", time, log_value(facts, "node"), log_value(facts, "step"),
	       log_value(facts, "uid"), text);
	if (facts_get(facts, "rule") && (!strcmp(what, "captured") || !strcmp(what, "off")))
		printf("          decided by %s%s%s: %s\n", log_value(facts, "rule"), where ? ", " : "",
		       where ? where : "", log_value(facts, "reason"));
	if (why)
		printf("          %s\n", why);
}

static void job_in_spool(const char *spool, const char *job)
{
	size_t n = strlen(job);
	DIR *dir = opendir(spool);

	if (!dir) {
		doctor_say(DOUBT, "%s: the spool cannot be listed: %s%s", spool, strerror(errno),
		           geteuid() ? "; ask again as root" : "");
		return;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		int64_t tries, next;
		if (strncmp(e->d_name, job, n) || e->d_name[n] != '.')
			continue;
		switch (look_at_step(dirfd(dir), e->d_name, &tries, &next)) {
		case LEFT_RUNNING:
			doctor_say(GOOD, "%s/%s: its step is running", spool, e->d_name);
			break;
		case LEFT_DELIVERED:
			doctor_say(GOOD, "%s/%s: is being delivered", spool, e->d_name);
			break;
		case LEFT_WAITING:
			if (tries == 0)
				doctor_say(WRONG, "%s/%s: is kept; `spoor sweep` delivers it", spool, e->d_name);
			else
				doctor_say(WRONG,
				           "%s/%s: is kept; tried %lld times without success, again in %lld s; `spoor "
				           "sweep "
				           "--all` tries it now",
				           spool, e->d_name, (long long)tries,
				           (long long)(next > (int64_t)time(NULL) ? next - (int64_t)time(NULL) : 0));
			break;
		case LEFT_LOST:
			doctor_say(
				WRONG,
				"%s/%s: is kept; the node went down before its step ended; `spoor sweep` delivers it",
				spool, e->d_name);
			break;
		}
	}
	closedir(dir);
}

struct job_search {
	const char *job;
	size_t found;
};

/* Names only: what is in the files is not for root to read. */
static int job_in_folder(void *context, const char *path, const char *folder)
{
	struct job_search *s = context;
	size_t n = strlen(s->job);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat own;
	DIR *dir = fd >= 0 && !fstat(fd, &own) ? fdopendir(fd) : NULL;
	(void)folder;

	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stat st;
		if (strncmp(e->d_name, s->job, n) || e->d_name[n] != '.' ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != own.st_uid)
			continue;
		doctor_say(GOOD, "%s/%s: is there, %lld bytes, of user %lu", path, e->d_name, (long long)st.st_size,
		           (unsigned long)st.st_uid);
		s->found++;
	}
	if (dir)
		closedir(dir);
	return 0;
}

int doctor_job(uint64_t number, const char *policy_path)
{
	char job[24];
	struct job_search search = {.job = job};
	struct problems problems = {0};
	struct facts none = {0};
	struct error error = {""};
	struct decision d;

	snprintf(job, sizeof job, "%" PRIu64, number);
	policy_default_decision(&d);
	struct policy *policy = policy_load(policy_path, geteuid() == 0, &problems);
	if (policy)
		policy_decide(policy, &none, &d);
	else
		doctor_say(WRONG, "%s: the policy is not good now; looking where it would be without one", policy_path);
	policy_destroy(policy);
	problems_clear(&problems);
	printf("job %s, as %s/node.log has it:\n", job, NODE_LOG_FOLDER);
	int n = node_log_read(NODE_LOG_FOLDER, (int64_t)number, print_log_line, NULL);
	if (n < 0)
		doctor_say(DOUBT, "%s: cannot be read: %s; ask again as root, or as one of the admin group",
		           NODE_LOG_FOLDER, strerror(errno));
	else if (n == 0)
		doctor_say(DOUBT,
		           "job %s: no step of it was begun on this node with spoor loaded, or the log goes not so far "
		           "back; ask on its nodes",
		           job);
	job_in_spool(d.spool, job);
	fflush(stdout); /* an archive may hang */
	if (archive_folders(d.archive, 0, job_in_folder, &search, &error) < 0)
		doctor_say(DOUBT, "%s", error.text);
	else if (search.found == 0)
		doctor_say(DOUBT, "%s: there is no trace of job %s in the archive", d.archive, job);
	return doctor_said[WRONG] || search.found == 0 ? CMD_FAILED : CMD_OK;
}
