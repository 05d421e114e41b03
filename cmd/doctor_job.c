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
#include "cmd/base/cell.h"
#include "cmd/base/sink.h"
#include "cmd/cmd.h"
#include "deliver/controller.h"
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

/* --- one job: what the log has, steps of which it says the same together --- */

#define GROUPS_MOST    500   /* different things that are told of one job */
#define DELIVERED_MOST 10000 /* steps whose traces are looked for */

struct log_group {
	char *text;                  /* what is said of them */
	char steps[160], nodes[160]; /* as many as fit */
	char first[32], last[32];    /* times */
	char step[64], node[256];    /* of the last line */
	size_t count;                /* of lines with another step than the one before */
};

struct job_log {
	struct log_group groups[GROUPS_MOST];
	size_t count;
	char *delivered[DELIVERED_MOST]; /* steps, in the order of the log */
	size_t delivered_count;
};

static const char *log_value(const struct facts *facts, const char *name)
{
	const char *text = facts_get(facts, name);
	return text ? text : "?";
}

static const char *log_outcome(const char *what)
{
	static const char *const outcomes[][2] = {
		{"off", "is not captured"},
		{"failed", "is not captured, because something is wrong"},
		{"delivered", "ended; its trace was delivered"},
		{"kept", "ended; its trace could not be delivered and is kept in the spool"},
		{"given-up", "its trace could not be delivered for days, and is in the spool's folder " QUEUE_GIVEN_UP},
		{"discarded", "its folder was too large to be kept, and was emptied"},
		{"said", "while its traces were delivered"},
		{"empty", "ended, and left nothing here"},
	};

	for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
		if (!strcmp(what, outcomes[i][0]))
			return outcomes[i][1];
	}
	return what;
}

/* What is said of a step, below the line that names it; malloc'ed. */
static char *log_text(const struct facts *facts)
{
	const char *what = log_value(facts, "what"), *why = facts_get(facts, "why"), *where = facts_get(facts, "where");
	bool captured = !strcmp(what, "captured"), decided = captured || !strcmp(what, "off");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	say_to(out, "user %s: %s%s\n", log_value(facts, "uid"), captured ? "is captured, mode " : log_outcome(what),
	       captured ? log_value(facts, "mode") : "");
	if (facts_get(facts, "rule") && decided)
		say_to(out, "          decided by %s%s%s: %s\n", log_value(facts, "rule"), where ? ", " : "",
		       where ? where : "", log_value(facts, "reason"));
	if (why)
		say_to(out, "          %s\n", why);
	return fclose(out) ? NULL : text;
}

/* Adds a word to a list that ends where it is full. */
static void list_word(char *list, size_t size, const char *word)
{
	size_t used = strlen(list);

	if (used + strlen(word) + 8 < size)
		snprintf(list + used, size - used, "%s%s", used ? ", " : "", word);
	else if (used > 3 && strcmp(list + used - 3, "...") != 0)
		snprintf(list + used, size - used, ", ...");
}

/* The log has UTC; people read local times. */
static void put_local_time(char out[32], const char *utc)
{
	struct tm tm = {0};

	if (strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &tm))
		cell_start(out, (int64_t)timegm(&tm) * 1000000000);
	else
		snprintf(out, 32, "%s", utc);
}

static void group_line(void *context, const char *time, const struct facts *facts)
{
	struct job_log *log = context;
	const char *step = log_value(facts, "step"), *node = log_value(facts, "node");
	char *text = log_text(facts);
	size_t i = 0;

	if (!strcmp(log_value(facts, "what"), "delivered") && log->delivered_count < DELIVERED_MOST)
		log->delivered[log->delivered_count++] = strdup(step);
	while (text && i < log->count && strcmp(log->groups[i].text, text) != 0)
		i++;
	if (!text || i == GROUPS_MOST) {
		free(text);
		return;
	}
	struct log_group *group = &log->groups[i];
	if (i == log->count) {
		*group = (struct log_group){.text = text};
		log->count++;
		put_local_time(group->first, time);
	} else {
		free(text);
	}
	put_local_time(group->last, time);
	if (!group->count || strcmp(group->step, step)) {
		list_word(group->steps, sizeof group->steps, step);
		group->count++;
	}
	if (strcmp(group->node, node) && !strstr(group->nodes, node))
		list_word(group->nodes, sizeof group->nodes, node);
	snprintf(group->step, sizeof group->step, "%s", step);
	snprintf(group->node, sizeof group->node, "%s", node);
}

