/* SPDX-License-Identifier: BSD-3-Clause
 * orphans - folders in the spool of which root does not know that their steps ended
 */
#include "deliver/sweep.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "deliver/attempt.h"
#include "deliver/queue.h"
#include "trace/base/budget.h"

#define OPEN_FOLDER  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define ORPHANS_MOST 1000 /* of one user: folders that are left behind, which a pass takes */

/* JOB.STEP.NODE, and .I of a second run: how the plugin names a step's folder. */
static int read_folder_name(const char *name, struct facts *facts)
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

/* Did its step end, as far as one can see? Nothing is opened in it. */
static bool is_left(const struct sweep *s, int fd, const struct stat *st)
{
	struct stat facts;
	bool kept = fstatat(fd, ATTEMPT_FACTS, &facts, AT_SYMLINK_NOFOLLOW) == 0;

	/* ctime: nobody can set that back */
	return flock(fd, LOCK_EX | LOCK_NB) == 0 && (kept || (int64_t)time(NULL) - st->st_ctime >= s->settled);
}

bool orphan_runs(const struct sweep *s, int user, const char *name, struct facts *facts, int fd, const struct stat *st)
{
	if (facts_number(facts, QUEUE_BEGUN, 0) == 0)
		return false;
	if (!is_left(s, fd, st))
		return true;
	facts_clear(facts);
	if (queue_load(user, name, facts) != 0)
		return true; /* somebody else has just had it */
	if (facts_number(facts, QUEUE_BEGUN, 0) > 0)
		facts_set(facts, "swept", "1");
	facts_set(facts, QUEUE_BEGUN, "0");
	return false;
}

static void adopt(struct sweep *s, const char *name, uid_t uid)
{
	int user = queue_open_user(s->queue, uid);
	struct facts facts = {0};

	if (user >= 0 && !queue_has(user, name)) {
		if (read_folder_name(name, &facts)) {
			sweep_tell(s, "%s/%s: is not named JOB.STEP.NODE", s->spool, name);
			s->kept++;
		} else {
			facts_format(&facts, "spool", "%s/%s", s->spool, name);
			facts_format(&facts, "uid", "%lu", (unsigned long)uid);
			facts_set(&facts, "swept", "1");
			queue_save(user, name, &facts);
		}
	}
	if (user >= 0)
		close(user);
	facts_clear(&facts);
}

/* How many of whom. */
struct taken {
	uid_t uid;
	size_t count;
};

struct look {
	struct sweep *s;
	struct taken *taken;
	uint32_t count, capacity;
};

/* May one more of this user be taken? What one user has too much leaves room for the others. */
static bool take_orphan(struct look *l, uid_t uid)
{
	uint32_t i = 0;
	while (i < l->count && l->taken[i].uid != uid)
		i++;
	if (i == l->count && !budget_grow(&l->taken, l->count, &l->capacity, sizeof *l->taken))
		return false;
	if (i == l->count)
		l->taken[l->count++] = (struct taken){uid, 0};
	return l->taken[i].count++ < ORPHANS_MOST;
}

/* A folder of which root does not know that its step ended: its node went down. */
static int each_spool_folder(void *context, const char *name)
{
	struct look *l = context;
	struct sweep *s = l->s;
	struct stat st;

	int fd = openat(s->spool_fd, name, OPEN_FOLDER);
	if (fd >= 0 && fstat(fd, &st) == 0 && (geteuid() == 0 || st.st_uid == geteuid())) {
		int user = queue_open_user(s->queue, st.st_uid);
		bool known = user >= 0 && queue_has(user, name);
		if (user >= 0)
			close(user);
		bool left = !known && is_left(s, fd, &st);
		if (left && take_orphan(l, st.st_uid))
			adopt(s, name, st.st_uid);
		else
			s->kept += left;
		s->running += !known && !left;
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

void orphans_adopt(struct sweep *s)
{
	struct look look = {.s = s};
	queue_each(s->spool_fd, each_spool_folder, &look);
	budget_free(look.taken);
}
