/* SPDX-License-Identifier: BSD-3-Clause
 * controller - what slurmctld is asked
 *
 * By Slurm's own command: a library of Slurm's would have to fit its release.
 */
#include "deliver/controller.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process/process.h"

#define RECORD_SIZE 16384

/* As long as a node still ends the job, its state is COMPLETING, which hides the other: on busy nodes for much longer
 * than the step needed. After some minutes (MinJobAge) the record is gone. Seconds. */
#define SETTLED_AGE   2
#define AGAIN_PAUSE   10
#define PAUSES_MOST   60
#define FORGOTTEN_AGE 300

/* A command of Slurm's with three arguments. Returns 0 with what it says in answer; -1: why it says nothing. */
static int run_command(const struct facts *facts, const char *command, const char *const arguments[4], char *answer,
                       size_t size)
{
	const char *folder = facts_get(facts, "slurm_bin"), *conf = facts_get(facts, "slurm_conf");
	char path[PATH_MAX], setting[PATH_MAX], messages[PROCESS_LINE] = "";
	struct error error = {""};

	snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/bin", command);
	if (!folder || access(path, X_OK))
		snprintf(path, sizeof path, "%s", command); /* on the PATH of helpers */
	snprintf(setting, sizeof setting, "SLURM_CONF=%s", conf ? conf : "");
	const char *argv[] = {"/usr/bin/env", conf ? setting : "LC_ALL=C",
	                      path,           arguments[0],
	                      arguments[1],   arguments[2],
	                      arguments[3],   NULL};
	struct process p = {.argv = argv,
	                    .input = "",
	                    .seconds = CONTROLLER_SECONDS,
	                    .output = answer,
	                    .output_size = size,
	                    .messages = messages,
	                    .message_size = sizeof messages};
	int rv = process_run(&p, &error);
	if (rv && !answer[0])
		snprintf(answer, size, "%s", messages[0] ? messages : error.text);
	return rv;
}

int controller_ask(const struct facts *facts, const char *what, const char *name, char *answer, size_t size)
{
	int rv = run_command(facts, "scontrol", (const char *[]){"--oneliner", "show", what, name}, answer, size);
	answer[strcspn(answer, "\n")] = '\0';
	return rv;
}

/* --- what a job is --- */

/* Not of scontrol, whose line has the job's name before all that matters: a name may be "x Account=y". Nor the name
 * itself, which is its user's choice and may hold any separator. */
static const struct {
	const char *format, *fact;
} fields[] = {{"%A", NULL},      {"%U", NULL},        {"%i", NULL},  {"%S", "job_start"},  {"%l", "time_limit"},
              {"%a", "account"}, {"%P", "partition"}, {"%q", "qos"}, {"%v", "reservation"}};
enum { FIELD_JOB, FIELD_UID, FIELD_ID, FIELD_START, FIELDS = sizeof fields / sizeof *fields };

/* Cuts a line into its fields. False: it has fewer. */
static bool split_line(char *line, char *field[FIELDS])
{
	for (size_t i = 0; i < FIELDS; i++)
		field[i] = i + 1 < FIELDS ? strsep(&line, "|") : line;
	return field[FIELDS - 1] != NULL;
}

static void set_field(struct facts *facts, const char *fact, const char *value)
{
	bool none = !strcmp(value, "(null)") || !strcmp(value, "N/A") || !strcmp(value, "NONE");
	if (!none || facts_get(facts, fact))
		facts_set(facts, fact, none ? "" : value);
}

static void set_start(struct facts *facts, const char *text)
{
	struct tm tm = {.tm_isdst = -1};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	time_t when = end && !*end ? mktime(&tm) : -1;
	if (when > 0)
		facts_format(facts, "job_start", "%lld", (long long)when);
}

/* The components of a heterogeneous job are 12+0 and 12+1; the tasks of an array 12_0 and 12_1. */
static void set_component(struct facts *facts, const char *id)
{
	size_t n = strspn(id, "0123456789");
	if (id[n] == '+' || facts_get(facts, "het_job_id"))
		facts_format(facts, "het_job_id", "%.*s", id[n] == '+' ? (int)n : 0, id);
}

static int take_line(struct facts *facts, char *line, struct error *error)
{
	char *field[FIELDS];
	const char *job = facts_get(facts, "job"), *uid = facts_get(facts, "uid");

	if (!split_line(line, field) || !job || strcmp(field[FIELD_JOB], job))
		return 1;
	if (uid && strcmp(field[FIELD_UID], uid))
		return error_set(error, "job %s is user %s's, as Slurm has it", job, field[FIELD_UID]);
	set_component(facts, field[FIELD_ID]);
	set_start(facts, field[FIELD_START]);
	for (size_t i = FIELD_START + 1; i < FIELDS; i++)
		set_field(facts, fields[i].fact, field[i]);
	return 0;
}

