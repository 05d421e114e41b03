/* SPDX-License-Identifier: BSD-3-Clause
 * process - starts processes
 *
 * slurmstepd has threads: between fork and exec only system calls are made, and everything that needs more is made
 * ready before.
 */
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/cgroup.h"

/* Of a helper with limits: its own code and libraries (15 MiB), what the kernel maps, and the stack. */
#define CODE_SIZE  (UINT64_C(48) << 20)
#define STACK_SIZE (UINT64_C(8) << 20)
#define FILES      256

/* With AddressSanitizer (tests/sanitized) a process maps 20 TB that it never touches. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_LIMIT(n) RLIM_INFINITY
#else
#define MEMORY_LIMIT(n) (n)
#endif

/* Of one that is left alone. */
#define NICE               10
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_LAST        (2 << 13 | 7) /* best effort, the last of its levels */
#define LEAVE_MS           5000

/* Exit status of a child that did not get as far as the helper. It says on stderr what it failed at. */
#define FAILED  121
#define REAP_MS 500

/* One that is polite: between the questions, and then. */
#define ASK_MS    100
#define POLITE_MS 500

#define PATHS "/usr/sbin:/usr/bin:/sbin:/bin"

/* Between two looks whether a child has ended, ns. */
#define PAUSE_LEAST 100000
#define PAUSE_MOST  5000000

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

static void fail(const char *what)
{
	if (write(2, what, strlen(what)) < 0) {
		/* the exit status must do */
	}
	_exit(FAILED);
}

/* Descriptors 0 to 2, and perhaps one more, stay; they may be any before. */
static void arrange(const int *fds, int n)
{
	int high[4];

	/* they may have taken each other's places if those were closed: move them out of the way first */
	for (int i = 0; i < n; i++)
		high[i] = fcntl(fds[i], F_DUPFD, n);
	for (int i = 0; i < n; i++) {
		if (high[i] < 0 || dup2(high[i], i) != i)
			_exit(FAILED);
	}
	close_from(n);
}

static void reset_signals(bool deaf)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++) {
		bool asked = i == SIGTERM || i == SIGINT || i == SIGHUP || i == SIGQUIT;
		if (i != SIGKILL && i != SIGSTOP)
			signal(i, asked && deaf ? SIG_IGN : SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void limit(const struct limits *l)
{
	/* what it allocates; what its code, libraries and stack take comes on top */
	const struct {
		int which;
		rlim_t value;
	} all[] = {{RLIMIT_DATA, MEMORY_LIMIT(l->memory)},
	           {RLIMIT_AS, MEMORY_LIMIT(l->memory + CODE_SIZE)},
	           {RLIMIT_FSIZE, l->memory},
	           {RLIMIT_CPU, l->seconds},
	           {RLIMIT_STACK, STACK_SIZE},
	           {RLIMIT_CORE, 0},
	           {RLIMIT_NOFILE, FILES},
	           {RLIMIT_MEMLOCK, 0},
	           {RLIMIT_MSGQUEUE, 0}};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct rlimit value = {all[i].value, all[i].value};
		if (setrlimit((__rlimit_resource_t)all[i].which, &value)) {
			/* a lower one is there already and cannot be raised */
		}
	}
	signal(SIGXFSZ, SIG_IGN); /* a file that becomes too large is an error like a full disk */
}

static void execute(const char *const *argv, const char *const *more)
{
	const char *environment[PROCESS_ENVIRONMENT_MAX + 3] = {"PATH=" PATHS, "LC_ALL=C", NULL};

	for (size_t i = 0; more && more[i] && i < PROCESS_ENVIRONMENT_MAX; i++)
		environment[i + 2] = more[i];
	umask(077);
	if (chdir("/"))
		fail("the helper could not enter /\n");
	execve(argv[0], (char *const *)argv, (char *const *)environment);
	fail("the helper could not be executed: is it there, and may everybody execute it?\n");
}

static void run_child(const struct process *p, pid_t parent, int in, int out, int err)
{
	reset_signals(false);
	setsid();
	arrange((int[]){in, out, err}, 3);
	if (p->limits)
		limit(p->limits);
	if (p->identity && !identity_take(p->identity))
		fail("the helper could not become the job's user\n");
	if (parent) { /* a change of identity would clear it; parent: 0, a thread of it that may end first */
		prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL);
		if (getppid() != parent)
			_exit(FAILED);
	}
	execute(p->argv, p->environment);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && write(fd, text, strlen(text)) < 0) {
		/* then it is not so */
	}
	if (fd >= 0)
		close(fd);
}

