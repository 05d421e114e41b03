/* SPDX-License-Identifier: BSD-3-Clause
 * sample - of `spoor top` and `spoor watch`: the jobs that run, and each of them in a few numbers
 */
#include "cmd/where/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/base/status.h"
#include "cmd/where/view.h"
#include "process/process.h"
#include "trace/base/budget.h"
#include "trace/base/number.h"
#include "trace/model/stream.h"
#include "trace/model/unended.h"
#include "trace/read/summary.h"

#define ANSWER_SIZE (1 << 23) /* 100 bytes of each of 80,000 jobs */
#define TOGETHER    8         /* jobs that are asked at a time: each is a step that slurmctld starts */
#define GRACE       30        /* seconds: a child that takes so much longer than the nodes may is ended */

static uint64_t monotonic_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- in a child: one job --- */

static void add_unended(struct job_sample *s, const struct trace *t)
{
	for (uint32_t i = 0; i < t->unended_count; i++) {
		const struct trace_unended *u = &t->unended[i];
		s->still_ns = u->min < s->still_ns ? u->min : s->still_ns;
		if (u->call)
			s->waiting += rankmap_size(&u->ranks);
	}
}

static void add_world(struct job_sample *s, const struct where_world *w, const struct trace *t, uint64_t patience)
{
	struct summary sum;
	struct verdict v;
	if (summary_make(&sum, t, NULL) == 0) {
		s->events += sum.events;
		s->messages += sum.messages;
		s->bytes += sum.bytes;
		s->mpi_ns += sum.mpi_ns;
		s->all_ns += sum.mpi_ns + sum.compute_ns + sum.unended_compute_ns;
	}
	s->ranks += t->size;
	s->here += stream_ranks(t, &t->events);
	add_unended(s, t);
	verdict_find(&v, t, patience, NULL);
	if (*s->step && !(verdict_hangs(v.kind) && s->hung_ns == 0))
		return;
	s->kind = v.kind;
	s->hung_ns = verdict_hangs(v.kind) ? v.ns + 1 : 0;
	snprintf(s->step, sizeof s->step, "%s", w->step);
	snprintf(s->text, sizeof s->text, "%s", v.text);
}

static void sample_job(struct job_sample *s, const char *job, unsigned seconds, uint64_t patience)
{
	struct where_worlds w;
	where_begin(&w);
	*s = (struct job_sample){.state = SAMPLE_SILENT, .still_ns = UINT64_MAX};
	if (where_job(&w, job, NULL, seconds) == CMD_OK && w.unread == 0)
		s->state = w.count ? SAMPLE_TRACED : SAMPLE_UNTRACED;
	for (size_t i = 0; i < w.count; i++) {
		struct where_trace t;
		struct error error;
		s->worlds ^= w.each[i].world.id;
		if (where_make(&t, &w.each[i], job, &error) == 0)
			add_world(s, &w.each[i], &t.trace, patience);
		where_trace_free(&t);
	}
	if (s->still_ns == UINT64_MAX)
		s->still_ns = 0;
	where_free(&w);
}

/* --- children --- */

struct asked {
	struct running_job *job;
	pid_t pid;
	int fd;
	uint64_t until;
};

/* Of a heterogeneous job: all its parts. */
static void name_to_ask(const struct running_job *j, char out[64])
{
	size_t first = strcspn(j->id, "+");
	if (j->id[first])
		snprintf(out, 64, "%.*s", (int)first, j->id);
	else
		snprintf(out, 64, "%llu", (unsigned long long)j->number);
}

static int ask_one(struct asked *a, struct running_job *j, unsigned seconds, uint64_t patience, bool quiet)
{
	int ends[2];
	char name[64];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	name_to_ask(j, name);
	j->sample = (struct job_sample){.state = SAMPLE_SILENT};
	*a = (struct asked){j, process_child(), ends[0], monotonic_now() + (seconds + GRACE) * UINT64_C(1000000000)};
	if (a->pid == 0) {
		struct job_sample s;
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (quiet && null >= 0)
			dup2(null, 2);
		sample_job(&s, name, seconds, patience);
		ssize_t n = write(ends[1], &s, sizeof s); /* less than PIPE_BUF */
		_exit(n == sizeof s ? 0 : 1);
	}
	close(ends[1]);
	if (a->pid < 0)
		close(ends[0]);
	return a->pid < 0 ? -1 : 0;
}

