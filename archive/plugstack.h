/* SPDX-License-Identifier: BSD-3-Clause
 * plugstack - what Slurm's plugin stack says of spoor on this host: commands use the policy that jobs have
 */
#ifndef SPOOR_PLUGSTACK_H
#define SPOOR_PLUGSTACK_H

#include <stdbool.h>
#include <stddef.h>

#define PLUGSTACK_PATH 4096

struct plugstack {
	char file[PLUGSTACK_PATH];      /* Slurm's plugin stack, whether it is there or not */
	char plugin[PLUGSTACK_PATH];    /* of the first line that loads spoor, as it stands there; empty: none does */
	char arguments[PLUGSTACK_PATH]; /* of that line, each behind a blank */
	char policy[PLUGSTACK_PATH];    /* of these arguments; empty: not among them */
	bool required;
	unsigned loaded; /* how many lines load it */
};

/* Reads what slurm.conf (SLURM_CONF of the environment, or /etc/slurm/slurm.conf) and its plugin stack say. Returns 0,
 * or -1 with errno: there is no slurm.conf, and the stack is empty. */
int plugstack_read(struct plugstack *stack);

/* The file that holds Slurm's configuration. */
const char *plugstack_slurm_conf(void);
/* What slurm.conf says of a key, as text; value stays as it is if it does not. Returns 0, or -1 with errno. */
int plugstack_setting(const char *key, char *value, size_t size);

#endif
