/* SPDX-License-Identifier: BSD-3-Clause
 * top - `spoor top [USER|PARTITION]`: the traced jobs that run, one a line, again and again
 *
 * Each time one step of each job reads its arenas, as `spoor where` does. So jobs in which nothing is traced are asked
 * only now and then, and not more than some jobs at all.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/cmd.h"
#include "cmd/where/sample.h"
#include "trace/base/budget.h"

#define STILL   (UINT64_C(10) * 1000000000) /* ns: so long nothing happens in a job that waits */
#define SELDOM  10                          /* a job that is not traced is asked each so many times */
#define SECONDS 1000000000.0

struct top {
	struct running_job *jobs, *before;
	size_t count, count_before;
	uint64_t turn;
	int64_t most;
	bool json;
};

/* --- figures --- */

struct rates {
	double seconds, mpi, messages, bytes, events; /* by second; mpi: 0 .. 1, negative: not known */
};

static const struct running_job *job_before(const struct top *t, const struct running_job *j)
{
	for (size_t i = 0; i < t->count_before; i++)
		if (t->before[i].number == j->number)
			return &t->before[i];
	return NULL;
}

/* Since the last time; of a job that was not seen then, or began another MPI program, since it began. */
static struct rates rates_of(const struct top *t, const struct running_job *j)
{
	const struct running_job *last = job_before(t, j);
	const struct job_sample *s = &j->sample, none = {.state = SAMPLE_NONE}, *b = last ? &last->sample : &none;
	double seconds = last ? (double)(j->asked_ns - last->asked_ns) / SECONDS : 0;
	if (b->state != SAMPLE_TRACED || b->worlds != s->worlds || s->events < b->events || s->messages < b->messages ||
	    s->bytes < b->bytes || s->mpi_ns < b->mpi_ns || s->all_ns <= b->all_ns || seconds <= 0) {
		b = &none;
		seconds = j->seconds ? (double)j->seconds : 1;
	}
	return (struct rates){
		.seconds = seconds,
		.mpi = s->all_ns > b->all_ns ? (double)(s->mpi_ns - b->mpi_ns) / (double)(s->all_ns - b->all_ns) : -1,
		.messages = (double)(s->messages - b->messages) / seconds,
		.bytes = (double)(s->bytes - b->bytes) / seconds,
		.events = (double)(s->events - b->events) / seconds};
}

static const char *state_of(const struct job_sample *s, char out[32])
{
	uint64_t minutes = s->hung_ns / UINT64_C(60000000000);
	if (s->hung_ns)
		snprintf(out, 32, "HANGS %02" PRIu64 ":%02" PRIu64, minutes / 60 % 10000, minutes % 60);
	else
		snprintf(out, 32, "%s", s->waiting && s->still_ns >= STILL ? "waits" : "runs");
	return out;
}

/* At most five characters: 12, 3.4k, 120M */
static const char *short_number(double x, char out[16])
{
	static const char units[] = " kMGTPE";
	size_t i = 0;
	for (; x >= 999.5 && units[i + 1]; i++)
		x /= 1000;
	snprintf(out, 16, x < 9.95 && i > 0 ? "%.1f%c" : "%.0f%c", x, units[i]);
	out[strcspn(out, " ")] = '\0';
	return out;
}

/* --- output --- */

static void print_job(const struct top *t, const struct running_job *j)
{
	char a[16], b[16], c[16], d[16], e[16], state[32], mpi[16] = "-";
	const struct rates r = rates_of(t, j);
	if (r.mpi >= 0)
		snprintf(mpi, sizeof mpi, "%.0f", 100 * r.mpi);
	say("%-12.12s %-8.8s %6s %6s %5s %6s %6s %6s %s\n", j->id, j->user, short_number((double)j->sample.ranks, a),
	    short_number((double)j->sample.waiting, b), mpi, short_number(r.messages, c), short_number(r.bytes, d),
	    short_number(r.events, e), state_of(&j->sample, state));
}

static json_t *job_json(const struct top *t, const struct running_job *j)
{
	char state[32];
	const struct job_sample *s = &j->sample;
	const struct rates r = rates_of(t, j);
	json_t *one = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:s}", "job", j->id, "user",
	                        j->user, "partition", j->partition, "ranks", (json_int_t)s->ranks, "ranks_here",
	                        (json_int_t)s->here, "waiting", (json_int_t)s->waiting, "over_seconds", r.seconds,
	                        "messages_per_second", r.messages, "bytes_per_second", r.bytes, "events_per_second",
	                        r.events, "state", s->hung_ns ? "hangs" : state_of(s, state));
	if (r.mpi >= 0)
		json_object_set_new(one, "mpi_share", json_real(r.mpi));
	if (s->hung_ns)
		json_object_set_new(one, "hangs_seconds", json_integer((json_int_t)(s->hung_ns / 1000000000)));
	if (*s->text) {
		json_object_set_new(one, "step", json_string(s->step));
		json_object_set_new(one, "verdict", json_string(s->text));
	}
	return one;
}

