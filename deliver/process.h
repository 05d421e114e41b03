/* SPDX-License-Identifier: BSD-3-Clause
 * process - starts a helper, as root or as the job's user: and waits for it, but not for ever; or leaves it to itself
 */
#ifndef SPOOR_PROCESS_H
#define SPOOR_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/error.h"

/* Who the helper runs as, for good. */
struct identity {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary ones */
	size_t group_count;
};

/* What the helper may use: it runs outside of the job's cgroup, and what it reads was written by a user. */
struct limits {
	uint64_t memory;  /* bytes: of its address space beside its code, and of any file that it writes */
	unsigned seconds; /* of processor time */
};

struct process {
	const char *const *argv;         /* argv[0] is the absolute path; NULL-terminated */
	const char *input;               /* goes to its stdin; at most PROCESS_INPUT_MAX bytes */
	const struct identity *identity; /* NULL: as the caller */
	const struct limits *limits;     /* NULL: those of the caller */
	unsigned seconds;                /* how long to wait; then it is killed */
	char *output; /* what it wrote to stdout, with a NUL; what does not fit is dropped; may be NULL */
	size_t output_size;
	char *messages; /* the same of stderr */
	size_t message_size;
	int status; /* gets its status as of wait(); -1: it did not end, or did not start */
};

/* A pipe holds this much on every Linux, so that writing never waits for the helper. */
#define PROCESS_INPUT_MAX 65536

/* Runs it with an empty environment (but PATH), closed descriptors, default signals, in a session of its own, in folder
 * /. Returns 0 if it ended with exit status 0, else -1 with error set. */
int process_run(struct process *p, struct error *error);

/* Starts a program in the same way and leaves it: it is nobody's child, in no cgroup of a job (deliver/cgroup.h), does
 * not hear what a job is asked to end with, is nice to jobs, and has nobody who listens to what it says. It gets the
 * descriptor `keep` (>= 0; another lock on something) as PROCESS_KEPT. Returns when it is on its way, which waits for
 * no file system: 0, or -1 with error set. */
#define PROCESS_KEPT 3
int process_leave(const char *const *argv, const char *input, int keep, struct error *error);

/* Makes a text that somebody else wrote fit for one line of a log: what is not printable ASCII becomes `?`, and what is
 * beyond PROCESS_LINE bytes is cut. */
#define PROCESS_LINE 500
void process_clean(char *line);

#endif
