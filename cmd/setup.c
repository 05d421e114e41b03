/* SPDX-License-Identifier: BSD-3-Clause
 * setup - `spoor setup`: makes the folders of the policy with the owners and modes that they need; and `spoor sweep`,
 * for those of the spool
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/sweep_metrics.h"
#include "deliver/day_folder.h"
#include "deliver/node_log.h"
#include "deliver/sweep.h"
#include "policy/policy.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Makes the folder, or sets it right. The one above must be there, and safe. */
static int setup_folder(const char *path, mode_t mode, gid_t group, const char *what)
{
	struct stat st;

	bool made = mkdir(path, mode & 0700) == 0;
	int fd = made || errno == EEXIST ? open(path, OPEN_FOLDER) : -1;
	if (fd < 0 || fstat(fd, &st)) {
		say_to(stderr, "spoor setup: %s: the %s cannot be made: %s\n", path, what,
		       errno == ENOTDIR || errno == ELOOP ? "something that is no folder is there" : strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if ((st.st_uid != geteuid() || st.st_gid != group) && fchown(fd, geteuid(), group)) {
		say_to(stderr, "spoor setup: %s: cannot be given to user %lu and group %lu: %s\n", path,
		       (unsigned long)geteuid(), (unsigned long)group, strerror(errno));
	} else if ((st.st_mode & 07777) != mode && fchmod(fd, mode)) {
		say_to(stderr, "spoor setup: %s: mode %04o cannot be set: %s\n", path, (unsigned)mode, strerror(errno));
	} else {
		say("%s: %s, mode %04o%s\n", path, what, (unsigned)mode, made ? ", made" : "");
		close(fd);
		return 0;
	}
	close(fd);
	return -1;
}

/* The folders above it, as anybody would make them. */
static int setup_above(const char *path)
{
	char copy[PATH_MAX];

	if ((size_t)snprintf(copy, sizeof copy, "%s", path) >= sizeof copy)
		return -1;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST) {
			say_to(stderr, "spoor setup: %s: %s\n", copy, strerror(errno));
			return -1;
		}
		*slash = '/';
	}
	return 0;
}

/* Today, and so many days after it. */
static int setup_days(const char *archive, int64_t days, gid_t group)
{
	int64_t now = time(NULL);

	for (int64_t day = 0; day <= days; day++) {
		char path[PATH_MAX];
		struct error error = {""};
		if (day_folder_make(archive, now + day * 86400, group, DAY_FOLDER_AHEAD, path, sizeof path, &error)) {
			say_to(stderr, "spoor setup: %s\n", error.text);
			return -1;
		}
		if (day == 0 || day == days)
			say("%s: is there\n", path);
	}
	return 0;
}

/* What the policy says of folders. Returns 0, or -1 having said why not. */
static int setup_policy(const char *path, struct decision *d, gid_t *group)
{
	struct problems problems = {0};
	struct facts none = {0};

	struct policy *policy = policy_load(path, geteuid() == 0, &problems);
	if (!policy) {
		say_lines(stderr, problems.text ? problems.text : "out of memory\n");
		problems_clear(&problems);
		return -1;
	}
	policy_decide(policy, &none, d);
	policy_destroy(policy);
	const struct group *found = d->admin_group[0] ? getgrnam(d->admin_group) : NULL;
	if (d->admin_group[0] && !found) {
		say_to(stderr, "%s: \"admin_group\": there is no group %s\n", path, d->admin_group);
		return -1;
	}
	*group = found ? found->gr_gid : 0;
	return 0;
}

