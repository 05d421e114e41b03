/* SPDX-License-Identifier: BSD-3-Clause
 * decide - spoor-helper decide: the facts of a step in, a decision out
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/policy.h"
#include "spank/folder.h"
#include "spank/config.h"
#include "spank/helper.h"
#include "spank/process.h"

#define GROUPS_MAX 1024

static size_t user_groups(const char *user, gid_t gid, gid_t groups[GROUPS_MAX])
{
	int n = GROUPS_MAX;
	if (user && getgrouplist(user, gid, groups, &n) >= 0)
		return (size_t)n;
	groups[0] = gid;
	return 1;
}

/* The names behind the numbers. Sites may have users that only the nodes' directory service knows, or not at all. */
static size_t name_user(struct facts *facts, uid_t uid, gid_t gid, bool name_groups, gid_t groups[GROUPS_MAX])
{
	const struct passwd *pw = getpwuid(uid);
	char names[FACT_VALUE_MAX] = "";
	size_t used = 0;

	if (pw)
		facts_set(facts, "user", pw->pw_name);
	else
		facts_format(facts, "user", "%lu", (unsigned long)uid);
	size_t n = user_groups(pw ? facts_get(facts, "user") : NULL, gid, groups);
	for (size_t i = 0; i < n && name_groups; i++) {
		const struct group *gr = getgrgid(groups[i]);
		if (gr && used + strlen(gr->gr_name) + 2 < sizeof names)
			used += (size_t)sprintf(names + used, "%s%s", used ? "," : "", gr->gr_name);
	}
	if (used)
		facts_set(facts, "groups", names);
	return n;
}

/* Newer Slurms say when a job began and has to end. Of others its controller is asked, but only if a rule wants to know: that is a
 * question from each node for each step. */
static void ask_controller(struct facts *facts)
{
	char command[64], line[8192];
	const char *conf = facts_get(facts, "slurm_conf");
	const char *wanted = " TimeLimit=";

	if (conf)
		setenv("SLURM_CONF", conf, 1);
	snprintf(command, sizeof command, "scontrol --oneliner show job %" PRId64 " 2>&1", facts_number(facts, "job", 0));
	FILE *answer = popen(command, "re");
	size_t n = answer ? fread(line, 1, sizeof line - 1, answer) : 0;
	line[n] = '\0';
	if (answer)
		pclose(answer);
	char *value = strstr(line, wanted);
	if (value)
		facts_format(facts, "time_limit", "%.*s", (int)strcspn(value + strlen(wanted), " \n"), value + strlen(wanted));
	else
		fprintf(stderr, "the time limit is not known: %.*s\n", (int)strcspn(line, "\n"), line);
}

static void add_times(struct facts *facts, const struct policy *policy)
{
	static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
	int64_t start = facts_number(facts, "job_start", -1), end = facts_number(facts, "job_end", -1);
	time_t when = start > 0 ? (time_t)start : time(NULL);
	struct tm tm;

	if (localtime_r(&when, &tm)) {
		facts_format(facts, "time", "%02d:%02d", tm.tm_hour, tm.tm_min);
		facts_set(facts, "weekday", days[tm.tm_wday]);
	}
	if (start > 0 && end >= start)
		facts_format(facts, "time_limit", "%" PRId64, (end - start + 59) / 60);
	else if (policy_uses(policy, "time_limit"))
		ask_controller(facts);
	/* What Slurm does not name, a job does not have. */
	if (!facts_get(facts, "reservation"))
		facts_set(facts, "reservation", "");
	if (!facts_get(facts, "container"))
		facts_set(facts, "container", "");
}

/* Is it a shared library that programs of this helper's kind can load? The dynamic loader would tell the user if not. Returns 0, or -1 having
 * said why. */
static int check_library(const char *path)
{
	ElfW(Ehdr) own = {0}, library = {0};
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = open(path, O_RDONLY | O_CLOEXEC);
	bool read_self = self >= 0 && pread(self, &own, sizeof own, 0) == sizeof own;
	bool read_library = fd >= 0 && pread(fd, &library, sizeof library, 0) == sizeof library;

	if (self >= 0)
		close(self);
	if (fd >= 0)
		close(fd);
	if (read_self && (!read_library || memcmp(library.e_ident, ELFMAG, SELFMAG) || library.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
	                  library.e_machine != own.e_machine || library.e_type != ET_DYN)) {
		fprintf(stderr, "%s: the tracer is no library for this machine\n", path);
		return -1;
	}
	return 0;
}

