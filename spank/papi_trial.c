/* SPDX-License-Identifier: BSD-3-Clause
 * papi_trial - does PAPI do on this node what the tracer would ask of it?
 */
#include "spank/papi_trial.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/counter.h"
#include "process/process.h"
#include "trace/base/papi.h"

#define TRIAL_MS 2000
#define READINGS 100

/* Values that a reading has room for, behind which nothing may be written. */
#define ROOM  64
#define FRESH INT64_C(0x5a5a5a5a5a5a5a5a)

/* What the child says when it has come to its end. */
struct answer {
	enum { TRIAL_NOT_FOUND, TRIAL_LACKS, TRIAL_BEYOND, TRIAL_TALKS, TRIAL_CHANGES, TRIAL_GOOD } verdict;
	char path[PATH_MAX / 2]; /* written to a pipe at once */
};

/* --- in the child --- */

static void *trial_open(const char *name)
{
	return dlmopen(LM_ID_NEWLM, name, RTLD_NOW | RTLD_LOCAL);
}

static unsigned long trial_thread(void)
{
	return (unsigned long)pthread_self();
}

/* One event, as preload/counters.c counts it. Errors are for the tracer to tell. False: it wrote beyond its values. */
static bool try_event(struct papi *p, const char *name)
{
	long long values[ROOM];
	int code, set = PAPI_NULL;
	bool kept = true;

	if (p->event_name_to_code(name, &code) != PAPI_OK || p->create_eventset(&set) != PAPI_OK ||
	    p->add_event(set, code) != PAPI_OK || p->start(set) != PAPI_OK)
		return true;
	for (int n = 0; n < READINGS && kept; n++) {
		for (int i = 0; i < ROOM; i++)
			values[i] = FRESH;
		p->read(set, values);
		for (int i = 1; i < ROOM; i++)
			kept = kept && values[i] == FRESH;
	}
	p->stop(set, values);
	p->cleanup_eventset(set);
	p->destroy_eventset(&set);
	return kept;
}

static void try_library(struct answer *a, const char *counters)
{
	void *library = papi_open(trial_open);
	struct link_map *map;
	struct papi papi;
	char path[PATH_MAX], name[256];
	int code;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) || !realpath(map->l_name, path) ||
	    (size_t)snprintf(a->path, sizeof a->path, "%s", path) >= sizeof a->path)
		return;
	a->verdict = TRIAL_GOOD;
	enum papi_state state = papi_load(&papi, library, &code);
	if (state == PAPI_LACKS_FUNCTION)
		a->verdict = TRIAL_LACKS;
	if (state != PAPI_READY)
		return;
	papi.thread_init(trial_thread);
	for (const char *c = counters; *c && a->verdict == TRIAL_GOOD; c += *c == ',') {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(c, ","), c);
		c += strcspn(c, ",");
		if (counter_kernel(name, strlen(name)) == COUNTER_PAPI && !try_event(&papi, name))
			a->verdict = TRIAL_BEYOND;
	}
}

/* A process that is as it was has one thread, and handles signals as before. */
static bool is_unchanged(const struct sigaction before[NSIG])
{
	struct dirent *e;
	struct sigaction now;
	unsigned threads = 0;
	DIR *d = opendir("/proc/self/task");

	while (d && (e = readdir(d)))
		threads += e->d_name[0] != '.';
	for (int i = 1; i < NSIG; i++)
		if (!sigaction(i, NULL, &now) && now.sa_handler != before[i].sa_handler)
			return false;
	return threads <= 1;
}

/* Its streams are a pipe that nobody reads; any of them may have been closed. */
static void run_trial(const char *counters, int result)
{
	static struct answer a;
	static struct sigaction before[NSIG];
	const struct rlimit none = {0, 0}, time = {TRIAL_MS / 1000, TRIAL_MS / 1000};
	int said[2], bytes = 0;

	setsid();
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &time);
	if ((result = fcntl(result, F_DUPFD_CLOEXEC, 3)) < 0 || pipe(said) ||
	    (said[1] = fcntl(said[1], F_DUPFD, 3)) < 0 || dup2(said[0], STDIN_FILENO) < 0 ||
	    dup2(said[1], STDOUT_FILENO) < 0 || dup2(said[1], STDERR_FILENO) < 0)
		_exit(1);
	for (int i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before[i]);
	try_library(&a, counters);
	if (!is_unchanged(before))
		a.verdict = TRIAL_CHANGES;
	fflush(NULL);
	if (ioctl(STDIN_FILENO, FIONREAD, &bytes) || bytes)
		a.verdict = TRIAL_TALKS;
	_exit(write(result, &a, sizeof a) != sizeof a);
}

/* --- in whoever asks --- */

static bool needs_papi(const char *counters)
{
	size_t n;

	for (const char *c = counters; *c; c += n + (c[n] == ',')) {
		n = strcspn(c, ",");
		if (n && counter_kernel(c, n) == COUNTER_PAPI)
			return true;
	}
	return false;
}

/* The child's status, and what it said, if that is all of it. What it has started ends with it. */
static int end_trial(pid_t pid, int result, struct answer *a, bool *done)
{
	struct pollfd fd = {result, POLLIN, 0};
	int status = 0;

	bool timely = poll(&fd, 1, TRIAL_MS) > 0;
	*done = timely && read(result, a, sizeof *a) == sizeof *a && a->verdict <= TRIAL_GOOD;
	a->path[sizeof a->path - 1] = '\0';
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL); /* one that is on its way out keeps its status */
	waitpid(pid, &status, 0);
	return timely ? status : -1;
}

void papi_trial(const char *counters, char *out, size_t size)
{
	static const char *const why[] = {
		[TRIAL_NOT_FOUND] = "libpapi (version 5 to 7) cannot be loaded",
		[TRIAL_LACKS] = "libpapi lacks a function",
		[TRIAL_BEYOND] = "PAPI wrote more values than it was asked for when it was tried",
		[TRIAL_TALKS] = "PAPI wrote to the standard output or error when it was tried",
		[TRIAL_CHANGES] = "PAPI started a thread, or changed how signals are handled, when it was tried"};
	struct answer a = {.path = ""};
	int ends[2], status = -1;
	bool done = false;

	out[0] = '\0';
	if (!needs_papi(counters) || pipe2(ends, O_CLOEXEC))
		return;
	pid_t pid = process_child();
	if (pid == 0)
		run_trial(counters, ends[1]);
	close(ends[1]);
	if (pid > 0)
		status = end_trial(pid, ends[0], &a, &done);
	close(ends[0]);
	if (done && a.verdict == TRIAL_GOOD)
		snprintf(out, size, "%s", a.path);
	else if (done)
		snprintf(out, size, "!%s", why[a.verdict]);
	else if (pid < 0)
		snprintf(out, size, "!there is no process to try PAPI in");
	else if (status == -1)
		snprintf(out, size, "!PAPI was not done after %d s when it was tried", TRIAL_MS / 1000);
	else if (WIFSIGNALED(status))
		snprintf(out, size, "!PAPI crashed when it was tried (signal %d)", WTERMSIG(status));
	else
		snprintf(out, size, "!PAPI ended the process in which it was tried (status %d)", WEXITSTATUS(status));
}