static void print_log(const struct job_log *log)
{
	for (size_t i = 0; i < log->count; i++) {
		const struct log_group *group = &log->groups[i];
		bool one = group->count == 1;

		if (one)
			doctor_print("      %s node %s, step %s, %s", group->first, group->nodes, group->steps,
			             group->text);
		else
			doctor_print("      %s node %s, %zu steps until %s (%s), %s", group->first, group->nodes,
			             group->count, group->last, group->steps, group->text);
	}
}

static void free_log(struct job_log *log)
{
	for (size_t i = 0; log && i < log->count; i++)
		free(log->groups[i].text);
	for (size_t i = 0; log && i < log->delivered_count; i++)
		free(log->delivered[i]);
	free(log);
}

/* Returns 0; or the error number, if it cannot be listed. */
static int job_in_spool(const char *spool, const char *job)
{
	size_t n = strlen(job);
	DIR *dir = opendir(spool);

	if (!dir)
		return errno;
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
	return 0;
}

struct job_search {
	const char *job;
	struct job_log *log; /* whose delivered steps are crossed out as their traces are found; may be NULL */
	size_t found;
};

static void cross_out(struct job_log *log, const char *rest)
{
	for (size_t i = 0; log && i < log->delivered_count; i++) {
		size_t n = log->delivered[i] ? strlen(log->delivered[i]) : 0;
		if (n && !strncmp(rest, log->delivered[i], n) && rest[n] == '.') {
			free(log->delivered[i]);
			log->delivered[i] = NULL;
		}
	}
}

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
		cross_out(s->log, e->d_name + n + 1);
		s->found++;
	}
	if (dir)
		closedir(dir);
	return 0;
}

size_t doctor_find_traces(const char *archive, const char *job)
{
	struct job_search search = {.job = job};

	archive_folders(archive, time(NULL) - 86400, job_in_folder, &search, NULL);
	return search.found;
}

/* What the log calls delivered, and is not there. */
static void say_gone(const struct job_log *log, const char *archive, const char *job)
{
	char steps[160] = "";

	for (size_t i = 0; i < log->delivered_count; i++) {
		if (log->delivered[i])
			list_word(steps, sizeof steps, log->delivered[i]);
	}
	if (steps[0])
		doctor_say(DOUBT,
		           "%s: the log says that traces of job %s, steps %s were delivered: they are not here, or not "
		           "yours to see; they were removed, or delivered to another archive",
		           archive, job, steps);
}

/* --- one job: what Slurm knows of it, for users, who cannot read the log --- */

static void set_from_record(struct facts *facts, const char *fact, const char *record, const char *key)
{
	char *value = controller_value(record, key);

	if (value)
		value[strcspn(value, "(")] = '\0'; /* UserId=alice(1000) */
	if (value && value[0] && !policy_fact_problem(fact, value))
		facts_set(facts, fact, value);
	free(value);
}

