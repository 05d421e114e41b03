/* SPDX-License-Identifier: BSD-3-Clause
 * expire - which files of an archive have had their time, by its index
 *
 * The age of a trace is that of its day's folder: not what the trace says of itself. How long it is to be kept is what
 * the policy said when it was made, as it stands in its metadata (a user can change that in their own trace: limits
 * that must hold are max_days and the quotas).
 *
 * Sizes are what files take of the disk: anybody can make a file of a terabyte that takes nothing. What is over a quota
 * goes in this order: damaged files, and those in a folder of another user; then the oldest traces of the users who
 * have more than an equal share, which is as much as can be given to all who want it (max-min fairness): whoever has
 * less than that loses nothing to those who have more. An exit note goes with the last trace of its step.
 */
#ifndef SPOOR_EXPIRE_H
#define SPOOR_EXPIRE_H

#include "archive/catalog.h"

struct expire {
	int64_t max_days;           /* nothing is kept longer; 0: no limit */
	uint64_t quota, user_quota; /* bytes of disk: of all, of each user; 0: none */
	/* Instead of all that: only what is of this user (by the owner of the file), and of these jobs (by what the
	 * trace says, and by the name of a file that is damaged or a note). Both: what is of both. */
	bool erases;
	int64_t user;        /* -1: any */
	struct job_ids jobs; /* none: any; steps are not looked at */
};

/* Calls file for each that is to go, oldest first: folder "2026/03/01/1000", name, bytes of disk, why. What it returns,
 * if it is not 0, ends the list. Returns that, or 0, or -1 with error set. The catalog must be locked. */
int expire_list(struct catalog *c, const struct expire *rules,
                int (*file)(void *context, const char *folder, const char *name, uint64_t size, const char *why),
                void *context, struct error *error);

#endif