/* What squeue said last, of which job. */
static struct {
	char job[24], answer[RECORD_SIZE];
	bool silent; /* nobody answers: many steps do not wait for it one after another */
} asked;

static int ask_squeue(const struct facts *facts, const char *job, struct error *error)
{
	char which[40], format[80] = "--format=";

	if (!strcmp(asked.job, job))
		return 0;
	if (asked.silent)
		return error_set(error, "slurmctld does not answer");
	for (size_t i = 0; i < FIELDS; i++)
		strcat(strcat(format, i ? "|" : ""), fields[i].format);
	snprintf(which, sizeof which, "--jobs=%.20s", job);
	asked.job[0] = '\0';
	if (run_command(facts, "squeue", (const char *[]){"--noheader", "--states=all", which, format}, asked.answer,
	                sizeof asked.answer)) {
		asked.silent = !strstr(asked.answer, "Invalid job id");
		return error_set(error, "squeue: job %.20s: %.300s", job, asked.answer);
	}
	snprintf(asked.job, sizeof asked.job, "%s", job);
	return 0;
}

int controller_identify(struct facts *facts, struct error *error)
{
	const char *job = facts_get(facts, "job");
	int rv = 1;

	if (!job || ask_squeue(facts, job, error))
		return job ? -1 : error_set(error, "no job");
	char *copy = strdup(asked.answer), *rest = copy;
	for (char *line; rv > 0 && copy && (line = strsep(&rest, "\n"));)
		rv = take_line(facts, line, error);
	free(copy);
	return rv > 0 ? error_set(error, "squeue: job %.20s: not in its answer", job) : rv;
}

char *controller_value(const char *answer, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = answer; (p = strstr(p, key)); p += n) {
		if ((p == answer || p[-1] == ' ') && p[n] == '=')
			return strndup(p + n + 1, strcspn(p + n + 1, " "));
	}
	return NULL;
}

const char *controller_read_ending(const char *record, bool *ending)
{
	static const struct {
		const char *key, *value, *reason;
	} table[] = {{"JobState", "TIMEOUT", "time-limit"},  {"JobState", "DEADLINE", "time-limit"},
	             {"JobState", "CANCELLED", "cancelled"}, {"JobState", "PREEMPTED", "preempted"},
	             {"JobState", "NODE_FAIL", "node-lost"}, {"JobState", "OUT_OF_MEMORY", "oom"},
	             {"Reason", "TimeLimit", "time-limit"},  {"Reason", "NodeDown", "node-lost"},
	             {"Reason", "OutOfMemory", "oom"}};
	const char *reason = NULL;

	char *state = controller_value(record, "JobState");
	*ending = state && !strcmp(state, "COMPLETING");
	free(state);
	for (size_t i = 0; !reason && i < sizeof table / sizeof table[0]; i++) {
		char *value = controller_value(record, table[i].key);
		if (value && !strcmp(value, table[i].value))
			reason = table[i].reason;
		free(value);
	}
	return reason;
}

static const char *ask_for_ending(const struct facts *facts, const char *job, struct error *error)
{
	static bool silent;     /* many steps do not wait for it one after another, */
	static unsigned paused; /* nor for jobs of which a lost node keeps Slurm from saying that they ended */
	char record[RECORD_SIZE];
	bool ending = true;

	int64_t age = (int64_t)time(NULL) - facts_number(facts, "step_end", 0);
	if (silent || age < 0 || age > FORGOTTEN_AGE)
		return NULL;
	if (age < SETTLED_AGE)
		sleep((unsigned)(SETTLED_AGE - age));
	for (int i = 0; ending && (i < 2 || (!error->text[0] && paused < PAUSES_MOST)); i++) {
		const char *reason = NULL;
		if (i)
			sleep(AGAIN_PAUSE);
		paused += i ? AGAIN_PAUSE : 0;
		error->text[0] = '\0';
		if (controller_ask(facts, "job", job, record, sizeof record))
			error_set(error, "why job %s ended is not known: scontrol: %s", job, record);
		else if ((reason = controller_read_ending(record, &ending)))
			return reason;
	}
	silent = error->text[0] != '\0';
	return NULL;
}

const char *controller_ending(const struct facts *facts, struct error *error)
{
	static char last[24]; /* the steps of a job end together */
	static const char *answer;
	const char *job = facts_get(facts, "job");

	if (job && (!answer || strcmp(job, last))) {
		snprintf(last, sizeof last, "%s", job);
		answer = ask_for_ending(facts, job, error);
	}
	return answer;
}
