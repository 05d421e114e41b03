/* SPDX-License-Identifier: BSD-3-Clause
 * digest_update - puts the digests of traces (digest.h) into the index of an archive
 *
 * Scanning (scan.h) reads the metadata of a file, which is cheap; this opens the traces, with all cores, and does
 * so once for each: what it found goes with the file. A trace that cannot be read has a digest, too: what the problem
 * is.
 */
#ifndef SPOOR_DIGEST_UPDATE_H
#define SPOOR_DIGEST_UPDATE_H

#include "archive/catalog.h"

struct digest_update {
	unsigned threads; /* 0: one for each core that the process may use */
	int wait;         /* milliseconds to wait for the lock of the index; negative: for ever */
	void (*progress)(void *context, uint64_t done,
	                 uint64_t all); /* may be NULL; is called by the caller's thread */
	void *context;
	/* gets: */
	uint64_t done, problems; /* traces that were looked at; of these, that cannot be read */
};

/* Returns 0; 1 if the index cannot be changed (by us, or now): digests are missing then; -1 with error set. The catalog
 * must not be locked. */
int digest_update(struct catalog *c, struct digest_update *h, struct error *error);

/* The cores that this process may use. */
unsigned digest_cores(void);

#endif
