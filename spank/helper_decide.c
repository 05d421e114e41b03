/* SPDX-License-Identifier: BSD-3-Clause
 * helper_decide - spoor-helper decide: the facts of a step in, a decision out
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "deliver/controller.h"
#include "deliver/day_folder.h"
#include "process/process.h"
#include "deliver/spool.h"
#include "deliver/helper.h"
#include "deliver/queue.h"
#include "deliver/usage.h"
#include "policy/policy.h"
#include "spank/config.h"
#include "spank/handoff.h"
#include "spank/papi_trial.h"
#include "spank/topology.h"

#define GROUPS_MAX  1024
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static size_t user_groups(const char *user, gid_t gid, gid_t groups[GROUPS_MAX])
{
	int n = GROUPS_MAX;
	if (user && getgrouplist(user, gid, groups, &n) >= 0)
		return (size_t)n;
	groups[0] = gid;
	return 1;
}

/* The names behind the numbers. Sites may have users that only the nodes' directory service knows, or not at all. */
static size_t name_user_and_groups(struct facts *facts, uid_t uid, gid_t gid, bool name_groups,
                                   gid_t groups[GROUPS_MAX])
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

/* Newer Slurms say when a job began and has to end. Of others its controller is asked, but only if a rule wants to
 * know: that is a question from each node for each step. */
static void ask_controller(struct facts *facts)
{
	struct error error = {""};

	if (controller_identify(facts, &error))
		fprintf(stderr, "the time limit is not known: %s\n", error.text);
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
	if (facts_get(facts, "time_limit")) {
		/* slurmctld has said it already (deliver/claims.h) */
	} else if (start > 0 && end >= start)
		facts_format(facts, "time_limit", "%" PRId64, (end - start + 59) / 60);
	else if (policy_uses(policy, "time_limit"))
		ask_controller(facts);
	/* What Slurm does not name, a job does not have. */
	if (!facts_get(facts, "reservation"))
		facts_set(facts, "reservation", "");
	if (!facts_get(facts, "container"))
		facts_set(facts, "container", "");
}

/* What is asked in a child that becomes the user, for good. */
struct questions {
	char preload[PATH_MAX]; /* the path of the gate */
	ElfW(Ehdr) own;         /* of this helper, which users cannot read */
	int spool_fd, given_up_fd;
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t group_count;
	const struct decision *decision;
};

struct answers {
	struct usage usage;
	char papi[HANDOFF_PAPI_SIZE]; /* as spank/papi_trial.h says it */
};

static bool read_header(const char *path, ElfW(Ehdr) * header)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && pread(fd, header, sizeof *header, 0) == sizeof *header;

	if (fd >= 0)
		close(fd);
	return done;
}

/* Is the tracer a shared library that programs of this helper's kind can load? The dynamic loader would tell the user
 * if not. Returns 0, or -1 having said why. */
static int check_library(const struct questions *q)
{
	const ElfW(Ehdr) *own = &q->own;
	ElfW(Ehdr) library;

	if (!own->e_ident[0])
		return 0;
	if (!read_header(q->preload, &library) || memcmp(library.e_ident, ELFMAG, SELFMAG) ||
	    library.e_ident[EI_CLASS] != own->e_ident[EI_CLASS] || library.e_machine != own->e_machine ||
	    library.e_type != ET_DYN) {
		fprintf(stderr, "%s: the tracer is no library for this machine\n", q->preload);
		return -1;
	}
	return 0;
}

/* Of each list of events that may be counted, until it is known that PAPI is not to be asked. */
static void try_papi(const struct decision *d, char *papi, size_t size)
{
	static struct handoff h; /* it is large */
	static char text[sizeof d->alternatives + 16], tried[SETTING_TEXT_SIZE], said[HANDOFF_PAPI_SIZE];

	snprintf(tried, sizeof tried, "%s", d->set.counters);
	papi_trial(tried, papi, size);
	if (!d->alternatives[0])
		return;
	snprintf(text, sizeof text, "1;mode=off;%s", d->alternatives);
	if (handoff_decode(&h, text, NULL))
		return;
	for (int i = 0; papi[0] != '!' && handoff_take(&h, i) == 0; i++) {
		if (!strcmp(h.set.counters, tried))
			continue;
		snprintf(tried, sizeof tried, "%s", h.set.counters);
		papi_trial(tried, said, sizeof said);
		if (said[0])
			snprintf(papi, size, "%s", said);
	}
}

