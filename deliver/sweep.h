/* SPDX-License-Identifier: BSD-3-Clause
 * sweep - delivers what steps of a node left in its spool: one that has just ended, and those of before that could not
 * be delivered: the archive was away or full, or the node went down
 *
 * What a folder holds is its owner's, who may have put anything there. So its owner's own process looks into it, with
 * limits; a folder that cannot be delivered is tried again after a minute, then after longer and longer, and is given
 * up after days; and no user's folders are in the way of another's.
 */
#ifndef SPOOR_SWEEP_H
#define SPOOR_SWEEP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "process/process.h"
#include "trace/base/error.h"
#include "trace/base/facts.h"

/* A folder of which nobody said that its step ended is that of a step about to start, or of one whose node went down:
 * so long nothing may have been made in it. */
#define SWEEP_SETTLED 60
/* How long a folder may take: a disk may be slow, and processor time has a limit of its own. */
#define SWEEP_SECONDS 60
/* All users' folders are looked at once in so many seconds, by who has just delivered something; and by `spoor sweep`.
 * */
#define SWEEP_EVERY 600

struct sweep {
	const char *spool, *archive, *helper; /* absolute paths; helper is spoor-helper */
	gid_t group;                          /* who may read the archive; for new day folders */
	struct limits limits;                 /* of each helper */
	uint64_t user_limit; /* bytes that an undeliverable folder may hold; 0: as much as is left for others */
	unsigned seconds;    /* for each folder; SWEEP_SECONDS */
	int64_t settled;     /* seconds; SWEEP_SETTLED */
	bool all;            /* also those whose time has not come, and those that were given up */
	const char *own;     /* the folder that is looked at first; NULL: there is none */
	const struct facts
		*own_facts; /* its facts, if there was no room for them in the spool; then nobody else can deliver it */
	/* Is told "FOLDER: what" of the first folders of each user, and how many more lines there would be (may be
	 * NULL). */
	void (*tell)(const char *text);
	/* gets how many folders were delivered, stay, belong to running steps, were given up */
	size_t delivered, kept, running, given_up;
	/* its own */
	int spool_fd, queue;
	char day[PATH_MAX]; /* empty until it is needed: an archive that is away is not asked for nothing */
	bool away;          /* the archive takes nothing more */
	unsigned failed;
	bool fresh;
	size_t told; /* lines of this user */
};

/* Opens the spool. Returns 0; 1: there is none; -1 with error set: it cannot be read or trusted. To be closed. */
int sweep_open(struct sweep *s, struct error *error);
void sweep_close(struct sweep *s);

/* Looks at all folders of steps in the spool that no slurmstepd has locked, and has the owner's own process deliver
 * each to the archive's folder of today: nothing that a user can write is read here. As somebody other than root, only
 * one's own folders. Returns 0, or -1 with error set: the archive's folder cannot be made. */
int sweep_all(struct sweep *s, struct error *error);

/* The same for one user's folders of which it is known that their steps ended (deliver/queue.h), unless somebody is at
 * it: they then do it. */
int sweep_user(struct sweep *s, uid_t uid, struct error *error);

/* What Slurm says of the step's job counts from now on (deliver/claims.h). */
void sweep_settle(const struct sweep *s, struct facts *facts);

/* deliver/orphans.c: does a step of a user's queue run, whose folder is open as fd? Of one that nobody has said the end
 * of (QUEUE_BEGUN) nothing is opened in it. If it does not run, fd has the lock, and the facts become those that are
 * there now. */
bool orphan_runs(const struct sweep *s, int user, const char *name, struct facts *facts, int fd, const struct stat *st);
/* Puts folders of which root does not know that their steps ended into the queues of their users, so
 * many of each; counts those that stay, and those of steps that run. */
void orphans_adopt(struct sweep *s);
/* A line of output, unless there were many of this user. */
void sweep_tell(struct sweep *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line about a step for `spoor doctor`: what happened ("delivered", "kept", ...), and why; may be NULL. */
void sweep_note(const struct facts *facts, const char *what, const char *why);

#endif
