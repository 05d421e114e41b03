/* SPDX-License-Identifier: BSD-3-Clause
 * quiet - around what is done in the application's thread besides recording: files, and memory in larger pieces
 *
 *     struct quiet before = quiet_begin();
 *     ...
 *     quiet_end(before);
 *
 * errno stays as it was, and a thread that another one has cancelled (pthread_cancel) does not end in the middle of it:
 * opening a file would do that, in an MPI call that does not end otherwise.
 */
#ifndef SPOOR_QUIET_H
#define SPOOR_QUIET_H

#include <errno.h>
#include <pthread.h>

struct quiet {
	int error, cancel;
};

static inline struct quiet quiet_begin(void)
{
	struct quiet q = {.error = errno};
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &q.cancel);
	return q;
}

static inline void quiet_end(struct quiet before)
{
	int ours;
	pthread_setcancelstate(before.cancel, &ours);
	errno = before.error;
}

#endif