/* As the user. Returns 0, or -1 having said why. */
static int answer_as_user(const struct questions *q, struct answers *a)
{
	const struct identity user = {.uid = q->uid, .gid = q->gid, .groups = q->groups, .group_count = q->group_count};
	struct error error = {""};

	if (identity_become(&user, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	if (access(q->preload, R_OK)) {
		fprintf(stderr, "%s: user %lu cannot read the tracer: %s\n", q->preload, (unsigned long)q->uid,
		        strerror(errno));
		return -1;
	}
	if (q->spool_fd >= 0)
		usage_add_all(&a->usage, q->spool_fd, q->uid);
	if (q->given_up_fd >= 0)
		usage_add_all(&a->usage, q->given_up_fd, q->uid);
	try_papi(q->decision, a->papi, sizeof a->papi);
	return check_library(q);
}

/* Asks them. Returns 0 with the answers filled, or -1 having said why. */
static int ask_as_user(const struct questions *q, struct answers *a)
{
	int ends[2], status = 0;

	if (pipe2(ends, O_CLOEXEC)) {
		fprintf(stderr, "no pipe: %s\n", strerror(errno));
		return -1;
	}
	pid_t pid = process_child();
	if (pid == 0)
		_exit(answer_as_user(q, a) || write(ends[1], a, sizeof *a) != sizeof *a);
	close(ends[1]);
	bool told = pid > 0 && read(ends[0], a, sizeof *a) == sizeof *a;
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "no process: %s\n", strerror(errno));
		return -1;
	}
	return status || !told ? -1 : 0;
}

/* Somebody whose traces wait in the spool, or who has put other things there, leaves room for others. Returns 0, or -1
 * having said why not. */
static int check_share(const struct decision *d, const struct usage *u, uint64_t need, int spool_fd)
{
	uint64_t most = d->set.spool_user, left = spool_room(spool_fd);

	if (!u->more && (most ? u->bytes + need <= most : u->bytes <= left))
		return 0;
	if (most)
		fprintf(stderr,
		        "%s: the user's folders hold %s%" PRIu64 " bytes, the step needs %" PRIu64
		        ", and \"spool_user\" is %" PRIu64 "\n",
		        d->spool, u->more ? "more than " : "", u->bytes, need, most);
	else
		fprintf(stderr,
		        "%s: the user's folders hold %s%" PRIu64 " bytes in %zu files, which is more than is left for "
		        "all others: `spoor doctor` says what waits\n",
		        d->spool, u->more ? "more than " : "", u->bytes, u->names);
	return -1;
}

/* What the ranks of the step may record. */
static uint64_t step_needs(const struct facts *facts, const struct decision *d)
{
	return (uint64_t)facts_number(facts, "local_tasks", 1) * d->set.memory;
}

/* What PAPI is, becomes a fact. Returns 0, or -1 having said why. */
static int check_user(struct facts *facts, const struct decision *d, struct questions *q)
{
	static struct answers a;

	q->spool_fd = facts_get(facts, "step_folder") ? open(d->spool, OPEN_FOLDER) : -1;
	q->given_up_fd = q->spool_fd >= 0 ? openat(q->spool_fd, QUEUE_GIVEN_UP, OPEN_FOLDER) : -1;
	if (!read_header("/proc/self/exe", &q->own))
		q->own.e_ident[0] = 0;
	int rv = ask_as_user(q, &a);
	if (!rv && q->spool_fd >= 0)
		rv = check_share(d, &a.usage, step_needs(facts, d), q->spool_fd);
	a.papi[sizeof a.papi - 1] = '\0';
	facts_set(facts, "papi", rv || !a.papi[0] ? NULL : a.papi);
	if (q->given_up_fd >= 0)
		close(q->given_up_fd);
	if (q->spool_fd >= 0)
		close(q->spool_fd);
	return rv;
}

