/* SPDX-License-Identifier: BSD-3-Clause
 * process - starts a helper from slurmstepd
 *
 * slurmstepd has threads: between fork and exec only system calls are made, and everything that needs more is made ready before.
 */
#include "spank/process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit status of a child that did not get as far as the helper. It says on stderr what it failed at. */
#define FAILED 121
#define REAP_MS 500

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* --- in the child --- */

static void close_from(int first)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)first, ~0U, 0U))
		return;
#endif
	struct rlimit limit;
	int end = getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > 65536 ? 65536 : (int)limit.rlim_cur;
	for (int fd = first; fd < end; fd++)
		close(fd);
}

/* The system calls themselves: glibc's functions would take locks to tell other threads, which the child does not have. */
static bool become(const struct identity *who)
{
	uid_t r = 0, e = 0, s = 0;
	gid_t rg = 0, eg = 0, sg = 0;

	if (syscall(SYS_setgroups, who->group_count, who->groups) || syscall(SYS_setresgid, who->gid, who->gid, who->gid) ||
	    syscall(SYS_setresuid, who->uid, who->uid, who->uid))
		return false;
	if (getresuid(&r, &e, &s) || r != who->uid || e != who->uid || s != who->uid)
		return false;
	if (getresgid(&rg, &eg, &sg) || rg != who->gid || eg != who->gid || sg != who->gid)
		return false;
	return who->uid == 0 || syscall(SYS_setresuid, (uid_t)0, (uid_t)0, (uid_t)0) != 0; /* there is no way back */
}

static void fail(const char *what)
{
	if (write(2, what, strlen(what)) < 0) {
		/* the exit status must do */
	}
	_exit(FAILED);
}

static void run_child(const struct process *p, int in, int out, int err)
{
	static char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++) {
		/* When a job ends, slurmd asks all processes of its steps to end, and with proctrack/linuxproc a helper may be taken for one
		 * of them as long as the process between has not gone. */
		bool asked = i == SIGTERM || i == SIGINT || i == SIGHUP || i == SIGQUIT;
		if (i != SIGKILL && i != SIGSTOP)
			signal(i, asked && p->detached ? SIG_IGN : SIG_DFL);
	}
	setsid();
	if (p->detached) {
		pid_t between = getpid(), pid = fork();
		if (pid)
			_exit(pid < 0 ? FAILED : 0);
		/* proctrack/linuxproc kills what descends from slurmstepd and does not bear its name: be adopted before exec changes that. */
		while (getppid() == between)
			nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The pipes may have taken 0, 1 or 2 if those were closed: move them out of the way first. */
	int high[3] = {fcntl(in, F_DUPFD, 3), fcntl(out, F_DUPFD, 3), fcntl(err, F_DUPFD, 3)};
	for (int i = 0; i < 3; i++) {
		if (high[i] < 0 || dup2(high[i], i) != i)
			_exit(FAILED);
	}
	close_from(3);
	umask(077);
	if (p->identity && !become(p->identity))
		fail("the helper could not become the job's user\n");
	if (chdir("/"))
		fail("the helper could not enter /\n");
	execve(p->argv[0], (char *const *)p->argv, environment);
	fail("the helper could not be executed: is it there, and may everybody execute it?\n");
}

/* --- in slurmstepd --- */

/* One of the two streams that come back. */
struct stream {
	int fd;
	char *text;
	size_t size, used;
};

/* Reads what is there; false at the end. */
static bool drain(struct stream *s)
{
	char rest[4096];
	size_t room = s->text ? s->size - 1 - s->used : 0;
	ssize_t n = read(s->fd, room ? s->text + s->used : rest, room ? room : sizeof rest);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (room)
		s->used += (size_t)n;
	return n > 0;
}

/* Until both streams ended, or it is time. */
static void read_streams(struct stream streams[2], int64_t end)
{
	while (streams[0].fd >= 0 || streams[1].fd >= 0) {
		struct pollfd fds[2] = {{streams[0].fd, POLLIN, 0}, {streams[1].fd, POLLIN, 0}};
		int64_t left = end - now_ms();
		if (left <= 0)
			return;
		if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < 2; i++) {
			if (fds[i].revents && !drain(&streams[i])) {
				close(streams[i].fd);
				streams[i].fd = -1;
			}
		}
	}
}

