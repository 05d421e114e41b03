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

/* As long as a node still ends the job, its state is COMPLETING, which hides the other. After some minutes (MinJobAge)
 * the record is gone. Seconds. */
#define SETTLED_AGE   2
#define AGAIN_PAUSE   10
#define FORGOTTEN_AGE 300

int controller_ask(const struct facts *facts, const char *what, const char *name, char *answer, size_t size)
{
	const char *folder = facts_get(facts, "slurm_bin"), *conf = facts_get(facts, "slurm_conf");
	char path[PATH_MAX], setting[PATH_MAX], messages[PROCESS_LINE] = "";
	struct error error = {""};

	snprintf(path, sizeof path, "%s/scontrol", folder ? folder : "/usr/bin");
	if (!folder || access(path, X_OK))
		snprintf(path, sizeof path, "scontrol"); /* on the PATH of helpers */
	snprintf(setting, sizeof setting, "SLURM_CONF=%s", conf ? conf : "");
	const char *argv[] = {
		"/usr/bin/env", conf ? setting : "LC_ALL=C", path, "--oneliner", "show", what, name, NULL};
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
	answer[strcspn(answer, "\n")] = '\0';
	return rv;
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
	static bool silent; /* many steps do not wait for it one after another */
	char record[RECORD_SIZE];
	bool ending = true;

	int64_t age = (int64_t)time(NULL) - facts_number(facts, "step_end", 0);
	if (silent || age < 0 || age > FORGOTTEN_AGE)
		return NULL;
	if (age < SETTLED_AGE)
		sleep((unsigned)(SETTLED_AGE - age));
	for (int i = 0; i < 2 && ending; i++) {
		const char *reason = NULL;
		if (i)
			sleep(AGAIN_PAUSE);
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
