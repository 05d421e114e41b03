/* SPDX-License-Identifier: BSD-3-Clause
 * doctor - `spoor doctor`: is spoor installed right, does Slurm load it, may it do what it has to?
 */
#include "cmd/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/day.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "deliver/node_log.h"
#include "policy/policy.h"
#include "trace/base/number.h"

unsigned doctor_said[WRONG + 1];

void doctor_say(enum finding finding, const char *format, ...)
{
	static const char *const names[] = {"good", "doubt", "wrong"};
	va_list ap;

	doctor_said[finding]++;
	printf("%-6s", names[finding]);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

/* --- policy and folders --- */

static void check_folder(const char *path, const char *what, unsigned need, bool roots)
{
	struct stat st;

	if (lstat(path, &st))
		doctor_say(DOUBT,
		           "%s: the %s is not there: %s; the first traced job makes it, if the folder above is there",
		           path, what, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		doctor_say(WRONG, "%s: the %s is not a folder (a symbolic link is none)", path, what);
	else if ((roots && st.st_uid != 0) || st.st_mode & 022)
		doctor_say(WRONG, "%s: the %s belongs to user %lu with mode %04o; chown root, and chmod go-w", path,
		           what, (unsigned long)st.st_uid, (unsigned)st.st_mode & 07777);
	else if ((st.st_mode & need) != need)
		doctor_say(WRONG, "%s: users cannot enter the %s (mode %04o); chmod %04o", path, what,
		           (unsigned)st.st_mode & 07777, ((unsigned)st.st_mode & 07777) | need);
	else
		doctor_say(GOOD, "%s: the %s is user %lu's alone to write", path, what, (unsigned long)st.st_uid);
}

/* In a day that everybody may add to, somebody may have taken the name of another user's folder: that user's is then
 * called otherwise. */
static int find_taken(const char *path)
{
	struct stat st;
	uid_t uid;
	int taken = 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	for (struct dirent *e; dir && (e = readdir(dir));)
		taken += day_is_folder(e->d_name, &uid) && !fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		         st.st_uid != uid;
	if (dir)
		closedir(dir);
	return taken;
}

/* Where root may not write (root_squash), days must be there before they come. */
static void check_days(const char *archive)
{
	char day[DAY_SIZE], path[DOCTOR_PATH + 16];
	struct stat own, st;
	int64_t now = time(NULL);

	if (lstat(archive, &own) || geteuid() != 0)
		return;
	day_of(now, day);
	snprintf(path, sizeof path, "%s/%s", archive, day);
	int taken = find_taken(path);
	if (taken)
		doctor_say(
			DOUBT,
			"%s: %d folders belong to somebody else than the user whose name they have; `find -user` says "
			"who made them",
			path, taken);
	bool writable = access(archive, W_OK) == 0;
	day_of(now + 86400, day);
	snprintf(path, sizeof path, "%s/%s", archive, day);
	if (writable || own.st_uid != 0)
		doctor_say(GOOD, "%s: the folders of days are made as they are needed, by user %lu", archive,
		           (unsigned long)own.st_uid);
	else if (lstat(path, &st))
		doctor_say(
			WRONG,
			"%s: root may not write the archive (root_squash?), and there is no folder for tomorrow; run "
			"`spoor setup --days 30` daily, on the file server",
			path);
	else
		doctor_say(GOOD, "%s: root may not write the archive, and days are made ahead", archive);
}

/* Traces are parsed as nobody (archive/catalog.h): an index that lies where nobody can go is none. */
static void check_archive_readable(const char *archive)
{
	struct stat st, own;
	char path[DOCTOR_PATH + 16];

	snprintf(path, sizeof path, "%s/.index", archive);
	if (lstat(path, &st))
		doctor_say(DOUBT,
		           "%s: the site's index is not there; `spoor setup` makes its folder, and `spoor index` the "
		           "index",
		           path);
	else if (!S_ISDIR(st.st_mode) || lstat(archive, &own) || st.st_uid != own.st_uid ||
	         (st.st_mode & 07777) != 02770)
		doctor_say(WRONG,
		           "%s: must be a folder of the archive's owner with mode 2770; `spoor setup` sets it right",
		           path);
	else
		doctor_say(GOOD, "%s: the site's index is there", path);
}

static void check_policy(const char *path)
{
	struct problems problems = {0};
	struct policy *policy = policy_load(path, true, &problems);
	struct facts none = {0};
	struct decision d;
	char mode[MODE_TEXT_SIZE];

	if (!policy) {
		doctor_say(WRONG, "%s: the policy is not good, no job is traced:", path);
		fputs(problems.text ? problems.text : "", stdout);
		problems_clear(&problems);
		return;
	}
	policy_decide(policy, &none, &d);
	doctor_say(GOOD, "%s: the policy is good: %zu rules; other jobs: %s", path, policy_rule_count(policy),
	           mode_format(&d.mode, mode));
	if (d.admin_group[0] && !getgrnam(d.admin_group))
		doctor_say(WRONG, "%s: \"admin_group\": there is no group %s", path, d.admin_group);
	check_folder(d.archive, "archive", 0011, false);
	check_days(d.archive);
	check_archive_readable(d.archive);
	check_folder(d.spool, "spool", 0011, true);
	doctor_spool_disk(d.spool);
	doctor_spool(d.spool);
	policy_destroy(policy);
}

static void check_node_log(void)
{
	struct stat st;

	if (lstat(NODE_LOG_FOLDER, &st))
		doctor_say(DOUBT, "%s: the log of decisions is not there: %s; `spoor setup` makes it, or the next step",
		           NODE_LOG_FOLDER, strerror(errno));
	else if (!S_ISDIR(st.st_mode) || st.st_uid != 0 || st.st_mode & 022)
		doctor_say(WRONG,
		           "%s: must be a folder of root that nobody else can write; `spoor setup` sets it right",
		           NODE_LOG_FOLDER);
	else
		doctor_say(GOOD, "%s: decisions are logged", NODE_LOG_FOLDER);
}

int cmd_doctor(int argc, char **argv)
{
	struct plugin_stack stack = {.policy = SPOOR_SYSCONFDIR "/policy.json"};
	const struct option_line none[] = {OPTION_END};
	const struct options options = {
		"spoor doctor",
		"[JOB]",
		"Checks this node's installation: files, Slurm's plugin stack, policy, spool, archive and log. Prints "
		"a "
		"line for each; the exit status is 1 if something must be done. Run it as root, on a compute node.",
		"With a job's number: says what was decided for each of its steps on this node,\n"
		"and why. Then it says what became of their traces, and which of them are in the\n"
		"spool and in the archive.",
		none,
		0,
		1,
		false};

	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	if (optind < argc) {
		uint64_t job;
		const char *own = getenv("SPOOR_POLICY");
		if (number_parse(argv[optind], UINT32_MAX, &job) != 0)
			return options_wrong("spoor doctor", "JOB: expected a job's number, found \"%s\"",
			                     argv[optind]);
		doctor_read_stack(&stack);
		return doctor_job(job, own && *own ? own : stack.policy);
	}
	doctor_tracer();
	doctor_helper();
	doctor_slurm(&stack);
	check_policy(stack.policy);
	check_node_log();
	printf("%u wrong, %u in doubt\n", doctor_said[WRONG], doctor_said[DOUBT]);
	return doctor_said[WRONG] ? CMD_FAILED : CMD_OK;
}
