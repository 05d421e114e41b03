/* SPDX-License-Identifier: BSD-3-Clause
 * process - what is started for another's data has nothing of whoever starts it, and leaves nothing behind
 */
#include "process/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#define SOMEBODY 61013

static char said[65536], told[512];
static struct error error;

/* Runs a script of sh; what it wrote is in `said` and `told`. */
static int script(const char *text, const struct process *more)
{
	const char *argv[] = {"/bin/sh", "-c", text, NULL};
	struct process p = more ? *more : (struct process){.seconds = 20};
	p.argv = p.argv ? p.argv : argv;
	p.input = p.input ? p.input : "";
	p.output = said;
	p.output_size = sizeof said;
	p.messages = told;
	p.message_size = sizeof told;
	error.text[0] = '\0';
	return process_run(&p, &error);
}

static bool is_gone(int pid)
{
	for (int i = 0; i < 200 && kill(pid, 0) == 0; i++)
		usleep(20000);
	return kill(pid, 0) != 0;
}

static void test_bad(void)
{
	static char much[PROCESS_INPUT_MAX + 2];
	const char *nowhere[] = {"/nonexistent/helper", NULL};
	memset(much, 'x', sizeof much - 1);
	ok(script("cat", &(struct process){.input = much, .seconds = 5}) == -1 && strstr(error.text, "65537 bytes"),
	   "more input than a pipe holds: %s", error.text);
	ok(script("", &(struct process){.argv = nowhere, .seconds = 5}) == -1 && strstr(told, "could not be executed"),
	   "no such program: %s", error.text);
	ok(script("exit 3", NULL) == -1 && strstr(error.text, "exit status 3"), "it fails: %s", error.text);
	ok(script("kill -SEGV $$", NULL) == -1 && strstr(error.text, "signal 11"), "it crashes: %s", error.text);
}

