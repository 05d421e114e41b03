/* SPDX-License-Identifier: BSD-3-Clause
 * volume - how much the calls of a site pass on: bytes, and how many messages of which size
 *
 * Costs what the trace's size costs: values are counted by their patterns, not by walking events. Of calls with a datatype that the program made itself,
 * or with an array of counts, the size is not known.
 */
#ifndef SPOOR_VOLUME_H
#define SPOOR_VOLUME_H

#include "trace/trace.h"

/* Size classes: 0 is of empty messages, i of 2^(i-1) to 2^i - 1 bytes, the last one also of all that is larger. */
#define VOLUME_SIZES 48

/* What a function passes on. */
enum volume_kind {
	VOLUME_NONE,       /* nothing, or nobody knows: receives, waits, calls with arrays of counts */
	VOLUME_MESSAGE,    /* each call sends one message point to point */
	VOLUME_COLLECTIVE, /* each caller gives count elements */
	VOLUME_ALL,        /* each caller gives count elements to each rank of the communicator */
	VOLUME_ONESIDED,   /* MPI_Put and the like */
	VOLUME_FILE,       /* MPI_File_read..., MPI_File_write... */
};
enum volume_kind volume_kind(const struct schema *s);

struct volume {
	uint64_t calls, unsized; /* unsized: those of which the size is not known, or not of all */
	uint64_t bytes;          /* of the others; modulo 2^64 */
	uint64_t sizes[VOLUME_SIZES]; /* calls by size, of the others */
	/* Values that were looked at one by one so far. There is an end to that, since a small file can say much: from then on, calls whose size differs from
	 * rank to rank are counted by the mean over the ranks, and those whose size differs from visit to visit are unsized. */
	uint64_t work;
};
#define VOLUME_WORK (UINT64_C(1) << 24)

/* Adds the site to *v, which is zeroed at first; nothing if its function passes nothing on. Returns 0, or -1 on no memory. */
int volume_add(struct volume *v, const struct trace *t, const struct trace_site *site);

/* The class of a size, 0 .. VOLUME_SIZES - 1. */
unsigned volume_class(uint64_t bytes);

#endif
