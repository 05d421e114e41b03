/* SPDX-License-Identifier: BSD-3-Clause
 * step_end - spoor-helper end: what has to be done when a step ended, while Slurm goes on
 *
 * Each step that captured starts one. Most find an empty folder, and are gone at once. Of the others one for each user
 * works, and the rest leave their step to it: so there are never many, however many steps end.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/join.h"
#include "deliver/spool.h"
#include "deliver/helper.h"
#include "process/process.h"
#include "deliver/queue.h"
#include "deliver/sweep.h"

/* The name of the step's folder in the spool, of which spool gets the path; NULL: the facts do not say it. */
static const char *split_folder(const struct facts *facts, char *spool, size_t size)
{
	const char *folder = facts_get(facts, "spool"), *slash = folder ? strrchr(folder, '/') : NULL;

	if (!slash || slash == folder || !slash[1] || (size_t)(slash - folder) >= size)
		return NULL;
	memcpy(spool, folder, (size_t)(slash - folder));
	spool[slash - folder] = '\0';
	return spool[0] == '/' ? slash + 1 : NULL;
}

/* Who may read what is in the archive; root's if there is none. */
static gid_t admin_group(const struct facts *facts)
{
	const char *name = facts_get(facts, HELPER_ADMIN_GROUP);
	char why[300];

	if (!name || !*name)
		return 0;
	const struct group *found = getgrnam(name);
	if (found)
		return found->gr_gid;
	snprintf(why, sizeof why, "no group %s: the trace is its user's alone", name);
	sweep_note(facts, "said", why);
	return 0;
}

/* Most steps make no MPI call. Those that do leave nothing where rank 0 is not, but how they ended may have to be told.
 * Returns 0 if the folder is gone. */
static int look_for_work(const struct sweep *s, const char *folder, struct facts *facts)
{
	bool worked = spool_step_changed(s->spool_fd, folder) != facts_number(facts, HELPER_CHANGED, 0);
	bool failed = facts_number(facts, "exit_code", 0) != 0 || facts_number(facts, "signal", 0) != 0;

	if (worked)
		facts_set(facts, QUEUE_PREFIX "worked", "1");
	return (worked && failed) || spool_remove_step(s->spool_fd, folder) ? -1 : 0;
}

/* Notes that the step ended, for whoever delivers. Its folder is then theirs. */
static void hand_over(struct sweep *s, const char *name, struct facts *facts, uid_t uid)
{
	int user = queue_open_user(s->queue, uid);
	s->own = name;
	s->own_facts = user < 0 || queue_save(user, name, facts) ? facts : NULL;
	if (user >= 0)
		close(user);
}

static void sweep_others(struct sweep *s, struct error *error)
{
	if (!queue_is_due(s->queue, SWEEP_EVERY))
		return;
	size_t before = s->delivered;
	sweep_all(s, error);
	if (s->delivered > before) {
		struct join_search joining = {
			.archive = s->archive, .since = (int64_t)time(NULL) - JOIN_AGE, .job = -1};
		join_archive(&joining, error);
	}
}

int helper_end(struct facts *facts)
{
	char spool[PATH_MAX];
	struct error error = {""};
	const char *name = split_folder(facts, spool, sizeof spool), *folder = facts_get(facts, "spool");
	struct sweep s = {.spool = spool,
	                  .archive = facts_get(facts, HELPER_ARCHIVE_AT),
	                  .helper = facts_get(facts, HELPER_HELPER),
	                  .limits = {(uint64_t)facts_number(facts, HELPER_MEMORY, 256 << 20),
	                             (unsigned)facts_number(facts, HELPER_CPU, 10)},
	                  .user_limit = (uint64_t)facts_number(facts, HELPER_USER_LIMIT, 0),
	                  .seconds = SWEEP_SECONDS,
	                  .settled = SWEEP_SETTLED};
	int64_t uid = facts_number(facts, "uid", -1);
	int lock = fcntl(PROCESS_KEPT, F_GETFD) >= 0 ? PROCESS_KEPT : -1; /* before anything else is opened */

	if (!name || uid < 0 || !s.archive || s.archive[0] != '/' || !s.helper || s.helper[0] != '/') {
		fputs("stdin: the step's folder, user, archive or helper is missing\n", stderr);
		return -1;
	}
	if (sweep_open(&s, &error)) {
		sweep_note(facts, "kept", error.text);
		return -1;
	}
	if (look_for_work(&s, folder, facts) == 0) {
		sweep_note(facts, "empty", "no process of the step called MPI_Init, or rank 0 was on another node");
	} else {
		s.group = admin_group(facts);
		sweep_settle(&s, facts);
		hand_over(&s, name, facts, (uid_t)uid);
	}
	/* Not only our copy of the lock: slurmstepd may not be gone yet. */
	if (lock >= 0) {
		flock(lock, LOCK_UN);
		close(lock);
	}
	sweep_user(&s, (uid_t)uid, &error);
	sweep_others(&s, &error);
	sweep_close(&s);
	return 0;
}
