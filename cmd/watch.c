/* SPDX-License-Identifier: BSD-3-Clause
 * watch - `spoor watch --notify CMD [USER|PARTITION]`: tells once of each job that hangs; for cron or a systemd timer
 *
 * What CMD is called with is of the administrator and of Slurm: the job's user can write only what is on its standard
 * input, in a string of JSON.
 */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/cmd.h"
#include "cmd/where/sample.h"
#include "cmd/where/told.h"
#include "process/process.h"
#include "trace/base/budget.h"

#define NOTIFY_SECONDS 60

struct watch {
	struct running_job *jobs;
	size_t count;
	struct told told;
	double hung; /* ns */
	const char *notify;
};

static bool is_running(uint64_t job, const void *context)
{
	const struct watch *w = context;
	for (size_t i = 0; i < w->count; i++)
		if (w->jobs[i].number == job)
			return true;
	return false;
}

/* What has not run so long cannot hang so long. */
static bool may_hang(const struct running_job *j, void *context)
{
	const struct watch *w = context;
	return (double)j->seconds * 1e9 >= w->hung && !told_has(&w->told, j->number);
}

static char *verdict_json(const struct running_job *j)
{
	const struct job_sample *s = &j->sample;
	json_t *one =
		json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:s}", "job", j->id, "step", s->step, "user", j->user,
	                  "partition", j->partition, "ranks", (json_int_t)s->ranks, "verdict", verdict_name(s->kind),
	                  "seconds", (json_int_t)(s->hung_ns / 1000000000), "text", s->text);
	char *text = json_dumps(one, JSON_COMPACT);
	json_decref(one);
	return text;
}

/* Returns 0 if CMD was told. */
static int tell_of_job(struct watch *w, const struct running_job *j)
{
	struct error error = {""};
	char job[80], user[80], verdict[40], said[PROCESS_LINE + 1] = "", conf[PATH_MAX + 16], *json = verdict_json(j);
	const char *own = getenv("SLURM_CONF");
	snprintf(job, sizeof job, "SPOOR_JOB=%" PRIu64, j->number);
	snprintf(user, sizeof user, "SPOOR_USER=%s", j->user);
	snprintf(verdict, sizeof verdict, "SPOOR_VERDICT=%s", verdict_name(j->sample.kind));
	snprintf(conf, sizeof conf, "SLURM_CONF=%s", own ? own : "");
	const char *argv[] = {"/usr/bin/env", job,  user,      verdict, own ? conf : "LC_ALL=C",
	                      "/bin/sh",      "-c", w->notify, NULL};
	struct process p = {.argv = argv,
	                    .input = json ? json : "",
	                    .seconds = NOTIFY_SECONDS,
	                    .messages = said,
	                    .message_size = sizeof said};
	int rv = json ? process_run(&p, &error) : error_set(&error, "no memory");
	process_clean(said);
	if (rv == 0)
		rv = told_add(&w->told, j->number, &error);
	if (rv != 0)
		say_to(stderr, "spoor watch: job %s: %s%s%s\n", j->id, error.text, *said ? ": " : "", said);
	free(json);
	return rv;
}

static int watch_once(struct watch *w, const char *who, unsigned seconds)
{
	int status = CMD_OK;
	struct error error = {""};
	if (jobs_running(&w->jobs, &w->count, who, &error) != 0 ||
	    (!who && told_keep(&w->told, is_running, w, &error) != 0)) {
		say_to(stderr, "spoor watch: %s\n", error.text);
		return CMD_FAILED;
	}
	jobs_ask(w->jobs, w->count, may_hang, w, seconds, (uint64_t)w->hung, true);
	for (size_t i = 0; i < w->count; i++) {
		const struct job_sample *s = &w->jobs[i].sample;
		if (s->state == SAMPLE_TRACED && s->hung_ns > 0 && (double)s->hung_ns >= w->hung &&
		    tell_of_job(w, &w->jobs[i]) != 0)
			status = CMD_FAILED;
	}
	return status;
}

int cmd_watch(int argc, char **argv)
{
	struct watch w = {.hung = 1800e9};
	struct error error = {""};
	const char *state = NULL;
	int64_t timeout = 10;
	const struct option_line lines[] = {
		OPTION_READ("hung", 0, "TIME", &w.hung, options_read_time, OPTIONS_TIME,
	                    "tell of jobs that have hung so long (default 30m)"),
		OPTION_TEXT("notify", 0, "CMD", &w.notify,
	                    "a command of sh, run once for each job that hangs, with the verdict as JSON on its "
	                    "standard input"),
		OPTION_TEXT("state", 0, "FILE", &state, "where is written down of which jobs was told"),
		OPTION_NUMBER("timeout", 't', "SECONDS", &timeout, 1, 3600, "wait so long for the nodes (default 10)"),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor watch",
		"[USER|PARTITION]",
		"Looks once at the traced jobs that run, and tells of those that hang. For cron, or a timer of "
		"systemd. Root sees all jobs, other users their own ones.",
		NULL,
		lines,
		0,
		1,
		false};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (!w.notify)
		return options_wrong("spoor watch", "--notify CMD is missing");
	status = CMD_FAILED;
	if (told_open(&w.told, state, &error) == 0)
		status = watch_once(&w, argv[optind], (unsigned)timeout);
	else
		say_to(stderr, "spoor watch: %s\n", error.text);
	told_close(&w.told);
	budget_free(w.jobs);
	return status;
}