/* Last in what the machine does: jobs go first. If memory is short it is the one to end, and not, as slurmstepd, the
 * last one. */
static void be_nice(void)
{
	if (setpriority(PRIO_PROCESS, 0, NICE) || syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_LAST)) {
		/* then it is not so */
	}
	write_text("/proc/self/oom_score_adj", "500");
}

static void leave_child(const char *const *argv, int in, int none, int keep)
{
	/* When a job ends, slurmd asks all processes of its steps to end, and with proctrack/linuxproc a helper may be
	 * taken for one of them as long as the process between has not gone. */
	reset_signals(true);
	setsid();
	cgroup_leave();
	pid_t between = getpid(), pid = fork();
	if (pid)
		_exit(pid < 0 ? FAILED : 0);
	/* proctrack/linuxproc kills what descends from slurmstepd and does not bear its name: be adopted before exec
	 * changes that. */
	while (getppid() == between)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	be_nice();
	arrange((int[]){in, none, none, keep}, keep >= 0 ? 4 : 3);
	execute(argv, NULL);
}

/* --- in whoever starts it --- */

/* One of the two streams that come back. */
struct stream {
	int fd;
	char *text;
	size_t size, used;
	const struct process *taker; /* whose `take` gets it; NULL: goes into text */
	bool enough;
};

/* Reads what is there; false at the end. */
static bool drain(struct stream *s)
{
	char rest[16384];
	size_t room = s->text ? s->size - 1 - s->used : 0;
	ssize_t n = read(s->fd, room ? s->text + s->used : rest, room ? room : sizeof rest);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (s->taker && n > 0)
		s->enough = !s->taker->take(s->taker->context, rest, (size_t)n);
	if (room)
		s->used += (size_t)n;
	return n > 0;
}