static void explain_to_user(const struct policy *policy, const char *job)
{
	static const char *const known[][2] = {{"user", "UserId"},
	                                       {"groups", "GroupId"},
	                                       {"account", "Account"},
	                                       {"partition", "Partition"},
	                                       {"qos", "QOS"},
	                                       {"job_name", "JobName"},
	                                       {"reservation", "Reservation"},
	                                       {"nodes", "NumNodes"},
	                                       {"tasks", "NumTasks"},
	                                       {"time_limit", "TimeLimit"}};
	static char record[16384];
	const char *conf = getenv("SLURM_CONF");
	struct facts ask = {0}, facts = {0};
	struct decision d;
	char mode[MODE_TEXT_SIZE];

	facts_set(&ask, "slurm_conf", conf && *conf ? conf : NULL);
	int rv = controller_ask(&ask, "job", job, record, sizeof record);
	facts_clear(&ask);
	if (rv) {
		doctor_say(DOUBT,
		           "job %s: Slurm does not know it any more (%s): `spoor policy explain` says what the "
		           "policy does with such a job",
		           job, record);
		return;
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		set_from_record(&facts, known[i][0], record, known[i][1]);
	facts_set(&facts, "job", job);
	policy_decide(policy, &facts, &d);
	doctor_print("job %s, as the policy has it now, and with neither --trace nor SPOOR_TRACE:\n"
	             "      mode %s, decided by %s%s%s: %s\n",
	             job, mode_format(&d.mode, mode), d.rule, d.where[0] ? ", " : "", d.where, d.reason);
	char *nodes = controller_value(record, "NodeList");
	doctor_print("      The log of its nodes (%s) has what was done; root or the admin group can ask there: "
	             "spoor doctor %s\n",
	             nodes && nodes[0] ? nodes : "none", job);
	free(nodes);
	facts_clear(&facts);
}

static void job_in_log(uint64_t number, const char *job, const struct policy *policy, struct job_log *log)
{
	int n = node_log_read(NODE_LOG_FOLDER, (int64_t)number, group_line, log);

	if (n < 0 && geteuid() != 0 && policy) {
		explain_to_user(policy, job);
		return;
	}
	doctor_print("job %s, as %s/node.log has it:\n", job, NODE_LOG_FOLDER);
	print_log(log);
	if (n < 0)
		doctor_say(DOUBT, "%s: cannot be read: %s; ask again as root, or as one of the admin group",
		           NODE_LOG_FOLDER, strerror(errno));
	else if (n == 0)
		doctor_say(DOUBT,
		           "job %s: no step of it was begun on this node with spoor loaded, or the log goes not so far "
		           "back; ask on its nodes",
		           job);
}

int doctor_job(uint64_t number, const char *policy_path)
{
	char job[24];
	struct job_log *log = calloc(1, sizeof *log);
	struct job_search search = {.job = job, .log = log};
	struct problems problems = {0};
	struct facts none = {0};
	struct error error = {""};
	struct decision d;

	if (!log)
		return CMD_FAILED;
	snprintf(job, sizeof job, "%" PRIu64, number);
	policy_default_decision(&d);
	struct policy *policy = policy_load(policy_path, geteuid() == 0, &problems);
	if (policy)
		policy_decide(policy, &none, &d);
	else
		doctor_say(WRONG, "%s: the policy is not good now; looking where it would be without one", policy_path);
	problems_clear(&problems);
	job_in_log(number, job, policy, log);
	policy_destroy(policy);
	int unlisted = job_in_spool(d.spool, job);
	fflush(stdout); /* an archive may hang */
	if (archive_folders(d.archive, 0, job_in_folder, &search, &error) < 0)
		doctor_say(DOUBT, "%s", error.text);
	else if (search.found == 0)
		doctor_say(DOUBT, "%s: there is no trace of job %s in the archive", d.archive, job);
	/* a user, who cannot list the spool, has nothing to ask there if the trace is in the archive */
	if (unlisted && (unlisted != EACCES || !geteuid() || search.found == 0))
		doctor_say(DOUBT, "%s: the spool cannot be listed: %s%s", d.spool, strerror(unlisted),
		           geteuid() ? "; ask again as root" : "");
	say_gone(log, d.archive, job);
	free_log(log);
	return doctor_said[WRONG] || search.found == 0 ? CMD_FAILED : CMD_OK;
}
