/* SPDX-License-Identifier: BSD-3-Clause
 * doctor - the checks of `spoor doctor`: each prints a line for what it finds
 */
#ifndef SPOOR_DOCTOR_H
#define SPOOR_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#define DOCTOR_PATH 4096

/* DOUBT: it may be right. WRONG: something must be done. */
enum finding { GOOD, DOUBT, WRONG };

/* Prints the finding and the text, and counts it. */
void doctor_say(enum finding finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How often each was said. */
extern unsigned doctor_said[WRONG + 1];

/* What Slurm's plugin stack says of spoor. */
struct plugin_stack {
	char plugin[DOCTOR_PATH]; /* of the line that loads it; empty: none does */
	char policy[DOCTOR_PATH];
	bool required;
};

/* doctor_slurm.c: what is installed, and what Slurm loads. */
void doctor_tracer(void);
void doctor_helper(void);
/* Reads the stack, and checks it. */
void doctor_slurm(struct plugin_stack *stack);
/* Only reads it. */
void doctor_read_stack(struct plugin_stack *stack);
/* Is the spool on another disk than Slurm's own? */
void doctor_spool_disk(const char *spool);

/* doctor_job.c: what is in the spool, and what became of one job; the exit status of the command. */
void doctor_spool(const char *spool);
int doctor_job(uint64_t job, const char *policy);

#endif