/* All that a process has of its parent, which has much: an environment, descriptors, a terminal, signals, a folder. */
static void test_nothing(void)
{
	const char *more[] = {"A=1", NULL};
	int fd = open("/etc/passwd", O_RDONLY), high = fd < 0 ? -1 : dup2(fd, 77);
	setenv("SECRET", "of the parent", 1);
	setenv("LD_LIBRARY_PATH", "/tmp", 1);
	ok(script("/usr/bin/env", &(struct process){.environment = more, .seconds = 20}) == 0 &&
	           strstr(said, "A=1\n") && strstr(said, "LC_ALL=C\n") && strstr(said, "PATH=/usr/sbin:") &&
	           !strstr(said, "SECRET") && !strstr(said, "LD_LIBRARY_PATH"),
	   "an environment made from nothing");
	ok(high == 77 && script("exec ls -l /proc/self/fd", NULL) == 0 && !strstr(said, "passwd") &&
	           !strstr(said, " 77 ->"),
	   "no descriptors but its own: %s", strstr(said, "passwd") ? said : "");
	close(77);
	close(fd);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	ok(script("grep -E '^(SigBlk|SigIgn):' /proc/self/status", NULL) == 0 &&
	           !strcmp(said, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"),
	   "no signals that are ignored: %s", strcmp(said, "") ? "" : told);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	ok(script("read pid name state parent group session tty rest </proc/self/stat; "
	          "test $session = $pid && test $tty = 0 || echo session; (exec </dev/tty) 2>/dev/null && echo tty; "
	          "pwd; "
	          "umask",
	          NULL) == 0 &&
	           !strcmp(said, "/\n0077\n"),
	   "a session of its own, without a terminal, in /");
	ok(script("cat", &(struct process){.input = "what it is told\n", .seconds = 20}) == 0 &&
	           !strcmp(said, "what it is told\n"),
	   "its input is what it was told");
}

/* The parent's own 0, 1 and 2 may be closed. */
static void test_closed(void)
{
	int kept = fcntl(1, F_DUPFD_CLOEXEC, 50), rv;
	fflush(stdout);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	rv = script("cat; echo out; echo messages >&2", &(struct process){.input = "in\n", .seconds = 20});
	for (int fd = 0; fd < 3; fd++)
		dup2(kept, fd);
	close(kept);
	ok(rv == 0 && !strcmp(said, "in\nout\n") && !strcmp(told, "messages\n"), "without standard streams: %s", told);
}

static void test_bounds(void)
{
	const struct limits limits = {UINT64_C(64) << 20, 7};
	const struct process limited = {.limits = &limits, .seconds = 20};
	ok(script("yes | head -c 1000000; echo end >&2", NULL) == 0 && strlen(said) == sizeof said - 1 &&
	           !strcmp(told, "end\n"),
	   "of what it writes there is so much, and it is not waited for");
	ok(script("cat /proc/self/limits", &limited) == 0 &&
	           strstr(said, "Max cpu time              7                    7 ") &&
	           strstr(said, "Max file size             67108864             67108864 ") &&
	           strstr(said, "Max core file size        0                    0 "),
	   "limits that it cannot raise");
}

/* What it has started is not there when it is done. */
static void test_children(const struct identity *who)
{
	struct process p = {.seconds = 1, .identity = who};
	ok(script("trap '' TERM INT HUP; sleep 300 & echo $!; sleep 300 & echo $!; wait", &p) == -1 &&
	           is_gone(atoi(said)) && is_gone(atoi(strchr(said, '\n') + 1)),
	   "it is killed after a second, with all children: %s", error.text);
	p.seconds = 20;
	p.argv = NULL;
	ok(script("sleep 300 </dev/null >/dev/null 2>&1 & echo $!", &p) == 0 && (!who || is_gone(atoi(said))),
	   "it ends, and what it leaves is ended%s", who ? "" : ": not of one's own");
	if (!who)
		kill(atoi(said), SIGKILL);
}

static void test_identity(void)
{
	const gid_t group = SOMEBODY;
	const struct identity who = {SOMEBODY, SOMEBODY, &group, 1, false},
			      apart = {SOMEBODY, SOMEBODY, &group, 1, true};
	struct process p = {.seconds = 20, .identity = &who};
	if (geteuid() != 0) {
		ok(script("echo x", &p) == -1 && strstr(told, "could not become") && !*said,
		   "who may not become another user does not start it");
		return;
	}
	ok(script("grep -E '^(Uid|Gid|Groups|CapPrm|CapEff|CapInh|CapAmb|NoNewPrivs):' /proc/self/status", &p) == 0 &&
	           strstr(said, "Uid:\t61013\t61013\t61013\t61013\n") &&
	           strstr(said, "Gid:\t61013\t61013\t61013\t61013\n") && strstr(said, "Groups:\t61013 \n") &&
	           strstr(said, "CapPrm:\t0000000000000000\n") && strstr(said, "CapEff:\t0000000000000000\n") &&
	           strstr(said, "CapInh:\t0000000000000000\n") && strstr(said, "CapAmb:\t0000000000000000\n") &&
	           strstr(said, "NoNewPrivs:\t1\n"),
	   "another user, and no more: %s", strstr(said, "NoNewPrivs") ? "" : told);
	/* a shell would make its groups the same again */
	p.identity = &apart;
	p.argv = (const char *[]){"/bin/grep", "^Gid:", "/proc/self/status", NULL};
	ok(script("", &p) == 0 && !strcmp(said, "Gid:\t61013\t65534\t65534\t65534\n"), "apart: its groups differ");
	p.argv = (const char *[]){"/bin/cat", "/proc/self/environ", NULL};
	ok(script("", &p) == -1 && !*said && strstr(told, "Permission denied"),
	   "and what it executes is not open to its user");
	test_children(&who);
}

int main(void)
{
	test_bad();
	test_nothing();
	test_closed();
	test_bounds();
	test_children(NULL);
	test_identity();
	return tap_end();
}
