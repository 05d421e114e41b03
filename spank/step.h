/* SPDX-License-Identifier: BSD-3-Clause
 * step - what Slurm knows of the job step that this slurmstepd runs
 */
#ifndef SPOOR_STEP_H
#define SPOOR_STEP_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/process.h"
#include "trace/base/facts.h"

struct step {
	uint32_t job, id;
	uint32_t node_index;
	char id_text[16]; /* "0", "batch", "interactive", "extern" */
	char node[256];
	struct identity identity; /* the job's user; its groups are step->groups */
	gid_t groups[1024];
};

/* Fills *step. Returns 0, or -1 with error set: then this is no step that anything could be done for. */
int step_read(struct step *step, spank_t spank, struct error *error);
/* True if tasks of a user run in this step: not the extern step. */
bool step_has_tasks(const struct step *step);
/* Adds what is known to facts (doc/metadata.md). */
void step_facts(const struct step *step, spank_t spank, struct facts *facts);

#endif
