/* SPDX-License-Identifier: BSD-3-Clause
 * doctor - `spoor doctor`: is spoor installed right, does Slurm load it, may it do what it has to?
 */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/day.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "deliver/journal.h"
#include "deliver/waiting.h"
#include "policy/policy.h"
#include "trace/base/number.h"

#define PATH_SIZE 4096

static unsigned bad, doubtful;

static void say(const char *verdict, const char *format, va_list ap)
{
	printf("%-6s", verdict);
	vprintf(format, ap);
	putchar('\n');
}

#define SPEAKER(name, verdict, counting)                                                 \
	static void name(const char *format, ...) __attribute__((format(printf, 1, 2))); \
	static void name(const char *format, ...)                                        \
	{                                                                                \
		va_list ap;                                                              \
		counting;                                                                \
		va_start(ap, format);                                                    \
		say(verdict, format, ap);                                                \
		va_end(ap);                                                              \
	}

SPEAKER(good, "good", (void)0)
SPEAKER(doubt, "doubt", doubtful++)
SPEAKER(wrong, "wrong", bad++)

/* --- what is installed --- */

/* Runs a command, its output in out (with a NUL). Returns its status as wait() gives it, or -1. */
static int capture(char *const argv[], const char *preload, char *out, size_t size)
{
	int ends[2];
	size_t n = 0;
	int status = -1;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	for (ssize_t got; pid > 0 && n + 1 < size && (got = read(ends[0], out + n, size - 1 - n)) > 0;)
		n += (size_t)got;
	out[n] = '\0';
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status;
}

static void check_tracer(void)
{
	static const char path[] = SPOOR_PKGLIBDIR "/libspoor-gate.so",
			  preload[] = SPOOR_PKGLIBDIR SPOOR_GATE_FOLDER "/libspoor-gate.so";
	char *const argv[] = {"true", NULL};
	char out[512];
	struct stat st;

	if (stat(path, &st)) {
		wrong("%s: the tracer is not there: %s; run `make install`", path, strerror(errno));
		return;
	}
	if (!(st.st_mode & S_IROTH))
		wrong("%s: users cannot read the tracer (mode %04o); chmod 755 it", path, (unsigned)st.st_mode & 07777);
	int status = capture(argv, preload, out, sizeof out);
	out[strcspn(out, "\n")] = '\0';
	if (status != 0 || out[0])
		wrong("%s: cannot be loaded into a process: %s", path, out);
	else
		good("%s: the tracer can be loaded", path);
}

static void check_helper(void)
{
	static const char path[] = SPOOR_LIBEXECDIR "/spoor-helper";
	struct stat st;

	if (stat(path, &st))
		wrong("%s: the helper is not there: %s; run `make install`", path, strerror(errno));
	else if (!(st.st_mode & S_IXOTH))
		wrong("%s: users cannot execute the helper (mode %04o); chmod 755 it", path,
		      (unsigned)st.st_mode & 07777);
	else
		good("%s: the helper is there", path);
}

/* The plugin fits one release of Slurm, and an optional one that does not fit is left out without a word. */
static void check_plugin_version(const char *path)
{
	char *const argv[] = {"sinfo", "--version", NULL};
	char out[256];

	void *plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	const unsigned *version = plugin ? dlsym(plugin, "plugin_version") : NULL;
	if (!version) {
		wrong("%s: is not a plugin: %s", path, dlerror());
		return;
	}
	unsigned major = *version >> 16 & 0xff, minor = *version >> 8 & 0xff, installed_major, installed_minor;
	int status = capture(argv, NULL, out, sizeof out);
	const char *number = strpbrk(out, "0123456789");
	if (status != 0 || !number || sscanf(number, "%u.%u", &installed_major, &installed_minor) != 2)
		doubt("%s: made for Slurm %u.%02u; `sinfo --version` does not say which is installed", path, major,
		      minor);
	else if (major != installed_major || minor != installed_minor)
		wrong("%s: made for Slurm %u.%02u, installed is %u.%02u: Slurm leaves it out; build spoor again", path,
		      major, minor, installed_major, installed_minor);
	else
		good("%s: the plugin is made for the Slurm that is installed (%u.%02u)", path, major, minor);
	dlclose(plugin);
}

/* --- Slurm's plugin stack --- */

struct stack {
	char plugin[PATH_SIZE]; /* of the line that loads it; empty: none does */
	char policy[PATH_SIZE];
	bool required;
};

static void read_stack(const char *path, int depth, struct stack *stack);