/* What it sent may be anything: it was its user's process. */
static bool sample_is_sane(struct job_sample *s)
{
	s->step[sizeof s->step - 1] = s->text[sizeof s->text - 1] = '\0';
	process_clean(s->step);
	for (char *c = s->text; *c; c++)
		*c = *c >= ' ' && *c <= '~' ? *c : '?';
	return (unsigned)s->state <= SAMPLE_TRACED && (unsigned)s->kind < VERDICT_KINDS;
}

static void take_answer(struct asked *a)
{
	struct job_sample s;
	if (read(a->fd, &s, sizeof s) == sizeof s && sample_is_sane(&s))
		a->job->sample = s;
	a->job->asked_ns = monotonic_now();
	close(a->fd);
	kill(a->pid, SIGKILL); /* it has said what it had to say, or is too late */
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Waits until one has answered, or is too late. */
static void wait_for_answers(struct asked *asked, size_t *count)
{
	struct pollfd fds[TOGETHER];
	for (size_t i = 0; i < *count; i++)
		fds[i] = (struct pollfd){.fd = asked[i].fd, .events = POLLIN};
	poll(fds, *count, 1000);
	size_t left = 0;
	for (size_t i = 0; i < *count; i++) {
		if (fds[i].revents || monotonic_now() > asked[i].until)
			take_answer(&asked[i]);
		else
			asked[left++] = asked[i];
	}
	*count = left;
}

void jobs_ask(struct running_job *jobs, size_t count, bool (*wanted)(const struct running_job *j, void *context),
              void *context, unsigned seconds, uint64_t patience, bool quiet)
{
	struct asked asked[TOGETHER];
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		if (!wanted(&jobs[i], context))
			continue;
		while (n == TOGETHER)
			wait_for_answers(asked, &n);
		n += ask_one(&asked[n], &jobs[i], seconds, patience, quiet) == 0;
	}
	while (n > 0)
		wait_for_answers(asked, &n);
}

/* --- the list --- */

/* 1-02:03:04, 2:03:04, 3:04 */
static uint64_t seconds_of(const char *text)
{
	uint64_t days = 0, seconds = 0, n;
	for (const char *p = text; *p && number_read(&p, UINT32_MAX, &n) == 0; p += *p != '\0') {
		if (*p == '-')
			days = n;
		else
			seconds = seconds * 60 + n;
	}
	return days * 86400 + seconds;
}

/* "4711 1000 4711_3 1:02 alice batch" */
static bool running_job_read(struct running_job *j, char *line)
{
	unsigned long long number, uid;
	char used[32];
	*j = (struct running_job){.number = 0};
	if (sscanf(line, "%llu %llu %63s %31s %63s %63s", &number, &uid, j->id, used, j->user, j->partition) != 6)
		return false;
	j->number = number;
	j->seconds = seconds_of(used);
	const char *part = strchr(j->id, '+');
	return (geteuid() == 0 || uid == geteuid()) && (!part || !strcmp(part, "+0"));
}

int jobs_running(struct running_job **jobs, size_t *count, const char *who, struct error *error)
{
	static char answer[ANSWER_SIZE];
	char which[128];
	uint32_t n = 0, capacity = 0;
	const struct passwd *pw = who ? getpwnam(who) : geteuid() ? getpwuid(geteuid()) : NULL;
	*jobs = NULL;
	*count = 0;
	if (who && (strlen(who) > 100 || *who == '-'))
		return error_set(error, "%.40s: no such user or partition", who);
	snprintf(which, sizeof which, "--%s=%s",
	         pw    ? "user"
	         : who ? "partition"
	               : "format",
	         pw    ? pw->pw_name
	         : who ? who
	               : "%A %U %i %M %u %P");
	if (where_squeue(which, "--states=RUNNING", "--format=%A %U %i %M %u %P", answer, sizeof answer, error) != 0)
		return -1;
	for (char *line = answer, *end; *line; line = end) {
		struct running_job j;
		end = line + strcspn(line, "\n");
		end += *end ? (*end = '\0', 1) : 0;
		if (!running_job_read(&j, line))
			continue;
		if (!budget_grow(jobs, n, &capacity, sizeof j))
			return error_set(error, "no memory");
		(*jobs)[n++] = j;
	}
	*count = n;
	return 0;
}
