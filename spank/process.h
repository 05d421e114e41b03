/* SPDX-License-Identifier: BSD-3-Clause
 * process - starts a helper from slurmstepd, as root or as the job's user, and waits for it, but not for ever
 */
#ifndef SPOOR_PROCESS_H
#define SPOOR_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "trace/error.h"

/* Who the helper runs as, for good. */
struct identity {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary ones */
	size_t group_count;
};

struct process {
	const char *const *argv; /* argv[0] is the absolute path; NULL-terminated */
	const char *input;       /* goes to its stdin; at most PROCESS_INPUT_MAX bytes */
	const struct identity *identity; /* NULL: as the caller */
	unsigned seconds;        /* how long to wait; then it is killed, unless it is detached */
	/* Not a child of slurmstepd: Slurm kills those when the job is over. Its exit status cannot be had then: that it did all well it
	 * says by PROCESS_DONE as its whole output. After the time it is left running. */
	bool detached;
	char *output;            /* what it wrote to stdout, with a NUL; what does not fit is dropped */
	size_t output_size;
	char *messages;          /* the same of stderr */
	size_t message_size;
};

#define PROCESS_DONE "done\n"

/* A pipe holds this much on every Linux, so that writing never waits for the helper. */
#define PROCESS_INPUT_MAX 65536

/* Runs it with an empty environment (but PATH), closed descriptors, default signals, in a session of its own, in folder /.
 * Returns 0 if it ended with exit status 0 (detached: said PROCESS_DONE), else -1 with error set. */
int process_run(struct process *p, struct error *error);

/* Does work(argument) in a child, which shares the memory of `argument` only if that was mapped so, and waits for at most that many seconds: for
 * system calls on a file system that may hang. The child may make system calls only. Returns what work returned (0 to 100), or -1 with
 * error set: it is not done after that time, and is left to itself. */
int process_guard(int (*work)(void *argument), void *argument, unsigned seconds, struct error *error);

#endif