/* Its status, or -1 if it still runs at the end of time. */
static int wait_until(pid_t pid, int64_t end)
{
	for (;;) {
		int status;
		pid_t got = waitpid(pid, &status, WNOHANG);
		if (got == pid)
			return status;
		if (got < 0 && errno != EINTR)
			return 0; /* somebody else reaped it: what it wrote must tell */
		if (now_ms() >= end)
			return -1;
		nanosleep(&(struct timespec){0, 5000000}, NULL);
	}
}

static int explain(const char *path, int status, unsigned seconds, struct error *error)
{
	if (status == -1)
		return error_set(error, "%s: not done after %u s, and killed", path, seconds);
	if (WIFSIGNALED(status))
		return error_set(error, "%s: killed by signal %d", path, WTERMSIG(status));
	return WEXITSTATUS(status) == 0 ? 0 : error_set(error, "%s: exit status %d", path, WEXITSTATUS(status));
}

/* status is that of the process between. */
static int explain_detached(const struct process *p, bool ended, int status, struct error *error)
{
	if (status != 0)
		return error_set(error, "%s: could not be started", p->argv[0]);
	if (!ended)
		return error_set(error, "%s: not done after %u s, and left alone", p->argv[0], p->seconds);
	return strcmp(p->output, PROCESS_DONE) ? error_set(error, "%s: did not do all that it should", p->argv[0]) : 0;
}

static int open_pipes(int pipes[3][2], const char *input, struct error *error)
{
	size_t n = strlen(input);

	if (n > PROCESS_INPUT_MAX)
		return error_set(error, "the helper's input has %zu bytes, more than %d", n, PROCESS_INPUT_MAX);
	for (int i = 0; i < 3; i++) {
		if (pipe2(pipes[i], O_CLOEXEC))
			return error_set(error, "no pipe: %s", strerror(errno));
	}
	fcntl(pipes[0][1], F_SETFL, O_NONBLOCK);
	if (write(pipes[0][1], input, n) != (ssize_t)n)
		return error_set(error, "the pipe does not take %zu bytes", n);
	return 0;
}

static void close_pipes(int pipes[3][2])
{
	for (int i = 0; i < 6; i++) {
		if (pipes[i / 2][i % 2] >= 0)
			close(pipes[i / 2][i % 2]);
		pipes[i / 2][i % 2] = -1;
	}
}

int process_run(struct process *p, struct error *error)
{
	int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	int64_t end = now_ms() + p->seconds * INT64_C(1000);
	int rv = -1;

	if (p->output)
		p->output[0] = '\0';
	if (p->messages)
		p->messages[0] = '\0';
	if (open_pipes(pipes, p->input, error))
		goto done;
	pid_t pid = fork();
	if (pid < 0) {
		error_set(error, "no process for %s: %s", p->argv[0], strerror(errno));
		goto done;
	}
	if (pid == 0)
		run_child(p, pipes[0][0], pipes[1][1], pipes[2][1]);
	struct stream streams[2] = {{pipes[1][0], p->output, p->output_size, 0}, {pipes[2][0], p->messages, p->message_size, 0}};
	pipes[1][0] = pipes[2][0] = -1;
	close_pipes(pipes);
	read_streams(streams, end);
	bool ended = streams[0].fd < 0 && streams[1].fd < 0;
	int status = wait_until(pid, end);
	if (status == -1 && !p->detached) {
		kill(pid, SIGKILL);
		wait_until(pid, now_ms() + REAP_MS); /* in a file system that hangs not even that ends it */
	}
	for (int i = 0; i < 2; i++) {
		if (streams[i].fd >= 0)
			close(streams[i].fd);
		if (streams[i].text)
			streams[i].text[streams[i].used] = '\0';
	}
	rv = p->detached ? explain_detached(p, ended, status, error) : explain(p->argv[0], status, p->seconds, error);
done:
	close_pipes(pipes);
	return rv;
}

int process_guard(int (*work)(void *argument), void *argument, unsigned seconds, struct error *error)
{
	pid_t pid = fork();

	if (pid < 0)
		return error_set(error, "no process: %s", strerror(errno));
	if (pid == 0)
		_exit(work(argument));
	int status = wait_until(pid, now_ms() + seconds * INT64_C(1000));
	if (status == -1) {
		kill(pid, SIGKILL);
		wait_until(pid, now_ms() + REAP_MS);
		return error_set(error, "the file system does not answer within %u s", seconds);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : error_set(error, "killed by signal %d", WTERMSIG(status));
}