/* `include GLOB`, relative to the file that has it. */
static void include(const char *from, const char *pattern, int depth, struct stack *stack)
{
	char full[PATH_SIZE];
	const char *slash = strrchr(from, '/');
	glob_t found;

	snprintf(full, sizeof full, "%.*s%s", pattern[0] == '/' || !slash ? 0 : (int)(slash - from + 1), from, pattern);
	if (depth < 8 && glob(full, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			read_stack(found.gl_pathv[i], depth + 1, stack);
		globfree(&found);
	}
}

static void read_stack_line(const char *path, char *line, int depth, struct stack *stack)
{
	char *rest = line, *word = strtok_r(rest, " \t\n", &rest), *file = strtok_r(NULL, " \t\n", &rest);

	if (!word || word[0] == '#' || !file)
		return;
	if (!strcmp(word, "include")) {
		include(path, file, depth, stack);
		return;
	}
	const char *slash = strrchr(file, '/');
	if (strcmp(slash ? slash + 1 : file, "spoor.so"))
		return;
	snprintf(stack->plugin, sizeof stack->plugin, "%s%s", slash ? "" : SPOOR_PLUGINDIR "/", file);
	stack->required = !strcmp(word, "required");
	for (char *argument; (argument = strtok_r(NULL, " \t\n", &rest));) {
		if (!strncmp(argument, "policy=", 7))
			snprintf(stack->policy, sizeof stack->policy, "%s", argument + 7);
	}
}

static void read_stack(const char *path, int depth, struct stack *stack)
{
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (getline(&line, &size, file) >= 0)
		read_stack_line(path, line, depth, stack);
	free(line);
	fclose(file);
}

static const char *configuration(void)
{
	const char *path = getenv("SLURM_CONF");
	return path && *path ? path : "/etc/slurm/slurm.conf";
}

/* What slurm.conf says; value stays as it is if it does not. Returns -1 if there is no slurm.conf. */
static int find_setting(const char *key, char value[PATH_SIZE])
{
	char *line = NULL;
	size_t size = 0, n = strlen(key);
	FILE *file = fopen(configuration(), "re");

	if (!file)
		return -1;
	while (getline(&line, &size, file) >= 0) {
		const char *text = line + strspn(line, " \t");
		if (!strncasecmp(text, key, n) && text[n] == '=')
			snprintf(value, PATH_SIZE, "%.*s", (int)strcspn(text + n + 1, " \t\n#"), text + n + 1);
	}
	free(line);
	fclose(file);
	return 0;
}

/* The plugin stack's file: as slurm.conf says, or beside it. Returns 0, or -1 if there is no slurm.conf. */
static int find_stack(char out[PATH_SIZE])
{
	const char *path = configuration(), *slash = strrchr(path, '/');

	snprintf(out, PATH_SIZE, "%.*splugstack.conf", slash ? (int)(slash - path + 1) : 0, path);
	if (find_setting("PlugStackConfig", out) == 0)
		return 0;
	doubt("%s: Slurm's configuration cannot be read: %s; set SLURM_CONF", path, strerror(errno));
	return -1;
}

static void check_stack(struct stack *stack)
{
	char path[PATH_SIZE];

	if (find_stack(path))
		return;
	read_stack(path, 0, stack);
	if (!stack->plugin[0]) {
		wrong("%s: Slurm does not load spoor; add the line: optional %s/spoor.so", path, SPOOR_PLUGINDIR);
		return;
	}
	if (stack->required)
		doubt("%s: spoor is \"required\": after an upgrade of Slurm no job would start; make it \"optional\"",
		      path);
	else
		good("%s: Slurm loads spoor", path);
	check_plugin_version(stack->plugin);
}

/* --- policy and folders --- */

static void check_folder(const char *path, const char *what, unsigned need, bool roots)
{
	struct stat st;

	if (lstat(path, &st))
		doubt("%s: the %s is not there: %s; the first traced job makes it, if the folder above is there", path,
		      what, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		wrong("%s: the %s is not a folder (a symbolic link is none)", path, what);
	else if ((roots && st.st_uid != 0) || st.st_mode & 022)
		wrong("%s: the %s belongs to user %lu with mode %04o; chown root, and chmod go-w", path, what,
		      (unsigned long)st.st_uid, (unsigned)st.st_mode & 07777);
	else if ((st.st_mode & need) != need)
		wrong("%s: users cannot enter the %s (mode %04o); chmod %04o", path, what, (unsigned)st.st_mode & 07777,
		      ((unsigned)st.st_mode & 07777) | need);
	else
		good("%s: the %s is user %lu's alone to write", path, what, (unsigned long)st.st_uid);
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
	char day[DAY_SIZE], path[PATH_SIZE + 16];
	struct stat own, st;
	int64_t now = time(NULL);

	if (lstat(archive, &own) || geteuid() != 0)
		return;
	day_of(now, day);
	snprintf(path, sizeof path, "%s/%s", archive, day);
	int taken = find_taken(path);
	if (taken)
		doubt("%s: %d folders belong to somebody else than the user whose name they have; `find -user` says "
		      "who made them",
		      path, taken);
	bool writable = access(archive, W_OK) == 0;
	day_of(now + 86400, day);
	snprintf(path, sizeof path, "%s/%s", archive, day);
	if (writable || own.st_uid != 0)
		good("%s: the folders of days are made as they are needed, by user %lu", archive,
		     (unsigned long)own.st_uid);
	else if (lstat(path, &st))
		wrong("%s: root may not write the archive (root_squash?), and there is no folder for tomorrow; run "
		      "`spoor setup --days 30` daily, on the file server",
		      path);
	else
		good("%s: root may not write the archive, and days are made ahead", archive);
}

/* --- what is in the spool --- */

enum left { LEFT_RUNNING, LEFT_DELIVERED, LEFT_WAITING, LEFT_LOST };

/* Whether a folder's step runs, its traces are being delivered, wait for that (then tries and next say how often it
 * failed, and when it is tried again), or its node went down. */
static enum left look_at(int spool, const char *name, int64_t *tries, int64_t *next)
{
	struct facts facts = {0};
	struct stat st;
	enum left left = LEFT_LOST;

	*tries = *next = 0;
	int fd = openat(spool, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool locked = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0;
	int waiting = fd >= 0 && !fstat(fd, &st) ? waiting_open(spool) : -1,
	    user = waiting >= 0 ? waiting_open_user(waiting, st.st_uid) : -1;
	if (user >= 0 && waiting_load(user, name, &facts) == 0) {
		*tries = facts_number(&facts, WAITING_TRIES, 0);
		*next = facts_number(&facts, WAITING_NEXT, 0);
		bool busy = flock(user, LOCK_EX | LOCK_NB) != 0;
		left = locked || (busy && !*next) ? LEFT_DELIVERED : LEFT_WAITING;
	} else if (locked) {
		left = LEFT_RUNNING;
	}
	facts_clear(&facts);
	for (size_t i = 0; i < 3; i++) {
		int each = (int[]){user, waiting, fd}[i];
		if (each >= 0)
			close(each);
	}
	return left;
}

struct counts {
	int spool;
	size_t count[LEFT_LOST + 1];
};

static int each_step(void *context, const char *name)
{
	struct counts *all = context;
	int64_t tries, next;

	all->count[look_at(all->spool, name, &tries, &next)]++;
	return 0;
}

static int each_given_up(void *context, const char *name)
{
	(void)name;
	++*(size_t *)context;
	return 0;
}

static void count_spool(const char *path)
{
	struct counts all = {.spool = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
	size_t given_up = 0;

	if (all.spool < 0)
		return;
	waiting_each(all.spool, each_step, &all);
	size_t kept = all.count[LEFT_WAITING] + all.count[LEFT_LOST];
	if (kept)
		wrong("%s: %zu steps were not delivered to the archive (%zu are running); `spoor sweep` delivers them",
		      path, kept, all.count[LEFT_RUNNING]);
	else
		good("%s: nothing waits to be delivered; %zu steps are running, %zu are being delivered", path,
		     all.count[LEFT_RUNNING], all.count[LEFT_DELIVERED]);
	int fd = openat(all.spool, WAITING_GIVEN_UP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		waiting_each(fd, each_given_up, &given_up);
		close(fd);
	}
	if (given_up)
		wrong("%s/" WAITING_GIVEN_UP ": %zu steps could not be delivered for days; look at them, then `spoor "
		      "sweep --all`, or remove them",
		      path, given_up);
	close(all.spool);
}

/* What fills the one fills the other: then jobs cannot start. */
static void check_spool_disk(const char *spool)
{
	char slurm[PATH_SIZE] = "/var/spool/slurmd";
	struct stat a, b;

	find_setting("SlurmdSpoolDir", slurm);
	slurm[strcspn(slurm, "%")] = '\0'; /* it has the node's name in it: look at the folder above */
	char *slash = strrchr(slurm, '/');
	if (stat(slurm, &b) && slash && slash > slurm)
		*slash = '\0';
	if (stat(spool, &a) || stat(slurm, &b))
		return;
	if (a.st_dev == b.st_dev)
		doubt("%s: is on the same file system as Slurm's SlurmdSpoolDir (%s): jobs that fill the one fill the "
		      "other; give the spool a file system of its own",
		      spool, slurm);
	else
		good("%s: is on another file system than Slurm's SlurmdSpoolDir", spool);
}

/* Traces are parsed as nobody (archive/catalog.h): an index that lies where nobody can go is none. */
static void check_archive_readable(const char *archive)
{
	struct stat st, own;
	char path[PATH_SIZE + 16];

	snprintf(path, sizeof path, "%s/.index", archive);
	if (lstat(path, &st))
		doubt("%s: the site's index is not there; `spoor setup` makes its folder, and `spoor index` the index",
		      path);
	else if (!S_ISDIR(st.st_mode) || lstat(archive, &own) || st.st_uid != own.st_uid ||
	         (st.st_mode & 07777) != 02770)
		wrong("%s: must be a folder of the archive's owner with mode 2770; `spoor setup` sets it right", path);
	else
		good("%s: the site's index is there", path);
}

static void check_policy(const char *path)
{
	struct problems problems = {0};
	struct policy *policy = policy_load(path, true, &problems);
	struct facts none = {0};
	struct decision d;
	char mode[MODE_TEXT_SIZE];

	if (!policy) {
		wrong("%s: the policy is not good, no job is traced:", path);
		fputs(problems.text ? problems.text : "", stdout);
		problems_clear(&problems);
		return;
	}
	policy_decide(policy, &none, &d);
	good("%s: the policy is good: %zu rules; other jobs: %s", path, policy_rule_count(policy),
	     mode_format(&d.mode, mode));
	if (d.admin_group[0] && !getgrnam(d.admin_group))
		wrong("%s: \"admin_group\": there is no group %s", path, d.admin_group);
	check_folder(d.archive, "archive", 0011, false);
	check_days(d.archive);
	check_archive_readable(d.archive);
	check_folder(d.spool, "spool", 0011, true);
	check_spool_disk(d.spool);
	count_spool(d.spool);
	policy_destroy(policy);
}

static void check_journal(void)
{
	struct stat st;

	if (lstat(JOURNAL_FOLDER, &st))
		doubt("%s: the log of decisions is not there: %s; `spoor setup` makes it, or the next step",
		      JOURNAL_FOLDER, strerror(errno));
	else if (!S_ISDIR(st.st_mode) || st.st_uid != 0 || st.st_mode & 022)
		wrong("%s: must be a folder of root that nobody else can write; `spoor setup` sets it right",
		      JOURNAL_FOLDER);
	else
		good("%s: decisions are logged", JOURNAL_FOLDER);
}

/* --- one job --- */

static const char *value(const struct facts *facts, const char *name)
{
	const char *text = facts_get(facts, name);
	return text ? text : "?";
}

static void tell_line(void *context, const char *time, const struct facts *facts)
{
	const char *what = value(facts, "what"), *why = facts_get(facts, "why"), *where = facts_get(facts, "where");
	char text[256];
	(void)context;

	if (!strcmp(what, "captured"))
		snprintf(text, sizeof text, "is captured, mode %s", value(facts, "mode"));
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
		         "its trace could not be delivered for days, and is in the spool's folder " WAITING_GIVEN_UP);
	else if (!strcmp(what, "discarded"))
		snprintf(text, sizeof text, "its folder was too large to be kept, and was emptied");
	else if (!strcmp(what, "said"))
		snprintf(text, sizeof text, "while its traces were delivered");
	else if (!strcmp(what, "empty"))
		snprintf(text, sizeof text, "ended, and left nothing here");
	else
		snprintf(text, sizeof text, "%s", what);
	printf("      %s node %s, step %s, user %s: %s\n", time, value(facts, "node"), value(facts, "step"),
	       value(facts, "uid"), text);
	if (facts_get(facts, "rule") && (!strcmp(what, "captured") || !strcmp(what, "off")))
		printf("          decided by %s%s%s: %s\n", value(facts, "rule"), where ? ", " : "", where ? where : "",
		       value(facts, "reason"));
	if (why)
		printf("          %s\n", why);
}

static void find_in_spool(const char *spool, const char *job)
{
	size_t n = strlen(job);
	DIR *dir = opendir(spool);

	if (!dir) {
		doubt("%s: the spool cannot be listed: %s%s", spool, strerror(errno),
		      geteuid() ? "; ask again as root" : "");
		return;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		int64_t tries, next;
		if (strncmp(e->d_name, job, n) || e->d_name[n] != '.')
			continue;
		switch (look_at(dirfd(dir), e->d_name, &tries, &next)) {
		case LEFT_RUNNING:
			good("%s/%s: its step is running", spool, e->d_name);
			break;
		case LEFT_DELIVERED:
			good("%s/%s: is being delivered", spool, e->d_name);
			break;
		case LEFT_WAITING:
			if (tries == 0)
				wrong("%s/%s: is kept; `spoor sweep` delivers it", spool, e->d_name);
			else
				wrong("%s/%s: is kept; tried %lld times without success, again in %lld s; `spoor sweep "
				      "--all` tries it now",
				      spool, e->d_name, (long long)tries,
				      (long long)(next > (int64_t)time(NULL) ? next - (int64_t)time(NULL) : 0));
			break;
		case LEFT_LOST:
			wrong("%s/%s: is kept; the node went down before its step ended; `spoor sweep` delivers it",
			      spool, e->d_name);
			break;
		}
	}
	closedir(dir);
}

struct search {
	const char *job;
	size_t found;
};

/* Names only: what is in the files is not for root to read. */
static int find_in_folder(void *context, const char *path, const char *folder)
{
	struct search *s = context;
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
		good("%s/%s: is there, %lld bytes, of user %lu", path, e->d_name, (long long)st.st_size,
		     (unsigned long)st.st_uid);
		s->found++;
	}
	if (dir)
		closedir(dir);
	return 0;
}

static int explain_job(const char *job, const char *policy_path)
{
	struct search search = {.job = job};
	struct problems problems = {0};
	struct facts none = {0};
	struct error error = {""};
	struct decision d;

	policy_default_decision(&d);
	struct policy *policy = policy_load(policy_path, geteuid() == 0, &problems);
	if (policy)
		policy_decide(policy, &none, &d);
	else
		wrong("%s: the policy is not good now; looking where it would be without one", policy_path);
	policy_destroy(policy);
	problems_clear(&problems);
	printf("job %s, as %s/node.log has it:\n", job, JOURNAL_FOLDER);
	int n = journal_read(JOURNAL_FOLDER, strtoll(job, NULL, 10), tell_line, NULL);
	if (n < 0)
		doubt("%s: cannot be read: %s; ask again as root, or as one of the admin group", JOURNAL_FOLDER,
		      strerror(errno));
	else if (n == 0)
		doubt("job %s: no step of it was begun on this node with spoor loaded, or the log goes not so far "
		      "back; ask on its nodes",
		      job);
	find_in_spool(d.spool, job);
	fflush(stdout); /* an archive may hang */
	if (archive_folders(d.archive, 0, find_in_folder, &search, &error) < 0)
		doubt("%s", error.text);
	else if (search.found == 0)
		doubt("%s: there is no trace of job %s in the archive", d.archive, job);
	return bad || search.found == 0 ? CMD_FAILED : CMD_OK;
}

int cmd_doctor(int argc, char **argv)
{
	struct stack stack = {.policy = SPOOR_SYSCONFDIR "/policy.json"};
	const struct option_line none[] = {OPTION_END};
	const struct options options = {
		"spoor doctor",
		"[JOB]",
		"Checks this node's installation: files, Slurm's plugin stack, policy, spool, archive and log. Prints "
	        "a "
		"line for each; the exit status is 1 if something must be done. Run it as root, on a compute node.",
		"With a job's number: says what was decided for each of its steps on this node\n"
		"and why, what became of their traces, and what of them is in the spool and in\n"
		"the archive.",
		none,
		0,
		1,
		false};

	int status;

	if (!options_read(&options, argc, argv, &status))
		return status;
	if (optind < argc) {
		uint64_t job;
		char path[PATH_SIZE];
		const char *own = getenv("SPOOR_POLICY");
		if (number_parse(argv[optind], UINT32_MAX, &job) != 0)
			return options_wrong("spoor doctor", "JOB: expected a job's number, found \"%s\"",
			                     argv[optind]);
		if (find_stack(path) == 0)
			read_stack(path, 0, &stack);
		return explain_job(argv[optind], own && *own ? own : stack.policy);
	}
	check_tracer();
	check_helper();
	check_stack(&stack);
	check_policy(stack.policy);
	check_journal();
	printf("%u wrong, %u in doubt\n", bad, doubtful);
	return bad ? CMD_FAILED : CMD_OK;
}
