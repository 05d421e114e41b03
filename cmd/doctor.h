/* SPDX-License-Identifier: BSD-3-Clause
 * doctor - the checks of `spoor doctor`: each prints a line for what it finds
 */
#ifndef SPOOR_DOCTOR_H
#define SPOOR_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "archive/plugstack.h"
#include "policy/decision.h"

/* DOUBT: it may be right. WRONG: something must be done. */
enum finding { GOOD, DOUBT, WRONG };

/* Tells the finding and the text, and counts it. */
void doctor_say(enum finding finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints lines, each with its own indentation, in as many lines as fit the terminal; all of a line elsewhere. */
void doctor_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How often each was said. */
extern unsigned doctor_said[WRONG + 1];
/* Makes what is said from now on go through a pipe to another process, one that runs doctor_hear; -1: no more. */
void doctor_say_to(int fd);
/* Says what comes through a pipe, until its other end is closed. Returns 0, or -1: nothing came for so many seconds. */
int doctor_hear(int fd, unsigned seconds);

/* doctor_slurm.c: what is installed, and what Slurm loads. */
/* Runs a command with this LD_PRELOAD (NULL: as it is), its output in out, with a NUL; what does not fit is lost.
 * Returns its status as wait() gives it, or -1. */
int doctor_run(char *const argv[], const char *preload, char *out, size_t size);
extern const char *const doctor_tracers[][2]; /* path and MPI libraries of each; ends with NULL */
void doctor_tracer(void);
void doctor_helper(void);
void doctor_slurm(const struct plugstack *stack);
/* Is the spool on another disk than Slurm's own? */
void doctor_spool_disk(const char *spool);

/* doctor_try.c: does what a job of that user does, as the user: opens the tracers, reads the policy, makes and removes
 * a file in a step's folder of the spool and in a user's folder of the archive. Root is anybody; others are themselves.
 * NULL: nobody. */
void doctor_try(const char *user, const char *policy, const struct decision *d);

/* doctor_test.c: sends a job through Slurm, and follows its trace into the archive. */
struct doctor_test {
	const char *program; /* an MPI program with its arguments, split at blanks; NULL: one of spoor's */
	const char *user;    /* who it runs as; NULL: the caller */
	int64_t nodes;       /* 0: one or two */
};
void doctor_test(const struct doctor_test *test, const char *policy, const struct decision *d);

/* doctor_job.c: what is in the spool, what of a job is in the archive, and what became of one job. */
void doctor_spool(const char *spool);
/* Says which traces there are, and returns how many. */
size_t doctor_find_traces(const char *archive, const char *job);
/* Returns the exit status of the command. */
int doctor_job(uint64_t job, const char *policy);

#endif