/* Until both streams ended, somebody has enough, or it is time. */
static void read_streams(struct stream streams[2], int64_t end)
{
	while ((streams[0].fd >= 0 || streams[1].fd >= 0) && !streams[0].enough) {
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

/* Has it ended? Then what is left of its session, of which it was the first process, is killed: as long as it is not
 * waited for, that has its number. */
static bool end_rest(pid_t pid)
{
	siginfo_t ended = {.si_pid = 0};
	if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0)
		return true; /* waitpid says why */
	if (ended.si_pid == pid)
		kill(-pid, SIGKILL);
	return ended.si_pid == pid;
}

/* Its status, or -1 if it still runs at the end of time. alone: it leaves nothing behind. */
static int wait_child(pid_t pid, int64_t end, bool alone)
{
	for (long pause = PAUSE_LEAST;; pause = pause < PAUSE_MOST ? 2 * pause : pause) {
		int status;
		pid_t got = alone && !end_rest(pid) ? 0 : waitpid(pid, &status, WNOHANG);
		if (got == pid)
			return status;
		if (got < 0 && errno != EINTR)
			return 0; /* somebody else reaped it: what it wrote must tell */
		if (now_ms() >= end)
			return -1;
		nanosleep(&(struct timespec){0, pause}, NULL);
	}
}

/* Its session: what it has started, too. */
static void end_child(const struct process *p, pid_t pid)
{
	for (int i = 0; p->polite && i < 3; i++) {
		if (wait_child(pid, now_ms() + (i < 2 ? ASK_MS : POLITE_MS), false) != -1)
			break;
		if (i < 2)
			kill(-pid, SIGINT);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	wait_child(pid, now_ms() + REAP_MS, false); /* in a file system that hangs not even that ends it */
}

static int explain_status(const char *path, int status, unsigned seconds, struct error *error)
{
	if (status == -1)
		return error_set(error, "%s: not done after %u s, and killed", path, seconds);
	if (WIFSIGNALED(status))
		return error_set(error, "%s: killed by signal %d", path, WTERMSIG(status));
	return WEXITSTATUS(status) == 0 ? 0 : error_set(error, "%s: exit status %d", path, WEXITSTATUS(status));
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
	pid_t parent = syscall(SYS_gettid) == getpid() ? getpid() : 0;
	int rv = -1;

	p->status = -1;
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
		run_child(p, parent, pipes[0][0], pipes[1][1], pipes[2][1]);
	struct stream streams[2] = {
		{.fd = pipes[1][0], .text = p->output, .size = p->output_size, .taker = p->take ? p : NULL},
		{.fd = pipes[2][0], .text = p->messages, .size = p->message_size}};
	pipes[1][0] = pipes[2][0] = -1;
	close_pipes(pipes);
	read_streams(streams, end);
	p->status = streams[0].enough ? -1 : wait_child(pid, end, p->identity != NULL);
	if (p->status == -1)
		end_child(p, pid);
	for (int i = 0; i < 2; i++) {
		if (streams[i].fd >= 0)
			close(streams[i].fd);
		if (streams[i].text)
			streams[i].text[streams[i].used] = '\0';
	}
	rv = streams[0].enough ? 0 : explain_status(p->argv[0], p->status, p->seconds, error);
done:
	close_pipes(pipes);
	return rv;
}

int process_leave(const char *const *argv, const char *input, int keep, struct error *error)
{
	int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	int rv = -1, none = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (open_pipes(pipes, input, error))
		goto done;
	pid_t pid = none >= 0 ? fork() : -1;
	if (pid < 0) {
		error_set(error, "no process for %s: %s", argv[0], strerror(errno));
		goto done;
	}
	if (pid == 0)
		leave_child(argv, pipes[0][0], none, keep);
	int status = wait_child(pid, now_ms() + LEAVE_MS, false);
	rv = status == 0 ? 0 : error_set(error, "%s: could not be started", argv[0]);
done:
	close_pipes(pipes);
	if (none >= 0)
		close(none);
	return rv;
}

void process_clean(char *line)
{
	size_t n = strlen(line);

	if (n > PROCESS_LINE)
		line[n = PROCESS_LINE] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (line[i] < 0x20 || line[i] > 0x7e)
			line[i] = '?';
	}
}

/* --- of the caller's own --- */

static bool is_in(const char *folder, size_t n, const char *name, char path[PATH_MAX])
{
	struct stat st;

	if (n == 0 || folder[0] != '/' || snprintf(path, PATH_MAX, "%.*s", (int)n, folder) >= PATH_MAX ||
	    stat(path, &st))
		return false;
	if (geteuid() == 0 && (st.st_uid != 0 || st.st_mode & 022))
		return false;
	return snprintf(path, PATH_MAX, "%.*s/%s", (int)n, folder, name) < PATH_MAX && access(path, X_OK) == 0;
}

const char *process_find(const char *name, char path[PATH_MAX])
{
	const char *all[] = {getenv("PATH"), PATHS};

	for (size_t i = 0; i < 2; i++) {
		for (const char *p = all[i]; p && *p; p += p[strcspn(p, ":")] ? strcspn(p, ":") + 1 : strlen(p))
			if (is_in(p, strcspn(p, ":"), name, path))
				return path;
	}
	return NULL;
}

pid_t process_child(void)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0 && geteuid() == 0)
		prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
	return pid;
}

bool process_may_own(const char *name)
{
	if (!identity_changed())
		return true;
	if (name)
		fprintf(stderr, "%s: root starts no programs for another user's trace; do this as an ordinary user\n",
		        name);
	errno = EPERM;
	return false;
}

pid_t process_own(const char *name, char *const argv[], void (*prepare)(void *context), void *context)
{
	if (!process_may_own(name))
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		if (prepare)
			prepare(context);
		execvp(argv[0], argv);
		int number = errno;
		if (name)
			fprintf(stderr, "%s: %s: %s\n", name, argv[0], strerror(number));
		_exit(number == ENOENT ? 127 : 126);
	}
	if (pid < 0 && name)
		fprintf(stderr, "%s: %s: no process: %s\n", name, argv[0], strerror(errno));
	return pid;
}

void process_replace(const char *path, char *const argv[])
{
	execv(path, argv);
}