/* The step's folder; its path becomes a fact. Returns 0, or -1 having said why. */
static int make_step_folder(struct facts *facts, const struct decision *d, uid_t uid, gid_t gid)
{
	const char *name = facts_get(facts, "step_folder");
	struct error error = {""};
	char path[PATH_MAX];

	if (!name)
		return 0;
	if (!*name || name[0] == '.' || strchr(name, '/')) {
		fputs("stdin: step_folder is no name\n", stderr);
		return -1;
	}
	int fd = spool_make_step(d->spool, name, uid, gid, path, sizeof path, &error);
	if (fd >= 0 && spool_check_room(fd, d->spool, d->set.spool_reserve + step_needs(facts, d), &error)) {
		spool_remove_step(fd, path);
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

/* The first facts, which came from stdin, as who has to ask Slurm of the step wants them (deliver/claims.h). */
static void copy_begun(struct facts *noted, const struct facts *facts, size_t came)
{
	for (size_t i = 0; i < came; i++) {
		const char *name = facts->items[i].name;
		if (!strcmp(name, "trace_option"))
			name = HELPER_OPTION;
		else if (!strcmp(name, "trace_environment"))
			name = HELPER_ENVIRONMENT;
		if (strcmp(name, "step_folder"))
			facts_set(noted, name, facts->items[i].value);
	}
	facts_set(noted, QUEUE_BEGUN, "1");
}

/* Notes the step, for the case that nobody will say its end. Returns 0, or -1 having said why not: then nothing of it
 * may be recorded, and its folder is gone. */
static int note_begun(const struct decision *d, const struct facts *facts, size_t came, const char *policy, uid_t uid)
{
	const char *folder = facts_get(facts, "folder");
	struct facts noted = {0};
	int spool = open(d->spool, OPEN_FOLDER), queue = spool >= 0 ? queue_open(spool) : -1,
	    user = queue >= 0 ? queue_open_user(queue, uid) : -1;

	copy_begun(&noted, facts, came);
	facts_set(&noted, HELPER_POLICY, policy);
	facts_set(&noted, "spool", folder);
	int rv = user < 0 ? -1 : queue_save(user, strrchr(folder, '/') + 1, &noted);
	if (rv) {
		fprintf(stderr, "%s/" QUEUE_FOLDER ": the step cannot be noted: %s\n", d->spool, strerror(errno));
		spool_remove_step(spool, folder);
	}
	facts_clear(&noted);
	if (user >= 0)
		close(user);
	if (queue >= 0)
		close(queue);
	if (spool >= 0)
		close(spool);
	return rv;
}

/* The decision, the folder, and whether the decision may rest on what the job's user made up. */
static int print_answer(const struct decision *d, const struct facts *facts, bool claims)
{
	struct facts folder = {0};
	char *text = decision_encode(d), topology[HANDOFF_TOPOLOGY_SIZE];

	facts_set(&folder, "folder", facts_get(facts, "folder"));
	facts_set(&folder, "papi", facts_get(facts, "papi"));
	facts_set(&folder, "claims", claims ? "1" : NULL);
	topology_read("/sys/devices/system", topology, sizeof topology);
	facts_set(&folder, "topology", topology);
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
	char path[PATH_MAX];

	if (!archive || archive[0] != '/') {
		fputs("stdin: archive is missing\n", stderr);
		return -1;
	}
	if (day_folder_make(archive, facts_number(facts, "when", 0), (gid_t)facts_number(facts, "group", 0),
	                    (uid_t)facts_number(facts, "uid", DAY_FOLDER_AHEAD), path, sizeof path, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	return 0;
}

int helper_decide(struct facts *facts, const char *path, const char *preload)
{
	static gid_t groups[GROUPS_MAX];
	struct problems problems = {0};
	static struct decision decision;
	const size_t came = facts->count;

	int64_t uid = facts_number(facts, "uid", -1), gid = facts_number(facts, "gid", -1);
	if (uid < 0 || gid < 0 || uid >= UINT32_MAX || gid >= UINT32_MAX) {
		fputs("stdin: uid and gid are missing\n", stderr);
		return -1;
	}
	struct policy *policy = policy_load(path, geteuid() == 0, &problems);
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
	size_t n = name_user_and_groups(facts, (uid_t)uid, (gid_t)gid, policy_uses(policy, "groups"), groups);
	add_times(facts, policy);
	policy_decide(policy, facts, &decision);
	bool claims = policy_uses_claims(policy, facts);
	policy_destroy(policy);
	bool off = decision.mode.kind == MODE_OFF && !decision.alternatives[0];
	struct questions q = {
		.uid = (uid_t)uid, .gid = (gid_t)gid, .groups = groups, .group_count = n, .decision = &decision};
	if (preload)
		config_plain_path(preload, q.preload, sizeof q.preload);
	if (!off && preload && check_user(facts, &decision, &q))
		return -1;
	if (!off && make_step_folder(facts, &decision, (uid_t)uid, (gid_t)gid))
		return -1;
	if (claims && facts_get(facts, "folder") && note_begun(&decision, facts, came, path, (uid_t)uid))
		return -1;
	return print_answer(&decision, facts, claims);
}
