/* SPDX-License-Identifier: BSD-3-Clause
 * setup - `spoor setup`: makes the folders of the policy with the owners and modes that they need; and `spoor sweep`, for those of the spool
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "policy/policy.h"
#include "spank/journal.h"
#include "spank/sweep.h"

static const char setup_usage[] =
	"Usage: spoor setup [--policy FILE]\n"
	"Makes the folders that the policy names, with the owners and modes that they need; as root, on every node (the archive once):\n\n"
	"  archive          root, 0755    traces, in folders of days: anybody can add, nobody can remove what is not theirs\n"
	"  archive/.index   root:GROUP, 2770   the index, for the policy's \"admin_group\"\n"
	"  spool            root, 0711    a folder for each step, its user's alone\n"
	"  log              root:GROUP, 0750   what was decided for which job on this node (spoor doctor JOB)\n\n"
	"A folder that is there already is set right; what is in it stays as it is.\n";

static const char sweep_usage[] =
	"Usage: spoor sweep [--policy FILE] [--spool DIR] [--archive DIR] [--helper FILE]\n"
	"Delivers the traces that earlier steps on this node had to keep in the spool, because the archive was away or full, or because\n"
	"the node went down. The next traced step that ends on the node does it, too; run this hourly, as root.\n";

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Makes the folder, or sets it right. The one above must be there, and safe. */
static int make_folder(const char *path, mode_t mode, gid_t group, const char *what)
{
	struct stat st;

	bool made = mkdir(path, mode & 0700) == 0;
	int fd = made || errno == EEXIST ? open(path, OPEN_FOLDER) : -1;
	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "spoor setup: %s: the %s cannot be made: %s\n", path, what,
		        errno == ENOTDIR || errno == ELOOP ? "something that is no folder is there" : strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (geteuid() == 0 && (st.st_uid != 0 || st.st_gid != group) && fchown(fd, 0, group)) {
		fprintf(stderr, "spoor setup: %s: cannot be given to root: %s\n", path, strerror(errno));
	} else if ((st.st_mode & 07777) != mode && fchmod(fd, mode)) {
		fprintf(stderr, "spoor setup: %s: mode %04o cannot be set: %s\n", path, (unsigned)mode, strerror(errno));
	} else {
		printf("%s: %s, mode %04o%s\n", path, what, (unsigned)mode, made ? ", made" : "");
		close(fd);
		return 0;
	}
	close(fd);
	return -1;
}

/* The folders above it, as anybody would make them. */
static int make_above(const char *path)
{
	char copy[4096];

	if ((size_t)snprintf(copy, sizeof copy, "%s", path) >= sizeof copy)
		return -1;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST) {
			fprintf(stderr, "spoor setup: %s: %s\n", copy, strerror(errno));
			return -1;
		}
		*slash = '/';
	}
	return 0;
}

/* What the policy says of folders. Returns 0, or -1 having said why not. */
static int read_policy(const char *path, struct decision *d, gid_t *group)
{
	struct problems problems = {0};
	struct facts none = {0};

	struct policy *policy = policy_load(path, geteuid() == 0, &problems);
	if (!policy) {
		fputs(problems.text ? problems.text : "out of memory\n", stderr);
		problems_clear(&problems);
		return -1;
	}
	policy_decide(policy, &none, d);
	policy_destroy(policy);
	const struct group *found = d->admin_group[0] ? getgrnam(d->admin_group) : NULL;
	if (d->admin_group[0] && !found) {
		fprintf(stderr, "%s: \"admin_group\": there is no group %s\n", path, d->admin_group);
		return -1;
	}
	*group = found ? found->gr_gid : 0;
	return 0;
}

static const char *default_policy(void)
{
	const char *policy = getenv("SPOOR_POLICY");
	return policy && *policy ? policy : SPOOR_SYSCONFDIR "/policy.json";
}

int cmd_setup(int argc, char **argv)
{
	static const struct option options[] = {{"policy", required_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const char *policy = default_policy();
	char index[DECISION_PATH_SIZE + 16];
	struct decision d;
	gid_t group;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'p') {
			policy = optarg;
		} else {
			fputs(setup_usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? CMD_OK : CMD_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "spoor setup: unexpected argument %s\n%s", argv[optind], setup_usage);
		return CMD_USAGE;
	}
	if (read_policy(policy, &d, &group))
		return CMD_FAILED;
	umask(022);
	snprintf(index, sizeof index, "%s/.index", d.archive);
	int rv = make_above(d.archive) || make_folder(d.archive, 0755, 0, "archive") || make_folder(index, 02770, group, "index") ? -1 : 0;
	rv |= make_above(d.spool) || make_folder(d.spool, 0711, 0, "spool") ? -1 : 0;
	rv |= make_above(JOURNAL_FOLDER) || make_folder(JOURNAL_FOLDER, 0750, group, "log") ? -1 : 0;
	return rv ? CMD_FAILED : CMD_OK;
}

static void tell(const char *text)
{
	puts(text);
}

int cmd_sweep(int argc, char **argv)
{
	static const struct option options[] = {{"policy", required_argument, NULL, 'p'}, {"spool", required_argument, NULL, 's'},
	                                        {"archive", required_argument, NULL, 'a'}, {"helper", required_argument, NULL, 'e'},
	                                        {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const char *policy = default_policy();
	struct sweep s = {.helper = SPOOR_LIBEXECDIR "/spoor-helper", .settled = SWEEP_SETTLED, .tell = tell};
	struct error error = {""};
	struct decision d;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'p') {
			policy = optarg;
		} else if (option == 's') {
			s.spool = optarg;
		} else if (option == 'a') {
			s.archive = optarg;
		} else if (option == 'e') {
			s.helper = optarg;
		} else {
			fputs(sweep_usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? CMD_OK : CMD_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "spoor sweep: unexpected argument %s\n%s", argv[optind], sweep_usage);
		return CMD_USAGE;
	}
	if (read_policy(policy, &d, &s.group))
		return CMD_FAILED;
	s.seconds = (unsigned)d.set.deadline;
	s.spool = s.spool ? s.spool : d.spool;
	s.archive = s.archive ? s.archive : d.archive;
	int rv = sweep_spool(&s, &error);
	if (rv)
		fprintf(stderr, "spoor: %s\n", error.text);
	printf("%zu delivered, %zu kept, %zu of steps that run\n", s.delivered, s.kept, s.running);
	return rv || s.kept ? CMD_FAILED : CMD_OK;
}
