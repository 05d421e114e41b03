/* SPDX-License-Identifier: BSD-3-Clause
 * scratch - memory for the arrays of one call: each thread has a few buffers that grow and are used again
 */
#ifndef SPOOR_SCRATCH_H
#define SPOOR_SCRATCH_H

#include <stddef.h>

#include "preload/call.h"

enum scratch {
	SCRATCH_VALUES,   /* the vector that is being put */
	SCRATCH_BITS,     /* request handles on entry */
	SCRATCH_REFS,     /* what they meant */
	SCRATCH_STATUSES, /* in C's form */
	SCRATCH_OWN,      /* statuses that the caller did not want */
	SCRATCH_COUNT
};

/* Calls inside of calls (recording.depth) have buffers of their own. */
#define SCRATCH_LEVELS 4

/* The calling thread's buffer, of at least count elements of size bytes, valid until the same thread asks for the same
 * buffer again in the same call (a call made by a callback has buffers of its own). NULL: too large, no memory, or
 * callbacks nested deeper than SCRATCH_LEVELS. Keeps errno. It is freed when the thread ends. */
static inline void *scratch(enum scratch which, size_t count, size_t size);

/* ---- implementation ---- */

struct scratch_buffer {
	void *memory;
	size_t size;
};
/* SCRATCH_LEVELS times SCRATCH_COUNT; NULL before the thread's first array. Not thread-local themselves: a library that
 * is opened at run time, as the tracer is, gets its thread-local memory from a reserve of some hundred bytes that all
 * such libraries share. */
extern __thread struct scratch_buffer *scratch_buffers __attribute__((tls_model("initial-exec")));
void *scratch_grow(enum scratch which, size_t count, size_t size);

static inline void *scratch(enum scratch which, size_t count, size_t size)
{
	struct scratch_buffer *b = scratch_buffers;

	if (__builtin_expect(b && recording.depth < SCRATCH_LEVELS, 1)) {
		b += recording.depth * SCRATCH_COUNT + which;
		if (__builtin_expect(count <= b->size / size && b->memory, 1))
			return b->memory;
	}
	return scratch_grow(which, count, size);
}

#endif
