/* SPDX-License-Identifier: BSD-3-Clause
 * slurm_jobs - whose the jobs of the site's index are, and of which account, partition and QoS, as slurmdbd has it
 *
 * A trace is its user's, who can write into it what they like, and so are its metadata. What others are told by account
 * or partition must be Slurm's word. Table slurm_job has it of each job, once; table unasked has the traces whose job
 * is still to be asked for. In view trace these columns are Slurm's; empty if the job is somebody else's, if Slurm
 * knows no such job, or as long as it has not been asked. Where slurmdbd never answered, they are what traces claim.
 */
#ifndef SPOOR_SLURM_JOBS_H
#define SPOOR_SLURM_JOBS_H

#include "archive/catalog.h"

/* Asks sacct for the jobs of new traces, if this is the site's index and may be changed. seconds: how long all of that
 * may take. What it does not say is asked for the next time. Returns 0, or -1 with error set: the index is not usable.
 */
int slurm_jobs_learn(struct catalog *c, unsigned seconds, struct error *error);

#endif
