/* SPDX-License-Identifier: BSD-3-Clause
 * job_id - jobs and steps as Slurm writes them, in lists
 *
 *     23           a job, or all of a job array or of a heterogeneous job
 *     24_3         task 3 of array 24; 24_* all of it
 *     27+1         component 1 of heterogeneous job 27: Slurm gives components numbers that follow each other
 *     23.5         step 5; also 23.batch, 24_3.0
 *     23.5.1       its trace 1, as `spoor list` names it
 */
#ifndef SPOOR_JOB_ID_H
#define SPOOR_JOB_ID_H

#include <stddef.h>
#include <stdint.h>

struct job_id {
	int64_t job;
	int64_t task;      /* of an array; -1: not said */
	int64_t component; /* of a heterogeneous job; -1: not said */
	char step[16];     /* "": any */
	char trace[40];    /* a glob of its name, if its number was said; else "" */
};

#define JOB_IDS_MOST 64
struct job_ids {
	struct job_id items[JOB_IDS_MOST];
	size_t count;
};

/* One. Returns 0, or -1: it is none. */
int job_id_parse(struct job_id *id, const char *text);
/* One or more, separated by commas. Returns 0, or -1: one is none, or there are more than JOB_IDS_MOST; *ids is then as
 * it was. */
int job_id_parse_list(struct job_ids *ids, const char *text);

#endif
