/* SPDX-License-Identifier: BSD-3-Clause
 * scan - brings the index of an archive up to date with its files
 *
 * A day's folder is read again if it changed since it was read, or was read so soon after a change that another one may have gone unseen; a
 * file only if its size, times, inode or owner changed. A file that its owner rewrites in place later, in a day that is over, is
 * noticed by a full scan only.
 */
#ifndef SPOOR_SCAN_H
#define SPOOR_SCAN_H

#include "archive/catalog.h"

struct scan {
	bool full; /* look at every day */
	int wait;  /* milliseconds to wait for the lock of the index; negative: for ever */
	void (*progress)(void *context, uint64_t done, uint64_t all); /* is told how many days were looked at; may be NULL */
	void *context;
	/* gets: */
	size_t days, added, changed, removed; /* days read; files */
};

/* Returns 0; 1 if somebody else had the index locked all the time (what is there is still good, and older); -1 with error set. */
int scan_archive(struct catalog *c, struct scan *scan, struct error *error);

#endif