static void print_jobs(const struct top *t)
{
	size_t states[SAMPLE_TRACED + 1] = {0};
	say("%-12s %-8s %6s %6s %5s %6s %6s %6s %s\n", "JOB", "USER", "RANKS", "IN MPI", "MPI%", "MSG/S", "B/S",
	    "CALL/S", "STATE");
	for (size_t i = 0; i < t->count; i++) {
		states[t->jobs[i].sample.state]++;
		if (t->jobs[i].sample.state == SAMPLE_TRACED)
			print_job(t, &t->jobs[i]);
	}
	if (states[SAMPLE_UNTRACED] + states[SAMPLE_SILENT] + states[SAMPLE_NONE])
		say("%zu not traced, %zu did not answer, %zu not asked\n", states[SAMPLE_UNTRACED],
		    states[SAMPLE_SILENT], states[SAMPLE_NONE]);
}

static void print_json(const struct top *t)
{
	json_t *list = json_array();
	for (size_t i = 0; i < t->count; i++)
		if (t->jobs[i].sample.state == SAMPLE_TRACED)
			json_array_append_new(list, job_json(t, &t->jobs[i]));
	json_print(stdout, list, JSON_COMPACT);
	say("\n");
	json_decref(list);
}

/* --- the command --- */

static bool is_wanted(const struct running_job *j, void *context)
{
	struct top *t = context;
	const struct running_job *last = job_before(t, j);
	if (t->most <= 0 || (last && last->sample.state == SAMPLE_UNTRACED && (t->turn + j->number) % SELDOM != 0))
		return false;
	t->most--;
	return true;
}

/* A job that was not asked this time is as it was. */
static void keep_untraced(struct top *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct running_job *last = job_before(t, &t->jobs[i]);
		if (t->jobs[i].sample.state == SAMPLE_NONE && last && last->sample.state == SAMPLE_UNTRACED)
			t->jobs[i].sample.state = SAMPLE_UNTRACED;
	}
}

static int show_once(struct top *t, const char *who, int64_t most, unsigned seconds, uint64_t patience)
{
	struct error error = {""};
	int rv = jobs_running(&t->jobs, &t->count, who, &error);
	if (rv != 0) {
		say_to(stderr, "spoor top: %s\n", error.text);
		return CMD_FAILED;
	}
	t->most = most;
	jobs_ask(t->jobs, t->count, is_wanted, t, seconds, patience, true);
	keep_untraced(t);
	if (!t->json && isatty(1))
		say("\033[H\033[J");
	(t->json ? print_json : print_jobs)(t);
	fflush(stdout);
	return CMD_OK;
}

int cmd_top(int argc, char **argv)
{
	struct top t = {.count = 0};
	bool once = false;
	int64_t most = 50, timeout = 10;
	double interval = 60 * SECONDS, hung = (double)VERDICT_PATIENCE;
	const struct option_line lines[] = {
		OPTION_FLAG("once", '1', &once, "show them once, and end"),
		OPTION_FLAG("json", 0, &t.json, "as JSON, a list in each line"),
		OPTION_READ("interval", 'i', "TIME", &interval, options_read_time, OPTIONS_TIME,
	                    "from one time to the next (default 60s, at least 5s)"),
		OPTION_NUMBER("most", 'n', "JOBS", &most, 1, 100000, "ask no more than so many jobs (default 50)"),
		OPTION_NUMBER("timeout", 't', "SECONDS", &timeout, 1, 3600, "wait so long for the nodes (default 10)"),
		OPTION_READ("hung", 0, "TIME", &hung, options_read_time, OPTIONS_TIME,
	                    "who computes for longer while others wait is gone, not slow (default 60s)"),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor top",
		"[USER|PARTITION]",
		"Shows the traced jobs that run, one a line: how much of their time is in MPI, what they send, and "
		"whether they hang. Root sees all jobs, other users their own ones. It asks their nodes as `spoor "
		"where` does, by one short step of each job.",
		NULL,
		lines,
		0,
		1,
		false};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (interval < 5 * SECONDS)
		interval = 5 * SECONDS;
	do {
		status = show_once(&t, argv[optind], most, (unsigned)timeout, (uint64_t)hung);
		budget_free(t.before);
		t.before = t.jobs;
		t.count_before = t.count;
		t.jobs = NULL;
		t.turn++;
		if (!once && status == CMD_OK)
			sleep((unsigned)(interval / SECONDS));
	} while (!once && status == CMD_OK);
	budget_free(t.before);
	return status;
}