int cmd_setup(int argc, char **argv)
{
	const char *policy = archive_policy();
	char index[PATH_MAX];
	struct decision d;
	struct stat st;
	int64_t days = -1;
	gid_t group;
	const struct option_line lines[] = {
		OPTION_NUMBER(
			"days", 0, "N", &days, 0, 999,
			"only this: the folders of today and of the N days after it in the archive, 3773, in which "
			"users make their own. Where root of the nodes may not write the archive (root_squash), run "
			"this daily, on the file server or as the archive's owner"),
		OPTION_POLICY(&policy), OPTION_END};
	const struct options options = {
		"spoor setup",
		"",
		"Makes the folders that the policy names, with the owners and modes that they need. Run it as root on "
		"every node; the archive is made once. Owner and mode of existing folders are corrected, and their "
		"contents are kept. If another user owns the archive, that user makes its index.",
		"  archive          root, 0755    traces: folders of days, in them folders of users\n"
		"  archive/.index   root:GROUP, 2770   the index, for the policy's \"admin_group\"\n"
		"  spool            root, 0711    a folder for each step, its user's alone\n"
		"  log              root:GROUP, 0750   what was decided for each job on this node",
		lines,
		0,
		0,
		false};
	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	if (setup_policy(policy, &d, &group))
		return CMD_FAILED;
	umask(022);
	if (days >= 0)
		return setup_days(d.archive, days, group) ? CMD_FAILED : CMD_OK;
	snprintf(index, sizeof index, "%s/.index", d.archive);
	bool foreign = lstat(d.archive, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid != 0 && !(st.st_mode & 022);
	if (foreign && st.st_uid != geteuid())
		say("%s: archive, of user %lu, with whose rights days are made there; `spoor setup` by that user "
		    "makes the folder of its index\n",
		    d.archive, (unsigned long)st.st_uid);
	else if (foreign) /* all else is root's */
		return setup_folder(index, 02770, group, "index") ? CMD_FAILED : CMD_OK;
	int rv = !foreign && (setup_above(d.archive) || setup_folder(d.archive, 0755, 0, "archive") ||
	                      setup_folder(index, 02770, group, "index"))
	                 ? -1
	                 : 0;
	rv |= setup_above(d.spool) || setup_folder(d.spool, 0711, 0, "spool") ? -1 : 0;
	rv |= setup_above(NODE_LOG_FOLDER) || setup_folder(NODE_LOG_FOLDER, 0750, group, "log") ? -1 : 0;
	return rv ? CMD_FAILED : CMD_OK;
}

static void print_swept(const char *text)
{
	say("%s\n", text);
}

int cmd_sweep(int argc, char **argv)
{
	const char *policy = archive_policy(), *metrics = NULL;
	struct sweep s = {.helper = SPOOR_LIBEXECDIR "/spoor-helper",
	                  .seconds = SWEEP_SECONDS,
	                  .settled = SWEEP_SETTLED,
	                  .tell = print_swept};
	struct error error = {""};
	struct decision d;
	const struct option_line lines[] = {
		OPTION_FLAG("all", 0, &s.all, "try everything now, and what was given up"),
		OPTION_NUMBER("settled", 0, "SECONDS", &s.settled, 0, 99999999,
	                      "age from which an unchanged folder counts as left behind, if its step is not known to "
	                      "have ended "
	                      "(default 60)"),
		OPTION_POLICY(&policy),
		OPTION_TEXT("spool", 0, "DIR", &s.spool, "this spool; default: that of the policy"),
		OPTION_TEXT("archive", 0, "DIR", &s.archive, "this archive; default: that of the policy"),
		OPTION_TEXT("helper", 0, "FILE", &s.helper, "the program that delivers; default: the installed one"),
		OPTION_TEXT("openmetrics", 0, "FILE", &metrics, "write figures of the spool for Prometheus"),
		OPTION_END};
	const struct options options = {
		"spoor sweep",
		"",
		"Delivers the traces that earlier steps on this node had to keep in the spool. They kept them because "
		"the archive was not available or full, or because the node failed. A traced step that ends on the "
		"node "
		"does the same, at most every ten minutes. Run this hourly, as root. What cannot be delivered is tried "
		"again after a minute, and then at growing intervals. After days it is moved to SPOOL/.given-up.",
		NULL,
		lines,
		0,
		0,
		false};
	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	if (setup_policy(policy, &d, &s.group))
		return CMD_FAILED;
	s.limits = (struct limits){d.set.deliver_memory, (unsigned)d.set.deliver_cpu};
	s.user_limit = d.set.spool_user;
	s.spool = s.spool ? s.spool : d.spool;
	s.archive = s.archive ? s.archive : d.archive;
	int rv = sweep_open(&s, &error);
	if (rv == 0) {
		rv = sweep_all(&s, &error);
		sweep_close(&s);
	}
	if (rv == 0 && metrics)
		rv = sweep_metrics_write(metrics, &s, &error);
	if (rv < 0)
		say_to(stderr, "spoor: %s\n", error.text);
	say("%zu delivered, %zu kept, %zu given up, %zu of steps that run\n", s.delivered, s.kept, s.given_up,
	    s.running);
	return rv < 0 || s.kept || s.given_up ? CMD_FAILED : CMD_OK;
}