/* As the user, for good. Returns 0, or -1 having said why. */
static int check_preload(const char *preload, uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	if (geteuid() == 0 && (setgroups(n, groups) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))) {
		fprintf(stderr, "could not become user %lu: %s\n", (unsigned long)uid, strerror(errno));
		return -1;
	}
	char path[4096];

	config_plain_path(preload, path, sizeof path);
	if (access(path, R_OK)) {
		fprintf(stderr, "%s: user %lu cannot read the tracer: %s\n", path, (unsigned long)uid, strerror(errno));
		return -1;
	}
	return check_library(path);
}

/* The same in a child, which becomes the user. */
static int try_preload(const char *preload, uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(check_preload(preload, uid, gid, groups, n) ? 1 : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "no process: %s\n", strerror(errno));
		return -1;
	}
	return status ? -1 : 0;
}

/* The step's folder; its path becomes a fact. Returns 0, or -1 having said why. */
static int make_folder(struct facts *facts, const struct decision *d, uid_t uid, gid_t gid)
{
	const char *name = facts_get(facts, "step_folder");
	uint64_t ranks = (uint64_t)facts_number(facts, "local_tasks", 1);
	struct error error = {""};
	char path[DECISION_PATH_SIZE + 300];

	if (!name)
		return 0;
	if (!*name || name[0] == '.' || strchr(name, '/')) {
		fputs("stdin: step_folder is no name\n", stderr);
		return -1;
	}
	int fd = folder_make_step(d->spool, name, uid, gid, path, sizeof path, &error);
	if (fd >= 0 && folder_check_room(fd, d->spool, d->set.spool_reserve + ranks * d->set.memory, &error)) {
		folder_remove_step(fd, path);
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	close(fd);
	facts_set(facts, "folder", path);
	return 0;
}

/* The decision, and the folder. */
static int answer(const struct decision *d, const struct facts *facts)
{
	struct facts folder = {0};
	char *text = decision_encode(d);

	facts_set(&folder, "folder", facts_get(facts, "folder"));
	char *more = facts_encode(&folder);
	int rv = text && more && printf("%s%s", text, more) >= 0 && fflush(stdout) == 0 ? 0 : -1;
	if (rv)
		fputs("no memory for an answer, or nobody who listens\n", stderr);
	free(text);
	free(more);
	facts_clear(&folder);
	return rv;
}

int helper_day(struct facts *facts)
{
	const char *archive = facts_get(facts, "archive");
	struct error error = {""};
	char path[DECISION_PATH_SIZE + 32];

	if (!archive || archive[0] != '/') {
		fputs("stdin: archive is missing\n", stderr);
		return -1;
	}
	if (folder_make_day(archive, facts_number(facts, "when", 0), (gid_t)facts_number(facts, "group", 0), (uid_t)facts_number(facts, "uid", FOLDER_AHEAD), path,
	                    sizeof path, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	return fputs(PROCESS_DONE, stdout) < 0 || fflush(stdout) ? -1 : 0;
}

int helper_decide(struct facts *facts, const char *path, const char *preload)
{
	static gid_t groups[GROUPS_MAX];
	struct problems problems = {0};
	static struct decision decision;

	int64_t uid = facts_number(facts, "uid", -1), gid = facts_number(facts, "gid", -1);
	if (uid < 0 || gid < 0 || uid >= UINT32_MAX || gid >= UINT32_MAX) {
		fputs("stdin: uid and gid are missing\n", stderr);
		return -1;
	}
	struct policy *policy = policy_load_cached(path, geteuid() == 0, SPOOR_LOCALSTATEDIR "/cache/spoor", &problems);
	if (!policy) {
		const char *text = problems.text ? problems.text : "no memory";
		/* The whole list is for `spoor policy check`; a log of every job's every step is no place for it. */
		fprintf(stderr, "%.*s", (int)strcspn(text, "\n"), text);
		if (problems.count > 1)
			fprintf(stderr, " (and %zu more problems)", problems.count - 1);
		fputc('\n', stderr);
		problems_clear(&problems);
		return -1;
	}
	size_t n = name_user(facts, (uid_t)uid, (gid_t)gid, policy_uses(policy, "groups"), groups);
	add_times(facts, policy);
	policy_decide(policy, facts, &decision);
	policy_destroy(policy);
	bool off = decision.mode.kind == MODE_OFF && !decision.alternatives[0];
	if (!off && try_preload(preload, (uid_t)uid, (gid_t)gid, groups, n))
		return -1;
	if (!off && make_folder(facts, &decision, (uid_t)uid, (gid_t)gid))
		return -1;
	return answer(&decision, facts);
}
