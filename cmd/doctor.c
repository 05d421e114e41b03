/* SPDX-License-Identifier: BSD-3-Clause
 * doctor - `spoor doctor`: is spoor installed right, does Slurm load it, may it do what it has to?
 */
#include "cmd/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/day.h"
#include "archive/job_id.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/base/state_file.h"
#include "cmd/base/terminal.h"
#include "cmd/base/wrap.h"
#include "deliver/node_log.h"
#include "policy/policy.h"
#include "trace/base/crc32.h"
#include "trace/base/regular.h"

/* --- what is said --- */

#define LINE_MOST 8192
#define INDENT    6
#define HOOKS_AGE 7200 /* s: the timer runs them every five minutes */

unsigned doctor_said[WRONG + 1];
static enum { SAY_LINES, SAY_JSON, SAY_ONE } say_as;
static json_t *said_all;                 /* of SAY_JSON */
static char said_first[WRONG + 1][1024]; /* of SAY_ONE */
static int say_fd = -1;
_Static_assert((int)GOOD == MARK_GOOD && (int)WRONG == MARK_BAD, "marks of findings");
static const char *const finding_names[] = {"good", "doubt", "wrong"};

void doctor_say_to(int fd)
{
	say_fd = fd;
}

void doctor_say(enum finding finding, const char *format, ...)
{
	char text[LINE_MOST];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text - 2, format, ap);
	va_end(ap);
	if (say_fd >= 0) { /* one write of at most PIPE_BUF bytes is whole */
		dprintf(say_fd, "%c%.4000s\n", "012"[finding], text);
		return;
	}
	if (doctor_said[finding]++ == 0)
		snprintf(said_first[finding], sizeof said_first[finding], "%.1000s", text);
	if (say_as == SAY_LINES) {
		terminal_print_mark(stdout, (enum mark)finding);
		say("%-*s", INDENT, finding_names[finding]);
		terminal_print_mark(stdout, MARK_END);
		wrap_print(text, INDENT, (size_t)terminal_width());
		fflush(stdout); /* what comes next may hang */
	} else if (say_as == SAY_JSON) {
		json_array_append_new(said_all, json_pack("{s:s, s:o}", "finding", finding_names[finding], "text",
		                                          json_stringn_nocheck(text, strlen(text))));
	}
}

void doctor_print(const char *format, ...)
{
	char lines[LINE_MOST];
	va_list ap;

	va_start(ap, format);
	vsnprintf(lines, sizeof lines, format, ap);
	va_end(ap);
	for (char *rest = lines, *line; (line = strsep(&rest, "\n")) && (*line || rest);) {
		size_t indent = strspn(line, " ");
		say("%*s", (int)indent, "");
		wrap_print(line + indent, indent ? indent : INDENT, (size_t)terminal_width());
	}
}

int doctor_hear(int fd, unsigned seconds)
{
	char text[LINE_MOST];
	size_t n = 0;
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	while (poll(&poll_fd, 1, (int)seconds * 1000) > 0) {
		ssize_t got = read(fd, text + n, sizeof text - 1 - n);
		if (got <= 0)
			return 0;
		n += (size_t)got;
		for (char *end; (end = memchr(text, '\n', n));) {
			*end = '\0';
			doctor_say(text[0] >= '0' && text[0] <= '2' ? (enum finding)(text[0] - '0') : DOUBT, "%s",
			           text + 1);
			n -= (size_t)(end + 1 - text);
			memmove(text, end + 1, n);
		}
		if (n == sizeof text - 1)
			n = 0;
	}
	return -1;
}

/* The last words. Nagios and its like know the exit status of --quiet. */
static int say_sum(const char *policy_digest)
{
	static const char *const states[] = {"OK", "WARNING", "CRITICAL"};
	enum finding worst = doctor_said[WRONG] ? WRONG : doctor_said[DOUBT] ? DOUBT : GOOD;

	if (say_as == SAY_ONE) {
		say("SPOOR %s: %u wrong, %u in doubt, policy %s%s%s\n", states[worst], doctor_said[WRONG],
		    doctor_said[DOUBT], policy_digest, worst == GOOD ? "" : "; ",
		    worst == GOOD ? "" : said_first[worst]);
		return worst;
	}
	if (say_as == SAY_JSON) {
		json_t *all = json_pack("{s:i, s:i, s:s, s:o}", "wrong", (int)doctor_said[WRONG], "doubt",
		                        (int)doctor_said[DOUBT], "policy_digest", policy_digest, "findings", said_all);
		json_print(stdout, all, JSON_INDENT(1));
		say("\n");
		json_decref(all);
	} else {
		say("%u wrong, %u in doubt\n", doctor_said[WRONG], doctor_said[DOUBT]);
	}
	return doctor_said[WRONG] ? CMD_FAILED : CMD_OK;
}

