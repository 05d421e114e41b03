/* SPDX-License-Identifier: BSD-3-Clause
 * process - starts processes: nobody else in spoor does (tests/starts.t)
 *
 * A helper gets nothing of whoever starts it: an environment made from nothing, no descriptor but pipes, no terminal,
 * default signals, a session of its own. Whoever waits for it does not wait for ever.
 */
#ifndef SPOOR_PROCESS_H
#define SPOOR_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/identity.h"
#include "trace/base/error.h"

/* What the helper may use: it runs outside of the job's cgroup, and what it reads was written by a user. */
struct limits {
	uint64_t memory;  /* bytes: of its address space beside its code, and of any file that it writes */
	unsigned seconds; /* of processor time */
};

struct process {
	const char *const *argv;         /* argv[0] is the absolute path; NULL-terminated */
	const char *const *environment;  /* NAME=VALUE, beside PATH and LC_ALL; NULL-terminated; may be NULL */
	const char *input;               /* goes to its stdin; at most PROCESS_INPUT_MAX bytes */
	const struct identity *identity; /* NULL: as the caller */
	const struct limits *limits;     /* NULL: those of the caller */
	unsigned seconds;                /* how long to wait; then it is killed */
	char *output; /* what it wrote to stdout, with a NUL; what does not fit is dropped; may be NULL */
	size_t output_size;
	char *messages; /* the same of stderr */
	size_t message_size;
	/* Gets what it wrote to stdout as it comes, instead of `output`; false: it may end now. May be NULL. */
	bool (*take)(void *context, const char *bytes, size_t n);
	void *context;
	bool polite; /* before it is killed, it is asked twice to end, by SIGINT: srun ends its step then */
	int status;  /* gets its status as of wait(); -1: it did not end, or did not start */
};

/* A pipe holds this much on every Linux, so that writing never waits for the helper. */
#define PROCESS_INPUT_MAX 65536

#define PROCESS_ENVIRONMENT_MAX 8

/* Runs it in folder /. Returns 0 if it ended with exit status 0, or `take` had enough; else -1 with error set. What it
 * has started is killed with it; of somebody else's (identity), also what is left when it has ended by itself. */
int process_run(struct process *p, struct error *error);

/* Where a command is: in the PATH of the caller, of which root takes only folders that are root's; else in those of
 * helpers. Returns path, or NULL: nowhere. */
const char *process_find(const char *name, char path[PATH_MAX]);

/* Starts a program in the same way and leaves it: it is nobody's child, in no cgroup of a job (process/cgroup.h), does
 * not hear what a job is asked to end with, is nice to jobs, and has nobody who listens to what it says. It gets the
 * descriptor `keep` (>= 0; another lock on something) as PROCESS_KEPT. Returns when it is on its way, which waits for
 * no file system: 0, or -1 with error set. */
#define PROCESS_KEPT 3
int process_leave(const char *const *argv, const char *input, int keep, struct error *error);

/* As fork(2), with flushed streams: a child that executes nothing. Of root it is not dumpable. */
pid_t process_child(void);

/* Starts what the user has named, or a program of their own choice: as the caller, with the caller's terminal and
 * environment. `prepare` (NULL: nothing) is called in the child. name: in messages; NULL: nothing is said. In a process
 * that was root's and has become somebody else nothing is started: it has root's terminal. Returns its number, or -1
 * with errno, and a message. */
pid_t process_own(const char *name, char *const argv[], void (*prepare)(void *context), void *context);
/* May this process start such a program? false: it has been said why not, by `name`. */
bool process_may_own(const char *name);
/* Becomes another program of spoor's. Returns only if that fails, with errno. */
void process_replace(const char *path, char *const argv[]);

/* Makes a text that somebody else wrote fit for one line of a log: what is not printable ASCII becomes `?`, and what is
 * beyond PROCESS_LINE bytes is cut. */
#define PROCESS_LINE 500
void process_clean(char *line);

#endif
