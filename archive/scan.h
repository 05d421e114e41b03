/* SPDX-License-Identifier: BSD-3-Clause
 * scan - brings the index of an archive up to date with its files
 *
 * A user's folder of a day is read again if it changed since it was read, or was read so soon after a change that
 * another one may have gone unseen; a file only if its size, times, inode or owner changed. A file that its owner
 * rewrites in place later is noticed by a full scan only. Folders of days that are over for more than a week are looked
 * at with `old` only: there is one for each user and day, and on a network each look is a question to a server.
 */
#ifndef SPOOR_SCAN_H
#define SPOOR_SCAN_H

#include "archive/catalog.h"

struct scan {
	bool full; /* look at every file */
	bool old;  /* look also for changes in days that are over for long */
	int wait;  /* milliseconds to wait for the lock of the index; negative: for ever */
	void (*progress)(void *context, uint64_t done,
	                 uint64_t all); /* is told how many days were looked at; may be NULL */
	void *context;
	/* gets: */
	size_t folders, added, changed, removed; /* folders read; files */
};

/* Returns 0; 1 if somebody else had the index locked all the time (what is there is still good, and older); -1 with
 * error set. */
int scan_archive(struct catalog *c, struct scan *scan, struct error *error);

#endif