/* --- policy and folders --- */

static void say_missing(const char *path, const char *what)
{
	char above[PATH_MAX];
	int why = errno;

	snprintf(above, sizeof above, "%s", path);
	if (why == ENOENT && access(dirname(above), F_OK))
		doctor_say(WRONG,
		           "%s: neither the %s nor the folder above it is there; mount it, or run `spoor setup`, "
		           "which makes both",
		           path, what);
	else
		doctor_say(DOUBT, "%s: the %s is not there: %s; the first traced job makes it", path, what,
		           strerror(why));
}

static void check_folder(const char *path, const char *what, unsigned need, bool roots)
{
	struct stat st;

	if (lstat(path, &st))
		say_missing(path, what);
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
	char day[DAY_SIZE], path[PLUGSTACK_PATH + 16];
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
	char path[PLUGSTACK_PATH + 16];

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

/* Of the policy and its fragments, so that those of two nodes can be compared. */
static void digest_policy(const char *path, char digest[9])
{
	char pattern[PLUGSTACK_PATH];
	size_t n = strlen(path), used = 0;
	char *bytes = malloc(POLICY_SIZE_MAX);
	glob_t found = {0};

	snprintf(pattern, sizeof pattern, "%.*s.d/*.json", (int)(regular_name_is(path, "", ".json") ? n - 5 : n), path);
	glob(pattern, 0, NULL, &found);
	for (size_t i = 0; bytes && i <= found.gl_pathc; i++) {
		FILE *file = fopen(i < found.gl_pathc ? found.gl_pathv[i] : path, "re");
		if (file) {
			used += fread(bytes + used, 1, POLICY_SIZE_MAX - used, file);
			fclose(file);
		}
	}
	snprintf(digest, 9, "%08" PRIx32, crc32_of(bytes, used));
	free(bytes);
	globfree(&found);
}

/* Hooks run on one host: the one that has their state file. */
static void check_hooks(const struct policy *policy)
{
	int64_t written = state_file_written("hooks");

	if (policy_hook_count(policy) == 0 || written < 0)
		return;
	if (time(NULL) - written > HOOKS_AGE)
		doctor_say(WRONG,
		           "the policy's hooks were last run %lld hours ago: see `systemctl status spoor-hooks.timer "
		           "spoor-hooks.service`",
		           (long long)(time(NULL) - written) / 3600);
	else
		doctor_say(GOOD, "the policy's hooks are run on this host");
}

/* Returns false if there is none to go by. */
static bool check_policy(const char *path, struct decision *d)
{
	struct problems problems = {0};
	struct policy *policy = policy_load(path, true, &problems);
	struct facts none = {0};
	char mode[MODE_TEXT_SIZE];

	if (!policy) {
		doctor_say(WRONG, "%s: the policy is not good, no job is traced:\n%s", path,
		           problems.text ? problems.text : "");
		problems_clear(&problems);
		return false;
	}
	policy_decide(policy, &none, d);
	doctor_say(GOOD, "%s: the policy is good: %zu rules; other jobs: %s", path, policy_rule_count(policy),
	           mode_format(&d->mode, mode));
	check_hooks(policy);
	policy_destroy(policy);
	return true;
}

/* Can what is there take a trace? */
static void check_room(const char *path, const char *what, uint64_t least)
{
	struct statvfs fs;

	if (statvfs(path, &fs))
		return; /* what is not there is said elsewhere */
	uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (fs.f_files && !fs.f_favail)
		doctor_say(WRONG, "%s: the file system of the %s is full: it has no inodes left", path, what);
	else if (room < least || room == 0)
		doctor_say(WRONG, "%s: the file system of the %s is full: %" PRIu64 " MiB left for users%s", path, what,
		           room >> 20, least ? "; the policy's \"spool_reserve\" is more, so no job is traced" : "");
	else
		doctor_say(GOOD, "%s: the file system of the %s has %" PRIu64 " MiB left", path, what, room >> 20);
}

static void check_folders(const struct decision *d)
{
	if (d->admin_group[0] && !getgrnam(d->admin_group))
		doctor_say(WRONG, "\"admin_group\": there is no group %s", d->admin_group);
	check_folder(d->archive, "archive", 0011, false);
	check_days(d->archive);
	check_archive_readable(d->archive);
	check_room(d->archive, "archive", 0);
	check_folder(d->spool, "spool", 0011, true);
	check_room(d->spool, "spool", d->set.spool_reserve);
	doctor_spool_disk(d->spool);
	doctor_spool(d->spool);
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

/* One job's, by what Slurm calls it: the log has the number of a job, which each task of an array has of its own. */
static int doctor_named(const char *text)
{
	struct job_id id;

	if (job_id_parse(&id, text) != 0)
		return options_wrong("spoor doctor", "JOB: expected a job's number, found \"%s\"", text);
	if (id.task >= 0)
		return options_wrong("spoor doctor",
		                     "JOB: expected the number of one job; `sacct -j %s --format=JobIDRaw` says it",
		                     text);
	return doctor_job((uint64_t)(id.job + (id.component > 0 ? id.component : 0)), archive_policy());
}

static int check_all(const char *user, bool test, const struct doctor_test *how)
{
	struct plugstack stack;
	struct decision d;
	char digest[9];

	if (plugstack_read(&stack))
		stack.file[0] = '\0';
	const char *policy = stack.policy[0] ? stack.policy : SPOOR_SYSCONFDIR "/policy.json";
	digest_policy(policy, digest);
	doctor_tracer();
	doctor_helper();
	doctor_slurm(&stack);
	policy_default_decision(&d);
	if (check_policy(policy, &d)) {
		check_folders(&d);
		doctor_try(user, policy, &d);
	}
	check_node_log();
	if (test)
		doctor_test(how, policy, &d);
	return say_sum(digest);
}

int cmd_doctor(int argc, char **argv)
{
	bool json = false, quiet = false, test = false;
	struct doctor_test how = {.program = NULL};
	const struct option_line lines[] = {
		OPTION_TEXT("user", 'u', "USER", &how.user,
	                    "do what jobs do as this user, not as nobody; only root can"),
		OPTION_FLAG("test", 0, &test, "send a job of two ranks through Slurm, and follow its trace"),
		OPTION_TEXT("program", 0, "COMMAND", &how.program,
	                    "with --test: an MPI program; default: spoor's own for Open MPI, or for MPICH"),
		OPTION_NUMBER("nodes", 'N', "N", &how.nodes, 1, 1000000,
	                      "with --test: on so many nodes, whose policies are compared; default: 1 or 2"),
		OPTION_FLAG("json", 0, &json, "print one JSON object"),
		OPTION_FLAG("quiet", 'q', &quiet, "print one line; the exit status is 0, 1 (in doubt), or 2 (wrong)"),
		OPTION_END};
	const struct options options = {
		"spoor doctor",
		"[JOB]",
		"Checks this node's installation: files, Slurm's plugin stack, policy, spool, archive and log. As root "
		"it also does as another user what jobs do. Prints a line for each; the exit status is 1 if something "
		"must be done. Run it as root, on a compute node.",
		"With a job's number: says what was decided for its steps on this node, and why. Then\n"
		"it says what became of their traces, and which of them are in the spool and in the\n"
		"archive. Users get what the policy says of their job.",
		lines,
		0,
		1,
		false};
	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	if (json && quiet)
		return options_wrong("spoor doctor", "either --json or --quiet");
	say_as = json ? SAY_JSON : quiet ? SAY_ONE : SAY_LINES;
	if (optind < argc && (json || quiet || test || how.user))
		return options_wrong("spoor doctor", "a job's number has no other options");
	if (optind < argc)
		return doctor_named(argv[optind]);
	said_all = json_array();
	return check_all(how.user, test, &how);
}
