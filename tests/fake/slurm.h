/* SPDX-License-Identifier: BSD-3-Clause
 * slurm - what a fake Slurm tells plugins of a step, each function of which can be made to fail, and what it was told
 */
#ifndef SPOOR_TESTS_FAKE_SLURM_H
#define SPOOR_TESTS_FAKE_SLURM_H

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdint.h>
#include <sys/types.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct spank_handle {
	int magic;
};

#pragma GCC visibility push(hidden) /* plugins find Slurm's functions only */

extern char *environment[64][2]; /* of the job: name, value */
extern struct job {
	spank_context_t context;
	uint32_t job, step, tasks;
	uid_t uid;
	int exit_status;
	int option; /* how --trace is given: -1 not */
	const char *argument;
} job;

extern int calls, failing; /* which call of the plugin's fails, and how */
extern spank_err_t failure;
extern int told_user, told_log; /* how often */
extern char last_log[4096];
extern struct spank_option *options[8];
extern int option_count;

/* Of the job's environment; NULL: it is not there. */
const char *value_of(const char *name);
void put(const char *name, const char *value);

#pragma GCC visibility pop

#endif
