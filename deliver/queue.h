/* SPDX-License-Identifier: BSD-3-Clause
 * queue - which steps of a node are still to be delivered: root's own notes, beside the folders that are users'
 *
 *     SPOOL/.waiting/UID/NAME   the facts of the step whose folder is SPOOL/NAME, which is of user UID. Of a step
 *                               whose traces may be unwanted (deliver/claims.h) they are there from its beginning on,
 *                               for the case that its node goes down
 *     SPOOL/.waiting/UID        locked (flock) by whoever delivers that user's folders: one at a time, so that no user
 *                               has more than one helper on a node
 *     SPOOL/.waiting/swept      was changed when all users' folders were last looked at
 *     SPOOL/.given-up/NAME      folders that could not be delivered for days
 *
 * Root's alone, 0700 (.given-up 0711: its users may still go to what is theirs): no user can add to it, hold a lock in
 * it, or stop it. Facts whose names begin with QUEUE_PREFIX are for who delivers, and go no further.
 */
#ifndef SPOOR_QUEUE_H
#define SPOOR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/facts.h"

#define QUEUE_FOLDER   ".waiting"
#define QUEUE_GIVEN_UP ".given-up"
#define QUEUE_PREFIX   "deliver_"
#define QUEUE_TRIES    QUEUE_PREFIX "tries"  /* how often it failed */
#define QUEUE_SINCE    QUEUE_PREFIX "since"  /* when it failed first, seconds since 1970 */
#define QUEUE_NEXT     QUEUE_PREFIX "next"   /* when it is tried again; not there: it was never tried */
#define QUEUE_BEGUN    QUEUE_PREFIX "begun"  /* 1: nobody has said yet that the step ended */
#define QUEUE_DENIED   QUEUE_PREFIX "denied" /* 1: the policy does not want its traces: they are never delivered */

/* Opens SPOOL/.waiting, making it. Returns the descriptor, or -1 with errno. */
int queue_open(int spool_fd);
/* Opens that of a user, making it. Returns the descriptor, or -1 with errno. */
int queue_open_user(int queue, uid_t uid);
/* Takes the lock of what is open there, without waiting for whoever has it. It is given back by queue_unlock, or when
 * the descriptor is closed. */
bool queue_lock(int fd);
void queue_unlock(int fd);

/* Writes the facts of a step, in the place of those that are there. Returns 0, or -1 with errno. */
int queue_save(int user, const char *name, const struct facts *facts);
/* Returns 0; 1: there are none; -1: they cannot be read. */
int queue_load(int user, const char *name, struct facts *facts);
void queue_forget(int user, const char *name);
bool queue_has(int user, const char *name);

/* Calls each for every name in an open folder that is a step's (of which the first character is a digit), until it
 * returns anything but 0. Returns that; -1 if the folder cannot be read. What each adds to the folder or takes away may
 * or may not be met. */
int queue_each(int folder, int (*each)(void *context, const char *name), void *context);

/* Are they to be looked at, once every so many seconds? If so they count as looked at from now. */
bool queue_is_due(int queue, int64_t seconds);
/* Moves a step's folder out of the way. Returns 0, or -1 with errno. */
int queue_give_up(int spool_fd, const char *name);

#endif
