/* SPDX-License-Identifier: BSD-3-Clause
 * command - the command line of a launcher that starts ranks
 */
#ifndef SPOOR_COMMAND_H
#define SPOOR_COMMAND_H

#include <stdint.h>

struct command {
	const char *name; /* in messages: "spoor replay" */
	char *words[256]; /* ends with NULL; not copied */
	int count;
};

/* Each of these returns 0, or -1 after a message. */
int command_add(struct command *c, const char *word);
/* Both words, unless value is NULL. */
int command_add_option(struct command *c, const char *name, const char *value);
/* The launcher of so many ranks: srun inside of a job of Slurm, else mpirun, with the user's arguments; or the user's
 * own, if the first of them does not begin with -. number is room for the text of `ranks`, which the command needs. */
int command_add_launcher(struct command *c, char **launcher, int launcher_count, uint32_t ranks, char number[16]);
/* The words of a user's command line that follow "--" are the launcher's. Returns how many are before. */
int command_split(int argc, char **argv, char ***launcher, int *launcher_count);
/* Runs it. Returns the exit status, as a shell has it. */
int command_run(const struct command *c);
/* The same with a limit of time: when it is over, all that was started is ended, first as a launcher wants to be asked.
 * The caller has no other children. Returns the exit status, or COMMAND_TOO_LONG. */
#define COMMAND_TOO_LONG (-1)
int command_run_within(const struct command *c, double seconds);

#endif
